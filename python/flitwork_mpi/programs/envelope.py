"""How a datatype was made: what ``Get_envelope``, ``Get_contents`` and ``decode`` say, and how it travels by pickle."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np

from flitwork_mpi.programs.errors import fault

if TYPE_CHECKING:
    from flitwork_mpi.programs.datatype import Datatype

_P = ParamSpec("_P")
_NAMES = """
NAMED DUP CONTIGUOUS VECTOR HVECTOR INDEXED HINDEXED INDEXED_BLOCK HINDEXED_BLOCK STRUCT SUBARRAY DARRAY RESIZED
VALUE_INDEX F90_INTEGER F90_REAL F90_COMPLEX
"""
#: Ways to make a datatype, by name.
COMBINERS = {name: number for number, name in enumerate(_NAMES.split(), 1)}
#: Of arrays of several dimensions, sizes are counts, and all else are numbers.
_COUNTED = {"SUBARRAY": ("sizes", "subsizes", "starts"), "DARRAY": ("gsizes",)}


@dataclass(frozen=True)
class Recipe:
    """A combiner, what it was given, and the datatypes that were there before."""

    combiner: str = "NAMED"
    #: Numbers by the names of parameters; several in an array.
    kept: tuple[tuple[str, Any], ...] = ()
    olds: tuple[Datatype, ...] = ()

    @property
    def given(self) -> dict[str, Any]:
        """The arguments of the constructor, by the names of its parameters."""
        return {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in self.kept}

    def contents(self) -> tuple[list[int], list[int]]:
        """All numbers that were given, and those of them that count or place elements, in the order of the standard."""
        name, given = self.combiner, self.given
        if name in _COUNTED:
            ndims, firsts = len(given[_COUNTED[name][0]]), [given[key] for key in ("size", "rank") if key in given]
            others = {key: value for key, value in given.items() if key not in (*_COUNTED[name], "size", "rank")}
            return [*firsts, ndims, *_flat(others)], _flat({key: given[key] for key in _COUNTED[name]})
        if name.startswith("F90"):
            return _flat(given), []
        length = [len(given["displacements"])] if "displacements" in given else []
        return [], [*length, *_flat(given)]


def _flat(given: dict[str, Any]) -> list[int]:
    return [number for value in given.values() for number in (value if isinstance(value, list) else [value])]


def recorded(create: Callable[_P, Datatype]) -> Callable[_P, Datatype]:
    """A constructor of datatypes, of which what it makes knows that it was made by it."""
    signature, combiner = inspect.signature(create), create.__name__.removeprefix("Create_").upper()

    @wraps(create)
    def made(*args: _P.args, **kwargs: _P.kwargs) -> Datatype:
        found = create(*args, **kwargs)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given: dict[str, Any] = dict(bound.arguments)
        olds = [given.pop("self")] if "self" in given else list(given.pop("datatypes"))
        numbers = ((key, int(value) if np.ndim(value) == 0 else np.array(value, int)) for key, value in given.items())
        # What is given up later is still what it was made of.
        found.recipe = Recipe(
            combiner, tuple(numbers), tuple(one if one.predefined else type(one)(one) for one in olds)
        )
        return found

    return made


def remade(recipe: Recipe) -> Datatype:
    """What was made so."""
    from flitwork_mpi.programs.datatype import Datatype

    given, of_struct = recipe.given, recipe.combiner == "STRUCT"
    if of_struct:
        given["datatypes"] = recipe.olds
    maker = recipe.olds[0] if recipe.olds and not of_struct else Datatype
    found: Datatype = getattr(maker, f"Create_{recipe.combiner.lower()}")(**given)
    return found


class Decoded:
    """What a datatype says of how it was made."""

    recipe = Recipe()
    extent: int
    dtype: np.dtype[Any] | None
    predefined: bool
    #: Raises for ``MPI.DATATYPE_NULL``.
    _check: Callable[[], None]

    def Get_envelope(self) -> tuple[int, int, int, int, int]:
        """How many numbers, addresses, counts and datatypes :meth:`Get_contents` has, and the combiner."""
        self._check()
        numbers, counts = self.recipe.contents()
        return len(numbers), 0, len(counts), len(self.recipe.olds), COMBINERS[self.recipe.combiner]

    def Get_contents(self) -> tuple[list[int], list[int], list[int], list[Datatype]]:
        """The contents of the datatype: numbers, addresses (they are counts, too), counts, datatypes."""
        self._check()
        if self.is_named:
            raise fault("TYPE", "a named datatype is made of nothing")
        numbers, counts = self.recipe.contents()
        return numbers, [], counts, self._olds()

    def decode(self) -> tuple[Datatype, str, dict[str, Any]]:
        """The datatype that it was made of, the combiner, and what its constructor was given."""
        self._check()
        found: Any = self
        if self.is_named:
            return found, "NAMED", {}
        olds, given = self._olds(), self.recipe.given
        if self.recipe.combiner == "STRUCT":
            given["datatypes"] = olds
        return olds[0] if len(olds) == 1 else type(found)(), self.recipe.combiner, given

    def _olds(self) -> list[Datatype]:
        """The datatypes that it was made of: handles of their own, of those that are not named."""
        return [one if one.predefined else one.again() for one in self.recipe.olds]

    envelope = property(Get_envelope)
    contents = property(Get_contents)

    @property
    def combiner(self) -> int:
        """How the datatype was made."""
        return self.Get_envelope()[-1]

    @property
    def is_named(self) -> bool:
        """Whether the datatype is one of those that have names."""
        self._check()
        return self.recipe.combiner == "NAMED"

    @property
    def element(self) -> np.dtype[Any] | None:
        """NumPy's type of a named datatype of single elements, or of a copy of it."""
        kind: Any = self
        while kind.recipe.combiner == "DUP":
            kind = kind.recipe.olds[0]
        found: np.dtype[Any] | None = kind.dtype
        return found if kind.predefined and found is not None and not found.names else None

    @property
    def alignment(self) -> int:
        """How its strictest element lies in memory [bytes]."""
        if self.dtype is not None:
            return self.dtype.alignment
        return max((one.alignment for one in self.recipe.olds), default=1)

    @property
    def typestr(self) -> str:
        """The datatype as NumPy writes it."""
        return self._written(lambda element: element.str[1:], f"V{self.extent}")

    @property
    def typechar(self) -> str:
        """The datatype as NumPy's character; that of C for one character."""
        return self._written(_character, "V")

    def _written(self, write: Callable[[np.dtype[Any]], str], other: str) -> str:
        if not self:
            return ""
        return other if self.element is None else write(self.element)

    def tocode(self) -> str:
        """The datatype as NumPy's character."""
        if not self or self.element is None:
            raise ValueError("the datatype has no character: it is not of single elements that are named")
        return _character(self.element)


def _character(element: np.dtype[Any]) -> str:
    return "c" if element.char == "S" else element.char
