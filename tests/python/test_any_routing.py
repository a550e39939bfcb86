"""The bound of all routings: against a linear program, known loads, and what routings reach."""

from __future__ import annotations

import json
import math

import flitwork as fw
import numpy as np
import pandas as pd
import pytest
from flitwork import _core
from flitwork.cli import app
from scipy.optimize import linprog
from typer.testing import CliRunner


def exact_cycles(channels: pd.DataFrame, demands: np.ndarray) -> float:
    """The maximum concurrent flow as a linear program: what each source sends over each channel, and the time."""
    routers, sources = len(demands), [s for s in range(len(demands)) if demands[s].sum()]
    columns = len(sources) * len(channels) + 1
    conserved, surplus = [], []
    for row, source in enumerate(sources):
        for router in range(routers):
            equation = np.zeros(columns)
            at = row * len(channels)
            equation[at + np.flatnonzero(channels["router"] == router)] = 1
            equation[at + np.flatnonzero(channels["to_router"] == router)] -= 1
            conserved.append(equation)
            surplus.append(demands[source].sum() if router == source else -demands[source, router])
    carried = np.zeros((len(channels), columns))
    for channel in range(len(channels)):
        carried[channel, channel : columns - 1 : len(channels)] = 1
    carried[:, -1] = -1
    least = np.zeros(columns)
    least[-1] = 1
    found = linprog(least, A_ub=carried, b_ub=np.zeros(len(channels)), A_eq=np.array(conserved), b_eq=np.array(surplus))
    assert found.success
    return float(found.fun)


NETWORKS = [
    fw.Mesh(3, 3),
    fw.Torus(4, 2),
    fw.KAryNTree(k=2, levels=3),
    fw.Dragonfly(routers_per_group=2, global_channels_per_router=1, terminals_per_router=1),
]


