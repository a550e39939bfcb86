"""Heat on a grid of ranks: each exchanges the edges of its part with its neighbours, columns by a vector datatype."""

import sys

import numpy as np
from mpi4py import MPI

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 5
side = 8

dims = MPI.Compute_dims(MPI.COMM_WORLD.size, 2)
comm = MPI.COMM_WORLD.Create_cart(dims, periods=[True, False])
up, down = comm.Shift(0, 1)
left, right = comm.Shift(1, 1)

heat = np.zeros((side + 2, side + 2))
heat[1:-1, 1:-1] = comm.rank
column = MPI.DOUBLE.Create_vector(side, 1, side + 2).Commit()


def at(row, col, count, datatype):
    """The buffer that begins at an element."""
    return [heat.ravel()[row * (side + 2) + col :], count, datatype]


for _ in range(steps):
    comm.Sendrecv(heat[1, 1:-1].copy(), up, recvbuf=heat[-1, 1:-1], source=down)
    comm.Sendrecv(heat[-2, 1:-1].copy(), down, recvbuf=heat[0, 1:-1], source=up)
    requests = [
        comm.Irecv(at(1, 0, 1, column), left),
        comm.Irecv(at(1, side + 1, 1, column), right),
        comm.Isend(at(1, 1, 1, column), left),
        comm.Isend(at(1, side, 1, column), right),
    ]
    MPI.Request.Waitall(requests)
    if left == MPI.PROC_NULL:
        heat[:, 0] = heat[:, 1]
    if right == MPI.PROC_NULL:
        heat[:, -1] = heat[:, -2]
    heat[1:-1, 1:-1] = (heat[:-2, 1:-1] + heat[2:, 1:-1] + heat[1:-1, :-2] + heat[1:-1, 2:]) / 4

column.Free()
total = comm.allreduce(heat[1:-1, 1:-1].sum())
if comm.rank == 0:
    print(f"{dims[0]} x {dims[1]} ranks, {steps} steps: heat {total:.6f} after {1e6 * MPI.Wtime():.2f} us")
