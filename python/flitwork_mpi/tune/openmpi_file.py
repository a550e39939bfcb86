"""The dynamic rules file of Open MPI's component coll/tuned in its classic form, which versions 4 and 5 read.

Whitespace separates numbers, ``#`` begins a comment: the number of collectives; for each its number and the number of
communicator sizes; for each size the number of rules; for each rule the message size from which it holds, algorithm,
fan-out and segment size, and in files of version 2 the most requests under way. A communicator takes the rules of the
largest size that is not larger than its own, or those of the first one. The message size of an alltoall is what a rank
sends to all ranks, that of an alltoallv is taken to be 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flitwork.base.errors import ConfigError
from flitwork.base.table_file import short
from flitwork.measurements.text import Place, Word, all_words

from flitwork_mpi.tune.names import OPENMPI, REQUESTS
from flitwork_mpi.tune.rule import (
    EXTRAPOLATED,
    LIBRARY,
    MOST_RANKS,
    Asked,
    Choice,
    Rule,
    Selected,
    Span,
    row,
    whole_number,
)

#: The collectives by their numbers.
COLLECTIVES = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier", "bcast", "exscan"),
    *("gather", "gatherv", "reduce", "reducescatter", "reducescatterblock", "scan", "scatter", "scatterv"),
    *("neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw"),
)
_MARK = re.compile(rf"#.*, {EXTRAPOLATED}\s*$")
_VERSION = re.compile(r"rule-file-version-(\d+)")
_VERSIONS = ("1", "2")
#: Open MPI reads numbers into a long.
_MOST = 2**63 - 1


def vector_bytes(asked: Asked) -> int:
    """The message size that Open MPI looks up."""
    return asked.bytes * asked.ranks if asked.operation == "alltoall" else 0


def write(rules: Sequence[Rule], comment: str = "") -> str:
    """The text of a classic file; rules for servers have no place in it."""
    version = 2 if any(REQUESTS in dict(rule.choice.parameters) for rule in rules) else 1
    lines = ["rule-file-version-2"] if version == 2 else []
    lines += [f"# {line}".rstrip() for line in comment.splitlines()]
    operations = list(dict.fromkeys(rule.operation for rule in rules))
    lines.append(f"{len(operations)} # collectives")
    for operation in operations:
        of_it = [rule for rule in rules if rule.operation == operation]
        sizes = {ranks.low: without_gaps(in_sums(ranks, here)) for ranks, here in segments(of_it, narrow=True)}
        lines += [f"{COLLECTIVES.index(operation)} # {operation}", f"{len(sizes)} # communicator sizes"]
        for ranks, here in sizes.items():
            lines += [f"{ranks} # ranks and more", f"{len(here)} # rules: bytes, algorithm, fan-out, segment size"]
            lines += [_line(operation, step, version) for step in here]
    return "\n".join(lines) + "\n"


def _line(operation: str, step: Step, version: int) -> str:
    low, choice, extrapolated = step
    name = "ignore" if choice.algorithm == LIBRARY else choice.algorithm
    requests = f" {dict(choice.parameters).get(REQUESTS, 0)}" if version == 2 else ""
    mark = f", {EXTRAPOLATED}" if extrapolated else ""
    return f"{low} {OPENMPI[operation].index(name)} 0 0{requests} # {name}{mark}"


#: From so many bytes on this algorithm, and whether that is extrapolated.
Step = tuple[int, Choice, bool]


def segments(rules: Sequence[Rule], *, narrow: bool = False) -> list[tuple[Span, list[Rule]]]:
    """The rules by ranges of ranks that follow each other from 1 on, each with its rules by size.

    ``narrow``: no range with an end spans more than a tenth, as sizes count over all of its ranks.
    """
    one_per_server(rules)
    # Without the first one Open MPI takes the rules of the smallest communicator for those that are smaller still.
    starts = {1} | {rule.ranks.low for rule in rules}
    starts |= {rule.ranks.high + 1 for rule in rules if rule.ranks.high is not None}
    if narrow:
        starts |= {first for rule in rules if rule.bytes != Span() for first in _narrow(rule.ranks)}
    ordered = sorted(start for start in starts if start <= MOST_RANKS)
    ends = [*(start - 1 for start in ordered[1:]), None]
    return [
        (Span(low, end), sorted((rule for rule in rules if low in rule.ranks), key=lambda rule: rule.bytes.low))
        for low, end in zip(ordered, ends, strict=True)
    ]


def _narrow(ranks: Span) -> Iterator[int]:
    """Where a range begins again, so that no part spans more than a tenth."""
    at = ranks.low
    while ranks.high is not None and at <= ranks.high:
        yield at
        at = at * 11 // 10 + 1


def in_sums(ranks: Span, rules: Sequence[Rule]) -> list[Rule]:
    """Rules by what a rank sends to all ranks, for messages that they are for on any of so many ranks."""
    if rules and rules[0].operation != "alltoall":
        return [replace(rules[0], bytes=Span())]
    few, many = ranks.low, ranks.high or ranks.low
    found: list[Rule] = []
    first = 0
    for place, rule in enumerate(rules):
        before = rules[place - 1].bytes.high if place else None
        joined = before is not None and before + 1 == rule.bytes.low
        first = max(first, rule.bytes.low * few) if joined else rule.bytes.low * many
        span = Span(first).common(Span(0, None if rule.bytes.high is None else (rule.bytes.high + 1) * few - 1))
        found += [replace(rule, bytes=span)] if span else []
    return found


def without_gaps(rules: Sequence[Rule]) -> list[Step]:
    """From which size on which algorithm, the first from 0 bytes on; what no rule is for is left to the library."""
    steps: list[Step] = []
    free: int | None = 0
    for rule in rules:
        if free is not None and rule.bytes.low > free:
            steps.append((free, Choice(LIBRARY), False))
        steps.append((rule.bytes.low, rule.choice, rule.extrapolated))
        free = None if rule.bytes.high is None else rule.bytes.high + 1
    return steps if free is None else [*steps, (free, Choice(LIBRARY), False)]


def one_per_server(rules: Sequence[Rule]) -> None:
    """Refuses rules for several numbers of ranks per server, which files of MPI libraries do not tell apart."""
    servers = sorted({rule.per_server.low for rule in rules})
    if len({(rule.operation, rule.ranks, rule.per_server) for rule in rules}) > len(
        {(rule.operation, rule.ranks) for rule in rules}
    ):
        hint = "give one of them: --ranks-per-server N, or a table with one"
        raise ConfigError("ranks_per_server", servers, "one number for each number of ranks", hint)


@dataclass(frozen=True)
class OpenMpiFile:
    """A classic file that has been read."""

    rules: tuple[Rule, ...]
    version: int = 1
    format: str = "openmpi"

    def listing(self) -> list[dict[str, Any]]:
        """A row a rule; ``vector_bytes`` is what a rank sends to all."""
        rows = [row(rule, "vector_bytes") for rule in self.rules]
        return [{name: value for name, value in one.items() if name != "ranks_per_server"} for one in rows]

    def select(self, asked: Asked) -> Selected:
        """What coll/tuned selects: the rule with the largest size that is not larger, for the communicator's ranks."""
        size = vector_bytes(asked)
        for rule in self.rules:
            if rule.holds(asked, size):
                name = LIBRARY if rule.choice.algorithm == "ignore" else str(rule.choice)
                why = f"{size} bytes to all ranks are in {rule.bytes}"
                return Selected(name, rule.line, why, rule.extrapolated)
        return Selected(LIBRARY, 0, "no rule is for these sizes: Open MPI chooses")


