"""``MPI.Info``: hints as keys and values. They are kept and given back; nothing here acts on one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any

from typing_extensions import Self

from flitwork_mpi.programs.errors import fault
from flitwork_mpi.programs.handle import Handle

MAX_KEY, MAX_VALUE = 255, 1024
_Items = Mapping[str, str] | Iterable[tuple[str, str]]


class Info(Handle, MutableMapping[str, str]):
    """Keys and values, both text, in the order in which they were set; a mapping, too.

    Without hints, and once it has been given up, it is ``MPI.INFO_NULL``; of another one it is the same one again.
    """

    def __init__(self, info: Info | None = None) -> None:
        if info is None:
            self._hints: dict[str, str] | None = None
        elif not isinstance(info, Info):
            raise TypeError(f"expecting an Info, not {type(info).__name__}")

    @classmethod
    def Create(cls, items: _Items | None = None) -> Self:
        """A new one."""
        made = cls()
        made._hints = {}
        made.update(items or ())
        return made

    @classmethod
    def Create_env(cls, args: object = None) -> Self:
        """What is known of how the program was started: nothing."""
        return cls.Create()

    def Free(self) -> None:
        """Gives it up."""
        if self._is_of_mpi():
            raise fault("INFO", "MPI.INFO_ENV cannot be freed")
        self._known.clear()
        self._hints = None

    def _is_of_mpi(self) -> bool:
        return self._hints is not None and self._hints is INFO_ENV._hints

    def Dup(self) -> Self:
        """A copy with the same keys."""
        return type(self).Create(self._known)

    def copy(self) -> Self:
        """A copy as :meth:`Dup` makes it; of ``MPI.INFO_NULL`` that itself."""
        return self.Dup() if self else type(self)()

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
            if self == constant:
                return type(self), (constant,)
        return type(self).Create, (self.items(),)

    # As of a mapping that has no key, where there are no hints.

    def update(self, *items: Any, **more: str) -> None:
        """Sets keys."""
        if not self:
            raise KeyError("MPI.INFO_NULL has no keys")
        super().update(*items, **more)

    def popitem(self) -> tuple[str, str]:
        """Removes the key that was set last; returns it with its value."""
        if not self._hints:
            raise KeyError("there are no keys")
        key = [*self][-1]
        return key, self.pop(key)

    def clear(self) -> None:
        """Removes all keys."""
        if self._hints:
            self._hints.clear()

    def __getitem__(self, key: str) -> str:
        return (self._hints or {})[key]

    def __setitem__(self, key: str, value: str) -> None:
        if self._hints is None:
            raise KeyError("MPI.INFO_NULL has no keys")
        self.Set(key, value)

    def __delitem__(self, key: str) -> None:
        if self._hints is None:
            raise KeyError(key)
        del self._hints[key]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._hints or ()))

    def __len__(self) -> int:
        return len(self._hints or ())

    def __bool__(self) -> bool:
        return self._hints is not None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Info) and self._hints is other._hints

    __hash__ = object.__hash__


INFO_NULL, INFO_ENV = Info(), Info.Create()
