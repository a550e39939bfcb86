"""What collectives of buffers and of objects share: what a rank holds first, and what it has in the end."""

from __future__ import annotations

from typing import Any

from flitwork_mpi.programs.algorithms import pick
from flitwork_mpi.programs.collective_data import MOVED, Values, joined, only
from flitwork_mpi.programs.steps import Steps, carry_out, steps_of
from flitwork_mpi.programs.wire import Wire


def allgathered(wire: Wire, mine: Any, nbytes: int) -> list[Any]:
    """The blocks of all ranks; ``nbytes`` of them in all."""
    block_data = {wire.rank: mine}
    carry_out(wire, pick(wire, "allgather", nbytes), block_data, MOVED)
    return [block_data[rank] for rank in range(wire.size)]


class _Given:
    """A number, or a few, 8 bytes long."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __len__(self) -> int:
        return 8


def agreed(wire: Wire, value: Any) -> list[Any]:
    """What all ranks give: a few numbers, told by the allgather for short blocks."""
    block_data: dict[int, Any] = {wire.rank: _Given(value)}
    carry_out(wire, steps_of("allgather", "bruck", wire.size, 0, None), block_data, MOVED)
    return [block_data[rank].value for rank in range(wire.size)]


def exchanged(wire: Wire, steps: Steps, blocks: list[Any]) -> list[Any]:
    """Carries out an all-to-all; gives the blocks that came, by their sender."""
    size, rank = wire.size, wire.rank
    block_data = {rank * size + to: block for to, block in enumerate(blocks)}
    carry_out(wire, steps, block_data, MOVED)
    return [block_data[source * size + rank] for source in range(size)]


def allreduced(wire: Wire, value: Any, values: Values, nbytes: int, cuts: bool) -> Any:
    """The values of all ranks combined; ``cuts``: whether they can be cut in pieces."""
    steps = pick(wire, "allreduce", nbytes, cuts=cuts, in_order=not values.commutes)
    return _reduced(wire, steps, value, values)


def reduced(wire: Wire, value: Any, values: Values, root: int, nbytes: int, cuts: bool) -> Any:
    """Carries out a reduction; gives the result on the root.

    Where the operation does not commute, rank 0 has the result first and sends it on.
    """
    top = root if values.commutes else 0
    steps = pick(wire, "reduce", nbytes, top, cuts=cuts, in_order=not values.commutes)
    found = _reduced(wire, steps, value, values, wire.rank == top)
    if top != root:
        block_data = {0: [(0, wire.size, found)]}
        if wire.rank == top:
            data, length = values.packed(block_data, (0,))
            wire.put(root, data, length)
        elif wire.rank == root:
            values.placed(block_data, (0,), wire.get(top), False)
            found = only(block_data[0])[2]
    return found if wire.rank == root else None


def _reduced(wire: Wire, steps: Steps, value: Any, values: Values, has_result: bool = True) -> Any:
    block_data = values.first(wire.rank, values.cut(value, steps.pieces) if steps.cuts else [value])
    carry_out(wire, steps, block_data, values)
    return joined([only(block_data[piece])[2] for piece in range(steps.pieces)]) if has_result else None


def scanned(wire: Wire, value: Any, values: Values, inclusive: bool, nbytes: int) -> Any:
    """The values of the ranks up to this one combined; ``None`` where there are none."""
    steps = pick(wire, "scan" if inclusive else "exscan", nbytes, in_order=not values.commutes)
    block_data, values.before = values.first(wire.rank, [value]), []
    carry_out(wire, steps, block_data, values)
    runs = block_data[0] if inclusive else values.before
    return only(runs)[2] if runs else None
