"""Reads the fenced blocks of a documentation page, and does what those that name a file say.

The words behind the language of a block say what it is for:

* ``file=PATH``: the block is the whole contents of a new file.
* ``file=PATH insert-after="TEXT"``, ``insert-before="TEXT"``, ``replace="TEXT"``: the block goes behind, before or in
  place of the one line of that file that contains ``TEXT``.
* anything else (``run``, ``test``) is up to the test that reads the page.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the words behind it, its text, and where it stands."""

    language: str
    words: dict[str, str]
    body: str
    where: str


def blocks(page: str) -> list[Block]:
    """All fenced blocks of the page ``page``, a path below the root of the project."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        language, *words = shlex.split(match["info"]) or [""]
        named = dict(word.partition("=")[::2] for word in words)
        found.append(Block(language, named, match["body"], f"{page}:{text[: match.start()].count(chr(10)) + 1}"))
    return found


def apply(block: Block, folder: Path) -> Path:
    """Does to the copy of the project in ``folder`` what ``block`` says; returns the file."""
    path = folder / block.words["file"]
    places = [key for key in ("insert-after", "insert-before", "replace") if key in block.words]
    if not places:
        assert not path.exists(), f"{block.where}: {path} exists; say where the block belongs"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.body, encoding="utf-8")
        return path
    (place,) = places
    anchor = block.words[place]
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    hits = [i for i, line in enumerate(lines) if anchor in line]
    assert len(hits) == 1, f"{block.where}: {len(hits)} lines of {block.words['file']} contain {anchor!r}, not one"
    first = hits[0] + (place == "insert-after")
    last = hits[0] if place == "insert-before" else hits[0] + 1
    lines[first:last] = [block.body]
    path.write_text("".join(lines), encoding="utf-8")
    return path
