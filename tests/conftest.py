from __future__ import annotations

import tempfile
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_temporary_folder() -> Iterator[None]:
    """What tests start puts its temporary files into a folder that is removed with what is left in it.

    Open MPI's launcher names its session folder by its process number and leaves it there where it is killed, as some
    tests do. A later launcher that gets the same number does not start. Sockets need a short path, too.
    """
    tempfile.gettempdir()  # looked up once: pytest's own folders stay where they are
    with (
        tempfile.TemporaryDirectory(prefix="fw-", ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("TMPDIR", folder)
        yield
