"""What is reduced: arrays or objects, and how two are combined."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from flitwork.mpi.wire import Wire


class Values:
    """Arrays of one rank, as they are; ``combine(low, high)`` is given the value of the lower ranks first."""

    commutes = True

    def __init__(self, combine: Callable[[Any, Any], Any], commutes: bool = True, count: int = 1) -> None:
        self.combine, self.commutes = combine, commutes
        #: Elements of an array that belong together.
        self.unit = count

    def start(self, wire: Wire, to: int, value: Any) -> Any:
        """Starts to send a value."""
        return wire.send(to, value, value.nbytes)

    def put(self, wire: Wire, to: int, value: Any) -> None:
        """Sends a value."""
        wire.put(to, value, value.nbytes)

    def get(self, wire: Wire, source: int) -> Any:
        """Receives a value."""
        return wire.get(source)

    def exchange(self, wire: Wire, to: int, value: Any, source: int) -> Any:
        """Sends a value and receives one."""
        return wire.exchange(to, value, value.nbytes, source)

    def joined(self, place: int, mine: Any, other: int, theirs: Any) -> Any:
        """Two values, that of the lower place first."""
        return self.combine(theirs, mine) if other < place else self.combine(mine, theirs)

    def cut(self, value: Any, parts: int) -> list[Any]:
        """An array in so many pieces."""
        units = len(value) // self.unit
        bounds = [units * i // parts * self.unit for i in range(parts + 1)]
        return [value[first:last] for first, last in pairwise(bounds)]

    def cut_like(self, value: Any, pieces: list[Any]) -> list[Any]:
        """An array in pieces as long as those."""
        found, first = [], 0
        for piece in pieces:
            found.append(value[first : first + len(piece)])
            first += len(piece)
        return found

    def nbytes(self, value: Any) -> int:
        """The length of a message with a value."""
        return int(value.nbytes)


class Objects(Values):
    """Python objects, which travel by pickle."""

    def start(self, wire: Wire, to: int, value: Any) -> Any:
        """Starts to send a value."""
        data = pickle.dumps(value, -1)
        return wire.send(to, data, len(data))

    def put(self, wire: Wire, to: int, value: Any) -> None:
        """Sends a value."""
        data = pickle.dumps(value, -1)
        wire.put(to, data, len(data))

    def get(self, wire: Wire, source: int) -> Any:
        """Receives a value."""
        return pickle.loads(wire.get(source))

    def exchange(self, wire: Wire, to: int, value: Any, source: int) -> Any:
        """Sends a value and receives one."""
        data = pickle.dumps(value, -1)
        return pickle.loads(wire.exchange(to, data, len(data), source))

    def nbytes(self, value: Any) -> int:
        """The length of a message with a value."""
        return len(pickle.dumps(value, -1))
