program fortran_mpif
  implicit none
  include 'mpif.h'
  integer :: request
  integer, allocatable :: kinds(:)
  include 'fortran.inc'
end program fortran_mpif
