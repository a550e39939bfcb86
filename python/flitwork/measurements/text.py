"""Words of a text file with their places, and errors that name them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from flitwork.base import input_files
from flitwork.base.errors import ConfigError

_WORD = re.compile(r"[^\s#]+")


@dataclass(frozen=True)
class Word:
    """A word, its line and its column, both from 1."""

    text: str
    line: int
    column: int


@dataclass(frozen=True)
class Place:
    """A file in which something is found to be wrong."""

    file: str

    def error(self, where: Word | tuple[int, int], found: object, expected: str, hint: str = "") -> ConfigError:
        """The error for a place in the file: ``FILE:line:column``."""
        line, column = (where.line, where.column) if isinstance(where, Word) else where
        return ConfigError(f"{self.file}:{line}:{column}", found, expected, hint)


def read_text(file: Path) -> str:
    """The text of a file, or an error that says why there is none."""
    return input_files.read_text(file, "file", "a text file", most=None)


def words(line: str, number: int) -> list[Word]:
    """The words of a line, up to a ``#``."""
    return [Word(match[0], number, match.start() + 1) for match in _WORD.finditer(line.partition("#")[0])]


def all_words(text: str) -> Iterator[Word]:
    """The words of a text, without comments."""
    for number, line in enumerate(text.splitlines(), 1):
        yield from words(line, number)
