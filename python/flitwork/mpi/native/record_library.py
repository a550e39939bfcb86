"""``libflitwork_record.so``, compiled with the mpicc that belongs to a launcher and kept; and how ranks get it."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flitwork import _core
from flitwork.errors import ConfigError, SimulationError

_FOLDER = "record/"
_FLAGS = ("-std=gnu11", "-O2", "-fPIC", "-shared")
_LAUNCHER = re.compile(r"(mpirun|mpiexec|orterun|prterun)(.*)")
#: How launchers call themselves, and the words that give a variable to the ranks.
_FAMILIES = {
    "openmpi": (re.compile(r"open-mpi\.org|Open MPI|OpenRTE|PRRTE"), "-x {name}={value}"),
    "mpich": (re.compile(r"HYDRA|Intel\(R\) MPI|MPICH"), "-genv {name} {value}"),
}


@dataclass(frozen=True)
class Launcher:
    """A command that starts ranks: its file, its family, and the rest of the words."""

    path: str
    family: str
    words: tuple[str, ...]

    @classmethod
    def of(cls, command: Sequence[str]) -> Launcher:
        """The launcher in a command; raises :class:`flitwork.ConfigError` where there is none that is known."""
        hint = "flitwork mpi record -o program.goal -- mpirun -n 8 ./program"
        if not command:
            raise ConfigError("COMMAND", "nothing", "the command that starts the program", hint)
        path = shutil.which(command[0])
        if path is None:
            expected = "a launcher that can be run: is an MPI library installed, and its bin folder in PATH?"
            raise ConfigError("COMMAND", command[0], expected, hint)
        if _LAUNCHER.match(Path(path).name):
            said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=60)
            for family, (pattern, _) in _FAMILIES.items():
                if pattern.search(said.stdout + said.stderr):
                    return cls(path, family, tuple(command[1:]))
        raise ConfigError("COMMAND", command[0], "mpirun or mpiexec of Open MPI, MPICH or one of its family", hint)

    def with_variables(self, variables: Mapping[str, str]) -> list[str]:
        """The command that gives variables to the ranks alone, not to the launcher itself."""
        form = _FAMILIES[self.family][1].split()
        given = [word.format(name=name, value=value) for name, value in variables.items() for word in form]
        return [self.path, *given, *self.words]

    def compiler(self) -> str:
        """The mpicc that stands beside it."""
        match = _LAUNCHER.fullmatch(Path(self.path).name)
        beside = Path(self.path).with_name(f"mpicc{match[2] if match else ''}")
        return str(beside) if beside.exists() else "mpicc"


def record_library(launcher: Launcher, mpicc: str | None = None) -> Path:
    """The library for a launcher; ``mpicc`` compiles it, or the one that stands beside the launcher."""
    compiler = mpicc or launcher.compiler()
    path = shutil.which(compiler)
    if path is None:
        raise ConfigError("--mpicc", compiler, "the C compiler of the MPI library", "--mpicc names it")
    files = {
        name.removeprefix(_FOLDER): data
        for name, data in _core.mpi_library_files().items()
        if name.startswith(_FOLDER) and name.endswith((".c", ".h"))
    }
    command = [path, *_FLAGS, *sorted(name for name in files if name.endswith(".c")), "-ldl", "-lpthread"]
    shown = subprocess.run([path, "-show"], capture_output=True, text=True, check=False).stdout
    digest = hashlib.sha256("\0".join([str(Path(path).resolve()), shown, *command]).encode())
    for name in sorted(files):
        digest.update(name.encode() + b"\0" + files[name])
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "flitwork" / "record"
    found = folder / f"libflitwork_record-{digest.hexdigest()[:16]}.so"
    if not found.exists():
        _compile(command, files, found)
    return found


def _compile(command: Sequence[str], files: Mapping[str, bytes], output: Path) -> None:
    output.parent.mkdir(parents=True, exist_ok=True)
    # Two commands may do so at once: what is compiled appears at once.
    made = output.with_name(f".{output.name}.{uuid.uuid4().hex}")
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            (Path(folder) / name).write_bytes(data)
        done = subprocess.run([*command, "-o", str(made)], capture_output=True, text=True, cwd=folder, check=False)
    if done.returncode:
        made.unlink(missing_ok=True)
        raise SimulationError(f"{' '.join(command)}: exit code {done.returncode}:\n{done.stderr.strip()}")
    made.replace(output)
