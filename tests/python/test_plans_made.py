"""A point is planned once: the plan of its hash is the one that runs, and nothing parses a plan that is made here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import flitwork as fw
import pytest
import tomllib
from flitwork import _core
from flitwork.experiment import execute, jobs, parse_study, plan_points, run_study
from flitwork.experiment.engines import LocalEngine
from flitwork.experiment.engines.dask import DaskEngine
from flitwork.experiment.point import Point
from flitwork.experiment.store import Store
from flitwork.planning.specification import Prepared, plan_of, simulation
from flitwork.workloads.operations import Operation

STUDY = """
[study]
name = "looked-up"
[base]
network.topology = { kind = "torus", size = [4] }
workload = { kind = "all_to_all", algorithm = "a2a", message_flits = 4 }
[[experiments]]
id = "first"
grid = { "workload.message_flits" = [4, 5, 6] }
[[experiments]]
id = "same"
[[experiments]]
id = "later"
found.T0 = { experiment = "same", column = "completion_cycles" }
[experiments.set]
"run.max_cycles" = "${1000 * T0}"
"""


def points(count: int) -> list[Point]:
    """Points that differ in their seeds."""
    network, workload = fw.Torus(4, 4), fw.all_to_all(message_flits=2)
    return [
        Point("p", "p", {"seed": seed}, seed, simulation(network, workload, {"seed": seed})) for seed in range(count)
    ]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The specifications of which plans were made."""
    found: list[str] = []
    plan = Prepared.plan

    def counted(self: Prepared) -> _core.Plan:
        found.append(self.text)
        return plan(self)

    monkeypatch.setattr(Prepared, "plan", counted)
    yield found


def test_a_point_is_planned_once(made: list[str]) -> None:
    planned = plan_points(points(12))
    done = execute(planned, None, LocalEngine(2), fw.Watcher())
    assert len(done.results) == 12 and len(made) == 12
    assert all(done.results[job.hash].plan_hash == job.hash for job in planned)


