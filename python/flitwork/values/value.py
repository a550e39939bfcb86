"""What the values of :mod:`flitwork.values` have in common: a table of the specification as a frozen object.

A value knows which of its fields were given. Only those stand in its ``spec``: the defaults are the simulator's. They
are shown in signatures all the same, by :func:`default`, and are what an attribute that was not given has.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

from typing_extensions import Self, dataclass_transform

from flitwork.base.errors import ConfigError, unknown_key
from flitwork.values.plain import Spec, checked
from flitwork.values.schema import has_kind

_Class = TypeVar("_Class", bound="type[Value]")


class Default:
    """Stands for a default in a signature: ``vcs: int = 2``."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)


def default(value: Any) -> Any:
    """The default of a field, told apart from the same value written by the user."""
    return Default(value)


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that the user wrote."""
    return {name: value for name, value in options.items() if not isinstance(value, Default)}


class Value:
    """A table of the specification; two are equal if the same is written in them."""

    #: Where such a table may stand.
    TABLES: ClassVar[tuple[str, ...]] = ()
    #: Its kind, where the table has several.
    KIND: ClassVar[str] = ""
    _given: Mapping[str, Any]

    def __post_init__(self) -> None:
        written = given(vars(self))
        for name, one in vars(self).items():
            kept = one.value if isinstance(one, Default) else tuple(one) if isinstance(one, list) else one
            object.__setattr__(self, name, kept)
        object.__setattr__(self, "_given", {name: getattr(self, name) for name in written})
        try:
            checked(self.TABLES[0], self.spec)
        except ConfigError as error:
            raise self._here(error) from None

    def _here(self, error: ConfigError) -> ConfigError:
        """Of a value that may stand in several places the error names the value, not one of the places."""
        if len(self.TABLES) == 1:
            return error
        path = error.path.replace(self.TABLES[0], type(self).__name__, 1)
        return ConfigError(path, error.value, error.expected, error.hint)

    @property
    def spec(self) -> Spec:
        """The nested table of a specification: what was given."""
        kind = {"kind": self.KIND} if self.KIND else {}
        return {**kind, **{name: as_written(f"{self.TABLES[0]}.{name}", one) for name, one in self._given.items()}}

    def replace(self, **changes: Any) -> Self:
        """This value with some fields changed."""
        return type(self)(**{**self._given, **changes})

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Value) and self.spec == other.spec

    def __hash__(self) -> int:
        return hash((type(self).__name__, json.dumps(self.spec, sort_keys=True, default=str)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={one!r}' for name, one in self._given.items())})"


@dataclass_transform(kw_only_default=True, frozen_default=True)
def value(made: _Class) -> _Class:
    """Makes a class with typed fields a value: frozen, fields by keyword; an unknown one is explained."""
    dataclass(frozen=True, kw_only=True, eq=False, repr=False)(made)
    make = made.__init__

    @functools.wraps(make)
    def checking(self: Value, **options: Any) -> None:
        known = [field.name for field in fields(made)]  # type: ignore[arg-type]
        for name in options:
            if name not in known:
                where = made.TABLES[0] if len(made.TABLES) == 1 else made.__name__
                raise unknown_key(where, name, known, "fields")
        make(self, **options)

    made.__init__ = checking  # type: ignore[method-assign, assignment]
    return made


def as_written(path: str, one: Any) -> Any:
    """What is given for a field, as a specification has it: values as tables, ``"wavefront"`` as a kind."""
    if isinstance(one, Value):
        if path not in one.TABLES:
            raise ConfigError(path, repr(one), "another value", f"a {type(one).__name__} stands in {one.TABLES[0]}")
        return one.spec
    if isinstance(one, type) and issubclass(one, Value):
        raise ConfigError(
            path, f"the class {one.__name__}", "a value", f"write {one.__name__}(), with its fields if any"
        )
    if isinstance(one, str) and has_kind(path):
        return {"kind": one}
    if isinstance(one, Mapping):
        return {name: as_written(f"{path}.{name}", inner) for name, inner in one.items()}
    return one
