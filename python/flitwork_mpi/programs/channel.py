"""What all methods of a communicator stand on: its ranks, its contexts, and how it tells the simulator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from typing_extensions import Self

from flitwork_mpi.programs.errors import Refusing, fault, not_supported
from flitwork_mpi.programs.handle import Handle
from flitwork_mpi.programs.integers import integer
from flitwork_mpi.programs.request import Request
from flitwork_mpi.programs.status import ANY_SOURCE, ANY_TAG, PROC_NULL, TAG_UB
from flitwork_mpi.programs.wire import Wire
from flitwork_mpi.programs.world import Message, Operation, Process, World, me

#: Context of COMM_WORLD and of the COMM_SELFs; the context behind each is that of its collectives.
WORLD_CONTEXT, SELF_CONTEXT, FIRST_FREE_CONTEXT = 1, 3, 5


class Channel(Handle, metaclass=Refusing):
    """Ranks of the world that talk in a context of their own.

    One object can serve several ranks (``COMM_WORLD`` does): which of them calls is known from who runs.
    """

    _members: Sequence[int] | None
    _places: dict[int, int] | None

    def __init__(
        self,
        ranks: Sequence[int] | Channel | None = None,
        context: int | None = None,
        name: str = "",
        alone: bool = False,
    ) -> None:
        if isinstance(ranks, Channel):
            return
        if context is None:
            if ranks is not None:
                raise TypeError(f"expecting a communicator, not {type(ranks).__name__}")
            context, name = 0, "MPI_COMM_NULL"
        # Without members: all ranks, or the one that calls.
        self._members, self._context, self.name, self._alone = ranks, context, name, alone
        self._places = None if ranks is None else {rank: place for place, rank in enumerate(ranks)}

    def _alike(self, ranks: Sequence[int], context: int) -> Self:
        """Ranks in a communicator of the same class, also of one of a program, whose constructor is not called."""
        made = type(self).__new__(type(self))
        Channel.__init__(made, ranks, context)
        return made

    def _ranks(self, process: Process) -> Sequence[int]:
        """Its ranks, as ranks of the world."""
        if self._members is None:
            return (process.rank,) if self._alone else range(len(process.world.processes))
        return self._members

    def _rank(self, process: Process) -> int:
        """The place of a rank of the world."""
        return self._place(process.rank)

    def _place(self, rank: int) -> int:
        if self._places is None:
            return 0 if self._alone else rank
        return self._places[rank]

    def _size(self, process: Process) -> int:
        return len(self._ranks(process))

    def _peer(self, process: Process, rank: int, what: str) -> int:
        """A rank of the communicator as a rank of the world."""
        ranks = self._ranks(process)
        if not 0 <= rank < len(ranks):
            raise fault("RANK", f"{what} is {rank}, of {len(ranks)} ranks of {self.name}")
        return ranks[rank]

    def _message(self, dest: int, tag: int, nbytes: int, data: Any, signature: str | None) -> Message:
        """A message that can be sent."""
        process = me()
        if type(dest) is not int or type(tag) is not int:
            dest, tag = integer(dest), integer(tag)
        if not 0 <= tag <= TAG_UB:
            raise fault("TAG", f"the tag of a message is {tag}, and 0 to {TAG_UB} is allowed")
        to = self._peer(process, dest, "the destination")
        return Message(process.rank, to, tag, self._context, nbytes, data, signature)

    def _pattern(self, process: Process, source: int, tag: int) -> tuple[int | None, int | None]:
        """What a receive names, as the simulator takes it."""
        if type(source) is not int or type(tag) is not int:
            source, tag = integer(source), integer(tag)
        if tag != ANY_TAG and not 0 <= tag <= TAG_UB:
            raise fault("TAG", f"the tag of a receive is {tag}, and 0 to {TAG_UB} is allowed")
        peer = None if source == ANY_SOURCE else self._peer(process, source, "the source")
        return peer, None if tag == ANY_TAG else tag

    def _receive(self, source: int, tag: int) -> Operation | None:
        """Posts a receive; ``None`` from nobody."""
        if source == PROC_NULL:
            return None
        process = me()
        peer, kind = self._pattern(process, source, tag)
        return process.receive(peer, kind, self._context)

    def _wire(self, name: str) -> Wire:
        """The messages of a collective call."""
        process = me()
        return Wire(process, self._ranks(process), self._rank(process), self._context + 1, name)

    def _start(self, work: Callable[[], Any], name: str) -> Request:
        """A collective that goes on beside the program."""
        return Request.of(me().spawn(work, name))

    def __getattr__(self, name: str) -> Any:
        if name[:1].isupper():
            raise not_supported(f"MPI.{type(self).__name__}.{name}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def new_context(world: World, key: tuple[Any, ...]) -> int:
    """The contexts of a new communicator; whoever asks with the same key gets the same."""
    contexts = world.store.setdefault("contexts", {})
    if key not in contexts:
        contexts[key] = FIRST_FREE_CONTEXT + 2 * len(contexts)
    found: int = contexts[key]
    return found
