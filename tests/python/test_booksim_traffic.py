"""Configurations of BookSim 2: patterns, lengths and processes."""

from __future__ import annotations

import pytest
from booksim_files import SMALL, planned, recorded, sample, settings
from flitwork.booksim.mapping import notes, specification


def test_patterns() -> None:
    names = {
        "bitcomp": "bit_complement",
        "bitrev": "bit_reverse",
        "shuffle": "shuffle",
        "transpose": "transpose",
        "tornado": "tornado",
        "neighbor": "neighbour",
    }
    for theirs, ours in names.items():
        assert planned(f"{SMALL} traffic = {theirs};")["workload"]["pattern"] == {"kind": ours}
    assert planned(f"{SMALL} traffic = uniform;")["workload"]["include_self"] is True
    hot = planned(f"{SMALL} traffic = hotspot({{{{3,0,5}},{{2,0,1}}}});")["workload"]["pattern"]
    assert hot == {"kind": "hotspot", "terminals": [3, 5], "shares": [2.0, 1.0]}
    assert planned(f"{SMALL} traffic = background({{{{0,1}}}});")["workload"]["pattern"]["terminals"] == list(
        range(2, 16)
    )


def test_rates_and_channels() -> None:
    assert planned(f"{SMALL} packet_size = 5;")["workload"]["offered_load"] == 0.5
    assert planned(f"{SMALL} packet_size = 5; injection_rate_uses_flits = 1;")["workload"]["offered_load"] == 0.1
    torus = "topology = torus; routing_function = dim_order;"
    latencies = [planned(SMALL + more)["network"]["channel"] for more in ("", torus, f"{torus} use_noc_latency = 0;")]
    assert [c["latency_cycles"] for c in latencies] == [1, 2, 1]
    assert all(c["local_latency_cycles"] == 1 for c in latencies)


def test_lengths_and_processes() -> None:
    mixed = planned(f"{SMALL} packet_size = {{{{1,5}}}}; packet_size_rate = {{{{3,1}}}};")["workload"]
    assert mixed["packet_flits"] == [{"flits": 1, "share": 3.0}, {"flits": 5, "share": 1.0}]
    assert mixed["offered_load"] == pytest.approx(0.1 * 2)
    even = planned(f"{SMALL} packet_size = {{{{1,5}}}};")["workload"]
    assert [length["share"] for length in even["packet_flits"]] == [1.0, 1.0] and even["offered_load"] == 0.1 * 3
    bursts = {"kind": "on_off", "mean_on_cycles": 5.0, "mean_off_cycles": 10.0}
    for text in (
        "injection_process = on_off; burst_alpha = 0.1; burst_beta = 0.2;",
        "injection_process = on_off({0.1,0.2});",
    ):
        assert planned(SMALL + text)["workload"]["process"] == bursts
    assert planned(SMALL)["workload"]["process"] == {"kind": "bernoulli"}


def test_weights_are_filled_with_the_last_one() -> None:
    def lengths(weights: str) -> object:
        found = planned(f"{SMALL} packet_size = {{{{1,5,9}}}}; packet_size_rate = {weights};")["workload"]
        return found["packet_flits"], pytest.approx(found["offered_load"])

    every = [{"flits": 1, "share": 3.0}, {"flits": 5, "share": 2.0}, {"flits": 9, "share": 2.0}]
    assert lengths("{{3,2}}") == lengths("{{3,2,2}}") == lengths("{{3,2,2,9}}") == (every, 0.1 * 31 / 7)
    assert lengths("{{0,3}}") == ([{"flits": 5, "share": 3.0}, {"flits": 9, "share": 3.0}], 0.1 * 7)
    assert lengths("{{0,3,0}}") == (5, 0.1 * 5)

    def hot(arguments: str) -> object:
        pattern = planned(f"{SMALL} traffic = hotspot({arguments});")["workload"]["pattern"]
        return dict(zip(pattern["terminals"], pattern["shares"], strict=True))

    assert hot("{{0,5},{1}}") == hot("{{0,5},1}") == hot("{{0,5}}") == {0: 1.0, 5: 1.0}
    assert hot("{{0,5,7},{1,3}}") == {0: 1.0, 5: 3.0, 7: 3.0}
    assert hot("{{0,5},{1,3,9}}") == {0: 1.0, 5: 3.0}


