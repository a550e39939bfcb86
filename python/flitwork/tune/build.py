"""The benchmark program and our MPI library, compiled with the mpicc that belongs to a launcher, and kept."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from flitwork import _core
from flitwork.errors import ConfigError, SimulationError

#: The program among the sources of the MPI library.
PROGRAM = "bench/alltoall.c"
_STEPS = "libflitwork_steps.a"
_LAUNCHER = re.compile(r"(mpirun|mpiexec|orterun|prterun)(.*)")
_PROGRAM_FLAGS = ("-std=c99", "-O2")
_LIBRARY_FLAGS = ("-std=c11", "-O2", "-fPIC", "-shared")
_LINKED = (_STEPS, f"-Wl,--exclude-libs,{_STEPS}", "-Wl,--gc-sections", "-ldl", "-lpthread")


def program(launcher: Sequence[str], mpicc: str | None = None) -> Path:
    """The program for a launcher; ``mpicc`` compiles it, or the one that stands beside the launcher."""
    source = {PROGRAM: _core.mpi_library_files()[PROGRAM]}
    return _compiled(launcher, mpicc, "alltoall", source, [*_PROGRAM_FLAGS, PROGRAM])


def library(launcher: Sequence[str], mpicc: str | None = None) -> Path:
    """``libflitwork_mpi.so`` for a launcher, compiled in the same way."""
    files = {name: data for name, data in _core.mpi_library_files().items() if "/" not in name}
    sources = sorted(name for name in files if name.endswith(".c"))
    return _compiled(launcher, mpicc, "libflitwork_mpi", files, [*_LIBRARY_FLAGS, *sources, *_LINKED])


def _compiled(
    launcher: Sequence[str], mpicc: str | None, name: str, files: Mapping[str, bytes], words: Sequence[str]
) -> Path:
    compiler = mpicc or compiler_of(launcher)
    path = shutil.which(compiler)
    if path is None:
        raise ConfigError("--mpicc", compiler, "a compiler of the MPI library that can be run", "--mpicc names another")
    asked = subprocess.run([path, "-show"], capture_output=True, text=True, check=False).stdout
    digest = hashlib.sha256("\0".join([str(Path(path).resolve()), asked, *words]).encode())
    for file, data in sorted(files.items()):
        digest.update(file.encode() + b"\0" + data)
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "flitwork" / "bench"
    found = folder / f"{name}-{digest.hexdigest()[:16]}{'.so' if '-shared' in words else ''}"
    if not found.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _compile([path, *words], files, found)
    return found


def _compile(command: Sequence[str], files: Mapping[str, bytes], output: Path) -> None:
    # Two commands may do so at once: each has a folder of its own, and what is compiled appears at once.
    made = output.with_name(f".{output.name}.{uuid.uuid4().hex}")
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            file = Path(folder) / name
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(data)
        done = subprocess.run([*command, "-o", str(made)], capture_output=True, text=True, cwd=folder, check=False)
    if done.returncode:
        made.unlink(missing_ok=True)
        raise SimulationError(f"{' '.join(command)}: exit code {done.returncode}:\n{done.stderr.strip()}")
    made.replace(output)


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
