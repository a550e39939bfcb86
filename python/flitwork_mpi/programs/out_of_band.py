"""Objects whose long buffers travel as messages of their own, by version 5 of pickle's format (PEP 574).

Of an object its *head* goes first, and then each of its buffers. The head is the number of buffers and their lengths,
8 bytes each, and the pickled object without them.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from flitwork_mpi.programs.errors import fault
from flitwork_mpi.programs.memory import Memory
from flitwork_mpi.programs.pickling import Pickle
from flitwork_mpi.programs.world import here

#: ``mpi4py.util.pkl5.pickle``, where a rank has not put another one.
PICKLE = Pickle()
_IN_STORE = "pkl5.pickle"
_NUMBER = 8


def pickle_of_rank() -> Pickle:
    """What the rank that runs pickles by."""
    found: Pickle = PICKLE if here.process is None else here.process.store.get(_IN_STORE, PICKLE)
    return found


def set_pickle(pickle: Pickle) -> None:
    """Lets the rank that runs pickle by another one."""
    if here.process is not None:
        here.process.store[_IN_STORE] = pickle


def taken_apart(obj: Any) -> tuple[bytes, list[Memory]]:
    """The head of an object, and copies of its buffers: what the program does to it later makes no difference."""
    stream, buffers = pickle_of_rank().dumps_oob(obj)
    lengths = [buffer.nbytes for buffer in buffers]
    return struct.pack(f"<{1 + len(lengths)}q", len(lengths), *lengths) + stream, [one.copy() for one in buffers]


def lengths_of(head: Any) -> tuple[int, ...]:
    """The lengths of the buffers that belong to a head [bytes]."""
    if isinstance(head, bytes) and len(head) >= _NUMBER:
        (count,) = struct.unpack_from("<q", head)
        if 0 <= count < len(head) // _NUMBER:
            return struct.unpack_from(f"<{count}q", head, _NUMBER)
    raise fault("TYPE", "a message that was not sent by mpi4py.util.pkl5 was received by it")


def put_together(head: bytes, buffers: Sequence[Memory]) -> Any:
    """The object again. The buffers become part of it."""
    start = _NUMBER * (1 + len(lengths_of(head)))
    return pickle_of_rank().loads_oob(memoryview(head)[start:], buffers)
