#!/usr/bin/env python3
"""Wraps Rust comments at 120 columns, which rustfmt does on nightly only.

    python tools/wrap_comments.py            # all tracked Rust files
    python tools/wrap_comments.py FILE ...

Only paragraphs and list items with a line that is too long change. Code blocks, tables, headings, indented text and
links stay as they are. `crates/flitwork/tests/architecture.rs` holds the limit.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

#: Most columns of a line with a comment.
WIDTH = 120
_COMMENT = re.compile(r"^(\s*(?:///|//!|//))(?: |$)")
_ITEM = re.compile(r"^ (\s*(?:[-*+]|\d+[.)])\s+)(.*)$")
_LINK = re.compile(r"^ \[[^\]]+\]:")
#: A word that would begin a list item or a heading at the beginning of a line.
_MARKER = re.compile(r"(?:[-*+#]+|\d+[.)])$")
#: What begins a line that is no prose: a fence, a table, a heading, HTML.
_NO_PROSE = ("```", "|", "#", "<")


def wrapped(text: str) -> str:
    """The text of a Rust file with its comments wrapped."""
    lines, found, at = text.split("\n"), list[str](), 0
    while at < len(lines):
        match = _COMMENT.match(lines[at])
        if match is None:
            found.append(lines[at])
            at += 1
            continue
        mark, first = match[1], at
        while at < len(lines) and (lines[at] == mark or lines[at].startswith(mark + " ")):
            at += 1
        found += [mark + line for line in _block([line[len(mark) :] for line in lines[first:at]], WIDTH - len(mark))]
    return "\n".join(found)


def _block(lines: list[str], width: int) -> Iterator[str]:
    """The lines of one comment, without their marks."""
    is_code, at = False, 0
    while at < len(lines):
        line = lines[at]
        is_code ^= line.strip().startswith("```")
        item = _ITEM.match(line)
        if is_code or not _is_prose(line) or (line.startswith("    ") and not item):
            yield line
            at += 1
            continue
        end = at + 1
        while end < len(lines) and _goes_on(lines[end], bool(item)):
            end += 1
        part = lines[at:end]
        if max(map(len, part)) <= width:
            yield from part
        else:
            begin = " " + (item[1] if item else " " * (len(line) - len(line.lstrip()) - 1))
            text = " ".join([item[2] if item else line.strip(), *(one.strip() for one in part[1:])])
            yield from _filled(text, begin, width)
        at = end


def _is_prose(line: str) -> bool:
    return bool(line.strip()) and not line.strip().startswith(_NO_PROSE) and not _LINK.match(line)


def _goes_on(line: str, in_item: bool) -> bool:
    """Whether a line belongs to the paragraph, or the list item, before it."""
    if not _is_prose(line) or _ITEM.match(line):
        return False
    return line.startswith("  ") if in_item else not line.startswith("   ")


def _filled(text: str, begin: str, width: int) -> Iterator[str]:
    """The text in lines, the first with ``begin`` and the others as far to the right."""
    line, is_empty = begin, True
    for word in _words(text):
        if not is_empty and len(line) + 1 + len(word) > width:
            yield line
            line, is_empty = " " * len(begin), True
        line += word if is_empty else f" {word}"
        is_empty = False
    yield line


def _words(text: str) -> Iterator[str]:
    """The words of a text; one word is inline code, and a word with what would begin a list item after it."""
    word = ""
    for piece in text.split():
        if word and word.count("`") % 2 == 0 and not _MARKER.match(piece):
            yield word
            word = ""
        word += f" {piece}" if word else piece
    yield word


def main() -> None:
    """Wraps the files that are named, or all."""
    tracked = subprocess.run(["git", "ls-files", "*.rs"], check=True, capture_output=True, text=True).stdout.split()
    for path in map(Path, sys.argv[1:] or tracked):
        before = path.read_text(encoding="utf-8")
        after = wrapped(before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(path)


if __name__ == "__main__":
    main()
