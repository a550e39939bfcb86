"""The benchmark program, compiled with the mpicc that belongs to a launcher, kept for the next time."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import uuid
from collections.abc import Sequence
from pathlib import Path

from flitwork import _core
from flitwork.errors import ConfigError, SimulationError

#: Its source among those of the MPI library.
SOURCE = "bench/alltoall.c"
_LAUNCHER = re.compile(r"(mpirun|mpiexec|orterun|prterun)(.*)")
_FLAGS = ("-std=c99", "-O2")


def program(launcher: Sequence[str], mpicc: str | None = None) -> Path:
    """The program for a launcher; ``mpicc`` compiles it, or the one that stands beside the launcher."""
    compiler = mpicc or compiler_of(launcher)
    path = shutil.which(compiler)
    if path is None:
        raise ConfigError("--mpicc", compiler, "a compiler of the MPI library that can be run", "--mpicc names another")
    source = _core.mpi_library_files()[SOURCE]
    asked = subprocess.run([path, "-show"], capture_output=True, text=True, check=False).stdout
    key = hashlib.sha256(source + str(Path(path).resolve()).encode() + asked.encode()).hexdigest()[:16]
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "flitwork" / "bench"
    found = folder / f"alltoall-{key}"
    if not found.exists():
        _compile(path, source, found)
    return found


def _compile(compiler: str, source: bytes, output: Path) -> None:
    output.parent.mkdir(parents=True, exist_ok=True)
    # Two commands may do so at once: each has files of its own, and the whole program appears at once.
    name = output.with_name(f".{output.name}.{uuid.uuid4().hex}")
    file = name.with_suffix(".c")
    try:
        file.write_bytes(source)
        command = [compiler, *_FLAGS, "-o", str(name), str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SimulationError(f"{' '.join(command)}: exit code {done.returncode}:\n{done.stderr.strip()}")
        name.replace(output)
    finally:
        file.unlink(missing_ok=True)
        name.unlink(missing_ok=True)


def compiler_of(launcher: Sequence[str]) -> str:
    """The mpicc that belongs to a launcher: beside ``mpirun.openmpi`` stands ``mpicc.openmpi``."""
    if not launcher:
        raise ConfigError("LAUNCHER", "nothing", "the command that starts ranks", "flitwork mpi bench -- mpirun -n 8")
    first = shutil.which(launcher[0])
    if first is None:
        raise ConfigError("LAUNCHER", launcher[0], "a command that can be run", "for example mpirun -n 8")
    match = _LAUNCHER.fullmatch(Path(first).name)
    beside = Path(first).with_name(f"mpicc{match[2]}") if match else None
    return str(beside) if beside and beside.exists() else "mpicc"
