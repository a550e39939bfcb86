"""The study of routings of dragonflies and HyperX: its smaller version, and what it makes of a part of its results."""

from pathlib import Path

import flitwork as fw
import pytest
from flitwork.studies.dragonfly_routing.claims import claims
from flitwork.studies.dragonfly_routing.measures import curves


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> fw.studies.Reproduction:
    return fw.studies.reproduce("dragonfly-routing", tmp_path_factory.mktemp("study"), quick=True)


def test_the_smaller_version_has_every_claim_and_the_figure(quick: fw.studies.Reproduction) -> None:
    assert not quick.failed and not quick.run.failures
    verdicts = {claim.id: claim.verdict for claim in quick.claims}
    assert len(verdicts) == 15 and "not measured" not in verdicts.values()
    assert [Path(figure).stem for figure in quick.figures if figure.suffix == ".png"] == ["curves"]


def test_minimal_routing_has_its_share_of_one_channel_and_the_others_more(quick: fw.studies.Reproduction) -> None:
    table = curves(quick.run.table)
    worst = table[table["experiment"] == "dragonfly_worst"].groupby("routing")["accepted"].max()
    assert worst["minimal"] <= 1 / 8 and worst.drop("minimal").min() > 0.3
    even = table[table["experiment"] == "dragonfly_uniform"].groupby("routing")["accepted"].max()
    assert even["Valiant"] < 0.6 * even["minimal"] and even["UGAL"] > 0.85 * even["minimal"]


def test_a_part_of_the_results_has_a_part_of_the_findings(quick: fw.studies.Reproduction) -> None:
    results = quick.run.table
    hyperx = results[results["experiment"] == "hyperx_worst"]
    assert [finding.id for finding in claims(hyperx)] == ["hyperx.valiant", "hyperx.ugal", "hyperx.minimal"]
    assert claims(results[:0]) == []
