from __future__ import annotations

import _thread
import json
import math
import threading
import time
from pathlib import Path

import flitwork as fw
import numpy as np
import pyarrow.parquet as pq
import pytest
from flitwork import _core
from flitwork.planning.specification import simulation

NET = fw.Torus(5, 5, vcs=2, buffer_flits=20)
WORK = fw.all_to_all("a2at", message_flits=100, sync="local")


def test_the_example_of_the_readme() -> None:
    result = fw.simulate(NET, WORK)
    assert result.status == "complete"
    assert result.completion_cycles >= result.bound.tightest_cycles
    assert result.ratio_to_bound == result.completion_cycles / result.bound.tightest_cycles
    assert len(result.summary) == 1
    assert result.summary["completion_cycles"][0] == result.completion_cycles


def test_equal_plans_have_equal_digests_and_hashes() -> None:
    first, second = fw.simulate(NET, WORK), fw.simulate(NET, WORK)
    assert first.digest == second.digest and first.plan_hash == second.plan_hash
    other = fw.simulate(NET, WORK, seed=2)
    assert other.plan_hash != first.plan_hash and other.seed == 2


def test_packets_are_a_table_with_units() -> None:
    packets = fw.simulate(NET, WORK, packets=True).packets
    assert len(packets) == 25 * 24
    assert set(packets.groupby("src").size()) == {24}
    assert (packets["packet_latency_cycles"] >= packets["flits"] + packets["hops"]).all()
    assert packets["arrived_cycle"].max() == fw.simulate(NET, WORK).completion_cycles


@pytest.mark.parametrize(
    ("network", "channels"),
    [
        (fw.Torus(4, 4), 64),
        (fw.Mesh(4, 3), 2 * (3 * 3 + 4 * 2)),
        (fw.Grid((4, 3), wrap=(True, False)), 2 * (4 * 3 + 4 * 2)),
        (fw.Torus(2, 3, ring2="single"), 2 * (3 + 6)),
        (fw.Torus(2, 3), 2 * (6 + 6)),
    ],
)
def test_the_channels_are_those_that_exist(network: fw.Network, channels: int) -> None:
    result = fw.simulate(network, fw.all_to_all("a2a", message_flits=2))
    table = result.channels
    assert len(table) == channels == len(result.channel_flits)
    # Each flit also leaves its last router, for its terminal.
    assert table["flits"].sum() == result.row["flit_hops"] - result.terminals["received_flits"].sum()
    places = list(zip(table["router"], table["port"], strict=True))
    assert places == sorted(set(places))
    # What leaves by +x arrives from -x: every channel has one that leads back.
    back = set(zip(table["to_router"], table["to_port"], strict=True))
    assert back == set(places)
    assert set(table["class"]) <= set(result.described["channel_classes"])


def test_windows_add_up_to_the_whole_run() -> None:
    result = fw.simulate(NET, WORK, channel_window_cycles=100)
    assert result.channel_windows is not None
    assert (result.channel_windows.sum(axis=0) == result.channel_flits).all()
    assert result.channel_windows.shape[1:] == (25 * 4,)


def test_stalls_are_a_table() -> None:
    stalls = fw.simulate(NET, WORK, stalls=True).stalls
    assert list(stalls["reason"])[-1] == "source_waits_for_sync"
    assert stalls["flit_cycles"].sum() > 0
    assert fw.simulate(NET, WORK).stalls.empty


def test_an_open_loop() -> None:
    result = fw.simulate(fw.Mesh(4, 4, vcs=4), fw.uniform(offered_load=0.2, packet_flits=2), warmup_cycles=1000)
    assert result.status == "complete"
    assert result.accepted_load == pytest.approx(0.2, rel=0.1)
    assert 0 < result.ratio_to_bound < 1
    assert result.mean_packet_latency_cycles > 2


def test_saturation_is_a_status() -> None:
    result = fw.simulate(fw.Mesh(8, 8), fw.uniform(offered_load=0.9, packet_flits=4), max_cycles=7000)
    assert result.status == "saturated"


