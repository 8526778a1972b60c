"""The HTML report: one self-contained file."""

from evalc.report.html.page import render

__all__ = ["render"]
