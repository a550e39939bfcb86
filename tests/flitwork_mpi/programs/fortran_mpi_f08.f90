program fortran_mpi_f08
  use mpi_f08
  implicit none
  type(MPI_Request) :: request, pair(2)
  type(MPI_Comm) :: half
  type(MPI_Datatype), allocatable :: kinds(:)
#include "fortran.inc"
end program fortran_mpi_f08
