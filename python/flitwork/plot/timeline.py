"""The time-line of the terminals: when each message was taken, sent and received."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from flitwork.base.arguments import several, whole
from flitwork.base.errors import ConfigError
from flitwork.plot.style import LOAD_MAP, style
from flitwork.results.result import Result

_MAX_TERMINALS = 64


def timeline(result: Result, terminals: list[int] | None = None) -> Figure:
    """A row for each terminal (and injection port), a bar for each packet: from when its port took it to its arrival.

    The colour is the number of the message in its sender's order: ranks that keep in step show vertical bands. By
    default all terminals up to 64, otherwise 64 spread evenly. Time counts from t = 0; a background is not shown.
    """
    packets = result.packets
    if packets.empty:
        raise ConfigError("run.record.packets", "false", "packets to draw", "simulate with packets=True")
    total = int(result.plan["derived"]["terminals"])
    shown = sorted({round(i * (total - 1) / (_MAX_TERMINALS - 1)) for i in range(_MAX_TERMINALS)})
    if terminals is not None:
        found = several("terminals", terminals, "a list of terminals")
        shown = [whole(f"terminals[{i}]", terminal, 0, total - 1) for i, terminal in enumerate(found)]
    if not shown:
        raise ConfigError("terminals", "nothing", "at least one terminal", "leave it out for all")
    rows = packets[packets["src"].isin(shown) & ~packets["background"].astype(bool)].dropna(subset=["arrived_cycle"])
    ports = int(packets["injection_port"].max()) + 1
    row_of = {terminal: i for i, terminal in enumerate(shown)}
    y = rows["src"].map(row_of).to_numpy() + (rows["injection_port"].to_numpy() + 0.5) / ports - 0.5
    start, stop = (rows[f"{what}_cycle"].to_numpy(dtype=float) - result.start_cycle for what in ("created", "arrived"))
    with style():
        figure, ax = plt.subplots(figsize=(9.0, min(9.0, 2.0 + 0.14 * len(row_of) * max(1, ports / 2))))
        height = figure.get_figheight() * 72 * 0.8 / max(len(row_of) * ports, 1)
        bars = LineCollection(
            list(np.stack([np.stack([start, y], axis=1), np.stack([stop, y], axis=1)], axis=1)),
            cmap=LOAD_MAP,
            linewidths=max(0.6, 0.75 * height),
            capstyle="butt",
            alpha=0.9,
            rasterized=True,
        )
        bars.set_array(rows["message"].to_numpy())
        ax.add_collection(bars)
        ax.set_xlim(0, result.completion_cycles)
        ax.set_ylim(-0.7, len(row_of) - 0.3)
        step = max(1, len(row_of) // 16)
        ax.set_yticks(range(0, len(row_of), step), [str(t) for t in list(row_of)[::step]])
        ax.set_xlabel("time [cycles]")
        ax.set_ylabel("terminal" if ports == 1 else f"terminal ({ports} injection ports each)")
        ax.grid(False, axis="y")
        figure.colorbar(bars, ax=ax, pad=0.01).set_label("number of the message")
        ax.set_title(f"Messages of {result.title}, from taken to arrived")
    return figure
