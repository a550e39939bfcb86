"""Groups: ordered sets of ranks of the world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flitwork_mpi.programs.errors import Refusing, fault, not_supported
from flitwork_mpi.programs.handle import Handle
from flitwork_mpi.programs.integers import integer
from flitwork_mpi.programs.status import PROC_NULL, UNDEFINED
from flitwork_mpi.programs.world import me

IDENT, CONGRUENT, SIMILAR, UNEQUAL = 0, 1, 2, 3


class Group(Handle, metaclass=Refusing):
    """Ranks of the world, in an order: rank ``r`` of the group is ``ranks[r]`` of the world.

    Without ranks, and once it has been given up, it is ``MPI.GROUP_NULL``.
    """

    def __init__(self, ranks: Sequence[int] | Group | None = None) -> None:
        if not isinstance(ranks, Group):
            self._ranks: list[int] | None = None if ranks is None else list(ranks)

    @property
    def ranks(self) -> list[int]:
        """The ranks of the group, as numbers of the world."""
        if self._ranks is None:
            raise fault("GROUP", "MPI.GROUP_NULL has no ranks")
        return self._ranks

    def Get_size(self) -> int:
        """How many."""
        return len(self.ranks)

    def Get_rank(self) -> int:
        """This rank, in the group."""
        rank = me().rank
        return self.ranks.index(rank) if rank in self.ranks else UNDEFINED

    size = property(Get_size)
    rank = property(Get_rank)

    def Incl(self, ranks: Sequence[int]) -> Group:
        """The group of the named members, in this order."""
        return Group([self.ranks[self._checked(rank)] for rank in ranks])

    def Excl(self, ranks: Sequence[int]) -> Group:
        """All but those that are named."""
        left_out = {self._checked(rank) for rank in ranks}
        return Group([one for rank, one in enumerate(self.ranks) if rank not in left_out])

    def Range_incl(self, ranks: Sequence[tuple[int, int, int]]) -> Group:
        """The group of the members in ranges of first, last and step."""
        return self.Incl(_of_ranges(ranks))

    def Range_excl(self, ranks: Sequence[tuple[int, int, int]]) -> Group:
        """All but those of ranges of first, last and step."""
        return self.Excl(_of_ranges(ranks))

    @classmethod
    def Union(cls, group1: Group, group2: Group) -> Group:
        """The group of the first's members, then those of the second alone."""
        return cls([*group1.ranks, *(one for one in group2.ranks if one not in group1.ranks)])

    @classmethod
    def Intersection(cls, group1: Group, group2: Group) -> Group:
        """The group of the members of both, in the order of the first."""
        return cls([one for one in group1.ranks if one in group2.ranks])

    Intersect = Intersection

    @classmethod
    def Difference(cls, group1: Group, group2: Group) -> Group:
        """The group of the members of the first alone."""
        return cls([one for one in group1.ranks if one not in group2.ranks])

    def Translate_ranks(self, ranks: Any = None, group: Group | None = None) -> list[int]:
        """Ranks of this group as those of another (the older form: of the first of two groups)."""
        if isinstance(self, Group) and isinstance(ranks, Group):
            ranks, group = None, ranks
        ranks = range(len(self.ranks)) if ranks is None else ranks
        others = (group or Group(list(range(len(me().world.processes))))).ranks
        places = {one: place for place, one in enumerate(others)}
        return [r if r == PROC_NULL else places.get(self.ranks[self._checked(r)], UNDEFINED) for r in ranks]

    def Compare(self, other: Group) -> int:
        """``MPI.IDENT``, ``SIMILAR`` or ``UNEQUAL``."""
        if self.ranks == other.ranks:
            return IDENT
        return SIMILAR if sorted(self.ranks) == sorted(other.ranks) else UNEQUAL

    def Dup(self) -> Group:
        """A copy."""
        return Group(self.ranks)

    def Free(self) -> None:
        """Gives it up."""
        if self._ranks is None:
            raise fault("GROUP", "MPI.GROUP_NULL cannot be freed")
        self._ranks = None

    def _is_of_mpi(self) -> bool:
        return self is GROUP_EMPTY

    def _checked(self, rank: int) -> int:
        if not 0 <= rank < len(self.ranks):
            raise fault("RANK", f"rank {rank} of a group of {len(self.ranks)}")
        return rank

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Group) and self._ranks == other._ranks

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return self._ranks is not None

    def __reduce__(self) -> str | tuple[Any, ...]:
        for name, constant in (("GROUP_EMPTY", GROUP_EMPTY), ("GROUP_NULL", GROUP_NULL)):
            if self is constant:
                return name
            if self == constant:
                return type(self), (constant,)
        raise ValueError("a group cannot be pickled")

    def __getattr__(self, name: str) -> Any:
        if name[:1].isupper():
            raise not_supported(f"MPI.Group.{name}")
        raise AttributeError(name)


GROUP_EMPTY, GROUP_NULL = Group([]), Group()


def _of_ranges(ranges: Sequence[tuple[int, int, int]]) -> list[int]:
    found: list[int] = []
    for triplet in ranges:
        first, last, step = map(integer, triplet)
        found += range(first, last + (1 if step > 0 else -1), step)
    return found
