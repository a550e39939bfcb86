"""Results that come with a study: they take the place of simulations, and simulating them again gives the same."""

from __future__ import annotations

import random
from pathlib import Path

import pandas as pd
import pytest
from flitwork.base.errors import ConfigError, ResultFileError
from flitwork.experiment import Archive, different, expand, load_study, plan_points, run_study
from flitwork.experiment.study_file import StudyFile
from flitwork.studies import published, reproduce

STUDY = """
study.name = "small"
[base]
network.topology = { kind = "torus", size = [3, 3] }
workload = { kind = "all_to_all", algorithm = "${algorithm}" }
[[experiments]]
id = "first"
grid = { algorithm = ["a2a", "a2at"], "workload.message_flits" = [1, 9] }
seeds = [1, 2]
"""
#: Points that are planned: all of a study take minutes.
PLANNED = 120
#: Simulated again in the quick lane: points of each study below so much work [flit-hops].
COUNT, WORK = 4, 3e5


@pytest.fixture
def study(tmp_path: Path) -> StudyFile:
    path = tmp_path / "small.toml"
    path.write_text(STUDY)
    return load_study(path)


def test_what_is_in_an_archive_is_not_simulated(study: StudyFile, tmp_path: Path) -> None:
    whole = run_study(study, tmp_path / "whole")
    archive = Archive.load(Archive({}).with_results(whole.jobs[:3], whole.results).save(tmp_path / "some.parquet"))
    assert len(archive) == sum(len(job.points) for job in whole.jobs[:3])
    run = run_study(study, tmp_path / "part", archive=archive)
    assert set(run.results) == {job.hash for job in whole.jobs[3:]} and set(run.rows) == set(whole.rows)
    mixed, fresh = (of.table.drop(columns="wall_seconds").dropna(axis=1, how="all") for of in (run, whole))
    pd.testing.assert_frame_equal(mixed, fresh, check_dtype=False)
    again = run_study(study, tmp_path / "again", archive=archive, run_again=["first"])
    assert set(again.results) == set(whole.rows)
    # What was simulated here goes before what is published.
    assert set(run_study(study, tmp_path / "whole", archive=archive).results) == set(whole.rows)


def test_a_result_that_is_not_this_versions_is_found(study: StudyFile, tmp_path: Path) -> None:
    run = run_study(study, tmp_path / "run")
    archive = Archive({}).with_results(run.jobs, run.results)
    assert different(run.jobs, archive.of(run.jobs), 3) == []
    planted = run.jobs[1]
    wrong = archive.of(run.jobs)
    wrong[planted.hash] = type(wrong[planted.hash])({**wrong[planted.hash].row, "digest": "0" * 16})
    assert different(run.jobs, wrong, len(run.jobs)) == [planted.points[0].label]


def test_equal_results_make_equal_files_and_damaged_ones_are_refused(study: StudyFile, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("one.parquet", "two.parquet")]
    for file, folder in zip(files, ("a", "b"), strict=True):
        run = run_study(study, tmp_path / folder)
        Archive({}).with_results(run.jobs, run.results).save(file)
    assert files[0].read_bytes() == files[1].read_bytes()
    files[0].write_bytes(files[0].read_bytes()[:100])
    with pytest.raises(ResultFileError, match=r"one\.parquet: cannot be read as published results"):
        Archive.load(files[0])


def test_a_study_without_published_results_says_so(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "claims.toml").write_text("claims = []")
    with pytest.raises(ConfigError, match="expected a study that comes with results"):
        reproduce(str(tmp_path), tmp_path / "out", published_results=True)


@pytest.mark.parametrize("name", [name for name, study in published().items() if study.archive_file.is_file()])
def test_published_results_are_those_of_this_version(name: str) -> None:
    study = published()[name]
    file = load_study(study.folder / "study.toml")
    archive = Archive.load(study.archive_file)
    jobs = plan_points(random.Random(1).sample(expand(file), PLANNED))
    archived = archive.of(jobs)
    assert len(archived) >= COUNT
    assert different(jobs, archived, COUNT, most_work=WORK) == []
