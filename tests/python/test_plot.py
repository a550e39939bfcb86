from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import flitwork as fw
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from common import Cli
from flitwork.experiment.curves import curves
from flitwork.experiment.study_file import Plot
from flitwork.planning.specification import simulation
from flitwork.plot.channels import _joined
from flitwork.plot.gallery import gallery
from flitwork.plot.labels import label
from flitwork.plot.layout import layout
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


def test_each_configuration_has_its_pictures(cli: Cli, tmp_path: Path) -> None:
    for options in (("--size", "3x3"), ("--size", "3x4"), ("--size", "3x3", "--set", "vcs=4")):
        assert cli("draw", "a2at", "--message-flits", 5, "--windows", 2, *options).returncode == 0
    assert len(list((tmp_path / "results").glob("draw-a2at-torus-3x*/network.gif"))) == 3
    # In one folder the pictures of the last run are not taken for those of this one; other files stay.
    (tmp_path / "own.png").touch()
    gallery(simulation(fw.Torus(3, 3), fw.all_to_all(message_flits=5)), tmp_path, windows=2)
    drawn = gallery(simulation(fw.Torus(3, 3), fw.uniform(offered_load=0.1)), tmp_path, windows=2)
    pictures = {path.name for path in tmp_path.iterdir() if path.is_file() and path.suffix != ".csv"}
    assert pictures == {"own.png", *(path.name for path in drawn)}
    # Beside each picture lie its numbers, and no others.
    assert {path.stem for path in tmp_path.glob("*.csv")} <= {path.stem for path in drawn}


def test_what_does_not_fit_on_a_page_is_left_out_with_a_warning(tmp_path: Path) -> None:
    spec = simulation(fw.Mesh(2, 2, 2, 2), fw.all_to_all("a2a", message_flits=5))
    with pytest.warns(UserWarning, match="grids of at most 3 dimensions"):
        paths = gallery(spec, tmp_path, windows=2)
    assert {path.stem for path in paths} == {"channels", "timeline"}


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


@pytest.mark.parametrize("ranks", [[2, 2, 2, 2], [3, 1, 1, 2]])
def test_phases_of_servers_with_several_ranks(ranks: list[int]) -> None:
    network = fw.Network("xgft", children=[2, 2], parents=[1, 2])
    host, work = fw.Host(placement=fw.placement.Counts(ranks=ranks)), fw.collective("all_to_all", "two_level_ring")
    figure = fw.plot.phases(network, work, rank=sum(ranks) - 1, host=host)
    assert f"routes of rank {sum(ranks) - 1} in orange" in figure.get_suptitle()
    with pytest.raises(fw.ConfigError, match=f"from 0 to {sum(ranks) - 1}"):
        fw.plot.phases(network, work, rank=sum(ranks), host=host)


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
    assert figure.axes[0].get_xlim() == (-1000, beside.completion_cycles + 1)
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


@pytest.fixture(scope="module")
def open_loop() -> fw.Result:
    """An open loop whose last window has a single cycle."""
    network, work = fw.Mesh(4, 4, vcs=4), fw.uniform(offered_load=0.9, packet_flits=4)
    how = {"warmup_cycles": 0, "measurement_cycles": 1000}
    end = fw.simulate(network, work, **how).end_cycle  # type: ignore[arg-type]
    return fw.simulate(network, work, **how, channel_window_cycles=end)  # type: ignore[arg-type]


def test_the_last_window_is_divided_by_its_cycles(open_loop: fw.Result, tmp_path: Path) -> None:
    windows, end = open_loop.channel_windows, open_loop.end_cycle
    assert windows is not None and list(open_loop.channel_window_edges) == [0, end, end + 1]
    # In its two cycles of a run that ends in cycle 9, the window from 8 on carries two flits at most.
    for cycles in (2, 3, 7, end):
        result = fw.simulate(
            fw.Torus(4, 4, vcs=4),
            fw.uniform(offered_load=1.0),
            warmup_cycles=0,
            measurement_cycles=100,
            channel_window_cycles=cycles,
        )
        heat = fw.plot.channel_heatmap(result)
        drawn = np.concatenate([np.asarray(ax.collections[0].get_array()) for ax in heat.axes[1:5]])
        assert drawn.max() <= 1.0
        lengths = np.diff(result.channel_window_edges)
        assert lengths.sum() == result.end_cycle + 1
        assert np.allclose((drawn * lengths).sum(), result.channel_flits.sum())
        plt.close(heat)
    # Windows that are joined in a frame count by their cycles.
    path = fw.plot.channel_animation(open_loop, tmp_path / "joined.gif", max_frames=1)
    assert path.stat().st_size > 1000
    edges, frames = _joined(open_loop, 1)
    assert list(edges) == [0, end + 1] and np.allclose(frames[0] * (end + 1), windows.sum(axis=0))


