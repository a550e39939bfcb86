"""Our values for the claims of ``claims.toml``."""

from __future__ import annotations

import numpy as np
import pandas as pd

from flitwork.studies.claims import Finding
from flitwork.studies.takaue_2010_a2at.measures import BEST_WAY, BEST_WAY_16, by_buffer, crossing, over_n
from flitwork.studies.takaue_2010_a2at.variants import variants

_NETS = ("mesh", "torus")
#: A figure reads what flits wait for.
READS_RUNS_OF = ("stalls",)


def claims(results: pd.DataFrame) -> list[Finding]:
    """Every claim of the paper with our value: that of each variant, and their median."""
    found = [_values(table) for table in variants(results)]
    if not found:
        return [Finding(id=key, ours=value) for key, value in _values(results).items()]
    return [_claim(key, [values[key] for values in found]) for key in found[0]]


def _claim(key: str, values: list[float | bool]) -> Finding:
    if all(isinstance(value, bool) for value in values):
        return Finding(id=key, ours=2 * sum(values) > len(values), variants=values)
    return Finding(id=key, ours=float(np.median(values)), variants=values)


def _values(results: pd.DataFrame) -> dict[str, float | bool]:
    return {
        **_of_a2and(results, "a2and", ""),
        **_of_a2and(results, "a2and_x_inner", ".x-inner"),
        **_figure_3(results),
        **_figure_4(results),
        **_figure_5(results),
        **_figure_6(results),
        **_figure_7(results),
        **_four_controllers(results),
    }


def _of_a2and(results: pd.DataFrame, reading: str, suffix: str) -> dict[str, float | bool]:
    """The claims that A2AND has a part in, under one reading of its loops."""

    def by_n(experiment: str, net: str, algorithm: str) -> pd.Series[float]:
        return over_n(results, experiment, net=net, algorithm=algorithm)

    def ratio(experiment: str, net: str) -> pd.Series[float]:
        return by_n(experiment, net, reading) / by_n(experiment, net, "a2at")

    large = by_n("fig4", "mesh", "a2at").iloc[-1] > by_n("fig4", "mesh", reading).iloc[-1]
    faster = {net: ratio("fig5", net) for net in _NETS}
    values: dict[str, float | bool] = {
        "F3.order": float(sum(ratio("fig3", net).mean() for net in _NETS) / 2),
        "F4.mesh-order": bool(large),
        "F5.mesh": float(faster["mesh"].mean()),
        "F5.torus": float(faster["torus"].mean()),
        "F5.low": float(faster["torus"].iloc[0]),
        "F5.high": float(faster["torus"].iloc[-1]),
        "F5.grows": bool(faster["torus"].is_monotonic_increasing),
    }
    return {key + suffix: value for key, value in values.items()}


def _figure_3(results: pd.DataFrame) -> dict[str, float | bool]:
    at = {net: over_n(results, "fig3", net=net, algorithm="a2at") for net in _NETS}
    return {
        "F3.torus": float(at["torus"].mean()),
        "F3.mesh": float(at["mesh"].mean()),
        "F3.flat": _unsteady(at),
    }


def _unsteady(by_net: dict[str, pd.Series[float]]) -> float:
    """The largest deviation of a size from the mean over the sizes, as a share of that mean, on any network."""
    return float(max((of / of.mean() - 1).abs().max() for of in by_net.values()))


def _figure_4(results: pd.DataFrame) -> dict[str, float | bool]:
    at = {net: over_n(results, "fig4", net=net, algorithm="a2at") for net in _NETS}
    ideal = {net: over_n(results, "fig3", net=net, algorithm="a2at") for net in _NETS}
    common = {net: at[net].index.intersection(ideal[net].index) for net in _NETS}
    return {
        "F4.torus": float(at["torus"].mean()),
        "F4.slower": all(at[net][common[net]].mean() > ideal[net][common[net]].mean() for net in _NETS),
    }


def _figure_5(results: pd.DataFrame) -> dict[str, float | bool]:
    at = [over_n(results, "fig5", net=net, algorithm="a2at") for net in _NETS]
    return {"F5.mean": float(sum(of.mean() for of in at) / 2)}


def _figure_6(results: pd.DataFrame) -> dict[str, float | bool]:
    values: dict[str, float | bool] = {}
    falls = True
    for n in (11, 17):
        free, local = by_buffer(results, n)
        if free.empty:
            continue
        values[f"F6.crossing-{n}"] = crossing(free.index, free, local)
        values[f"F6.gap-{n}"] = float(((free - local).abs() / local).mean())
        falls = falls and all(of.iloc[-1] < 1 < of.iloc[0] for of in (free, local))
    return {**values, "F6.falls": falls}


def _figure_7(results: pd.DataFrame) -> dict[str, float | bool]:
    def by_n(net: str, nct: int, sync: str = "local_sliding", column: str = "time") -> pd.Series[float]:
        return over_n(results, "fig7", column, net=net, nct=nct, sync=sync)

    of_theory = {net: by_n(net, 2, column="time_of_theory") for net in _NETS}
    two = {net: float(of_theory[net].mean()) for net in _NETS}
    free = {net: float(by_n(net, 2, "async", "time_of_theory").mean()) for net in _NETS}
    four = [by_n(net, 4) / by_n(net, 2) for net in _NETS]
    return {
        "F7.mean": (two["mesh"] + two["torus"]) / 2,
        "F7.mesh": two["mesh"],
        "F7.torus": two["torus"],
        "F7.mesh-async": free["mesh"],
        "F7.torus-async": free["torus"],
        "F7.async-worse": float(max((by_n(net, 2, "async") / by_n(net, 1, "async")).max() for net in _NETS)),
        "F7.mesh-faster": float((by_n("mesh", 1) / by_n("mesh", 2)).mean()),
        "F7.torus-faster": float((by_n("torus", 1) / by_n("torus", 2)).mean()),
        "F7.stable": _unsteady(of_theory),
        "F7.nct4": float(sum((1 / of).mean() for of in four) / 2),
        "F7.nct4.time": float(sum(of.mean() for of in four) / 2),
        "F7.nct4-small": float(sum((1 / of[of.index < 9]).mean() for of in four) / 2),
    }


def _four_controllers(results: pd.DataFrame) -> dict[str, float | bool]:
    ways = {"NCT4.within": BEST_WAY, "NCT4.within-16": BEST_WAY_16}
    times = {key: over_n(results, "nct4", "time_of_bound", way=way) for key, way in ways.items()}
    return {key: float(of.max()) for key, of in times.items()}
