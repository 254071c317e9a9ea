"""The report of a reproduction: one page, its figures, a table of numbers."""

from poise.experiments.paper.report.write import write_report

__all__ = ["write_report"]
