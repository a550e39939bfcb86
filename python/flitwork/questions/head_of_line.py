"""How long the ring takes on servers with several ranks, where packets in front of a switch wait behind others.

The model of A. Naruse, K. Nakashima, S. Sumimoto and K. Kumon, "A proposal and evaluation of all-to-all algorithm for
multi-core PC cluster systems", 2010: one switch with one queue for each server, all ranks in step, equal messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flitwork.base.arguments import whole
from flitwork.base.libraries import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_RANKS = 1_000_000


@dataclass(frozen=True, eq=False)
class HolModel:
    """Times of the ring and of the 2-Level Ring, by :func:`hol_model`.

    Both arrays have a time for each step number, 0 to ``servers * ranks_per_server - 1``, relative to a step in which
    all ranks of a server send to one other server: ``ranks_per_server`` messages at the rate of a channel. Messages
    within a server take no time; in step 0 of both algorithms ranks keep their own blocks.
    """

    servers: int
    ranks_per_server: int
    #: The ring: in step i rank r sends to r + i.
    ring_steps: NDArray[np.float64]
    #: The 2-Level Ring: in step ``j * ranks_per_server + k`` place l of server s sends to place l + k of server s + j.
    two_level_steps: NDArray[np.float64]

    @property
    def ratio(self) -> float:
        """How many times as long the ring takes as the 2-Level Ring, which has one destination server a step."""
        return float(self.ring_steps.sum() / self.two_level_steps.sum())

    @property
    def utilisation(self) -> float:
        """The share of its channel that a server uses in the ring, 0 to 1: ``1 / ratio``."""
        return 1 / self.ratio


def hol_model(*, servers: int, ranks_per_server: int) -> HolModel:
    """The analytic model of head-of-line blocking in a ring all-to-all on one switch.

    In step ``i = q * ranks_per_server + r`` of the ring the share ``a = 1 - r / ranks_per_server`` of a server's ranks
    sends to server ``s + q``, the others to the next. Two streams that share an input queue at random get
    ``1 - a * (1 - a)`` of its rate, so the step takes ``1 / (1 - a * (1 - a))``. The first and the last steps, in which
    one of the two servers is the own one, have one destination and are shorter: the share that leaves the server.

    >>> fw.hol_model(servers=8, ranks_per_server=8).ratio  # 1.177

    ``servers`` is at least 2, ``ranks_per_server`` at least 1. Naruse et al., 2010 (the equation for Ta).
    """
    count = whole("servers", servers, 2, _MOST_RANKS)
    ranks = whole("ranks_per_server", ranks_per_server, 1, _MOST_RANKS // count)
    to_next = np.arange(ranks) / ranks
    blocked = 1 / (1 - to_next * (1 - to_next))
    ring = np.vstack([to_next, *[blocked] * (count - 2), 1 - to_next]).ravel()
    two_level = np.repeat([0.0, 1.0], [ranks, (count - 1) * ranks])
    return HolModel(count, ranks, ring, two_level)
