"""Communicators: who belongs to them, and how new ones are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flitwork_mpi.programs import attributes
from flitwork_mpi.programs.channel import SELF_CONTEXT, WORLD_CONTEXT, Channel, new_context
from flitwork_mpi.programs.errhandler import Handled
from flitwork_mpi.programs.error_codes import last_used
from flitwork_mpi.programs.errors import Abort, fault
from flitwork_mpi.programs.group import CONGRUENT, IDENT, SIMILAR, UNEQUAL, Group
from flitwork_mpi.programs.info import Info
from flitwork_mpi.programs.integers import integer
from flitwork_mpi.programs.objects import ObjectCollectives
from flitwork_mpi.programs.operations import agreed
from flitwork_mpi.programs.persistent_collectives import PersistentCollectives
from flitwork_mpi.programs.point_to_point import PointToPoint
from flitwork_mpi.programs.request import Request
from flitwork_mpi.programs.status import TAG_UB, UNDEFINED
from flitwork_mpi.programs.world import Process, me

#: How ranks are told apart that share something; all that they share here is a terminal.
COMM_TYPE_SHARED, COMM_TYPE_HW_UNGUIDED, COMM_TYPE_HW_GUIDED, COMM_TYPE_RESOURCE_GUIDED = range(1, 5)
_RESOURCE, _SHARED = "mpi_hw_resource_type", "mpi_shared_memory"
#: Keys of attributes of a communicator.
KEY_TAG_UB, KEY_HOST, KEY_IO, KEY_WTIME_IS_GLOBAL, KEY_UNIVERSE_SIZE, KEY_APPNUM, KEY_LASTUSEDCODE = range(1, 8)


class Comm(PointToPoint, ObjectCollectives, PersistentCollectives, Handled, attributes.Attributed):
    """A communicator; ``MPI.COMM_NULL`` without ranks, and of another one it is the same one again."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self:
            self.__class__ = _null_of(type(self))

    def Get_rank(self) -> int:
        """The rank of who calls."""
        return self._rank(me())

    def Get_size(self) -> int:
        """Number of ranks."""
        return self._size(me())

    rank = property(Get_rank)
    size = property(Get_size)

    def Get_name(self) -> str:
        """The name of the communicator."""
        return self.name

    def Set_name(self, name: str) -> None:
        """Gives it a name."""
        self.name = name

    def Get_group(self) -> Group:
        """The group of the communicator's ranks."""
        return Group(self._ranks(me()))

    group = property(Get_group)

    def Is_inter(self) -> bool:
        """No: there are no intercommunicators."""
        return False

    def Is_intra(self) -> bool:
        """Yes."""
        return True

    is_inter = property(Is_inter)
    is_intra = property(Is_intra)
    is_topo = False
    topology = UNDEFINED

    def Get_topology(self) -> int:
        """``MPI.CART``, or ``MPI.UNDEFINED`` where there is none."""
        return self.topology

    def Dup(self, info: Info | None = None) -> Comm:
        """A communicator of the same ranks in another context, with the same hints or those of ``info``."""
        _, call = self._agreed("Dup", None)
        return self._duplicate(call, info)

    Clone = Dup_with_info = Dup

    def Idup(self, info: Info | None = None) -> tuple[Comm, Request]:
        """:meth:`Dup`, started: the communicator may be used once the request is complete."""
        wire = self._wire("Idup")
        return self._duplicate(wire.tag, info), self._start(lambda: agreed(wire, None), "Idup")

    Idup_with_info = Idup

    def _duplicate(self, call: int, info: Info | None) -> Comm:
        process = me()
        made = self._copied([*self._ranks(process)], new_context(process.world, (self._context, call, 0)))
        made.Set_info(self.Get_info() if info is None else info)
        attributes.copy(self, made)
        return made

    def _copied(self, ranks: Sequence[int], context: int) -> Comm:
        """The same ranks, with the same topology."""
        return self._alike(ranks, context)

    def Set_info(self, info: Info) -> None:
        """Keeps hints; a later call adds to them."""
        kept = me().store.setdefault(("info", self._context), Info.Create())
        kept.update(info or {})

    def Get_info(self) -> Info:
        """The hints that were kept."""
        return Info.Create(me().store.get(("info", self._context)))

    info = property(Get_info, Set_info)

    def Split(self, color: int = 0, key: int = 0) -> Comm:
        """Ranks with one color together, in the order of their keys; ``MPI.UNDEFINED``: none."""
        process = me()
        color, key = integer(color), integer(key)
        given, call = self._agreed("Split", (color, key))
        if color == UNDEFINED:
            return COMM_NULL
        if color < 0:
            raise fault("ARG", f"the color is {color}, and at least 0 is allowed")
        chosen = sorted((its_key, place) for place, (its_color, its_key) in enumerate(given) if its_color == color)
        ranks = self._ranks(process)
        return self._made(process, [ranks[place] for _, place in chosen], call, color)

    def Split_type(self, split_type: int, key: int = 0, info: Any = None) -> Comm:
        """Ranks that share a terminal together (``MPI.COMM_TYPE_SHARED``, or one of hardware that means the same)."""
        if split_type not in (UNDEFINED, COMM_TYPE_SHARED, COMM_TYPE_HW_UNGUIDED, COMM_TYPE_HW_GUIDED):
            raise fault("ARG", f"the split type is {split_type}, and MPI.COMM_TYPE_SHARED is known")
        guided = split_type == COMM_TYPE_HW_GUIDED
        if split_type == UNDEFINED or (guided and (not info or info.Get(_RESOURCE) != _SHARED)):
            return self.Split(UNDEFINED, key)
        process = me()
        found = self.Split(process.world.terminal_of(process.rank), key)
        if split_type == COMM_TYPE_HW_UNGUIDED:
            # A part that is the whole is none.
            if found.Get_size() == self.Get_size():
                found.Free()
            elif info:
                info.Set(_RESOURCE, _SHARED)
        return found

    def Create(self, group: Group) -> Comm:
        """The ranks of a group; all ranks of this communicator call."""
        process = me()
        _, call = self._agreed("Create", None)
        if process.rank not in group.ranks:
            return COMM_NULL
        return self._made(process, group.ranks, call, min(group.ranks))

    @classmethod
    def Create_from_group(
        cls, group: Group, stringtag: str = "org.mpi4py", info: Info | None = None, errhandler: Any = None
    ) -> Comm:
        """The ranks of a group; they alone call, and tell calls apart by a text."""
        if me().rank not in group.ranks:
            return COMM_NULL
        made = COMM_WORLD.Create_group(group, str(stringtag))
        made.Set_info(info or Info.Create())
        if errhandler:
            made.Set_errhandler(errhandler)
        return made

    def Create_group(self, group: Group, tag: int | str = 0) -> Comm:
        """The ranks of a group; they alone call."""
        process = me()
        key = ("group", self._context, tuple(group.ranks), tag)
        count = process.store.get(key, 0)
        process.store[key] = count + 1
        made = Comm(group.ranks, new_context(process.world, (*key, count)), "")
        made.Barrier()
        return made

    def _agreed(self, name: str, value: Any) -> tuple[list[Any], int]:
        """What all ranks give, and the number of the call."""
        wire = self._wire(name)
        return agreed(wire, value), wire.tag

    def _made(self, process: Process, ranks: Sequence[int], call: int, part: int) -> Comm:
        return Comm(ranks, new_context(process.world, (self._context, call, part)), "")

    def Compare(self, other: Comm) -> int:
        """``MPI.IDENT``, ``CONGRUENT``, ``SIMILAR`` or ``UNEQUAL``."""
        if not self or not other:
            raise fault("COMM", "MPI.COMM_NULL is no communicator")
        if self == other:
            return IDENT
        found = self.Get_group().Compare(other.Get_group())
        return {IDENT: CONGRUENT, SIMILAR: SIMILAR}.get(found, UNEQUAL)

    def Create_cart(self, dims: Any, periods: Any = None, reorder: bool = False) -> Any:
        """The ranks on a grid."""
        from flitwork_mpi.programs.cart import made

        return made(self, dims, periods)

    def Cart_map(self, dims: Any, periods: Any = None) -> int:
        """The rank that the caller has on such a grid; ``MPI.UNDEFINED`` where it is one too many."""
        from flitwork_mpi.programs.cart import mapped

        return mapped(self, dims, periods)

    def Graph_map(self, index: Sequence[int], edges: Sequence[int]) -> int:
        """The rank that the caller has on such a graph; ``MPI.UNDEFINED`` where it is one too many."""
        from flitwork_mpi.programs.graph import mapped

        return mapped(self, index, edges)

    def Create_graph(self, index: Sequence[int], edges: Sequence[int], reorder: bool = False) -> Comm:
        """The ranks on a graph that all of them know."""
        from flitwork_mpi.programs.graph import on_graph

        return on_graph(self, index, edges)

    def Create_dist_graph_adjacent(
        self,
        sources: Sequence[int] | None,
        destinations: Sequence[int] | None,
        sourceweights: Any = None,
        destweights: Any = None,
        info: Info | None = None,
        reorder: bool = False,
    ) -> Comm:
        """The ranks on a graph of which each names its own neighbours."""
        from flitwork_mpi.programs.graph import on_adjacent

        return on_adjacent(self, sources, destinations, sourceweights, destweights)

    def Create_dist_graph(
        self,
        sources: Sequence[int],
        degrees: Sequence[int],
        destinations: Sequence[int],
        weights: Any = None,
        info: Info | None = None,
        reorder: bool = False,
    ) -> Comm:
        """The ranks on a graph of which each names some edges."""
        from flitwork_mpi.programs.graph import on_edges

        return on_edges(self, sources, degrees, destinations, weights)

    def Free(self) -> None:
        """Gives it up: it is ``MPI.COMM_NULL`` from now on."""
        if self._members is None:
            raise fault("COMM", f"{self.name} cannot be freed")
        attributes.remove_all(self)
        # What is under way still finds the places of ranks.
        self.__class__, self._context = _null_of(type(self)), 0

    Disconnect = Free

    def Abort(self, errorcode: int = 1) -> None:
        """Ends the run, with an exit code."""
        raise Abort(me().rank, errorcode)

    def Get_attr(self, keyval: int) -> Any:
        """An attribute, or ``None``."""
        if KEY_TAG_UB <= keyval <= KEY_LASTUSEDCODE:
            known = {KEY_TAG_UB: TAG_UB, KEY_WTIME_IS_GLOBAL: True, KEY_UNIVERSE_SIZE: len(me().world.processes)}
            return last_used() if keyval == KEY_LASTUSEDCODE else known.get(keyval)
        return super().Get_attr(keyval)

    def _handled(self) -> Any:
        return self._context

    @staticmethod
    def Get_parent() -> Comm:
        """Nobody has spawned these ranks."""
        return Intercomm()

    def _is_of_mpi(self) -> bool:
        return self._members is None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Channel) and self._context == other._context and self._same(other)

    def _same(self, other: Channel) -> bool:
        return True

    def __hash__(self) -> int:
        return hash(self._context)

    def __bool__(self) -> bool:
        return self._context != 0

    def __repr__(self) -> str:
        return f"<MPI.{type(self).__name__} {self.name or self._context}>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        for name, one in (("COMM_WORLD", COMM_WORLD), ("COMM_SELF", COMM_SELF), ("COMM_NULL", COMM_NULL)):
            if one is self:
                return _named, (name,)
            if one == self:
                return self._kind if isinstance(self, _Null) else type(self), (one,)
        raise ValueError("a communicator cannot be pickled")


