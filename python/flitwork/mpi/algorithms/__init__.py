"""The algorithms of collectives, one table: what MPI libraries use, over messages of the simulated network.

Each is a function of a :class:`~flitwork.mpi.wire.Wire`, which has the ranks, and the data of this rank. Where there
are several, the table says up to how many bytes each is chosen: the thresholds are MPICH's (R. Thakur, R. Rabenseifner
and W. Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19(1), 2005).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flitwork.errors import ConfigError, did_you_mean
from flitwork.mpi.algorithms import (
    allgather,
    allreduce,
    alltoall,
    barrier,
    bcast,
    gather,
    reduce,
    reduce_scatter,
    scan,
    scatter,
)

_ALWAYS = 2**62


@dataclass(frozen=True)
class Algorithm:
    """One algorithm: what runs it, and the largest size that it is chosen for [bytes]."""

    name: str
    run: Callable[..., Any]
    up_to_bytes: int = _ALWAYS
    #: Needs operations that commute, and data that can be cut in pieces.
    pieces: bool = False


#: By collective; the first that fits is chosen. What the size is of is said in docs/programs.md.
TABLE: Mapping[str, tuple[Algorithm, ...]] = {
    "barrier": (Algorithm("dissemination", barrier.dissemination), Algorithm("tree", barrier.tree)),
    "bcast": (
        Algorithm("binomial", bcast.binomial, 12287),
        Algorithm("scatter_allgather", bcast.scatter_allgather, pieces=True),
        Algorithm("linear", bcast.linear),
    ),
    "gather": (Algorithm("binomial", gather.binomial), Algorithm("linear", gather.linear)),
    "gatherv": (Algorithm("linear", gather.linear), Algorithm("binomial", gather.binomial)),
    "scatter": (Algorithm("binomial", scatter.binomial), Algorithm("linear", scatter.linear)),
    "scatterv": (Algorithm("linear", scatter.linear), Algorithm("binomial", scatter.binomial)),
    "allgather": (
        Algorithm("bruck", allgather.bruck, 81919),
        Algorithm("ring", allgather.ring),
        Algorithm("recursive_doubling", allgather.recursive_doubling),
    ),
    "alltoall": (
        Algorithm("bruck", alltoall.bruck, 256),
        Algorithm("simple_spread", alltoall.simple_spread, 32768),
        Algorithm("pairwise", alltoall.pairwise),
        Algorithm("pairwise_xor", alltoall.pairwise_xor),
    ),
    "alltoallv": (Algorithm("simple_spread", alltoall.simple_spread), Algorithm("pairwise", alltoall.pairwise)),
    "reduce": (
        Algorithm("binomial", reduce.binomial, 2048),
        Algorithm("rabenseifner", reduce.rabenseifner, pieces=True),
        Algorithm("linear", reduce.linear),
    ),
    "allreduce": (
        Algorithm("recursive_doubling", allreduce.recursive_doubling, 2048),
        Algorithm("rabenseifner", allreduce.rabenseifner, pieces=True),
        Algorithm("ring", allreduce.ring, pieces=True),
        Algorithm("reduce_bcast", allreduce.reduce_bcast),
    ),
    "reduce_scatter": (
        Algorithm("pairwise", reduce_scatter.pairwise),
        Algorithm("reduce_scatter", reduce_scatter.by_root),
    ),
    "scan": (Algorithm("recursive_doubling", scan.recursive_doubling), Algorithm("linear", scan.linear)),
    "exscan": (Algorithm("recursive_doubling", scan.recursive_doubling), Algorithm("linear", scan.linear)),
}


def pick(collective: str, chosen: Mapping[str, str], nbytes: int, pieces: bool = True) -> Callable[..., Any]:
    """The algorithm for so many bytes; ``pieces``: whether the data can be cut, and the operation commutes."""
    rows = TABLE[collective]
    if collective in chosen:
        found = next(row for row in rows if row.name == chosen[collective])
        if pieces or not found.pieces:
            return found.run
    return next(row for row in rows if (nbytes <= row.up_to_bytes or not pieces) and (pieces or not row.pieces)).run


def checked(chosen: Mapping[str, str]) -> dict[str, str]:
    """Algorithms by collective, as they are written; each must exist."""
    for collective, name in chosen.items():
        if collective not in TABLE:
            raise ConfigError(
                f"algorithms.{collective}", name, f"one of {', '.join(TABLE)}", did_you_mean(collective, TABLE)
            )
        names = [row.name for row in TABLE[collective]]
        if name not in names:
            raise ConfigError(f"algorithms.{collective}", name, f"one of {', '.join(names)}", did_you_mean(name, names))
    return dict(chosen)
