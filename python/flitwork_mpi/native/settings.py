"""What tells our MPI library which algorithms to take: environment variables, checked before anything is started."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

from flitwork import _core
from flitwork.base.errors import ConfigError, did_you_mean

LIBRARY, TABLE, ALL_TO_ALL = "library", "table:", "all_to_all"
#: Bytes of the longest name of a file that the library keeps.
_LONGEST_NAME = 4095
#: Options of algorithms that are numbers.
OPTIONS = ("radix", "leaders")
Sync = Literal["steps", "local", "async"]
Progress = Literal["hook", "thread", "none"]


@dataclass(frozen=True)
class Settings:
    """The settings of ``libflitwork_mpi.so``, as ``mpi/README.md`` has them; what is ``None`` is left to it.

    ``strict``: a mistake in the settings stops the program; ``exact``: so does an algorithm that cannot be used.
    """

    alltoall: str | None = None
    alltoallv: str | None = None
    alltoallw: str | None = None
    rules: Path | None = None
    radix: int | None = None
    leaders: int | None = None
    servers: str | None = None
    map: Path | None = None
    sync: Sync | None = None
    pause_ns: int | None = None
    progress: Progress | None = None
    prepare: int | None = None
    report: bool = False
    strict: bool = False
    exact: bool = False

    def __post_init__(self) -> None:
        for name in ("alltoall", "alltoallv", "alltoallw"):
            algorithm = getattr(self, name)
            if algorithm is not None:
                _check_algorithm(f"--{name}", algorithm)
        for name in ("rules", "map"):
            _check_file(f"--{name}", getattr(self, name))
        _check_servers(self.servers)
        for name in OPTIONS:
            self._check_option(name)

    def _check_option(self, name: str) -> None:
        chosen = [choice for choice in (self.alltoall, self.alltoallv, self.alltoallw) if choice]
        if getattr(self, name) is None or any(name in options_of(choice) for choice in chosen):
            return
        having = ", ".join(algorithm for algorithm in algorithms() if name in options_of(algorithm))
        expected = f"an algorithm that has {name}: {having}"
        raise ConfigError(f"--{name}", getattr(self, name), expected, "rules have their own")

    @property
    def asks_for_something(self) -> bool:
        """Whether any all-to-all may be taken over."""
        return any((self.alltoall, self.alltoallv, self.alltoallw, self.rules))

    def variables(self) -> Mapping[str, str]:
        """The variables for the ranks. Files that rules name are those that are found from here."""
        variables = {
            f"FLITWORK_MPI_{field.name.upper()}": _text(value)
            for field in fields(self)
            if (value := getattr(self, field.name)) is not None and value is not False
        }
        return variables if self.rules is None else {**variables, "FLITWORK_MPI_FOLDER": str(Path.cwd())}


def algorithms() -> list[str]:
    """The all-to-alls that the library has."""
    return [name for name, _ in _core.all_to_alls()]


def options_of(algorithm: str) -> list[str]:
    """The options with a number that an all-to-all has; none of one that is not known."""
    rows = json.loads(_core.components())["collectives"]
    variables = next(
        (row["parameters"] for row in rows if (row["operation"], row["name"]) == (ALL_TO_ALL, algorithm)), ""
    )
    return [name.strip() for name in variables.split(",") if name.strip() in OPTIONS]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, Path):
        return str(value.resolve())
    text = str(value)
    return f"{TABLE}{Path(text.removeprefix(TABLE)).resolve()}" if text.startswith(TABLE) else text


def _check_algorithm(option: str, name: str) -> None:
    if name.startswith(TABLE):
        file = name.removeprefix(TABLE)
        if not file:
            raise ConfigError(option, name, "table:FILE", "a file that `flitwork mpi table` has written")
        _check_file(option, Path(file))
        return
    known = [*algorithms(), LIBRARY]
    if name not in known:
        raise ConfigError(option, name, f"one of {', '.join(known)}, or table:FILE", did_you_mean(name, known))


def _check_file(option: str, path: Path | None) -> None:
    if path is None:
        return
    if not path.is_file():
        raise ConfigError(option, str(path), "a file", "")
    if len(os.fsencode(path.resolve())) > _LONGEST_NAME:
        raise ConfigError(option, str(path), f"a file whose whole name has at most {_LONGEST_NAME} bytes", "")


def _check_servers(text: str | None) -> None:
    parts = (text or "1").removeprefix("by_rank:").split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise ConfigError("--servers", text, "ranks on each server, 4,4, or by_rank: and the server of each rank", "")
