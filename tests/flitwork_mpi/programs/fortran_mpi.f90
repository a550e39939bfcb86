program fortran_mpi
  use mpi
  implicit none
  integer :: request, pair(2)
  integer :: half
  integer, allocatable :: kinds(:)
#include "fortran.inc"
end program fortran_mpi
