"""BookSim's configuration format: ``key = value;`` with numbers, words, lists, calls, quotes and ``//`` comments.

What a value may be, in Python: ``int``, ``float``, ``str``, a ``list`` of values for ``{a, b}``, and :class:`Call` for
``islip(2)``. Where BookSim's own reader wants values without blanks, blanks are allowed here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from flitwork.base import input_files
from flitwork.base.errors import ConfigError
from flitwork.base.formats import GENERAL, check_format


@dataclass(frozen=True)
class Call:
    """A word with arguments: ``hotspot({0, 5}, {3, 1})``."""

    name: str
    arguments: tuple[Value, ...]

    def __str__(self) -> str:
        return f"{self.name}({','.join(map(written, self.arguments))})"


Value: TypeAlias = "int | float | str | list[Value] | Call"


def written(value: Value) -> str:
    """A value as it stands in a file."""
    if isinstance(value, list):
        return f"{{{','.join(map(written, value))}}}"
    return str(value)


@dataclass(frozen=True)
class Assignment:
    """One ``key = value;`` and where it stands."""

    key: str
    value: Value
    place: str


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    line: int


#: Whole numbers are those that 64 bits hold: more than BookSim's own 32.
_LEAST, _LARGEST = -(2**63), 2**64 - 1
#: Lists and calls within each other.
_DEEPEST = 20
_SHOWN = 40

_TOKENS = re.compile(
    r"""(?P<skip>[ \t\r]+|//[^\n]*)
    |(?P<newline>\n)
    |(?P<quoted>"[^"\n]*"|'[^'\n]*')
    |(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w./+-]))
    |(?P<word>[A-Za-z_./~+-][\w./~+:-]*)
    |(?P<sign>[=;{}(),])
    |(?P<wrong>[\w.+-]+|.)""",
    re.VERBOSE,
)


def read_config(path: Path) -> list[Assignment]:
    """The assignments of a file, in order; an error names the file and the line."""
    text = text_of(path)
    try:
        return parse(text, str(path))
    except ConfigError:
        check_format(path, "file", "a configuration of BookSim 2", (*GENERAL, "a configuration of another tool"))
        raise


def text_of(path: Path) -> str:
    """What a file says. Signs that are not UTF-8 (in old comments) are replaced; elsewhere they are errors."""
    return input_files.read_text(path, "file", "a BookSim configuration file", errors="replace")


def parse_override(text: str) -> list[Assignment]:
    """The assignments of one ``key=value`` of the command line; the semicolon at its end may be missing."""
    ended = text if text.rstrip().endswith(";") else f"{text};"
    return [Assignment(one.key, one.value, "command line") for one in parse(ended, "command line")]


def parse(text: str, name: str) -> list[Assignment]:
    """The assignments in ``text``; ``name`` is where it comes from."""
    return list(_Reader(text, name).assignments())


class _Reader:
    """Reads token after token."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.tokens = list(self._split(text))
        self.next = 0
        self.depth = 0

    def _split(self, text: str) -> Iterator[_Token]:
        line = 1
        for match in _TOKENS.finditer(text):
            kind = match.lastgroup or ""
            if kind == "newline":
                line += 1
            elif kind == "wrong":
                raise ConfigError(f"{self.name}:{line}", f'"{match[0]}"', "a number, a word or a sign of the format")
            elif kind != "skip":
                yield _Token(kind, match[0], line)
        yield _Token("end", "the end", line)

    def assignments(self) -> Iterator[Assignment]:
        """All of them."""
        while self.tokens[self.next].kind != "end":
            key = self._take("word", "a key")
            self._sign("=", f"= after {key.text}", _no_include(key.text))
            value = self._value()
            self._sign(";", f"; after the value of {key.text}")
            yield Assignment(key.text, value, f"{self.name}:{key.line}")

    def _value(self) -> Value:
        token = self.tokens[self.next]
        if token.text == "{":
            return self._items("{", "}")
        if token.kind == "number":
            self.next += 1
            return self._number(token)
        if token.kind == "quoted":
            self.next += 1
            return token.text[1:-1]
        name = self._take("word", "a value: a number, a word, or a list {a, b}").text
        if self.tokens[self.next].text == "(":
            return Call(name, tuple(self._items("(", ")")))
        return name

    def _number(self, token: _Token) -> int | float:
        """The number that a token says; one that no field can hold is an error here, before anything is computed."""
        place, shown = f"{self.name}:{token.line}", _shortened(token.text)
        if re.search(r"[.eE]", token.text):
            number = float(token.text)
            if not math.isfinite(number):
                raise ConfigError(place, shown, "a number of at most about 1e308")
            return number
        # The length comes first: Python does not read whole numbers of thousands of digits.
        if len(token.text) > _SHOWN or not _LEAST <= int(token.text) <= _LARGEST:
            raise ConfigError(place, shown, "a whole number from -2^63 to 2^64 - 1")
        return int(token.text)

    def _items(self, opening: str, closing: str) -> list[Value]:
        """Values with commas between them; there may be none."""
        self._sign(opening, opening)
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._unexpected(self.tokens[self.next - 1], f"at most {_DEEPEST} lists within each other")
        items: list[Value] = []
        while self.tokens[self.next].text != closing:
            if items:
                self._sign(",", f", or {closing}")
            items.append(self._value())
        self.next += 1
        self.depth -= 1
        return items

    def _sign(self, sign: str, expected: str, hint: str = "") -> None:
        token = self.tokens[self.next]
        if token.text != sign or token.kind != "sign":
            raise self._unexpected(token, expected, hint)
        self.next += 1

    def _take(self, kind: str, expected: str) -> _Token:
        token = self.tokens[self.next]
        if token.kind != kind:
            raise self._unexpected(token, expected)
        self.next += 1
        return token

    def _unexpected(self, token: _Token, expected: str, hint: str = "") -> ConfigError:
        before = self.tokens[self.next - 1].line if self.next and token.kind == "end" else token.line
        shown = token.text if token.kind == "end" else f'"{token.text}"'
        return ConfigError(f"{self.name}:{before}", shown, expected, hint)


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text)} characters)"


def _no_include(key: str) -> str:
    return "the format has no include: name several files, the later ones win" if key == "include" else ""
