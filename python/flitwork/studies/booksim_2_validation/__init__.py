"""Latency and accepted load beside BookSim 2 on an 8 x 8 mesh and torus; ``docs/validation.md`` says what came out."""
