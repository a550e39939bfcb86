"""Two readings of the router (``README.md``): every claim and every figure is made for each of them that was run.

The quick version of the study has the first alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Reading:
    """One reading: its experiments and claims have the ids of the first with ``suffix``, figures say ``title``."""

    suffix: str
    title: str

    @property
    def file(self) -> str:
        """What is added to the names of its figures."""
        return self.suffix.replace(".", "-")


#: The first reading, by its name in the experiment ``calibrator``, which chose it.
FIRST_IN_CALIBRATOR = "transit first, switch held"
FIRST = Reading("", "")
TRANSIT_FIRST = Reading(".transit-first", "injection on VC 0, transit first")
READINGS = (FIRST, TRANSIT_FIRST)
#: The column with the title of the reading.
COLUMN = "injection_side"


def of_reading(results: pd.DataFrame, reading: Reading) -> pd.DataFrame:
    """The rows of one reading, under the names of the first reading's experiments."""
    names = results["experiment"].astype(str)
    suffix = names.str.extract(r"(\..*)$", expand=False).fillna("")
    mine = names[suffix == reading.suffix]
    return results.loc[mine.index].assign(experiment=mine.str.removesuffix(reading.suffix), **{COLUMN: reading.title})


def of_readings(results: pd.DataFrame) -> Iterator[tuple[Reading, pd.DataFrame]]:
    """The readings that were run, each with its rows."""
    for reading in READINGS:
        part = of_reading(results, reading)
        if not part.empty:
            yield reading, part
