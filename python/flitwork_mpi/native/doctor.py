"""Which MPI libraries there are, and whether our library works with each: it is compiled, and an all-to-all is run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from flitwork.base.errors import FlitworkError

from flitwork_mpi.native.build import built
from flitwork_mpi.native.launcher import Launcher, family_of
from flitwork_mpi.native.settings import Settings
from flitwork_mpi.native.started_job import Launched

_LAUNCHERS = ("mpirun", "mpiexec", "mpirun.openmpi", "mpirun.mpich", "prterun")
_SECONDS = 120.0
_RANKS = 4
_LINES = 8
#: So that a check runs on any machine, as root too: more ranks than cores, no questions.
_ANYWHERE = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
#: How the report of the library shows a call that it carried out.
_TAKEN = re.compile(r"^flitwork: alltoall\s+two_level_ring\s+(\d+)\s", re.M)


@dataclass(frozen=True)
class Finding:
    """One thing that was tried: ``works`` is ``None`` where it could not be, ``words`` say what came of it."""

    what: str
    works: bool | None
    words: str


@dataclass(frozen=True)
class Diagnosis:
    """An MPI library and what works with it."""

    launcher: str
    family: str
    version: str
    findings: list[Finding] = field(default_factory=list)

    @property
    def works(self) -> bool:
        """Whether programs in C can be run under our library."""
        return any(one.what == "C" and one.works for one in self.findings)


def launchers() -> list[Launcher]:
    """The launchers of known families on the PATH and beside the running Python, one of each library."""
    places = [*os.environ.get("PATH", "").split(os.pathsep), str(Path(sys.executable).parent)]
    found: dict[tuple[str, str], Launcher] = {}
    for place in dict.fromkeys(place for place in places if place):
        for name in _LAUNCHERS:
            path = shutil.which(name, path=place)
            # A library has several launchers, in one folder.
            if path and (family := family_of(path)):
                found.setdefault((str(Path(path).parent.resolve()), family), Launcher(path, family))
    return list(found.values())


def diagnose(launcher: Launcher, progress: Callable[[str], object] = lambda what: None) -> Diagnosis:
    """Compiles our library for an MPI library and runs all-to-alls of four ranks, in C and in Fortran."""
    found = Diagnosis(launcher.path, launcher.family, _version(launcher))
    for one in _findings(launcher, progress):
        found.findings.append(one)
    return found


def _findings(launcher: Launcher, progress: Callable[[str], object]) -> Iterator[Finding]:
    progress("compiling the library")
    try:
        library = built("libflitwork_mpi.so", launcher.compiler())
    except FlitworkError as error:
        yield Finding("library", False, str(error))
        return
    yield Finding("library", True, str(library))
    for what, recipe, compiler in (("C", "check", "mpicc"), ("Fortran", "check_fortran", "mpifort")):
        progress(f"running an all-to-all in {what}")
        path = launcher.beside(compiler)
        if path is None:
            yield Finding(what, None, f"there is no {compiler} beside {launcher.path}")
            continue
        try:
            program = built(recipe, path)
        except FlitworkError as error:
            yield Finding(what, False, str(error))
            continue
        yield _ran(what, launcher, program, library)


def _ran(what: str, launcher: Launcher, program: Path, library: Path) -> Finding:
    settings = Settings(alltoall="two_level_ring", servers="2,2", report=True, strict=True)
    words = ("-n", str(_RANKS), str(program))
    started = Launcher(launcher.path, launcher.family, words)
    command = started.with_variables({"LD_PRELOAD": str(library), **settings.variables()})
    try:
        code, said = _said(command)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(what, False, f"an all-to-all of {_RANKS} ranks did not end: {error}")
    if code or "right:" not in said:
        return Finding(what, False, f"an all-to-all of {_RANKS} ranks failed (exit code {code}):\n{_first(said)}")
    taken = _TAKEN.search(said)
    if not taken or int(taken[1]) == 0:
        return Finding(what, False, f"the all-to-all was right, but our library did not carry it out:\n{_first(said)}")
    return Finding(what, True, f"an all-to-all of {_RANKS} ranks by two_level_ring is right")


def _said(command: Sequence[str]) -> tuple[int, str]:
    """The exit code of a job and what its ranks say; a file, not a pipe, which a rank could keep open."""
    with (
        tempfile.TemporaryFile("w+", errors="replace") as output,
        Launched(command, environment=_ANYWHERE, stdout=output, stderr=subprocess.STDOUT) as launched,
    ):
        code = launched.wait(_SECONDS)
        output.seek(0)
        return code, output.read()


def _first(said: str) -> str:
    """The first lines of what a program said; libraries repeat themselves for each rank."""
    lines = [line for line in said.strip().splitlines() if line.strip("-* ")]
    return "\n".join([*lines[:_LINES], *(["..."] if len(lines) > _LINES else [])])


def _version(launcher: Launcher) -> str:
    said = subprocess.run([launcher.path, "--version"], capture_output=True, text=True, check=False)
    number = re.search(r"\d+\.\d+[\w.]*", said.stdout + said.stderr)
    return number[0] if number else "of unknown version"


def mpi4py_words() -> Finding:
    """Whether mpi4py can be imported here, and with which MPI library it works."""
    program = (
        "import mpi4py; from mpi4py import MPI; print(mpi4py.__version__, MPI.Get_library_version().split(',')[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=_SECONDS,
        env={**os.environ, **_ANYWHERE},
    )  # fmt: skip
    if done.returncode == 0:
        return Finding("mpi4py", True, " ".join(done.stdout.split()))
    if "No module named" in done.stderr:
        return Finding("mpi4py", None, "it is not installed for this Python")
    last = done.stderr.strip().splitlines()[-1:] or ["it ended without a word"]
    return Finding("mpi4py", False, last[0])
