"""``MPI.pickle``: how objects travel. A program may say so for its rank, as for a library that pickles functions."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flitwork.mpi.world import here


@dataclass(frozen=True)
class _Rules:
    dumps: Callable[..., Any] = pickle.dumps
    loads: Callable[[Any], Any] = pickle.loads
    protocol: int | None = pickle.HIGHEST_PROTOCOL
    threshold: int = 2**18


_USUAL = _Rules()


def _rules() -> _Rules:
    process = here.process
    return _USUAL if process is None else process.store.get("pickle", _USUAL)


def dump(obj: Any) -> Any:
    """An object as bytes."""
    rules = _rules()
    return rules.dumps(obj) if rules.protocol is None else rules.dumps(obj, rules.protocol)


def load(data: Any) -> Any:
    """The object again."""
    return _rules().loads(data)


class Pickle:
    """How objects of a rank travel: by ``pickle``, or by what ``MPI.pickle.__init__`` was told."""

    def __init__(
        self,
        dumps: Callable[..., Any] | None = None,
        loads: Callable[[Any], Any] | None = None,
        protocol: int | None = None,
        threshold: int | None = None,
    ) -> None:
        if protocol is None and dumps in (None, pickle.dumps):
            protocol = _USUAL.protocol
        found = _Rules(dumps or _USUAL.dumps, loads or _USUAL.loads, protocol, threshold or _USUAL.threshold)
        if here.process is not None:
            here.process.store["pickle"] = found

    def dumps(self, obj: Any) -> Any:
        """An object as bytes."""
        return dump(obj)

    def loads(self, data: Any) -> Any:
        """The object again."""
        return load(data)

    def dumps_oob(self, obj: Any) -> tuple[Any, list[Any]]:
        """An object as bytes, and the long buffers that it holds, which are left out of them."""
        rules, found = _rules(), []

        def stays(held: pickle.PickleBuffer) -> bool:
            if held.raw().nbytes < rules.threshold:
                return True
            found.append(held.raw())
            return False

        protocol = 5 if rules.protocol is None else max(rules.protocol, 5)
        return rules.dumps(obj, protocol, buffer_callback=stays), found

    def loads_oob(self, data: Any, buffers: Any) -> Any:
        """The object again, with the buffers that were left out."""
        load_with: Callable[..., Any] = _rules().loads
        return load_with(data, buffers=buffers)

    @property
    def PROTOCOL(self) -> int | None:
        """The version of the format."""
        return _rules().protocol

    @PROTOCOL.setter
    def PROTOCOL(self, protocol: int | None) -> None:
        self.__init__(_rules().dumps, _rules().loads, protocol, _rules().threshold)  # type: ignore[misc]

    @property
    def THRESHOLD(self) -> int:
        """From how many bytes on a buffer is left out."""
        return _rules().threshold

    @THRESHOLD.setter
    def THRESHOLD(self, threshold: int | None) -> None:
        self.__init__(_rules().dumps, _rules().loads, _rules().protocol, threshold)  # type: ignore[misc]
