"""Reads the trace of a program: what each rank asked of MPI, as ``libflitwork_record.so`` wrote it (``mpi/record``)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from flitwork.base import input_files
from flitwork.base.errors import ConfigError
from numpy.typing import NDArray

FORMAT = 2
#: A record, as mpi/record/record.h declares it.
EVENT = np.dtype(
    [
        ("what", "u1"),
        ("flags", "u1"),
        ("thread", "<u2"),
        ("words", "<u4"),
        ("compute_ns", "<u8"),
        ("peer", "<i4"),
        ("tag", "<i4"),
        ("comm", "<u4"),
        ("request", "<u4"),
        ("bytes", "<u8"),
        ("check", "<u8"),
    ]
)
KINDS = {
    "NOTHING": 0,
    "START": 1,
    "COMM": 2,
    "SEND": 3,
    "RECV": 4,
    "COMPLETE": 5,
    "END": 6,
    "UNKNOWN": 7,
    "ONE_SIDED": 8,
    "FENCE": 9,
    "BARRIER": 16,
    "BCAST": 17,
    "GATHER": 18,
    "GATHERV": 19,
    "SCATTER": 20,
    "SCATTERV": 21,
    "ALLGATHER": 22,
    "ALLGATHERV": 23,
    "ALLTOALL": 24,
    "ALLTOALLV": 25,
    "ALLTOALLW": 26,
    "REDUCE": 27,
    "ALLREDUCE": 28,
    "REDUCE_SCATTER": 29,
    "REDUCE_SCATTER_BLOCK": 30,
    "SCAN": 31,
    "EXSCAN": 32,
}
NAMES = {number: name for name, number in KINDS.items()}
FLAGS = {"STARTED": 1, "ANY_PEER": 2, "DETACHED": 4, "CANCELLED": 8, "ORDERED": 16, "REMOTE": 32, "PERSISTENT": 64}
ORIGINS = {"FROM_ALL": 0, "FROM_GROUP": 1, "FROM_BRIDGE": 2, "FROM_NOWHERE": 3}
#: Windows by which trace.c writes files [bytes]; bytes that reading takes at most for each byte.
_WINDOW, _PER_BYTE = 1 << 20, 6
_FILE = re.compile(r"rank-(\d+)\.events")


@dataclass
class RankTrace:
    """What one rank did."""

    events: NDArray[Any]
    #: Where the list of each record begins.
    begins: NDArray[np.int64]
    lists: NDArray[np.int64]
    #: Whether it reached MPI_Finalize.
    ended: bool

    def list_of(self, event: int) -> NDArray[np.int64]:
        """The list of a record."""
        first = int(self.begins[event])
        return self.lists[first : first + int(self.events["words"][event])]


@dataclass
class Trace:
    """What all ranks did. Communicators have one number on all ranks."""

    ranks: list[RankTrace]
    #: Of each rank: the number of a communicator in its records to that among all.
    comm_of: list[NDArray[np.int64]]
    #: Of each rank and each communicator of its own: the world ranks that its peers are.
    peers_of: list[list[NDArray[np.int64]]]
    #: Members of each communicator, in its order, as world ranks.
    members: list[NDArray[np.int64]]
    #: Calls that were not recorded, by name.
    unknown: dict[str, int] = field(default_factory=dict)
    #: Ranks that did not reach MPI_Finalize.
    cut_short: list[int] = field(default_factory=list)
    size_bytes: int = 0


def read_trace(folder: Path) -> Trace:
    """Reads the files of all ranks.

    Raises :class:`flitwork.ConfigError` where there are none, or they are not of one program.
    """
    files = {int(match[1]): file for file in folder.iterdir() if (match := _FILE.fullmatch(file.name))}
    ranks = {rank: _read_rank(file) for rank, file in sorted(files.items())}
    for rank, one in ranks.items():
        if one is not None and int(one.events["peer"][0]) != rank:
            raise _damaged(files[rank], f"these are the records of rank {int(one.events['peer'][0])}")
    started = {rank: one for rank, one in ranks.items() if one is not None}
    if not started:
        raise ConfigError(
            "program", folder, "a program that calls MPI_Init",
            "nothing was recorded: is it an MPI program, started by its own mpirun, and dynamically linked?",
        )  # fmt: skip
    size = int(next(iter(started.values())).events["tag"][0])
    if sorted(started) != [*range(size)]:
        missing = [rank for rank in range(size) if rank not in started]
        raise ConfigError("trace", folder, f"records of {size} ranks", f"there are none of ranks {missing[:8]}")
    traces = [started[rank] for rank in range(size)]
    comm_of, peers_of, members = _communicators(traces)
    return Trace(
        traces,
        comm_of,
        peers_of,
        members,
        _unknown(traces),
        [rank for rank, one in enumerate(traces) if not one.ended],
        sum(one.events.nbytes + one.lists.nbytes for one in traces),
    )


def _read_rank(file: Path) -> RankTrace | None:
    data = np.frombuffer(input_files.read_bytes(file, "trace", "records of a rank", per_byte=_PER_BYTE), dtype=np.uint8)
    if not data.any():
        return None
    if len(data) < EVENT.itemsize:
        raise _damaged(file, f"its first record has {len(data)} of {EVENT.itemsize} bytes")
    first = EVENT.itemsize - EVENT["check"].itemsize
    start = np.frombuffer(data[:first].tobytes().ljust(EVENT.itemsize, b"\0"), dtype=EVENT)[0]
    if start["what"] != KINDS["START"] or start["bytes"] != FORMAT:
        raise ConfigError("trace", file, f"a trace of format {FORMAT}", "record the program again")
    events = data[: len(data) // EVENT.itemsize * EVENT.itemsize].view(EVENT)
    # A program that ended early leaves the rest of its last window empty.
    empty = np.flatnonzero(events["what"] == KINDS["NOTHING"])
    if len(empty):
        events = events[: empty[0]]
    ended = bool((events["what"] == KINDS["END"]).any())
    listed = file.with_suffix(".lists")
    numbers = input_files.read_bytes(listed, "trace", "lists of a rank", per_byte=_PER_BYTE)
    lists = np.frombuffer(numbers[: len(numbers) // 8 * 8], dtype="<i8")
    ends = np.cumsum(events["words"], dtype=np.int64)
    known = int(np.searchsorted(ends, len(lists), side="right"))
    right = _checked(events[:known], ends[:known], lists)
    # Files of a program that was ended have whole windows; what was being written then may be there in part.
    cut = not ended and not len(data) % _WINDOW and right >= len(events) - 1
    rest = data[len(events) * EVENT.itemsize :]
    if right < len(events) and not cut:
        raise _damaged(file if right < known else listed, f"record {right + 1} is not what was written")
    if rest.any():
        raise _damaged(file, f"something follows record {len(events)}")
    if not ended and not cut:
        raise _damaged(file, "its end is missing")
    if ended and (len(rest) or events["what"][-1] != KINDS["END"] or len(numbers) != ends[-1] * 8):
        raise _damaged(file, "something follows its end")
    events, ends = events[:right], ends[:right]
    return RankTrace(events, ends - events["words"], lists, ended) if len(events) else None


def _damaged(file: Path, why: str) -> ConfigError:
    return ConfigError("trace", file, f"a trace as it was written ({why})", "record the program again")


def _checked(events: NDArray[Any], ends: NDArray[np.int64], lists: NDArray[np.int64]) -> int:
    """How many records, from the first one on, have the right checksum: that of ``mpi/record/trace.c``."""
    words = np.ascontiguousarray(events).view(np.uint64).reshape(len(events), EVENT.itemsize // 8)
    found = np.arange(1, len(events) + 1, dtype=np.uint64)
    for word in words.T[:-1]:
        found = _mixed(found + word)
    used = lists[: ends[-1]] if len(ends) else lists[:0]
    begins = ends - events["words"]
    place = np.arange(len(used), dtype=np.int64) - np.repeat(begins, events["words"])
    mixed = _mixed(used.view(np.uint64) + (place + 1).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    sums = np.concatenate(([np.uint64(0)], np.cumsum(mixed, dtype=np.uint64)))
    found = _mixed(found + (sums[ends] - sums[begins]))
    wrong = np.flatnonzero(found != words[:, -1])
    return int(wrong[0]) if len(wrong) else len(events)


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return x ^ x >> np.uint64(31)


def _unknown(traces: list[RankTrace]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in traces:
        own: dict[str, int] = {}
        for event in np.flatnonzero(one.events["what"] == KINDS["UNKNOWN"]):
            name = one.list_of(int(event)).tobytes().rstrip(b"\0").decode(errors="replace")
            own[name] = max(own.get(name, 0), int(one.events["bytes"][event]))
        for name, calls in own.items():
            found[name] = found.get(name, 0) + calls
    return dict(sorted(found.items()))


def _communicators(
    traces: list[RankTrace],
) -> tuple[list[NDArray[np.int64]], list[list[NDArray[np.int64]]], list[NDArray[np.int64]]]:
    """Which communicators of several ranks are one: those that the same call made, for the same ranks.

    All ranks of a communicator make those that come from it in the same order, so parent, order and members say it.
    """
    numbers: dict[Any, int] = {}
    members: list[NDArray[np.int64]] = []
    comm_of, peers_of = [], []
    for trace in traces:
        own: list[int] = []
        peers: list[NDArray[np.int64]] = []
        order: dict[Any, int] = {}
        for event in np.flatnonzero(trace.events["what"] == KINDS["COMM"]):
            row, ranks = trace.events[event], trace.list_of(int(event))
            local, remote = ranks[: int(row["bytes"])], ranks[int(row["bytes"]) :]
            groups = tuple(sorted((local.tobytes(), remote.tobytes())))
            parent = own[int(row["comm"])] if own else -1
            origin = int(row["tag"])
            called: Any = (origin, parent)
            if origin == ORIGINS["FROM_GROUP"]:
                called = (origin, parent, groups)
            elif origin in (ORIGINS["FROM_BRIDGE"], ORIGINS["FROM_NOWHERE"]):
                called = (origin, groups)
            order[called] = order.get(called, -1) + 1
            if not int(row["words"]):
                continue
            key = (called, order[called], groups)
            if key not in numbers:
                numbers[key] = len(numbers)
                members.append(local)
            own.append(numbers[key])
            peers.append(remote if int(row["flags"]) & FLAGS["REMOTE"] else local)
        comm_of.append(np.array(own, dtype=np.int64))
        peers_of.append(peers)
    return comm_of, peers_of, members
