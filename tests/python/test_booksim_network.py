"""Configurations of BookSim 2: routings, routers, and the same specifications as the validation."""

from __future__ import annotations

import flitwork as fw
import pytest
from booksim_files import DATA, SMALL, planned, settings, spec
from flitwork.booksim.mapping import notes
from flitwork.booksim.measure import plan
from flitwork.booksim.phases import Phases
from flitwork.booksim.settings import read_settings
from flitwork.experiment import expand, load_study
from flitwork.planning.specification import to_json
from flitwork.studies import published


def test_routings() -> None:
    ours = {"dor": "dimension_order", "dim_order": "dimension_order", "xy_yx": "o1turn"}
    for theirs in ("dor", "dim_order", "xy_yx", "romm", "valiant", "min_adapt"):
        found = planned(f"{SMALL} routing_function = {theirs};")["network"]["routing"]
        assert (found["kind"], found["tie"]) == (ours.get(theirs, theirs), "random")
    for theirs in ("dim_order", "valiant", "min_adapt"):
        routing = planned(f"{SMALL} topology = torus; routing_function = {theirs};")["network"]["routing"]
        assert routing["kind"] == ours.get(theirs, theirs)
    adaptive = f"{SMALL} routing_function = min_adapt;"
    network = planned(adaptive)["network"]
    assert network["routing"]["selection"] == "all"
    assert network["router"]["compat"] == {"productive": "first"}, "a mesh uses all VCs but the first"
    network = planned(f"{adaptive} topology = torus; num_vcs = 8;")["network"]
    ring = {"productive": "first", "adaptive_vcs": [3], "adaptive_tie": "minus"}
    assert (network["router"]["compat"], network["routing"]["tie"]) == (ring, "random")
    (note,) = notes(settings(adaptive))
    assert "first productive dimension" in note and not notes(settings(SMALL))
    _, note = notes(settings(f"{adaptive} topology = torus;"))
    assert "can deadlock" in note
    assert len(notes(settings(f"{adaptive} topology = torus; wait_for_tail_credit = 1;"))) == 1


def test_min_adapt_without_an_adaptive_channel_is_dimension_order() -> None:
    alone = f"{SMALL} routing_function = min_adapt; num_vcs = 1;"
    assert spec(alone) == spec(f"{SMALL} routing_function = dor; num_vcs = 1;")
    (note,) = notes(settings(alone))
    assert "the escape channel alone: dimension order" in note
    assert planned(f"{alone} speculative = 1;")["network"]["router"]["speculative"]


def test_speculation_with_min_adapt_has_booksims_rule() -> None:
    rule = "speculation_needs_all_sets"
    for text, has_it in (("speculative = 1;", True), ("", False), ("speculative = 1; routing_function = dor;", False)):
        router = planned(f"{SMALL} routing_function = min_adapt; {text}")["network"]["router"]
        assert router.get("compat", {}).get(rule, False) is has_it


@pytest.mark.parametrize(
    ("topology", "routing"), [("torus", "dim_order"), ("mesh", "xy_yx"), ("mesh", "romm"), ("mesh", "valiant")]
)
def test_the_middle_one_of_an_odd_number_of_vcs_belongs_to_both_halves(topology: str, routing: str) -> None:
    text = f"{SMALL} topology = {topology}; routing_function = {routing};"
    odd = planned(f"{text} num_vcs = 3;")
    assert odd["network"]["router"]["compat"]["shared_middle_vc"] is True and odd["run"]["deadlock_check"] is False
    (note,) = notes(settings(f"{text} num_vcs = 3;"))
    assert f"an odd num_vcs with {routing} on a {topology} can deadlock" in note
    waits = f"{text} num_vcs = 3; wait_for_tail_credit = 1;"
    assert "deadlock_check" not in planned(waits)["run"] and not notes(settings(waits))
    assert "compat" not in planned(f"{text} num_vcs = 4;")["network"]["router"]
    assert "compat" not in planned(f"{SMALL} num_vcs = 3;")["network"]["router"], "nothing is halved"


