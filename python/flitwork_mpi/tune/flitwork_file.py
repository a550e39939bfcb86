"""The rules file of our own library: a line a rule, ``alltoall ranks=8-64 bytes=0-4095 algorithm=bruck radix=4``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flitwork.base.errors import did_you_mean
from flitwork.base.table_file import short
from flitwork.measurements.text import Place, Word

from flitwork_mpi.native.settings import options_of
from flitwork_mpi.tune.names import LIMITS, ours
from flitwork_mpi.tune.rule import (
    EXTRAPOLATED,
    LIBRARY,
    MOST_BYTES,
    OPERATIONS,
    Asked,
    Choice,
    Rule,
    Selected,
    Span,
    row,
    whole_number,
)

#: The keys that say which calls a rule is for, and the least number each takes.
_SPANS = {"ranks": 1, "per_server": 1, "bytes": 0}
#: A schedule of the user's own.
_TABLE = re.compile(r"table:.+")
_SPAN = re.compile(r"(\d+)(?:(-)(\d+)?)?", re.ASCII)
_WORD = re.compile(r"[^ \t\r]+")


def write(rules: Iterable[Rule], comment: str = "") -> str:
    """The text of a rules file."""
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    for rule in rules:
        options = zip(_SPANS.items(), rule.spans(), strict=True)
        spans = [f"{name}={span}" for (name, least), span in options if span != Span(least)]
        choice = str(rule.choice)
        mark = [f"# {EXTRAPOLATED}"] if rule.extrapolated else []
        lines.append(" ".join([rule.operation, *spans, f"algorithm={choice}", *mark]))
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class FlitworkFile:
    """A rules file that has been read."""

    rules: tuple[Rule, ...]
    format: str = "flitwork"

    def listing(self) -> list[dict[str, Any]]:
        """A row a rule."""
        return [row(rule, "bytes") for rule in self.rules]

    def select(self, asked: Asked) -> Selected:
        """The first rule that is for the call; without one the MPI library chooses."""
        for rule in self.rules:
            if rule.holds(asked, asked.bytes):
                why = f"{asked.bytes} bytes are in {rule.bytes}"
                return Selected(str(rule.choice), rule.line, why, rule.extrapolated)
        return Selected(LIBRARY, 0, "no rule is for these sizes: the MPI library chooses")


def read(text: str, file: str) -> FlitworkFile:
    """Reads a rules file; what is wrong is an error with line and column."""
    place = Place(file)
    rules: list[Rule] = []
    # Lines and blanks are those of our library in C, which knows no others.
    for number, line in enumerate(text.split("\n"), 1):
        options, _, comment = line.partition("#")
        found = [Word(match[0], number, match.start() + 1) for match in _WORD.finditer(options)]
        if found:
            rules.append(replace(_rule(found, place), extrapolated=comment.split() == [EXTRAPOLATED]))
            _check_overlap(rules, found[0], place)
    return FlitworkFile(tuple(rules))


def _rule(found: Sequence[Word], place: Place) -> Rule:
    operation, *options = found
    if operation.text not in OPERATIONS:
        hint = did_you_mean(operation.text, OPERATIONS)
        raise place.error(operation, operation.text, f"an operation: {', '.join(OPERATIONS)}", hint)
    keys: dict[str, tuple[Word, str]] = {}
    for word in options:
        key, mark, value = word.text.partition("=")
        if not mark:
            raise place.error(word, word.text, "KEY=VALUE", f"keys are {', '.join([*_SPANS, 'algorithm'])}")
        if key in keys:
            raise place.error(word, word.text, f"{key} once", f"{keys[key][0].text} stands before it")
        keys[key] = (word, value)
    if "algorithm" not in keys:
        raise place.error(operation, " ".join(word.text for word in found), "algorithm=NAME", ", ".join(ours()))
    word, name = keys.pop("algorithm")
    if name not in (*ours(), LIBRARY) and not _TABLE.fullmatch(name):
        raise place.error(
            word, name, f"one of {', '.join([*ours(), LIBRARY, 'table:FILE'])}", did_you_mean(name, ours())
        )
    ranks, servers, sizes = (_span(key, least, keys.pop(key, None), place) for key, least in _SPANS.items())
    return Rule(operation.text, ranks, servers, sizes, _choice(name, keys, place), operation.line)


def _span(key: str, least: int, given: tuple[Word, str] | None, place: Place) -> Span:
    """A range; a key that is missing means any."""
    if given is None:
        return Span(least)
    word, value = given
    match = _SPAN.fullmatch(value)
    if not match:
        raise place.error(word, word.text, f"{key}=N or {key}=N-M", "whole numbers, both ends included")
    low = whole_number(match[1])
    high = low if not match[2] else whole_number(match[3]) if match[3] else None
    if low is None or (match[3] and high is None):
        raise place.error(word, short(word.text), f"numbers up to {MOST_BYTES}", f"{key}=N- has no upper end")
    if low < least or (high is not None and high < low):
        expected = f"numbers from {least} on, the smaller one first"
        raise place.error(word, word.text, expected, f"{key}={min(low, high or low)}-{max(low, high or low)}")
    return Span(low, high)


def _choice(name: str, keys: dict[str, tuple[Word, str]], place: Place) -> Choice:
    known = options_of(name)
    for key, (word, value) in keys.items():
        if key not in known:
            near = did_you_mean(key, [*known, *_SPANS, "algorithm"])
            raise place.error(word, word.text, f"one of {', '.join([*_SPANS, 'algorithm', *known])}", near)
        least, most = LIMITS[key]
        number = whole_number(value, most)
        if number is None or number < least:
            expected = f"{key}=NUMBER, at least {least}" + ("" if number is not None else f" and at most {most}")
            raise place.error(word, short(word.text), expected)
    return Choice.of(name, {key: value for key, (_, value) in keys.items()})


def _check_overlap(rules: Sequence[Rule], where: Word, place: Place) -> None:
    """A later rule may take in all of an earlier one, which wins; other overlaps with another choice are mistakes."""
    *before, rule = rules
    for other in before:
        wider = rule.covers(other) and not other.covers(rule)
        if other.meets(rule) and other.choice != rule.choice and not wider:
            hint = f"line {other.line} is for some of the same calls, and the first one wins"
            raise place.error(where, rule.operation, "ranges that no other line has, or that take in all of it", hint)
