"""Commands start without what they do not use."""

from __future__ import annotations

import subprocess
import sys

#: Each takes a large part of a second to import.
HEAVY = ("matplotlib", "networkx", "statsmodels", "scipy.stats", "dask")


def test_commands_that_draw_nothing_import_nothing_that_draws() -> None:
    asked = f"import sys, flitwork.cli; print([name for name in {HEAVY} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
