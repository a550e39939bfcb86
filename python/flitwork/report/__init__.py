"""Reports: studies and results as one HTML file that needs nothing else.

A :class:`Section` is what a reader sees of one study or one result: a few sentences, claims with verdicts, figures with
the numbers in them, and how to make it again. :func:`write` puts sections into one file, with the papers' verdicts by
statement and a table of all claims in front. The page is made by a Jinja template; style, script and figures are inside
it (as SVG, or as PNG if smaller).
"""

from flitwork.base.extensions import needs
from flitwork.report.page import write
from flitwork.report.section import Section, Shown, of_measurements, of_reproduction, of_result, of_study

needs("report")

__all__ = ["Section", "Shown", "of_measurements", "of_reproduction", "of_result", "of_study", "write"]
