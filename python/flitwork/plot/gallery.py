"""All pictures of one simulation."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from matplotlib.figure import Figure

from flitwork.base.errors import ConfigError
from flitwork.base.output_files import writable_folder
from flitwork.networks.faults import working_topology
from flitwork.planning.specification import plan_of
from flitwork.plot.channels import channel_animation, channel_heatmap, channel_snapshot
from flitwork.plot.layout import layout
from flitwork.plot.phases import phases_of
from flitwork.plot.style import forget, save
from flitwork.plot.timeline import timeline
from flitwork.results.result import Progress, Result, run_plan
from flitwork.workloads.workload import Spec

#: Shows how far a piece of work of so many cycles is, which tells it.
Shown = Callable[..., AbstractContextManager[Progress | None]]
_NAMES = ("phases", "channels", "network", "timeline")
#: Files that :func:`gallery` writes or removes, as patterns.
PICTURES = [f"{name}.*" for name in _NAMES]


@contextmanager
def _unseen(what: str, cycles: int | None = None) -> Iterator[None]:
    yield None


def gallery(spec: Spec, folder: Path, windows: int = 60, shown: Shown = _unseen) -> list[Path]:
    """Simulates ``spec`` and draws it: phases (of a schedule), channels over time, the time-line of the terminals.

    A picture of this kind that another simulation left in ``folder`` is removed. A network that does not fit on a page
    is not drawn, only its channels over time; a warning says so. ``shown`` shows how far each part is.
    """
    writable_folder(folder)
    plain = plan_of(spec)
    on_page = _fits_on_a_page(spec)
    with shown("simulating") as progress:
        cycles = run_plan(plain, progress).end_cycle + 1
    recorded = copy.deepcopy(spec)
    record = recorded.setdefault("run", {}).setdefault("record", {})
    record.update(packets=True, channel_window_cycles=-(-cycles // windows))
    with shown("recording", cycles) as progress:
        result = run_plan(plan_of(recorded), progress)
    paths = save(phases_of(plain), folder, "phases") if result.has_schedule and on_page else []
    paths += save(channel_heatmap(result), folder, "channels")
    if on_page:
        paths += save(channel_snapshot(result), folder, "network")
        with shown("drawing", cycles) as progress:
            paths.append(channel_animation(result, folder / "network.gif", progress=progress))
    if result.runs_to_completion:
        paths += save(timeline(result), folder, "timeline")
    for name in set(_NAMES) - {path.stem for path in paths}:
        forget(folder, name)
    return paths


def draw_result(result: Result, folder: Path) -> list[Path]:
    """Draws what a stored result holds: channels over time, the network at its end, the time-line of the terminals."""
    pictures: dict[str, Callable[[Result], Figure]] = {
        "channels": channel_heatmap,
        "network": channel_snapshot,
        "timeline": timeline,
    }
    paths: list[Path] = []
    for name, draw in pictures.items():
        # What it did not record, or is too large for a page, is left out.
        with suppress(ConfigError):
            paths += save(draw(result), folder, name)
    return paths


def _fits_on_a_page(spec: Spec) -> bool:
    try:
        layout(working_topology(spec["network"]))
    except ConfigError as error:
        warnings.warn(f"without pictures of the network ({error})", stacklevel=3)
        return False
    return True
