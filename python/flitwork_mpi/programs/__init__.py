"""Rank programs on a simulated network, written for mpi4py.

>>> import numpy as np
>>> def ring(comm):
...     got = np.empty(1)
...     comm.Sendrecv(np.array([comm.rank * 1.0]), (comm.rank + 1) % comm.size, recvbuf=got)
...     return got[0]
>>> import flitwork as fw
>>> run = fw.mpi.run(ring, ranks=4, network=fw.Torus(2, 2))
>>> run.time_ns, run.returns

Ranks are greenlets (``world``). Communicators (``comm``) have the methods of mpi4py's; every message is one of the
simulated network, those of collectives (``steps``) too, and brings its data when it arrives.
"""

from flitwork_mpi.programs.errors import Abort, ProgramDeadlock, ProgramError, ProgramUnfinished, UnmatchedMessages
from flitwork_mpi.programs.module import MPI
from flitwork_mpi.programs.result import RunResult
from flitwork_mpi.programs.run import run
from flitwork_mpi.programs.step_table import StepTable, step_table
from flitwork_mpi.programs.timing import compute

__all__ = [
    "MPI",
    "Abort",
    "ProgramDeadlock",
    "ProgramError",
    "ProgramUnfinished",
    "RunResult",
    "StepTable",
    "UnmatchedMessages",
    "compute",
    "run",
    "step_table",
]
