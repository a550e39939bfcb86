"""Tables of measured times: columns and readers of files, for rules (``flitwork.tune``) and fits (``flitwork.fit``)."""

from flitwork.measurements.benchmarks import Defaults
from flitwork.measurements.table import COLUMNS, MOST, check_columns, check_numbers, read_rows

__all__ = ["COLUMNS", "MOST", "Defaults", "check_columns", "check_numbers", "read_rows"]
