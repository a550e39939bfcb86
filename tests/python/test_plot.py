from __future__ import annotations

from pathlib import Path

import flitwork as fw
import numpy as np
import pandas as pd
import pytest
from flitwork.experiment.study_file import Plot
from flitwork.plot.curves import curves
from flitwork.plot.gallery import gallery
from flitwork.plot.labels import label
from flitwork.plot.layout import layout
from flitwork.spec import simulation
from matplotlib.collections import LineCollection
from PIL import Image


@pytest.mark.parametrize(
    "network",
    [fw.Torus(5, 4), fw.Mesh(3, 3), fw.Torus(6), fw.Grid((4, 3), wrap=(True, False)), fw.Mesh(3, 3, 2), fw.Torus(2, 2)],
)
def test_every_channel_has_its_place(network: fw.Network) -> None:
    topology = network.spec["topology"]
    place = layout(topology)
    assert len(place.xy) == np.prod(topology["size"]) == len(np.unique(place.xy, axis=0))
    assert len(np.unique(place.segments.round(6), axis=0)) == len(place.segments)
    channels = fw.simulate(network, fw.all_to_all("a2a", message_flits=1)).channels
    in_plane = channels[channels["class"].isin(["+x", "-x", "+y", "-y"])]
    assert set(place.channel.tolist()) == set(in_plane.index)


def test_a_gallery(tmp_path: Path) -> None:
    paths = gallery(simulation(fw.Torus(4, 3), fw.all_to_all(message_flits=20)), tmp_path, windows=10)
    names = {path.name for path in paths}
    assert {"phases.png", "channels.png", "network.png", "network.gif", "timeline.png", "timeline.svg"} <= names
    with Image.open(tmp_path / "network.gif") as animation:
        assert animation.n_frames >= 9  # type: ignore[attr-defined]
    for path in paths:
        if path.suffix == ".png":
            with Image.open(path) as picture:
                assert len(picture.convert("RGB").getcolors(1 << 24) or ()) > 10


def test_a_gallery_of_a_trace(tmp_path: Path) -> None:
    work = fw.trace([(0, 0, 5, 8), (0, 1, 9, 8), (6, 5, 0, 8)])
    names = {path.name for path in gallery(simulation(fw.Torus(4, 3), work), tmp_path, windows=5)}
    # A trace has no phases; its packets are on the time-line from their creation on.
    assert {"channels.png", "network.gif", "timeline.png"} <= names and "phases.png" not in names
    result = fw.simulate(fw.Torus(4, 3), work, packets=True)
    (bars,) = fw.plot.timeline(result).axes[0].collections
    assert isinstance(bars, LineCollection)
    assert [(segment[0][0], segment[0][1]) for segment in bars.get_segments()] == [(0, 0), (0, 1), (6, 5)]


def test_phases_are_chosen_and_bounded() -> None:
    figure = fw.plot.phases(fw.Torus(5, 5, ports=4), fw.all_to_all(), which=[0, 5])
    titles = [ax.get_title() for ax in figure.axes if ax.get_title()]
    assert titles == ["phase 0: max 1", "phase 5: max 3"]
    with pytest.raises(fw.ConfigError, match="0 to 5"):
        fw.plot.phases(fw.Torus(5, 5, ports=4), fw.all_to_all(), which=[6])


def test_axes_carry_units() -> None:
    result = fw.simulate(fw.Mesh(4, 4), fw.all_to_all(message_flits=10), packets=True, channel_window_cycles=50)
    assert fw.plot.timeline(result).axes[0].get_xlabel() == "time [cycles]"
    labels = [ax.get_ylabel() for ax in fw.plot.channel_heatmap(result).axes]
    assert "mean\n[flits/cycle]" in labels and "utilisation [flits/cycle]" in labels
    assert fw.plot.channel_snapshot(result).axes[0].get_xlabel() == "x [router]"


def test_what_cannot_be_drawn_is_named() -> None:
    with pytest.raises(fw.ConfigError, match="3 dimensions"):
        fw.plot.phases(fw.Mesh(2, 2, 2, 2), fw.all_to_all())
    with pytest.raises(fw.ConfigError, match="channel_window_cycles"):
        fw.plot.channel_heatmap(fw.simulate(fw.Mesh(3, 3), fw.all_to_all()))


@pytest.fixture(scope="module")
def beside() -> fw.Result:
    """A burst that starts after 1000 cycles of background."""
    return fw.simulate(
        fw.Torus(4, 4, vcs=4),
        fw.burst_workload("shuffle", packets=8, packet_flits=8),
        background=fw.uniform(offered_load=0.6, packet_flits=8),
        warmup_cycles=1000,
        channel_window_cycles=100,
        packets=True,
    )


