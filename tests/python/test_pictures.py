"""Pictures that a stranger can read: no words under curves or over each other, no look that stands for two things."""

from __future__ import annotations

from collections.abc import Callable

import flitwork as fw
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from flitwork.base.statistics import error_bars, half_width_95
from flitwork.experiment.curves import curves
from flitwork.experiment.points import expand
from flitwork.experiment.study_file import Plot, StudyFile, load_study
from flitwork.plot.bursts import bursts
from flitwork.plot.load_curves import load_curves
from flitwork.plot.style import style
from flitwork.studies import published
from flitwork.studies.booksim_2_validation import compare
from flitwork.studies.booksim_2_validation import figures as validation
from flitwork.studies.takaue_2010_a2at import figures as a2at
from flitwork.studies.takaue_2010_a2at import four_controllers
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pictures import faults


def made_up(study: StudyFile, quick: bool) -> pd.DataFrame:
    """The table of a study with times drawn at random: curves that lie anywhere in their panels."""
    points = expand(study, quick)
    table = pd.DataFrame([{"experiment": p.experiment, "seed": p.seed, **p.params} for p in points])
    # Fields that are set and no axis are columns too.
    for i, point in enumerate(points):
        for name, at in (("algorithm", "workload.algorithm"), ("sync", "workload.sync")):
            if at in table and table[at].isna()[i]:
                table.loc[i, at] = point.spec["workload"].get(name, "async")
    rng = np.random.default_rng(7)
    for column, low, high in (("time", 0.55, 2.4), ("time_of_theory", 1.0, 2.5), ("time_of_bound", 1.05, 3.0)):
        table[column] = rng.uniform(low, high, len(table))
    table["time_of_bisection"] = table["N"].map(lambda n: 1 + 1 / n if n == n else n) + 0.1 * (table["tie"] == "plus")
    random = table["tie"] == "random"
    table.loc[random, "time_of_bisection"] += 0.05 * table.loc[random, "seed"]
    table["ratio_to_bound"] = rng.uniform(1, 4, len(table))
    return table


@pytest.fixture(scope="module", params=[True, False], ids=["quick", "full"])
def results(request: pytest.FixtureRequest) -> pd.DataFrame:
    return made_up(load_study(published()["takaue-2010-a2at"].folder / "study.toml"), request.param)


A2AT: dict[str, Callable[[pd.DataFrame], Figure]] = {
    "3": lambda t: a2at._by_size(t, "fig3", "Figure 3: VC = destinations"),
    "4": lambda t: a2at._by_size(t, "fig4", "Figure 4: 2 VCs, async"),
    "5": lambda t: a2at._by_size(t, "fig5", "Figure 5: 2 VCs, local sync"),
    "6": a2at._figure_6,
    "7": a2at._figure_7,
    "sensitivity": a2at._sensitivity,
    "four controllers": four_controllers.ways,
    "age": a2at._age,
    "beyond": a2at._beyond,
    "ties": a2at._ties,
}


@pytest.mark.parametrize("name", A2AT)
def test_figures_of_the_all_to_all_study(results: pd.DataFrame, name: str) -> None:
    with style():
        assert faults(A2AT[name](results)) == []


def test_no_look_stands_for_two_ways(results: pd.DataFrame) -> None:
    with style():
        lines = [line for ax in four_controllers.ways(results).axes for line in ax.get_lines()]
    assert len(lines) == len({(line.get_color()) for line in lines}) == 12


def test_flits_that_stand_still_have_a_unit_and_no_scale_is_hidden() -> None:
    reasons = list(four_controllers._REASONS)
    frame = pd.DataFrame([{reason: 0.0 for reason in reasons} | {"no_vc": 5.0, "no_credit": 0.5}] * 6)
    standing = {
        column: frame * factor for column, factor in zip(four_controllers._STANDING, (1, 1e-3, 2e-3), strict=True)
    }
    labels = [f"NCT = {n}, {how}" for n in (1, 2, 4) for how in ("async", "local sync (sliding)")]
    with style():
        figure = four_controllers.stall_bars(standing, labels, "Why flits stand still")
        assert faults(figure) == []
    # Reasons that nobody could see have no place in the legend, and each axis says in how many routers it counts.
    assert len(figure.legends[0].get_texts()) == 2
    assert [ax.get_xlabel() for ax in figure.axes] == ["flits a router", *["flits in 1,000 routers"] * 2]
    assert "1,000 routers" in figure.get_suptitle()


def test_the_figure_of_the_validation() -> None:
    theirs = compare.booksim().rename(columns=compare._BOOKSIM)
    means = compare._means(theirs)
    points = means.add_suffix("_booksim").join(means.add_suffix("_ours")).reset_index()
    points["latency_percent"] = 0.3
    points["saturated"] = ~points["stable_booksim"]
    with style():
        assert faults(validation._figure(points, means.reset_index())) == []


def test_error_bars_are_in_the_legend_of_what_has_them() -> None:
    # 0.1 + 0.1 + 0.1 over 3 is not 0.1: a bar of that width would be drawn as a stroke.
    assert half_width_95(np.array([0.1, 0.1, 0.1])) == 0
    groups = pd.DataFrame({"x": [1, 1, 1], "y": [1.2345678 / 3] * 3}).groupby("x")["y"]
    assert error_bars(groups) is None


