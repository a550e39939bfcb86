"""Files of rules in every format: written, recognised, read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.base.formats import check_format
from flitwork.measurements.text import all_words, read_text

from flitwork_mpi.tune import flitwork_file, mpich_file, openmpi6_file, openmpi_file
from flitwork_mpi.tune.names import TARGETS
from flitwork_mpi.tune.rule import Rule, TuningFile, no_rules

_WRITERS: Mapping[str, Callable[[Sequence[Rule], str], str]] = {
    "flitwork": flitwork_file.write,
    "openmpi": openmpi_file.write,
    "openmpi6": openmpi6_file.write,
}
_READERS: Mapping[str, Callable[[str, str], TuningFile]] = {
    "flitwork": flitwork_file.read,
    "openmpi": openmpi_file.read,
    "openmpi6": openmpi6_file.read,
    "mpich": mpich_file.read,
}
_WRITES = "flitwork tune writes a file of rules"


def written(rules: Sequence[Rule], target: str, comment: str = "", *, base: str | Path | None = None) -> str:
    """The text of a file of rules for ``target`` (:data:`flitwork.tune.TARGETS`), with ``comment`` at its top.

    For ``mpich``, ``base`` is the library (``libmpi.so``), or a tuning file, whose other rules are kept. JSON has no
    comments: there it is left out.

    Raises :class:`flitwork.ConfigError` where there are no rules, as no reader accepts such a file. One for ``mpich``
    still has those of ``base``.
    """
    if target not in TARGETS:
        raise ConfigError("target", repr(target), f"one of {', '.join(TARGETS)}", did_you_mean(str(target), TARGETS))
    if target == "mpich":
        return mpich_file.write(rules, comment, None if base is None else Path(base))
    if base is not None:
        raise ConfigError("base", base, "nothing: only for mpich other rules are kept", "leave it out")
    if not rules:
        hint = "the MPI library's own choice is the fastest at every measured size: run without a file of rules"
        raise no_rules("rules", hint)
    return _WRITERS[target](rules, comment)


def read_rules(file: str | Path, format: str | None = None) -> TuningFile:
    """Reads a file of rules; its format is recognised, or named (:data:`flitwork.tune.TARGETS`).

    What is wrong in it is a :class:`flitwork.ConfigError` whose path is ``FILE:line:column``.
    """
    path = Path(file)
    text = read_text(path)
    if not any(all_words(text)):
        raise no_rules(str(file), _WRITES)
    name = format or recognised(text)
    if name not in _READERS:
        raise ConfigError("format", repr(name), f"one of {', '.join(_READERS)}", did_you_mean(str(name), _READERS))
    try:
        found = _READERS[name](text, str(file))
    except ConfigError as error:
        if format is None:
            check_format(path, error.path, "a file of rules", ("a JSON file", "a configuration of BookSim"))
        raise
    if not found.listing():
        raise no_rules(str(file), _WRITES)
    return found


def recognised(text: str) -> str:
    """The format of a text by how it begins: ours with an operation, Open MPI's classic one with a number."""
    if text.lstrip().startswith("{"):
        return "mpich" if re.match(r"\s*\{\s*\"collective\s*=", text) else "openmpi6"
    for line in text.splitlines():
        first = line.partition("#")[0].split()
        if first:
            if first[0].isdecimal() or first[0].startswith("rule-file-version"):
                return "openmpi"
            return "flitwork"
    return "flitwork"
