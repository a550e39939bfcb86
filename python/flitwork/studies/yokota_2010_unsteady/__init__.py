"""Steady and unsteady performance of routing algorithms (Yokota, Ootsu, Baba); the findings stand in ``README.md``."""
