"""``mpi4py.util.dtlib``: NumPy's types as datatypes, and the other way round."""

from __future__ import annotations

from typing import Any

import numpy as np

from flitwork.mpi.datatype import Datatype
from flitwork.mpi.errors import not_supported
from flitwork.mpi.predefined import of_dtype


def from_numpy_dtype(dtype: Any) -> Datatype:
    """The datatype of elements of a NumPy array: a copy of a named one, a block of them, or a struct."""
    kind = np.dtype(dtype)
    if kind.hasobject or not kind.isnative:
        raise ValueError(f"elements {kind} cannot be in a message: they are objects, or in another byte order")
    if kind.subdtype is not None:
        base, shape = kind.subdtype
        return from_numpy_dtype(base).Create_contiguous(int(np.prod(shape)))
    if kind.fields is None:
        return of_dtype(kind).Dup()
    parts = [kind.fields[name] for name in kind.names or ()]
    kinds, places = [from_numpy_dtype(part[0]) for part in parts], [int(part[1]) for part in parts]
    made = Datatype.Create_struct([1] * len(kinds), places, kinds).Create_resized(0, kind.itemsize)
    made.numpy_dtype = kind
    return made


def to_numpy_dtype(datatype: Datatype) -> np.dtype[Any]:
    """NumPy's type of a datatype: of a named one, of blocks of them, or of what :func:`from_numpy_dtype` has made."""
    known, element = datatype.numpy_dtype, datatype.dtype
    if known is not None:
        return known
    if not datatype or element is None or not datatype.contiguous:
        raise not_supported(f"NumPy's type of {datatype!r}")
    count = datatype.size // element.itemsize
    return element if count == 1 else np.dtype((element, (count,)))
