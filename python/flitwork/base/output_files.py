"""Files that are either there and whole, or not there."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from flitwork.base.errors import ConfigError, StorageError

if TYPE_CHECKING:
    import pandas as pd

_ABANDONED_SECONDS = 24 * 3600
#: What a full disk, a used-up quota and a limit of the size of files are called.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
AGAIN = "then give the same command again"
_PROBE_BYTES = 4096


def write_atomically(path: Path, write: Callable[[BinaryIO], object]) -> Path:
    """Lets ``write`` fill a temporary file beside ``path``, flushes it to the disk and renames it.

    A reader sees the old file or the new one, never a part; two writers cannot mix. A place that cannot be written to
    is a :class:`ConfigError`, one without room a :class:`StorageError`.
    """
    temporary = path.parent / f".{path.name}.{uuid.uuid4().hex}.tmp"
    try:
        is_new = not path.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        if is_new and (new := _NEW.get()) is not None:
            new.append(path)
    except OSError as error:
        _forget(temporary)
        if error.errno in NO_ROOM:
            raise StorageError(f"{path}: cannot be stored ({error.strerror}): free space, {AGAIN}") from None
        raise ConfigError(
            "file", path, f"a place that can be written to ({error.strerror or error})", "choose another"
        ) from None
    except BaseException:
        _forget(temporary)
        raise
    return path


#: Files that were not there before those of :func:`all_or_none` were written.
_NEW: ContextVar[list[Path] | None] = ContextVar("new files", default=None)


@contextlib.contextmanager
def all_or_none() -> Iterator[None]:
    """Keeps all files that are written within its ``with``, or none that was not there before.

    So the command that could not write all of them can be given again, when there is room.
    """
    new: list[Path] = []
    token = _NEW.set(new)
    try:
        yield
    except BaseException:
        for path in new:
            _forget(path)
        raise
    finally:
        _NEW.reset(token)


def write_csv(table: pd.DataFrame, path: Path) -> Path:
    """A table as CSV, without the index."""
    return write_atomically(path, lambda file: file.write(table.to_csv(index=False).encode()))


def _forget(temporary: Path) -> None:
    with contextlib.suppress(OSError):
        temporary.unlink(missing_ok=True)


def writable_folder(path: Path, option: str = "--out") -> Path:
    """``path`` as a folder that exists and can be written to; otherwise an error that says why not."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path) as file:
            file.write(bytes(_PROBE_BYTES))
            file.flush()
    except OSError as error:
        hint = "choose another folder with " + option
        raise ConfigError(option, path, f"a folder that can be written to ({error.strerror or error})", hint) from None
    return path


def could_be_folder(path: Path, option: str = "--out") -> None:
    """Refuses a place that can be no folder, before anything else is done; makes none."""
    above = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        because = "is a file" if not above.is_dir() else "no permission to write"
        hint = "choose another folder with " + option
        raise ConfigError(option, path, f"a folder that can be written to ({above}: {because})", hint)


def writable_file(path: Path, option: str, overwrite: bool) -> Path:
    """``path`` as a file that can be written; otherwise an error that says why not.

    A file that exists is refused, unless it is to be replaced (``overwrite``).
    """
    if path.is_dir():
        raise ConfigError(
            option, path, "a file, not a folder", f"such as {path / ('result' + (path.suffix or '.csv'))}"
        )
    refuse_existing(path, overwrite, option)
    writable_folder(path.parent, option)
    return path


def remove_abandoned(folder: Path) -> None:
    """Removes temporary files of runs that were killed more than a day ago."""
    for left in folder.glob(".*.tmp"):
        try:
            if time.time() - left.stat().st_mtime > _ABANDONED_SECONDS:
                left.unlink()
        except FileNotFoundError:
            continue


def in_folder(node: Any, folder: Path) -> Any:
    """``node`` with the names of files, which start from ``folder``, as they are from here."""
    if not isinstance(node, Mapping):
        return node
    return {
        key: str(folder / value) if key == "file" and isinstance(value, str) else in_folder(value, folder)
        for key, value in node.items()
    }


def refuse_existing(path: Path, overwrite: bool, name: str) -> None:
    """Refuses the ``path`` that the field ``name`` names if a file is there, unless it is to be replaced."""
    if path.is_file() and not overwrite:
        hint = "name another, or replace it: --overwrite (in Python overwrite=True)"
        raise ConfigError(name, str(path), "a file that does not exist", hint)


def folder_for(folder: Path, patterns: Sequence[str], overwrite: bool, option: str) -> Path:
    """``folder`` as one that can be written to, without files of these ``patterns``, unless they are to be replaced."""
    for path in sorted(path for pattern in patterns for path in writable_folder(folder, option).glob(pattern)):
        refuse_existing(path, overwrite, option)
    return folder
