"""What a configuration says: BookSim's defaults, then the files, then the command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from flitwork.booksim.config_file import Assignment, Value, parse_override, read_config, written
from flitwork.booksim.keys import KEYS, Fate, Key, Type
from flitwork.errors import ConfigError, did_you_mean

_NUMBERS: dict[Type, tuple[type, ...]] = {
    Type.INT: (int,),
    Type.INTS: (int,),
    Type.FLOAT: (int, float),
    Type.FLOATS: (int, float),
}
_LISTS = (Type.INTS, Type.FLOATS)
#: Keys whose one entry may be a list itself.
_MIXTURES = ("packet_size", "packet_size_rate")
#: Keys that matter only beside another one.
_UNLESS = {name: ("speculative", 0) for name in KEYS if name.startswith("spec_")}
#: Values besides the default that mean the same.
_SAME = {"priority": "class"}


class Settings:
    """The value of every key, and where it was set."""

    def __init__(self, assignments: Iterable[Assignment]) -> None:
        self.given: dict[str, Assignment] = {}
        for one in assignments:
            if one.key not in KEYS:
                near = did_you_mean(one.key, KEYS)
                raise ConfigError(f"{one.place}: {one.key}", written(one.value), "a key of BookSim 2", near)
            self.given[one.key] = one
        for name in self.given:
            self._check_type(KEYS[name])
        for name in self.given:
            self._check_supported(KEYS[name])

    def __getitem__(self, name: str) -> Any:
        """The value of a key; a list of one entry (for one class of traffic) is that entry."""
        if name not in self.given:
            return KEYS[name].default
        value = self.given[name].value
        return value[0] if isinstance(value, list) and len(value) == 1 else value

    def place(self, name: str) -> str:
        """Where a key was set, and its name: ``mesh.cfg:3: num_vcs``."""
        return f"{self.given[name].place}: {name}" if name in self.given else f"{name} (BookSim's default)"

    def error(self, name: str, expected: str, hint: str = "") -> ConfigError:
        """The error that the value of a key is not what was expected."""
        value = self.given[name].value if name in self.given else KEYS[name].default
        return ConfigError(self.place(name), written(value) or '""', expected, hint)

    def notes(self) -> list[str]:
        """What to say about keys that are set and have no effect."""
        noted = [key for name in self.given if (key := KEYS[name]).fate is Fate.NOTED]
        return [f"{self.place(k.name)}: no effect: {k.note}" for k in noted if self[k.name] != k.default]

    def _check_type(self, key: Key) -> None:
        value = self.given[key.name].value
        if isinstance(value, list):
            if key.type not in _LISTS and key.type is not Type.TEXT:
                raise self.error(key.name, f"{key.type.value}, not a list")
            if len(value) != 1:
                hint = "a mixture is a list in a list: {{1,5}}" if key.name in _MIXTURES else ""
                raise self.error(key.name, "one entry: there is one class of traffic", hint)
        one = self[key.name]
        if key.name in _MIXTURES and isinstance(one, list):
            return
        if key.type is Type.TEXT:
            if isinstance(one, (int, float, list)):
                raise self.error(key.name, key.type.value)
        elif not isinstance(one, _NUMBERS[key.type]):
            hint = "runs repeat themselves here: name a number" if one == "time" else ""
            raise self.error(key.name, key.type.value, hint)

    def _check_supported(self, key: Key) -> None:
        if key.fate is not Fate.ONLY or self[key.name] in (key.default, _SAME.get(key.name, key.default)):
            return
        other, value = _UNLESS.get(key.name, ("", None))
        if other and self[other] == value:
            return
        default = written(key.default) or '""'
        raise self.error(key.name, f"{default}: flitwork has nothing else", key.note)


def read_settings(files: Sequence[Path], overrides: Sequence[str] = ()) -> Settings:
    """The settings of the files, the later ones over the earlier, and of ``key=value`` over all of them."""
    assignments = [one for file in files for one in read_config(file)]
    return Settings([*assignments, *(one for text in overrides for one in parse_override(text))])


def numbers(value: Value, kind: type) -> list[Any] | None:
    """A list of numbers as it is, a number as a list of one; ``None`` for anything else."""
    items = value if isinstance(value, list) else [value]
    return list(items) if items and all(isinstance(item, kind) for item in items) else None
