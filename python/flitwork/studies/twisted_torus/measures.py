"""Completion over the bound by network and schedule, what the twist gains, and the channel loads of all routings."""

from __future__ import annotations

import pandas as pd

from flitwork.base.statistics import half_width_95
from flitwork.networks.network import Network
from flitwork.planning.any_routing import any_routing
from flitwork.planning.bound import bound
from flitwork.workloads.workload import all_to_all

#: The networks of the study, by what their runs are called.
REGULAR, REGULAR_LASH, TWISTED = "regular", "regular, lash", "twisted"
REGULAR_HOPS, TWISTED_HOPS = "regular, hop classes", "twisted, hop classes"
#: The schedules that are no algorithm by name.
RANDOM_ORDER, TIMETABLE = "random order", "timetable"
SMALL, LARGE = "4 x 4 x 8", "4 x 8 x 8"
SIZES = {SMALL: (4, 4, 8), LARGE: (4, 8, 8)}
#: Ports with which the claims of the paper are judged, and without which the twist is hidden.
MANY_PORTS = 4
#: The virtual channels of all experiments that do not vary them.
VCS = 20

_TIMETABLES = ("timetables", "timetables_one_port")


def all_to_alls(results: pd.DataFrame) -> pd.DataFrame:
    """A row for each experiment, size, network, schedule, number of ports, of virtual channels and length of messages.

    Columns ``experiment``, ``size``, ``net``, ``schedule``, ``ports``, ``vcs``, ``message_flits``, ``cycles``
    (completion, mean over the seeds), ``ratio`` (over the bound of messages that go straight to their destinations,
    also where an algorithm forwards them), ``interval`` (half its 95 % interval).
    """
    results = results[results["experiment"] != "uniform"]
    experiment = results["experiment"].astype(str)
    table = pd.DataFrame({
        "experiment": experiment,
        "size": [_size(run) for _, run in results.iterrows()],
        "net": results["net"].astype(str),
        "schedule": [_schedule(run) for _, run in results.iterrows()],
        "ports": _axis(results, "network.nic.ports", MANY_PORTS).where(~experiment.isin(_TIMETABLES), 1),
        "vcs": _axis(results, "network.router.vcs", VCS),
        "message_flits": _axis(results, "workload.message_flits", 0),
        "cycles": results["completion_cycles"].astype(float),
    })  # fmt: skip
    machine = ["experiment", "size", "net", "ports", "vcs", "message_flits"]
    straight = results["bound_cycles"].astype(float).groupby([table[key] for key in machine]).transform("min")
    table["ratio"] = table["cycles"] / straight
    groups = table.groupby([*machine, "schedule"], sort=False)
    return groups.agg(
        cycles=("cycles", "mean"), ratio=("ratio", "mean"), interval=("ratio", half_width_95)
    ).reset_index()  # fmt: skip


def by_steps(table: pd.DataFrame) -> pd.DataFrame:
    """The runs of algorithms by steps in which packets in transit do not go first."""
    return table[table["experiment"].str.match("small|large|hop_classes")]


def gain(runs: pd.DataFrame, size: str, regular: str, twisted: str, ports: int = MANY_PORTS) -> float | None:
    """How many times as fast as on ``regular`` the fastest algorithm is on ``twisted``, of those that ran on both."""
    runs = runs[runs["ports"] == ports]
    times = [
        runs[(runs["size"] == size) & (runs["net"] == net)].set_index("schedule")["cycles"]
        for net in (regular, twisted)
    ]
    both = times[0].index.intersection(times[1].index)
    return float(times[0][both].min() / times[1][both].min()) if len(both) else None


def timetable_gain(table: pd.DataFrame, size: str, twisted: str = "timetables") -> float | None:
    """How many times as fast the timetable of the twisted torus, of that experiment, is as that of the regular one."""
    runs = table[table["size"] == size].set_index(["experiment", "net"])["cycles"]
    pair = ("timetables", REGULAR), (twisted, TWISTED)
    return float(runs[pair[0]] / runs[pair[1]]) if set(pair) <= set(runs[runs.index.isin(pair)].index) else None


def accepted(results: pd.DataFrame) -> pd.DataFrame:
    """A row for each network and offered load under uniform traffic, means over the seeds [flits/cycle/terminal].

    Columns ``net``, ``offered``, ``accepted`` and ``interval`` (half its 95 % interval).
    """
    runs = results[results["experiment"] == "uniform"]
    if not len(runs):
        return pd.DataFrame(columns=["net", "offered", "accepted", "interval"])
    table = pd.DataFrame({
        "net": runs["net"].astype(str),
        "offered": runs["workload.offered_load"].astype(float),
        "accepted": runs["accepted_load_flits_per_cycle"].astype(float),
    })  # fmt: skip
    groups = table.groupby(["net", "offered"], sort=False)["accepted"]
    return groups.agg(accepted="mean", interval=half_width_95).reset_index()


def loads(size: str, kind: str) -> tuple[float, float]:
    """Cycles of the busiest channel for a flit a pair: under `lash`, and under the best of all routings."""
    network = Network(kind, size=list(SIZES[size]), routing="lash", router={"vcs": VCS})
    work = all_to_all("a2a", message_flits=1)
    return bound(network, work).channel_load_cycles, any_routing(network, work).reached_cycles


def _axis(results: pd.DataFrame, name: str, default: int) -> pd.Series:
    if name not in results:
        return pd.Series(default, index=results.index)
    return results[name].astype(float).fillna(default).astype(int)


def _size(run: pd.Series) -> str:
    if str(run["experiment"]).startswith("large"):
        return LARGE
    said = run.get("network.topology.size")
    return str(said).replace("x", " x ") if isinstance(said, str) else SMALL


def _schedule(run: pd.Series) -> str:
    if run["experiment"] in _TIMETABLES:
        return TIMETABLE
    if str(run["experiment"]).endswith("_random"):
        return RANDOM_ORDER
    said = run.get("workload.algorithm")
    return str(said) if isinstance(said, str) else "simple_spread"
