"""What published studies measure on real MPI, a folder a study: for ``flitwork reproduce STUDY --mpi``."""
