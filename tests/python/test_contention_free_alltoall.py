"""The study of timetables: its smaller version, and what it makes of a part of its results."""

from pathlib import Path

import flitwork as fw
import pandas as pd
import pytest
from flitwork.studies.contention_free_alltoall.claims import claims
from flitwork.studies.contention_free_alltoall.measures import KEPT, TIMETABLE, WAITS, disturbed, ratios

#: Its bound is far below its timetable: see the claim `graphs`.
CIRCULANT = "circulant 64, strides 1 8"


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> fw.studies.Reproduction:
    return fw.studies.reproduce("contention-free-alltoall", tmp_path_factory.mktemp("study"), quick=True)


def test_the_smaller_version_stands_for_its_verdicts(quick: fw.studies.Reproduction) -> None:
    assert not quick.failed and not quick.run.failures
    verdicts = {claim.id: claim.verdict for claim in quick.claims}
    assert verdicts["late"] == verdicts["graphs"] == "not reproduced" and verdicts["squares.8"] == "not measured"
    assert sum(verdict == "reproduced" for verdict in verdicts.values()) == 14
    drawn = [Path(figure).stem for figure in quick.figures if figure.suffix == ".png"]
    assert drawn == ["over-the-bound", "late-ranks"]


def test_no_run_is_faster_than_its_bound_and_timetables_are_near_it(quick: fw.studies.Reproduction) -> None:
    table = ratios(quick.run.table)
    assert (table["ratio"] >= 1).all() and len(table) == 33
    ours = table[table["schedule"] == "timetable"].set_index("network")["ratio"]
    assert ours.drop(CIRCULANT).max() < 1.1 and ours[CIRCULANT] < 1.15


def test_late_ranks_cost_little_where_they_do_not_send_late(quick: fw.studies.Reproduction) -> None:
    late = disturbed(quick.run.table)
    assert (late["packet_flits"] == 1).all() and len(late) == 16
    most = late[late["late"] != 0].groupby("schedule")["ratio"].max()
    assert most[WAITS] < most[KEPT] < 1.2 and 2 < most[TIMETABLE] < most["a2at"] < most["simple_spread"]


def test_a_part_of_the_results_has_a_part_of_the_findings(quick: fw.studies.Reproduction) -> None:
    results: pd.DataFrame = quick.run.table
    trees = results[results["experiment"] == "trees"]
    assert [finding.id for finding in claims(trees)] == ["trees"]
    waits = results[results["experiment"] == "late_waits"]
    assert [finding.id for finding in claims(waits)] == ["late.waits"]
    assert claims(results[:0]) == []
