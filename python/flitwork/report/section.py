"""What a report shows of one study, or of one result."""

from __future__ import annotations

import gzip
import io
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from flitwork import __version__
from flitwork.base.libraries import pd
from flitwork.experiment.study import StudyRun
from flitwork.plot.gallery import draw_result
from flitwork.results.result import Result
from flitwork.studies.claims import Judged
from flitwork.studies.on_mpi import OnMpi
from flitwork.studies.reproduce import Reproduction
from flitwork.studies.statements import Scores, Statement, scores, statements

#: Rows of what a table says of itself that are shown; the file behind it has all.
_ROWS = 12
_NARROW = 2


@dataclass(frozen=True)
class Shown:
    """A figure: the picture, and the numbers in it as CSV (empty where it has none)."""

    name: str
    picture: Path
    numbers: str = ""


@dataclass(frozen=True)
class Section:
    """One study or result, ready to be shown."""

    name: str
    title: str
    #: What somebody says of their own study.
    about: str = ""
    asked: str = ""
    found: list[str] = field(default_factory=list)
    paper: str = ""
    command: str = ""
    #: How to run all of a study of which this is the smaller version.
    full: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    claims: list[Judged] = field(default_factory=list)
    figures: list[Shown] = field(default_factory=list)
    table: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def statements(self) -> list[Statement]:
        """The claims by the statements that they judge."""
        return statements(self.claims)

    @property
    def scores(self) -> Scores:
        """How many statements have each verdict."""
        return scores(self.claims)

    @property
    def version(self) -> str:
        """``full``, or ``quick`` for the smaller version of a study."""
        return "quick" if self.full else "full"

    @property
    def short(self) -> str:
        """First author and year, where its name begins with them; else all of it."""
        words = self.name.split("-")
        return " ".join(words[:2] if len(words) > 1 and len(words[1]) == 4 and words[1].isdigit() else words)

    @property
    def is_narrow(self) -> bool:
        """Whether its table fits on a page: that of one result, a row a number."""
        return self.table.shape[1] <= _NARROW

    @property
    def head(self) -> pd.DataFrame:
        """The first rows of its table, without the columns that say the same in every row; all of a narrow one."""
        varies = [name for name in self.table if self.table[name].astype(str).nunique() > 1]
        return self.table if self.is_narrow else self.table[varies].head(_ROWS)

    @property
    def packed(self) -> bytes:
        """The whole table as compressed CSV; equal tables give equal bytes."""
        file = io.BytesIO()
        with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
            packed.write(self.table.to_csv(index=False).encode())
        return file.getvalue()


def of_reproduction(name: str, done: Reproduction) -> Section:
    """A published study that was run."""
    head = done.run.study.study
    command = f"flitwork reproduce {name}{' --quick' if done.quick else ''}"
    return Section(
        name=name,
        title=head.title or name,
        asked=done.front.asked,
        found=done.front.filled_in(done.claims),
        paper=head.paper,
        command=command,
        full=f"flitwork reproduce {name}" if done.quick else "",
        facts={**_facts(done.run), "version of the study": "smaller" if done.quick else "full"},
        claims=done.claims,
        figures=_shown(done.figures),
        table=done.run.table,
    )


def of_measurements(name: str, found: OnMpi) -> Section:
    """What a study measured on real MPI: its fits beside the simulated ones, and claims that are this machine's."""
    return Section(
        name=f"{name}-mpi",
        title=f"The same on real MPI: {found.machine}",
        found=found.found,
        command=f"flitwork reproduce {name} --mpi {shlex.quote(' '.join(found.launcher))}",
        facts={"version": __version__, "machine": found.machine},
        claims=found.claims,
        figures=_shown(found.figures),
        table=found.table,
    )


def of_study(run: StudyRun) -> Section:
    """A study of the reader's own."""
    head = run.study.study
    where = run.study.path or Path(f"{head.name}.toml")
    return Section(
        name=head.name,
        title=head.title or head.name,
        about=head.description,
        paper=head.paper,
        command=f"flitwork run {where.name}",
        facts=_facts(run),
        figures=_shown(run.figures),
        table=run.table,
    )


def of_result(result: Result, name: str, folder: Path) -> Section:
    """The section of one simulation; its pictures are drawn into ``folder``."""
    row = {key: value for key, value in result.row.items() if value is not None}
    facts = {"version": str(row.pop("version")), "plan": str(row.pop("plan_hash"))}
    table = pd.DataFrame({"column": list(row), "value": [str(value) for value in row.values()]})
    figures = _shown(draw_result(result, folder))
    title = f"{row['workload']} on {row['topology']} {row['size']}"
    return Section(name=name, title=title, facts=facts, figures=figures, table=table)


def _facts(run: StudyRun) -> dict[str, str]:
    points = sum(len(job.points) for job in run.jobs)
    here = sum(len(job.points) for job in run.jobs if job.hash in run.results)
    facts = {"version": __version__, "points": f"{points:,}", "simulated here": f"{here:,}"}
    if len(run.rows) > len(run.results):
        facts["taken from published results"] = f"{points - here - len(run.failures):,}"
    if run.failures:
        facts["failed"] = f"{len(run.failures):,}"
    return facts


def _shown(files: list[Path]) -> list[Shown]:
    """Each picture once: as SVG unless PNG is smaller."""
    by_name: dict[str, list[Path]] = {}
    for path in files:
        if path.suffix in (".svg", ".png"):
            by_name.setdefault(path.stem, []).append(path)
    shown = []
    for name, paths in by_name.items():
        smallest = min(paths, key=lambda path: (path.stat().st_size, path.suffix))
        numbers = smallest.with_suffix(".csv")
        shown.append(Shown(name, smallest, numbers.read_text(encoding="utf-8") if numbers.is_file() else ""))
    return shown
