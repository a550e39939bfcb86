"""What a study measures on real MPI: ``flitwork reproduce STUDY --mpi "mpirun -n 8"``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flitwork.base.libraries import pd
from flitwork.studies.claims import Judged

#: Is told of a row that was measured, its number and how many there are in all.
RowCallback = Callable[[Mapping[str, Any], int, int], None]


@dataclass(frozen=True)
class OnMpi:
    """What was measured, for readers: sentences, a table of what came out, and figures.

    ``machine`` names the MPI library and its ranks; ``file`` has the times, a row for each measurement. ``claims`` ask
    of this machine what the paper says of another one, and do not judge the paper: they are ``by`` this machine.
    """

    machine: str
    launcher: Sequence[str]
    file: Path
    found: list[str] = field(default_factory=list)
    table: pd.DataFrame = field(default_factory=lambda: pd.DataFrame())
    figures: list[Path] = field(default_factory=list)
    claims: list[Judged] = field(default_factory=list)
