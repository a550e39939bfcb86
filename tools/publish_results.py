"""Makes the results of a study the published ones: `python tools/publish_results.py NAME RESULTS_FOLDER`.

Adds every finished point of the folder to `published.parquet` in the folder of the study; what is there already and was
not simulated again stays. Points that are no longer part of the study are dropped.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from flitwork.experiment import Archive, HasRow, Job, Store, expand, load_study, plan_points
from flitwork.studies import published


def main(name: str, results: str) -> None:
    """Collects, merges and writes."""
    study = published()[name]
    file = load_study(study.folder / "study.toml")
    store = Store(Path(results))
    before = Archive.load(study.archive_file) if study.archive_file.is_file() else Archive({})

    def found(jobs: Sequence[Job]) -> dict[str, HasRow]:
        stored = {job.hash: result for job in jobs if (result := store.get(job.hash))}
        return {**before.of(jobs), **stored}

    jobs = plan_points(expand(file))
    if any(experiment.found for experiment in file.experiments):
        # These can be planned when the results that they look up are known.
        rows = found(jobs)
        known = {point.label: rows[job.hash].row for job in jobs if job.hash in rows for point in job.points}
        jobs = plan_points(expand(file, rows=known))
    kept = [job for job in jobs if not any(point.experiment in study.reads_runs_of for point in job.points)]
    archive = Archive({}).with_results(kept, found(kept))
    path = archive.save(study.archive_file)
    print(f"{path}: {len(archive)} of {sum(len(job.points) for job in kept)} points, {path.stat().st_size} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
