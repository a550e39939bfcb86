"""MPICH's tuning file (``MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE``): nested tables, each key a condition.

The first condition of a table that holds leads on; a key ``algorithm=NAME`` ends the way, and its table may have
parameters (``k=4``). Such a file takes the place of all rules that MPICH has built in, so it needs those of all
collectives. What is written is the rules of a MPICH library, or of a file, in which those of all-to-alls that are not
in place are new.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flitwork.base import input_files
from flitwork.base.errors import ConfigError, did_you_mean

from flitwork_mpi.tune.json_places import Located, located
from flitwork_mpi.tune.json_places import Path as Where
from flitwork_mpi.tune.names import MPICH
from flitwork_mpi.tune.openmpi_file import Step, one_per_server, segments, without_gaps
from flitwork_mpi.tune.rule import EXTRAPOLATED, LIBRARY, Asked, Choice, Rule, Selected, whole_number

#: Blocking collectives: MPICH fails in those that a file says nothing of.
REQUIRED = (
    *("bcast", "allreduce", "reduce", "barrier", "gather", "gatherv", "scatter", "scatterv", "alltoall", "alltoallv"),
    *("alltoallw", "allgather", "allgatherv", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"),
)
_INTRA, _PLACE = "comm_type=intra", "is_sendbuf_inplace=no"
_NAMES = "|".join(("comm_size", "avg_msg_size", "total_msg_size", "count", "comm_avg_ppn"))
_LIMIT = re.compile(rf"({_NAMES})(<=|<)(\d+)")
_OTHER = re.compile(
    r"(any|\w+=any|comm_type=(intra|inter)|comm_size=(pow2|node_comm_size)|count<pow2|"
    r"comm_hierarchy=(parent|node_roots|node|flat)|(is_multi_threaded|is_sendbuf_inplace|is_commutative|"
    r"is_op_built_in|is_block_regular|is_node_consecutive)=(yes|no)|collective=\w+)"
)
_END = re.compile(r"(algorithm|composition)=(\w+)")
_PARAMETER = re.compile(r"\w+=\w+")
_BUILT_IN = re.compile(rb'(?<=\0)\s*(\{\s*"collective=[^\0]*\})\s*(?=\0)')
#: What stands in the place of the library for the linker alone.
_LINKER_SCRIPT = re.compile(rb"\s*INPUT\s*\(\s*([\w.+-]+)\s*\)\s*$")
#: MPICH reads the file into whole pages and takes it for a text that ends in a zero.
_PAGE_BYTES = 4096
_MOST = 2**31 - 1
#: A parameter that no algorithm has, which MPICH passes over.
_MARK = f"{EXTRAPOLATED}=yes"


def _read(file: Path) -> bytes:
    return input_files.read_bytes(file, "--base", "a file")


def built_in(file: Path) -> str:
    """The rules for all collectives that a MPICH library has built in, or the text of a tuning file."""
    data = _read(file)
    if named := _LINKER_SCRIPT.match(data):
        file = file.parent / named[1].decode(errors="replace")
        data = _read(file)
    if not data.startswith(b"\x7fELF"):
        return data.decode("utf-8-sig", errors="replace")
    found = [text for text in _BUILT_IN.findall(data) if b"algorithm=MPIR_Alltoall_intra" in text]
    if not found:
        raise ConfigError(
            "--base", file, "a library of MPICH 4 or later", "libmpi.so or libmpich.so that programs load"
        )
    return str(max(found, key=len).decode())


def write(rules: Sequence[Rule], comment: str = "", base: Path | None = None) -> str:
    """The text of a tuning file: that of ``base`` with these rules. JSON has no comments: ``comment`` is left out."""
    if base is None:
        hint = "libmpi.so or libmpich.so that programs load; other collectives keep the rules that it has built in"
        raise ConfigError("--base", "nothing", "a MPICH library, or a tuning file of it", hint)
    tree = located(built_in(base), str(base)).value
    one_per_server(rules)
    for operation in dict.fromkeys(rule.operation for rule in rules):
        try:
            parent = tree[f"collective={operation}"][_INTRA]
            template = parent[_PLACE]
        except (KeyError, TypeError):
            expected = f"rules of {operation} by {_INTRA} and {_PLACE}"
            raise ConfigError("--base", base, expected, "of MPICH 4 or later") from None
        parent[_PLACE] = _communicators([rule for rule in rules if rule.operation == operation], operation, template)
    text = json.dumps(tree, indent=1) + "\n"
    return text if len(text.encode()) % _PAGE_BYTES else text + "\n"


def _communicators(rules: Sequence[Rule], operation: str, template: Mapping[str, Any]) -> dict[str, Any]:
    """By number of ranks, in ascending order, the last one for all."""
    found = segments(rules)
    ends = [f"comm_size<={ranks.high}" for ranks, _ in found[:-1]] + ["comm_size=any"]
    return {end: _messages(without_gaps(here), operation, template) for end, (_, here) in zip(ends, found, strict=True)}


def _messages(steps: Sequence[Step], operation: str, template: Mapping[str, Any]) -> Any:
    trees = [
        deepcopy(template)
        if choice.algorithm == LIBRARY
        else {_name(operation, choice): {_MARK: {}} if extrapolated else {}}
        for _, choice, extrapolated in steps
    ]
    if len(steps) == 1:
        return trees[0]
    ends = [f"avg_msg_size<={low - 1}" for low, *_ in steps[1:] if low <= _MOST] + ["avg_msg_size=any"]
    return dict(zip(ends, trees, strict=False))


def _name(operation: str, choice: Choice) -> str:
    return f"algorithm=MPIR_{operation.capitalize()}_intra_{choice.algorithm}"


@dataclass(frozen=True)
class MpichFile:
    """A tuning file that has been read."""

    document: Located
    format: str = "mpich"

    def listing(self) -> list[dict[str, Any]]:
        """A row for each way through the tables of all-to-alls."""
        rows = []
        for operation in ("alltoall", "alltoallv", "alltoallw"):
            for path in self._ends((f"collective={operation}",)):
                conditions = ", ".join(map(str, path[1:-1]))
                algorithm = str(path[-1]).partition("=")[2]
                line = self.document.at(path)[0]
                row = {"line": line, "operation": operation, "where": conditions, "algorithm": algorithm}
                rows.append({**row, "extrapolated": _MARK in self.document.find(path)})
        return rows

    def _ends(self, path: Where) -> Iterator[Where]:
        table = self.document.find(path)
        for key in table:
            if _END.fullmatch(_squeezed(key)):
                yield (*path, key)
            else:
                yield from self._ends((*path, key))

    def select(self, asked: Asked) -> Selected:
        """What MPICH selects for a call that is not in place on a communicator whose ranks are in one group."""
        path: Where = (f"collective={asked.operation}",)
        if path[0] not in self.document.value:
            return Selected(LIBRARY, 0, f"nothing is said of {asked.operation}")
        while True:
            for key in self.document.find(path):
                squeezed = _squeezed(key)
                if end := _END.fullmatch(squeezed):
                    name = re.sub(rf"^MPIR_{asked.operation}_intra_", "", end[2], flags=re.I)
                    line, why = self.document.at((*path, key))[0], ", ".join(map(str, path[1:])) or "always"
                    return Selected(name, line, why, _MARK in self.document.find((*path, key)))
                holds = _holds(squeezed, asked)
                if holds is None:
                    line = self.document.at((*path, key))[0]
                    return Selected("undecided", line, f"it depends on {squeezed}, which is not said")
                if holds:
                    path = (*path, key)
                    break
            else:
                return Selected(LIBRARY, self.document.at(path)[0], "no condition holds here")


def _holds(condition: str, asked: Asked) -> bool | None:
    """Whether a condition holds for a call; ``None``: that is not known."""
    if limit := _LIMIT.fullmatch(condition):
        total = asked.bytes * asked.ranks
        numbers = {
            "comm_size": asked.ranks,
            "avg_msg_size": asked.bytes,
            "total_msg_size": total,
            "comm_avg_ppn": asked.per_server,
        }
        number = numbers.get(limit[1])
        return None if number is None else number <= int(limit[3]) - (limit[2] == "<")
    known = {_INTRA: True, "comm_type=inter": False, _PLACE: True, "is_sendbuf_inplace=yes": False}
    if condition == "comm_size=pow2":
        return asked.ranks & (asked.ranks - 1) == 0
    return True if condition == "any" or condition.endswith("=any") else known.get(condition)


def read(text: str, file: str) -> MpichFile:
    """Reads a tuning file; what is wrong is an error with line and column.

    Wrong are conditions and algorithms of all-to-alls that MPICH does not know, limits that are not in ascending order,
    tables whose last condition may fail, and blocking collectives without rules.
    """
    document = located(text, file)
    tree = document.table(())
    for key in tree:
        if not _squeezed(key).startswith("collective="):
            raise document.error(
                (key,), key, "collective=NAME", did_you_mean(key, [f"collective={n}" for n in REQUIRED])
            )
        _check(document, (key,))
    missing = [name for name in REQUIRED if f"collective={name}" not in map(_squeezed, tree)]
    if missing:
        hint = "the file takes the place of all rules of MPICH, which fails without these"
        raise document.error((), f"no rules of {', '.join(missing)}", "rules of every blocking collective", hint)
    return MpichFile(document)


def _check(document: Located, path: Where) -> None:
    """The table of a condition, and those in it."""
    table = document.table(path)
    if not table:
        raise document.error(path, path[-1], "conditions or an algorithm in its table")
    limits: dict[str, int] = {}
    for key in table:
        here, condition = (*path, key), _squeezed(key)
        if end := _END.fullmatch(condition):
            _check_end(document, here, end, alone=len(table) == 1)
            continue
        if limit := _LIMIT.fullmatch(condition):
            number = whole_number(limit[3], _MOST + 1)
            last = _MOST + 1 if number is None else number - (limit[2] == "<")
            if last <= limits.get(limit[1], -1) or last > _MOST:
                expected = f"limits of {limit[1]} in ascending order, up to {_MOST}"
                raise document.error(here, key, expected, "the first condition that holds wins")
            limits[limit[1]] = last
        elif not _OTHER.fullmatch(condition):
            raise document.error(here, key, "a condition of MPICH, or algorithm=NAME", "such as avg_msg_size<=4096")
        _check(document, here)
    last_key = _squeezed([*table][-1])
    if _LIMIT.fullmatch(last_key) or last_key in ("comm_size=pow2", "count<pow2", "comm_size=node_comm_size"):
        raise document.error(
            (*path, [*table][-1]), last_key, "a last condition that always holds", "such as avg_msg_size=any"
        )


def _check_end(document: Located, path: Where, end: re.Match[str], alone: bool) -> None:
    parameters = document.table(path)
    if not alone:
        raise document.error(path, end[0], "it alone in its table")
    for key, value in parameters.items():
        if not _PARAMETER.fullmatch(_squeezed(key)) or value != {}:
            raise document.error((*path, key), key, "a parameter with an empty table", '"k=4": {}')
    operation = _squeezed(str(path[0])).partition("=")[2]
    if operation == "alltoall" and "comm_type=intra" in path:
        known = [f"MPIR_Alltoall_intra_{n}" for n in (*MPICH["alltoall"], "k_brucks", "pairwise_sendrecv_replace")]
        known.append("MPIR_Alltoall_allcomm_nb")
        if end[1] == "algorithm" and end[2] not in known:
            raise document.error(path, end[2], f"one of {', '.join(known)}", did_you_mean(end[2], known))


def _squeezed(key: str) -> str:
    """A key as MPICH reads it: without blanks."""
    return "".join(key.split())