def test_what_was_not_measured_is_no_number(tmp_path: Path) -> None:
    result = fw.simulate(fw.Mesh(2, 2), fw.uniform(offered_load=1e-9), warmup_cycles=10, measurement_cycles=10)
    assert result.values["packet_latency"]["count"] == 0 and math.isnan(result.mean_packet_latency_cycles)
    row = fw.Result.load(result.save(tmp_path / "empty.parquet")).row
    names = [name for name in row if "latency" in name] + ["mean_hops"]
    assert len(names) == 15 and all(math.isnan(row[name]) for name in names)


def test_bound_names_what_limits() -> None:
    bound = fw.bound(fw.Torus(9, 9), fw.all_to_all(message_flits=100))
    assert bound.bisection_cycles == bound.tightest_cycles == 9000
    assert bound.tightest == "bisection" and bound.phase_model_cycles == 24000
    assert fw.bound(fw.Torus(8, 8), fw.uniform(offered_load=0.1)).saturation_load == pytest.approx(1.0, rel=0.05)


def test_check_adds_up_the_phases() -> None:
    found = fw.check("a2at", size=(5, 5), ports=4)
    assert found.phase_sum_over_bound == 1
    assert list(found.phases.columns) == ["phase", "+x_flits", "-x_flits", "+y_flits", "-y_flits", "max_flits"]
    assert found.phases["max_flits"].sum() == found.phase_sum_flits
    assert fw.check("a2and", size=(5, 5), topology="mesh").exchange["messages"] == 600


@pytest.mark.parametrize(
    ("algorithm", "over_bound"), [("pairwise_shift", 1), ("birkhoff", 35 / 30), ("two_level_ring", 40 / 30)]
)
def test_check_adds_up_what_terminals_move_where_there_are_no_channels(algorithm: str, over_bound: float) -> None:
    work = fw.collective("all_to_all", algorithm, message_flits=7)
    servers = fw.Host(placement=fw.placement.Counts(ranks=[5, 3, 2, 1]))
    found = fw.check(work, fw.Crossbar(terminals=4), host=servers)
    assert not found.has_channels and found.terminal_bound_flits == 7 * 5 * (11 - 5)
    assert found.terminal_sum_flits == found.terminal_phases[["sent_flits", "received_flits"]].max(axis=1).sum()
    assert found.phase_sum_over_bound == pytest.approx(over_bound)
    assert fw.check(work, size=(3, 4)).has_channels


def test_a_result_survives_the_disk(tmp_path: Path) -> None:
    result = fw.simulate(NET, WORK, packets=True, stalls=True, channel_window_cycles=500, seed=7)
    path = result.save(tmp_path / "deep" / "result.parquet")
    again = fw.load(path)
    assert again.row == result.row
    assert again.packets.equals(result.packets)
    assert again.stalls.equals(result.stalls)
    assert np.array_equal(again.channel_flits, result.channel_flits)
    assert again.bound == result.bound
    meta = {k.decode(): v.decode() for k, v in pq.read_schema(path).metadata.items()}
    assert meta["flitwork.seed"] == "7" and meta["flitwork.version"] == fw.__version__
    assert meta["flitwork.plan_hash"] == result.plan_hash
    assert json.loads(meta["flitwork.plan"])["spec"]["network"]["router"]["buffer_flits"] == 20


def test_a_sweep_is_a_tidy_table(tmp_path: Path) -> None:
    def point(n: int, algorithm: str) -> tuple[fw.Network, fw.Workload]:
        return fw.Torus(n, n), fw.all_to_all(algorithm, message_flits=10)

    table = fw.sweep(point, n=[3, 4], algorithm=["a2at", "a2and"], seeds=[1, 2], out=tmp_path)
    assert len(table) == 8
    assert list(table.columns[:2]) == ["n", "algorithm"]
    assert len(list((tmp_path / "points").glob("*.parquet"))) == 8
    assert fw.sweep(point, n=[3, 4], algorithm=["a2at", "a2and"], seeds=[1, 2], out=tmp_path).equals(table)


def test_progress_is_told_and_can_stop() -> None:
    seen: list[tuple[int, int, int | None]] = []

    def progress(cycle: int, done: int, total: int | None) -> bool:
        seen.append((cycle, done, total))
        return len(seen) < 3

    with pytest.raises(KeyboardInterrupt):
        fw.simulate(fw.Torus(33, 33), fw.all_to_all(), progress=progress)
    assert len(seen) == 3 and seen[0][2] is not None


