"""Accepted load and latency by offered load, for each network, traffic and routing."""

from __future__ import annotations

import pandas as pd

from flitwork.base.statistics import half_width_95

#: The routings in the order of the figure.
ROUTINGS = ("minimal", "Valiant", "UGAL", "PAR", "UGAL-G")


def curves(results: pd.DataFrame) -> pd.DataFrame:
    """A row for each experiment, routing and offered load: means over the seeds, and half their 95 % intervals.

    Columns ``experiment``, ``group`` (terminals of a group, or of a router), ``routing``, ``offered``, ``accepted`` and
    ``accepted_interval`` (flits a cycle and terminal), ``latency`` and ``latency_interval`` (cycles, of packets),
    ``runs``.
    """
    table = pd.DataFrame({
        "experiment": results["experiment"].astype(str),
        "group": results["group"].astype(int),
        "routing": results["routing"].astype(str),
        "offered": results["workload.offered_load"].astype(float),
        "accepted": results["accepted_load_flits_per_cycle"].astype(float),
        "latency": results["packet_latency_mean_cycles"].astype(float),
    })  # fmt: skip
    groups = table.groupby(["experiment", "group", "routing", "offered"], sort=False)
    return groups.agg(
        accepted=("accepted", "mean"), accepted_interval=("accepted", half_width_95),
        latency=("latency", "mean"), latency_interval=("latency", half_width_95), runs=("accepted", "count"),
    ).reset_index()  # fmt: skip
