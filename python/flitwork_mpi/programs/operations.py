"""What collectives of buffers and of objects share: what a rank holds first, and what it has in the end."""

from __future__ import annotations

from typing import Any

from flitwork_mpi.programs.algorithms import pick
from flitwork_mpi.programs.collective_data import MOVED, Values, joined, only
from flitwork_mpi.programs.steps import Steps, carry_out, steps_of
from flitwork_mpi.programs.wire import Wire


def allgathered(wire: Wire, own: Any, nbytes: int) -> list[Any]:
    """The blocks of all ranks; ``nbytes`` of them in all."""
    held = {wire.rank: own}
    carry_out(wire, pick(wire, "allgather", nbytes), held, MOVED)
    return [held[rank] for rank in range(wire.size)]


class _Given:
    """A number, or a few, 8 bytes long."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __len__(self) -> int:
        return 8


def agreed(wire: Wire, value: Any) -> list[Any]:
    """What all ranks give: a few numbers, told by the allgather for short blocks."""
    held: dict[int, Any] = {wire.rank: _Given(value)}
    carry_out(wire, steps_of("allgather", "bruck", wire.size, 0, None), held, MOVED)
    return [held[rank].value for rank in range(wire.size)]


def exchanged(wire: Wire, steps: Steps, blocks: list[Any]) -> list[Any]:
    """Of an all-to-all: the blocks that came, by their sender."""
    size, rank = wire.size, wire.rank
    held = {rank * size + to: block for to, block in enumerate(blocks)}
    carry_out(wire, steps, held, MOVED)
    return [held[source * size + rank] for source in range(size)]


def allreduced(wire: Wire, value: Any, values: Values, nbytes: int, cuts: bool) -> Any:
    """The values of all ranks combined; ``cuts``: whether they can be cut in pieces."""
    steps = pick(wire, "allreduce", nbytes, cuts=cuts, in_order=not values.commutes)
    return _reduced(wire, steps, value, values)


def reduced(wire: Wire, value: Any, values: Values, root: int, nbytes: int, cuts: bool) -> Any:
    """The same on the root. Where the operation does not commute, rank 0 has the result first and sends it on."""
    top = root if values.commutes else 0
    steps = pick(wire, "reduce", nbytes, top, cuts=cuts, in_order=not values.commutes)
    found = _reduced(wire, steps, value, values, wire.rank == top)
    if top != root:
        held = {0: [(0, wire.size, found)]}
        if wire.rank == top:
            data, length = values.packed(held, (0,))
            wire.put(root, data, length)
        elif wire.rank == root:
            values.placed(held, (0,), wire.get(top), False)
            found = only(held[0])[2]
    return found if wire.rank == root else None


def _reduced(wire: Wire, steps: Steps, value: Any, values: Values, has_result: bool = True) -> Any:
    held = values.first(wire.rank, values.cut(value, steps.pieces) if steps.cuts else [value])
    carry_out(wire, steps, held, values)
    return joined([only(held[piece])[2] for piece in range(steps.pieces)]) if has_result else None


def scanned(wire: Wire, value: Any, values: Values, own_too: bool, nbytes: int) -> Any:
    """The values of the ranks up to this one combined; ``None`` where there are none."""
    steps = pick(wire, "scan" if own_too else "exscan", nbytes, in_order=not values.commutes)
    held, values.before = values.first(wire.rank, [value]), []
    carry_out(wire, steps, held, values)
    runs = held[0] if own_too else values.before
    return only(runs)[2] if runs else None
