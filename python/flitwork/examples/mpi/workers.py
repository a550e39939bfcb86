"""Rank 0 hands out work; who is ready first gets the next piece."""

from mpi4py import MPI

WORK, DONE, STOP = 1, 2, 3
comm = MPI.COMM_WORLD
status = MPI.Status()

if comm.rank == 0:
    pieces = [*range(3 * comm.size)]
    results = {}
    for worker in range(1, comm.size):
        comm.send(pieces.pop(), dest=worker, tag=WORK)
    busy = comm.size - 1
    while busy:
        comm.Probe(source=MPI.ANY_SOURCE, tag=DONE, status=status)
        worker = status.Get_source()
        piece, result = comm.recv(source=worker, tag=DONE)
        results[piece] = result
        if pieces:
            comm.send(pieces.pop(), dest=worker, tag=WORK)
        else:
            comm.send(None, dest=worker, tag=STOP)
            busy -= 1
    print(f"{len(results)} results, their sum is {sum(results.values())}")
else:
    while True:
        piece = comm.recv(source=0, tag=MPI.ANY_TAG, status=status)
        if status.Get_tag() == STOP:
            break
        comm.send((piece, piece**2), dest=0, tag=DONE)
