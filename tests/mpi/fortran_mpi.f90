program fortran_mpi
  use mpi
  implicit none
  integer :: request
  integer, allocatable :: kinds(:)
  include 'fortran.inc'
end program fortran_mpi
