"""docs/readings.md says what the simulator gives: the section that takes seconds is measured again."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pages import ROOT


@pytest.mark.slow
def test_the_section_on_injection_is_up_to_date() -> None:
    tool = [sys.executable, str(ROOT / "tools" / "readings_page.py"), "--check", "--part", "injection"]
    done = subprocess.run(tool, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
