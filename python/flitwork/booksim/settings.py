"""What a configuration says: BookSim's defaults, then the files, then the command line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.booksim.config_file import Assignment, Value, parse_override, read_config, written
from flitwork.booksim.idle import IDLE
from flitwork.booksim.keys import KEYS, OTHER_TOPOLOGIES, TOPOLOGIES, Fate, Key, Reads, Type
from flitwork.booksim.parameters import first_class

_NUMBERS: dict[Type, tuple[type, ...]] = {
    Type.INT: (int,),
    Type.INTS: (int,),
    Type.FLOAT: (int, float),
    Type.FLOATS: (int, float),
}
_WITHOUT_LIST = {Type.INTS: Type.INT.value}
#: Keys whose entries may be lists themselves.
_MIXTURES = ("packet_size", "packet_size_rate")
#: Keys whose list has an entry for each private buffer, not for each class of traffic.
_OF_BUFFERS = ("private_buf_size", "private_buf_start_vc", "private_buf_end_vc")
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
        """What BookSim takes the value of a key for: a switch is ``True`` or ``False``, see :class:`Reads`."""
        key, value = KEYS[name], self.value(name)
        return value if key.reads is Reads.VALUE or not isinstance(value, int) else key.reads.of(value)

    def value(self, name: str) -> Any:
        """The value of a key as it is written; of a list its first entry, which is for the first class of traffic."""
        value = self.all_of(name)
        return first_class(value) if isinstance(value, list) and value else value

    def all_of(self, name: str) -> Any:
        """The value of a key as it is written, of a list all entries."""
        return self.given[name].value if name in self.given else KEYS[name].default

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
        """What to say about keys that are set and have no effect, or whose value acts as another one."""
        return [*self._silent_notes(), *self._switch_notes(), *map(self._first_class_note, self._of_more_classes())]

    def _silent_notes(self) -> Iterator[str]:
        """A note for each reason; it lists the keys."""
        places: dict[str, list[str]] = {}
        for name in self.given:
            key, idle = KEYS[name], IDLE.get(name)
            reason = key.note if key.fate is Fate.NOTED else idle.where if idle and idle.test(self) else ""
            if reason and not self._is_default(key):
                places.setdefault(reason, []).append(self.place(name))
        return (f"{', '.join(names)}: no effect: {reason}" for reason, names in places.items())

    def _switch_notes(self) -> Iterator[str]:
        """Switches that are neither 0 nor 1."""
        for name in self.given:
            key, value = KEYS[name], self.value(name)
            if key.fate is Fate.MAPPED and key.reads is not Reads.VALUE and value not in (0, 1):
                is_on = "on" if self[name] else "off"
                yield f"{self.place(name)}: {value} is {is_on}, as in BookSim: {key.reads.value}"

    def _of_more_classes(self) -> Iterator[str]:
        for name, one in self.given.items():
            used = KEYS[name].fate in (Fate.MAPPED, Fate.ONLY)
            if used and _has_classes(KEYS[name]) and isinstance(one.value, list) and len(one.value) > 1:
                yield name

    def _first_class_note(self, name: str) -> str:
        shown, first = written(self.given[name].value), self[name]
        mixture = f"; a mixture is {{{shown}}}" if name in _MIXTURES and not isinstance(first, list) else ""
        return f"{self.place(name)}: {shown} is {written(first)}, as in BookSim: one class of traffic{mixture}"

    def _check_type(self, key: Key) -> None:
        value = self.given[key.name].value
        if isinstance(value, list):
            if key.type is Type.TEXT and key.fate is Fate.NOTED:
                return
            if not _has_classes(key) and key.name not in _OF_BUFFERS:
                raise self.error(key.name, f"{_WITHOUT_LIST.get(key.type, key.type.value)}, not a list")
            if not value:
                raise self.error(key.name, "at least one entry")
        one = self[key.name]
        if key.name in _MIXTURES and isinstance(one, list):
            return
        if key.type is Type.TEXT:
            if isinstance(one, (int, float, list)):
                raise self.error(key.name, key.type.value)
        elif key.name == "fail_seed" and one == "time":
            return
        elif not isinstance(one, _NUMBERS[key.type]):
            hint = "runs repeat themselves here: name a number" if one == "time" else ""
            raise self.error(key.name, key.type.value, hint)

    def _check_supported(self, key: Key) -> None:
        if key.fate is Fate.TECHNOLOGY:
            raise self.error(key.name, "no key of a technology file here, as in BookSim", "tech_file names that file")
        if key.fate is not Fate.ONLY or self._is_default(key):
            return
        idle = IDLE.get(key.name)
        if idle and idle.test(self):
            return
        default = written(key.default) or '""'
        also = f" ({key.reads.value})" if key.reads is not Reads.VALUE else ""
        more = f"; another value is accepted {idle.where}" if idle else ""
        raise self.error(key.name, f"{default}{also}: flitwork has nothing else", f"{key.note}{more}")

    def _is_default(self, key: Key) -> bool:
        """Whether BookSim takes the value of a key for what its default is taken for."""
        if key.name in _OF_BUFFERS and isinstance(self.all_of(key.name), list):
            return False
        value = self[key.name]
        default = key.default if isinstance(key.default, str) else key.reads.of(key.default)
        return bool(value in (default, _SAME.get(key.name, default)))


def _has_classes(key: Key) -> bool:
    """Whether BookSim reads a list, with an entry for each class of traffic. Of the seeds it does not."""
    return key.name in ("traffic", "injection_process") or (
        key.type in (Type.INTS, Type.FLOATS) and not key.name.endswith("seed") and key.name not in _OF_BUFFERS
    )


def read_settings(files: Sequence[Path], overrides: Sequence[str] = ()) -> Settings:
    """The settings of the files, the later ones over the earlier, and of ``key=value`` over all of them."""
    assignments = [one for file in files for one in read_config(file)]
    return Settings([*assignments, *(one for text in overrides for one in parse_override(text))])


def numbers(value: Value, kind: type) -> list[Any] | None:
    """A list of numbers as it is, a number as a list of one; ``None`` for anything else."""
    items = value if isinstance(value, list) else [value]
    return list(items) if items and all(isinstance(item, kind) for item in items) else None
