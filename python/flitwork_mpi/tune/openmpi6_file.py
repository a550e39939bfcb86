"""The dynamic rules file of Open MPI's component coll/tuned in JSON, which Open MPI reads from version 6 on.

``collectives`` has a list for each collective: communicators by ``comm_size_min`` and ``comm_size_max`` (and
``comm_rank_distribution``), in each of them ``rules`` by ``msg_size_min`` and ``msg_size_max``. The first that matches
wins, first among communicators, then among their rules; where none does, Open MPI chooses.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flitwork.base.errors import did_you_mean

from flitwork_mpi.tune.json_places import Located, Path, located
from flitwork_mpi.tune.names import OPENMPI, REQUESTS
from flitwork_mpi.tune.openmpi_file import COLLECTIVES, in_sums, segments, vector_bytes
from flitwork_mpi.tune.rule import EXTRAPOLATED, LIBRARY, MOST_RANKS, Asked, Choice, Rule, Selected, Span, no_rules, row

_TOP = ("$schema", "rule_file_version", "module", "collectives")
_COMMUNICATOR = ("comm_size_min", "comm_size_max", "comm_rank_distribution", "rules")
_RULE = ("msg_size_min", "msg_size_max", "alg", "reqs", "faninout", "seg_size", EXTRAPOLATED)
_DISTRIBUTIONS = ("any", "one-per-node", "single-node")
_VERSION = 3


def write(rules: Sequence[Rule], comment: str = "") -> str:
    """The text of a JSON file. JSON has no comments: ``comment`` is left out."""
    collectives: dict[str, list[dict[str, Any]]] = {}
    for operation in dict.fromkeys(rule.operation for rule in rules):
        of_it = [rule for rule in rules if rule.operation == operation]
        for ranks, steps in segments(of_it, narrow=True):
            here = in_sums(ranks, steps)
            if not here:
                continue
            communicator = {
                **_range("comm_size", ranks.low, ranks.high),
                "rules": [
                    {**_range("msg_size", rule.bytes.low, rule.bytes.high), **_choice(rule.choice), **_mark(rule)}
                    for rule in here
                ],
            }
            collectives.setdefault(operation, []).append(communicator)
    if not collectives:
        raise no_rules("rules", "their ranges of ranks have no message size in common")
    document = {"rule_file_version": _VERSION, "module": "tuned", "collectives": collectives}
    return json.dumps(document, indent=2) + "\n"


def _range(name: str, low: int, high: int | None) -> dict[str, int]:
    return {f"{name}_min": low, **({} if high is None else {f"{name}_max": high})}


def _mark(rule: Rule) -> dict[str, bool]:
    """A key that Open MPI passes over."""
    return {EXTRAPOLATED: True} if rule.extrapolated else {}


def _choice(choice: Choice) -> dict[str, int | str]:
    requests = dict(choice.parameters).get(REQUESTS)
    return {"alg": choice.algorithm, **({} if requests is None else {"reqs": requests})}


@dataclass(frozen=True)
class Communicators:
    """Rules for communicators of some sizes."""

    operation: str
    ranks: Span
    distribution: str
    rules: tuple[Rule, ...]

    def holds(self, asked: Asked) -> bool:
        """Whether a call's communicator is one of them; where ranks per server are not said, it may be any."""
        if self.operation != asked.operation or asked.ranks not in self.ranks:
            return False
        one = {"one-per-node": 1, "single-node": asked.ranks}.get(self.distribution)
        return one is None or (asked.per_server is not None and asked.per_server == one)


@dataclass(frozen=True)
class OpenMpi6File:
    """A JSON file that has been read."""

    communicators: tuple[Communicators, ...]
    format: str = "openmpi6"

    def listing(self) -> list[dict[str, Any]]:
        """A row a rule; ``vector_bytes`` is what a rank sends to all."""
        found = []
        for one in self.communicators:
            for rule in one.rules:
                names = row(rule, "vector_bytes")
                found.append(
                    {
                        **names,
                        "ranks_per_server": {"one-per-node": "1", "single-node": "all"}.get(one.distribution, "any"),
                    }
                )
        return found

    def select(self, asked: Asked) -> Selected:
        """What coll/tuned selects."""
        size = vector_bytes(asked)
        one = next((one for one in self.communicators if one.holds(asked)), None)
        for rule in one.rules if one else ():
            if size in rule.bytes:
                name = LIBRARY if rule.choice.algorithm == "ignore" else str(rule.choice)
                why = f"{size} bytes to all ranks are in {rule.bytes}"
                return Selected(name, rule.line, why, rule.extrapolated)
        return Selected(LIBRARY, 0, "no rule is for these sizes: Open MPI chooses")


