program fortran_mpif
  implicit none
  include 'mpif.h'
  integer :: request, pair(2)
  integer :: half
  integer, allocatable :: kinds(:)
#include "fortran.inc"
end program fortran_mpif
