"""How often each latency occurred: quantiles of one run, and of several together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from flitwork.base.errors import ConfigError
from flitwork.base.libraries import np, pd


@dataclass(frozen=True, eq=False)
class Histogram:
    """``packets[i]`` packets had a latency of ``value_cycles[i]``.

    Values ascend. Up to 2047 cycles they are exact; a larger one stands for a range narrower than a thousandth of it,
    and is the largest of that range. Equal latencies have equal values in every run, so histograms can be merged.
    """

    value_cycles: np.ndarray[Any, Any]
    packets: np.ndarray[Any, Any]

    @property
    def count(self) -> int:
        """Packets in all."""
        return int(self.packets.sum())

    def quantile(self, q: float | Sequence[float]) -> Any:
        """The smallest value that a share of at least ``q`` of the packets do not exceed [cycles].

        ``q`` from 0 to 1, or several; not a number where there are no packets.
        """
        shares = np.asarray(q, dtype=float)
        if not ((shares >= 0) & (shares <= 1)).all():
            raise ConfigError("q", q, "shares from 0 to 1", "for example 0.99")
        if not self.count:
            return np.full(shares.shape, np.nan)[()]
        ranks = np.maximum(np.ceil(shares * self.count), 1)
        return self.value_cycles[np.searchsorted(np.cumsum(self.packets), ranks)].astype(float)[()]

    @property
    def table(self) -> pd.DataFrame:
        """A row for each value: ``latency_cycles``, ``packets``, ``share`` (the part up to the value)."""
        share = np.cumsum(self.packets) / max(self.count, 1)
        return pd.DataFrame({"latency_cycles": self.value_cycles, "packets": self.packets, "share": share})


def merge(histograms: Iterable[Histogram]) -> Histogram:
    """All packets of several runs in one histogram."""
    parts = list(histograms)
    if not parts:
        return Histogram(np.empty(0, np.uint64), np.empty(0, np.uint64))
    values, place = np.unique(np.concatenate([part.value_cycles for part in parts]), return_inverse=True)
    packets = np.zeros(len(values), np.uint64)
    np.add.at(packets, place, np.concatenate([part.packets for part in parts]).astype(np.uint64))
    return Histogram(values, packets)
