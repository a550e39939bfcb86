"""The kinds of ``host.placement``, each a value: Which terminal each rank runs on.

Written by tools/python_values.py from the schema of the simulator. Do not edit: change the comments of the fields in
crates/flitwork/src and run the tool again.
"""

# fmt: off
# ruff: noqa: B008, E501, F401, RUF100
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from flitwork.values.value import Value, default, value

__all__ = [
    "Block",
    "Counts",
    "List",
    "Placement",
    "RoundRobin",
]


class Placement(Value):
    """Which terminal each rank runs on. Each kind is a class of this module."""

    TABLES = ("host.placement",)


@value
class Block(Placement):
    """Rank `r` on terminal `r / ranks_per_terminal`."""

    KIND = "block"


@value
class RoundRobin(Placement):
    """Rank `r` on terminal `r` modulo the number of terminals."""

    KIND = "round_robin"


@value
class List(Placement):
    """As listed. Terminals may be left out. With one rank a terminal (`ranks_per_terminal` = 1, the default) the
    workload has as many ranks as the list entries.

    * ``terminals``: The terminal of each rank.
    """

    KIND = "list"
    terminals: Sequence[int]


@value
class Counts(Placement):
    """So many ranks on each terminal, those of terminal 0 first, then those of terminal 1, ... The workload has as
    many ranks as these are together.

    * ``ranks``: The ranks of each terminal, one number for each, 1 to 1000.
    """

    KIND = "counts"
    ranks: Sequence[int]
