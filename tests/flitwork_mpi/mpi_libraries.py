"""MPI libraries that are installed here, programs built with them, and what they select, made visible."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

#: All-to-alls of bytes to each peer as the arguments say.
PROGRAM = r"""
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 1; i < argc; i++) {
        int bytes = atoi(argv[i]);
        char *from = calloc((size_t)bytes + 1, ranks), *to = calloc((size_t)bytes + 1, ranks);
        MPI_Alltoall(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, MPI_COMM_WORLD);
        free(from);
        free(to);
    }
    MPI_Finalize();
    return 0;
}
"""

#: Where `make test` installs the wheels of MPI libraries.
WHEELS = Path(sys.prefix) / "mpi"
#: Open MPI starts ranks of root only if it is told so.
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
#: How launchers call themselves.
_SAYS = {"openmpi": "open-mpi.org", "mpich": "HYDRA"}


@dataclass(frozen=True)
class Library:
    """An MPI library: its compiler, its launcher, and a Python whose mpi4py is linked to it, if there is one."""

    mpicc: str
    mpirun: str
    python: str | None = None

    @classmethod
    def found(cls, family: str) -> Library | None:
        """The first of that family, if there is one: on the PATH, else the wheel that ``make test`` has installed."""
        return next(cls.every(family), None)

    @classmethod
    def needed(cls, family: str) -> Library:
        """The first of that family; without one, the test is skipped by name."""
        found = cls.found(family)
        if found is None:
            pytest.skip(f"no mpirun of {family} with its mpicc, or no cc: {family} was not tested")
        return found

    @classmethod
    def of_wheel(cls, family: str) -> Library | None:
        """That of the wheel, which has an mpi4py."""
        return next((library for library in cls.every(family) if library.python), None)

    @classmethod
    def every(cls, family: str) -> Iterator[Library]:
        """All of that family with an mpicc beside their mpirun: one on the PATH, and that of the wheel."""
        if not shutil.which("cc"):
            return
        for place, suffix in ((None, ""), (None, f".{family}"), (WHEELS / family / "bin", "")):
            mpirun = shutil.which(f"mpirun{suffix}", path=place)
            if mpirun and _SAYS[family] in cls.said(mpirun, "--version"):
                mpicc = Path(mpirun).with_name(f"mpicc{suffix}")
                if mpicc.exists():
                    yield cls(str(mpicc), mpirun, str(place / "python") if place else None)

    @staticmethod
    def said(*command: str) -> str:
        """What a command prints."""
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    @property
    def oversubscribed(self) -> list[str]:
        """What lets a launcher start more ranks than there are cores."""
        return ["--oversubscribe"] if _SAYS["openmpi"] in self.said(self.mpirun, "--version") else []

    def build(self, source: str, output: Path, *options: str) -> Path:
        """Compiles C with the library's own compiler."""
        file = output.with_suffix(".c")
        file.write_text(source)
        subprocess.run([self.mpicc, "-O1", "-w", *options, "-o", output, file], check=True, capture_output=True)
        return output

    def launcher(self, ranks: int) -> list[str]:
        """What starts so many ranks, on fewer cores, too."""
        return [self.mpirun, *self.oversubscribed, "-n", str(ranks)]

    def run(self, ranks: int, *words: object, **environment: str) -> str:
        """Runs words of a command line on so many ranks; what it prints, errors behind the rest."""
        command = [*self.launcher(ranks), *map(str, words)]
        done = subprocess.run(
            command,
            env={**os.environ, **AS_ROOT, **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr
