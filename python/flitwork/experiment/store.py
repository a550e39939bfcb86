"""Finished points on the disk: one file each, named by the hash of its plan, written at once or not at all.

Schedules and other tables of their plans stand in the folder ``tables`` beside them, named by their digests.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from flitwork.base.errors import ResultFileError
from flitwork.base.output_files import remove_abandoned, writable_folder
from flitwork.results import result_file
from flitwork.results.result import Result


class Store:
    """The folder ``points`` of a study's results. Several processes may share it."""

    def __init__(self, folder: Path) -> None:
        self.folder = writable_folder(folder / "points")
        remove_abandoned(self.folder)
        self._useless: dict[str, tuple[int, int]] = {}

    def path(self, plan_hash: str) -> Path:
        """Where the result of that plan is or will be."""
        return self.folder / f"{plan_hash}.parquet"

    def get(self, plan_hash: str) -> Result | None:
        """The stored result; ``None`` if there is none, or none that can be read (then one warning names the file)."""
        path = self.path(plan_hash)
        version = _version(path)
        if version is None or self._useless.get(plan_hash) == version:
            return None
        try:
            result = Result.load(path, tables=False)
            fault = "" if result.plan_hash == plan_hash else f"{path}: is the result of another plan"
        except ResultFileError as error:
            fault = str(error)
        if not fault:
            return result
        self._useless[plan_hash] = version
        warnings.warn(f"{fault} (it is computed again now)", stacklevel=2)
        return None

    def put(self, result: Result) -> None:
        """Stores a result; the tables of its plan, which points may share, once beside all of them."""
        result_file.save_tables(self.folder.parent, result.tables)
        result.save(self.path(result.plan_hash), tables=False)


def _version(path: Path) -> tuple[int, int] | None:
    """What changes whenever the file is written again; ``None`` without a file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
