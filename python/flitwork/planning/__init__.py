"""What is known before anything runs: the specification of a simulation, its bounds, its checks, its pauses."""
