"""The named datatypes, one table: name in C and in Fortran's manner, and NumPy's type."""

from __future__ import annotations

from typing import Any

import numpy as np

from flitwork_mpi.programs.datatype import Datatype
from flitwork_mpi.programs.errors import Exception_, fault

#: By NumPy's type; the first name is the one that is shown.
_NAMES: dict[str, str] = {
    "b": "SIGNED_CHAR INT8_T INTEGER1 SINT8_T",
    "B": "UNSIGNED_CHAR UINT8_T",
    "int16": "SHORT INT16_T INTEGER2 SINT16_T SIGNED_SHORT",
    "uint16": "UNSIGNED_SHORT UINT16_T",
    "int32": "INT INT32_T INTEGER INTEGER4 SINT32_T SIGNED_INT F_INT",
    "uint32": "UNSIGNED UNSIGNED_INT UINT32_T",
    "int64": "LONG INT64_T LONG_LONG LONG_LONG_INT INTEGER8 SINT64_T AINT OFFSET COUNT SIGNED_LONG SIGNED_LONG_LONG",
    "uint64": "UNSIGNED_LONG UINT64_T UNSIGNED_LONG_LONG",
    "float16": "REAL2 FLOAT16_T",
    "float32": "FLOAT REAL REAL4 FLOAT32_T F_FLOAT",
    "float64": "DOUBLE REAL8 DOUBLE_PRECISION FLOAT64_T F_DOUBLE",
    "longdouble": "LONG_DOUBLE",
    "complex64": "C_FLOAT_COMPLEX COMPLEX COMPLEX8 F_COMPLEX CXX_FLOAT_COMPLEX C_COMPLEX F_FLOAT_COMPLEX",
    "complex128": "C_DOUBLE_COMPLEX COMPLEX16 DOUBLE_COMPLEX F_DOUBLE_COMPLEX CXX_DOUBLE_COMPLEX",
    "clongdouble": "C_LONG_DOUBLE_COMPLEX CXX_LONG_DOUBLE_COMPLEX",
    "bool": "C_BOOL BOOL CXX_BOOL",
}
_PAIRS = {
    **{"FLOAT_INT": "float32", "DOUBLE_INT": "float64", "LONG_DOUBLE_INT": "longdouble"},
    **{"LONG_INT": "int64", "SHORT_INT": "int16", "TWOINT": "int32"},
}
_CHARACTERS = {"BYTE": "u1", "PACKED": "u1", "CHAR": "S1", "CHARACTER": "S1", "WCHAR": "U1"}
#: Of truth values, as numbers of so many bytes.
_LOGICALS = {"LOGICAL": 4, "LOGICAL1": 1, "LOGICAL2": 2, "LOGICAL4": 4, "LOGICAL8": 8}
#: What C or NumPy has no type for: ``MPI.DATATYPE_NULL``, as in an MPI library without them.
_WITHOUT = "INTEGER16 LOGICAL16 REAL16 COMPLEX4 COMPLEX32 BFLOAT16_T"


def _named() -> dict[str, Datatype]:
    found: dict[str, Datatype] = {}
    for code, names in _NAMES.items():
        dtype = np.dtype(code)
        first, *others = names.split()
        kind = Datatype(first, dtype.itemsize, signature=dtype.str, dtype=dtype, predefined=True)
        found.update(dict.fromkeys([first, *others], kind))
    for name, code in _CHARACTERS.items():
        dtype = np.dtype(code)
        found[name] = Datatype(name, dtype.itemsize, dtype=dtype, predefined=True)
    for name, size in _LOGICALS.items():
        dtype = np.dtype(f"i{size}")
        found[name] = Datatype(name, size, signature=dtype.str, dtype=dtype, predefined=True)
    found["F_BOOL"] = found["LOGICAL"]
    for name, code in _PAIRS.items():
        dtype = np.dtype(f"{code},int32", align=True)
        # Two of one type are that type, twice.
        signature = np.dtype(code).str if code == "int32" else name
        found[name] = Datatype(name, dtype.itemsize, signature=signature, dtype=dtype, predefined=True)
    found["DATATYPE_NULL"] = Datatype("DATATYPE_NULL", 0, predefined=True)
    return found


#: All of them, by name.
NAMED = _named()
NAMED.update(dict.fromkeys(_WITHOUT.split(), NAMED["DATATYPE_NULL"]))
NAMED["INT_INT"] = NAMED["TWOINT"]
_BY_DTYPE: dict[Any, Datatype] = {kind.dtype: kind for kind in reversed(NAMED.values()) if kind.dtype is not None}
_BY_DTYPE[np.dtype("B")] = NAMED["UNSIGNED_CHAR"]
_BY_DTYPE[np.dtype("int32")] = NAMED["INT"]
_BY_DTYPE[np.dtype("S1")] = NAMED["CHAR"]

#: By NumPy's character, and as NumPy writes it.
BY_CODE = {
    code: kind
    for dtype, kind in _BY_DTYPE.items()
    if not dtype.names
    for code in (kind.typechar, dtype.char, dtype.str[1:])
}


def named(name: str) -> Datatype:
    """The datatype of this name."""
    return NAMED[name]


def of_dtype(dtype: np.dtype[Any]) -> Datatype:
    """The datatype of elements of a NumPy array."""
    found = _BY_DTYPE.get(dtype)
    if found is None:
        raise fault("TYPE", f"no MPI datatype for elements {dtype}; say which: [array, MPI.BYTE]")
    return found


def of_code(code: str) -> Datatype:
    """The datatype of NumPy's character, or of what NumPy writes."""
    try:
        return BY_CODE.get(code) or of_dtype(np.dtype(code))
    except (TypeError, Exception_):
        raise ValueError(f"{code!r} is the character of no datatype") from None


def of_spec(spec: Any) -> Datatype:
    """A datatype as programs write it: itself, NumPy's type, or a character."""
    if isinstance(spec, Datatype):
        return spec
    try:
        return of_dtype(np.dtype(spec))
    except TypeError:
        raise fault("TYPE", f"{spec!r} is no datatype") from None
