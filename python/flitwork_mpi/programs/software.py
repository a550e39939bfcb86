"""What the software of a machine adds to a program: late starts, overheads of sends and receives, copies."""

from __future__ import annotations

from collections.abc import Sequence

from flitwork.running.simulation import Simulation

from flitwork_mpi.programs.world import Fiber, Operation


class Software:
    """The software times of a host [cycles], as schedules have them.

    A rank that starts late computes first; a send is preceded by a computation of the send overhead; where a rank sees
    that receives are complete, it computes a receive overhead for each, and as long as their messages are copied.
    """

    def __init__(self, simulation: Simulation) -> None:
        starts, self.send, self._receive = simulation.software
        #: When each rank starts; empty: all at once.
        self.starts = starts if any(starts) else []
        self._copied = simulation.copied
        self._copies = "receive_copy_flits_per_cycle" in simulation.host

    @classmethod
    def of(cls, simulation: Simulation) -> Software | None:
        """The software times of a simulation; ``None`` where it has none."""
        found = cls(simulation)
        return found if found.starts or found.send or found._receive or found._copies else None

    def of_receives(self, operations: Sequence[Operation | Fiber]) -> int:
        """What receives cost that are complete and have not been paid for."""
        sizes = []
        for one in operations:
            if isinstance(one, Operation) and one.message is not None and not one.paid:
                one.paid = True
                sizes.append(one.message.nbytes)
        return len(sizes) * self._receive + (self._copied(sizes) if self._copies and sizes else 0)
