"""docs/booksim.md says of every key of BookSim what becomes of it."""

from __future__ import annotations

import subprocess
import sys

from flitwork.booksim import keys, mapping, traffic
from flitwork.booksim.keys import KEYS
from pages import ROOT

PAGE = (ROOT / "docs" / "booksim.md").read_text(encoding="utf-8")


def test_the_tables_of_keys_are_up_to_date() -> None:
    tool = [sys.executable, str(ROOT / "tools" / "booksim_page.py"), "--check"]
    done = subprocess.run(tool, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(f"`{name}`" in PAGE for name in KEYS)


def test_the_page_names_what_is_there_and_what_is_not() -> None:
    names = [
        *traffic._PLAIN,
        *traffic._OTHER,
        *keys.TOPOLOGIES,
        *keys.OTHER_TOPOLOGIES,
        *mapping._OTHER_ALLOCATORS,
    ]
    for topology in keys.TOPOLOGIES:
        names += [*mapping._ROUTINGS[topology], *mapping._OTHER_ROUTINGS[topology]]
    for name in names:
        assert f"`{name}`" in PAGE, name