@pytest.mark.parametrize("network", NETWORKS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_a_linear_program_lies_between_what_is_proved_and_reached(network: fw.Network, seed: int) -> None:
    random = np.random.default_rng(seed)
    terminals = routers_of(network)
    to = random.permutation(len(terminals))
    flits = random.integers(1, 50, len(terminals))
    programs: list[list[fw.Send | fw.Receive]] = [
        [fw.Receive(int(source), flits=int(flits[source])) for source in np.flatnonzero(to == rank) if source != rank]
        for rank in range(len(terminals))
    ]
    for rank, program in enumerate(programs):
        if to[rank] != rank:
            program.insert(0, fw.Send(int(to[rank]), flits=int(flits[rank])))
    found = fw.any_routing(network, fw.Schedule(programs))
    table = found.table()
    demands = np.zeros((1 + int(max(table["router"].max(), table["to_router"].max())),) * 2)
    for rank, other in enumerate(to):
        if terminals[rank] != terminals[other]:
            demands[terminals[rank], terminals[other]] += flits[rank]
    exact = exact_cycles(table, demands)
    assert found.proved_cycles <= exact * (1 + 1e-9)
    assert found.reached_cycles >= exact * (1 - 1e-9)
    assert found.gap <= 0.01
    assert found.reached_cycles == pytest.approx(table["flits"].max())


def routers_of(network: fw.Network) -> np.ndarray:
    """The router of each terminal."""
    return _core.terminals(json.dumps(network.spec["topology"]))["router"]


def test_uniform_traffic_on_a_torus_needs_no_other_routing() -> None:
    network = fw.Torus(8, 8)
    found = fw.any_routing(network, fw.uniform(offered_load=0.1))
    assert found.proved_load == pytest.approx(found.bound.saturation_load)
    assert found.reached_load == pytest.approx(found.bound.saturation_load)
    assert found.routing_over_split == pytest.approx(1)


def test_the_worst_traffic_of_a_dragonfly_takes_other_routes() -> None:
    """Each group sends to the next one: over one channel by the shortest routes, over nearly all by way of others."""
    network = fw.Dragonfly(routers_per_group=4, global_channels_per_router=2, terminals_per_router=2)
    shift = fw.traffic("permutation", destinations=[(t + 8) % 72 for t in range(72)], offered_load=0.1)
    found = fw.any_routing(network, shift)
    assert found.bound.saturation_load == pytest.approx(1 / 8)
    assert found.gap <= 0.01
    # Of a group's 8 global channels one leads straight on; what takes others crosses two: 8 L (2 - 1 / (8 L)) = 8.
    assert found.reached_load <= 0.5625 * (1 + 1e-9) <= found.proved_load * (1 + 2e-9)
    assert found.routing_over_split == pytest.approx(found.reached_load * 8)
    table = found.table()
    assert set(table["class"]) == {"local", "global"} and table["weight"].max() == 1
    assert table["flits"].max() == pytest.approx(found.reached_cycles)


def test_a_schedule_is_bounded_beside_its_routing() -> None:
    found = fw.any_routing(fw.Mesh(4, 4), fw.all_to_all("a2at", message_flits=10))
    assert found.bound.channel_load_cycles == pytest.approx(160)
    assert found.proved_cycles <= 160 <= found.reached_cycles * (1 + 1e-9)
    assert math.isnan(found.proved_load) and math.isnan(found.reached_load)
    again = fw.any_routing(fw.Mesh(4, 4), fw.all_to_all("a2at", message_flits=10))
    assert again.to_dict() == found.to_dict()


def test_routes_that_packets_choose_are_not_compared() -> None:
    """Their bound is what the shortest routes of any routing need, which longer routes may beat."""
    tornado = fw.traffic("tornado", offered_load=0.1)
    fixed, drawn = (fw.any_routing(fw.Torus(8, 8, tie=tie), tornado) for tie in ("plus", "random"))
    assert fixed.loads_are_known and drawn.loads_are_known
    adaptive = fw.any_routing(fw.Torus(8, 8, routing="valiant", vcs=6), tornado)
    assert not adaptive.loads_are_known and adaptive.to_dict()["routing_cycles"] is None
    assert math.isnan(adaptive.routing_cycles) and math.isnan(adaptive.routing_over_split)
    assert (adaptive.proved_load, adaptive.reached_load) == (fixed.proved_load, fixed.reached_load)
    said = CliRunner().invoke(
        app, ["bound", "tornado", "--size", "8x8", "--set", "routing=valiant", "--set", "vcs=6", "--any-routing"]
    )
    assert "not known before a run" in said.output and "as good as any" not in said.output


def test_a_search_that_is_stopped_has_the_best_so_far() -> None:
    seen: list[int] = []

    def stop(steps: int, proved: float, reached: float) -> bool:
        seen.append(steps)
        assert proved <= reached
        return False

    found = fw.any_routing(fw.Mesh(20, 20), fw.uniform(offered_load=0.1), gap=0, progress=stop)
    assert found.interrupted and seen and found.steps < 1000
    assert found.proved_cycles <= 5 * 400 / 399 <= found.reached_cycles * (1 + 1e-9)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"gap": 2}, "gap = 2.0"),
        ({"gap": "small"}, "gap = 'small'"),
        ({"gap": math.nan}, "gap = nan"),
        ({"budget_steps": 0}, "budget_steps = 0"),
        ({"progress": 3}, "progress = 3"),
    ],
)
def test_bad_options(options: dict[str, object], said: str) -> None:
    with pytest.raises(fw.ConfigError, match=said):
        fw.any_routing(fw.Torus(3, 3), fw.uniform(offered_load=0.1), **options)  # type: ignore[arg-type]


def test_traffic_without_channels() -> None:
    found = fw.any_routing(fw.Crossbar(terminals=4), fw.uniform(offered_load=0.1))
    assert (found.proved_cycles, found.reached_cycles, found.gap) == (0, 0, 0)
    assert found.proved_load == math.inf and math.isnan(found.routing_over_split)
    assert found.table().empty


def test_the_command_line() -> None:
    run = CliRunner()
    shown = run.invoke(app, ["bound", "tornado", "--size", "8x8", "--any-routing"])
    assert shown.exit_code == 0, shown.output
    assert "no routing beats" in shown.output and "times as long as in the best split found" in shown.output
    good = run.invoke(app, ["bound", "a2at", "--size", "8x8", "--any-routing"])
    assert "The routing is as good as any for this traffic." in good.output
    plain = run.invoke(app, ["bound", "tornado", "--size", "8x8", "--any-routing", "--json"])
    (row,) = json.loads(plain.stdout)
    assert row["any_routing"]["routing_over_split"] > 1.4 and row["any_routing"]["gap"] <= 0.01
    assert "any_routing" not in json.loads(run.invoke(app, ["bound", "tornado", "--size", "8x8", "--json"]).stdout)[0]
