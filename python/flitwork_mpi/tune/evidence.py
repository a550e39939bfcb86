"""For which sizes measurements say something: where the evidence for a rule ends.

Measured is a grid of numbers of ranks, of ranks per server and of message sizes. A number between two measured ones
belongs to the nearer of them, by their ratio, where both were measured otherwise alike. Beyond the smallest and the
largest one nothing is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from flitwork.base.errors import ConfigError

from flitwork_mpi.tune.rule import Span


@dataclass(frozen=True)
class Point:
    """A measured number of ranks and of ranks per server, and the message sizes from the smallest to the largest."""

    ranks: int
    per_server: int
    sizes: Span


@dataclass(frozen=True)
class Cell:
    """Ranks, ranks per server and sizes for which the times of a point count; ``exact``: its own numbers."""

    point: Point
    spans: tuple[Span, Span, Span]
    exact: bool = False


class Evidence:
    """The cells of several points. Where ``servers_matter`` is false, any number of ranks may be on a server."""

    def __init__(self, points: Sequence[Point], *, servers_matter: bool = True) -> None:
        self._by_ranks: dict[int, list[Point]] = {}
        for point in sorted(points, key=lambda one: (one.ranks, one.per_server)):
            self._by_ranks.setdefault(point.ranks, []).append(point)
        self._servers_matter = servers_matter
        for here in self._by_ranks.values():
            if not servers_matter and len(here) > 1:
                hint = "give one of them: --ranks-per-server N, or a table with one"
                numbers = [point.per_server for point in here]
                raise ConfigError("ranks_per_server", numbers, "one number for each number of ranks", hint)

    def cells(self) -> Iterator[Cell]:
        """What is known, in cells that do not meet."""
        for here in self._by_ranks.values():
            for point in here:
                yield Cell(point, (Span(point.ranks, point.ranks), self._server_span(point), point.sizes), exact=True)
            for below, above in pairwise(here):
                for point, part in ((below, _lower), (above, _upper)):
                    between = part(below.per_server, above.per_server)
                    yield from _cell(point, Span(point.ranks, point.ranks), between, below.sizes.common(above.sizes))
        for few, many in pairwise(self._by_ranks.values()):
            for below in few:
                for above in many:
                    servers = self._around(below).common(self._around(above))
                    for point, part in ((below, _lower), (above, _upper)):
                        between = part(below.ranks, above.ranks)
                        yield from _cell(point, between, servers, below.sizes.common(above.sizes))

    def beyond(self) -> Iterator[Cell]:
        """Everything from the fewest measured ranks and ranks per server on, each part with the nearest point."""
        counts = [*self._by_ranks]
        for ranks, here in self._by_ranks.items():
            rank_span = _nearest(ranks, counts)
            for point in here:
                server_span = (
                    _nearest(point.per_server, [one.per_server for one in here]) if self._servers_matter else Span(1)
                )
                exact = Cell(point, (Span(ranks, ranks), self._server_span(point), Span()), exact=True)
                yield exact
                for span in rank_span.beside(exact.spans[0]):
                    yield Cell(point, (span, server_span, Span()))
                for span in server_span.beside(exact.spans[1]):
                    yield Cell(point, (exact.spans[0], span, Span()))

    def _server_span(self, point: Point) -> Span:
        return Span(point.per_server, point.per_server) if self._servers_matter else Span(1)

    def _around(self, point: Point) -> Span:
        """The numbers of ranks per server that are known from a point."""
        if not self._servers_matter:
            return Span(1)
        numbers = [one.per_server for one in self._by_ranks[point.ranks]]
        found = _nearest(point.per_server, numbers).common(Span(numbers[0], numbers[-1]))
        assert found
        return found


def _cell(point: Point, ranks: Span | None, servers: Span | None, sizes: Span | None) -> Iterator[Cell]:
    if ranks and servers and sizes:
        yield Cell(point, (ranks, servers, sizes))


def _lower(low: int, high: int) -> Span | None:
    """The numbers between two that are nearer to the first one."""
    last = math.isqrt(low * high)
    return Span(low + 1, last) if last > low else None


def _upper(low: int, high: int) -> Span | None:
    """The numbers between two that are nearer to the second one."""
    first = math.isqrt(low * high) + 1
    return Span(first, high - 1) if first < high else None


def _nearest(number: int, numbers: Sequence[int]) -> Span:
    """The numbers that are nearest to one of several; the last one has all above it."""
    place = numbers.index(number)
    low = math.isqrt(numbers[place - 1] * number) + 1 if place else number
    return Span(low, math.isqrt(number * numbers[place + 1]) if place + 1 < len(numbers) else None)
