"""What the time between two calls costs: nothing, what a program states, or what it took here."""

from __future__ import annotations

from time import thread_time_ns

from flitwork.errors import ConfigError
from flitwork.mpi.world import World, me

_KINDS = ("zero", "measured")


class Timing:
    """The clock of ranks. Measured time is that of this processor, so results differ from run to run."""

    def __init__(self, kind: str, scale: float) -> None:
        if kind not in _KINDS:
            raise ConfigError("compute", kind, f"one of {', '.join(_KINDS)}")
        if not scale >= 0:
            raise ConfigError("compute_scale", scale, "a number of at least 0")
        self.measured, self.scale = kind == "measured", scale
        self._since = 0

    def attach(self, world: World) -> None:
        """Lets a world measure its ranks."""
        if self.measured:
            world.timing = self

    def begin(self) -> None:
        """A rank goes on."""
        self._since = thread_time_ns()

    def spent_cycles(self, world: World) -> int:
        """What the rank that stops has used since it went on."""
        return round((thread_time_ns() - self._since) * self.scale / world.cycle_ns)


def compute(ns: float) -> None:
    """Occupies the rank that calls for so many ns of simulated time."""
    if not isinstance(ns, (int, float)) and not hasattr(ns, "__float__"):
        raise ConfigError("compute", repr(ns), "a time in ns")
    if not float(ns) >= 0:
        raise ConfigError("compute", ns, "a time in ns, at least 0")
    process = me()
    cycles = round(float(ns) / process.world.cycle_ns)
    if cycles:
        process.compute(cycles)


