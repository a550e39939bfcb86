"""The heat map of channels: how many packets wait for each of them."""

from __future__ import annotations

from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from flitwork.base.libraries import np, pd, plt
from flitwork.networks.faults import working_topology
from flitwork.plot.layout import draw_channels, layout
from flitwork.plot.style import style
from flitwork.results.result import Result

_PATH = "#b2182b"


def heat_map(result: Result, channels: pd.DataFrame, on_path: list[int]) -> Figure:
    """Every channel on the network, coloured by the packets that wait for it on the mean.

    Counted are packets that have no virtual channel or credit, or lose an arbitration, for the channel. ``on_path``:
    channels that the critical path waits for; they have a thin line in their middle. How busy channels are is drawn by
    ``flitwork draw``.
    """
    place = layout(working_topology(result.spec["network"]))
    waiting = channels["waiting_packets"].to_numpy(dtype=float)
    left, right, bottom, high = place.extent
    width = 6.4 if right - left <= 1.5 * (high - bottom) else 10.0
    with style():
        figure, ax = plt.subplots(
            figsize=(width, min(7.5, max(2.9, 0.84 * width * (high - bottom) / (right - left) + 0.9)))
        )
        line_width = place.line_width(0.75 * width)
        lines = draw_channels(ax, place, waiting, float(waiting.max(initial=0.0)) or 1.0, line_width)
        if on_path:
            segments = place.segments[np.isin(place.channel, on_path)]
            ax.add_collection(LineCollection(list(segments), colors=_PATH, linewidths=0.45 * line_width, zorder=2.5))
        figure.colorbar(lines, ax=ax, pad=0.02, shrink=0.85).set_label("packets that wait for the channel, the mean")
        note = f"; {place.undrawn}" if place.undrawn else ""
        ax.set_title(f"{result.title}\nred: the critical path waits here{note}" if on_path else f"{result.title}{note}")
    return figure
