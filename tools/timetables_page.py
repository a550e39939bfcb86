"""Writes the pictures of docs/timetables.md and README.md: channels under steps and under a timetable.

python tools/timetables_page.py    search, simulate, draw (two minutes on two cores)
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import flitwork as fw
import matplotlib.pyplot as plt
import numpy as np
from flitwork.plot.style import COLOURS, style
from flitwork.studies.reproduce import reproduce
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from numpy.typing import NDArray

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
SIZE = 9
MESSAGE_FLITS = 100
#: The cycles that are shown: both runs are under way.
SHOWN = (4_000, 4_180)
#: The row of nodes whose channels are shown.
ROW = 4
NAMES = ("x+", "x-", "y+", "y-")


def occupation(result: fw.Result) -> NDArray[np.bool_]:
    """Whether each channel of a row of nodes carries a flit: by direction and node, a column a cycle of those shown."""
    windows = result.channel_windows
    assert windows is not None
    # Channels are numbered by router, then +x, -x, +y, -y.
    busy = windows[slice(*SHOWN)].reshape(SHOWN[1] - SHOWN[0], SIZE, SIZE, 4) > 0
    return busy[:, ROW].transpose(2, 1, 0).reshape(4 * SIZE, -1)


def draw_occupation(axes: Axes, busy: NDArray[np.bool_], title: str) -> None:
    """A row a channel, dark where it carries a flit."""
    axes.imshow(
        busy, aspect="auto", interpolation="nearest", cmap=ListedColormap(["white", COLOURS[0]]),
        vmin=0, vmax=1,
        extent=(*SHOWN, len(busy), 0),
    )  # fmt: skip
    share = busy.mean()
    axes.grid(visible=False)
    axes.set_title(f"{title}: channels are busy {share:.0%} of the time", loc="left")
    each = len(busy) // 4
    axes.set_yticks([each * n + each / 2 for n in range(4)], NAMES)
    for n in range(1, 4):
        axes.axhline(each * n, color="white", linewidth=3)


def draw_stream(axes: Axes, timetable: fw.Timetable) -> None:
    """What the channels that leave one node carry in a period: a bar a message, its length over it."""
    table = timetable.table()
    period = timetable.period_cycles
    rows = {name: row for row, name in enumerate(NAMES)}
    for message in table.itertuples():
        colour = COLOURS[(message.dx > 0) * 2 + (message.dy > 0)]
        at = message.start_cycle
        for axis, length in (("x", message.dx), ("y", message.dy)):
            row = rows[axis + ("+" if length > 0 else "-")]
            for start in (at, at - period):
                if length:
                    axes.barh(row, abs(length), left=start, height=0.8, color=colour, edgecolor="white", linewidth=0.8)
            at = (at + abs(length)) % period
    axes.set_xlim(0, period)
    axes.set_yticks(list(rows.values()), list(rows))
    axes.invert_yaxis()
    axes.set_xlabel("cycle of the period")


def main() -> None:
    """Searches, simulates and draws."""
    network = fw.Torus(SIZE, SIZE)
    found = fw.synthesise(network, message_flits=MESSAGE_FLITS, packet_flits=1)
    steps = fw.all_to_all("a2at", message_flits=MESSAGE_FLITS, packet_flits=1)
    run = fw.Run(record=fw.Record(channel_window_cycles=1))
    by_steps = fw.simulate(network, steps, run=run)
    by_times = fw.simulate(found.network, found.timetable, run=run)
    with style():
        draw(by_steps, by_times, found.timetable)
    with tempfile.TemporaryDirectory() as temporary:
        made = reproduce("contention-free-alltoall", Path(temporary))
        for name in ("over-the-bound", "late-ranks"):
            drawn = next(path for path in made.figures if path.name == f"{name}.png")
            shutil.copyfile(drawn, IMAGES / f"timetables-{name}.png")


def draw(by_steps: fw.Result, by_times: fw.Result, timetable: fw.Timetable) -> None:
    """Both pictures."""
    figure, axes = plt.subplots(2, 1, figsize=(9, 6), sharex=True, layout="constrained")
    for one, result, name in zip(axes, (by_steps, by_times), ("A2AT", "Timetable"), strict=True):
        draw_occupation(one, occupation(result), f"{name}, {result.completion_cycles:,} cycles in all")
    axes[1].set_xlabel("cycle")
    figure.savefig(IMAGES / "timetable-occupation.png", dpi=120)
    figure, one = plt.subplots(figsize=(9, 2.4), layout="constrained")
    draw_stream(one, timetable)
    one.set_title(f"What one node's channels carry: the shortest period of {SIZE} x {SIZE}", loc="left")
    figure.savefig(IMAGES / "timetable-stream.png", dpi=120)


if __name__ == "__main__":
    main()
