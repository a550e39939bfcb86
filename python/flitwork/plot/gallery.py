"""All pictures of one simulation."""

from __future__ import annotations

import copy
from pathlib import Path

from flitwork.files import writable_folder
from flitwork.plot.channels import channel_animation, channel_heatmap, channel_snapshot
from flitwork.plot.phases import phases_of
from flitwork.plot.style import save
from flitwork.plot.timeline import timeline
from flitwork.result import run_plan
from flitwork.spec import plan_of
from flitwork.workloads import Spec


def gallery(spec: Spec, folder: Path, windows: int = 60) -> list[Path]:
    """Simulates ``spec`` and draws it: phases (of a schedule), channels over time, the time-line of the terminals."""
    writable_folder(folder)
    plain = plan_of(spec)
    cycles = run_plan(plain).end_cycle + 1
    recorded = copy.deepcopy(spec)
    record = recorded.setdefault("run", {}).setdefault("record", {})
    record.update(packets=True, channel_window_cycles=-(-cycles // windows))
    result = run_plan(plan_of(recorded))
    paths = save(phases_of(plain), folder, "phases") if result.has_schedule else []
    paths += save(channel_heatmap(result), folder, "channels")
    paths += save(channel_snapshot(result), folder, "network")
    paths.append(channel_animation(result, folder / "network.gif"))
    if result.runs_to_completion:
        paths += save(timeline(result), folder, "timeline")
    return paths
