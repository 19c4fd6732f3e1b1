"""What evaluations found as one page of HTML, with everything inside it."""

from embeddings.eval.report.page import Judged, write_report

__all__ = ["Judged", "write_report"]
