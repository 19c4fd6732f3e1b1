"""What evaluations found as one page of HTML, with everything inside it."""

from embeddings.eval.report.page import write_report

__all__ = ["write_report"]