def read(text: str, file: str) -> OpenMpi6File:
    """Reads a JSON file; what is wrong is an error with line and column.

    It is stricter than Open MPI: keys that Open MPI passes over, algorithms that it does not know and rules that can
    never be reached are errors.
    """
    document = located(text, file)
    top = _table(document, (), _TOP)
    collectives = _table(document, ("collectives",), COLLECTIVES) if "collectives" in top else None
    if collectives is None:
        raise document.error((), "no collectives", "a table `collectives`", '{"collectives": {"alltoall": [...]}}')
    found: list[Communicators] = []
    for name in collectives:
        before: list[Communicators] = []
        for index, _ in enumerate(document.list(("collectives", name))):
            path: Path = ("collectives", name, index)
            one = _communicators(document, path, name)
            hidden = next(
                (b for b in before if b.ranks.covers(one.ranks) and b.distribution in ("any", one.distribution)), None
            )
            if hidden:
                raise document.error(
                    path, f"ranks {one.ranks}", "ranks that no entry before it takes all of", "the first one wins"
                )
            before.append(one)
        found += before
    return OpenMpi6File(tuple(found))


def _communicators(document: Located, path: Path, operation: str) -> Communicators:
    table = _table(document, path, _COMMUNICATOR)
    ranks = _span(document, path, "comm_size", table)
    distribution = table.get("comm_rank_distribution", "any")
    if distribution not in _DISTRIBUTIONS:
        where = (*path, "comm_rank_distribution")
        raise document.error(
            where, distribution, f"one of {', '.join(_DISTRIBUTIONS)}", did_you_mean(str(distribution), _DISTRIBUTIONS)
        )
    if "rules" not in table:
        raise document.error(path, ", ".join(table) or "nothing", "a list `rules`")
    rules: list[Rule] = []
    for index, _ in enumerate(document.list((*path, "rules"))):
        where = (*path, "rules", index)
        rule = _rule(document, where, operation, ranks)
        if any(before.covers(rule) for before in rules):
            raise document.error(
                where, f"bytes {rule.bytes}", "sizes that no rule before it takes all of", "the first one wins"
            )
        rules.append(rule)
    return Communicators(operation, ranks, str(distribution), tuple(rules))


def _rule(document: Located, path: Path, operation: str, ranks: Span) -> Rule:
    table = _table(document, path, _RULE)
    sizes = _span(document, path, "msg_size", table)
    if "alg" not in table:
        raise document.error(path, ", ".join(table) or "nothing", "alg, an algorithm")
    known = OPENMPI.get(operation)
    name = table["alg"]
    if known and isinstance(name, int) and not isinstance(name, bool) and 0 <= name < len(known):
        name = known[name]
    if known is not None and name not in known:
        expected = f"one of {', '.join(known)}, or 0 to {len(known) - 1}"
        raise document.error((*path, "alg"), name, expected, did_you_mean(str(name), known))
    for key in ("reqs", "faninout", "seg_size"):
        if key in table and not _is_whole(table[key]):
            raise document.error((*path, key), table[key], "a whole number, at least 0")
    more = {REQUESTS: table["reqs"]} if "reqs" in table else {}
    marked = table.get(EXTRAPOLATED, False)
    if not isinstance(marked, bool):
        raise document.error((*path, EXTRAPOLATED), marked, "true or false")
    return Rule(operation, ranks, Span(1), sizes, Choice.of(str(name), more), document.at(path)[0], marked)


def _table(document: Located, path: Path, known: Sequence[str]) -> Mapping[str, Any]:
    found = document.table(path)
    for key in found:
        if key not in known:
            raise document.error((*path, key), key, f"one of {', '.join(known)}", did_you_mean(key, known))
    return found


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _span(document: Located, path: Path, name: str, table: Mapping[str, Any]) -> Span:
    """A range from ``name_min`` to ``name_max``, both included."""
    ends: list[int | None] = []
    for key, default in ((f"{name}_min", 0), (f"{name}_max", None)):
        value = table.get(key, default)
        if value in ("inf", "Inf", "INF"):
            if name == "comm_size":
                hint = (
                    "leave it out: Open MPI keeps the number in an int, in which inf becomes -1, and no rule is found"
                )
                raise document.error((*path, key), value, "a whole number", hint)
            value = None
        if not (_is_whole(value) or (value is None and key.endswith("max"))):
            raise document.error((*path, key), table.get(key), "a whole number, or inf at the upper end")
        if name == "comm_size" and value is not None and value > MOST_RANKS:
            hint = "" if key.endswith("min") else "leave it out where there is no limit"
            raise document.error((*path, key), value, f"a whole number, from 0 to {MOST_RANKS}", hint)
        ends.append(value)
    low, high = ends
    if high is not None and low is not None and high < low:
        raise document.error((*path, f"{name}_max"), high, f"at least {name}_min, {low}")
    return Span(low or 0, high)
