! Messages and collectives by mpif.h's interface. Each rank adds up what it sends to whom, as in recorded.c.
program recorded
  use mpi
  implicit none
  integer :: rank, ranks, right, left, half, members, place, other, ierr, i
  integer :: requests(4), statuses(MPI_STATUS_SIZE, 4), status(MPI_STATUS_SIZE), column
  integer(8) :: row(0:63)
  double precision :: out(4096), in(4096)
  integer :: counts(64), places(64)
  character(2000) :: text

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  row = 0
  out = rank
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)

  if (rank == 0) then
    call MPI_Send(out, 100, MPI_DOUBLE_PRECISION, right, 5, MPI_COMM_WORLD, ierr)
    call sent(right, 800)
  else if (rank == 1) then
    call MPI_Recv(in, 4096, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    if (in(100) /= 0) stop 3
  end if
  call MPI_Barrier(MPI_COMM_WORLD, ierr)

  call MPI_Type_vector(5, 2, 4, MPI_INTEGER, column, ierr)
  call MPI_Type_commit(column, ierr)
  call MPI_Irecv(in, 100, MPI_INTEGER, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Irecv(in(2001), 100, MPI_INTEGER, left, 7, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Isend(out, 3, column, right, 7, MPI_COMM_WORLD, requests(3), ierr)
  call MPI_Isend(out, 4, column, right, 6, MPI_COMM_WORLD, requests(4), ierr)
  call sent(right, 40 * 7)
  call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierr)

  call MPI_Recv_init(in, 10, MPI_INTEGER, left, 8, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Send_init(out, 10, MPI_INTEGER, right, 8, MPI_COMM_WORLD, requests(2), ierr)
  do i = 1, 3
    call MPI_Startall(2, requests, ierr)
    call MPI_Waitall(2, requests, statuses, ierr)
    call sent(right, 40)
  end do
  call MPI_Request_free(requests(1), ierr)
  call MPI_Request_free(requests(2), ierr)

  call MPI_Irecv(in, 9, MPI_CHARACTER, left, 9, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Issend(out, 9, MPI_CHARACTER, right, 9, MPI_COMM_WORLD, requests(2), ierr)
  call sent(right, 9)
  call MPI_Waitany(2, requests, place, status, ierr)
  call MPI_Wait(requests(3 - place), MPI_STATUS_IGNORE, ierr)
  call MPI_Sendrecv(out, 3, MPI_REAL, left, 1, in, 3, MPI_REAL, right, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierr)
  call sent(left, 12)

  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, ierr)
  call MPI_Comm_size(half, members, ierr)
  call MPI_Comm_rank(half, place, ierr)
  ! Ranks are in the other order there: the next one is two below.
  other = mod(rank - 2 + ranks, ranks)
  call MPI_Sendrecv_replace(in, 7, MPI_INTEGER, mod(place + 1, members), 2, &
    mod(place + members - 1, members), 2, half, status, ierr)
  call sent(other, 28)
  call MPI_Allgather(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, half, ierr)
  call sent(other, 8 * (members - 1))
  call MPI_Comm_free(half, ierr)

  do i = 1, ranks
    counts(i) = 2
    places(i) = 4 * (i - 1)
  end do
  call MPI_Bcast(out, 11, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  call MPI_Ibcast(out, 11, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Wait(requests(1), status, ierr)
  if (rank == 0) call to_all(2 * 88)
  call MPI_Alltoall(out, 5, MPI_INTEGER, in, 5, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call to_all(20)
  call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, in, 6, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call to_all(24)
  call MPI_Alltoallv(out, counts, places, MPI_INTEGER, in, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call MPI_Ialltoallv(out, counts, places, MPI_INTEGER, in, counts, places, MPI_INTEGER, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
  call to_all(16)
  call MPI_Reduce(out, in, 4, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank /= 0) call sent(0, 32)
  call MPI_Reduce_scatter(out, in, counts, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierr)
  call to_all(8)

  write (text, '(a, i0, a)') 'row ', rank, ':'
  do i = 0, ranks - 1
    write (text(len_trim(text) + 1:), '(1x, i0)') row(i)
  end do
  print '(a)', trim(text)
  call MPI_Finalize(ierr)

contains

  subroutine sent(to, bytes)
    integer, intent(in) :: to, bytes
    row(to) = row(to) + bytes
  end subroutine

  subroutine to_all(bytes)
    integer, intent(in) :: bytes
    integer :: to
    do to = 0, ranks - 1
      if (to /= rank) call sent(to, bytes)
    end do
  end subroutine
end program
