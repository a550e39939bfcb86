"""Flitwork beside real MPI."""
