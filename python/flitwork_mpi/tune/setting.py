"""Which algorithms can be measured with an MPI library, and what makes it take one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.questions.candidates import TRIED

from flitwork_mpi.native.settings import options_of
from flitwork_mpi.tune.names import MPICH, OPENMPI, check_parameters, ours
from flitwork_mpi.tune.rule import LIBRARY, Choice
from flitwork_mpi.tune.session import BenchError, Session

_FAMILIES = {
    "openmpi": re.compile(r"Open MPI v([\w.]+)"),
    "mpich": re.compile(r"MPICH Version:\s*([\w.]+)"),
    "intel": re.compile(r"Intel\(R\) MPI Library ([\w.]+)"),
    "mvapich": re.compile(r"MVAPICH2? Version\s*:\s*([\w.]+)"),
}
#: What the report of our library says of calls that it has handed over.
_HANDED_OVER = re.compile(r"flitwork: (?P<operation>\w+)\s+the MPI library: (?P<why>.*?)\s+(?P<calls>\d+)\s+-\s*$")
_NOT_MEASURED = ("ignore", "two_proc")


def family_of(words: str) -> tuple[str, str]:
    """The family and the version of an MPI library from its own words (``MPI_Get_library_version``)."""
    for family, pattern in _FAMILIES.items():
        if match := pattern.search(words):
            return family, match[1]
    return words.split()[0].lower(), ""


class NotTaken(BenchError):
    """Our library leaves an algorithm to the MPI library here; the message says why."""


@dataclass(frozen=True)
class Setting:
    """An MPI library, a number of ranks, and perhaps our library, and what the user tells it of servers and places."""

    mpi: str
    ranks: int
    library: str | Path | None = None
    servers: str | None = None
    places: str | Path | None = None

    def __post_init__(self) -> None:
        if self.library is not None and not Path(self.library).is_file():
            raise ConfigError("library", self.library, "libflitwork_mpi.so, a file")
        if self.places is not None and not Path(self.places).is_file():
            raise ConfigError("map", self.places, "a map file: the place of each rank on a grid", "mpi/README.md")
        if self.servers is not None:
            self.per_server()

    def per_server(self) -> int:
        """The most ranks on a server that ``servers`` says: ``4,4,2``, or ``by_rank:0,0,1``."""
        text = str(self.servers)
        by_rank = text.startswith("by_rank:")
        parts = text.removeprefix("by_rank:").split(",")
        numbers = [int(part) for part in parts if part.isdecimal()]
        variables = len(numbers) if by_rank else sum(numbers)
        if len(numbers) != len(parts) or (not by_rank and 0 in numbers) or variables != self.ranks:
            expected = f"ranks on each server, {self.ranks} in all, as 4,4, or by_rank: and a server for each rank"
            raise ConfigError("servers", text, expected)
        return max(Counter(numbers).values()) if by_rank else max(numbers)

    @staticmethod
    def needs_ours(algorithms: Sequence[str] | None) -> bool:
        """Whether our library is needed: for all algorithms, and for one of ours."""
        return algorithms is None or any(name.split()[0] in ours() for name in algorithms if name.split())

    def is_ours(self, algorithm: str) -> bool:
        """Whether our library carries it out."""
        return Choice.read(algorithm).algorithm in ours()

    def known(self, operations: Sequence[str]) -> list[str]:
        """All that can be measured: the library's choice, its own algorithms, and ours with the parameters tried."""
        table = {"openmpi": OPENMPI, "mpich": MPICH}.get(self.mpi, {})
        names_of_library = dict.fromkeys(
            name for one in operations for name in table.get(one, ()) if name not in _NOT_MEASURED
        )
        return [LIBRARY, *(f"{self.mpi}:{name}" for name in names_of_library), *(self._ours() if self.library else ())]

    def _ours(self) -> list[str]:
        found = []
        for name in ours():
            found.append(name)
            for parameter in options_of(name):
                found += [f"{name} {parameter}={value}" for value in TRIED[parameter] if value < self.ranks]
        return found

    def named(self, algorithms: Sequence[str] | None, operations: Sequence[str]) -> list[str]:
        """The algorithms to measure, each of which is known."""
        known = self.known(operations)
        if algorithms is None:
            return known
        for name in algorithms:
            self._check(name, known)
        if not algorithms:
            raise ConfigError("algorithms", "none", "at least one", "leave it out for all")
        return list(dict.fromkeys(algorithms))

    def _check(self, name: str, known: Sequence[str]) -> None:
        try:
            choice = Choice.read(name)
        except (ValueError, IndexError):
            raise ConfigError("algorithms", name, "a name, and parameters as name=number", "bruck radix=4") from None
        if name in known:
            return
        if choice.algorithm not in ours():
            every = list(dict.fromkeys([*known, *ours()]))
            raise ConfigError("algorithms", name, f"one of {', '.join(every)}", did_you_mean(name, every))
        if self.library is None:
            raise ConfigError(
                "algorithms", name, f"one of {', '.join(known)}", "ours need libflitwork_mpi.so: --library"
            )
        check_parameters("algorithms", choice)

    def environment(self, operation: str, algorithm: str) -> dict[str, str] | None:
        """What tells the ranks to take an algorithm; ``None`` if there is none for this operation."""
        choice = Choice.read(algorithm)
        family, mark, name = choice.algorithm.partition(":")
        if choice.algorithm in ours():
            variables = {f"FLITWORK_MPI_{key.upper()}": str(value) for key, value in choice.parameters}
            if self.servers is not None:
                variables["FLITWORK_MPI_SERVERS"] = self.servers
            if self.places is not None:
                variables["FLITWORK_MPI_MAP"] = str(Path(self.places).resolve())
            switches = {
                "FLITWORK_MPI_ALLTOALL": choice.algorithm,
                "FLITWORK_MPI_STRICT": "1",
                "FLITWORK_MPI_REPORT": "1",
            }
            return {"LD_PRELOAD": str(Path(str(self.library)).resolve()), **switches, **variables}
        if not mark:
            return {}
        if name not in (OPENMPI if family == "openmpi" else MPICH).get(operation, ()):
            return None
        if family == "openmpi":
            tuned = "OMPI_MCA_coll_tuned_"
            number = OPENMPI[operation].index(name)
            return {f"{tuned}use_dynamic_rules": "1", f"{tuned}{operation}_algorithm": str(number)}
        return {f"MPIR_CVAR_{operation.upper()}_INTRA_ALGORITHM": name}


def check_taken(command: Sequence[str], operation: str, size: int, timeout_seconds: float) -> None:
    """Runs a call, and raises :class:`NotTaken` if our library hands it over: its times would be another's."""
    with Session(command, {}, timeout_seconds) as session:
        session.job()
        session.times(operation, size, 1)
    check_handed_over(session, operation)


def check_handed_over(session: Session, operation: str) -> None:
    """Raises :class:`NotTaken` if our library handed a call over in a session that has ended."""
    said = session.said()
    for match in filter(None, map(_HANDED_OVER.search, said)):
        if match["operation"] == operation and int(match["calls"]):
            raise NotTaken(match["why"])
    if not any(line.startswith("flitwork: all-to-alls") for line in said):
        raise BenchError("our library says nothing of its calls: is it compiled with the mpicc of this MPI library?")
