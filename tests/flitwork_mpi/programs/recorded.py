"""Messages and collectives by mpi4py. Each rank adds up what it sends to whom, as in recorded.c."""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
right, left = (rank + 1) % ranks, (rank - 1) % ranks
row = [0] * ranks
out, room = np.zeros(1000), np.zeros(1000)

comm.Sendrecv(out[:100], right, 3, room[:100], left, 3)
row[right] += 800
requests = [comm.Irecv(room, source=MPI.ANY_SOURCE, tag=7), comm.Isend(out[:50], dest=left, tag=7)]
row[left] += 400
MPI.Request.Waitall(requests)
if rank == 0:
    comm.Send(out[:9], 1)
    row[1] += 72
elif rank == 1:
    message = comm.mprobe()
    message.Recv(room[:9])
comm.Alltoall(out[: 10 * ranks], room[: 10 * ranks])
for to in {*range(ranks)} - {rank}:
    row[to] += 80
half = comm.Split(rank % 2, rank)
half.Bcast(out[:20], 0)
if half.rank == 0:
    for to in range(1, half.size):
        row[2 * to + rank % 2] += 160
half.Free()
print(f"row {rank}: " + " ".join(map(str, row)), flush=True)
