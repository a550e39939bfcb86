"""The static library of the step functions, called as the MPI library calls it."""

from __future__ import annotations

import ctypes
import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flitwork import _core

NOBODY = 2**32 - 1
#: One step: to whom, which blocks; from whom, which blocks; whether the rank waits.
StepTuple = tuple[int | None, list[int], int | None, list[int], bool]


class CWorld(ctypes.Structure):
    _fields_ = [
        ("ranks", ctypes.c_uint32),
        ("server_of", ctypes.POINTER(ctypes.c_uint32)),
        ("dims", ctypes.c_uint32),
        ("sizes", ctypes.POINTER(ctypes.c_uint32)),
        ("wraps", ctypes.POINTER(ctypes.c_uint8)),
        ("radix", ctypes.c_uint32),
        ("leaders", ctypes.c_uint32),
        ("descending", ctypes.c_uint32),
    ]


class CStep(ctypes.Structure):
    _fields_ = [
        ("to", ctypes.c_uint32),
        ("from_", ctypes.c_uint32),
        ("send_count", ctypes.c_uint64),
        ("receive_count", ctypes.c_uint64),
        ("send", ctypes.POINTER(ctypes.c_uint64)),
        ("receive", ctypes.POINTER(ctypes.c_uint64)),
        ("waits", ctypes.c_uint32),
    ]


@dataclass(frozen=True)
class World:
    """What an algorithm is told; ``servers`` is of each rank its server, ``size`` and ``wraps`` the grid."""

    ranks: int
    servers: tuple[int, ...] | None = None
    size: tuple[int, ...] = ()
    wraps: tuple[bool, ...] = field(default=())
    radix: int | None = None
    leaders: int | None = None
    descending: bool = False

    @property
    def topology(self) -> dict[str, Any] | None:
        return {"kind": "grid", "size": list(self.size), "wrap": list(self.wraps)} if self.size else None

    def in_c(self) -> CWorld:
        servers = None if self.servers is None else (ctypes.c_uint32 * self.ranks)(*self.servers)
        sizes, wraps = (ctypes.c_uint32 * len(self.size))(*self.size), (ctypes.c_uint8 * len(self.size))(*self.wraps)
        return CWorld(
            self.ranks, servers, len(self.size), sizes if self.size else None, wraps if self.size else None,
            self.radix or 0, self.leaders or 0, int(self.descending),
        )  # fmt: skip


class Library:
    """The functions of ``mpi/steps.h``."""

    def __init__(self, folder: Path, compiler: str) -> None:
        files = _core.mpi_library_files()
        archive, shared = folder / "libflitwork_steps.a", folder / "steps.so"
        archive.write_bytes(files[archive.name])
        whole = ["-Wl,--whole-archive", str(archive), "-Wl,--no-whole-archive", "-Wl,-z,defs"]
        subprocess.run([compiler, "-shared", "-o", str(shared), *whole], check=True)
        self.c = c = ctypes.CDLL(str(shared))
        c.flitwork_steps_new.restype = ctypes.c_void_p
        c.flitwork_steps_new.argtypes = [ctypes.c_char_p, ctypes.POINTER(CWorld), ctypes.c_char_p, ctypes.c_size_t]
        c.flitwork_steps_free.restype, c.flitwork_steps_free.argtypes = None, [ctypes.c_void_p]
        c.flitwork_steps_count.restype, c.flitwork_steps_count.argtypes = ctypes.c_uint32, [ctypes.c_void_p]
        c.flitwork_steps_are_direct.argtypes = [ctypes.c_void_p]
        c.flitwork_steps_at.argtypes = [
            ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.POINTER(CStep),
        ]  # fmt: skip
        for text in (c.flitwork_steps_name, c.flitwork_steps_summary, c.flitwork_steps_version):
            text.restype = ctypes.c_char_p

    def new(self, algorithm: str, world: World) -> Steps | str:
        """The algorithm, or why it is not defined."""
        error = ctypes.create_string_buffer(400)
        made = self.c.flitwork_steps_new(algorithm.encode(), world.in_c(), error, len(error))
        return Steps(self.c, made, world.ranks) if made else error.value.decode()


