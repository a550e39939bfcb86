"""A number of ranks that is no power of two, folded into one that is: the first ranks share a place in pairs.

The even rank of a pair works for both: it takes the odd one's value before and brings it the result after.
"""

from __future__ import annotations

from typing import Any

from flitwork.mpi.algorithms.values import Values
from flitwork.mpi.wire import Wire


class Fold:
    """The places of the ranks of ``wire``: ``places`` in all, a power of two; that of this rank is ``place``."""

    def __init__(self, wire: Wire) -> None:
        self.places = 1 << (wire.size.bit_length() - 1)
        self._extra = wire.size - self.places
        self._wire = wire
        self._paired = wire.rank < 2 * self._extra
        #: Whether the neighbour works for this rank.
        self.idle = self._paired and wire.rank % 2 == 1
        self.place = wire.rank // 2 if self._paired else wire.rank - self._extra

    def rank(self, place: int) -> int:
        """The rank that works at a place."""
        return 2 * place if place < self._extra else place + self._extra

    def before(self, value: Any, values: Values) -> Any:
        """The value of this place; nothing where the rank is idle."""
        if self.idle:
            values.put(self._wire, self._wire.rank - 1, value)
            return None
        return values.combine(value, values.get(self._wire, self._wire.rank + 1)) if self._paired else value

    def after(self, value: Any, values: Values) -> Any:
        """The result, brought to the ranks that were idle."""
        if self.idle:
            return values.get(self._wire, self._wire.rank - 1)
        if self._paired:
            values.put(self._wire, self._wire.rank + 1, value)
        return value
