"""The study of timetables: its smaller version, and what it makes of a part of its results."""

from pathlib import Path

import flitwork as fw
import pandas as pd
import pytest
from flitwork.studies.contention_free_alltoall.claims import claims
from flitwork.studies.contention_free_alltoall.measures import ratios


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> fw.studies.Reproduction:
    return fw.studies.reproduce("contention-free-alltoall", tmp_path_factory.mktemp("study"), quick=True)


def test_the_smaller_version_stands_for_its_verdicts(quick: fw.studies.Reproduction) -> None:
    assert not quick.failed and not quick.run.failures
    verdicts = {claim.id: claim.verdict for claim in quick.claims}
    assert verdicts["trees"] == "not reproduced" and verdicts["squares.8"] == "not measured"
    assert sum(verdict == "reproduced" for verdict in verdicts.values()) == 10
    assert [Path(figure).stem for figure in quick.figures if figure.suffix == ".png"] == ["over-the-bound"]


def test_no_run_is_faster_than_its_bound_and_timetables_are_near_it(quick: fw.studies.Reproduction) -> None:
    table = ratios(quick.run.table)
    assert (table["ratio"] >= 1).all() and len(table) == 29
    assert table[table["schedule"] == "timetable"]["ratio"].max() < 1.1


def test_a_part_of_the_results_has_a_part_of_the_findings(quick: fw.studies.Reproduction) -> None:
    results: pd.DataFrame = quick.run.table
    trees = results[results["experiment"] == "trees"]
    assert [finding.id for finding in claims(trees)] == ["trees"]
    assert claims(results[:0]) == []
