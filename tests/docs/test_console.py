"""What pages show of commands and their output is what the commands print."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest
from pages import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = [
    pytest.param(block, id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    for number, block in enumerate(re.findall(r"^```console\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S))
]


@pytest.mark.parametrize("block", BLOCKS)
def test_a_console_shows_what_is_printed(block: str) -> None:
    command, *expected = block.splitlines()
    words = shlex.split(command.removeprefix("$ "))
    assert words[0] == "flitwork"
    printed = subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, cwd=ROOT, timeout=120, check=True
    ).stdout.splitlines()
    assert printed[: len(expected)] == expected
