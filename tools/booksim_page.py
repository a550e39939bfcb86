"""Writes the table of keys in docs/booksim.md from the table that flitwork itself uses.

python tools/booksim_page.py            write the table
python tools/booksim_page.py --check    exit with 1 if the page is not what would be written
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from flitwork.booksim.config_file import written
from flitwork.booksim.idle import IDLE
from flitwork.booksim.keys import KEYS, Fate, Key

PAGE = Path(__file__).resolve().parents[1] / "docs" / "booksim.md"
BLOCK = re.compile(r"(<!-- (?P<name>[a-z-]+): generated -->\n).*?(<!-- end -->)", re.DOTALL)


def rows(fate: Fate) -> str:
    """A Markdown table of the keys with one fate."""
    keys = [key for key in KEYS.values() if key.fate is fate]
    if fate is Fate.MAPPED:
        head, body = ["key", "default", "field", "remark"], [
            [f"`{k.name}`", default(k.default), f"`{k.field}`" if k.field else "", remark(k)] for k in keys
        ]  # fmt: skip
    elif fate is Fate.ONLY:
        head, body = ["key", "default", "why", "no effect, so that any value is accepted"], [
            [f"`{k.name}`", default(k.default), remark(k), IDLE[k.name].where if k.name in IDLE else ""] for k in keys
        ]  # fmt: skip
    else:
        notes = dict.fromkeys(key.note for key in keys)
        head, body = ["keys", "default", "why"], [
            [", ".join(f"`{k.name}`" for k in same), ", ".join(dict.fromkeys(default(k.default) for k in same)), note]
            for note in notes
            if (same := [k for k in keys if k.note == note])
        ]  # fmt: skip
    lines = [head, ["---"] * len(head), *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def remark(key: Key) -> str:
    """How BookSim tests a switch, and what there is to say besides."""
    return "; ".join(filter(None, (key.reads.value, key.note)))


def default(value: int | float | str) -> str:
    """A default as it stands in a file; nothing for empty text."""
    return f"`{written(value)}`" if value != "" else ""


TABLES = {fate.name.lower().replace("_", "-"): fate for fate in Fate}


def main() -> int:
    """Writes or checks the page."""
    current = PAGE.read_text(encoding="utf-8")
    missing = set(TABLES) - {match["name"] for match in BLOCK.finditer(current)}
    if missing:
        print(f"{PAGE} has no place for {', '.join(sorted(missing))}", file=sys.stderr)
        return 1
    wanted = BLOCK.sub(lambda m: f"{m[1]}\n{rows(TABLES[m['name']])}\n{m[3]}", current)
    if "--check" not in sys.argv:
        PAGE.write_text(wanted, encoding="utf-8")
    elif wanted != current:
        print(f"{PAGE} is out of date: run python tools/booksim_page.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
