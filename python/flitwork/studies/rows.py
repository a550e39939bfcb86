"""The rows of a study's table that fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flitwork.base.libraries import pd


def rows(table: pd.DataFrame, where: Mapping[str, Any]) -> pd.DataFrame:
    """The rows in which each of these columns has that value, or one of a list of values."""
    for name, value in where.items():
        table = table[table[name].isin(value if isinstance(value, (list, tuple)) else [value])]
    return table
