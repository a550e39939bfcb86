"""Packages beside flitwork, found by entry points, and the libraries that extras of the distribution add.

Three groups of entry points are looked at: ``flitwork.modules`` (names of the package, such as ``flitwork.mpi``),
``flitwork.commands`` (commands of the command line) and ``flitwork.on_mpi`` (what a published study measures on real
MPI, by the study's name). The core needs no such package.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any, Literal

from flitwork.base.errors import FlitworkError

Group = Literal["flitwork.modules", "flitwork.commands", "flitwork.on_mpi"]
#: The extra of the distribution that brings what the package of MPI needs.
_EXTRA = "mpi"
#: The libraries of each extra, which the part of the package asks for that needs them.
LIBRARIES = {
    "fit": ("scipy", "statsmodels"),
    "mpi": ("greenlet", "psutil"),
    "report": ("jinja2", "networkx"),
}


class MissingExtension(FlitworkError, ImportError):
    """A part of flitwork, or a package beside it, cannot be loaded; the message says what to install."""


class MissingPart(FlitworkError, AttributeError):
    """A name of the package cannot be loaded; the message says what to install. ``hasattr(fw, "mpi")`` is false."""


def is_complete(extra: str) -> bool:
    """Whether all libraries of an extra are installed. None is loaded."""
    return not any(_missing(library) for library in LIBRARIES[extra])


def needs(extra: str) -> None:
    """Raises :class:`MissingExtension` where a library of the extra is not installed. None is loaded."""
    for library in LIBRARIES[extra]:
        if _missing(library):
            raise MissingExtension(f"{library} is not installed: {_install(extra)}")


def _missing(library: str) -> bool:
    if library in sys.modules:
        return sys.modules[library] is None
    return find_spec(library) is None


@cache
def extensions(group: Group) -> dict[str, EntryPoint]:
    """The entry points of a group by name, in the order of their names; an empty table where nothing is installed."""
    return {one.name: one for one in sorted(entry_points(group=group), key=lambda one: one.name)}


def load_extension(group: Group, name: str) -> Any:
    """What the entry point leads to.

    Raises :class:`MissingExtension` where it, or a library that it needs, is not installed.
    """
    found = extensions(group).get(name)
    if found is None:
        raise MissingExtension(f"{name}: no entry point of flitwork_mpi is installed: {_install(_EXTRA)}")
    with loading(name):
        return found.load()


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Turns the errors of imports within, for the part or the command ``name``, into :class:`MissingExtension`."""
    try:
        yield
    except MissingExtension:
        raise
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        ours = missing in ("flitwork_mpi", *LIBRARIES[_EXTRA])
        raise MissingExtension(
            f"{name}: {missing} is not installed{f': {_install(_EXTRA)}' if ours else ''}"
        ) from error
    except (ImportError, AttributeError) as error:
        raise MissingExtension(f"{name}: cannot be loaded ({error})") from error


def _install(extra: str) -> str:
    return f"pip install 'flitwork[{extra}]', or [all]"
