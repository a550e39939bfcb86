"""From times to rules: for each number of ranks and ranks per server, the fastest algorithm over the message sizes.

Times of two algorithms whose intervals meet are a tie. Between sizes the fewest rules are kept that name a fastest
algorithm, or one that ties with it, at every measured size; among algorithms that could stand in such a rule the one
with fewer parameters wins, then the one that takes less time in all. A rule ends where the next one begins: there the
times of both, drawn as straight lines between the measured sizes, cross.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flitwork.errors import ConfigError
from flitwork.libraries import pd
from flitwork.tune.names import Translate, ours, translation
from flitwork.tune.rule import LIBRARY, OPERATIONS, Choice, Rule, Span, merged


@dataclass(frozen=True)
class Time:
    """Seconds, and the interval in which they are known to lie."""

    seconds: float
    low: float
    high: float


#: By message size: the time of each algorithm.
Times = Mapping[int, Mapping[Choice, Time]]


@dataclass(frozen=True)
class Piece:
    """From so many bytes on, this algorithm."""

    low: int
    choice: Choice


def rules(table: pd.DataFrame, target: str = "flitwork", *, tolerance: float = 0.0) -> list[Rule]:
    """The rules that follow from a table of measurements (:data:`flitwork.tune.COLUMNS`), or of simulations.

    ``target`` says which algorithms may be named (:data:`flitwork.tune.TARGETS`). ``tolerance`` makes what is slower
    by this part a tie, too (0.02: 2 %). A rule is for its number of ranks and all up to the next one in the table, for
    its ranks per server in the same way; nothing is said of fewer ranks than the fewest. Where an algorithm is not
    defined for all numbers of ranks, it is named for the measured one alone, and the next best for the others.

    Raises :class:`flitwork.ConfigError` where no row has an algorithm that ``target`` knows.
    """
    if not 0 <= tolerance < 10:
        raise ConfigError("tolerance", tolerance, "a part from 0 to 10", "0.02 is 2 %")
    libraries = sorted({" ".join(one) for one in zip(table["mpi"], table["version"], strict=True)})
    if len(libraries) > 1:
        raise ConfigError("mpi", ", ".join(libraries), "measurements of one library", "make rules of each by itself")
    found: list[Rule] = []
    for operation in dict.fromkeys(name for name in table["operation"] if name in OPERATIONS):
        rows = table[table["operation"] == operation]
        found += _of_operation(rows, str(operation), translation(target, str(operation)), target, tolerance)
    if not found:
        named = ", ".join(sorted(set(map(str, table["algorithm"]))))
        raise ConfigError("algorithm", named, f"an algorithm that {target} has", "flitwork tune --help, docs/tune.md")
    return merged(found)


def _of_operation(
    table: pd.DataFrame, operation: str, translate: Translate, target: str, tolerance: float
) -> list[Rule]:
    found: list[Rule] = []
    counts = sorted({int(ranks) for ranks in table["ranks"]})
    everywhere = ours() if target == "flitwork" else {}
    for ranks, above in zip(counts, [*counts[1:], None], strict=True):
        here = table[table["ranks"] == ranks]
        servers = sorted({int(number) for number in here["ranks_per_server"]})
        for number, more in zip(servers, [*servers[1:], None], strict=True):
            times = _times(here[here["ranks_per_server"] == number], translate, ranks)
            box = (_span(ranks, above), _span(number, more))
            found += _of_box(operation, times, box, everywhere, tolerance, sized=_by_size(operation, target))
    return found


def _span(low: int, above: int | None) -> Span:
    return Span(low, None if above is None else above - 1)


def _by_size(operation: str, target: str) -> bool:
    """Whether a library looks at the size of a message at all."""
    return operation == "alltoall" or target == "flitwork"


def _times(table: pd.DataFrame, translate: Translate, ranks: int) -> Times:
    """What is known, by size; of an algorithm that was measured twice the faster time."""
    found: dict[int, dict[Choice, Time]] = {}
    for row in table.to_dict("records"):
        choice = translate(Choice.read(str(row["algorithm"])), ranks)
        if choice is None or not row["verified"]:
            continue
        seconds = float(row["seconds"])
        low, high = (seconds if math.isnan(end) else float(end) for end in (row["low"], row["high"]))
        known = found.setdefault(int(row["bytes"]), {})
        if choice not in known or seconds < known[choice].seconds:
            known[choice] = Time(seconds, low, high)
    return dict(sorted(found.items()))


def _of_box(
    operation: str,
    times: Times,
    box: tuple[Span, Span],
    everywhere: Mapping[str, bool],
    tolerance: float,
    sized: bool,
) -> list[Rule]:
    """The rules for a number of ranks and of ranks per server, and what is between them and the next ones."""
    if not times:
        return []
    ranks, servers = box
    best = pieces(times, tolerance) if sized else [Piece(0, _one_for_all(times))]
    special = {c for by in times.values() for c in by if not everywhere.get(c.algorithm, True)}
    if not any(piece.choice in special for piece in best):
        return _written(operation, ranks, servers, best)
    exact = _written(operation, Span(ranks.low, ranks.low), Span(servers.low, servers.low), best)
    general = {size: {c: t for c, t in by.items() if c not in special} for size, by in times.items()}
    rest = pieces({size: by for size, by in general.items() if by}, tolerance)
    beside = [] if servers.high == servers.low else [(Span(ranks.low, ranks.low), Span(servers.low + 1, servers.high))]
    behind = [] if ranks.high == ranks.low else [(Span(ranks.low + 1, ranks.high), servers)]
    return exact + [rule for a, b in beside + behind for rule in _written(operation, a, b, rest)]


def _written(operation: str, ranks: Span, servers: Span, found: Sequence[Piece]) -> list[Rule]:
    """Pieces as rules; where the library's own choice is the best, there is none."""
    ends = [piece.low - 1 for piece in found[1:]] + [None]
    return [
        Rule(operation, ranks, servers, Span(piece.low, end), piece.choice)
        for piece, end in zip(found, ends, strict=True)
        if piece.choice.algorithm != LIBRARY
    ]


