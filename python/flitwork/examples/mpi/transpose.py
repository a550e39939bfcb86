"""A matrix, a few rows on each rank, transposed by one Alltoall."""

import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rows = int(sys.argv[1]) if len(sys.argv) > 1 else 4
n = rows * comm.size

first = rows * comm.rank
mine = (np.arange(first, first + rows)[:, None] * n + np.arange(n)).astype("d")
# Block c of this rank: its rows of the columns of rank c.
blocks = np.ascontiguousarray(mine.reshape(rows, comm.size, rows).swapaxes(0, 1))
room = np.empty_like(blocks)

comm.Barrier()
start = MPI.Wtime()
comm.Alltoall(blocks, room)
took = comm.reduce(MPI.Wtime() - start, op=MPI.MAX)

transposed = room.transpose(2, 0, 1).reshape(rows, n)
expected = np.arange(n)[None, :] * n + np.arange(first, first + rows)[:, None]
assert np.array_equal(transposed, expected), f"rank {comm.rank} has the wrong rows"
if comm.rank == 0:
    print(f"{n} x {n} transposed in {1e9 * took:.0f} ns")
