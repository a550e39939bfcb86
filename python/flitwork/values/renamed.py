"""Old names, accepted for one version: each gives one warning that says what it is called now.

Fields of specifications and their words are renamed by the simulator's own table (``spec/renamed.rs``), columns of
results by the one below. Names are replaced where they come in: specifications, study files, flat keywords, attributes.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from flitwork import _core
from flitwork.base.errors import ConfigError

#: The version that accepts the old names no more.
UNTIL = "0.3"
#: Columns of the results, old and new.
COLUMNS = {
    "distance_from_bound": "ratio_to_bound",
    "mean_link_flits_per_cycle": "mean_channel_flits_per_cycle",
    "max_link_flits_per_cycle": "max_channel_flits_per_cycle",
}
#: Options of the command line, old and new.
OPTIONS = {"--controllers": "--ports"}
#: What holds names of columns in a plot of a study file.
_OF_PLOTS = ("x", "y", "series", "panels")
_NAME = re.compile(r"[^\W\d][\w.]*")
_PACKAGE = str(Path(__file__).parent)

Table = dict[str, Any]


@lru_cache(maxsize=1)
def _tables() -> tuple[list[list[str]], list[list[str]]]:
    fields, words = json.loads(_core.renamed())
    return fields, words


def warn(old: str, new: str) -> None:
    """Says that ``old`` is called ``new``."""
    warn_user(message(old, new), FutureWarning)


def warn_user(text: str, category: type[Warning]) -> None:
    """A warning at the line outside of the package from which it comes."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE) and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def message(old: str, new: str) -> str:
    """The sentence that a warning consists of."""
    return f"{old} is called {new} now; the old name is accepted until version {UNTIL}"


def _moved(path: str) -> str:
    """The new path of a field."""
    for old, new in _tables()[0]:
        if path == old or path.startswith(f"{old}."):
            return new + path[len(old) :]
    return path


def path_of(path: str) -> str:
    """The new path of a field; an old one gives a warning."""
    new = _moved(path)
    if new != path:
        warn(path, new)
    return new


def word(path: str, value: Any) -> Any:
    """The new word for an old one of the field at ``path``; any other value as it is."""
    for at, old, new in _tables()[1] if isinstance(value, str) else ():
        if (at, old) == (path, value):
            warn(f'{path} = "{old}"', f'"{new}"')
            return new
    return value


def specification(spec: Mapping[str, Any]) -> Table:
    """A specification, or a part of one by dotted names, with new names only."""
    elsewhere: Table = {}
    found = _renewed(spec, "", "", elsewhere)
    for path, value in elsewhere.items():
        _put(found, path.split("."), value, path)
    return found


def table(at: str, given: Mapping[str, Any]) -> Table:
    """The table at the path ``at`` of a specification with new names only."""
    return _renewed(given, at, _moved(at))


def _renewed(given: Mapping[str, Any], old_at: str, new_at: str, elsewhere: Table | None = None) -> Table:
    """The table with new names; what belongs to another table goes to ``elsewhere``, by its path."""
    found: Table = {}
    for key, value in given.items():
        old = f"{old_at}.{key}" if old_at else str(key)
        new = _moved(old)
        if new_at and not new.startswith(f"{new_at}."):
            # It belongs to another table. Without a place for that, the simulator's error says what it is called.
            if elsewhere is None:
                found[str(key)] = value
            else:
                warn(old, new)
                _put(elsewhere, [new], _value(value, old, new), new)
            continue
        # A table that moved with everything in it is named once, by itself.
        if new != old and not (new.startswith(f"{new_at}.") and new[len(new_at) :] == old[len(old_at) :]):
            warn(old, new)
        name = new.removeprefix(f"{new_at}.") if new_at else new
        _put(found, [str(key)] if new == old else name.split("."), _value(value, old, new, elsewhere), new)
    return found


def _value(value: Any, old: str, new: str, elsewhere: Table | None = None) -> Any:
    if isinstance(value, Mapping):
        return _renewed(value, old, new, elsewhere)
    if isinstance(value, list):
        return [_value(one, old, new) for one in value]
    return word(new, value)


