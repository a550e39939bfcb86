"""All that a page shows, as a table of names and numbers and as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import matplotlib

from flitwork.base.libraries import np
from flitwork.explain.critical_path import critical_path
from flitwork.explain.names import Places
from flitwork.explain.records import Records
from flitwork.networks.faults import working_topology
from flitwork.plot.style import LOAD_MAP
from flitwork.results.result import Result
from flitwork.view.levels import levels, round_end
from flitwork.view.place import Place, place
from flitwork.view.series import Series

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Colours of the map in the file.
_COLOURS = 256
#: Most stretches of the critical path that are drawn.
_MOST_STRETCHES = 20_000


@dataclass
class Contents:
    """``about`` becomes JSON; ``arrays`` go beside it, byte by byte."""

    title: str
    about: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)

    def add(self, name: str, values: NDArray[np.floating], power: float = 1.0, top: float | None = None) -> None:
        """Adds ``values`` as bytes, with what they stand for."""
        found = levels(values, power, top)
        self.arrays[name] = found.bytes
        self.about.setdefault("scales", {})[name] = {**found.scale, "end": round_end(found.top)}


def contents(result: Result, missing: str = "") -> Contents:
    """What is shown of a result; ``missing`` says what is not."""
    where = place(working_topology(result.spec["network"]))
    series = Series(result, where)
    found = Contents(result.title)
    found.about = _about(result, series, missing)
    _add_places(found, where, result)
    _add_channels(found, series)
    _add_terminals(found, series)
    _add_ranks(found, series)
    if series.bus is not None:
        found.arrays["bus_in_use"], found.arrays["bus_waiting"] = (curve.astype(np.float32) for curve in series.bus)
    return found


def _about(result: Result, series: Series, missing: str) -> dict[str, Any]:
    units = result.units
    row = result.row
    kept = ("status", "completion_cycles", "ratio_to_bound", "packets", "accepted_load_flits_per_cycle")
    colours = matplotlib.colormaps[LOAD_MAP](np.linspace(0, 1, _COLOURS))[:, :3]
    return {
        "title": result.title,
        "version": result.version,
        "plan_hash": result.plan_hash,
        "facts": {name: row[name] for name in kept if row.get(name) is not None and row[name] == row[name]},
        "completes": result.runs_to_completion,
        "missing": missing,
        "cycles": series.cycles,
        "start": result.start_cycle,
        "window": series.window,
        "frames": series.frames,
        "joined": series.joined,
        "bins": series.bins,
        "cycle_ns": units.cycle_ns,
        "flit_bytes": units.flit_bytes,
        "colours": (colours * 255).round().astype(int).tolist(),
        "scales": {},
        "measurement": None
        if result.runs_to_completion
        else [result.warmup_cycles, result.warmup_cycles + result.measurement_cycles],
    }


def _add_places(found: Contents, where: Place, result: Result) -> None:
    columns = result.columns
    places = Places(result)
    found.about["routers"] = [places.router(router) for router in range(len(where.routers))]
    found.about["classes"] = result.described["channel_classes"]
    found.about["axes"], found.about["note"], found.about["apart"] = where.axes, where.note, where.apart
    found.arrays |= {
        "routers": where.routers.astype(np.float32),
        "segments": where.segments.astype(np.float32),
        "segment_channel": where.channel.astype(np.uint32),
        "terminals": where.terminals.astype(np.float32),
        "router_of_terminal": where.router_of_terminal.astype(np.uint32),
        "channel_router": columns["channels.router"].astype(np.uint32),
        "channel_to": columns["channels.to_router"].astype(np.uint32),
        "channel_class": columns["channels.class"].astype(np.uint8),
    }


def _add_channels(found: Contents, series: Series) -> None:
    load, waiting = series.load, series.waiting
    if load is not None:
        found.arrays["mean_load"] = load.mean(axis=1, dtype=np.float64).astype(np.float32)
        found.add("load", np.ascontiguousarray(load.T))
    if waiting is not None:
        found.arrays["all_waiting"] = waiting.in_all
        if waiting.of_channels.size:
            found.add("waiting", np.ascontiguousarray(waiting.of_channels.T), power=2)
        found.about["reasons"], found.about["terminal_reasons"] = waiting.reasons, waiting.terminal_reasons
        found.add("channel_reasons", waiting.by_reason, power=2)
        found.add("terminal_reasons", waiting.of_terminals, power=2)
        found.add("at_terminal", waiting.of_terminals.sum(axis=0), power=2)


def _add_terminals(found: Contents, series: Series) -> None:
    for name, values in series.terminals.items():
        found.add(name, values, power=2 if name == "queued" else 1)


def _add_ranks(found: Contents, series: Series) -> None:
    activities = series.activities
    if activities is None:
        return
    found.about["activities"], found.arrays["activity"] = activities
    records = Records(series.result)
    found.arrays["terminal_of_rank"] = records.terminal_of_rank.astype(np.int32)
    if "waits.packet" not in series.result.columns:
        return
    path = critical_path(records)
    if len(path) <= _MOST_STRETCHES:
        start = series.result.start_cycle
        lines = [(one.begin + start, one.rank, one.end + start, one.to_rank) for one in path]
        found.arrays["path"] = np.array(lines, dtype=np.float32).reshape(-1, 4)
