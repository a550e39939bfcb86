"""Finds the published studies, runs one and judges its claims."""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import pandas as pd

from flitwork.errors import ConfigError, did_you_mean
from flitwork.experiment.archive import Archive
from flitwork.experiment.execute import Watcher
from flitwork.experiment.points import known_columns
from flitwork.experiment.study import StudyRun, run_study
from flitwork.experiment.study_file import StudyFile, load_study
from flitwork.mpi.native import build
from flitwork.studies.claims import Claim, check_measures, judged, load_claims
from flitwork.studies.front import Front
from flitwork.studies.on_mpi import OnMpi, RowTold

T = TypeVar("T")

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Published:
    """A study that comes with flitwork."""

    name: str
    folder: Path
    package: str = ""

    @property
    def title(self) -> str:
        """Its title."""
        return load_study(self.folder / "study.toml").study.title

    @property
    def archive_file(self) -> Path:
        """Where its published results are, if there are any."""
        return self.folder / "published.parquet"

    @property
    def reads_runs_of(self) -> tuple[str, ...]:
        """The experiments of which its claims read more than the rows of results: these are always simulated."""
        return tuple(getattr(self.module("claims"), "READS_RUNS_OF", ()))

    def module(self, name: str) -> ModuleType | None:
        """Its optional module ``claims``, ``figures`` or ``on_mpi``."""
        path = self.folder / f"{name}.py"
        if not path.exists():
            return None
        if self.package:
            return importlib.import_module(f"{self.package}.{name}")
        spec = importlib.util.spec_from_file_location(f"flitwork_study_{name}", path)
        if spec is None or spec.loader is None:
            raise ConfigError("study", path, "a Python module")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


@dataclass(frozen=True)
class Reproduction:
    """A study that was run, with the verdict on each claim."""

    run: StudyRun
    claims: list[Claim]
    figures: list[Path]
    quick: bool = False
    front: Front = field(default_factory=Front)
    on_mpi: OnMpi | None = None

    @property
    def failed(self) -> list[Claim]:
        """Claims with another verdict than they should have; of the full study also those that were not measured."""
        return [c for c in self.claims if c.fails or (c.verdict == "not measured" and not self.quick)]


def published() -> dict[str, Published]:
    """All studies by name: those that come with flitwork."""
    folders = sorted(path.parent for path in _FOLDER.glob("*/study.toml"))
    return {
        (name := folder.name.replace("_", "-")): Published(name, folder, f"flitwork.studies.{folder.name}")
        for folder in folders
    }


def find(name: str) -> Published:
    """The study called ``name``, or the one in the folder ``name``."""
    studies = published()
    if name.replace("_", "-") in studies:
        return studies[name.replace("_", "-")]
    if (Path(name) / "study.toml").is_file():
        return Published(Path(name).resolve().name, Path(name))
    expected = f"one of {', '.join(studies) or '(none)'}, or a folder with a study.toml"
    raise ConfigError("study", name, expected, did_you_mean(name, studies))


def default_results(name: str, quick: bool, among: Path = Path("results")) -> Path:
    """Where the results of a study go."""
    return among / (f"{name}-quick" if quick else name)


def reproduce(
    name: str,
    out: str | Path | None = None,
    *,
    quick: bool = False,
    jobs: int | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    watcher: Watcher | None = None,
    published_results: bool = False,
    mpi: Sequence[str] | None = None,
    told: RowTold | None = None,
) -> Reproduction:
    """Runs the study and judges its claims. ``out`` is ``results/NAME`` by default (``results/NAME-quick``).

    Simulations that fail are left out, and ``engine`` and ``scheduler`` say where they run, as in
    :func:`flitwork.run_study`.

    With ``published_results`` only what the study's published results lack is simulated. A study without any is a
    :class:`~flitwork.errors.ConfigError`.

    With ``mpi``, what starts ranks of an MPI program (``["mpirun", "-n", "8"]``), the study is measured on that machine
    as well, each row of which ``told`` learns; a study that cannot be is a :class:`~flitwork.errors.ConfigError`.
    """
    study = find(name)
    measured = None if mpi is None else _measured_by(study, mpi)
    declared, front = load_claims(study.folder / "claims.toml"), Front.load(study.folder)
    file = load_study(study.folder / "study.toml")
    _check(declared, file, quick)
    folder = Path(out) if out else default_results(study.name, quick)
    run = run_study(
        file, folder, quick=quick, jobs=jobs, engine=engine, scheduler=scheduler, watcher=watcher,
        archive=_archive(study) if published_results else None, run_again=study.reads_runs_of,
    )  # fmt: skip
    claims_module, figures_module = study.module("claims"), study.module("figures")
    computed = _with_gaps(run, lambda: _computed(claims_module, run), "claims.py") or []
    claims = judged(declared, computed, run.table, quick)
    drawn = _with_gaps(
        run, lambda: figures_module.figures(run.table, run.out / "figures") if figures_module else [], "figures.py"
    )
    here = None
    if mpi is not None and measured is not None:
        here = measured.measure(mpi, run.out / "mpi", run.table, quick, told)
    return Reproduction(run, claims, [*run.figures, *(drawn or [])], quick, front, here)


def judge_stored(name: str, folder: Path, quick: bool = False) -> tuple[list[Claim], bool]:
    """The claims of a study by the results that lie in ``folder``, and whether any do. Nothing is simulated."""
    study = find(name)
    declared = load_claims(study.folder / "claims.toml")
    table = folder / "results.parquet"
    if not table.is_file():
        return declared, False
    results, module = pd.read_parquet(table), study.module("claims")
    computed = list(module.claims(results)) if module else []
    if module and hasattr(module, "claims_of_runs"):
        computed += module.claims_of_runs(results, folder / "points")
    return judged(declared, computed, results, quick), True


def _measured_by(study: Published, launcher: Sequence[str]) -> ModuleType:
    """The module of a study that measures it on real MPI; a launcher that cannot be run is an error right away."""
    found = study.module("on_mpi")
    if found is None:
        having = ", ".join(name for name, other in published().items() if (other.folder / "on_mpi.py").is_file())
        raise ConfigError("mpi", study.name, f"a study that can be measured on real MPI ({having})")
    build.program(launcher)
    return found


def _archive(study: Published) -> Archive:
    if not study.archive_file.is_file():
        having = ", ".join(name for name, other in published().items() if other.archive_file.is_file())
        expected = f"a study that comes with results ({having or 'none does'})"
        raise ConfigError("published", study.name, expected, "without --published everything is simulated")
    return Archive.load(study.archive_file)


def _computed(module: ModuleType | None, run: StudyRun) -> list[Claim]:
    if module is None:
        return []
    found: list[Claim] = list(module.claims(run.table))
    if hasattr(module, "claims_of_runs"):
        found += module.claims_of_runs(run.table, run.out / "points")
    return found


def _check(declared: list[Claim], file: StudyFile, quick: bool) -> None:
    """The measures fit the study; the smaller version may lack experiments and values, but not columns."""
    known = known_columns(file)
    check_measures(declared, known)
    if quick:
        check_measures(declared, {**known, **known_columns(file, quick=True)}, values=False)


def _with_gaps(run: StudyRun, use: Callable[[], T], what: str) -> T | None:
    """What the code of a study makes of the results. Where points are missing, it may fail: that is only a warning."""
    try:
        return use()
    except Exception as error:
        if not run.failures:
            raise
        warnings.warn(f"{what} cannot use the points that are left ({type(error).__name__}: {error})", stacklevel=3)
        return None
