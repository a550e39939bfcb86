"""Tables: causes on the critical path and of all packets, channels that were waited for, steps, and what ranks did."""

from __future__ import annotations

from flitwork.base.libraries import np, pd
from flitwork.explain.names import CAUSES, IN_NETWORK, Places
from flitwork.explain.records import CAUSE, KIND, NOT_YET, Ints, Operations, Records
from flitwork.explain.stretches import Stretch

_NAMES = tuple(CAUSES)
#: Causes that lie with the rank of the stretch.
_OF_RANK = [CAUSE[name] for name in ("computing", "late_start", "os_noise", "timetable")]


def path_table(path: list[Stretch], records: Records) -> pd.DataFrame:
    """A row for each stretch of the critical path, in order of time."""
    ops = records.operations
    rows = [
        {
            "what": one.what,
            "begin_cycle": one.begin,
            "end_cycle": one.end,
            "rank": one.rank,
            "to_rank": one.to_rank,
            "operation": int(ops.number[one.operation]) if ops is not None and one.operation >= 0 else None,
            "step": int(ops.step[one.operation]) if ops is not None and one.operation >= 0 else None,
            "packet": one.packet if one.packet >= 0 else None,
            **{f"{name}_cycles": sum(p.length for p in one.pieces if p.cause == CAUSE[name]) for name in _NAMES},
        }
        for one in path
    ]
    columns = ["what", "begin_cycle", "end_cycle", "rank", "to_rank", "operation", "step", "packet"]
    return pd.DataFrame(rows, columns=[*columns, *(f"{name}_cycles" for name in _NAMES)])


def pieces_table(path: list[Stretch], places: Places) -> pd.DataFrame:
    """A row for each piece of the critical path: the stretch that it is in, its cause, where, and how long."""
    rows = [
        {
            "stretch": number,
            "cause": _NAMES[piece.cause],
            "place": places.name(piece.router, piece.port, piece.at_source)
            if piece.router >= 0
            else f"rank {places.rank(one.rank)}"
            if piece.cause in _OF_RANK
            else None,
            "router": piece.router if piece.router >= 0 else None,
            "port": piece.port if piece.router >= 0 else None,
            "cycles": piece.length,
        }
        for number, one in enumerate(path)
        for piece in one.pieces
    ]
    return pd.DataFrame(rows, columns=["stretch", "cause", "place", "router", "port", "cycles"])


def causes_on_path(pieces: pd.DataFrame, completion_cycles: int) -> pd.DataFrame:
    """A row for each cause on the critical path, the largest first; the cycles sum to the completion time."""
    cycles = pieces.groupby("cause")["cycles"].sum().sort_values(ascending=False, kind="stable")
    placed = pieces.dropna(subset=["place"]).groupby(["cause", "place"])["cycles"].sum()
    most = {cause: placed[cause].idxmax() for cause in placed.index.get_level_values(0).unique()}
    most_cycles = {cause: int(placed[cause].max()) for cause in most}
    return pd.DataFrame(
        {
            "cause": cycles.index,
            "cycles": cycles.to_numpy(dtype=np.int64),
            "share": cycles.to_numpy() / max(completion_cycles, 1),
            "most_at": [most.get(cause) for cause in cycles.index],
            "most_at_cycles": [most_cycles.get(cause, 0) for cause in cycles.index],
        }
    )


def causes_of_packets(records: Records) -> pd.DataFrame:
    """A row for each cause: the mean over the workload's packets that arrived (of an open loop: that were measured).

    The cycles sum to the mean packet latency. A message by the bus counts from when the bus took its transfer.
    """
    packets, waits = records.packets, records.waits
    arrived = (packets.arrived != NOT_YET) & ~packets.background
    result = records.result
    if not result.runs_to_completion:
        end = result.warmup_cycles + result.measurement_cycles
        arrived &= (packets.created >= result.warmup_cycles) & (packets.created < end)
    count = max(int(arrived.sum()), 1)
    mine = arrived[waits.packet]
    summed = np.bincount(waits.cause[mine], waits.cycles[mine], len(_NAMES)).astype(np.int64)
    took = packets.arrived - packets.created
    routed = arrived & ~packets.bus
    summed[CAUSE["source_busy"]] += int((packets.taken - packets.created)[routed].sum())
    summed[CAUSE["bus"]] = int(took[arrived & packets.bus].sum())
    whole = int(took[arrived].sum())
    summed[CAUSE["serialisation"]] = int(records.serialisation[routed].sum())
    summed[CAUSE["hops"]] = whole - int(summed.sum())
    order = [i for i in np.argsort(-summed, kind="stable") if summed[i] or _NAMES[i] == "hops"]
    return pd.DataFrame(
        {
            "cause": [_NAMES[i] for i in order],
            "cycles_per_packet": summed[order] / count,
            "share": summed[order] / max(whole, 1),
        }
    )