def pieces(times: Times, tolerance: float = 0.0) -> list[Piece]:
    """The fewest pieces that name one of the fastest algorithms at each size; the first begins at 0 bytes."""
    sizes = list(times)
    fastest = [_fastest(times[size], tolerance) for size in sizes]
    found: list[Piece] = []
    first = 0
    while first < len(sizes):
        common, last = set(fastest[first]), first + 1
        while last < len(sizes) and common & fastest[last]:
            common &= fastest[last]
            last += 1
        choice = _simplest(common, [times[size] for size in sizes[first:last]])
        if not found:
            found.append(Piece(0, choice))
        elif choice != found[-1].choice:
            found.append(Piece(_crossing(times, sizes[first - 1], sizes[first], found[-1].choice, choice), choice))
        first = last
    return found


def _fastest(times: Mapping[Choice, Time], tolerance: float) -> set[Choice]:
    """The fastest one, and those that are not known to be slower."""
    best = min(times.values(), key=lambda time: time.seconds)
    limit = max(best.high, best.seconds * (1 + tolerance))
    return {choice for choice, time in times.items() if min(time.low, time.seconds) <= limit}


def _simplest(choices: set[Choice], times: Sequence[Mapping[Choice, Time]]) -> Choice:
    def cost(choice: Choice) -> tuple[int, float, int, str]:
        order = list(ours())
        place = order.index(choice.algorithm) if choice.algorithm in order else -1
        return len(choice.parameters), sum(by[choice].seconds for by in times), place, str(choice)

    return min(choices, key=cost)


def _one_for_all(times: Times) -> Choice:
    """For what the library decides without the size: the least mean of how much slower than the fastest one is."""
    shared = set.intersection(*(set(by) for by in times.values()))
    if not shared:
        raise ConfigError("algorithm", "none", "one that was measured at all sizes", "measure the same ones at each")
    best = {size: min(time.seconds for time in by.values()) for size, by in times.items()}
    return min(shared, key=lambda choice: (sum(by[choice].seconds / best[s] for s, by in times.items()), str(choice)))


def _crossing(times: Times, before: int, behind: int, old: Choice, new: Choice) -> int:
    """The first size at which the new one is the faster of the two, by straight lines between two sizes."""
    if old not in times[behind] or new not in times[before]:
        return behind
    ahead = times[before][new].seconds - times[before][old].seconds
    late = times[behind][old].seconds - times[behind][new].seconds
    if ahead <= 0 or late <= 0:
        return behind
    return min(behind, before + max(1, math.ceil((behind - before) * ahead / (ahead + late))))