def test_an_exception_in_progress_stops_the_run() -> None:
    def progress(*_: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fw.simulate(fw.Torus(33, 33), fw.all_to_all(), progress=progress)


def test_control_c_stops_within_a_second() -> None:
    pressed = [0.0]

    def press() -> None:
        pressed[0] = time.monotonic()
        _thread.interrupt_main()

    def progress(*_: object) -> bool:
        # The first report: the simulation is under way.
        if not pressed[0]:
            pressed[0] = time.monotonic()
            threading.Timer(0.2, press).start()
        return True

    with pytest.raises(KeyboardInterrupt):
        fw.simulate(fw.Torus(33, 33), fw.all_to_all(), progress=progress)
    assert time.monotonic() - pressed[0] < 1.0


@pytest.mark.parametrize("what", ["plan", "bound", "check"])
def test_ctrl_c_stops_what_comes_before_a_simulation(what: str) -> None:
    # What takes long of a plan is to follow every route of an adaptive routing.
    adaptive = fw.Torus(48, 48, routing="duato", vcs=6, switching="virtual_cut_through")
    slow = json.dumps(simulation(adaptive, fw.uniform(offered_load=0.1)))
    plan = None if what == "plan" else _core.Plan(json.dumps(simulation(fw.Torus(64, 64), fw.all_to_all())))
    pressed = [0.0]

    def press() -> None:
        pressed[0] = time.monotonic()
        _thread.interrupt_main()

    timer = threading.Timer(0.1, press)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            _core.Plan(slow) if plan is None else getattr(plan, what)()
    finally:
        timer.cancel()
    assert time.monotonic() - pressed[0] < 1.0


def test_other_threads_run_meanwhile() -> None:
    ticks = 0
    stop = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not stop.wait(0.001):
            ticks += 1

    thread = threading.Thread(target=tick)
    thread.start()
    fw.simulate(fw.Torus(11, 11), fw.all_to_all())
    stop.set()
    thread.join()
    assert ticks > 10


def test_a_network_says_what_it_is() -> None:
    assert repr(fw.Torus(9, 9, vcs=4)) == "Torus(9, 9, vcs=4)"
    assert fw.Torus([4, 3]) == fw.Torus(4, 3)
    assert fw.Torus(4, 4).replace(vcs=4) == fw.Torus(4, 4, vcs=4)
    assert fw.Mesh(3, 3, sw_allocator="wavefront").spec["router"]["sw_allocator"] == {"kind": "wavefront"}


def test_traffic_patterns() -> None:
    net = fw.Torus(4, 4, vcs=2)
    result = fw.simulate(net, fw.traffic("transpose", offered_load=0.1), seed=2, measurement_cycles=500)
    assert 0.05 < result.accepted_load < 0.15
    assert fw.bound(net, fw.traffic("transpose", offered_load=0.1)).values["accepted_load_flits_per_cycle"] <= 1
    hot = fw.simulate(
        net, fw.traffic("hotspot", offered_load=0.02, terminals=[3]), packets=True, measurement_cycles=500
    )
    assert set(hot.packets["dst"]) == {3}
    with pytest.raises(fw.ConfigError, match=r"did you mean transpose\?"):
        fw.traffic("transposed", offered_load=0.1)
    with pytest.raises(fw.ConfigError, match=r"workload\.pattern\.kind"):
        fw.simulate(fw.Torus(5, 5), fw.traffic("shuffle", offered_load=0.1))


def test_sizes_are_lists() -> None:
    for call, path, hint in (
        (lambda: fw.Grid(4, wrap=[True]), "network.topology.size", "write [4]"),  # type: ignore[arg-type]
        (lambda: fw.Grid((4, 4), wrap=True), "network.topology.wrap", "write [true]"),  # type: ignore[arg-type]
        (lambda: fw.check("a2at", size=9), "size", "for example ("),  # type: ignore[arg-type]
        (lambda: fw.check("a2at", size="9x9"), "size", "for example ("),  # type: ignore[arg-type]
    ):
        with pytest.raises(fw.ConfigError) as caught:
            call()
        assert caught.value.path == path and caught.value.hint.startswith(hint)
