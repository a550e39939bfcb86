"""What can go wrong, as exceptions that carry data: where, what was found, what was expected, what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class FlitworkError(Exception):
    """The base of every error that flitwork raises on purpose."""


class ConfigError(FlitworkError, ValueError):
    """Something the user wrote cannot be used as written.

    ``path`` says where (``network.router.vcs``), ``value`` what was found, ``expected`` what would have been accepted
    and ``hint`` what to do about it (it may be empty).
    """

    def __init__(self, path: str, value: object, expected: str, hint: str = "") -> None:
        self.path = path
        self.value = str(value)
        self.expected = expected
        self.hint = hint
        super().__init__(f"{path} = {self.value}: expected {expected}" + (f"; {hint}" if hint else ""))

    def within(self, prefix: str) -> ConfigError:
        """The same error, seen from a place that contains it."""
        return ConfigError(f"{prefix}{self.path}", self.value, self.expected, self.hint)

    def __reduce__(self) -> tuple[type[ConfigError], tuple[str, str, str, str]]:
        return (type(self), (self.path, self.value, self.expected, self.hint))


class SimulationError(FlitworkError):
    """A simulation that started could not be finished."""


class DeadlockError(SimulationError):
    """The network cannot make progress any more; the message names the virtual channels that wait for each other."""


class ScheduleError(FlitworkError):
    """A schedule is not what it claims to be."""


class ResultFileError(FlitworkError):
    """A stored result cannot be read; the message names the file and says what to do."""


class StorageError(FlitworkError):
    """What was computed cannot be stored, or printed, because there is no room for it; the message says what to do."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``did you mean `vcs`?``, or an empty string where nothing is near."""
    names = list(known)
    near = difflib.get_close_matches(word.lower(), names, n=1, cutoff=0.6)
    near = near or [name for name in names if word.lower() in name.split("_")]
    return f"did you mean `{near[0]}`?" if near else ""


def unknown_key(path: str, key: str, known: Iterable[str], what: str = "keys") -> ConfigError:
    """The error for a key that does not exist; it lists those that do."""
    names = sorted(known)
    where = f"{path}.{key}" if path else key
    return ConfigError(where, "unknown key", f"one of the {what} {', '.join(names)}", did_you_mean(key, names))
