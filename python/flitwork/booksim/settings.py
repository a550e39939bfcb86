"""What a configuration says: BookSim's defaults, then the files, then the command line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from flitwork.booksim.config_file import Assignment, Value, parse_override, read_config, written
from flitwork.booksim.keys import KEYS, OTHER_TOPOLOGIES, TOPOLOGIES, Fate, Key, Type
from flitwork.booksim.parameters import first_class
from flitwork.errors import ConfigError, did_you_mean

_NUMBERS: dict[Type, tuple[type, ...]] = {
    Type.INT: (int,),
    Type.INTS: (int,),
    Type.FLOAT: (int, float),
    Type.FLOATS: (int, float),
}
_WITHOUT_LIST = {Type.INTS: Type.INT.value}
#: Keys whose entries may be lists themselves.
_MIXTURES = ("packet_size", "packet_size_rate")
#: Keys that matter only beside another one.
_UNLESS: dict[str, tuple[str, int | str]] = {
    **{name: ("speculative", 0) for name in KEYS if name.startswith("spec_")},
    **{name: ("buffer_policy", "private") for name in KEYS if name.startswith("private_buf")},
}
#: Values besides the default that mean the same.
_SAME = {"priority": "class"}


class Settings:
    """The value of every key, and where it was set."""

    def __init__(self, assignments: Iterable[Assignment]) -> None:
        self.given: dict[str, Assignment] = {one.key: one for one in assignments}
        # Another topology brings keys of its own, so that it is what the first error must be about.
        self.known("topology", TOPOLOGIES, OTHER_TOPOLOGIES)
        for one in self.given.values():
            if one.key not in KEYS:
                near = did_you_mean(one.key, KEYS)
                raise ConfigError(f"{one.place}: {one.key}", written(one.value), "a key of BookSim 2", near)
        for name in self.given:
            self._check_type(KEYS[name])
        for name in self.given:
            self._check_supported(KEYS[name])

    def __getitem__(self, name: str) -> Any:
        """The value of a key; of a list its first entry, which is for the first class of traffic."""
        if name not in self.given:
            return KEYS[name].default
        value = self.given[name].value
        return first_class(value) if isinstance(value, list) and value else value

    def place(self, name: str) -> str:
        """Where a key was set, and its name: ``mesh.cfg:3: num_vcs``."""
        return f"{self.given[name].place}: {name}" if name in self.given else f"{name} (BookSim's default)"

    def error(self, name: str, expected: str, hint: str = "") -> ConfigError:
        """The error that the value of a key is not what was expected."""
        value = self.given[name].value if name in self.given else KEYS[name].default
        return ConfigError(self.place(name), written(value) or '""', expected, hint)

    def known(self, name: str, known: Collection[str], others: Collection[str]) -> str:
        """The value of a key if flitwork has it; if not, the error tells what BookSim has from what nobody has."""
        value = written(self[name])
        if value in known:
            return value
        theirs = f"flitwork does not have BookSim's {value} yet" if value in others else did_you_mean(value, known)
        raise self.error(name, f"one of {', '.join(known)}", theirs)

    def notes(self) -> list[str]:
        """What to say about keys that are set and have no effect, or of which not all has an effect."""
        noted = [key for name in self.given if (key := KEYS[name]).fate is Fate.NOTED]
        silent = [f"{self.place(k.name)}: no effect: {k.note}" for k in noted if self[k.name] != k.default]
        return silent + [self._first_class_note(name) for name in self.given if self._is_for_more_classes(name)]

    def _is_for_more_classes(self, name: str) -> bool:
        key, value = KEYS[name], self.given[name].value
        used = key.fate in (Fate.MAPPED, Fate.ONLY)
        return used and _has_classes(key) and isinstance(value, list) and len(value) > 1

    def _first_class_note(self, name: str) -> str:
        shown, first = written(self.given[name].value), self[name]
        mixture = f"; a mixture is {{{shown}}}" if name in _MIXTURES and not isinstance(first, list) else ""
        return f"{self.place(name)}: {shown} is {written(first)}, as in BookSim: one class of traffic{mixture}"

    def _check_type(self, key: Key) -> None:
        value = self.given[key.name].value
        if isinstance(value, list):
            if key.type is Type.TEXT and key.fate in (Fate.NO_EFFECT, Fate.NOTED):
                return
            if not _has_classes(key):
                raise self.error(key.name, f"{_WITHOUT_LIST.get(key.type, key.type.value)}, not a list")
            if not value:
                raise self.error(key.name, "at least one entry")
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
        other, value = _UNLESS.get(key.name, ("", 0))
        if other and self[other] == value:
            return
        default = written(key.default) or '""'
        raise self.error(key.name, f"{default}: flitwork has nothing else", key.note)


def _has_classes(key: Key) -> bool:
    """Whether BookSim reads a list, with an entry for each class of traffic. Of the seeds it does not."""
    return key.name in ("traffic", "injection_process") or (
        key.type in (Type.INTS, Type.FLOATS) and not key.name.endswith("seed")
    )


def read_settings(files: Sequence[Path], overrides: Sequence[str] = ()) -> Settings:
    """The settings of the files, the later ones over the earlier, and of ``key=value`` over all of them."""
    assignments = [one for file in files for one in read_config(file)]
    return Settings([*assignments, *(one for text in overrides for one in parse_override(text))])


def numbers(value: Value, kind: type) -> list[Any] | None:
    """A list of numbers as it is, a number as a list of one; ``None`` for anything else."""
    items = value if isinstance(value, list) else [value]
    return list(items) if items and all(isinstance(item, kind) for item in items) else None