def test_a_background_loads_no_channel_beyond_1() -> None:
    result = fw.simulate(
        fw.Torus(4, 4, vcs=4),
        fw.burst_workload("neighbour", packets=1),
        background=fw.uniform(offered_load=1.0, packet_flits=8),
        warmup_cycles=500,
    )
    assert result.channel_utilisation.max() <= 1.0


def test_rows_of_a_mesh_are_named_by_their_routers() -> None:
    result = fw.simulate(fw.Mesh(8, 8), fw.all_to_all(message_flits=1), channel_window_cycles=50)
    panels = fw.plot.channel_heatmap(result).axes[1:5]
    of_class = {ax.get_ylabel().split("\n")[0]: ax for ax in panels}
    for name, last in (("+x", 62), ("-x", 63), ("+y", 55), ("-y", 63)):
        ax = of_class[name]
        assert ax.get_ylabel().endswith("of router")
        assert int(ax.get_yticklabels()[-1].get_text()) == last and ax.get_yticks()[-1] == 55.5


def test_the_scale_of_light_loads_ends_where_they_do() -> None:
    result = fw.simulate(
        fw.Mesh(4, 4),
        fw.uniform(offered_load=0.02),
        warmup_cycles=0,
        measurement_cycles=2000,
        channel_window_cycles=500,
    )
    assert result.channel_utilisation.max() < 0.05
    for figure in (fw.plot.channel_heatmap(result), fw.plot.channel_snapshot(result)):
        assert figure.axes[-1].get_ylim() == (0, 0.05)
    heavy = fw.simulate(fw.Mesh(4, 4), fw.uniform(offered_load=0.9), warmup_cycles=0, measurement_cycles=500)
    assert fw.plot.channel_snapshot(heavy).axes[-1].get_ylim() == (0, 1)


def test_what_is_not_drawn_of_three_dimensions_is_said(tmp_path: Path) -> None:
    figure = fw.plot.phases(fw.Mesh(3, 3, 2), fw.all_to_all(), which=[0, 16])
    assert "channels in z are not drawn" in figure.get_suptitle()
    assert all("not drawn: " in ax.get_title() for ax in figure.axes[:2])
    flat = fw.plot.phases(fw.Mesh(3, 3), fw.all_to_all(), which=[0])
    assert "not drawn" not in flat.get_suptitle() + flat.axes[0].get_title()


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda r: fw.plot.channel_snapshot(r, window=999), "window = 999: expected a whole number from 0 to 1"),
        (lambda r: fw.plot.channel_snapshot(r, window=-1), "window = -1"),
        (lambda r: fw.plot.channel_animation(r, "never.gif", max_frames=0), "max_frames = 0"),
        (lambda r: fw.plot.channel_animation(r, "never.gif", frames_per_second=0), "frames_per_second = 0"),
        (lambda r: fw.plot.timeline(r, terminals=[99]), r"terminals\[0\] = 99: expected a whole number from 0 to 15"),
        (lambda r: fw.plot.timeline(r, terminals=[]), "at least one terminal"),
        (lambda r: fw.plot.phases(fw.Mesh(3, 3), fw.all_to_all(), rank=9), "rank = 9: expected .* from 0 to 8"),
        (lambda r: fw.plot.phases(fw.Mesh(3, 3), fw.all_to_all(), which=[True]), "phase = True"),
        (lambda r: fw.plot.phases(fw.Mesh(3, 3), fw.programs()), "messages are known before"),
    ],
)
def test_what_does_not_exist_is_not_drawn(draw: Callable[[fw.Result], object], message: str) -> None:
    result = fw.simulate(
        fw.Mesh(4, 4), fw.all_to_all(message_flits=1), packets=True, channel_window_cycles=20, max_cycles=1000
    )
    with pytest.raises(fw.ConfigError, match=message):
        draw(result)


def test_a_window_longer_than_any_run() -> None:
    window = 2**63
    result = fw.simulate(fw.Mesh(3, 3), fw.all_to_all(), channel_window_cycles=window, delivery_window_cycles=window)
    assert list(result.deliveries["start_cycle"]) == [0]
    assert list(result.channel_window_edges) == [0, result.end_cycle + 1]
    assert len(fw.plot.channel_heatmap(result).axes) == 6


def test_without_channels_there_is_nothing_to_draw() -> None:
    crossbar = fw.Network("crossbar", terminals=4)
    result = fw.simulate(crossbar, fw.uniform(offered_load=0.1), measurement_cycles=100, channel_window_cycles=50)
    with pytest.raises(fw.ConfigError, match="channels between routers"):
        fw.plot.channel_heatmap(result)
    with pytest.raises(fw.ConfigError, match="channels between routers"):
        fw.plot.phases(crossbar, fw.all_to_all("a2a"))


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
