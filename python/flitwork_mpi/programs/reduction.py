"""Operations of reductions: on arrays element by element, and on Python objects."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from flitwork_mpi.programs.datatype import Datatype
from flitwork_mpi.programs.errors import Refusing, fault
from flitwork_mpi.programs.handle import Handle
from flitwork_mpi.programs.no_data import Absent
from flitwork_mpi.programs.world import here

#: Operations that a rank may have made and not given up, as with mpi4py.
_MOST = 32


def _nothing(a: Any, b: Any) -> Any:
    raise ValueError("MPI.OP_NULL combines nothing")


class Op(Handle, metaclass=Refusing):
    """An operation. ``arrays`` and ``objects`` combine two operands, that of the lower rank first.

    Without one, and once it has been given up, it is ``MPI.OP_NULL``; of another operation it is the same one again.
    """

    def __init__(
        self,
        name: str | Op = "OP_NULL",
        arrays: Callable[[Any, Any], Any] | None = None,
        objects: Callable[[Any, Any], Any] = _nothing,
        *,
        commutes: bool = True,
        function: Callable[[Any, Any, Any], Any] | None = None,
    ) -> None:
        if isinstance(name, Op):
            return
        self.name, self.arrays, self.objects, self.commutes = name, arrays, objects, commutes
        self.function = function
        #: What copies of an operation of one's own have in common.
        self._itself = None if function is None else object()

    @classmethod
    def Create(cls, function: Callable[[Any, Any, Any], Any], commute: bool = False) -> Op:
        """An operation of one's own: ``function(invec, inoutvec, datatype)`` leaves its result in ``inoutvec``.

        Of Python objects it returns the result: ``function(a, b, None)``.
        """
        made = cls("user", None, lambda a, b: function(a, b, None), commutes=commute, function=function)
        alive = _alive()
        if len(alive) == _MOST:
            raise RuntimeError(f"a rank has {_MOST} operations of its own at most; Free gives one up")
        alive.add(made._itself)
        return made

    def Free(self) -> None:
        """Gives it up."""
        if self.function is None:
            raise fault("OP", f"MPI.{self.name} cannot be freed")
        _alive().discard(self._itself)
        self.__init__()  # type: ignore[misc]

    def _is_of_mpi(self) -> bool:
        return self.is_predefined

    def toint(self) -> int:
        """A number for it; -1 of one that a program has made, which other languages cannot call."""
        return super().toint() if self.is_predefined else -1

    py2f = toint

    def Is_commutative(self) -> bool:
        """Whether operands may be swapped."""
        return self.commutes

    is_commutative = property(Is_commutative)

    @property
    def is_predefined(self) -> bool:
        """Whether the operation is one of MPI's own."""
        return self.function is None

    def Reduce_local(self, inbuf: Any, inoutbuf: Any) -> None:
        """Combines two buffers of this rank; the result is in the second."""
        from flitwork_mpi.programs.buffer import message

        low, high = message(inbuf), message(inoutbuf)
        first, second = typed(low.pack(), low.datatype), typed(high.pack(), high.datatype)
        if not isinstance(first, Absent):
            high.unpack(as_raw(self.combine(high.datatype)(first, second)))

    def combine(self, datatype: Datatype) -> Callable[[Any, Any], Any]:
        """What combines two arrays of a datatype."""
        if self.function is not None:
            from flitwork_mpi.programs.memory import Memory

            function = self.function

            def apply(low: Any, high: Any) -> Any:
                result = high.copy()
                function(low.view(np.uint8).view(Memory), result.view(np.uint8).view(Memory), datatype)
                return result

            return apply
        if datatype.dtype is None or self.arrays is None:
            raise fault("OP", f"{self.name} is not defined for {datatype.label}")
        if datatype.dtype.names and self.name not in ("MAXLOC", "MINLOC", "REPLACE", "NO_OP"):
            raise fault("OP", f"{self.name} is not defined for {datatype.label}")
        return self.arrays

    def __reduce__(self) -> str | tuple[Any, ...]:
        if self.function is not None:
            return Op.Create, (self.function, self.commutes)
        return (_named, (self.name,)) if self is OPS[self.name] else (type(self), (OPS[self.name],))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Op) and (self.name, self._itself) == (other.name, other._itself)

    def __hash__(self) -> int:
        return hash(self.name)

    def __bool__(self) -> bool:
        return self.name != "OP_NULL"

    def __call__(self, a: Any, b: Any) -> Any:
        """Combines two objects."""
        return self.objects(a, b)

    def __repr__(self) -> str:
        return f"<MPI.Op {self.name}>"


def _alive() -> set[Any]:
    """The operations that the rank has made and not given up."""
    process = here.process
    found: set[Any] = set() if process is None else process.store.setdefault("operations", set())
    return found


def typed(data: Any, datatype: Datatype) -> Any:
    """Bytes as an array of the elements that a datatype is made of."""
    if isinstance(data, Absent):
        return data
    return data.view(datatype.dtype) if datatype.dtype is not None else data


def as_raw(array: Any) -> Any:
    """An array as bytes."""
    if isinstance(array, Absent):
        return array
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _logical(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def apply(a: Any, b: Any) -> Any:
        return function(a != 0, b != 0).astype(a.dtype)

    return apply


def _located(better: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def apply(a: Any, b: Any) -> Any:
        if not a.dtype.names:
            # Pairs of numbers of one type, one behind the other.
            pair = np.dtype([("value", a.dtype), ("place", a.dtype)])
            return apply(a.view(pair), b.view(pair)).view(a.dtype)
        value, place = a.dtype.names
        same = a[value] == b[value]
        first = np.where(same, a[place] <= b[place], better(a[value], b[value]))
        return np.where(first, a, b)

    return apply


def _located_object(better: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    def apply(a: Any, b: Any) -> Any:
        if a[0] == b[0]:
            return a if a[1] <= b[1] else b
        return a if better(a[0], b[0]) else b

    return apply


def _max(a: Any, b: Any) -> Any:
    return a if a >= b else b


def _min(a: Any, b: Any) -> Any:
    return a if a <= b else b


def _dtyped(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Keeps the type of the elements, as ``bool + bool`` does not."""

    def apply(a: Any, b: Any) -> Any:
        return function(a, b).astype(a.dtype, copy=False)

    return apply


def _named(name: str) -> Op:
    return OPS[name]


#: All of them, by name.
OPS: dict[str, Op] = {
    op.name: op
    for op in (
        Op(),
        Op("SUM", _dtyped(np.add), operator.add),
        Op("PROD", _dtyped(np.multiply), operator.mul),
        Op("MAX", np.maximum, _max),
        Op("MIN", np.minimum, _min),
        Op("LAND", _logical(np.logical_and), lambda a, b: bool(a) & bool(b)),
        Op("LOR", _logical(np.logical_or), lambda a, b: bool(a) | bool(b)),
        Op("LXOR", _logical(np.logical_xor), lambda a, b: bool(a) ^ bool(b)),
        Op("BAND", np.bitwise_and, operator.and_),
        Op("BOR", np.bitwise_or, operator.or_),
        Op("BXOR", np.bitwise_xor, operator.xor),
        Op("MAXLOC", _located(np.greater), _located_object(operator.gt)),
        Op("MINLOC", _located(np.less), _located_object(operator.lt)),
        Op("REPLACE", lambda a, b: b, lambda a, b: b, commutes=False),
        Op("NO_OP", lambda a, b: a, lambda a, b: a, commutes=False),
    )
}
