"""Minimal, Valiant's and adaptive routing of dragonflies and HyperX, under even traffic and under the worst."""
