"""The study of twisted tori: its smaller version, and distances, loads and bounds counted without the simulator."""

from __future__ import annotations

import itertools
from collections import deque
from pathlib import Path

import flitwork as fw
import pandas as pd
import pytest
from flitwork.studies.twisted_torus.claims import claims
from flitwork.studies.twisted_torus.figures import figures
from flitwork.studies.twisted_torus.measures import LARGE, SIZES, SMALL, all_to_alls, by_steps, gain, loads

Router = tuple[int, ...]


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> fw.studies.Reproduction:
    return fw.studies.reproduce("twisted-torus", tmp_path_factory.mktemp("study"), quick=True)


def neighbours(at: Router, size: Router, twisted: bool) -> list[Router]:
    """The routers next to one, by the rule of the twist: wrapping in a dimension of k adds k in those of 2k."""
    found = []
    for dimension, sign in itertools.product(range(len(size)), (1, -1)):
        to = list(at)
        to[dimension] += sign
        if twisted and not 0 <= to[dimension] < size[dimension] and size[dimension] == min(size):
            for other, length in enumerate(size):
                if length == 2 * min(size):
                    to[other] += sign * min(size)
        found.append(tuple(place % length for place, length in zip(to, size, strict=True)))
    return found


def distances(start: Router, size: Router, twisted: bool) -> dict[Router, int]:
    """Channels of a shortest route from one router to each."""
    found, waiting = {start: 0}, deque([start])
    while waiting:
        at = waiting.popleft()
        for to in neighbours(at, size, twisted):
            if to not in found:
                found[to] = found[at] + 1
                waiting.append(to)
    return found


def shares(start: Router, size: Router, twisted: bool) -> list[float]:
    """Flits in each of the six directions, if a flit to each router takes all shortest routes alike."""
    length = distances(start, size, twisted)
    routes: dict[Router, int] = {start: 1}
    by_length = sorted(length, key=length.__getitem__)
    for at in by_length[1:]:
        before = [near for near in neighbours(at, size, twisted) if length[near] == length[at] - 1]
        routes[at] = sum(routes[near] for near in before)
    found = [0.0] * (2 * len(size))
    for end in by_length[1:]:
        flow = {end: 1.0}
        for at in sorted(length, key=length.__getitem__, reverse=True):
            if at not in flow or at == start:
                continue
            for near in set(neighbours(at, size, twisted)):
                if length[near] == length[at] - 1:
                    ways = [way for way, to in enumerate(neighbours(near, size, twisted)) if to == at]
                    share = flow[at] * len(ways) * routes[near] / routes[at]
                    flow[near] = flow.get(near, 0) + share
                    for way in ways:
                        found[way] += share / len(ways)
    return found


@pytest.mark.parametrize("size", list(SIZES.values()))
@pytest.mark.parametrize("twisted", [False, True])
def test_hops_are_those_of_shortest_routes(size: Router, twisted: bool) -> None:
    net = fw.Network("twisted_torus" if twisted else "torus", size=list(size), routing="lash", vcs=20)
    packets = fw.simulate(net, fw.all_to_all("a2a", message_flits=1), packets=True).packets
    # Terminals are numbered along the first dimension first.
    at = [place[::-1] for place in itertools.product(*map(range, size[::-1]))]
    mine = [distances(start, size, twisted) for start in at]
    hops = [mine[src][at[dst]] for src, dst in zip(packets["src"], packets["dst"], strict=True)]
    assert hops == list(packets["hops"]) and len(hops) == len(at) * (len(at) - 1)


@pytest.mark.parametrize(
    ("name", "regular", "twisted"), [(SMALL, 128, pytest.approx(220 / 3)), (LARGE, 256, pytest.approx(184))]
)
def test_a_twist_shortens_routes_and_loads_all_directions_alike(name: str, regular: float, twisted: float) -> None:
    size = SIZES[name]
    start = (0,) * len(size)
    assert max(shares(start, size, False)) == pytest.approx(regular) and max(shares(start, size, True)) == twisted
    # All channels together carry the hops of all flits: no routing loads the busiest one less than the mean.
    mean = sum(distances(start, size, True).values()) / (2 * len(size))
    assert mean == twisted and min(shares(start, size, True)) == pytest.approx(mean)
    for kind, load in (("torus", regular), ("twisted_torus", mean)):
        under_lash, best = loads(name, kind)
        assert best == pytest.approx(load, rel=0.01) and under_lash > best


def test_the_smaller_version_has_its_claims_and_figures(quick: fw.studies.Reproduction) -> None:
    assert not quick.failed and not quick.run.failures
    verdicts = {claim.id: claim.verdict for claim in quick.claims}
    assert verdicts["timetables"] == verdicts["bound.4x4x8"] == "reproduced"
    drawn = [Path(figure).stem for figure in quick.figures if figure.suffix == ".png"]
    assert drawn == ["gain", "over-the-bound"]


def test_all_figures_are_drawn_where_there_is_uniform_traffic(quick: fw.studies.Reproduction, tmp_path: Path) -> None:
    rows = [{"experiment": "uniform", "net": net, "workload.offered_load": load, "accepted_load_flits_per_cycle": load}
             for net in ("regular", "twisted") for load in (0.2, 0.4)]  # fmt: skip
    results = pd.concat([quick.run.table, pd.DataFrame(rows)], ignore_index=True)
    drawn = [path.stem for path in figures(results, tmp_path) if path.suffix == ".png"]
    assert drawn == ["gain", "over-the-bound", "virtual-channels"]


def test_nothing_is_faster_than_its_bound(quick: fw.studies.Reproduction) -> None:
    table = all_to_alls(quick.run.table)
    assert table["ratio"].min() >= 1
    ours = {claim.id: claim.ours for claim in quick.claims}
    assert gain(by_steps(table), SMALL, "regular, hop classes", "twisted, hop classes") == ours["4x4x8.hop-classes"]


def test_a_part_of_the_results_has_a_part_of_the_findings(quick: fw.studies.Reproduction) -> None:
    results = quick.run.table
    timetables = results[results["experiment"] == "timetables"]
    assert [finding.id for finding in claims(timetables)] == [
        "4x4x8.timetable",
        "bound.4x4x8",
        "lash-load",
        "timetables",
    ]
    assert claims(results[:0]) == []
