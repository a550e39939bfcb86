"""What other benchmarks print, as measurements: the OSU micro-benchmarks and the Intel MPI Benchmarks.

Both say microseconds. Where they print the time of the slowest rank it is taken, as :func:`flitwork.tune.bench` does;
otherwise the average over the ranks; a time that is printed as 0.00 is left out. The least and the most are those of
ranks, no confidence interval: ``low`` and ``high`` stay unknown.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from flitwork.base.errors import ConfigError
from flitwork.measurements.text import Place

OSU, IMB = "osu", "imb"
_OSU_NAMES = (
    ("All-to-Allw", "alltoallw"), ("All-to-Allv", "alltoallv"), ("All-to-All", "alltoall"),
    ("Allgatherv", "allgatherv"), ("Allgather", "allgather"), ("Allreduce", "allreduce"),
    ("Reduce_scatter", "reduce_scatter"), ("Reduce", "reduce"), ("Broadcast", "broadcast"), ("Gatherv", "gatherv"),
    ("Gather", "gather"), ("Scatterv", "scatterv"), ("Scatter", "scatter"), ("Barrier", "barrier"),
    ("MPI Latency Test", "pingpong"),
)  # fmt: skip
#: Columns of times [us]: the slowest rank before the average.
_OSU_TIMES = ("max latency(us)", "avg latency(us)", "latency(us)")
#: Names of columns, of which some have blanks in them.
_OSU_COLUMN = re.compile(r"(?:Avg|Min|Max) (?:Latency|Lat)\s?\(us\)|P\d+ Tail Lat\s?\(us\)|\S+(?: \(\S+\))?")
#: What launchers put before each line of a rank (``mpirun --tag-output``, ``mpiexec -l``, ``srun -l``).
_TAG = re.compile(r"^(?:\[\d+,\d+\]<\w+>: ?|\[\d+\] |\s*\d+: )", re.M)
#: A column of words: whether the data were right (osu_* -c).
_VALIDATION = {"pass": 1.0, "fail": 0.0}
_IMB_TIMES = ("t_max[usec]", "t[usec]", "t_avg[usec]")
_IMB_SKIPPED = re.compile(r"out-of-mem|time-out|int-overflow")
_IMB_NAMES = {"bcast": "broadcast"}


@dataclass(frozen=True)
class Defaults:
    """What a text may leave open: ranks, ranks per server, what was measured, with which library."""

    ranks: int | None = None
    ranks_per_server: int = 1
    algorithm: str = "library"
    mpi: str = ""
    version: str = ""


def recognised(text: str) -> str | None:
    """Which benchmark has printed a text; ``None``: neither."""
    text = _untagged(text)
    if re.search(r"^#\s*OSU MPI", text, re.M):
        return OSU
    return IMB if re.search(r"^#.*(Intel\(R\) MPI Benchmarks|Benchmarking )", text, re.M) else None


def rows(text: str, kind: str, file: str, defaults: Defaults) -> list[dict[str, Any]]:
    """The rows of a text; what is wrong is an error with its line."""
    reader = _Reader(Place(file), defaults)
    lines = [(number, line.rstrip()) for number, line in enumerate(_untagged(text).splitlines(), 1)]
    found = list(reader.osu(lines) if kind == OSU else reader.imb(lines))
    if not found:
        raise ConfigError(file, "no measurements", "a line for each message size below the names of the columns")
    return found


def _untagged(text: str) -> str:
    """A text without the tags of a launcher, if its title has one."""
    title = re.search(r"^(.*)#.*(OSU MPI|Intel\(R\) MPI Benchmarks|Benchmarking )", text, re.M)
    return _TAG.sub("", text) if title and _TAG.fullmatch(title[1]) else text


def _number(column: str | None, word: str) -> float:
    """A cell; ValueError where it is no number."""
    words = _VALIDATION if column == "validation" else {}
    return words[word.lower()] if word.lower() in words else float(word)


class _Reader:
    def __init__(self, place: Place, defaults: Defaults) -> None:
        self.place, self.defaults = place, defaults
        self.operation = ""
        self.ranks = defaults.ranks
        self.columns: list[str] = []

    def osu(self, lines: Sequence[tuple[int, str]]) -> Iterator[dict[str, Any]]:
        for number, line in lines:
            if line.startswith("#") and "OSU MPI" in line:
                self._osu_title(number, line)
            elif not self.operation and not line[:1].isdigit():
                continue  # What a launcher prints before the benchmark begins.
            elif re.match(r"#\s*(Size\b.*\(|.*\(us\))", line):
                names = _OSU_COLUMN.findall(line[1:])
                self.columns = [re.sub(r"\s\(", "(", name).lower() for name in names]
            elif line.strip() and not line.startswith("#"):
                cells = self._cells(number, line)
                time = self._first(cells, _OSU_TIMES, number, line)
                if cells.get("validation") == 0:
                    raise self.place.error((number, 1), "Fail", "Pass: times of right data")
                yield from self._row(number, cells.get("size", 0.0), time, cells.get("iterations", 1.0))

    def _osu_title(self, number: int, line: str) -> None:
        names = [operation for name, operation in _OSU_NAMES if name in line]
        if not names or "Non-blocking" in line:
            expected = f"a blocking collective or the latency test: {', '.join(name for _, name in _OSU_NAMES)}"
            raise self.place.error((number, 1), line, expected)
        self.operation, self.columns = names[0], []
        self.ranks = 2 if self.operation == "pingpong" else self.defaults.ranks
        if self.ranks is None:
            raise self.place.error((number, 1), line, "the number of ranks, which this text does not say", "--ranks N")

    def imb(self, lines: Sequence[tuple[int, str]]) -> Iterator[dict[str, Any]]:
        for number, line in lines:
            if match := re.match(r"#\s*Benchmarking\s+(\S+)", line):
                name = match[1].lower()
                self.operation, self.columns, self.ranks = _IMB_NAMES.get(name, name), [], None
            elif match := re.match(r"#\s*#processes\s*=\s*(\d+)", line):
                self.ranks = int(match[1])
            elif line.strip().startswith(("#bytes", "#repetitions")):
                self.columns = [name.lstrip("#").lower() for name in line.split()]
            elif self.columns and line.strip() and not line.startswith("#") and not _IMB_SKIPPED.search(line):
                if not line.split()[0][0].isdigit():
                    self.columns = []
                    continue
                cells = self._cells(number, line)
                time = self._first(cells, _IMB_TIMES, number, line)
                yield from self._row(number, cells.get("bytes", 0.0), time, cells.get("repetitions", 1.0))

    def _cells(self, number: int, line: str) -> dict[str, float]:
        """The numbers of a line by the names of their columns."""
        if not self.columns:
            raise self.place.error((number, 1), line.strip(), "a line with the names of the columns above it")
        found = []
        for name, match in itertools.zip_longest(self.columns, re.finditer(r"\S+", line)):
            if match is None:
                break
            try:
                found.append(_number(name, match[0]))
            except ValueError:
                raise self.place.error((number, match.start() + 1), match[0], "a number") from None
        if len(found) != len(self.columns):
            expected = f"{len(self.columns)} numbers: {', '.join(self.columns)}"
            raise self.place.error((number, 1), f"{len(found)} numbers", expected)
        return dict(zip(self.columns, found, strict=True))

    def _first(self, cells: dict[str, float], names: Sequence[str], number: int, line: str) -> float:
        for name in names:
            if name in cells:
                return cells[name]
        raise self.place.error((number, 1), ", ".join(cells), f"a column with times: {', '.join(names)}")

    def _row(self, number: int, size: float, microseconds: float, repetitions: float) -> Iterator[dict[str, Any]]:
        if self.ranks is None:
            raise self.place.error((number, 1), self.operation or "a number", "#processes = N above the numbers")
        if microseconds == 0:
            return  # Less than what is printed of it.
        if microseconds < 0 or size < 0 or not size.is_integer():
            raise self.place.error((number, 1), f"{size:g} bytes, {microseconds:g} us", "a size and a time above 0")
        defaults = self.defaults
        yield {
            "operation": self.operation,
            "algorithm": defaults.algorithm,
            "bytes": int(size),
            "ranks": self.ranks,
            "ranks_per_server": defaults.ranks_per_server,
            "seconds": microseconds * 1e-6,
            "repetitions": int(repetitions),
            "verified": True,
            "mpi": defaults.mpi,
            "version": defaults.version,
        }
