"""JSON with the line and column of everything in it, so that errors can name them."""

from __future__ import annotations

import functools
import json
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flitwork.base import input_files
from flitwork.base.errors import ConfigError
from flitwork.measurements.text import Place

_TOKEN = re.compile(r'\s*(?P<token>"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+)', re.DOTALL)

#: Characters of a value that an error shows.
_SHOWN = 40
#: The keys and indices that lead to a value; a key ends with ``KEY`` for the place of the key itself.
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Located:
    """A JSON document and the offset of each value (or of its key) by path."""

    value: Any
    offsets: Mapping[Path, int]
    text: str
    place: Place

    def at(self, path: Path) -> tuple[int, int]:
        """Line and column, both from 1."""
        offset = self.offsets[path]
        line = self.text.count("\n", 0, offset) + 1
        return line, offset - self.text.rfind("\n", 0, offset)

    def find(self, path: Path) -> Any:
        """The value at a path that exists."""
        return functools.reduce(operator.getitem, path, self.value)

    def table(self, path: Path) -> Mapping[str, Any]:
        """The table at a path; anything else is an error."""
        found = self.find(path)
        if not isinstance(found, dict):
            raise self.error(path, json.dumps(found)[:_SHOWN], "a table {...}")
        return found

    def list(self, path: Path) -> Sequence[Any]:
        """The list at a path; anything else is an error."""
        found = self.find(path)
        if not isinstance(found, list):
            raise self.error(path, json.dumps(found)[:_SHOWN], "a list [...]")
        return found

    def error(self, path: Path, found: object, expected: str, hint: str = "") -> ConfigError:
        """The error for a value."""
        return self.place.error(self.at(path), found, expected, hint)


def located(text: str, file: str) -> Located:
    """Reads a document; what is no JSON, or has a key twice, is an error with its place."""
    place = Place(file)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise place.error((error.lineno, error.colno), text[error.pos : error.pos + 20].strip() or "nothing", "JSON",
                          error.msg) from None  # fmt: skip
    except (ValueError, RecursionError) as error:
        raise place.error((1, 1), text[:_SHOWN].strip(), "JSON", input_files.because(error)) from None
    offsets: dict[Path, int] = {}
    try:
        _Walk(text, offsets, Located(value, offsets, text, place)).value((), 0)
    except RecursionError as error:
        raise place.error((1, 1), text[:_SHOWN].strip(), "JSON", input_files.because(error)) from None
    return Located(value, offsets, text, place)


class _Walk:
    """Goes through a text that is known to be JSON."""

    def __init__(self, text: str, offsets: dict[Path, int], document: Located) -> None:
        self.text, self.offsets, self.document = text, offsets, document

    def token(self, offset: int) -> tuple[str, int, int]:
        match = _TOKEN.match(self.text, offset)
        assert match
        return match["token"], match.start("token"), match.end()

    def value(self, path: Path, offset: int) -> int:
        """Notes the value at ``offset`` and all in it; where it ends. Keys stand for their values."""
        token, start, end = self.token(offset)
        self.offsets.setdefault(path, start)
        if token == "{":
            return self.table(path, end)
        return self.list(path, end) if token == "[" else end

    def table(self, path: Path, offset: int) -> int:
        token, start, end = self.token(offset)
        while token != "}":
            if token == ",":
                token, start, end = self.token(end)
            key = (*path, str(json.loads(token)))
            if key in self.offsets:
                line, _ = self.document.at(key)
                self.offsets[key] = start
                raise self.document.error(key, key[-1], "each key once", f"line {line} has it, too")
            self.offsets[key] = start
            _, _, end = self.token(end)
            end = self.value(key, end)
            token, start, end = self.token(end)
        return end

    def list(self, path: Path, offset: int) -> int:
        token, start, end = self.token(offset)
        number = 0
        while token != "]":
            end = self.value((*path, number), start if token != "," else end)
            number += 1
            token, start, end = self.token(end)
        return end
