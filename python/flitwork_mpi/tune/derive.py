"""From times to rules: for each number of ranks and ranks per server, the fastest algorithm over the message sizes.

Times of two algorithms whose intervals meet are a tie. Between sizes the fewest rules are kept that name a fastest
algorithm, or one that ties with it, at every measured size; among algorithms that could stand in such a rule the one
with fewer parameters wins, then the one that takes less time in all. A rule ends where the next one begins: there the
times of both, drawn as straight lines between the measured sizes, cross.

Rules end where the evidence ends (``evidence.py``); what is beyond is extrapolated, and only on request.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from flitwork.base.errors import ConfigError
from flitwork.base.libraries import pd

from flitwork_mpi.tune.evidence import Cell, Evidence, Point
from flitwork_mpi.tune.names import Translate, ours, translation
from flitwork_mpi.tune.rule import LIBRARY, OPERATIONS, Choice, Rule, Span, merged


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


def rules(
    table: pd.DataFrame, target: str = "flitwork", *, tolerance: float = 0.0, extrapolate: bool = False
) -> list[Rule]:
    """The rules that follow from a table of measurements (:data:`flitwork.tune.COLUMNS`), or of simulations.

    ``target`` says which algorithms may be named (:data:`flitwork.tune.TARGETS`). ``tolerance`` makes what is slower
    by this part a tie, too (0.02: 2 %). A rule is for sizes from the smallest measured one to the largest, and for the
    measured numbers of ranks and of ranks per server; numbers between two measured ones take the rules of the nearer
    one, by their ratio. An algorithm that is not defined for all numbers of ranks is named for the measured one alone,
    and the next best for the others.

    ``extrapolate`` adds rules for what is beyond: smaller and larger messages, more ranks, more ranks per server. They
    are marked (``Rule.extrapolated``).

    Rows with wrong data (``verified`` is false) are left out, with a warning.

    Raises :class:`flitwork.ConfigError` where no row has an algorithm that ``target`` knows, or right data.
    """
    if not 0 <= tolerance < 10:
        raise ConfigError("tolerance", tolerance, "a part from 0 to 10", "0.02 is 2 %")
    table = _verified(table)
    libraries = sorted({" ".join(one) for one in zip(table["mpi"], table["version"], strict=True)})
    if len(libraries) > 1:
        raise ConfigError("mpi", ", ".join(libraries), "measurements of one library", "make rules of each by itself")
    operations = [str(name) for name in dict.fromkeys(table["operation"]) if name in OPERATIONS]
    sized = [name for name in operations if goes_by_size(name, target) or extrapolate]
    if operations and not sized:
        expected = "extrapolate=True (--extrapolate): Open MPI takes one rule of it for all message sizes"
        raise ConfigError("operation", ", ".join(operations), expected, "or rules for another target")
    found: list[Rule] = []
    for operation in sized:
        rows = table[table["operation"] == operation]
        found += _of_operation(rows, operation, target, tolerance, extrapolate)
    if not found and not _is_known(table, operations, target):
        named = ", ".join(sorted(set(map(str, table["algorithm"]))))
        raise ConfigError("algorithm", named, f"an algorithm that {target} has", "flitwork tune --help, docs/tune.md")
    # Open MPI counts bytes to all ranks: only rules for one number of ranks end exactly where measured sizes end.
    return merged(found, ("bytes",)) if target.startswith("openmpi") else merged(found)


def _verified(table: pd.DataFrame) -> pd.DataFrame:
    """The rows with right data; a warning says how many others there are."""
    right = table["verified"].astype(bool)
    wrong = int((~right).sum())
    if wrong and wrong == len(table):
        hint = "the data that these calls delivered were wrong: flitwork mpi bench measures again"
        raise ConfigError("verified", f"False in all {wrong} rows", "rows whose data were right", hint)
    if wrong:
        text = f"{wrong} of {len(table)} rows are left out: the data of their calls were wrong (verified is False)"
        warnings.warn(text, stacklevel=3)
    return table[right]


def goes_by_size(operation: str, target: str) -> bool:
    """Whether a library looks at the size of a message at all: Open MPI does not in an alltoallv."""
    return operation == "alltoall" or not target.startswith("openmpi")


def _is_known(table: pd.DataFrame, operations: Sequence[str], target: str) -> bool:
    """Whether an algorithm was measured that rules could name."""
    for operation in operations:
        rows = table[table["operation"] == operation]
        translate = translation(target, operation)
        for name, ranks in zip(rows["algorithm"], rows["ranks"], strict=True):
            choice = translate(Choice.read(str(name)), int(ranks))
            if choice is not None and choice.algorithm != LIBRARY:
                return True
    return False


def _of_operation(table: pd.DataFrame, operation: str, target: str, tolerance: float, extrapolate: bool) -> list[Rule]:
    translate, everywhere = translation(target, operation), ours() if target == "flitwork" else {}
    times: dict[Point, Times] = {}
    for ranks, servers in sorted({*zip(map(int, table["ranks"]), map(int, table["ranks_per_server"]), strict=True)}):
        rows = table[(table["ranks"] == ranks) & (table["ranks_per_server"] == servers)]
        if here := _times(rows, translate, ranks):
            times[Point(ranks, servers, Span(min(here), max(here)))] = here
    evidence = Evidence([*times], servers_matter=target == "flitwork")
    sized = goes_by_size(operation, target)
    answers = {point: _answers(operation, here, everywhere, tolerance, sized) for point, here in times.items()}
    measured = [
        rule
        for cell in evidence.cells()
        for rule in answers[cell.point].at(exact=cell.exact)
        if sized
        for rule in rule.within(*cell.spans)
    ]
    if not extrapolate:
        return measured
    known = [cell.spans for cell in evidence.cells()] if sized else []
    return measured + [rule for cell in evidence.beyond() for rule in _left(answers[cell.point], cell, known)]


def _left(answers: Answers, cell: Cell, known: Sequence[tuple[Span, Span, Span]]) -> list[Rule]:
    """The rules of a cell that are for nothing that is known."""
    left = [part for rule in answers.at(exact=cell.exact) for part in rule.within(*cell.spans)]
    for spans in known:
        left = [part for rule in left for part in rule.without(*spans)]
    return [replace(rule, extrapolated=True) for rule in left]


@dataclass(frozen=True)
class Answers:
    """The rules for all sizes that follow from one number of ranks and ranks per server: for it, and for others."""

    here: Sequence[Rule]
    elsewhere: Sequence[Rule]

    def at(self, *, exact: bool) -> Sequence[Rule]:
        """The rules for the measured numbers, or for numbers near them."""
        return self.here if exact else self.elsewhere


def _answers(operation: str, times: Times, everywhere: Mapping[str, bool], tolerance: float, sized: bool) -> Answers:
    best = pieces(times, tolerance) if sized else [Piece(0, _one_for_all(times))]
    here = _written(operation, best)
    special = {c for by in times.values() for c in by if not everywhere.get(c.algorithm, True)}
    if not any(piece.choice in special for piece in best):
        return Answers(here, here)
    general = {size: {c: t for c, t in by.items() if c not in special} for size, by in times.items()}
    return Answers(here, _written(operation, pieces({size: by for size, by in general.items() if by}, tolerance)))


def _times(table: pd.DataFrame, translate: Translate, ranks: int) -> Times:
    """What is known, by size; of an algorithm that was measured twice the faster time."""
    found: dict[int, dict[Choice, Time]] = {}
    for row in table.to_dict("records"):
        choice = translate(Choice.read(str(row["algorithm"])), ranks)
        if choice is None:
            continue
        seconds = float(row["seconds"])
        low, high = (seconds if math.isnan(end) else float(end) for end in (row["low"], row["high"]))
        known = found.setdefault(int(row["bytes"]), {})
        if choice not in known or seconds < known[choice].seconds:
            known[choice] = Time(seconds, low, high)
    return dict(sorted(found.items()))


def _written(operation: str, found: Sequence[Piece]) -> list[Rule]:
    """Pieces as rules for any ranks; where the library's own choice is the best, there is none."""
    ends = [*(piece.low - 1 for piece in found[1:]), None][: len(found)]
    return [
        Rule(operation, Span(1), Span(1), Span(piece.low, end), piece.choice)
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
