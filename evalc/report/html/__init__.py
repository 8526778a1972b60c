"""From the results of a run to one HTML file that needs nothing but a browser."""

from evalc.report.html.page import render
from evalc.report.html.reported import ReportedSuite, beside

__all__ = ["ReportedSuite", "beside", "render"]