def _put(place: Table, names: list[str], value: Any, path: str) -> None:
    for name in names[:-1]:
        inner = place.setdefault(name, {})
        if not isinstance(inner, dict):
            raise ConfigError(path, repr(inner), "a table", f"{name} is a table with {names[-1]} in it")
        place = inner
    here = place.get(names[-1])
    if isinstance(here, dict) and isinstance(value, Mapping):
        for name, inner in value.items():
            _put(here, [name], inner, f"{path}.{name}")
    elif names[-1] in place:
        raise ConfigError(path, repr(value), "it once", f"it is {here!r} already, by its old or its new name")
    else:
        place[names[-1]] = value


def keywords(section: str, given: Mapping[str, Any], known: Iterable[str] = ()) -> Table:
    """Flat keywords of the fields below ``section`` with new names only; what is ``known`` is no old name."""
    names = {old.rpartition(".")[2]: new for old, new in _tables()[0] if new.startswith(f"{section}.")}
    current, found = set(known), Table()
    for key, value in given.items():
        new = names.get(key, "").rpartition(".")[2] if key not in current else ""
        if new and new != key and (not current or new in current):
            warn(key, new)
            key = new
        if key in found:
            raise ConfigError(f"{section}.{key}", repr(value), "it once", f"it is {found[key]!r} already")
        found[key] = value
    return found


def column(name: str) -> str:
    """The new name of a column of the results, or of an axis."""
    if name in COLUMNS:
        warn(name, COLUMNS[name])
        return COLUMNS[name]
    return path_of(name)


def study(data: Mapping[str, Any]) -> Table:
    """The contents of a study file with new names only: specifications, axes, and the columns that it names."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = _study(data)
    for text in dict.fromkeys(str(one.message) for one in caught):
        warn_user(text, FutureWarning)
    return found


def _study(data: Mapping[str, Any]) -> Table:
    found = dict(data)
    if isinstance(data.get("base"), Mapping):
        found["base"] = specification(data["base"])
    if isinstance(data.get("experiments"), list):
        found["experiments"] = [_experiment(one) for one in data["experiments"]]
    if isinstance(data.get("plots"), list):
        found["plots"] = [_plot(one) for one in data["plots"]]
    return found


def _experiment(given: Any) -> Any:
    if not isinstance(given, Mapping):
        return given
    found = dict(given)
    for key in ("set", "grid", "zip"):
        if key in given:
            found[key] = _dotted(given[key])
    if isinstance(given.get("columns"), Mapping):
        found["columns"] = {k: _expression(v) if isinstance(v, str) else v for k, v in given["columns"].items()}
    if isinstance(given.get("quick"), Mapping):
        found["quick"] = _experiment(given["quick"])
    return found


def _dotted(given: Any) -> Any:
    """A table by dotted names, which stay dotted; or a list of such tables."""
    if isinstance(given, list):
        return [_dotted(one) for one in given]
    if not isinstance(given, Mapping):
        return given
    found: Table = {}
    for key, value in given.items():
        new, elsewhere = path_of(key), Table()
        _put(found, [new], _value(value, key, new, elsewhere), new)
        for path, moved in elsewhere.items():
            _put(found, [path], moved, path)
    return found


def _expression(text: str) -> str:
    return _NAME.sub(lambda name: column(name[0]), text)


def _plot(given: Any) -> Any:
    if not isinstance(given, Mapping):
        return given
    found = dict(given)
    for key in _OF_PLOTS:
        value = given.get(key)
        if isinstance(value, str):
            found[key] = column(value)
        elif isinstance(value, list):
            found[key] = [column(one) if isinstance(one, str) else one for one in value]
    if isinstance(given.get("where"), Mapping):
        found["where"] = {column(name): value for name, value in given["where"].items()}
    return found


def attribute(owner: str, old: str, new: str) -> Any:
    """The property ``old`` of a class, which gives the attribute ``new``."""

    def read(self: Any) -> Any:
        warn(f"{owner}.{old}", f"{owner}.{new}")
        return getattr(self, new)

    return property(read, doc=f"Old name of :attr:`{new}`, until version {UNTIL}.")


def function(module: str, names: Mapping[str, str], have: Mapping[str, Any]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module whose functions ``names`` were renamed."""

    def read(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warn(f"{module}.{name}", f"{module}.{names[name]}")
        return have[names[name]]

    return read
