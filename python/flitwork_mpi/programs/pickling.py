"""``MPI.pickle``: how objects travel. A program may say so for its rank, as for a library that pickles functions."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flitwork_mpi.programs.memory import Memory
from flitwork_mpi.programs.world import here


@dataclass(frozen=True)
class _Rules:
    dumps: Callable[..., Any] = pickle.dumps
    loads: Callable[[Any], Any] = pickle.loads
    protocol: int | None = pickle.HIGHEST_PROTOCOL
    threshold: int = 2**18


_USUAL = _Rules()


class Pickle:
    """How objects of a rank travel: by ``pickle``, or by what ``MPI.pickle.__init__`` was told.

    Each rank has its own rules for an object of this class; those with which it was made, until the rank says others.
    """

    _made: _Rules | None = None

    def __init__(
        self,
        dumps: Callable[..., Any] | None = None,
        loads: Callable[[Any], Any] | None = None,
        protocol: int | None = None,
        threshold: int | None = None,
    ) -> None:
        if protocol is None and dumps in (None, pickle.dumps):
            protocol = _USUAL.protocol
        if threshold is None:
            threshold = _USUAL.threshold
        found = _Rules(dumps or _USUAL.dumps, loads or _USUAL.loads, protocol, threshold)
        if self._made is None:
            self._made = found
        elif here.process is not None:
            here.process.store["pickle", self] = found

    @property
    def _rules(self) -> _Rules:
        made, process = self._made or _USUAL, here.process
        return made if process is None else process.store.get(("pickle", self), made)

    def dumps(self, obj: Any) -> Any:
        """An object as bytes."""
        rules = self._rules
        return rules.dumps(obj) if rules.protocol is None else rules.dumps(obj, rules.protocol)

    def loads(self, data: Any) -> Any:
        """The object again."""
        return self._rules.loads(data)

    def dumps_oob(self, obj: Any) -> tuple[Any, list[Memory]]:
        """An object as bytes, and the long buffers that it holds, which are left out of them."""
        rules, found = self._rules, list[Memory]()

        def stays(buffer: pickle.PickleBuffer) -> bool:
            view = buffer.raw()
            if view.nbytes < rules.threshold:
                return True
            found.append(Memory(view))
            return False

        protocol = 5 if rules.protocol is None else max(rules.protocol, 5)
        return rules.dumps(obj, protocol, buffer_callback=stays), found

    def loads_oob(self, data: Any, buffers: Any) -> Any:
        """The object again, with the buffers that were left out."""
        load_with: Callable[..., Any] = self._rules.loads
        return load_with(data, buffers=buffers)

    @property
    def PROTOCOL(self) -> int | None:
        """The version of the format."""
        return self._rules.protocol

    @PROTOCOL.setter
    def PROTOCOL(self, protocol: int | None) -> None:
        self.__init__(self._rules.dumps, self._rules.loads, protocol, self._rules.threshold)  # type: ignore[misc]

    @property
    def THRESHOLD(self) -> int:
        """From how many bytes on a buffer is left out."""
        return self._rules.threshold

    @THRESHOLD.setter
    def THRESHOLD(self, threshold: int | None) -> None:
        self.__init__(self._rules.dumps, self._rules.loads, self._rules.protocol, threshold)  # type: ignore[misc]


#: ``MPI.pickle``.
PICKLE = Pickle()
dump, load = PICKLE.dumps, PICKLE.loads
