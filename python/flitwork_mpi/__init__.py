"""MPI beside the simulator: rank programs on a simulated network, and the same schedules on real MPI.

* ``programs`` - programs written for mpi4py, unchanged, on a simulated network: :data:`flitwork.mpi`;
* ``native`` - the MPI library in C, its launchers, and programs recorded on real MPI;
* ``tune`` - rules that say which algorithm is fastest, for several MPI libraries: :data:`flitwork.tune`;
* ``studies`` - what published studies measure on real MPI;
* ``cli`` - ``flitwork mpi`` and ``flitwork tune``.

The simulator finds these by entry points and works without them.
"""