class Intercomm(Comm):
    """The class of communicators between two groups, of which there is none but ``MPI.COMM_NULL``."""

    def Get_remote_group(self, *_: Any, **__: Any) -> Any:
        """An error: there is no other group."""
        raise fault("COMM", "MPI.COMM_NULL has no other group")

    Get_remote_size = Merge = Get_remote_group
    remote_group, remote_size = property(Get_remote_group), property(Get_remote_size)


class _Null(Comm):
    """``COMM_NULL``: nobody."""

    #: What it was before it was given up.
    _kind: type[Comm] = Comm

    def _wire(self, name: str) -> Any:
        raise fault("COMM", f"{name} on MPI.COMM_NULL")

    def _ranks(self, process: Process) -> Sequence[int]:
        raise fault("COMM", "MPI.COMM_NULL has no ranks")

    def _rank(self, process: Process) -> int:
        raise fault("COMM", "MPI.COMM_NULL has no ranks")

    def _message(self, *_: Any) -> Any:
        raise fault("COMM", "a message on MPI.COMM_NULL")

    def _pattern(self, *_: Any) -> Any:
        raise fault("COMM", "a message on MPI.COMM_NULL")

    def _handled(self) -> Any:
        raise fault("COMM", "MPI.COMM_NULL has no error handler")

    def _of_nobody(self, *_: Any) -> Any:
        raise fault("COMM", "MPI.COMM_NULL is no communicator")

    def Free(self) -> None:
        """An error: there is nothing to give up."""
        raise fault("COMM", "MPI.COMM_NULL cannot be freed")

    Disconnect = Free


for _name in ("Is_inter", "Is_intra", "Get_topology", "Get_attr", "Set_attr", "Delete_attr", "Set_info", "Get_info"):
    setattr(_Null, _name, _Null._of_nobody)

_null_kinds: dict[type, type[Comm]] = {}


def _null_of(kind: type[Comm]) -> type[Comm]:
    """What a communicator of a class is once it has been given up."""
    if issubclass(kind, _Null):
        return kind
    if kind not in _null_kinds:
        _null_kinds[kind] = type(kind.__name__, (_Null, kind), {"_kind": kind})
    return _null_kinds[kind]


def _named(name: str) -> Comm:
    found: Comm = globals()[name]
    return found


COMM_WORLD = Comm(None, WORLD_CONTEXT, "MPI_COMM_WORLD")
COMM_SELF = Comm(None, SELF_CONTEXT, "MPI_COMM_SELF", alone=True)
COMM_NULL = _Null([], 0, "MPI_COMM_NULL")
