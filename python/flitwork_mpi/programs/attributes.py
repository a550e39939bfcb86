"""Attributes: what programs keep at a communicator or a datatype, by keys that they make."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flitwork_mpi.programs.errors import fault
from flitwork_mpi.programs.world import me

KEYVAL_INVALID = 0
#: Keys of programs are larger than those of MPI's own.
_FIRST = 1000


@dataclass
class _Key:
    """What becomes of an attribute where its holder is copied, and where it goes."""

    copy: Callable[[Any, int, Any], Any] | bool | None
    delete: Callable[[Any, int, Any], Any] | None
    freed: bool = False


class Attributed:
    """What has attributes."""

    @staticmethod
    def Create_keyval(copy_fn: Any = None, delete_fn: Any = None, nopython: bool = False) -> int:
        """A new key of this rank."""
        keys = _keys()
        number = _FIRST + 1 + len(keys)
        keys[number] = _Key(copy_fn, delete_fn)
        return number

    @staticmethod
    def Free_keyval(keyval: int) -> int:
        """Gives a key up: nothing is kept by it any more. Attributes that have it stay."""
        _usable(keyval).freed = True
        return KEYVAL_INVALID

    def Get_attr(self, keyval: int) -> Any:
        """An attribute, or ``None``."""
        _usable(keyval)
        return _of(self).get(keyval)

    def Set_attr(self, keyval: int, attrval: Any) -> None:
        """Keeps an attribute; one that is there goes first."""
        _usable(keyval)
        _forget(self, keyval)
        _of(self)[keyval] = attrval

    def Delete_attr(self, keyval: int) -> None:
        """Forgets an attribute."""
        _usable(keyval)
        _forget(self, keyval)


def copy(holder: object, made: object) -> None:
    """What a copy of a holder gets: what the keys' functions say, nothing where they say nothing."""
    for keyval, value in [*_of(holder).items()]:
        rule = _keys()[keyval].copy
        found = _called(rule, holder, keyval, value) if callable(rule) else value if rule else NotImplemented
        if found is not NotImplemented:
            _of(made)[keyval] = found


def remove_all(holder: object) -> None:
    """The holder is given up: its attributes go, the latest first."""
    for keyval in [*_of(holder)][::-1]:
        _forget(holder, keyval)
    _all().pop(holder)


def _forget(holder: object, keyval: int) -> None:
    kept = _of(holder)
    if keyval not in kept:
        return
    value, delete = kept.pop(keyval), _keys()[keyval].delete
    if delete is not None:
        _called(delete, holder, keyval, value)


def _called(function: Callable[[Any, int, Any], Any], holder: object, keyval: int, value: Any) -> Any:
    """What a function of a program says. What it raises is printed, and the call has failed, as with mpi4py."""
    try:
        return function(holder, keyval, value)
    except Exception as error:
        traceback.print_exc()
        raise fault("OTHER", f"a function of key {keyval} raised {type(error).__name__}") from error


def _keys() -> dict[int, _Key]:
    found: dict[int, _Key] = me().store.setdefault("keys", {})
    return found


def _usable(keyval: int) -> _Key:
    key = _keys().get(keyval)
    if key is None or key.freed:
        raise fault("KEYVAL", f"{keyval} is no key that this rank has made and not freed")
    return key


def _all() -> dict[object, dict[int, Any]]:
    found: dict[object, dict[int, Any]] = me().store.setdefault("attributes", {})
    return found


def _of(holder: object) -> dict[int, Any]:
    """The attributes of a holder on this rank: one object may serve several."""
    return _all().setdefault(holder, {})
