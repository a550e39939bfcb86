"""Figure 13: all-to-all time and other time of NPB FT and IS, measured by rank programs on the simulated machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from flitwork.base.extensions import MissingExtension, load_extension
from flitwork.base.notices import warn_user
from flitwork.base.output_files import write_csv
from flitwork.networks.network import Network
from flitwork.plot.style import COLOURS
from flitwork.studies.claims import Finding
from flitwork.studies.naruse_2010_two_level_ring.measures import NAMES, RING, TWO_LEVEL, bandwidth, specification
from flitwork.studies.naruse_2010_two_level_ring.npb import NPB

_RANKS = 8
#: All-to-alls that a program does: the second one, behind the disorder of the first, stands for all others.
_TIMES = 2
#: What the smaller version of the study measures, with one all-to-all each.
_QUICK = ("FT.B", "IS.B")
#: What FT and IS reduce each time [bytes].
_CHECKSUM, _BUCKETS = 16, 4096
#: From which message on [KiB] the paper's "large" begins here. Ours.
_LONG = 128
_FILE = "breakdown.csv"
_SEED = 1
_ALGORITHMS = (RING, TWO_LEVEL)


def _programs() -> Any:
    """Rank programs, ``flitwork.mpi``: a package beside flitwork, which runs without it as long as nobody asks."""
    return load_extension("flitwork.modules", "mpi")


@dataclass(frozen=True)
class Benchmark:
    """A benchmark as a rank program: how often it does what, of which length, and how long it computes each time."""

    name: str
    message_bytes: int
    compute_ns: int
    times: int

    def __call__(self, comm: Any) -> tuple[float, float]:
        """Runs on a rank: seconds in the all-to-all, and other seconds."""
        mpi = _programs()
        began, inside = mpi.MPI.Wtime(), 0.0
        for _ in range(self.times):
            inside += self._ft(comm, mpi) if self.name.startswith("FT") else self._is(comm, mpi)
        return inside, mpi.MPI.Wtime() - began - inside

    def _ft(self, comm: Any, mpi: Any) -> float:
        MPI = mpi.MPI
        mpi.compute(self.compute_ns / 2)
        took = self._all_to_all(comm, MPI)
        mpi.compute(self.compute_ns / 2)
        comm.Reduce([None, _CHECKSUM, MPI.BYTE], [None, _CHECKSUM, MPI.BYTE], op=MPI.SUM, root=0)
        return took

    def _is(self, comm: Any, mpi: Any) -> float:
        MPI = mpi.MPI
        mpi.compute(self.compute_ns)
        comm.Allreduce([None, _BUCKETS, MPI.BYTE], [None, _BUCKETS, MPI.BYTE], op=MPI.SUM)
        return self._all_to_all(comm, MPI)

    def _all_to_all(self, comm: Any, MPI: Any) -> float:
        began = MPI.Wtime()
        comm.Alltoall([None, self.message_bytes, MPI.BYTE], [None, self.message_bytes, MPI.BYTE])
        return float(MPI.Wtime() - began)


def measured(results: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Seconds, mean over ranks: a row for each (benchmark, algorithm), columns ``all_to_all`` and ``other``.

    Measures what ``folder`` does not have yet, of the benchmarks whose all-to-alls the study has simulated alone. The
    table is empty, with a warning, where rank programs are not installed.
    """
    try:
        _programs()
    except MissingExtension as missing:
        warn_user(f"figure 13 is left out: {missing}")
        return pd.DataFrame()
    alone = bandwidth(results[results["seed"] == _SEED], "npb")
    if alone.empty:
        return pd.DataFrame()
    servers = int(alone.index.unique("servers")[0])
    rates = alone[RING].groupby("KiB").mean()
    network, host = _machine(servers)
    file = folder / _FILE
    kept: list[dict[Any, Any]] = pd.read_csv(file).to_dict("records") if file.is_file() else []
    rows: list[dict[Any, Any]] = []
    full = all(kib in rates.index for kib, _, _ in NPB.values())
    for name, (kib, count, seconds) in NPB.items():
        if kib not in rates.index or not (full or name in _QUICK):
            continue
        one_ns = 1024 * kib * (servers - 1) * _RANKS * _RANKS / float(rates[kib]) * 1e3
        benchmark = Benchmark(name, 1024 * kib, max(0, round(seconds * 1e9 / count - one_ns)), _TIMES if full else 1)
        for algorithm in _ALGORITHMS:
            key: dict[Any, Any] = {
                "benchmark": name,
                "algorithm": algorithm,
                "machine": _digest(network, host, benchmark),
            }
            found = next((row for row in kept if key.items() <= row.items()), None)
            if found is None:
                found = {**key, **_run(benchmark, algorithm, network, host, servers * _RANKS)}
                kept.append(found)
                write_csv(pd.DataFrame(kept), file)
            rows.append(found)
    return pd.DataFrame(rows).set_index(["benchmark", "algorithm"])[["all_to_all", "other"]]


