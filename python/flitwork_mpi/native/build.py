"""What is compiled for an MPI library, at first use and with its own mpicc, and kept: our libraries and programs.

The sources come with the package (``_core.mpi_library_files``). What is compiled lies in the user's cache, named by the
compiler, its options and the sources, so that another MPI or another version of flitwork has files of its own.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flitwork import _core
from flitwork.base.errors import ConfigError, SimulationError, StorageError

from flitwork_mpi.native.launcher import compiler_of

_STEPS = "libflitwork_steps.a"


@dataclass(frozen=True)
class Recipe:
    """How something is compiled: which files are needed, which of them are compiled, and the words around them."""

    needs: Callable[[str], bool]
    compiled: Callable[[str], bool]
    before: tuple[str, ...]
    behind: tuple[str, ...] = ()


def _in(folder: str) -> Callable[[str], bool]:
    return lambda name: name.rpartition("/")[0] == folder


#: What there is, by the name of the file.
RECIPES = {
    "libflitwork_mpi.so": Recipe(
        _in(""),
        lambda name: name.endswith(".c"),
        ("-std=c11", "-O2", "-fPIC", "-shared"),
        (_STEPS, f"-Wl,--exclude-libs,{_STEPS}", "-Wl,--gc-sections", "-ldl", "-lpthread"),
    ),
    "libflitwork_record.so": Recipe(
        _in("record"),
        lambda name: name.endswith(".c"),
        ("-std=gnu11", "-O2", "-fPIC", "-shared"),
        ("-ldl", "-lpthread"),
    ),
    "bench": Recipe(_in("bench"), lambda name: name == "bench/operations.c", ("-std=c99", "-O2")),
    "check": Recipe(_in("doctor"), lambda name: name == "doctor/check.c", ("-std=c99", "-O2")),
    "check_fortran": Recipe(_in("doctor"), lambda name: name == "doctor/check.f90", ("-O1",)),
}


def program(launcher: Sequence[str], mpicc: str | None = None) -> Path:
    """The benchmark program for a launcher; ``mpicc`` compiles it, or the one that stands beside the launcher."""
    return built("bench", _compiler(launcher, mpicc))


def library(launcher: Sequence[str], mpicc: str | None = None) -> Path:
    """``libflitwork_mpi.so`` for a launcher, compiled in the same way."""
    return built("libflitwork_mpi.so", _compiler(launcher, mpicc))


def _compiler(launcher: Sequence[str], mpicc: str | None) -> str:
    return mpicc or compiler_of(launcher)


def built(name: str, compiler: str, option: str = "--mpicc") -> Path:
    """The file of a recipe, compiled with ``compiler`` unless it is there already.

    Raises :class:`flitwork.ConfigError` where the compiler cannot be run, :class:`flitwork.SimulationError` with all
    that it says where it fails, and :class:`flitwork.StorageError` where the cache cannot be written.
    """
    recipe = RECIPES[name]
    path = shutil.which(compiler)
    if path is None:
        expected = "a compiler of the MPI library that can be run: are its development files installed?"
        raise ConfigError(option, compiler, expected, f"{option} names another")
    files = {file: data for file, data in _core.mpi_library_files().items() if recipe.needs(file)}
    sources = sorted(file for file in files if recipe.compiled(file))
    words = [*recipe.before, *sources, *recipe.behind]
    shown = subprocess.run([path, "-show"], capture_output=True, text=True, check=False).stdout
    digest = hashlib.sha256("\0".join([str(Path(path).resolve()), shown, *words]).encode())
    for file, data in sorted(files.items()):
        digest.update(file.encode() + b"\0" + data)
    if name.endswith(".so"):
        check_preloadable(cache(), "XDG_CACHE_HOME")
    stem, dot, ending = name.partition(".")
    found = cache() / f"{stem}-{digest.hexdigest()[:16]}{dot}{ending}"
    if not found.exists():
        try:
            found.parent.mkdir(parents=True, exist_ok=True)
            _compile([path, *words], files, found)
        except OSError as error:
            raise StorageError(f"{found.parent} cannot be written ({error.strerror}): set XDG_CACHE_HOME") from None
    return found


def check_preloadable(path: Path, option: str) -> None:
    """Raises :class:`flitwork.ConfigError` for a path that ``LD_PRELOAD`` or a launcher would take for several."""
    if re.search(r"[\s:;,$%'\"\\]", str(path)):
        expected = "a path without blanks and without : ; , $ % quotes, for LD_PRELOAD is split there"
        raise ConfigError(option, str(path), expected, "for example XDG_CACHE_HOME=/tmp/cache")


def cache() -> Path:
    """The folder of what is compiled."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "flitwork" / "mpi"


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