class Steps:
    """A handle."""

    def __init__(self, c: ctypes.CDLL, handle: int, ranks: int) -> None:
        self.c, self.handle, self.ranks = c, handle, ranks
        self.count: int = c.flitwork_steps_count(handle)
        self.direct = bool(c.flitwork_steps_are_direct(handle))
        self.out = CStep()

    def at(self, rank: int, step: int) -> StepTuple | None:
        out = self.out
        if self.c.flitwork_steps_at(self.handle, rank, step, out):
            return None
        sent, came = out.send[: out.send_count], out.receive[: out.receive_count]
        to, source = (None if peer == NOBODY else peer for peer in (out.to, out.from_))
        return to, sent, source, came, bool(out.waits)

    def __del__(self) -> None:
        self.c.flitwork_steps_free(self.handle)


def of_core(algorithm: str, world: World) -> _core.CollectiveSteps:
    """The same in the simulator."""
    topology = json.dumps(world.topology) if world.size else None
    return _core.CollectiveSteps(
        "all_to_all", algorithm, world.ranks, 0, topology, world.servers, True, world.radix, world.leaders,
        world.descending,
    )  # fmt: skip


def step_of_core(steps: _core.CollectiveSteps, rank: int, step: int) -> StepTuple:
    to, sent, source, came, adds, waits = steps.step(rank, step)
    assert not adds
    return to, [*(sent or ())], source, [*(came or ())], waits


def on_servers(sizes: Sequence[int]) -> tuple[int, ...]:
    """Servers of these sizes, the ranks one after the other."""
    return tuple(server for server, size in enumerate(sizes) for _ in range(size))


def small_worlds() -> Iterator[World]:
    """A few of every kind."""
    for ranks in (2, 3, 5, 8, 13, 16):
        yield World(ranks)
    for radix in (3, 4, 1000):
        yield World(11, radix=radix)
    yield World(8, descending=True)
    yield from (
        World(len(servers), servers) for servers in ((0, 0, 1, 1), (7, 2, 7, 2, 7, 3), (0, 1, 1, 2, 1, 0, 2, 1))
    )
    yield World(12, on_servers((4, 4, 4)), leaders=4)
    yield World(10, on_servers((1, 1, 8)))
    yield World(16, on_servers((6, 4, 4, 2)), size=(4, 4), wraps=(True, True))
    yield World(15, size=(3, 5), wraps=(False, False))
    yield World(12, size=(2, 3, 2), wraps=(True, False, True))


def many_worlds() -> Iterator[World]:
    """All numbers of ranks up to 20 and some larger, all radices and leaders, and servers and grids of many shapes."""
    yield from (World(ranks) for ranks in (48, 64, 100))
    for ranks in (*range(2, 21), 24, 27, 32, 33):
        yield World(ranks)
        yield World(ranks, descending=True)
        yield World(ranks, size=(ranks,), wraps=(True,))
        yield World(ranks, radix=min(ranks, 5))
        yield World(ranks, on_servers([3] * (ranks // 3) + [1] * (ranks % 3)))
        yield World(ranks, tuple(rank % max(1, ranks // 4) for rank in range(ranks)))
    yield from (World(ranks, radix=radix) for ranks in (7, 16, 27, 33) for radix in (3, 4, 6, 8, 16, 40))
    for count, each in ((2, 6), (3, 4), (5, 8), (1, 12)):
        servers = on_servers([each] * count)
        yield from (World(count * each, servers, leaders=n) for n in range(1, each + 1) if each % n == 0)
    for sizes in ((1, 9), (8, 8, 4), (1, 2, 3, 4, 5), (7, 1, 7, 1), (2, 6, 4), (5, 5, 5, 4), (12, 3, 1)):
        yield World(sum(sizes), on_servers(sizes))
        yield World(sum(sizes), on_servers(sizes)[::-1])
    for size in ((4, 4), (5, 5), (3, 7), (8, 2), (3, 3, 3), (4, 2, 3), (2, 2, 2, 2), (1, 6), (5, 1, 5), (2, 3, 1, 2)):
        ranks = 1
        for one in size:
            ranks *= one
        for pattern in range(3):
            yield World(ranks, size=size, wraps=tuple((d + pattern) % 3 != 0 for d in range(len(size))))
        yield World(ranks, size=size, wraps=(True,) * len(size))
        yield World(ranks, size=size, wraps=(False,) * len(size))
