"""The compiled half of flitwork; use the functions of the package instead."""

from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__version__: str
__all__ = ["Plan", "__version__", "components", "schema"]

def schema() -> str:
    """The JSON Schema of a specification."""

def components() -> str:
    """Every component that can be named in a specification, by table, as JSON."""

@final
class Plan:
    """A validated simulation."""

    def __new__(cls, spec: str) -> Plan:
        """Resolves and validates a specification (JSON)."""

    @property
    def json(self) -> str:
        """The resolved specification and what follows from it, as JSON."""

    @property
    def hash(self) -> str:
        """Fingerprint of the resolved specification and the version."""

    def bound(self) -> str:
        """What no run of this plan can beat, as JSON: of a schedule its completion time, of traffic the load."""

    def check(self) -> str:
        """Checks that every pair is exchanged exactly once, and adds up the loads of the channels by phase; JSON."""

    def messages(self) -> dict[str, NDArray[np.uint32]]:
        """The messages in order of (sender, send order): columns ``from``, ``to``, ``flits``, ``phase``."""

    def path(self, source: int, destination: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
        """The routers, output ports and sets of virtual channels on the way of a packet between two routers."""

    def simulate(
        self, progress: Callable[[int, int, int | None], object] | None = None
    ) -> tuple[str, dict[str, NDArray[Any]]]:
        """Runs the plan without the GIL; the summary as JSON and the long columns as arrays."""