def read(text: str, file: str) -> OpenMpiFile:
    """Reads a classic file; what is wrong is an error with line and column.

    It is stricter than Open MPI, which skips what is no number, and reads a file with errors as if it were none.
    """
    return _Reader(text, file).file()


class _Reader:
    def __init__(self, text: str, file: str) -> None:
        self.place = Place(file)
        self.marked = {number for number, line in enumerate(text.splitlines(), 1) if _MARK.search(line)}
        self.words: Iterator[Word] = all_words(text)
        self.last = Word("", 1, 1)
        self.version = 1
        self.ahead: list[Word] = []

    def file(self) -> OpenMpiFile:
        first = next(self.words, None)
        if first and (match := _VERSION.fullmatch(first.text)):
            if (first.line, first.column) != (1, 1):
                hint = "Open MPI takes it for numbers elsewhere"
                raise self.place.error(first, first.text, "it at the very beginning of the file", hint)
            if match[1] not in _VERSIONS:
                raise self.place.error(first, first.text, "rule-file-version-1 or rule-file-version-2")
            self.version = int(match[1])
        elif first:
            self.ahead.append(first)
        rules: list[Rule] = []
        seen: set[int] = set()
        for _ in range(self.number("the number of collectives", most=len(COLLECTIVES))):
            collective = self.number("the number of a collective", most=len(COLLECTIVES) - 1)
            if collective in seen:
                raise self.wrong(f"each collective once; {COLLECTIVES[collective]} has rules already")
            seen.add(collective)
            rules += self.collective(COLLECTIVES[collective])
        if left := next(self.words, None):
            raise self.place.error(left, left.text, "the end of the file", "the counts say that it ends here")
        return OpenMpiFile(tuple(rules), self.version)

    def collective(self, operation: str) -> Iterator[Rule]:
        sizes: list[tuple[int, list[tuple[int, Choice, int]]]] = []
        count = self.number(f"the number of communicator sizes of {operation}")
        if count == 0:
            hint = f"leave {operation} out of the file, and count one collective less"
            raise self.wrong(f"the number of communicator sizes of {operation}, at least 1", hint)
        for _ in range(count):
            ranks = self.number("a communicator size", most=MOST_RANKS)
            if sizes and ranks <= sizes[-1][0]:
                raise self.wrong(f"communicator sizes in ascending order, more than {sizes[-1][0]}")
            sizes.append((ranks, [*self.messages(operation)]))
        # Smaller communicators take the rules of the smallest size.
        sizes = [(0, sizes[0][1]), *sizes[1:]]
        for (ranks, found), above in zip(sizes, [*(one[0] for one in sizes[1:]), None], strict=True):
            ends = [*(low - 1 for low, _, _ in found[1:]), *([None] if found else [])]
            for (low, choice, line), end in zip(found, ends, strict=True):
                span = Span(ranks, None if above is None else above - 1)
                yield Rule(operation, span, Span(1), Span(low, end), choice, line, line in self.marked)

    def messages(self, operation: str) -> Iterator[tuple[int, Choice, int]]:
        before = -1
        for _ in range(self.number("the number of rules")):
            low = self.number("a message size [bytes]")
            line = self.last.line
            if before < 0 < low:
                raise self.wrong("a first rule for 0 bytes", "Open MPI ignores the whole file without it")
            if low <= before:
                raise self.wrong(f"message sizes in ascending order, more than {before}")
            before = low
            names = OPENMPI.get(operation)
            algorithm = self.number(f"an algorithm of {operation}", most=len(names) - 1 if names else None)
            for what in ("the fan-out", "the segment size"):
                self.number(what)
            more = {REQUESTS: self.number("the most requests")} if self.version > 1 and self.on_line(line) else {}
            yield low, Choice.of(names[algorithm] if names else str(algorithm), more), line

    def on_line(self, line: int) -> bool:
        """Whether a further number stands on this line."""
        self.ahead += [] if self.ahead else [word for word in [next(self.words, None)] if word]
        return bool(self.ahead) and self.ahead[0].line == line

    def number(self, what: str, most: int | None = None) -> int:
        word = self.ahead.pop() if self.ahead else next(self.words, None)
        if word is None:
            raise self.place.error(self.last, "the end of the file", what, "the counts ask for more numbers")
        self.last = word
        expected = what if most is None else f"{what}, from 0 to {most}"
        if not word.text.isdecimal() or not word.text.isascii():
            raise self.wrong(f"{expected}: a whole number")
        if len(word.text) > 1 and word.text.startswith("0"):
            raise self.wrong(f"{expected} without a leading 0", "Open MPI reads such a number as octal")
        number = whole_number(word.text, _MOST if most is None else most)
        if number is None:
            raise self.wrong(expected if most is not None else f"{what}, from 0 to {_MOST}")
        return number

    def wrong(self, expected: str, hint: str = "") -> ConfigError:
        return self.place.error(self.last, short(self.last.text), expected, hint)
