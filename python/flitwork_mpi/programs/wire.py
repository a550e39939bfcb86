"""What collectives send by: messages of one call on one communicator, apart from all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flitwork_mpi.programs.errors import fault
from flitwork_mpi.programs.world import Message, Operation, Process

_TAGS = 2**31


class Wire:
    """The messages of one collective call. Peers are ranks of the communicator.

    Its tag is the number of the call on the communicator, the same on all ranks; its context is not that of the
    program's own messages.
    """

    __slots__ = ("context", "name", "place", "process", "rank", "ranks", "size", "tag")

    def __init__(self, process: Process, ranks: Sequence[int], rank: int, context: int, name: str) -> None:
        self.process, self.ranks, self.rank, self.context, self.name = process, ranks, rank, context, name
        self.size, self.place = len(ranks), process.place()
        self.tag = process.store.get(context, 0)
        process.store[context] = (self.tag + 1) % _TAGS

    def send(self, to: int, data: Any, nbytes: int) -> Operation:
        """Starts to send ``data``, which must not change any more."""
        process = self.process
        message = Message(process.rank, self.ranks[to], self.tag, self.context, nbytes, (self.name, data), None)
        return process.send(message, False, self.place)

    def receive(self, source: int) -> Operation:
        """Posts a receive."""
        return self.process.receive(self.ranks[source], self.tag, self.context, self.place)

    def data(self, operation: Operation) -> Any:
        """What a receive that is complete got."""
        message = operation.message
        if message is None:
            raise fault("INTERN", "a receive without a message")
        name, data = message.data
        if name != self.name:
            raise fault("OTHER", f"{self.name} here, where rank {message.source} of the world called {name}")
        return data

    def get(self, source: int) -> Any:
        """Receives from a rank."""
        operation = self.receive(source)
        self.process.wait(operation)
        return self.data(operation)

    def put(self, to: int, data: Any, nbytes: int) -> None:
        """Sends to a rank, and waits until all has left."""
        self.process.wait(self.send(to, data, nbytes))

    @property
    def is_world(self) -> bool:
        """Whether its ranks are all ranks, in their order."""
        return [*self.ranks] == [*range(len(self.process.world.processes))]
