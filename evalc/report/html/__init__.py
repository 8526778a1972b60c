"""From a run to one HTML file that needs nothing but a browser."""

from evalc.report.html.page import render

__all__ = ["render"]
