! The same in Fortran, whose calls reach a loaded library by symbols of their own.
program check
  implicit none
  include 'mpif.h'
  integer, parameter :: block = 3
  integer, allocatable :: out(:, :), in(:, :)
  integer :: rank, ranks, peer, i, wrong, wrong_in_all, code

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  allocate (out(block, 0:ranks - 1), in(block, 0:ranks - 1))
  in = -1
  do peer = 0, ranks - 1
    do i = 1, block
      out(i, peer) = 1000 * rank + 10 * peer + i
    end do
  end do
  call MPI_Alltoall(out, block, MPI_INTEGER, in, block, MPI_INTEGER, MPI_COMM_WORLD, code)
  wrong = 0
  do peer = 0, ranks - 1
    do i = 1, block
      if (in(i, peer) /= 1000 * peer + 10 * rank + i) wrong = wrong + 1
    end do
  end do
  call MPI_Reduce(wrong, wrong_in_all, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, code)
  if (rank == 0 .and. wrong_in_all == 0) print '(A,I0,A)', 'right: ', ranks, ' ranks'
  if (rank == 0 .and. wrong_in_all /= 0) print '(I0,A)', wrong_in_all, ' numbers are wrong'
  call MPI_Finalize(code)
end program check