def test_what_is_stored_is_only_hashed(made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    execute(plan_points(points(3)), store, LocalEngine(1), fw.Watcher())
    made.clear()
    planned = plan_points(points(5))
    done = execute(planned, store, LocalEngine(1), fw.Watcher())
    assert len(done.results) == 5 and len(made) == 5
    # A plan is given up as soon as its result is known.
    assert all(job.kept.take() is None for job in planned)


def test_equal_points_share_a_plan_and_a_second_look_makes_none(made: list[str], tmp_path: Path) -> None:
    study = parse_study(tomllib.loads(STUDY))
    run = run_study(study, tmp_path / "out", jobs=1, watcher=fw.Watcher())
    assert len(run.table) == 5 and len(run.jobs) == 4
    # Three of them stand in two experiments or wait for no result; the last one is planned as long as the result that it
    # needs is unknown, and as itself.
    assert len(made) == len({*made}) == 5


def test_plans_are_kept_as_far_as_there_is_room(made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    one = plan_of(points(1)[0].spec).own_bytes
    made.clear()
    monkeypatch.setattr(jobs, "usable_bytes", lambda: 3.5 * one / jobs._KEPT_SHARE)
    planned = plan_points(points(5))
    assert sum(job.kept._plan is not None for job in planned) == 3
    done = execute(planned, None, LocalEngine(1), fw.Watcher())
    assert len(done.results) == 5 and len(made) == 5 + 2


def test_workers_of_another_process_make_their_own(made: list[str]) -> None:
    assert DaskEngine.another_process and not LocalEngine.another_process
    planned = plan_points(points(3), another_process=True)
    assert all(job.kept.take() is None for job in planned) and len(made) == 3


def test_a_plan_knows_its_own_size() -> None:
    small, large = (plan_of(simulation(fw.Torus(n, n), fw.all_to_all(), {"seed": 1})) for n in (4, 64))
    assert 0 < small.own_bytes < small.memory_bytes
    assert 64 * 64 * 5 < large.own_bytes < large.memory_bytes / 10
    messages: list[list[Operation]] = [
        [fw.Send(1, flits=1) for _ in range(20_000)],
        [fw.Receive(0, flits=1) for _ in range(20_000)],
    ]
    stored = plan_of(simulation(fw.Torus(2), fw.Schedule(messages), {"seed": 1}))
    assert stored.own_bytes > 40_000 * 24


def test_no_plan_is_parsed_on_the_way_from_a_point_to_its_result(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    loads = json.loads

    def listening(text: Any, *more: Any, **options: Any) -> Any:
        parsed.append(str(text))
        return loads(text, *more, **options)

    monkeypatch.setattr(json, "loads", listening)
    done = execute(plan_points(points(2)), None, LocalEngine(1), fw.Watcher())
    assert len(done.results) == 2
    # Results cross as text; so would the plan.
    assert parsed and not [text for text in parsed if '"network"' in text or '"described"' in text]
    listening(plan_of(points(1)[0].spec).json)
    assert '"described"' in parsed[-1] and '"network"' in parsed[-1]


PLANS = {
    "collective": (fw.Torus(4, 4), fw.collective("allreduce", "ring", message_flits=32)),
    "open": (fw.Mesh(3, 3), fw.uniform(offered_load=0.1)),
    "crossbar": (fw.Crossbar(terminals=8), fw.uniform(offered_load=0.2)),
    "units": (fw.Torus(4, units=fw.Units(flit_bytes=16, cycle_ns=2.5)), fw.all_to_all(message_flits=2)),
}


@pytest.mark.parametrize("name", PLANS)
def test_what_is_typed_is_what_the_plan_says(name: str) -> None:
    plan = plan_of(simulation(*PLANS[name], {"seed": 3}))
    said = json.loads(plan.json)
    assert plan.contents() == said and json.dumps(plan.contents()) == json.dumps(said)
    described, run = said["described"], said["spec"]["run"]
    assert plan.estimated_work == (described["estimated_work_flit_hops"], described["estimated_seconds"])
    assert (plan.hash, plan.memory_bytes) == (said["hash"], said["estimated_memory_bytes"])
    assert plan.units == described.get("units", {})
    assert plan.uniform_capacity == described["uniform_capacity_flits_per_cycle"]
    assert (plan.terminals, plan.nic_ports) == (said["derived"]["terminals"], described["nic_ports"])
    assert plan.packet_flits == (said["spec"]["workload"]["packet_flits"] if described["has_schedule"] else None)
    warm_up, measured = run.get("warmup_cycles"), run.get("measurement_cycles")
    assert plan.fixed_cycles == (warm_up + measured if warm_up is not None and measured else None)
    assert not plan.records_to_file
    kind = "completion" if described["runs_to_completion"] else "saturation"
    assert next(iter(plan.bound().items())) == ("kind", kind)


def test_on_more_threads_it_is_the_same_plan_that_would_be_made_anew() -> None:
    network, workload = fw.Torus(8, 8, vcs=2, buffer_flits=4), fw.uniform(offered_load=0.2)
    one, two = (plan_of(simulation(network, workload, {"seed": 1, "threads": threads})) for threads in (1, 2))
    assert one.on_threads(2).contents() == two.contents() and one.threads == 1
    assert one.on_threads(2).threads == 2 and one.on_threads(2).hash == one.hash


def test_a_stated_number_of_threads_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    network, workload = fw.Torus(16, 16, vcs=2, buffer_flits=4), fw.uniform(offered_load=0.4, packet_flits=4)
    asked = [{"seed": 1}, {"seed": 2, "threads": 1}]
    first, stated = plan_points([Point("p", "p", {}, 1, simulation(network, workload, run)) for run in asked])
    assert first.plan(2).threads == 2 and stated.plan(2).threads == 1


def test_a_kept_plan_is_of_one_run(made: list[str]) -> None:
    (job,) = plan_points(points(1))
    one, other = job.plan(), job.plan()
    assert one is not other and one.hash == other.hash == job.hash and len(made) == 2
