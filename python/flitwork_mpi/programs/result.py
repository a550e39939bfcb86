"""What a run of rank programs gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flitwork.base.libraries import pd
from flitwork.results.result import Result

from flitwork_mpi.programs.world import World


@dataclass(frozen=True)
class RunResult:
    """The outcome of a program on simulated ranks.

    ``returns`` has what each rank returned, ``finish_ns`` when each was at its end, ``exit_codes`` those not 0.
    ``messages`` and ``bytes`` count what programs and their collectives sent. ``result`` is the result of the network:
    packets, channels, stalls. ``unmatched``: what messages and receives were left at the end, where that is no error.
    ``file_bytes``: what ranks have read and written by ``MPI.File``, in no simulated time.
    """

    result: Result
    returns: list[Any]
    finish_ns: list[float]
    messages: int
    bytes: int
    cycle_ns: float
    exit_codes: Mapping[int, int]
    unmatched: str = ""
    file_bytes: int = 0

    @classmethod
    def of(cls, world: World, exit_codes: Mapping[int, int]) -> RunResult:
        """The outcome of a world that has run."""
        finish = [(process.finish_cycle or 0) * world.cycle_ns for process in world.processes]
        returns = [process.value for process in world.processes]
        result = world.simulation.result()
        return cls(
            result, returns, finish, world.messages, world.bytes, world.cycle_ns, dict(exit_codes), world.unmatched,
            world.file_bytes,
        )  # fmt: skip

    @property
    def time_ns(self) -> float:
        """Simulated time at which the last rank was at its end [ns]."""
        return max(self.finish_ns)

    @property
    def exit_code(self) -> int:
        """The first exit code that is not 0."""
        return next(iter(self.exit_codes.values()), 0)

    @property
    def ranks(self) -> pd.DataFrame:
        """A row for each rank: when it was at its end."""
        return pd.DataFrame({"rank": range(len(self.finish_ns)), "finish_ns": self.finish_ns})

    @property
    def row(self) -> dict[str, Any]:
        """The run in one row."""
        finish = self.finish_ns
        return {
            "status": self.result.status,
            "ranks": len(finish),
            "time_ns": self.time_ns,
            "first_finish_ns": min(finish),
            "mean_finish_ns": sum(finish) / len(finish),
            "messages": self.messages,
            "message_bytes": self.bytes,
            "packets": int(self.result.row["packets"]),
            "kernel": self.result.kernel,
            "digest": self.result.digest,
            "wall_seconds": self.result.wall_seconds,
        }

    def __repr__(self) -> str:
        count = f"{len(self.returns)} ranks, {self.messages} messages, {self.bytes} bytes"
        return f"<{self.result.status}: {self.time_ns:g} ns, {count}>"
