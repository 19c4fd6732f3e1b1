"""The results of an evaluation as one self-contained HTML page."""

from embeddings.eval.report.html_report import write_report

__all__ = ["write_report"]
