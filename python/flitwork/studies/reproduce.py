"""Finds the published studies, runs one and judges its claims."""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from flitwork import _core
from flitwork.base import input_files, parquet
from flitwork.base.errors import ConfigError, ResultFileError, did_you_mean
from flitwork.base.extensions import extensions, load_extension
from flitwork.base.libraries import pd
from flitwork.experiment.archive import Archive
from flitwork.experiment.execute import Watcher
from flitwork.experiment.points import known_columns
from flitwork.experiment.study import StudyRun, run_study
from flitwork.experiment.study_file import StudyFile, load_study
from flitwork.studies.claims import Claim, Finding, Judged, check_measures, judged, load_claims
from flitwork.studies.front import Front
from flitwork.studies.on_mpi import OnMpi, RowCallback

T = TypeVar("T")

_FOLDER = Path(__file__).parent
#: The folder of what was measured on real MPI, in that of the results.
_MPI = "mpi"
_AGAIN = "run `flitwork reproduce` again"


@dataclass(frozen=True)
class Published:
    """A study that comes with flitwork."""

    name: str
    folder: Path
    package: str = ""

    @property
    def title(self) -> str:
        """The title of the study."""
        return load_study(self.folder / "study.toml").study.title

    @property
    def archive_file(self) -> Path:
        """Where its published results are, if there are any."""
        return self.folder / "published.parquet"

    @property
    def reads_runs_of(self) -> tuple[str, ...]:
        """The experiments of which its claims read more than the rows of results: these are always simulated."""
        return tuple(getattr(self.module("claims"), "READS_RUNS_OF", ()))

    def on_mpi(self) -> ModuleType | None:
        """What the study measures on real MPI, in its folder or in a package beside flitwork; none for most studies."""
        if not self.package or self.name not in extensions("flitwork.on_mpi"):
            return self.module("on_mpi")
        found: ModuleType = load_extension("flitwork.on_mpi", self.name)
        return found

    def module(self, name: str) -> ModuleType | None:
        """The study's optional module ``claims``, ``figures`` or ``on_mpi``."""
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
    claims: list[Judged]
    figures: list[Path]
    quick: bool = False
    front: Front = field(default_factory=Front)
    on_mpi: OnMpi | None = None

    @property
    def failed(self) -> list[Judged]:
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
    begin = [known for known in studies if known.startswith(name.replace("_", "-"))]
    if Path(name).suffix == ".toml":
        hint = f"a study file of your own runs with `flitwork run {name}`"
    elif len(begin) == 1:
        hint = f"did you mean `{begin[0]}`?"
    else:
        hint = did_you_mean(name, studies)
    raise ConfigError("study", name, expected, hint)


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
    told: RowCallback | None = None,
) -> Reproduction:
    """Runs the study and judges its claims. ``out`` is ``results/NAME`` by default (``results/NAME-quick``).

    Simulations that fail are left out, and ``engine`` and ``scheduler`` say where they run, as in
    :func:`flitwork.run_study`.

    With ``published_results`` only what the study's published results lack is simulated. A study without any is a
    :class:`~flitwork.base.errors.ConfigError`.

    With ``mpi``, what starts ranks of an MPI program (``["mpirun", "-n", "8"]``), the study is measured on that machine
    as well, each row of which ``told`` learns; a study that cannot be is a :class:`~flitwork.base.errors.ConfigError`.
    """
    study = find(name)
    folder = Path(out) if out else default_results(study.name, quick)
    measured = None if mpi is None else _measured_by(study, mpi)
    done = simulate(
        name, folder, quick=quick, jobs=jobs, engine=engine, scheduler=scheduler, watcher=watcher,
        published_results=published_results,
    )  # fmt: skip
    found = done.judged(lambda: claims_of(*done.made), lambda: draw_figures(*done.made))
    if mpi is None or measured is None:
        return found
    return replace(found, on_mpi=measured.measure(mpi, done.run.out / _MPI, done.run.table, quick, told))


