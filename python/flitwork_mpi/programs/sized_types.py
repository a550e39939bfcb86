"""Datatypes that are asked for by what they hold: so many digits, so many bytes, or a value and where it is."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from flitwork_mpi.programs.datatype import Datatype
from flitwork_mpi.programs.envelope import Recipe
from flitwork_mpi.programs.errors import fault
from flitwork_mpi.programs.predefined import NAMED

#: Classes of Fortran's datatypes.
CLASSES = {"TYPECLASS_REAL": 1, "TYPECLASS_INTEGER": 2, "TYPECLASS_COMPLEX": 3, "TYPECLASS_LOGICAL": 4}
#: Decimal digits of integers; digits and exponents of real numbers.
_INTEGERS = {"int8": 2, "int16": 4, "int32": 9, "int64": 18}
_REALS = {"float32": (6, 37), "float64": (15, 307), "longdouble": (18, 4931)}
_COMPLEX = {"float32": "complex64", "float64": "complex128", "longdouble": "clongdouble"}


def integer(r: int) -> Datatype:
    """Integers of so many decimal digits."""
    for code, most in _INTEGERS.items():
        if r <= most:
            return _fortran("F90_INTEGER", code, (("r", r),))
    raise fault("ARG", f"no integer has {r} digits")


def real(p: int, r: int, combiner: str = "F90_REAL") -> Datatype:
    """Real numbers of so many digits, and of exponents up to ``r``; of one of them ``MPI.UNDEFINED``."""
    for code, (digits, exponent) in _REALS.items():
        if p <= digits and r <= exponent:
            return _fortran(combiner, code if combiner == "F90_REAL" else _COMPLEX[code], (("p", p), ("r", r)))
    raise fault("ARG", f"no real number has {p} digits and exponents up to {r}")


def complex_(p: int, r: int) -> Datatype:
    """Complex numbers of two such real numbers."""
    return real(p, r, "F90_COMPLEX")


@lru_cache
def _fortran(combiner: str, code: str, given: tuple[tuple[str, int], ...]) -> Datatype:
    dtype = np.dtype(code)
    made = Datatype("", dtype.itemsize, signature=dtype.str, dtype=dtype, predefined=True)
    made.recipe = Recipe(combiner, given)
    return made


def matching(typeclass: int, size: int) -> Datatype:
    """The datatype of Fortran of a class and so many bytes."""
    names = [name.removeprefix("TYPECLASS_") for name, number in CLASSES.items() if number == typeclass]
    found = NAMED.get(f"{names[0]}{size}") if names else None
    if not found:
        raise fault("ARG", f"no datatype of class {typeclass} has {size} bytes")
    return found


def pair(value: Datatype, index: Datatype) -> Datatype:
    """The datatype of a value and where it is; ``MPI.DATATYPE_NULL`` if there is none."""
    if not value or not index:
        raise fault("TYPE", "the datatype is MPI.DATATYPE_NULL")
    names = ("SHORT", "INT", "LONG", "FLOAT", "DOUBLE", "LONG_DOUBLE")
    if index == NAMED["INT"]:
        for name in names:
            if value == NAMED[name]:
                return NAMED[f"{name}_INT"]
    return NAMED["DATATYPE_NULL"]
