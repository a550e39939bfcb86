"""Writes the table of statements in README.md from the verdicts that the studies of papers stand for.

python tools/scores_table.py            write the table
python tools/scores_table.py --check    exit with 1 if the table is not what would be written

The table counts `expected` of the claims, and `quick_expected` where only the smaller version is run.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from flitwork.studies import Published, published
from flitwork.studies.claims import load_claims
from flitwork.studies.statements import Scores, expected_scores
from flitwork.studies.words import SCORE_HEADERS, score_cells

PAGE = Path(__file__).resolve().parents[1] / "README.md"
BLOCK = re.compile(r"(<!-- scores: generated -->\n).*?(<!-- end -->)", re.DOTALL)
#: Studies whose full version takes hours, and whose first reading has no published results: their row is of the
#: smaller one.
QUICK = ("shibamura-2012-pacing", "yokota-2010-unsteady")


def table() -> str:
    """A row for each study of a paper."""
    found = [(study, _scores(study)) for study in published().values()]
    lines = [["paper", "version", *SCORE_HEADERS]]
    lines.append(["---"] * 2 + ["---:"] * len(SCORE_HEADERS))
    for study, scores in found:
        if scores.paper:
            page = f"python/flitwork/studies/{study.folder.name}/README.md"
            lines.append([f"[{study.title}]({page})", _version(study), *score_cells(scores)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _scores(study: Published) -> Scores:
    return expected_scores(load_claims(study.folder / "claims.toml"), quick=study.name in QUICK)


def _version(study: Published) -> str:
    if study.name in QUICK:
        return "quick"
    return "full, published results" if study.archive_file.is_file() else "full"


def main() -> None:
    """Writes the table, or checks it."""
    text = PAGE.read_text(encoding="utf-8")
    written = BLOCK.sub(lambda found: found[1] + table() + found[2], text)
    if "--check" in sys.argv[1:]:
        if written != text:
            sys.exit(f"{PAGE.name}: the table of statements is not up to date: run python tools/scores_table.py")
        return
    PAGE.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
