"""Published studies, each a subpackage that ``flitwork reproduce`` runs and judges.

A subpackage ``author_year_key`` has

* ``study.toml`` - the simulations and plots, as for ``flitwork run``;
* ``claims.toml`` - what the paper says: ``[[claims]]``, one or more for a statement, and for each of its readings
  (:class:`~flitwork.studies.claims.Claim`, :mod:`flitwork.studies.statements`);
* ``claims.py`` (optional) - ``claims(results: pandas.DataFrame) -> list[Finding]``, for claims that a mean over a
  column cannot state: ``Finding(id=..., ours=..., ci=...)``, or with ``variants=[...]`` ours in each of several runs.
  A second function ``claims_of_runs(results, points: pathlib.Path) -> list[Finding]`` may read the stored runs, such as
  ``flitwork.Result.load(points / f"{plan_hash}.parquet").deliveries``;
* ``front.toml`` (optional) - what the paper asked and what came out, for reports
  (:class:`~flitwork.studies.front.Front`);
* ``published.parquet`` (optional) - the results of its points (:class:`~flitwork.experiment.Archive`);
* ``on_mpi.py`` (optional; or a module of another package, an entry point of the group ``flitwork.on_mpi``) - for
  ``--mpi``: ``check(launcher, folder)``, an error for what cannot be used, and
  ``measure(launcher, folder, results, quick, told) -> OnMpi``, the same on real MPI,
  and ``judge_stored(folder, results, quick)``, each machine and its claims by the times that are stored
  (:class:`~flitwork.studies.on_mpi.OnMpi`);
* ``figures.py`` (optional) - ``figures(results: pandas.DataFrame, outdir: pathlib.Path) -> list[pathlib.Path]``.
"""

from flitwork.studies.claims import Claim, Finding, Judged, judged
from flitwork.studies.on_mpi import OnMpi
from flitwork.studies.reproduce import (
    Published,
    Reproduction,
    default_results,
    judge_measured,
    judge_stored,
    published,
    reproduce,
)

__all__ = [
    "Claim",
    "Finding",
    "Judged",
    "OnMpi",
    "Published",
    "Reproduction",
    "default_results",
    "judge_measured",
    "judge_stored",
    "judged",
    "published",
    "reproduce",
]
