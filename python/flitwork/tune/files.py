"""Files of rules in every format: written, recognised, read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from flitwork.errors import ConfigError
from flitwork.tune import flitwork_file, openmpi_file
from flitwork.tune.rule import Rule, TuningFile
from flitwork.tune.text import read_text

_WRITERS: Mapping[str, Callable[[Sequence[Rule], str], str]] = {
    "flitwork": flitwork_file.write,
    "openmpi": openmpi_file.write,
}
_READERS: Mapping[str, Callable[[str, str], TuningFile]] = {
    "flitwork": flitwork_file.read,
    "openmpi": openmpi_file.read,
}


def written(rules: Sequence[Rule], target: str, comment: str = "") -> str:
    """The text of a file of rules for ``target`` (:data:`flitwork.tune.TARGETS`), with ``comment`` at its top."""
    if target not in _WRITERS:
        raise ConfigError("target", repr(target), f"one of {', '.join(_WRITERS)}")
    return _WRITERS[target](rules, comment)


def read_rules(file: str | Path, format: str | None = None) -> TuningFile:
    """Reads a file of rules; its format is recognised, or named (:data:`flitwork.tune.TARGETS`).

    What is wrong in it is a :class:`flitwork.ConfigError` whose path is ``FILE:line:column``.
    """
    path = Path(file)
    text = read_text(path)
    name = format or recognised(text)
    if name not in _READERS:
        raise ConfigError("format", repr(name), f"one of {', '.join(_READERS)}")
    return _READERS[name](text, str(file))


def recognised(text: str) -> str:
    """The format of a text: ours begins with an operation, Open MPI's classic one with a number."""
    for line in text.splitlines():
        first = line.partition("#")[0].split()
        if first:
            if first[0].isdecimal() or first[0].startswith("rule-file-version"):
                return "openmpi"
            return "flitwork"
    return "flitwork"
