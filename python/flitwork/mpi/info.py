"""``MPI.Info``: hints as keys and values. They are kept and given back; nothing here acts on one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any

from flitwork.mpi.errors import fault

MAX_KEY, MAX_VALUE = 255, 1024
_Items = Mapping[str, str] | Iterable[tuple[str, str]]


class Info(MutableMapping[str, str]):
    """Keys and values, both text, in the order in which they were set; a mapping, too."""

    def __init__(self, items: _Items = ()) -> None:
        self._hints: dict[str, str] | None = {}
        self.update(items)

    @classmethod
    def Create(cls, items: _Items | None = None) -> Info:
        """A new one."""
        return cls(items or ())

    @classmethod
    def Create_env(cls, args: object = None) -> Info:
        """What is known of how the program was started: nothing."""
        return cls()

    def Free(self) -> None:
        """Gives it up."""
        if self is INFO_ENV:
            raise fault("INFO", "MPI.INFO_ENV cannot be freed")
        self._known.clear()
        self._hints = None

    def Dup(self) -> Info:
        """One with the same keys."""
        return Info(self._known)

    copy = Dup

    def Get(self, key: str) -> str | None:
        """The value of a key, or ``None``."""
        return self._known.get(key)

    def Set(self, key: str, value: str) -> None:
        """Sets a key. Empty keys, and keys or values that are too long, are errors."""
        if not isinstance(key, str) or not 1 <= len(key) <= MAX_KEY:
            raise fault("INFO_KEY", f"{key!r} is no key: a text of 1 to {MAX_KEY} characters is")
        if not isinstance(value, str) or len(value) > MAX_VALUE:
            raise fault("INFO_VALUE", f"the value of {key!r} is no text of at most {MAX_VALUE} characters")
        self._known[key] = value

    def Delete(self, key: str) -> None:
        """Removes a key; one that is not there is an error."""
        if key not in self._known:
            raise fault("INFO_NOKEY", f"there is no key {key!r}")
        del self._known[key]

    def Get_nkeys(self) -> int:
        """How many keys."""
        return len(self._known)

    def Get_nthkey(self, n: int) -> str:
        """A key by its number, from 0."""
        if not 0 <= n < len(self._known):
            raise fault("ARG", f"key {n} of {len(self._known)}")
        return list(self._known)[n]

    @property
    def _known(self) -> dict[str, str]:
        if self._hints is None:
            raise fault("INFO", "this Info has been given up, or is MPI.INFO_NULL")
        return self._hints

    # Lists, as mpi4py gives them.

    def keys(self) -> list[str]:  # type: ignore[override]
        """All keys."""
        return [*self]

    def values(self) -> list[str]:  # type: ignore[override]
        """All values."""
        return [self[key] for key in self]

    def items(self) -> list[tuple[str, str]]:  # type: ignore[override]
        """All keys with their values."""
        return [(key, self[key]) for key in self]

    def __reduce__(self) -> str | tuple[Any, ...]:
        for name, constant in (("INFO_NULL", INFO_NULL), ("INFO_ENV", INFO_ENV)):
            if self is constant:
                return name
        return (Info, (self.items(),)) if self else (null, ())

    def __getitem__(self, key: str) -> str:
        return self._known[key]

    def __setitem__(self, key: str, value: str) -> None:
        self.Set(key, value)

    def __delitem__(self, key: str) -> None:
        del self._known[key]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._hints or ()))

    def __len__(self) -> int:
        return len(self._hints or ())

    def __bool__(self) -> bool:
        return self._hints is not None

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Info) and not self and not other)

    __hash__ = object.__hash__


def null() -> Info:
    """One that has been given up: ``INFO_NULL``."""
    found = Info()
    found._hints = None
    return found


INFO_NULL = null()
INFO_ENV = Info()
