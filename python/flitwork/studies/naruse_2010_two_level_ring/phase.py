"""Where head-of-line blocking begins: the ring over what sets ranks apart, bursts of the adapters, and switches."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from flitwork.studies.claims import Finding
from flitwork.studies.naruse_2010_two_level_ring.measures import LINK, setting, tidy

_BURST = "network.nic.service.burst_packets"
_FIFO, _LANES, _QUEUES, _OUTPUTS = "FIFO", "2 lanes", "virtual output queues", "output queued"
_STILL = "no jitter"
_MAP = "cividis"


def shares(results: pd.DataFrame) -> pd.Series[float]:
    """The share of the link that the ring uses, mean over the seeds, by (switch, apart, packets of a burst)."""
    table = tidy(results, "phase")
    if table.empty:
        return pd.Series(dtype=float)
    table = table.astype({_BURST: int}).rename(columns={_BURST: "burst"})
    # As listed in the study: from regular to irregular, from the simplest switch to the best.
    keys = [table[name] for name in ("switch", "apart", "burst")]
    found: pd.Series[float] = table["mb_per_s"].groupby(keys, sort=False).mean() / LINK
    return found


def claims(results: pd.DataFrame) -> Iterator[Finding]:
    """The claims ``P.*``."""
    found = shares(results)
    if found.empty:
        return
    fifo = found.xs(_FIFO, level="switch").unstack("burst").sort_index(axis=1)
    apart, still = fifo.drop(index=_STILL), fifo.loc[[_STILL]].to_numpy()[0]
    yield Finding(id="P.regular", ours=float(still[0]))
    yield Finding(id="P.regular-bursts", ours=float(still[1:].min()))
    yield Finding(id="P.jitter", ours=float(1 - apart[1].max()))
    yield Finding(id="P.bursts", ours=float((apart.diff(axis=1).iloc[:, 1:] < 0).to_numpy().mean()))
    by_switch = found.unstack("switch")
    yield Finding(id="P.queues", ours=float((by_switch[_QUEUES] >= by_switch[_FIFO]).mean()))
    yield Finding(id="P.lanes", ours=float((by_switch[_LANES] / by_switch[_QUEUES] - 1).abs().max()))
    if _OUTPUTS in by_switch:
        yield Finding(id="P.outputs", ours=float(by_switch[_OUTPUTS].min()))


def draw(results: pd.DataFrame) -> Figure | None:
    """A map for each switch, in which numbers and colours are the share of the link that is lost."""
    found = shares(results)
    if found.empty:
        return None
    lost = 100 * (1 - found)
    switches, apart = (list(dict.fromkeys(lost.index.get_level_values(name))) for name in ("switch", "apart"))
    figure, axes = plt.subplots(
        1, len(switches), figsize=(2.3 * len(switches) + 2.2, 0.5 * len(apart) + 1.9), sharey=True, squeeze=False,
        layout="constrained",
    )  # fmt: skip
    norm = Normalize(0, float(lost.max()))
    for ax, switch in zip(axes[0], switches, strict=True):
        cells = lost.xs(switch, level="switch").unstack("burst").reindex(apart).sort_index(axis=1)
        ax.imshow(cells, cmap=_MAP, norm=norm, aspect="auto")
        for (row, column), value in np.ndenumerate(cells.to_numpy()):
            ink = "white" if value < 0.6 * lost.max() else "black"
            ax.text(column, row, f"{value:.1f}", ha="center", va="center", color=ink, fontsize="small")
        ax.set_xticks(range(cells.shape[1]), [str(burst) for burst in cells.columns])
        ax.set_yticks(range(len(apart)), apart)
        ax.set_title(switch, fontsize="medium")
        ax.grid(visible=False)
    figure.colorbar(ScalarMappable(norm, _MAP), ax=axes, label="of the link, lost [%]")
    figure.supxlabel("packets of a queue pair that an adapter sends in a row", fontsize="medium")
    axes[0][0].set_ylabel("what sets ranks apart\n[cycles of 1.024 us]")
    figure.suptitle(f"Ring on {setting(tidy(results, 'phase'))}", fontsize="medium")
    return figure
