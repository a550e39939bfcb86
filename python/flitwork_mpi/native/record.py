"""Records the communication of a real MPI program."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from flitwork.base.errors import ConfigError

from flitwork_mpi.native.build import built
from flitwork_mpi.native.launcher import Launcher
from flitwork_mpi.native.started_job import Launched

#: How often it is said how large the trace is.
_SECONDS = 10.0


def record(
    command: Sequence[str],
    folder: Path,
    *,
    mpicc: str | None = None,
    progress: Callable[[float, int], object] = lambda seconds, size: None,
) -> int:
    """Runs a command (``mpirun -n 8 ./program``) and has each rank write its trace to ``folder``; its exit code.

    ``progress`` is told seconds and bytes every now and then. The folder must be empty, and one that all ranks can
    write to. Raises :class:`flitwork.ConfigError` for a command without a launcher.
    """
    launcher = Launcher.of(command, "flitwork mpi record -o program.goal -- mpirun -n 8 ./program")
    if any(folder.iterdir()):
        raise ConfigError("--trace", folder, "an empty folder", "choose another, or remove what is in it")
    library = built("libflitwork_record.so", mpicc or launcher.compiler())
    variables = {"LD_PRELOAD": str(library), "FLITWORK_RECORD_FOLDER": str(folder.resolve())}
    began = time.monotonic()
    with Launched(launcher.with_variables(variables)) as launched:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return launched.wait(_SECONDS)
            progress(time.monotonic() - began, size_of(folder))


def size_of(folder: Path) -> int:
    """Bytes of the files in a folder."""
    return sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
