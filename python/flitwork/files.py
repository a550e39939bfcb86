"""Files that are either there and whole, or not there."""

from __future__ import annotations

import os
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from flitwork.errors import ConfigError

_ABANDONED_SECONDS = 24 * 3600


def write_atomically(path: Path, write: Callable[[BinaryIO], object]) -> Path:
    """Lets ``write`` fill a temporary file beside ``path``, flushes it to the disk and renames it.

    A reader sees the old file or the new one, never a part; two writers cannot mix.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{path.name}.{uuid.uuid4().hex}.tmp"
    try:
        with temporary.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return path


def writable_folder(path: Path, option: str = "--out") -> Path:
    """``path`` as a folder that exists and can be written to; otherwise an error that says why not."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        hint = "choose another folder with " + option
        raise ConfigError(option, path, f"a folder that can be written to ({error.strerror})", hint) from None
    return path


def remove_abandoned(folder: Path) -> None:
    """Removes temporary files of runs that were killed more than a day ago."""
    for left in folder.glob(".*.tmp"):
        try:
            if time.time() - left.stat().st_mtime > _ABANDONED_SECONDS:
                left.unlink()
        except FileNotFoundError:
            continue