def load_curve(latency: list[float], low: float, high: float) -> tuple[pd.DataFrame, tuple[float, float]]:
    loads = np.linspace(0.1, 1.0, len(latency))
    points = pd.DataFrame({"load_flits_per_cycle": loads, "packet_latency_mean_cycles": latency})
    points["packet_latency_ci_half_width_cycles"] = 0.5
    points["accepted_load_flits_per_cycle"] = np.minimum(loads, low)
    points["accepted_load_ci_half_width_flits_per_cycle"] = 0.01
    return points.assign(status=np.where(loads > low, "saturated", "complete")), (low, high)


def test_load_curves() -> None:
    shown = {
        "dimension order": load_curve([9, 10, 12, 15, 25, 60, 90, 90, 90, 90], 0.5, 0.501),
        "Duato": load_curve([9, 9, 10, 11, 13, 16, 25, 70, 90, 90], 0.7, 0.702),
    }
    figure = load_curves(shown, 1.0, "uniform on torus 8x8: dimension_order, 4 VCs of 16 flits, packets of 4 flits")
    assert faults(figure) == []
    # The band in which a network saturates is seen, however narrow.
    bands = list(figure.axes[0].patches)
    assert len(bands) == 2 and all(band.get_linewidth() >= 1 for band in bands)


def test_bursts_of_one_window_are_seen() -> None:
    points = pd.DataFrame({"packets_per_terminal": [1, 2, 8], "rate_flits_per_cycle": 0.0})
    points = points.assign(mean_duration_cycles=[10, 13, 40], mean_ci_half_width_cycles=0.0, bound_cycles=[4, 8, 32])
    windows = pd.DataFrame({"packets_per_terminal": [1, 2, 8, 8, 8], "start_cycle": [0, 0, 0, 20, 40]})
    windows = windows.assign(rate_flits_per_cycle=0.0, mean_packets=[60, 120, 300, 200, 10])
    figure = bursts({"shuffle": (points, windows)}, "bursts of shuffle on torus 8x8")
    assert faults(figure) == []
    durations, received = figure.axes
    assert [label.get_text() for label in durations.get_xticklabels()] == ["1", "2", "8"]
    assert all(line.get_marker() != "None" for line in received.get_lines())
    legend = received.get_legend()
    assert legend is not None and legend.get_texts()[0].get_text() == "shuffle, 1 packet"


def test_sizes_have_no_ticks_between_whole_numbers() -> None:
    rows = pd.DataFrame({"N": [4, 5, 4, 5], "kind": ["a", "a", "b", "b"], "time": [0.7, 1.4, 0.8, 1.5]})
    plot = Plot.model_validate({"id": "p", "experiment": "e", "x": "N", "y": "time", "panels": "kind"})
    figure = curves(rows, plot)
    assert faults(figure) == []
    assert all(float(tick).is_integer() for ax in figure.axes for tick in ax.get_xticks())


def test_a_long_legend_stands_below() -> None:
    rng = np.random.default_rng(3)
    points = [(load, vcs, rng.uniform(0, 9)) for load in (0.1, 0.2, 0.3, 0.4) for vcs in range(12)]
    rows = pd.DataFrame(points, columns=["load", "network.router.vcs", "time"])
    plot = Plot.model_validate({"id": "p", "experiment": "e", "x": "load", "y": "time", "series": "network.router.vcs"})
    figure = curves(rows, plot)
    assert faults(figure) == []
    assert figure.axes[0].get_legend() is None and len(figure.legends[0].get_texts()) == 12


def test_pictures_of_a_run() -> None:
    result = fw.simulate(fw.Torus(4, 4, 2), fw.all_to_all(message_flits=20), packets=True, channel_window_cycles=50)
    plot = fw.plot
    for draw in (plot.channel_heatmap, plot.channel_snapshot, plot.timeline):
        assert faults(draw(result)) == [], draw.__name__


@pytest.mark.parametrize("size", [(6,), (5, 5), (12, 3), (3, 9), (5, 4, 4)])
def test_pictures_of_networks_of_any_shape(size: tuple[int, ...]) -> None:
    net, work = fw.Torus(*size), fw.all_to_all(message_flits=1)
    assert faults(fw.plot.phases(net, work)) == []
    assert faults(fw.plot.channel_snapshot(fw.simulate(net, work))) == []


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (lambda ax: ax.text(0.5, 0.5, "under the curve"), "is crossed by"),
        (lambda ax: [ax.text(0.2, 0.9, words) for words in ("one text", "another")], "overlap"),
        (lambda ax: ax.plot([0, 1], [0, 0.2], color="C0", label="b"), "looks like"),
        (lambda ax: ax.set_ylabel(""), "no name"),
        (lambda ax: ax.errorbar([0, 1], [0, 0.3], yerr=[0, 0], color="C3", label="c"), "in the legend only"),
        (lambda ax: ax.legend(loc="center"), "the legend of"),
        (lambda ax: ax.set_title("much too long " * 20), "cut"),
    ],
)
def test_the_checks_find_what_is_wrong(spoil: Callable[[Axes], object], fault: str) -> None:
    figure, ax = plt.subplots()
    ax.plot([0, 1], [0, 1], label="a", color="C0")
    ax.set_xlabel("x [cycles]")
    ax.set_ylabel("y [flits]")
    assert faults(figure) == []
    spoil(ax)
    if fault == "in the legend only":
        ax.legend(loc="upper left")
    assert any(fault in found for found in faults(figure))
