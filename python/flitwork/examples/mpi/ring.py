"""A token goes once round all ranks."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

if rank == 0:
    token = ["rank 0 was here"]
    comm.send(token, dest=1 % size, tag=11)
    token = comm.recv(source=size - 1, tag=11)
    print(f"back after {1e9 * MPI.Wtime():.0f} ns: {len(token)} names")
else:
    token = comm.recv(source=rank - 1, tag=11)
    token.append(f"rank {rank} was here")
    comm.send(token, dest=(rank + 1) % size, tag=11)
