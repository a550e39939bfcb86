"""All-to-alls of an mpi4py program: each result is known."""

from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
wrong = 0
for comm in (world, world.Split(rank % 2, -rank)):
    me, count = comm.rank, comm.size
    out = array("i", [100 * me + peer for peer in range(count)])
    expected = array("i", [100 * peer + me for peer in range(count)])
    for function, arguments in (
        (comm.Alltoall, (out, array("i", [0] * count))),
        (comm.Alltoallv, ([out, ([1] * count, list(range(count))), MPI.INT], [array("i", [0] * count), MPI.INT])),
    ):
        function(*arguments)
        received = arguments[1] if isinstance(arguments[1], array) else arguments[1][0]
        wrong += received != expected
    wrong += comm.alltoall([(me, peer) for peer in range(count)]) != [(peer, me) for peer in range(count)]
total = world.allreduce(wrong)
if rank == 0:
    print(f"python on {ranks} ranks: {total} wrong")
