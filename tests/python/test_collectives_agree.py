"""The algorithms of collectives and those of rank programs, which move real data, send the same messages."""

from __future__ import annotations

from typing import Any

import flitwork as fw
import numpy as np
import pytest

BYTES, ROOT = 160, 3
#: Name and algorithm of a rank program; operation and algorithm of a collective; whether also for 12 ranks. There two are not
#: defined; which ranks sit out of an allreduce, and in which order a root sends, the two sides choose differently.
PAIRS = [
    ("alltoall", "pairwise", "all_to_all", "pairwise_shift", True),
    ("alltoall", "pairwise_xor", "all_to_all", "pairwise_xor", False),
    ("alltoall", "simple_spread", "all_to_all", "simple_spread", True),
    ("alltoall", "bruck", "all_to_all", "bruck", True),
    ("allgather", "ring", "allgather", "ring", True),
    ("allgather", "bruck", "allgather", "bruck", True),
    ("allgather", "recursive_doubling", "allgather", "recursive_doubling", False),
    ("bcast", "binomial", "broadcast", "binomial", True),
    ("bcast", "scatter_allgather", "broadcast", "van_de_geijn", True),
    ("gather", "binomial", "gather", "binomial", True),
    ("gather", "linear", "gather", "linear", True),
    ("scatter", "binomial", "scatter", "binomial", True),
    ("scatter", "linear", "scatter", "linear", False),
    ("reduce", "binomial", "reduce", "binomial", True),
    ("allreduce", "ring", "allreduce", "ring", True),
    ("allreduce", "recursive_doubling", "allreduce", "recursive_doubling", False),
    ("allreduce", "rabenseifner", "allreduce", "rabenseifner", False),
    ("barrier", "dissemination", "barrier", "dissemination", True),
]


def program(comm: Any, name: str) -> None:
    """Calls one collective with blocks, or a vector, of so many bytes."""
    one, all_ = np.zeros(BYTES, dtype="u1"), np.zeros(BYTES * comm.Get_size(), dtype="u1")
    calls = {
        "alltoall": lambda: comm.Alltoall(all_, all_.copy()),
        "allgather": lambda: comm.Allgather(one, all_),
        "bcast": lambda: comm.Bcast(one, root=ROOT),
        "gather": lambda: comm.Gather(one, all_, root=ROOT),
        "scatter": lambda: comm.Scatter(all_, one, root=ROOT),
        "reduce": lambda: comm.Reduce(one, one.copy(), root=ROOT),
        "allreduce": lambda: comm.Allreduce(one, one.copy()),
        "barrier": comm.Barrier,
    }
    calls[name]()


def messages(result: fw.Result) -> list[tuple[int, ...]]:
    return sorted(result.packets[["src", "dst", "flits"]].itertuples(index=False, name=None))


@pytest.mark.parametrize("size", [(4, 4), (3, 4)])
@pytest.mark.parametrize(("name", "theirs", "operation", "ours", "with_12"), PAIRS)
def test_they_send_the_same(
    size: tuple[int, int], name: str, theirs: str, operation: str, ours: str, with_12: bool
) -> None:
    if size == (3, 4) and not with_12:
        pytest.skip("for 16 ranks")
    net = fw.Torus(*size, units=fw.Units(flit_bytes=16))
    ran = fw.mpi.run(program, name, ranks=size[0] * size[1], network=net, algorithms={name: theirs}, packets=True)
    told: dict[str, Any] = {} if operation == "barrier" else {"message_bytes": BYTES}
    told |= {"root": ROOT} if operation in ("broadcast", "scatter", "gather", "reduce") else {}
    made = fw.simulate(net, fw.collective(operation, ours, **told), packets=True)
    assert messages(ran.result) == messages(made)
    assert ran.result.completion_cycles == made.completion_cycles
