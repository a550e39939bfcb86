! One-sided calls between fences in Fortran: 3 puts of two numbers to the right, one get of one from the left.
program one_sided
  use mpi
  implicit none
  integer :: there(4), out(4), in(4), window, rank, ranks, turn, error
  integer(kind=MPI_ADDRESS_KIND) :: size, place
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  there = 0
  out = rank + 1
  size = 16
  place = 0
  call MPI_Win_create(there, size, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, error)
  call MPI_Win_fence(0, window, error)
  do turn = 1, 3
    call MPI_Put(out, 2, MPI_INTEGER, mod(rank + 1, ranks), place, 2, MPI_INTEGER, window, error)
    call MPI_Win_fence(0, window, error)
  end do
  call MPI_Get(in, 1, MPI_INTEGER, mod(rank + ranks - 1, ranks), place, 1, MPI_INTEGER, window, error)
  call MPI_Win_fence(0, window, error)
  if (there(2) /= mod(rank + ranks - 1, ranks) + 1) call MPI_Abort(MPI_COMM_WORLD, 1, error)
  if (in(1) /= mod(rank + ranks - 2, ranks) + 1) call MPI_Abort(MPI_COMM_WORLD, 2, error)
  call MPI_Win_free(window, error)
  call MPI_Finalize(error)
end program one_sided