@dataclass(frozen=True)
class Simulated:
    """A study whose simulations are done, before its claims are judged and its figures drawn."""

    study: Published
    declared: list[Claim]
    front: Front
    run: StudyRun
    quick: bool

    @property
    def made(self) -> tuple[str, pd.DataFrame, Path]:
        """What :func:`claims_of` and :func:`draw_figures` need."""
        name = self.study.name if self.study.package else str(self.study.folder)
        return name, self.run.table, self.run.out

    def judged(self, claims: Callable[[], list[Finding]], figures: Callable[[], list[Path]]) -> Reproduction:
        """The verdicts; ``claims`` and ``figures`` give what :func:`claims_of` and :func:`draw_figures` make of it."""
        computed = _with_gaps(self.run, claims, "claims.py") or []
        verdicts = judged(self.declared, computed, self.run.table, self.quick)
        drawn = _with_gaps(self.run, figures, "figures.py") or []
        return Reproduction(self.run, verdicts, [*self.run.figures, *drawn], self.quick, self.front)


def simulate(
    name: str,
    out: str | Path | None = None,
    *,
    quick: bool = False,
    jobs: int | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    watcher: Watcher | None = None,
    published_results: bool = False,
) -> Simulated:
    """The first part of :func:`reproduce`, which takes the same: everything up to the table of results."""
    study = find(name)
    declared, front = load_claims(study.folder / "claims.toml"), Front.load(study.folder)
    file = load_study(study.folder / "study.toml")
    _check(declared, file, quick)
    folder = Path(out) if out else default_results(study.name, quick)
    run = run_study(
        file, folder, quick=quick, jobs=jobs, engine=engine, scheduler=scheduler, watcher=watcher,
        archive=_archive(study) if published_results else None, run_again=study.reads_runs_of,
    )  # fmt: skip
    return Simulated(study, declared, front, run, quick)


def claims_of(name: str, table: pd.DataFrame, folder: Path) -> list[Finding]:
    """What ``claims.py`` of the study says of its results, which are ``table`` and lie in ``folder``."""
    module = find(name).module("claims")
    if module is None:
        return []
    found: list[Finding] = list(module.claims(table))
    if hasattr(module, "claims_of_runs"):
        found += module.claims_of_runs(table, folder / "points")
    return found


def draw_figures(name: str, table: pd.DataFrame, folder: Path) -> list[Path]:
    """The pictures that ``figures.py`` of the study draws of the same."""
    module = find(name).module("figures")
    return list(module.figures(table, folder / "figures")) if module else []


def judge_stored(name: str, folder: Path, quick: bool = False) -> tuple[list[Judged], bool]:
    """The claims of a study by the results that lie in ``folder``, and whether any do. Nothing is simulated."""
    study = find(name)
    declared = load_claims(study.folder / "claims.toml")
    table = folder / "results.parquet"
    if not table.is_file():
        return [Judged.of(claim) for claim in declared], False
    results = _stored_table(table)
    return judged(declared, claims_of(name, results, folder), results, quick), True


def judge_measured(name: str, folder: Path, quick: bool = False) -> list[tuple[str, list[Judged]]]:
    """What :func:`reproduce` with ``mpi`` has asked of machines, by the times in ``folder``: each machine, its claims.

    Nothing is measured.
    """
    table = folder / "results.parquet"
    if not table.is_file() or not (folder / _MPI).is_dir():
        return []
    module = find(name).on_mpi()
    if module is None:
        return []
    found: list[tuple[str, list[Judged]]] = module.judge_stored(folder / _MPI, _stored_table(table), quick)
    return found


def _stored_table(file: Path) -> pd.DataFrame:
    """The table that a run of a study has left."""
    try:
        found = parquet.frame(_core.ParquetFile(file))
    except (OSError, ValueError) as error:
        because = input_files.because(error)
        raise ResultFileError(
            f"{file}: cannot be read as results of a study ({because}); delete it and {_AGAIN}"
        ) from None
    if "experiment" not in found:
        raise ResultFileError(f"{file}: is no table of a study: it has no column experiment; move it away and {_AGAIN}")
    return found


def _measured_by(study: Published, launcher: Sequence[str]) -> ModuleType:
    """The module of a study that measures it on real MPI; a launcher that it cannot use is an error right away."""
    found = study.on_mpi()
    if found is None:
        having = ", ".join(extensions("flitwork.on_mpi")) or "none is: install flitwork[mpi]"
        raise ConfigError("mpi", study.name, f"a study that can be measured on real MPI ({having})")
    found.check(launcher)
    return found


def _archive(study: Published) -> Archive:
    if not study.archive_file.is_file():
        having = ", ".join(name for name, other in published().items() if other.archive_file.is_file())
        expected = f"a study that comes with results ({having or 'none does'})"
        raise ConfigError("published", study.name, expected, "without --published everything is simulated")
    return Archive.load(study.archive_file)


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
