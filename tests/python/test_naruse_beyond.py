"""The study of the 2-Level Ring beyond the paper: how its claims follow from runs that are made up."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import flitwork as fw
import pandas as pd
import pytest
from flitwork.experiment import expand, load_study
from flitwork.studies import published
from flitwork.studies.claims import Finding, Judged, load_claims
from flitwork.studies.front import Front
from flitwork.studies.naruse_2010_two_level_ring import npb, phase, trees, unequal
from flitwork.studies.naruse_2010_two_level_ring.turns import ring_share

FOLDER = published()["naruse-2010-two-level-ring"].folder
RUN = {"completion_cycles": 1.0, "servers": 16, "Nlp": 8, "KiB": 64}
RING, TWO_LEVEL = "pairwise_shift", "two_level_ring"


def ours(claims: Iterable[Finding]) -> dict[str, float]:
    """The values by id; all ids are declared."""
    found = {claim.id: float(claim.ours or 0) for claim in claims}
    assert {*found} <= {claim.id for claim in load_claims(FOLDER / "claims.toml")}
    return found


def test_the_phase_diagram() -> None:
    rates = {"FIFO": 1600.0, "2 lanes": 1700.0, "virtual output queues": 1750.0, "output queued": 1980.0}
    cells = itertools.product(rates, ["no jitter", "at random"], [1, 4])
    runs = [
        {**RUN, "experiment": "phase", "workload.algorithm": RING, "switch": switch, "apart": apart,
         "network.nic.service.burst_packets": burst, "mb_per_s": 2000.0 if apart == "no jitter" else rates[switch] - burst}
        for switch, apart, burst in cells
    ]  # fmt: skip
    found = ours(phase.claims(pd.DataFrame(runs)))
    assert (found["P.regular"], found["P.regular-bursts"], found["P.bursts"], found["P.queues"]) == (1, 1, 1, 1)
    assert found["P.jitter"] == pytest.approx(1 - 1599 / 2000)
    assert found["P.lanes"] == pytest.approx(1 - 1696 / 1746)
    assert found["P.outputs"] == pytest.approx(1976 / 2000)


def test_what_is_told_first() -> None:
    came_out = {"P.jitter": 0.17, "P.regular": 0.996, "F.gain-4": 1.05}
    claims = [
        Judged.of(claim, Finding(id=claim.id, ours=came_out.get(claim.id)))
        for claim in load_claims(FOLDER / "claims.toml")
    ]
    jitter, oversubscribed = Front.load(FOLDER).filled_in(claims)
    # What is measured without jitter is what the ring has of the link, not what it loses.
    assert "at least 17 % of the link" in jitter and "without jitter it uses 99.6 %" in jitter
    assert "at most 1.05 times as fast" in oversubscribed


def test_trees() -> None:
    gains = {("one switch", 1): 1.2, ("two levels", 1): 1.2, ("two levels", 2): 1.1, ("two levels", 4): 1.15}
    runs = [
        {**RUN, "experiment": "trees", "workload.algorithm": algorithm, "net": net, "over": over, "seed": seed,
         "mb_per_s": 1000.0 * (gain if algorithm == TWO_LEVEL else 1.0), "ratio_to_bound": 1.3 / gain + 0.01 * seed}
        for (net, over), gain in gains.items() for algorithm in (RING, TWO_LEVEL) for seed in (1, 2)
    ]  # fmt: skip
    claims = list(trees.claims(pd.DataFrame(runs)))
    found = ours(claims)
    assert (found["F.switch"], found["F.gain-falls"]) == (0, 0.5)
    assert found["F.gain-4"] == pytest.approx(1.15)
    assert found["F.bound-4"] == pytest.approx(1.3 / 1.15 + 0.015)
    assert claims[-1].ci == pytest.approx(0.0635, abs=0.001)


def test_unequal_servers() -> None:
    times = {False: (1.1, 1.3, 1.2), True: (1.2, 1.25, 1.4)}
    runs = [
        {**RUN, "experiment": "unequal", "workload.algorithm": algorithm, "workload.step_barriers": barriers,
         "ranks": ranks, "ratio_to_bound": time}
        for barriers, row in times.items() for ranks in ("some", "others")
        for algorithm, time in zip((RING, TWO_LEVEL, "birkhoff"), row, strict=True)
    ]  # fmt: skip
    found = ours(unequal.claims(pd.DataFrame(runs)))
    assert found == {"U.ring": 0, "U.barriers": 1.4, "U.two-level": 0, "U.free": 1}


def test_programs_are_scaled_to_the_whole_benchmark() -> None:
    points = [point for point in expand(load_study(FOLDER / "study.toml"), quick=True) if point.experiment == "program"]
    assert {point.params["count"] for point in points} == {10, 21}
    runs = [
        {**RUN, "experiment": "program", "workload.algorithm": algorithm, "benchmark": name, "seed": seed,
         "time_s": seconds * (0.99 if algorithm == RING else 0.9)}
        for name, (_, _, seconds) in npb.NPB.items() for algorithm in (RING, TWO_LEVEL) for seed in (1, 2)
    ]  # fmt: skip
    found = ours(npb.claims(pd.DataFrame(runs)))
    assert found["N.ring"] == pytest.approx(0.01)
    assert found["N.paper"] == pytest.approx(10 - 1.9)
    assert found["N.grows"] in (0.0, 0.5, 1.0)


def test_in_whose_turn_adapters_send_matters() -> None:
    """By number they lose more than where it is the turn of who has waited longest, which is what flitwork does."""
    size = (6, 8, 32)
    assert ring_share(*size, "by_number", jitter=0) > 0.999
    assert ring_share(*size, "waited_longest", jitter=0) > 0.999
    longest = ring_share(*size, "waited_longest", jitter=20)
    assert ring_share(*size, "by_number", jitter=20) < longest - 0.015
    service = fw.Service(order="round_robin", queue_pairs="peer", start_jitter_cycles=20)
    nic = fw.Nic(service=service)
    switch = fw.Network("crossbar", terminals=6, router=fw.Router(vcs=1, buffer_flits=16), nic=nic)
    work = fw.collective("all_to_all", "pairwise_shift", message_flits=32, packet_flits=1)
    done = fw.simulate(switch, work, host=fw.Host(ranks_per_terminal=8, copy_flits_per_cycle=1000))
    assert 32 * 5 * 8 * 8 / done.completion_cycles == pytest.approx(longest, abs=0.005)
