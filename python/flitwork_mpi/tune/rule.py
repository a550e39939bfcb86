"""Rules: for communicators and messages of these sizes, this algorithm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from flitwork.base.errors import ConfigError

#: The operations that rules are written for, by their names in MPI.
OPERATIONS = ("alltoall", "alltoallv", "alltoallw")
#: The algorithm of measurements of what the MPI library chooses itself.
LIBRARY = "library"
#: Most ranks of a communicator: MPI counts them in an int.
MOST_RANKS = 2**31 - 1
#: Most bytes of a message in a file: libraries read 64 bits.
MOST_BYTES = 2**64 - 1
#: What marks a rule in a file that is for sizes beyond those that were measured.
EXTRAPOLATED = "extrapolated"


def whole_number(text: str, most: int = MOST_BYTES) -> int | None:
    """The number that a text of decimal digits is; ``None`` if it is something else, or above ``most``."""
    # Python refuses to convert texts of some thousand digits; none of them is a number that is allowed.
    if not (text.isascii() and text.isdecimal()) or len(text.lstrip("0")) > len(str(most)):
        return None
    number = int(text.lstrip("0") or "0")
    return number if number <= most else None


@dataclass(frozen=True, order=True)
class Span:
    """Whole numbers from ``low`` to ``high``, both included; without ``high`` there is no end."""

    low: int = 0
    high: int | None = None

    def __contains__(self, number: int) -> bool:
        return self.low <= number and (self.high is None or number <= self.high)

    def __str__(self) -> str:
        if self.high is None:
            return f"{self.low}-"
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"

    def meets(self, other: Span) -> bool:
        """Whether they have a number in common."""
        return (self.high is None or other.low <= self.high) and (other.high is None or self.low <= other.high)

    def common(self, other: Span) -> Span | None:
        """The numbers of both; ``None``: there are none."""
        ends = [high for high in (self.high, other.high) if high is not None]
        low, high = max(self.low, other.low), min(ends) if ends else None
        return None if high is not None and high < low else Span(low, high)

    def beside(self, part: Span) -> list[Span]:
        """What is left of it below and above a part of it."""
        below = [Span(self.low, part.low - 1)] if self.low < part.low else []
        above = [Span(part.high + 1, self.high)] if part.high is not None and part.high != self.high else []
        return below + above

    def covers(self, other: Span) -> bool:
        """Whether all numbers of the other one are in this one."""
        return self.low <= other.low and (self.high is None or (other.high is not None and other.high <= self.high))


@dataclass(frozen=True)
class Choice:
    """An algorithm with its parameters; as text ``bruck radix=4``."""

    algorithm: str
    parameters: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, algorithm: str, parameters: Mapping[str, Any]) -> Choice:
        """A choice from a table of parameters."""
        return cls(algorithm, tuple((name, int(value)) for name, value in parameters.items()))

    @classmethod
    def read(cls, text: str) -> Choice:
        """What :meth:`__str__` writes; ValueError where a parameter is no ``name=number``."""
        algorithm, *parameters_given = text.split()
        parameters = []
        for name, _, value in (word.partition("=") for word in parameters_given):
            number = whole_number(value)
            if not name or number is None:
                raise ValueError(f"{name}={value}")
            parameters.append((name, number))
        return cls(algorithm, tuple(parameters))

    def __str__(self) -> str:
        return " ".join([self.algorithm, *(f"{name}={value}" for name, value in self.parameters)])


@dataclass(frozen=True)
class Rule:
    """For ``operation`` on communicators of ``ranks`` ranks, ``per_server`` of them on a server, and messages of
    ``bytes`` bytes: ``choice``. ``line`` is where it stands in a file; 0: in none. ``extrapolated``: it is for sizes
    beyond those that were measured.
    """

    operation: str
    ranks: Span
    per_server: Span
    bytes: Span
    choice: Choice
    line: int = 0
    extrapolated: bool = False

    def holds(self, asked: Asked, message_bytes: int) -> bool:
        """Whether the rule is for what is asked; ``message_bytes`` as the file counts them."""
        servers = asked.per_server is None or asked.per_server in self.per_server
        return (
            self.operation == asked.operation and asked.ranks in self.ranks and servers and message_bytes in self.bytes
        )

    def spans(self) -> tuple[Span, Span, Span]:
        """The three ranges of the rule."""
        return self.ranks, self.per_server, self.bytes

    def meets(self, other: Rule) -> bool:
        """Whether both are for some of the same sizes."""
        both = zip(self.spans(), other.spans(), strict=True)
        return self.operation == other.operation and all(a.meets(b) for a, b in both)

    def within(self, ranks: Span, per_server: Span, sizes: Span) -> list[Rule]:
        """The part of it for these sizes, none or one."""
        spans = [limited.common(limit) for limited, limit in zip(self.spans(), (ranks, per_server, sizes), strict=True)]
        return [self._of(*(span for span in spans if span))] if all(spans) else []

    def without(self, ranks: Span, per_server: Span, sizes: Span) -> list[Rule]:
        """What is left of it, as rules that do not meet, without those sizes."""
        left: list[Rule] = []
        rest = self
        for axis, limit in enumerate((ranks, per_server, sizes)):
            spans = list(rest.spans())
            common = spans[axis].common(limit)
            if common is None:
                return [self]
            for part in spans[axis].beside(common):
                left.append(rest._of(*(part if one == axis else span for one, span in enumerate(spans))))
            rest = rest._of(*(common if one == axis else span for one, span in enumerate(spans)))
        return left

    def _of(self, ranks: Span, per_server: Span, sizes: Span) -> Rule:
        return replace(self, ranks=ranks, per_server=per_server, bytes=sizes)

    def covers(self, other: Rule) -> bool:
        """Whether nothing is left for the other one if it stands behind this one."""
        both = zip(self.spans(), other.spans(), strict=True)
        return self.operation == other.operation and all(a.covers(b) for a, b in both)


@dataclass(frozen=True)
class Asked:
    """A call: an operation on so many ranks, so many of them on a server (``None``: not said), each of which sends
    ``bytes`` bytes to each other one.
    """

    operation: str
    ranks: int
    bytes: int
    per_server: int | None = None


@dataclass(frozen=True)
class Selected:
    """What a file selects: the algorithm by its name there, the line of the rule, and why in words."""

    algorithm: str
    line: int
    why: str
    extrapolated: bool = False


def no_rules(path: str, hint: str) -> ConfigError:
    """The error for a file of rules that has none."""
    return ConfigError(path, "no rules", "at least one rule", hint)


class TuningFile(Protocol):
    """A file of rules that has been read: what it says, and what it selects."""

    @property
    def format(self) -> str:
        """``flitwork``, ``openmpi``, ``openmpi6`` or ``mpich``."""

    def listing(self) -> list[dict[str, Any]]:
        """A row a rule, in the order of the file."""

    def select(self, asked: Asked) -> Selected:
        """The algorithm that the file selects for a call."""


def row(rule: Rule, unit: str) -> dict[str, Any]:
    """A rule as a row of a listing."""
    servers = "any" if rule.per_server == Span(1) else str(rule.per_server)
    return {
        "line": rule.line,
        "operation": rule.operation,
        "ranks": str(rule.ranks),
        "ranks_per_server": servers,
        unit: str(rule.bytes),
        "algorithm": str(rule.choice),
        "extrapolated": rule.extrapolated,
    }


def merged(rules: Iterable[Rule], axes: Sequence[str] = ("bytes", "per_server", "ranks")) -> list[Rule]:
    """Fewer rules that say the same: neighbours with the same algorithms become one."""
    found = list(rules)
    for axis in axes:
        found = _merged_along(found, axis)
    return found


def _merged_along(rules: list[Rule], axis: str) -> list[Rule]:
    """Joins rules that differ along one axis alone and follow each other there."""

    def along(rule: Rule, span: Span) -> Rule:
        changes: dict[str, Any] = {axis: span, "line": 0}
        return replace(rule, **changes)

    groups: dict[Rule, list[Rule]] = {}
    for rule in rules:
        groups.setdefault(along(rule, Span()), []).append(rule)
    found: list[Rule] = []
    for group in groups.values():
        group.sort(key=lambda rule: int(getattr(rule, axis).low))
        last = group[0]
        for rule in group[1:]:
            before, behind = getattr(last, axis), getattr(rule, axis)
            if before.high is not None and before.high + 1 == behind.low:
                last = along(last, Span(before.low, behind.high))
            else:
                found.append(last)
                last = rule
        found.append(last)
    return sorted(found, key=lambda rule: (OPERATIONS.index(rule.operation), *((s.low,) for s in rule.spans())))
