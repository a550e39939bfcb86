"""The commands that start ranks: to which MPI they belong, and how ranks, and they alone, get a variable."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from flitwork.base.errors import ConfigError

_SECONDS = 60.0
_NAME = re.compile(r"(mpirun|mpiexec|orterun|prterun)(.*)")
_COUNTED = re.compile(r"(mpirun|mpiexec|orterun|prterun|srun)(\W.*)?")
_COUNT = re.compile(r"(-n|-np|--n|--np|--ntasks)(=?(?P<number>\d+))?")
#: How launchers call themselves, and the words that give a variable to the ranks.
_FAMILIES = {
    "openmpi": (re.compile(r"open-mpi\.org|Open MPI|OpenRTE|PRRTE"), ("-x", "{name}={value}")),
    "mpich": (re.compile(r"HYDRA|Intel\(R\) MPI|MPICH"), ("-genv", "{name}", "{value}")),
}
#: Our variables, and the one that says that their values are encoded.
_OURS, _ENCODED = "FLITWORK_", "FLITWORK_ENCODED"
#: Bytes that all launchers pass on as they are.
_PASSED_ON = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-")


def _plain(value: str) -> str:
    """A value without any character that a launcher might read otherwise."""
    return "".join(chr(byte) if byte in _PASSED_ON else f"%{byte:02X}" for byte in os.fsencode(value))


@dataclass(frozen=True)
class Launcher:
    """A launcher: its file, its family, and the words behind it."""

    path: str
    family: str
    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, command: Sequence[str], hint: str = "") -> Launcher:
        """The launcher of a command such as ``["mpirun", "-n", "8", "./program"]``.

        Raises :class:`flitwork.ConfigError` where there is none, or none of a known family.
        """
        if not command:
            raise ConfigError("COMMAND", "nothing", "the command that starts the program", hint)
        path = shutil.which(command[0])
        if path is None:
            expected = "a launcher that can be run: is an MPI library installed, and its bin folder in PATH?"
            raise ConfigError("COMMAND", command[0], expected, hint)
        family = family_of(path)
        if family is None:
            raise ConfigError("COMMAND", command[0], "mpirun or mpiexec of Open MPI, MPICH or one of its family", hint)
        return cls(path, family, tuple(command[1:]))

    def with_variables(self, variables: Mapping[str, str]) -> list[str]:
        """The command that gives variables to the ranks alone, not to the launcher itself.

        Launchers read blanks, commas and other characters in ways of their own. Those of our variables travel as
        ``%XX``, which our libraries undo.
        """
        form = _FAMILIES[self.family][1]
        variables_given = {
            name: _plain(value) if name.startswith(_OURS) else value for name, value in variables.items()
        }
        if any(name.startswith(_OURS) for name in variables):
            variables_given[_ENCODED] = "1"
        given = [word.format(name=name, value=value) for name, value in variables_given.items() for word in form]
        return [self.path, *given, *self.words]

    def compiler(self) -> str:
        """The mpicc that stands beside it (beside ``mpirun.openmpi`` that is ``mpicc.openmpi``), or the one at hand."""
        return self.beside("mpicc") or "mpicc"

    def beside(self, name: str) -> str | None:
        """The compiler of this name that stands beside it, if there is one."""
        match = _NAME.fullmatch(Path(self.path).name)
        found = Path(self.path).with_name(f"{name}{match[2]}") if match else None
        return str(found) if found and found.exists() else None


def ranks_of_launcher(command: Sequence[str]) -> int | None:
    """How many ranks a launcher is told to start: ``-n 8``; ``None`` of a program that is no launcher that is known.

    Raises :class:`flitwork.ConfigError` where a known launcher is not told, or not in a number.
    """
    if not _COUNTED.match(Path(command[0]).name if command else ""):
        return None
    variables_given = None
    for word, behind in pairwise([*command[1:], ""]):
        if match := _COUNT.fullmatch(word):
            variables_given = match["number"] if match["number"] is not None else behind
    if variables_given is None or not variables_given.isdecimal():
        given = " ".join(command)
        raise ConfigError("LAUNCHER", given, "a launcher that is told how many ranks it starts", f"{command[0]} -n 8")
    return int(variables_given)


def compiler_of(command: Sequence[str]) -> str:
    """The mpicc of whatever starts ranks: that beside it, or the one at hand (``srun`` has none)."""
    if not command:
        raise ConfigError("LAUNCHER", "nothing", "the command that starts ranks", "flitwork mpi bench -- mpirun -n 8")
    path = shutil.which(command[0])
    if path is None:
        raise ConfigError("LAUNCHER", command[0], "a command that can be run", "for example mpirun -n 8")
    return Launcher(path, "", tuple(command[1:])).compiler()


def family_of(path: str) -> str | None:
    """The family of a launcher, from its own words; ``None`` for anything else."""
    if not _NAME.match(Path(path).name):
        return None
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = said.stdout + said.stderr
    return next((family for family, (pattern, _) in _FAMILIES.items() if pattern.search(words)), None)
