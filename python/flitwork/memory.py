"""How much memory flitwork lets itself use."""

from __future__ import annotations

import os

_SHARE = 0.75


def usable_bytes() -> float:
    """Three quarters of the memory of this machine."""
    return _SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
