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
    # Several under way at once, completed in another order; mpi4py asks for threads.
    sent = [array("i", [1000 * turn + one for one in out]) for turn in range(5)]
    received = [array("i", [0] * count) for _ in sent]
    each = ([1] * count, list(range(count)))
    requests = [comm.Ialltoall(a, b) for a, b in zip(sent[:2], received[:2], strict=True)]
    requests.append(comm.Ialltoallv([sent[2], each, MPI.INT], [received[2], each, MPI.INT]))
    kinds = ([1] * count, [4 * peer for peer in range(count)]), [MPI.INT] * count
    requests.append(comm.Ialltoallw([sent[3], *kinds], [received[3], *kinds]))
    requests.append(comm.Alltoall_init(sent[4], received[4]))
    for _ in range(2):
        received[4][:] = array("i", [0] * count)
        requests[4].Start()
        requests[4].Wait()
    requests[4].Free()
    requests[3].Wait()
    MPI.Request.Waitall(requests[:3])
    wrong += received != [array("i", [1000 * turn + one for one in expected]) for turn in range(5)]
    wrong += comm.alltoall([(me, peer) for peer in range(count)]) != [(peer, me) for peer in range(count)]
total = world.allreduce(wrong)
if rank == 0:
    print(f"python on {ranks} ranks: {total} wrong")
