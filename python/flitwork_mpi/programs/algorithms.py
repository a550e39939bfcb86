"""Which algorithm carries out a collective of a rank program.

The algorithms are the simulator's own (``flitwork list collectives``): the step functions that schedules are made of.
Where none is chosen by name, the size says which: the thresholds are MPICH's (R. Thakur, R. Rabenseifner and W. Gropp,
"Optimization of collective communication operations in MPICH", IJHPCA 19(1), 2005).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from flitwork import _core
from flitwork.base.errors import ConfigError, did_you_mean

from flitwork_mpi.programs.steps import Steps, steps_of
from flitwork_mpi.programs.wire import Wire

_ALWAYS = 2**62


@dataclass(frozen=True)
class Choice:
    """The operation that a collective is, and its algorithms by size."""

    operation: str
    #: Names, each with the largest size that it is chosen for [bytes]; those behind are for data that cannot be cut.
    by_size: tuple[tuple[str, int], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All algorithms for it."""
        return _names(self.operation)


#: By collective. What the size is of is said in docs/programs.md.
TABLE: Mapping[str, Choice] = {
    "barrier": Choice("barrier", (("dissemination", _ALWAYS),)),
    "bcast": Choice("broadcast", (("binomial", 12287), ("van_de_geijn", _ALWAYS))),
    "gather": Choice("gather", (("binomial", _ALWAYS),)),
    "gatherv": Choice("gather", (("linear", _ALWAYS),)),
    "scatter": Choice("scatter", (("binomial", _ALWAYS),)),
    "scatterv": Choice("scatter", (("linear", _ALWAYS),)),
    "allgather": Choice("allgather", (("bruck", 81919), ("ring", _ALWAYS))),
    "alltoall": Choice("all_to_all", (("bruck", 256), ("simple_spread", 32768), ("pairwise_shift", _ALWAYS))),
    "alltoallv": Choice("all_to_all", (("simple_spread", _ALWAYS),)),
    "alltoallw": Choice("all_to_all", (("simple_spread", _ALWAYS),)),
    "reduce": Choice("reduce", (("binomial", 2048), ("rabenseifner", _ALWAYS))),
    "allreduce": Choice("allreduce", (("recursive_doubling", 2048), ("rabenseifner", _ALWAYS))),
    "reduce_scatter": Choice("reduce_scatter", (("pairwise", _ALWAYS),)),
    "scan": Choice("scan", (("recursive_doubling", _ALWAYS),)),
    "exscan": Choice("scan", (("recursive_doubling", _ALWAYS),)),
}


def pick(
    wire: Wire, collective: str, nbytes: int, root: int = 0, *, cuts: bool = True, in_order: bool = False
) -> Steps:
    """The algorithm for so many bytes.

    ``cuts``: whether the data can be cut in pieces; ``in_order``: whether only neighbours may be combined, for
    operations that do not commute.
    """
    choice = TABLE[collective]
    world = wire.process.world
    chosen = world.algorithms.get(collective)
    for name in _candidates(choice, chosen, nbytes):
        is_chosen = name == chosen
        found = (
            _required(wire, collective, name, root) if is_chosen else steps_of(choice.operation, name, wire.size, root)
        )
        if (cuts or not found.cuts) and (found.in_order or not in_order):
            return found
    raise ConfigError("algorithms", collective, "an algorithm that keeps the order of ranks and cuts nothing")


def _required(wire: Wire, collective: str, name: str, root: int) -> Steps:
    """An algorithm that was chosen by name: nothing takes its place where it is not defined.

    Those that go by coordinates or servers are never chosen by size, so only here it matters where ranks are.
    """
    operation, world = TABLE[collective].operation, wire.process.world
    topology = world.topology if wire.is_world else None
    terminals = tuple(world.terminals[rank] for rank in wire.ranks) if name in _knowing_servers(operation) else None
    try:
        return steps_of(operation, name, wire.size, root, topology, terminals, True)
    except ConfigError as error:
        expected = f"{error.expected}; {wire.name} is called on a communicator of {wire.size} ranks"
        hint = f"{error.hint}, or leave {collective} out: then each call goes by size"
        raise ConfigError(f"algorithms.{collective}", name, expected, hint) from None


def _candidates(choice: Choice, chosen: str | None, nbytes: int) -> Iterator[str]:
    if chosen is not None:
        yield chosen
    yield from (name for name, up_to in choice.by_size if nbytes <= up_to)
    yield from (name for name, _ in choice.by_size)
    yield from choice.names


@cache
def _names(operation: str) -> tuple[str, ...]:
    return tuple(row["name"] for row in _rows() if row["operation"] == operation)


@cache
def _knowing_servers(operation: str) -> frozenset[str]:
    return frozenset(row["name"] for row in _rows() if row["operation"] == operation and row["goes_by"] == "servers")


def _rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(_core.components())["collectives"]
    return rows


def checked(chosen: Mapping[str, str]) -> dict[str, str]:
    """Algorithms by collective, as they are written; each must exist."""
    found = {}
    for collective, name in chosen.items():
        if collective not in TABLE:
            raise ConfigError(
                f"algorithms.{collective}", name, f"one of {', '.join(TABLE)}", did_you_mean(collective, TABLE)
            )
        choice = TABLE[collective]
        if name not in choice.names:
            raise ConfigError(
                f"algorithms.{collective}", name, f"one of {', '.join(choice.names)}", did_you_mean(name, choice.names)
            )
        found[collective] = name
    return found
