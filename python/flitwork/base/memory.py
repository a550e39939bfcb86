"""How much memory flitwork lets itself use."""

from __future__ import annotations

from flitwork import _core


def usable_bytes() -> float:
    """Three quarters of the memory that this process may use.

    That is what the machine has, or less where a control group, ``ulimit`` or SLURM allows less.
    """
    return float(_core.usable_memory()[0])


def limited_by() -> str:
    """What says so: ``this machine``, ``the control group``, ``ulimit -v``, ..."""
    return _core.usable_memory()[1]
