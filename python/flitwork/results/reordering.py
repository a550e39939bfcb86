"""Packets that were overtaken on their way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flitwork.base.libraries import np, pd

if TYPE_CHECKING:
    from numpy.typing import NDArray


def reordered(packets: pd.DataFrame) -> pd.DataFrame:
    """The pairs of terminals of which packets were overtaken, a row each: see :attr:`flitwork.Result.reordering`.

    ``packets``: a row for each packet, with ``src``, ``dst``, ``sequence`` and ``arrived_cycle``.
    """
    pair = ["src", "dst"]
    arrived = packets.loc[packets["arrived_cycle"].notna(), [*pair, "sequence", "arrived_cycle"]]
    arrived = arrived.sort_values([*pair, "arrived_cycle", "sequence"], kind="stable")
    latest = arrived.groupby(pair, sort=False)["sequence"].cummax()
    arrived["late"] = arrived["sequence"] < latest
    groups = arrived.groupby(pair)
    found = groups["late"].agg(packets="size", reordered_packets="sum").astype("int64").reset_index()
    found = found[found["reordered_packets"] > 0].reset_index(drop=True)
    waiting: list[int] = []
    for one in found[pair].itertuples(index=False, name=None):
        waiting.append(most_waiting(groups.get_group(one)["sequence"].to_numpy()))
    found["waiting_packets_max"] = np.array(waiting, dtype=np.int64)
    return found


def most_waiting(sequence: NDArray[Any]) -> int:
    """The most packets at once that have arrived before one that was created earlier, of a pair in order of arrival."""
    position = np.argsort(sequence, kind="stable")
    # When a packet and all before it have arrived.
    complete = np.maximum.accumulate(position)
    now = np.arange(len(sequence))
    return int((now + 1 - np.searchsorted(complete, now, side="right")).max(initial=0))
