"""Configurations of BookSim 2: how long is measured, what is measured, close to BookSim itself."""

from __future__ import annotations

import json

import numpy as np
import pytest
from booksim_files import DATA, MESH, SMALL, recorded, sample, settings
from flitwork import _core
from flitwork.booksim.measure import plan, samples
from flitwork.booksim.phases import Phases
from flitwork.booksim.settings import read_settings
from flitwork.planning.specification import to_json
from flitwork.results.result import run_plan


def test_the_periods_follow_the_thresholds() -> None:
    def periods(more: str) -> list[int]:
        return [s.phases.measured for s in samples(settings(SMALL + more))]

    off = "stopping_thres = -1.0; acc_stopping_thres = -1.0;"
    assert periods(off) == [3]
    assert periods("stopping_thres = 1.0; acc_stopping_thres = 1.0;") == [3], "everything is little"
    assert periods("stopping_thres = 0.0; max_samples = 8;") == [5], "nothing is little: until max_samples"
    assert periods(f"{off} max_samples = 5;") == [2]
    assert periods(f"{off} sim_count = 2;") == [3, 3]
    assert periods("sim_type = throughput; stopping_thres = 0.0; acc_stopping_thres = 1.0;") == [3]
    between = periods("stopping_thres = 0.01; acc_stopping_thres = -1.0; max_samples = 40;")[0]
    assert 3 < between < 37


def test_the_changes_are_those_of_running_means() -> None:
    """Made up: two packets a period, the latency rises by one a period."""
    phases = Phases(period_cycles=100, warmup=3, measured=3, most=10, drain=True)
    names = ("packets", "flits", "packet_latency_cycles", "measured_packets", "measured_packet_latency_cycles")
    counted = [(4, 4, 42, 0, 0), (6, 6, 66, 0, 0), (8, 8, 92, 2, 26), (10, 10, 120, 4, 54), (12, 12, 150, 6, 84)]
    changes = list(phases._changes([dict(zip(names, one, strict=True)) for one in counted]))
    # The last warm-up period counts alone (it has begun anew after the second): 12, then means of 13, 13.5, 14.
    assert [c[0] for c in changes] == pytest.approx([1 / 13, 0.5 / 13.5, 0.5 / 14])
    assert [c[1] for c in changes] == pytest.approx([0, 0, 0])


def test_rates_are_counted_in_the_measurement() -> None:
    one = sample(f"{SMALL} packet_size = 3; injection_rate_uses_flits = 1; injection_rate = 0.3;")
    packets, (start, end) = recorded(one), (600, one.phases.end)
    inside = packets[(packets["injected_cycle"] >= start) & (packets["injected_cycle"] < end)]
    assert one.injected_packets.average == pytest.approx(len(inside) / (end - start) / 16)
    assert one.injected_flits.average == pytest.approx(3 * len(inside) / (end - start) / 16)
    arrived = packets[(packets["arrived_cycle"] >= start) & (packets["arrived_cycle"] < end)]
    to_node = arrived.groupby("dst").size().reindex(range(16), fill_value=0)
    assert (one.accepted_packets.minimum, one.accepted_packets.maximum) == tuple(
        to_node.agg(["min", "max"]) / (end - start)
    )
    by_node = inside.groupby("src").size().reindex(range(16), fill_value=0)
    assert one.injected_packets.minimum == by_node.min() / (end - start)
    assert by_node[one.injected_packets.maximum_node or 0] == by_node.max()
    assert one.accepted_flits.average == pytest.approx(one.result.accepted_load)
    assert one.hops == one.values["mean_hops"] + 1


def test_close_to_booksim() -> None:
    """Two points of the reference curves; the validation compares all of them."""
    found = read_settings([MESH], ["injection_rate=0.3", "sim_count=3"])
    done = list(samples(found))
    assert np.mean([s.packet_latency.average for s in done]) == pytest.approx(36.906, rel=0.01)
    assert np.mean([s.hops for s in done]) == pytest.approx(6.259, rel=0.01)
    assert done[0].packet_latency.minimum == 7
    over = sample(MESH.read_text() + "injection_rate = 0.5; sim_type = throughput;")
    assert over.accepted_flits.average == pytest.approx(0.4228, rel=0.03)
    assert over.injected_flits.average == pytest.approx(0.4216, rel=0.03)
    assert over.result.completion_cycles == 6000 and not over.unstable


#: Where an overloaded mesh is given up: start of what is measured, and the cycle. BookSim gives up in the same cycles of the warm-up and
#: of the measurement. In the drain it is earlier: it measures packets that come to the front of their queue, however old.
GIVES_UP = {
    "warm-up": ("latency_thres = 20.0;", 0, 200),
    "measurement": ("latency_thres = 200.0; acc_stopping_thres = 0.0; max_samples = 40;", 600, 1200),
    "drain": ("traffic = transpose; latency_thres = 900.0; max_samples = 4; sample_period = 1000;", 3000, 7000),
}


@pytest.mark.parametrize(("text", "start", "cycle"), GIVES_UP.values(), ids=GIVES_UP)
def test_a_run_gives_up_where_booksim_does(text: str, start: int, cycle: int) -> None:
    text = f"injection_rate = 0.95; {text}"
    one = sample(SMALL + text)
    assert one.completion_cycles == cycle
    assert one.unstable.startswith("Average latency for class 0 exceeded") and one.status == "saturated"
    assert one.phases.start == start and one.in_warm_up == (start == 0)
    measured = one.phases.end - one.phases.start
    assert one.result.accepted_load == pytest.approx(sum(one.ejected_flits) / measured / 16)
    assert one.injected_flits.average > 0.4
    never = sample(f"{SMALL}{text} latency_thres = 1e9;")
    assert never.completion_cycles > one.completion_cycles and not never.gave_up


