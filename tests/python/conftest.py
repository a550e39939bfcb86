"""The core is tested without the package of MPI: in the processes of these tests nothing of it can be imported."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import flitwork
import pytest


@pytest.fixture(autouse=True)
def without_mpi() -> Iterator[None]:
    """Whoever imports ``flitwork_mpi`` gets an error, as where it is not installed."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [*sys.modules]:
            if name.partition(".")[0] == "flitwork_mpi":
                patch.delitem(sys.modules, name)
        patch.setitem(sys.modules, "flitwork_mpi", None)
        for name in ("mpi", "tune"):
            patch.delitem(vars(flitwork), name, raising=False)
        yield