def test_channels_beside_a_background_are_drawn_from_the_start_of_the_run(beside: fw.Result) -> None:
    assert beside.start_cycle == 1000 and beside.end_cycle == 1000 + beside.completion_cycles
    figure = fw.plot.channel_heatmap(beside)
    assert figure.axes[0].get_xlim() == (-1000, beside.completion_cycles)
    rows = [np.asarray(ax.collections[0].get_array()) for ax in figure.axes[1:5]]
    # A channel carries at most 1 flit a cycle, also in the last window, which is short.
    assert 0.5 < max(row.max() for row in rows) <= 1.0
    assert beside.completion_cycles % 100 and rows[0].shape == (16, -(-beside.end_cycle // 100))


def test_the_time_line_begins_at_t_0_and_leaves_the_background_out(beside: fw.Result) -> None:
    axes = fw.plot.timeline(beside).axes[0]
    bars = axes.collections[0].get_segments()  # type: ignore[attr-defined]
    assert len(bars) == beside.row["packets"] == 8 * 14  # two terminals are fixed points of the shuffle
    assert min(bar[:, 0].min() for bar in bars) == 0
    assert max(bar[:, 0].max() for bar in bars) == axes.get_xlim()[1] == beside.completion_cycles


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("workload.offered_load", "offered load [flits/cycle/terminal]"),
        ("background.offered_load", "background offered load [flits/cycle/terminal]"),
        ("network.router.vcs", "vcs"),
        ("network.topology.kind", "topology"),
        ("network.router.buffer_flits", "buffer [flits]"),
        ("accepted_load_flits_per_cycle", "accepted load [flits/cycle/terminal]"),
        ("max_channel_flits_per_cycle", "max channel [flits/cycle]"),
        ("packet_latency_mean_cycles", "packet latency mean [cycles]"),
        ("time_over_theory", "time over theory"),
        ("N", "N"),
    ],
)
def test_columns_have_names_in_words_and_units(column: str, expected: str) -> None:
    assert label(column) == expected


LOAD, LATENCY = "workload.offered_load", "packet_latency_mean_cycles"


@pytest.fixture
def rows() -> pd.DataFrame:
    """Two curves, each load with two seeds; the last load is saturated."""
    points = [(load, vcs, seed) for load in (0.1, 0.2, 0.3) for vcs in (2, 4) for seed in (1, 2)]
    table = pd.DataFrame(points, columns=[LOAD, "network.router.vcs", "seed"])
    table[LATENCY] = 5.35 + 10 * table[LOAD] + 0.05 * table["seed"]
    table["accepted_load_flits_per_cycle"] = table[LOAD] * (0.9 + 0.5 * table["seed"] * (table[LOAD] < 0.15))
    return table.assign(status=np.where(table[LOAD] > 0.25, "saturated", "complete"))


def declared(y: str, **more: object) -> Plot:
    return Plot.model_validate(
        {"id": "p", "experiment": "e", "x": LOAD, "y": y, "series": "network.router.vcs", **more}
    )


def test_a_declared_plot_says_what_it_shows(rows: pd.DataFrame) -> None:
    (ax,) = curves(rows, declared(LATENCY)).axes
    assert ax.get_xlabel() == label(LOAD) and ax.get_ylabel() == label(LATENCY)
    legend = ax.get_legend()
    assert legend is not None and legend.get_title().get_text() == "vcs"
    assert [text.get_text() for text in legend.get_texts()] == ["2", "4", "saturated"]
    panels = curves(rows, declared(LATENCY, panels="network.router.vcs", series=[])).axes
    assert [ax.get_title() for ax in panels] == ["vcs = 2", "vcs = 4"]


def test_a_saturated_latency_is_no_part_of_the_line(rows: pd.DataFrame) -> None:
    def drawn(y: str) -> tuple[np.ndarray, list[float]]:
        (ax,) = curves(rows, declared(y)).axes
        lines = [(one, np.asarray(one.get_xydata(), dtype=float)) for one in ax.get_lines()]
        joined = next(points for one, points in lines if len(points) == 3 and one.get_linestyle() == "-")
        hollow = [points for one, points in lines if one.get_markerfacecolor() == "white" and len(points)]
        return joined[:, 1], [float(points[0, 0]) for points in hollow]

    latency, hollow = drawn(LATENCY)
    assert np.isfinite(latency).tolist() == [True, True, False] and hollow == [0.3, 0.3]
    accepted, hollow = drawn("accepted_load_flits_per_cycle")
    assert np.isfinite(accepted).all() and hollow == [0.3, 0.3]


def test_bars_end_at_0_and_logarithmic_axes_write_numbers_out(rows: pd.DataFrame) -> None:
    # The interval of the first point is 12.7 times half of what its two seeds differ by.
    (ax,) = curves(rows, declared("accepted_load_flits_per_cycle")).axes
    ends = [end for bars in ax.collections for bar in bars.get_segments() for end in bar[:, 1]]  # type: ignore[attr-defined]
    assert min(ends) == 0 and max(ends) > 0.3
    figure = curves(rows, declared(LATENCY, yscale="log"))
    figure.canvas.draw()
    ticks = [tick.get_text() for tick in figure.axes[0].get_yticklabels(which="both")]
    assert {"7", "8"} <= set(ticks) and not any("10^" in tick or "times" in tick for tick in ticks)