def test_the_mean_of_what_is_under_way_is_that_of_its_records() -> None:
    """At the end of the run, which is where the drain ends: packets created by then that have not arrived."""
    found = settings(f"{SMALL} injection_rate = 0.3;")
    made = plan(found, Phases.of(found), 0)
    running = _core.Simulation(made, tally=True)
    running.advance(900)
    tally = running.tally
    spec = json.loads(made.json)["spec"]
    spec["run"] = {**spec["run"], "record": {"packets": True}}
    packets = run_plan(_core.Plan(to_json(spec))).packets
    taken = packets[packets["injected_cycle"] < 900]
    waiting = taken[taken["arrived_cycle"].isna() | (taken["arrived_cycle"] >= 900)]
    assert len(waiting) > 20 and tally["under_way_flits"] == waiting["flits"].sum()
    assert tally["under_way_created_cycles"] == (waiting["flits"] * waiting["created_cycle"]).sum()


#: What differs from the mesh's configuration, and the mean packet latency of BookSim over four seeds.
MEASURED = {
    "speculation": (
        # Without BookSim's rule of speculation 35.3 cycles.
        "routing_function = min_adapt; num_vcs = 2; vc_buf_size = 4; packet_size = 4; injection_rate = 0.15;"
        "wait_for_tail_credit = 1; speculative = 1; sample_period = 4000;"
        "vc_allocator = separable_input_first; sw_allocator = separable_input_first;",
        37.36,
    ),
    "input speed-up": (
        # VCs 0 and 3 share a path into the switch. With one path for all it is 41.7 cycles.
        "num_vcs = 4; input_speedup = 3; injection_rate = 0.35; sample_period = 2000;"
        "vc_allocator = separable_input_first; sw_allocator = separable_input_first;",
        39.88,
    ),
}


@pytest.mark.parametrize(("text", "cycles"), MEASURED.values(), ids=MEASURED)
def test_rules_that_move_the_mean_are_booksims(text: str, cycles: float) -> None:
    found = sample(f"{MESH.read_text()}\n{text}").packet_latency.average
    assert found == pytest.approx(cycles, rel=0.015)


def test_flits_are_those_of_all_packets_that_arrive_in_the_measurement_or_after_it() -> None:
    one = sample(f"{SMALL} injection_rate = 0.4; packet_size = {{{{1,1}}}};")
    packets = recorded(one).dropna()
    late = packets[packets["arrived_cycle"] >= one.phases.start]
    assert set(late["created_cycle"] < one.phases.start) == {True, False}
    latency = (late["arrived_cycle"] - late["injected_cycle"]).astype(float)
    found = one.flit_latency
    assert (found.average, found.minimum, found.maximum) == (latency.mean(), latency.min(), latency.max())
    assert (one.fragmentation.average, one.fragmentation.maximum) == (0, 0)
    none = sample(f"{SMALL} injection_rate = 1e-7;")
    assert np.isnan([none.flit_latency.average, none.fragmentation.average]).all()


def test_flits_of_long_packets_follow_their_heads() -> None:
    """At next to no load a packet arrives in one piece, so that each of its flits takes as long as its head."""
    quiet = sample(f"{SMALL} packet_size = 5; injection_rate = 0.0005; sample_period = 4000;")
    packets = recorded(quiet).dropna()
    late = packets[packets["arrived_cycle"] >= quiet.phases.start]
    of_head = (late["arrived_cycle"] - late["injected_cycle"]).astype(float) - 4
    found = quiet.flit_latency
    assert len(late) > 50
    assert (found.minimum, found.maximum) == (of_head.min(), of_head.max())
    assert found.average == pytest.approx(of_head.mean())
    assert (quiet.fragmentation.average, quiet.fragmentation.maximum) == (0, 0)


def test_fragmentation_is_bounded_by_the_time_in_the_network() -> None:
    busy = sample(f"{SMALL} packet_size = {{{{1,6}}}}; injection_rate = 0.14;")
    assert 0 == busy.fragmentation.minimum < busy.fragmentation.average < busy.fragmentation.maximum
    assert busy.fragmentation.maximum < busy.network_latency.maximum
    assert busy.flit_latency.minimum >= 7 and busy.flit_latency.average < busy.network_latency.average


#: File, load, what differs from it, and BookSim's mean flit latency and fragmentation over four seeds.
FLITS = [
    ("mesh8x8_dor_uniform_4flit", 0.3, "", 39.603, 5.102),
    ("torus8x8_dimorder_uniform_4flit", 0.35, "packet_size = {{1,9}}; hold_switch_for_packet = 1;", 36.884, 2.463),
]


@pytest.mark.parametrize(("file", "load", "more", "flit", "apart"), FLITS, ids=[file for file, *_ in FLITS])
def test_flits_of_long_packets_are_booksims(file: str, load: float, more: str, flit: float, apart: float) -> None:
    text = f"{(DATA / f'{file}.cfg').read_text()} injection_rate = {load}; sample_period = 4000; {more}"
    done = list(samples(settings(text)))
    assert np.mean([one.flit_latency.average for one in done]) == pytest.approx(flit, rel=0.015)
    assert np.mean([one.fragmentation.average for one in done]) == pytest.approx(apart, rel=0.05)


def test_the_table_of_packets_has_its_columns_without_packets() -> None:
    some, none = recorded(sample(SMALL)), recorded(sample(f"{SMALL} injection_rate = 1e-7;"))
    assert len(some) and none.empty
    assert none.dtypes.equals(some.dtypes)
