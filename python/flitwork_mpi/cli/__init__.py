"""``flitwork mpi`` and ``flitwork tune``."""
