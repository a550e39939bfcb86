"""Why a burst of dimension order lasts: which channels its packets wait for, in which VCs, and who waits for whom."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flitwork.explain import Explanation, explain
from flitwork.planning.specification import plan_of
from flitwork.plot.drawn import tell
from flitwork.plot.layout import draw_channels, layout
from flitwork.plot.style import COLOURS
from flitwork.results.result import Result
from flitwork.studies.claims import Finding
from flitwork.studies.yokota_2010_unsteady.drawing import size, titled
from flitwork.studies.yokota_2010_unsteady.measures import PATTERNS, over_seeds, rows
from flitwork.studies.yokota_2010_unsteady.prediction import claim

#: What a packet that stands still waits for; other reasons are few here.
_REASONS = {
    "behind_packet": "behind another packet in its VC",
    "no_vc": "the VC ahead is taken or full",
    "source_no_credit": "the injection port is full",
    "other": "other: arbitration, ejection",
}
#: Ports 0 and 1 lead along x, 2 and 3 along y, 4 to the terminal.
_ORDER = ("terminal", "injection", *(f"{d}, VC {vc}" for d in "xy" for vc in range(3)), "out")
_DIMENSIONS = ("x", "x", "y", "y", "out")


def explained(results: pd.DataFrame, points: Path) -> Explanation:
    """One burst of the study with what its packets waited for: shuffle by dimension order, the lowest seed."""
    part = rows(results, "bursts", algorithm="do", pattern="shuffle").sort_values("seed")
    return explain(Result.load(points / f"{part['plan_hash'].iloc[0]}.parquet"))


def waits(explanation: Explanation) -> pd.DataFrame:
    """Cycles that heads of packets of the burst stood still: where they were, and what they waited for.

    A place is a dimension and a virtual channel, such as ``x, VC 0``, the ``injection`` port or the way ``out`` to the
    terminal. ``at`` is the buffer that holds the packet, ``of`` the channel that it waits for.
    """
    result = explanation.result
    packets, found = result.packets, result.waits
    found = found[~found["body"] & ~packets["background"].to_numpy()[found["packet"]]]
    plan = plan_of(result.spec)
    source, destination = (packets[name].to_numpy()[found["packet"]] for name in ("src", "dst"))
    routes: dict[tuple[int, int], list[str]] = {}
    for way in set(zip(source.tolist(), destination.tolist(), strict=True)):
        _, ports, vcs = plan.path(*way)
        routes[way] = [f"{_DIMENSIONS[port]}, VC {vc}" for port, vc in zip(ports, vcs, strict=True)]
    # Hop 0 is the terminal, hop 1 the router that it injects into.
    places = [
        (["terminal", "injection", *routes[way]][hop], ["injection", *routes[way], "out"][hop])
        for way, hop in zip(zip(source.tolist(), destination.tolist(), strict=True), found["hop"].tolist(), strict=True)
    ]
    reason = found["reason"].where(found["reason"].isin(list(_REASONS)), "other")
    table = pd.DataFrame(places, columns=["at", "of"]).assign(
        reason=reason.to_numpy(), cycles=found["cycles"].to_numpy()
    )
    return table.groupby(["at", "of", "reason"])["cycles"].sum().reset_index()


def claims(results: pd.DataFrame) -> list[Finding]:
    """Whether bursts are shorter where no packet queues behind another in its VC; nothing where that was not run."""
    part = rows(results, "own-buffers")
    if part.empty:
        return []
    duration = part.pivot_table(index=["pattern", "buffers"], columns="seed", values="completion_cycles")

    def ratio(mean: pd.Series[float], pattern: str) -> float:
        return float(mean[pattern, "a VC for each packet"] / mean[pattern, "two packets in a VC"])

    note = ", ".join(f"{PATTERNS[p]} {ratio(duration.mean(axis=1), p):.2f}" for p in duration.index.unique("pattern"))
    return [claim("jam.own-buffers", over_seeds(lambda mean: ratio(mean, "shuffle"), duration), note)]


def drawn(results: pd.DataFrame, points: Path) -> Figure:
    """The network with the packets that wait for each channel; for which VCs; and which buffers hold whom back."""
    explanation = explained(results, points)
    table = waits(explanation)
    sent = int((~explanation.result.packets["background"]).sum())
    table = table.assign(cycles=table["cycles"] / sent)
    figure, axes = plt.subplots(1, 3, figsize=(15, 5.2))
    _network(figure, axes[0], explanation)
    _by_channel(axes[1], table)
    _matrix(axes[2], table)
    cycles, ratio = explanation.result.completion_cycles, explanation.result.ratio_to_bound
    titled(
        figure,
        f"Why a burst of do with shfl lasts {cycles:.0f} cycles, {ratio:.2f} times its bound: "
        f"{size(results, 'bursts')}",
    )
    tell(figure, table)
    return figure


def _network(figure: Figure, ax: Axes, explanation: Explanation) -> None:
    place = layout(explanation.result.spec["network"]["topology"])
    waiting = explanation.channels["waiting_packets"].to_numpy(dtype=float)
    left, right, *_ = place.extent
    width = min(4.0, 0.135 * 4.2 * 72 / (right - left))
    lines = draw_channels(ax, place, waiting, float(waiting.max(initial=0.0)) or 1.0, width)
    figure.colorbar(lines, ax=ax, shrink=0.8, label="packets that wait for the channel, mean")
    ax.set_title("(a) where packets wait")


def _by_channel(ax: Axes, table: pd.DataFrame) -> None:
    wide = table.pivot_table(index="of", columns="reason", values="cycles", aggfunc="sum", fill_value=0.0)
    wide = wide.reindex(index=[name for name in _ORDER if name in wide.index])
    below = np.zeros(len(wide))
    for i, (reason, label) in enumerate(_REASONS.items()):
        if reason in wide:
            ax.barh(wide.index, wide[reason], left=below, color=COLOURS[i], label=label)
            below = below + wide[reason].to_numpy()
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.set(xlabel="cycles a packet", title="(b) for which channels and VCs")
    ax.legend(loc="lower right")


def _matrix(ax: Axes, table: pd.DataFrame) -> None:
    wide = table.pivot_table(index="at", columns="of", values="cycles", aggfunc="sum", fill_value=0.0)
    wide = wide.reindex(index=[name for name in _ORDER if name in wide.index])
    wide = wide[[name for name in _ORDER if name in wide.columns]]
    ax.imshow(wide.to_numpy(dtype=float), cmap="Blues", aspect="auto")
    values = wide.to_numpy(dtype=float)
    for (y, x), value in np.ndenumerate(values):
        dark = value > 0.6 * values.max()
        ax.text(x, y, f"{value:.1f}", ha="center", va="center", color="white" if dark else "0.2")
    ax.set_xticks(range(len(wide.columns)), list(wide.columns), rotation=45, ha="right")
    ax.set_yticks(range(len(wide.index)), list(wide.index))
    ax.grid(visible=False)
    ax.set(xlabel="waits for", ylabel="packet in buffer", title="(c) who waits for whom [cycles a packet]")
