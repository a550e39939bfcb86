"""``mpi4py.util.dtlib``: NumPy's types as datatypes, and the other way round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from flitwork_mpi.programs.datatype import ORDER_FORTRAN, Datatype
from flitwork_mpi.programs.envelope import COMBINERS
from flitwork_mpi.programs.predefined import of_code


def from_numpy_dtype(dtype: Any) -> Datatype:
    """The datatype of elements of a NumPy array: a copy of a named one, a block of them, or a struct."""
    kind = np.dtype(dtype)
    if kind.hasobject or not kind.isnative:
        raise ValueError(f"elements {kind} cannot be in a message: they are objects, or in another byte order")
    if kind.subdtype is not None:
        base, shape = kind.subdtype
        element = from_numpy_dtype(base)
        if len(shape) == 1:
            return element.Create_contiguous(shape[0])
        return element.Create_subarray(shape, shape, [0] * len(shape))
    if kind.fields is None:
        return of_code(kind.str[1:]).Dup()
    parts = [kind.fields[name] for name in kind.names or ()]
    kinds, places = [from_numpy_dtype(part[0]) for part in parts], [int(part[1]) for part in parts]
    return Datatype.Create_struct([1] * len(kinds), places, kinds).Create_resized(0, kind.itemsize)


def to_numpy_dtype(datatype: Datatype) -> np.dtype[Any]:
    """NumPy's type of a datatype; fields are called ``f0`` and so on."""
    if not datatype:
        raise ValueError("MPI.DATATYPE_NULL has no NumPy type")
    if datatype.predefined:
        # A pair has a struct, and what has no fields is what it is.
        found: np.dtype[Any] = datatype.dtype  # type: ignore[assignment]
        return found
    old, combiner, given = datatype.decode()
    if combiner == "RESIZED" and old.combiner == COMBINERS["STRUCT"]:
        old, combiner, given = old.decode()
    if combiner == "STRUCT":
        pairs = zip(given["datatypes"], given["blocklengths"], strict=True)
        kinds = [_block(kind, [] if length == 1 else [length]) for kind, length in pairs]
        return _record(kinds, given["displacements"], datatype.extent)
    if combiner == "DUP":
        return to_numpy_dtype(old)
    if combiner == "CONTIGUOUS":
        return _block(old, [given["count"]])
    if combiner == "SUBARRAY" and given["subsizes"] == given["sizes"]:
        return _block(old, given["sizes"][:: -1 if given["order"] == ORDER_FORTRAN else 1])
    if combiner in ("VECTOR", "HVECTOR"):
        stride = given["stride"] * (old.extent if combiner == "VECTOR" else 1)
        count = given["count"]
        places = [place * stride for place in range(count)]
        return _record([_block(old, [given["blocklength"]])] * count, places, datatype.extent)
    if "INDEXED" in combiner:
        unit = 1 if combiner.startswith("H") else old.extent
        places = [place * unit for place in given["displacements"]]
        lengths = given.get("blocklengths") or [given["blocklength"]] * len(places)
        return _record([_block(old, [length]) for length in lengths], places)
    raise ValueError(f"{datatype!r} has no NumPy type")


def _block(datatype: Datatype, shape: Sequence[int]) -> np.dtype[Any]:
    element = to_numpy_dtype(datatype)
    return np.dtype((element, tuple(shape))) if shape else element


def _record(kinds: Sequence[np.dtype[Any]], places: Sequence[int], size: int | None = None) -> np.dtype[Any]:
    """A struct, which is an aligned one where its fields lie as a compiler would lay them."""
    names = [f"f{number}" for number in range(len(kinds))]
    spec: dict[str, Any] = {"names": names, "formats": [*kinds], "offsets": [*places]}
    if size is not None:
        spec["itemsize"] = size
    try:
        return np.dtype({**spec, "aligned": True})  # type: ignore[call-overload, no-any-return]
    except ValueError:
        return np.dtype(spec)  # type: ignore[call-overload, no-any-return]
