"""The MPI library of the project, built for each MPI at hand, and programs run under it."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "mpi"
PROGRAMS = ROOT / "tests" / "mpi"
AS_ROOT = {
    name: "1"
    for prefix in ("OMPI", "PRTE")
    for name in (f"{prefix}_ALLOW_RUN_AS_ROOT", f"{prefix}_ALLOW_RUN_AS_ROOT_CONFIRM")
}
FAMILIES = ("openmpi", "mpich")


@dataclass(frozen=True)
class Family:
    """An MPI: its compilers, its launcher, and the library built with it."""

    name: str
    mpicc: str
    mpifort: str | None
    mpirun: str
    work: Path
    library: Path

    def compile(self, source: str, *options: str) -> Path:
        """The program of `tests/mpi`, compiled once."""
        program = self.work / (Path(source).stem + "".join(options).replace("-", "_").replace("=", "_"))
        fortran = source.endswith(".f90")
        if fortran and self.mpifort is None:
            pytest.skip(f"no Fortran compiler for {self.name}")
        if not program.exists():
            warnings = ["-w", "-fallow-argument-mismatch"] if fortran else ["-Wall", "-Wextra", "-Werror", "-pthread"]
            compiler = self.mpifort if fortran and self.mpifort else self.mpicc
            command = [compiler, "-O1", *warnings, *options, "-o", str(program), source]
            done = subprocess.run(command, cwd=PROGRAMS, capture_output=True, text=True)
            if fortran and done.returncode and "mpi" in done.stderr.lower() and "module" in done.stderr.lower():
                pytest.skip(f"{self.name} has no Fortran module here: {source}")
            assert done.returncode == 0, done.stderr
        return program

    def run(self, ranks: int, *program: str | Path, **settings: str) -> subprocess.CompletedProcess[str]:
        """Runs a program under the library; one that hangs fails the test."""
        told = {f"FLITWORK_MPI_{name.upper()}": value for name, value in settings.items()}
        told["LD_PRELOAD"] = str(self.library)
        if self.name == "openmpi":
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
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@functools.cache
def family(name: str) -> Family:
    """The MPI of this family, or a skip that names what is missing."""
    beside = Path(sys.executable).parent
    kind = {"openmpi": "Open MPI", "mpich": "MPICH"}[name]
    found = None
    for mpicc in (shutil.which(f"mpicc.{name}"), shutil.which("mpicc", path=str(beside)), shutil.which("mpicc")):
        if mpicc is None:
            continue
        asked = subprocess.run(
            [mpicc, "-include", "mpi.h", "-dM", "-E", "-x", "c", os.devnull], capture_output=True, text=True
        )
        if ("define OPEN_MPI " in asked.stdout, "define MPICH_VERSION " in asked.stdout)[FAMILIES.index(name)]:
            found = mpicc
            break
    if found is None:
        pytest.skip(f"no mpicc of {kind} here")
    for needed in ("make", "rustc"):
        if shutil.which(needed) is None:
            pytest.skip(f"no {needed} here to build the MPI library with")
    here = Path(found)
    suffix = f".{name}" if here.name.endswith(f".{name}") else ""
    mpifort = next((str(path) for path in (here.with_name(f"mpif90{suffix}"),) if path.exists()), None)
    work = Path(tempfile.mkdtemp(prefix=f"flitwork-mpi-{name}-"))
    build(found, work)
    return Family(name, found, mpifort, str(here.with_name(f"mpirun{suffix}")), work, work / "libflitwork_mpi.so")
