"""docs/configuration.md is what the schema of the simulator says."""

from __future__ import annotations

import subprocess
import sys

from pages import ROOT


def test_the_page_is_up_to_date() -> None:
    tool = [sys.executable, str(ROOT / "tools" / "configuration_page.py"), "--check"]
    done = subprocess.run(tool, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
