"""Every public name of mpi4py's module: it is there, and what is not supported fails only where it is called."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import Any

import flitwork as fw
import pytest
from flitwork_mpi.programs import MPI
from flitwork_mpi.programs.errors import NotSupported
from flitwork_mpi.programs.placeholders import refusing
from mpi4py_names import names_in
from mpi_libraries import WHEELS

LISTED = Path(__file__).parents[1] / "data/mpi4py_names.txt"
#: Attributes that objects have, and their classes do not.
OF_OBJECTS: dict[str, Any] = {
    "Comm": MPI.COMM_WORLD,
    "Datatype": MPI.INT,
    "Status": MPI.Status(),
}


def named(name: str) -> Any:
    """What a program gets for ``MPI.<name>``; of what only objects have, that of an object."""
    owner, _, last = name.rpartition(".")
    try:
        return reduce(getattr, name.split("."), MPI)
    except NotSupported:
        raise
    except AttributeError:
        return getattr(OF_OBJECTS[owner], last)


def is_refused(found: Any) -> bool:
    return getattr(found, "__code__", None) is refusing("MPI.x").__code__


def test_every_name_of_mpi4py_can_be_named() -> None:
    refused = []
    # Objects of ranks have these: the next test.
    for name in {*LISTED.read_text().split()} - {"Graphcomm.edges", "Graphcomm.index", "Win.name"}:
        found = named(name)
        if is_refused(found):
            refused.append(name)
            last = name.rpartition(".")[2]
            with pytest.raises(NotImplementedError, match=rf"MPI\.(\w+\.)?{last} is not supported by the simulated"):
                found("anything", 1)
    assert {"Open_port", "Intracomm.Spawn", "Session.Init", "Prequest.Pready"} <= {*refused} and len(refused) < 120


def test_what_objects_of_ranks_have() -> None:
    def program(comm: Any) -> tuple[list[int], list[int], str]:
        graph, window = comm.Create_graph([1, 2], [1, 0]), MPI.Win.Allocate(8, comm=comm)
        found = [*graph.index], [*graph.edges], window.name
        window.Free()
        return found

    assert fw.mpi.run(program, ranks=2).returns[0][:2] == ([1, 2], [1, 0])


def test_sessions_and_generalised_requests_are_names_until_they_are_called() -> None:
    assert isinstance(MPI.SESSION_NULL, MPI.Session) and not MPI.SESSION_NULL
    assert issubclass(MPI.Grequest, MPI.Request)
    calls = {
        "Session": MPI.Session, "Session.Init": MPI.Session.Init, "Session.Finalize": MPI.SESSION_NULL.Finalize,
        "Grequest": MPI.Grequest, "Grequest.Start": MPI.Grequest.Start, "Comm.Agree": MPI.COMM_WORLD.Agree,
        "Comm.Spawn": MPI.COMM_WORLD.Spawn, "Open_port": MPI.Open_port,
    }  # fmt: skip
    for name, call in calls.items():
        with pytest.raises(NotImplementedError, match=rf"MPI\.{name} is not supported"):
            call()


def test_the_list_is_that_of_the_installed_mpi4py() -> None:
    stubs = [*WHEELS.glob("*/lib/python3*/site-packages/mpi4py/MPI.pyi")]
    if not stubs:
        pytest.skip("no mpi4py is installed: `make test` installs one")
    assert all(names_in(one) == LISTED.read_text().split() for one in stubs)
