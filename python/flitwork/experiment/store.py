"""Finished points on the disk: one file each, named by the hash of its plan, written at once or not at all."""

from __future__ import annotations

import warnings
from pathlib import Path

from flitwork.errors import ResultFileError
from flitwork.files import remove_abandoned, writable_folder
from flitwork.result import Result


class Store:
    """The folder ``points`` of a study's results. Several processes may share it."""

    def __init__(self, folder: Path) -> None:
        self.folder = writable_folder(folder / "points")
        remove_abandoned(self.folder)

    def path(self, plan_hash: str) -> Path:
        """Where the result of that plan is or will be."""
        return self.folder / f"{plan_hash}.parquet"

    def get(self, plan_hash: str) -> Result | None:
        """The stored result; ``None`` if there is none, or none that can be read (then a warning names the file)."""
        path = self.path(plan_hash)
        if not path.exists():
            return None
        try:
            result = Result.load(path)
        except ResultFileError as error:
            warnings.warn(f"{error} (it is computed again now)", stacklevel=2)
            return None
        return result if result.plan_hash == plan_hash else None

    def put(self, result: Result) -> None:
        """Stores a result."""
        result.save(self.path(result.plan_hash))
