"""Pi by the midpoint rule: each rank adds up its share, a reduction adds up the shares."""

import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
intervals = np.array(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, dtype="i")
comm.Bcast([intervals, MPI.INT], root=0)

width = 1.0 / intervals
x = width * (np.arange(comm.rank, intervals, comm.size) + 0.5)
mine = np.array(width * np.sum(4.0 / (1.0 + x**2)))
pi = np.array(0.0)
comm.Reduce([mine, MPI.DOUBLE], [pi, MPI.DOUBLE], op=MPI.SUM, root=0)

if comm.rank == 0:
    print(f"pi is about {float(pi):.10f}, error {abs(float(pi) - np.pi):.1e}")