def test_the_example_of_the_manual() -> None:
    """A mesh with input speed-up and packets of 20 flits, as in the user's guide of BookSim 2."""
    text = """
        topology = mesh; k = 8; n = 2; routing_function = dor;
        num_vcs = 8; vc_buf_size = 8; wait_for_tail_credit = 1;
        vc_allocator = islip; sw_allocator = islip; alloc_iters = 1;
        credit_delay = 2; routing_delay = 0; vc_alloc_delay = 1; sw_alloc_delay = 1;
        input_speedup = 2; output_speedup = 1; internal_speedup = 1.0;
        traffic = transpose; packet_size = 20; sim_type = latency; injection_rate = 0.005;
    """
    found = planned(text)
    router = found["network"]["router"]
    assert (router["vcs"], router["buffer_flits"], router["input_speedup"]) == (8, 8, 2)
    assert router["wait_for_tail_credit"] and router["routing_delay_cycles"] == 0 and router["st_delay_cycles"] == 1
    assert found["network"]["channel"]["credit_delay_cycles"] == 2
    assert found["workload"]["offered_load"] == 0.1 and found["workload"]["packet_flits"] == 20


def test_the_buffers_of_a_port_may_be_shared() -> None:
    def buffers(text: str) -> tuple[int, int]:
        router = planned(f"{SMALL} num_vcs = 4; vc_buf_size = 8; buffer_policy = shared; {text}")["network"]["router"]
        return router["buffer_flits"], router.get("shared_buffer_flits", 0)

    assert buffers("") == (1, 28)
    assert buffers("buf_size = 20; private_buf_size = 3;") == (3, 8)
    assert buffers("private_buf_size = -1;") == (8, 0)
    private = planned(f"{SMALL} buffer_policy = private; private_bufs = 2; private_buf_size = 3;")
    assert private == planned(SMALL)


def test_only_stages_of_several_cycles_take_batches() -> None:
    for text in ("routing_delay = 2;", "st_final_delay = 2;", "st_prepare_delay = 1;"):
        assert planned(SMALL + text)["network"]["router"]["compat"] == {"pipelined_stages": False}
    assert "compat" not in planned(SMALL)["network"]["router"]


CURVES = {
    "mesh8x8_dor_uniform_1flit": [0.05, 0.3, 0.43, 0.5],
    "mesh8x8_dor_uniform_4flit": [0.05, 0.3, 0.43, 0.5],
    "torus8x8_dimorder_uniform_1flit": [0.05, 0.3, 0.6, 0.7],
    "torus8x8_dimorder_uniform_4flit": [0.05, 0.3, 0.6, 0.7],
    "torus8x8_dimorder_bitcomp_1flit": [0.05, 0.3, 0.45, 0.5],
    "torus8x8_dimorder_transpose_1flit": [0.05, 0.15, 0.3, 0.4],
    "mesh8x8_valiant_uniform_1flit": [0.05, 0.2, 0.3, 0.4],
    "mesh8x8_min_adapt_uniform_1flit_sepif": [0.05, 0.2, 0.43, 0.5],
    "fattree_k4n2_nca_uniform_1flit": [0.05, 0.3, 0.9],
    "fattree_k2n4_anca_uniform_4flit": [0.05, 0.4, 0.8],
}


@pytest.mark.parametrize("name", CURVES)
def test_the_validation_study_runs_the_same_specifications(name: str) -> None:
    folder = published()["booksim-2-validation"].folder
    points = expand(load_study(folder / "study.toml"))
    hashes = {fw._core.Plan(to_json(p.spec)).hash for p in points if p.seed == 2 and p.experiment != "rules"}
    for load in CURVES[name]:
        found = read_settings([DATA / f"{name}.cfg"], [f"injection_rate={load}", "seed=2"])
        assert plan(found, Phases.of(found), 2).hash in hashes, load


def test_a_fat_tree() -> None:
    text = f"{SMALL} topology = fattree; k = 4; n = 3;"
    network = planned(f"{text} routing_function = nca;")["network"]
    assert network["topology"] == {"kind": "k_ary_n_tree", "k": 4, "levels": 3}
    assert network["routing"] == {"kind": "random_up"} and network["channel"]["latency_cycles"] == 1
    assert planned(f"{text} routing_function = anca;")["network"]["routing"] == {"kind": "adaptive_up", "candidates": 2}
    # Digits of the nodes' numbers, where there are no coordinates.
    pattern = planned(f"{text} routing_function = nca; traffic = neighbor;")["workload"]["pattern"]
    assert pattern["destinations"][:4] == [21, 22, 23, 20]
