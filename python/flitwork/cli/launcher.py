"""What commands that measure on real MPI have in common: the words of a launcher, and a line for each row."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from flitwork.base.errors import ConfigError
from flitwork.cli.output import escape, note


def launcher_words(text: str) -> list[str]:
    """The words of a launcher that is given as one text."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ConfigError("launcher", text, f"words as a shell reads them ({error})", "mpirun -n 8") from None
    if not words:
        raise ConfigError("launcher", text, "what starts ranks", "mpirun -n 8")
    return words


def show_row(row: Mapping[str, Any], number: int, total: int) -> None:
    """A line for a row that is finished."""
    half = (row["high"] - row["low"]) / 2
    width = "" if half != half else f" ± {half * 1e6:.2g}"
    times = f"{row['seconds'] * 1e6:.3g} us{width}, {row['repetitions']} calls"
    what = f"{row['operation']} {row['algorithm']}, {row['bytes']} bytes, {row['ranks']} ranks"
    note(escape(f"{number}/{total} {what}: {times}"))
