"""Which algorithm of an MPI library is which of ours: what rules for that library may name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from flitwork import _core
from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.questions.candidates import OPERATION

from flitwork_mpi.native.settings import options_of
from flitwork_mpi.tune.rule import LIBRARY, MOST_RANKS, Choice

#: What rules can be written for.
TARGETS = ("flitwork", "openmpi", "openmpi6", "mpich")
#: The algorithms of Open MPI's component coll/tuned by their numbers; 0 leaves the choice to Open MPI.
OPENMPI: Mapping[str, tuple[str, ...]] = {
    "alltoall": ("ignore", "linear", "pairwise", "modified_bruck", "linear_sync", "two_proc"),
    "alltoallv": ("ignore", "basic_linear", "pairwise"),
}
#: MPICH's algorithms for all-to-alls that are not in place, in all its versions from 4.0 on.
MPICH: Mapping[str, tuple[str, ...]] = {"alltoall": ("brucks", "pairwise", "scattered")}
#: Most requests under way, a parameter of Open MPI's linear_sync.
REQUESTS = "requests"
#: The least and the most that a parameter of an algorithm may be, as the libraries read it.
LIMITS: Mapping[str, tuple[int, int]] = {
    "radix": (2, 2**32 - 1),
    "leaders": (1, 2**32 - 1),
    REQUESTS: (0, MOST_RANKS),
}
#: Where ours are defined on all ranks and servers, in words of the table of collectives.
_EVERYWHERE = "2 ranks or more"


@dataclass(frozen=True)
class Same:
    """An algorithm of a library that sends what one of ours sends; ``holds`` says for which numbers of ranks."""

    library: str
    ours: str
    theirs: str
    about: str
    ranks: str = "any"

    def holds(self, ranks: int) -> bool:
        """Whether they are the same on so many ranks."""
        power = ranks & (ranks - 1) == 0
        return {"any": True, "2^k": power, "not 2^k": not power}[self.ranks]


_REVERSED = "all at once; the library sends to rank me - 1 first, ours to me + 1"
SAME = (
    Same("openmpi", "pairwise_shift", "pairwise", "step i sends to me + i and receives from me - i"),
    Same("openmpi", "simple_spread", "linear", _REVERSED),
    Same("openmpi", "bruck", "modified_bruck", "a round for each bit of the distance"),
    Same("mpich", "pairwise_xor", "pairwise", "step i exchanges with rank me XOR i", "2^k"),
    Same("mpich", "pairwise_shift", "pairwise", "step i sends to me + i and receives from me - i", "not 2^k"),
    Same("mpich", "simple_spread", "scattered", _REVERSED + "; the library has at most 32 under way"),
    Same("mpich", "bruck", "brucks", "a round for each bit of the distance"),
)
#: Open MPI's alltoallv has other names.
_OF_ALLTOALLV = {"linear": "basic_linear", "pairwise": "pairwise"}

#: From a measured algorithm and its number of ranks to what a rule may say; ``None``: nothing.
Translate = Callable[[Choice, int], Choice | None]


def translation(target: str, operation: str) -> Translate:
    """What becomes of measured algorithms in rules for ``target``: ours by their names, or those of the library.

    A measurement may name an algorithm of a library outright: ``openmpi:pairwise``.
    """
    if target == "flitwork":
        return lambda choice, ranks: choice if choice.algorithm == LIBRARY or choice.algorithm in ours() else None
    family = target.rstrip("6")

    def theirs(choice: Choice, ranks: int) -> Choice | None:
        if choice.algorithm == LIBRARY:
            return choice
        owner, mark, name = choice.algorithm.partition(":")
        if mark:
            return Choice(name, choice.parameters) if owner == family and name in _known(family, operation) else None
        if choice.parameters not in ((), (("radix", 2),)):
            return None
        rows = (row for row in SAME if row.library == family and row.ours == choice.algorithm and row.holds(ranks))
        names = [row.theirs for row in rows]
        if operation != "alltoall":
            names = [_OF_ALLTOALLV[name] for name in names if name in _OF_ALLTOALLV]
        return Choice(names[0]) if names and names[0] in _known(family, operation) else None

    return theirs


def _known(family: str, operation: str) -> tuple[str, ...]:
    return (OPENMPI if family == "openmpi" else MPICH).get(operation, ())


def named(operation: str) -> tuple[str, ...]:
    """What measurements of ``operation`` may name: the library's own choice, ours, and those of the libraries."""
    theirs = (f"{family}:{name}" for family in ("openmpi", "mpich") for name in _known(family, operation))
    return (LIBRARY, *ours(), *theirs)


def check_parameters(path: str, choice: Choice) -> None:
    """Refuses a parameter that an algorithm does not have, has twice, or whose number is not allowed."""
    known = [REQUESTS] if choice.algorithm == "openmpi:linear_sync" else options_of(choice.algorithm)
    given = [name for name, _ in choice.parameters]
    for name, value in choice.parameters:
        if name not in known:
            expected = f"parameters of {choice.algorithm}: {', '.join(known) or 'none'}"
            raise ConfigError(path, choice, expected, did_you_mean(name, known) or f"leave {name}={value} out")
        if given.count(name) > 1:
            raise ConfigError(path, choice, f"{name} once", "leave the other one out")
        least, most = LIMITS[name]
        if not least <= value <= most:
            raise ConfigError(path, choice, f"{name}=NUMBER, from {least} to {most}")


def ours() -> dict[str, bool]:
    """Our all-to-alls in the order of the table; whether each is defined on all numbers of ranks and servers."""
    return {row["name"]: row["defined_on"].startswith(_EVERYWHERE) for row in _rows()}


def _rows() -> list[dict[str, str]]:
    return [row for row in json.loads(_core.components())["collectives"] if row["operation"] == OPERATION]
