"""The lines and orders of the study ``makino-1997-ap1000``, measured on real MPI."""
