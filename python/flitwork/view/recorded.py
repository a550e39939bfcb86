"""A result that has what a view shows: the loads of channels by window, waits, what ranks did."""

from __future__ import annotations

import math
from typing import Any

from flitwork.base.errors import ConfigError
from flitwork.explain.records import simulated_again
from flitwork.results.result import Progress, Result

#: How many windows of time a run is divided into where nobody says.
FRAMES = 1000
#: Most windows of time.
MOST_FRAMES = 100_000

_ABOUT = {
    "channel_windows": "the load of channels",
    "wait_windows": "queues and why packets wait",
    "operations": "what ranks do",
}


def with_windows(result: Result, frames: int | None = None, progress: Progress | None = None) -> tuple[Result, str]:
    """``result`` with all that a view shows, and what is not in it, in words.

    What is missing is recorded by simulating once more: the same plan gives the same cycles. Where that cannot be done
    a result that has the loads of channels, or packets, is shown without the rest; :class:`flitwork.ConfigError` says
    what to record where there is neither.
    """
    if result.status == "interrupted":
        raise ConfigError("result.status", "interrupted", "a run that has ended", "let it end")
    if not result.end_cycle:
        raise ConfigError("result.completion_cycles", 0, "a run of at least one cycle", "nothing was sent in it")
    missing = _missing(result)
    recorded_window = result.channel_window_cycles
    window = recorded_window if frames is None and recorded_window else window_for(result, frames)
    if not missing and window == recorded_window:
        return result, ""
    record: dict[str, Any] = {"channel_window_cycles": window, "waits": True, "packets": True}
    settings = f"[run.record] channel_window_cycles = {window}, waits = true"
    if result.has_schedule:
        record["operations"] = True
        settings += ", operations = true"
    try:
        return simulated_again(
            result, record, [f"run.record.{name}" for name in _keys(missing)], settings, progress
        ), ""
    except ConfigError:
        if not missing:
            hint = "it cannot be simulated again with others from what is stored: leave frames out"
            raise ConfigError(
                "frames", frames, f"the windows of {recorded_window} cycles that the result has", hint
            ) from None
        shows_time = "channel_windows" in result.columns or "packets.src" in result.columns
        if not shows_time or frames is not None:
            raise
    lacking = " and ".join(_ABOUT[name] for name in missing)
    return result, f"Not recorded: {lacking}. To see it, simulate with {settings}."


def window_for(result: Result, frames: int | None = None) -> int:
    """The length of a window [cycles] that divides a run into about so many."""
    return math.ceil((result.end_cycle + 1) / (frames or FRAMES))


def _missing(result: Result) -> list[str]:
    """What a view would show that was not recorded."""
    needed = [name for name in _ABOUT if name != "operations" or result.has_schedule]
    return [name for name in needed if not any(column.startswith(name) for column in result.columns)]


def _keys(missing: list[str]) -> list[str]:
    """The options that record it."""
    key = {"channel_windows": "channel_window_cycles", "wait_windows": "waits"}
    return [key.get(name, name) for name in missing]