def test_patterns_of_digits_may_name_the_network() -> None:
    for name, ours in (("tornado", "tornado"), ("neighbor", "neighbour")):
        for arguments in ("", "(4)", "({4})", "({4,2})", "({4,2,1})", "(4,9)"):
            assert planned(f"{SMALL} traffic = {name}{arguments};")["workload"]["pattern"] == {"kind": ours}


def test_digits_that_are_not_the_networks() -> None:
    """They make a permutation, if there are as many numbers of them as nodes."""
    pattern = planned(f"{SMALL} traffic = tornado({{8,1}}); n = 1; k = 8;")["workload"]["pattern"]
    assert pattern == {"kind": "tornado"}
    one_digit = planned(f"{SMALL} traffic = neighbor({{16,1}});")["workload"]["pattern"]
    assert one_digit == {"kind": "permutation", "destinations": [*range(1, 16), 0]}
    of_bits = planned(f"{SMALL} traffic = tornado({{2,4}});")["workload"]["pattern"]["destinations"]
    assert of_bits == list(range(16)), "(2 + 1) // 2 - 1 = 0 steps"
    wide = planned(f"{SMALL} traffic = tornado({{16,1}});")["workload"]["pattern"]["destinations"]
    assert wide == [(node + 7) % 16 for node in range(16)]


@pytest.mark.parametrize(
    ("given", "burst", "idle"),
    [
        # alpha = beta * rate / (r1 - rate), beta = alpha * (r1 - rate) / rate, at 0.1 packets/cycle
        ("burst_alpha = -1.0; burst_beta = 0.2; burst_r1 = 0.3;", 5.0, 10.0),
        ("burst_alpha = 0.1; burst_beta = -1.0; burst_r1 = 0.3;", 5.0, 10.0),
        ("injection_process = on_off({-1,0.2,0.3});", 5.0, 10.0),
        ("injection_process = on_off({0.1,-1}); burst_r1 = 0.3;", 5.0, 10.0),
        ("packet_size = 4; injection_rate = 0.4; injection_rate_uses_flits = 1; burst_beta = -1; burst_r1 = 0.2;", 2.0, 2.0),
    ],
)  # fmt: skip
def test_one_of_the_three_numbers_of_bursts_follows(given: str, burst: float, idle: float) -> None:
    found = settings(f"{SMALL} injection_process = on_off; {given}")
    workload = specification(found)["workload"]
    assert workload["process"]["mean_on_cycles"] == pytest.approx(burst)
    assert workload["process"]["mean_off_cycles"] == pytest.approx(idle)
    assert workload["offered_load"] == (0.4 if "packet_size" in given else 0.1) and not notes(found)


@pytest.mark.parametrize(
    ("given", "said", "packets"),
    [
        ("burst_alpha = 0.1; burst_beta = 0.4;", "burst_r1 = 1.5 ", 0.2),
        ("burst_alpha = 0.1; burst_beta = 0.4; packet_size = 3;", "burst_r1 = 1.5 ", 0.2),
        ("burst_alpha = -1; burst_beta = 0.5; burst_r1 = 0.4;", "burst_alpha = 1.5 ", 0.4 / 1.5),
        ("burst_alpha = 0.8; burst_beta = -1; burst_r1 = 0.9;", "burst_beta = 1.6 ", 0.4),
    ],
)
def test_what_follows_acts_as_1_where_it_is_more(given: str, said: str, packets: float) -> None:
    found = settings(f"{SMALL} injection_process = on_off; injection_rate = 0.3; {given}")
    flits = found["packet_size"]
    assert specification(found)["workload"]["offered_load"] == pytest.approx(packets * flits)
    (note,) = notes(found)
    assert said in note and f"create {packets:.4g} packets/cycle, not 0.3" in note
    one = sample(f"{SMALL} injection_process = on_off; injection_rate = 0.3; sample_period = 5000; {given}")
    created = recorded(one)["created_cycle"]
    assert ((created >= 15000) & (created < 20000)).sum() / 5000 / 16 == pytest.approx(packets, rel=0.1)
