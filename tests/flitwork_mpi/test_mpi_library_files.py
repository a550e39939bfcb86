"""The package carries the sources of the MPI library, as they stand in the project."""

from __future__ import annotations

import re
from pathlib import Path

from flitwork import _core

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "mpi"
SOURCES = ("*.c", "*.f90", "*.h", "*.mk", "Makefile")


def test_the_extension_has_every_source_of_the_mpi_library() -> None:
    sources = [file for pattern in SOURCES for file in FOLDER.rglob(pattern)]
    assert FOLDER / "steps.h" in sources
    found = _core.mpi_library_files()
    for file in sources:
        assert found.pop(file.relative_to(FOLDER).as_posix()) == file.read_bytes(), file
    assert found.pop("libflitwork_steps.a").startswith(b"!<arch>\n")
    assert not found


def test_source_distributions_have_them_too() -> None:
    included = re.findall(r'path = "mpi/\*\*/([^"]+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    names = {name for name in _core.mpi_library_files() if name != "libflitwork_steps.a"}
    missing = {name for name in names if not any(Path(name).match(pattern) for pattern in included)}
    assert names and not missing
