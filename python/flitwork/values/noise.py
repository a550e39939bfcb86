"""The kinds of ``host.noise``, each a value: Detours: times in which the operating system has the CPUs of a rank for itself. Each rank has its own.

Written by tools/python_values.py from the schema of the simulator. Do not edit: change the comments of the fields in
crates/flitwork/src and run the tool again.
"""

# fmt: off
# ruff: noqa: B008, E501, F401, RUF100
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from flitwork.values.value import Value, default, value

__all__ = [
    "Exponential",
    "File",
    "Noise",
    "Periodic",
]


class Noise(Value):
    """Detours: times in which the operating system has the CPUs of a rank for itself. Each rank has its own. Each kind
    is a class of this module."""

    TABLES = ("host.noise",)


@value
class Periodic(Noise):
    """Detours of one length, one every period.

    * ``duration_cycles``: Length of a detour [cycles], at least 1, less than the period.
    * ``duration_ns``: ``duration_cycles`` in ns; or text with a unit.
    * ``period_cycles``: From the start of a detour to that of the next [cycles], 2 to 2^40.
    * ``period_ns``: ``period_cycles`` in ns; or text with a unit.
    * ``phase``: Whether ranks are away together, or each has a phase of its own, drawn by the seed of the run.
      Default: random.
    * ``phase_cycles``: Where all have the same phase: the start of the first detour [cycles], less than the period.
      Default: 0.
    * ``phase_ns``: ``phase_cycles`` in ns; or text with a unit.
    """

    KIND = "periodic"
    duration_cycles: int = default(None)
    duration_ns: float | str | Sequence[float | str] = default(None)
    period_cycles: int = default(None)
    period_ns: float | str | Sequence[float | str] = default(None)
    phase: Literal["random", "same"] = default("random")
    phase_cycles: int = default(0)
    phase_ns: float | str | Sequence[float | str] = default(None)


@value
class Exponential(Noise):
    """Detours at random: the times between them, and perhaps their lengths, have geometric (in whole cycles
    exponential) distributions, drawn by the seed of the run.

    * ``duration_cycles``: Length of each detour [cycles], at least 1; or say ``mean_duration_cycles``.
    * ``duration_ns``: ``duration_cycles`` in ns; or text with a unit.
    * ``mean_duration_cycles``: Mean length of detours that differ [cycles], at least 1; or say ``duration_cycles``.
    * ``mean_duration_ns``: ``mean_duration_cycles`` in ns; or text with a unit.
    * ``mean_interval_cycles``: Mean time from the end of a detour to the start of the next [cycles], 1 to 2^40.
    * ``mean_interval_ns``: ``mean_interval_cycles`` in ns; or text with a unit.
    """

    KIND = "exponential"
    duration_cycles: int = default(None)
    duration_ns: float | str | Sequence[float | str] = default(None)
    mean_duration_cycles: int = default(None)
    mean_duration_ns: float | str | Sequence[float | str] = default(None)
    mean_interval_cycles: int = default(None)
    mean_interval_ns: float | str | Sequence[float | str] = default(None)


@value
class File(Noise):
    """Detours that are given one by one, such as measured ones.

    * ``detours``: The detours: columns rank, start_cycles (from the start of the ranks) and duration_cycles. Those of
      a rank that touch or overlap are one. In a plan they are a digest. Default: those of ``file``.
    * ``file``: A file with these columns: CSV (with a first line of names) or Parquet.
    """

    KIND = "file"
    detours: Any = default(None)
    file: str = default(None)
