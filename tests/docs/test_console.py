"""What pages show of commands and their output is what the commands print."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = [
    pytest.param(block, id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    for number, block in enumerate(re.findall(r"^```console\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S))
]


@pytest.mark.parametrize("block", BLOCKS)
def test_a_console_shows_what_is_printed(block: str, tmp_path: Path) -> None:
    """Commands run one after the other in a folder that has the examples; of what each prints the first lines are shown, or none."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for part in block.removeprefix("$ ").split("\n$ "):
        command, *expected = part.splitlines()
        words = shlex.split(command)
        assert words[0] == "flitwork"
        printed = subprocess.run(
            [sys.executable, "-m", *words], capture_output=True, text=True, cwd=tmp_path, timeout=120, check=True
        ).stdout.splitlines()
        assert printed[: len(expected)] == expected
