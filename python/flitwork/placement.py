"""The kinds of ``host.placement``, each a value: Which terminal each rank runs on.

Written by tools/python_values.py from the schema of the simulator. Do not edit: change the comments of the fields in
crates/flitwork/src and run the tool again.
"""

# fmt: off
# ruff: noqa: B008, E501, F401, RUF100
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from flitwork.value import Value, default, value

__all__ = [
    "Block",
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
    """As listed.

    * ``terminals``: The terminal of each rank.
    """

    KIND = "list"
    terminals: Sequence[int]
