from __future__ import annotations

from pathlib import Path

import pytest
from mpi_libraries import AS_ROOT


@pytest.fixture(scope="session")
def mpi_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where C programs for MPI libraries are kept: each is compiled once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def mpi_programs(monkeypatch: pytest.MonkeyPatch, mpi_cache: Path) -> None:
    """Jobs are started from this process, by root too."""
    for name, value in {**AS_ROOT, "XDG_CACHE_HOME": str(mpi_cache)}.items():
        monkeypatch.setenv(name, value)
