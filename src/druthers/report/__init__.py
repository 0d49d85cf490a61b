"""Pictures of results: figures for print, and one page for the browser."""

from druthers.report.conversation import draw_conversation
from druthers.report.figures import draw_figures
from druthers.report.page import write_report

__all__ = ["draw_conversation", "draw_figures", "write_report"]
