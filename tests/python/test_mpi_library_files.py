"""The package carries the sources of the MPI library, as they stand in the project."""

from __future__ import annotations

from pathlib import Path

from flitwork import _core

FOLDER = Path(__file__).parents[2] / "mpi"


def test_the_extension_has_every_source_of_the_mpi_library() -> None:
    sources = [file for pattern in ("*.c", "*.h", "*.mk", "Makefile") for file in FOLDER.rglob(pattern)]
    assert FOLDER / "steps.h" in sources
    found = _core.mpi_library_files()
    for file in sources:
        assert found.pop(file.relative_to(FOLDER).as_posix()) == file.read_bytes(), file
    assert found.pop("libflitwork_steps.a").startswith(b"!<arch>\n")
    assert not found
