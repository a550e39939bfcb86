"""Commands start without what they do not use."""

from __future__ import annotations

import os
import subprocess
import sys

#: Each takes a large part of a second to import.
HEAVY = ("matplotlib", "networkx", "statsmodels", "scipy.stats", "dask")


def test_commands_that_draw_nothing_import_nothing_that_draws() -> None:
    asked = f"import sys, flitwork.cli; print([name for name in {HEAVY} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_square_brackets_in_help_are_text() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "flitwork", "simulate", "--help"],
        capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip
    assert "for example 9x9 or 8x8x4 [default: 8x8]" in shown.stdout
