"""The study of the AP1000: its machine is the preset, its points are the paper's, its claims say what the times say."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import flitwork as fw
import numpy as np
import pandas as pd
import pytest
from flitwork.experiment.points import expand
from flitwork.experiment.study_file import load_study
from flitwork.planning.specification import plan_of
from flitwork.studies import published
from flitwork.studies.claims import load_claims
from flitwork.studies.makino_1997_ap1000 import measures
from flitwork.studies.makino_1997_ap1000.claims import claims
from flitwork.studies.makino_1997_ap1000.figures import _lines, figures

FOLDER = published()["makino-1997-ap1000"].folder
STUDY = load_study(FOLDER / "study.toml")


@pytest.mark.parametrize("order", [measures.RELATIVE, measures.ONE_WAY])
@pytest.mark.parametrize("experiment", ["exchange_cells", "exchange_lengths"])
def test_the_machine_is_the_preset(experiment: str, order: str) -> None:
    points = [p for p in expand(STUDY, quick=True) if p.experiment == experiment and p.params["order"] == order]
    for point in points[:: max(1, len(points) // 4)]:
        ways: Literal["shortest", "plus"] = "plus" if order == measures.ONE_WAY else "shortest"
        size = point.spec["network"]["topology"]["size"]
        machine = fw.machines.ap1000(*size, ways=ways, memory_bytes_per_s="10 MB/s", startup_ns=2 * 156 * 160)
        host = {**machine.host.spec, "noise": point.spec["host"]["noise"]}
        preset = plan_of({**point.spec, "network": machine.network.spec, "host": host})
        assert plan_of(point.spec).hash == preset.hash


def test_everything_is_measured_ten_times_on_16_cells_and_fewer() -> None:
    points = expand(STUDY)
    seeds = {p.experiment: set() for p in points}  # type: ignore[var-annotated]
    for point in points:
        seeds[point.experiment].add(point.seed)
        assert 2 * point.params["columns"] <= 16
    assert {name: len(found) for name, found in seeds.items() if found != {1}} == {
        name: 10 for name in seeds if name not in ("search", "readings")
    }


def _exchanges(gain: float) -> pd.DataFrame:
    """Total exchanges that are lines, relative order being shorter; the second measurement is longer than the first."""
    rows: list[dict[str, Any]] = []
    for order in (measures.RELATIVE, measures.ONE_WAY, *measures.ABSOLUTE.values()):
        for columns in (2, 4, 8):
            for size in (1024, 2048, 4096):
                us = (2 * columns - 1) * (size * 0.05 + 50)
                us *= 1 if order != measures.RELATIVE else 1 - gain
                row = {"columns": columns, "message_bytes": size, "order": order, "workload.operation": "all_to_all"}
                total = {"total_KiB": size * 4 * columns**2 // 1024, "KiB": size // 1024}
                rows += [{**row, **total, "seed": seed, "us": us * seed} for seed in (1, 2)]
    lengths = pd.DataFrame(rows).assign(experiment="exchange_lengths")
    cells = lengths[lengths["KiB"] == 4].assign(experiment="exchange_cells")
    return pd.concat([lengths[lengths["columns"] == 8], cells], ignore_index=True)


def test_claims_say_what_the_least_times_say(tmp_path: Path) -> None:
    table = _exchanges(0.25)
    found = {claim.id: claim.ours for claim in claims(table)}
    assert found["F3.linear"] == pytest.approx(1) and found["F4.linear"] == pytest.approx(1)
    names = ("TE.gain.cell", "TE.gain.shift", "TE.gain.xor", "TE.gain.any")
    assert [found[name] for name in names] == [pytest.approx(0.25)] * 4
    assert found["TE.gain.one-way"] == 0 and found["TE.never-longer"] == 1
    assert {claim.id: claim.ours for claim in claims(_exchanges(-0.1))}["TE.never-longer"] == 0
    # What was not run has no value, and is not drawn.
    assert "F2.host" not in found and "map.cell" not in found
    known = {claim.id for claim in load_claims(FOLDER / "claims.toml")}
    assert {*found} <= known
    drawn = {path.stem for path in figures(table, tmp_path)}
    assert drawn == {"figure-3", "figure-4"}
    # Sizes may differ between operations in the smaller version: each is told.
    assert pd.read_csv(tmp_path / "figure-4.csv")["series"].str.contains(", 4 KiB: ").all()


def test_a_line_is_a_curve_on_a_logarithmic_axis() -> None:
    figure = _lines(dict(measures.lines(_exchanges(0.25), "cells")), "cells", "")
    curve = max(figure.axes[0].lines, key=lambda line: np.asarray(line.get_xdata()).size)
    x, us = np.asarray(curve.get_xdata()), np.asarray(curve.get_ydata())
    assert len(x) >= 50 and np.allclose(np.diff(us) / np.diff(x), (us[-1] - us[0]) / (x[-1] - x[0]))


def test_the_fit_of_formula_4_is_the_papers() -> None:
    rows = [
        {"columns": n // 2, "message_bytes": 2**20 / n**2, "us": (2**20 / n**2 * 0.04 + 60) * (n - 1), "seed": 1}
        for n in (2, 4, 8, 16)
    ]
    table = pd.DataFrame(rows).assign(experiment="exchange_total", order=measures.RELATIVE, total_KiB=1024)
    table["workload.operation"] = "all_to_all"
    ((size, part),) = measures.totals(table)
    fit = measures.fitted(part, "total_exchange")
    assert size == 1024 and fit.r_squared == pytest.approx(1)
    assert fit.value("a") == pytest.approx(40e-9) and fit.value("t0") == pytest.approx(60e-6)
    best = fw.best_ranks(fit, total_bytes=2**20, at_most=64)
    # Near the square root of m a / t0.
    assert best.ranks == pytest.approx((2**20 * 40e-9 / 60e-6) ** 0.5, rel=0.1)
