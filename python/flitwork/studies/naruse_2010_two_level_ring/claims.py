"""Our values for the claims of ``claims.toml``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from flitwork.questions.head_of_line import hol_model
from flitwork.studies.claims import Finding
from flitwork.studies.naruse_2010_two_level_ring import breakdown, choice, npb, phase, trees, unequal
from flitwork.studies.naruse_2010_two_level_ring.measures import (
    AGGREGATION,
    LINK,
    READINGS,
    RING,
    TWO_LEVEL,
    bandwidth,
    in_claims,
    of_seeds,
    over_seeds,
)
from flitwork.studies.naruse_2010_two_level_ring.steps import step_times

#: Figures 4, 6 and 9 read when each rank did what.
READS_RUNS_OF = ("steps", "steps_single")
_MIB = 1024
_SERVERS, _RANKS = 24, 8
#: Half of the paper's steps of 100 MB/s: how far "about 1500 to 1600 MB/s" reaches on both sides.
_ABOUT = 50
#: Table 3, and what the paper does not have.
_PARTS = (choice, npb, phase, trees, unequal)


def claims(results: pd.DataFrame) -> list[Finding]:
    """Every claim for which there are runs."""
    parts: list[Iterator[Finding]] = []
    for reading in READINGS:
        parts += [_servers(results, reading), _full_size(results, reading), _lengths(results, reading)]
    return list(itertools.chain(*parts, *(part.claims(results) for part in _PARTS)))


def claims_of_runs(results: pd.DataFrame, points: Path) -> list[Finding]:
    """Figures 4, 6 and 9, from the operations of each rank, and figure 13, from programs that run now."""
    steps = [_steps(step_times(results, points, f"steps{reading}"), reading) for reading in READINGS]
    return [*itertools.chain(*steps), *breakdown.claims(breakdown.measured(results, points.parent))]


def _steps(table: pd.DataFrame, reading: str) -> Iterator[Finding]:
    """Figures 4, 6 and 9."""
    if table.empty:
        return
    suffix = in_claims(reading)
    mean = table.groupby("algorithm").mean()
    ring, two = mean.T[RING], mean.T[TWO_LEVEL]
    last = len(ring)
    inner = [step for step in range(_RANKS, last - _RANKS + 2)]
    between = [step for step in inner if step % _RANKS]
    model = pd.Series(hol_model(servers=(last + 1) // _RANKS, ranks_per_server=_RANKS).ring_steps)
    short = [step for step in ring.index if step not in inner]
    yield _share(f"F4.multiples{suffix}", ring[between] > max(ring[step] for step in inner if step % _RANKS == 0))
    yield _share(f"F4.ends{suffix}", ring[short] < 1)
    yield Finding(id=f"F6.model{suffix}", ours=float((ring[inner] / model[inner] - 1).abs().mean()))
    yield Finding(id=f"F9.flat{suffix}", ours=float(two[inner].max() / two[inner].min() - 1))


def _share(name: str, holds: Any) -> Finding:
    """The share of cases in which something holds."""
    return Finding(id=name, ours=float(np.mean(holds)))


def _servers(results: pd.DataFrame, reading: str) -> Iterator[Finding]:
    """Figures 3 and 10."""
    table = bandwidth(results, f"servers{reading}")
    if table.empty:
        return
    suffix = in_claims(reading)
    ring, two = table[RING].unstack("Nlp").dropna(), table[TWO_LEVEL].unstack("Nlp").dropna()
    yield _share(f"F10.rises{suffix}", (two.diff(axis=1).iloc[:, 1:] > 0).all(axis=1))
    yield Finding(id=f"F10.same{suffix}", ours=float((two[1] / ring[1]).mean()))
    if table.index.get_level_values("KiB").max() < _MIB:
        return
    yield Finding(id=f"F3.one{suffix}", ours=float(ring[1].mean()))
    several = ring.drop(columns=1).to_numpy()
    yield _share(f"F3.several{suffix}", (several >= 1500 - _ABOUT) & (several <= 1600 + _ABOUT))
    yield _share(f"F3.best{suffix}", ring[1].to_numpy() > several.max(axis=1))


def _full_size(results: pd.DataFrame, reading: str) -> Iterator[Finding]:
    """24 servers of 8 ranks, messages of 1 MiB."""
    table = of_seeds(results, f"servers{reading}", servers=_SERVERS, Nlp=_RANKS, KiB=_MIB)
    if table.empty:
        return
    suffix = in_claims(reading)
    yield over_seeds(f"F10.ring{suffix}", table[RING])
    yield over_seeds(f"F10.two-level{suffix}", table[TWO_LEVEL])
    yield over_seeds(f"F10.gain{suffix}", table[TWO_LEVEL] / table[RING])
    yield over_seeds(f"F10.utilisation{suffix}", table[TWO_LEVEL] / LINK)


def _lengths(results: pd.DataFrame, reading: str) -> Iterator[Finding]:
    """Figures 11 and 12."""
    table = bandwidth(results, f"lengths{reading}")
    if table.empty:
        return
    suffix = in_claims(reading)
    yield _share(f"F11.never-slower{suffix}", table[TWO_LEVEL] >= table[RING])
    many = table.xs(_RANKS, level="Nlp").droplevel("servers").sort_index()
    gain = many[TWO_LEVEL] / many[RING] - 1
    yield Finding(id=f"F11.short{suffix}", ours=float(gain.iloc[0]))
    yield Finding(id=f"F11.long{suffix}", ours=float(gain[gain.index >= 64].min()))
    over = many[AGGREGATION] / many[TWO_LEVEL]
    crossing = _crossing(over)
    if crossing is not None:
        yield Finding(id=f"F12.crossing{suffix}", ours=crossing)
        short = many[many.index < crossing]
        others = np.maximum(short[RING], short[TWO_LEVEL])
        yield _share(f"F12.below{suffix}", short[AGGREGATION] > others)
    if over.index.max() >= _MIB:
        yield Finding(id=f"F12.long{suffix}", ours=float(many[AGGREGATION].iloc[-1] / many[RING].iloc[-1]))


def _crossing(ratio: pd.Series[float]) -> float | None:
    """The length [KiB] from which on a ratio is below 1, between two lengths by the logarithm."""
    above = np.flatnonzero(ratio.to_numpy() > 1)
    if not len(above) or above[-1] + 1 == len(ratio):
        return None
    i = int(above[-1])
    sizes, values = np.log(ratio.index.to_numpy(float)), ratio.to_numpy()
    share = (values[i] - 1) / (values[i] - values[i + 1])
    return float(np.exp(sizes[i] + share * (sizes[i + 1] - sizes[i])))