def _machine(servers: int) -> tuple[Network, dict[str, Any]]:
    """Network and host of the experiment ``npb``: the first reading."""
    spec = specification("npb")
    options = {key: value for key, value in spec["network"].items() if key != "topology"}
    return Network("crossbar", terminals=servers, **options), spec["host"]


def _digest(network: Network, host: dict[str, Any], benchmark: Benchmark) -> str:
    """Tells runs of other machines and other lengths apart."""
    text = json.dumps([network.spec, host, asdict(benchmark)], sort_keys=True)
    return "x" + hashlib.sha256(text.encode()).hexdigest()[:16]


def _run(benchmark: Benchmark, algorithm: str, network: Network, host: dict[str, Any], ranks: int) -> dict[str, float]:
    """What a benchmark measures with one all-to-all."""
    chosen = {"alltoall": algorithm}
    run = _programs().run(
        benchmark, ranks=ranks, network=network, host=host, algorithms=chosen, packet_flits=1, data=False, seed=_SEED
    )
    inside, other = np.mean(run.returns, axis=0)
    return {"all_to_all": float(inside), "other": float(other)}


def claims(table: pd.DataFrame) -> Iterator[Finding]:
    """The claims ``F13.*``."""
    if table.empty:
        return
    inside, other = (table[column].unstack("algorithm") for column in ("all_to_all", "other"))
    whole = inside[RING] + other[RING]
    yield Finding(id="F13.shrinks", ours=float((inside[TWO_LEVEL] < inside[RING]).mean()))
    yield Finding(id="F13.other", ours=float(((other[TWO_LEVEL] - other[RING]) / whole).abs().max()))
    less = 1 - inside[TWO_LEVEL] / inside[RING]
    by_length = sorted((NPB[str(name)][0], share) for name, share in less.to_dict().items())
    long = [share for kib, share in by_length if kib >= _LONG]
    if long and by_length[0][0] < _LONG:
        yield Finding(id="F13.short", ours=float(np.mean([share > by_length[0][1] for share in long])))


def draw(table: pd.DataFrame) -> Figure | None:
    """Figure 13: bars of both algorithms, all-to-all time below, over the time with the ring."""
    if table.empty:
        return None
    names = [name for name in NPB if name in table.index.unique("benchmark")]
    ring = table.xs(RING, level="algorithm")
    whole = ring["all_to_all"] + ring["other"]
    figure, ax = plt.subplots(figsize=(6.8, 3.8), layout="constrained")
    for number, algorithm in enumerate(_ALGORITHMS):
        part = table.xs(algorithm, level="algorithm").div(whole, axis=0).loc[names]
        places = np.arange(len(names)) + 0.4 * (number - 0.5)
        hatch = "//" if number else ""
        ax.bar(places, part["all_to_all"], 0.36, color=COLOURS[0], hatch=hatch, edgecolor="white")
        ax.bar(places, part["other"], 0.36, bottom=part["all_to_all"], color="0.7", hatch=hatch, edgecolor="white")
    ax.bar(0, 0, color=COLOURS[0], label="all-to-all")
    ax.bar(0, 0, color="0.7", label="other")
    ax.bar(0, 0, color="white", edgecolor="0.4", label=f"left: {NAMES[RING]}")
    ax.bar(0, 0, color="white", edgecolor="0.4", hatch="//", label=f"right: {NAMES[TWO_LEVEL]}")
    ax.set_xticks(range(len(names)), [name.replace(".", " ") for name in names])
    ax.set_xlabel("benchmark and class")
    ax.set_ylabel("time over that with the Ring")
    ax.set_title("NPB as rank programs on 16 servers of 8 ranks", fontsize="medium")
    figure.legend(loc="outside lower center", ncols=4, fontsize="small")
    return figure
