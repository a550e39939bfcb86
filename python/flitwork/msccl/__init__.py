"""MSCCL files: programs of thread blocks on GPUs, read, proved, simulated and written."""