def channels_table(records: Records, places: Places) -> pd.DataFrame:
    """A row for each channel: how many packets waited for it on the mean, by cause; packets of all kinds."""
    waits, result = records.waits, records.result
    table = result.channels[["router", "port", "to_router", "to_port", "class", "flits_per_cycle"]].copy()
    count = len(table)
    cycles = max(result.end_cycle, 1)
    channels = pd.MultiIndex.from_arrays([table["router"].to_numpy(np.int64), table["port"].to_numpy(np.int64)])
    found = channels.get_indexer(pd.MultiIndex.from_arrays([waits.router, waits.port]))
    found[waits.at_source] = -1
    for name in IN_NETWORK[:3]:
        mine = (found >= 0) & (waits.cause == CAUSE[name])
        table[f"{name}_packets"] = np.bincount(found[mine], waits.cycles[mine], count) / cycles
    table["waiting_packets"] = table[[f"{name}_packets" for name in IN_NETWORK[:3]]].sum(axis=1)
    return table


def message_times(records: Records, ops: Operations) -> tuple[Ints, Ints, Ints]:
    """For each message received: the send, the cycle from which on it could be taken, and the cycle of its arrival."""
    received = np.flatnonzero((ops.kind == KIND["receive"]) & (ops.arrived != NOT_YET))
    sent = ops.of_rank[ops.peer[received]] + ops.from_operation[received]
    return sent, ready_cycles(ops)[sent], ops.arrived[received]


def ready_cycles(ops: Operations) -> Ints:
    """The cycle for each operation in which its program had passed it and all that it depends on was complete."""
    ready = ops.passed.copy()
    if len(ops.waits_for):
        waiting = np.repeat(np.arange(len(ops.kind)), np.diff(ops.first))
        np.maximum.at(ready, waiting, ops.ended[ops.waits_for])
    return ready


def steps_table(records: Records) -> pd.DataFrame:
    """A row for each step of the algorithm: how long its messages took, and by how much the slowest held up the others.

    A message takes from the cycle in which its sender could send it to that of its arrival. ``held_up_cycles`` is how
    much longer the slowest message took than the median of its step.
    """
    columns = [
        "step", "messages", "begin_cycle", "end_cycle", "median_cycles", "slowest_cycles", "held_up_cycles",
        "slowest_from", "slowest_to",
    ]  # fmt: skip
    ops = records.operations
    if ops is None:
        return pd.DataFrame(columns=columns)
    sent, ready, arrived = message_times(records, ops)
    messages = pd.DataFrame(
        {"step": ops.step[sent], "ready": ready, "arrived": arrived, "took": arrived - ready,
         "from": ops.rank[sent], "to": ops.peer[sent]}
    )  # fmt: skip
    if messages.empty:
        return pd.DataFrame(columns=columns)
    grouped = messages.groupby("step")
    slowest = messages.loc[grouped["took"].idxmax()].set_index("step")
    table = pd.DataFrame(
        {
            "messages": grouped.size(),
            "begin_cycle": grouped["ready"].min(),
            "end_cycle": grouped["arrived"].max(),
            "median_cycles": grouped["took"].median(),
            "slowest_cycles": grouped["took"].max(),
        }
    )
    table["held_up_cycles"] = table["slowest_cycles"] - table["median_cycles"]
    table["slowest_from"], table["slowest_to"] = slowest["from"], slowest["to"]
    return table.reset_index()[columns]


def activity(records: Records) -> dict[str, tuple[Ints, Ints, Ints]]:
    """What ranks did: of each activity the ranks, and the cycles in which it began and ended."""
    ops, packets = records.operations, records.packets
    if ops is None:
        return {}
    late = ops.kind == KIND["late_start"]
    busy = np.isin(ops.kind, [KIND["compute"], KIND["task"]])
    done = ops.ended != NOT_YET
    sent = (packets.operation >= 0) & (packets.injected != NOT_YET)
    last = np.maximum.reduceat(ops.ended, ops.of_rank[:-1]) if len(ops.rank) else np.empty(0, dtype=np.int64)
    ranks = np.arange(ops.ranks)
    return {
        "waiting": (ranks, np.zeros_like(ranks), last),
        "sending": (ops.rank[packets.operation[sent]], packets.taken[sent], packets.left[sent]),
        "computing": _times(ops, busy & done),
        "late start": _times(ops, late & done),
    }


def _times(ops: Operations, which: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> tuple[Ints, Ints, Ints]:
    return ops.rank[which], ops.ended[which] - ops.amount[which], ops.ended[which]


def covered(
    what: tuple[Ints, Ints, Ints], ranks: int, columns: int, cycles: int
) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Which of so many stretches of time of which ranks an activity is in, ``[rank, column]``."""
    rank, begin, end = what
    some = end > begin
    rank, begin, end = rank[some], np.maximum(begin[some], 0), end[some]
    scale = columns / max(cycles, 1)
    changes = np.zeros((ranks, columns + 1), dtype=np.int32)
    first = np.minimum((begin * scale).astype(np.int64), columns - 1)
    after = np.minimum(np.ceil(end * scale).astype(np.int64), columns)
    np.add.at(changes, (rank, first), 1)
    np.add.at(changes, (rank, np.maximum(after, first + 1)), -1)
    covered: np.ndarray[tuple[int, int], np.dtype[np.bool_]] = np.cumsum(changes, axis=1)[:, :columns] > 0
    return covered
