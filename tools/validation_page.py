"""Writes the tables and the figure of docs/validation.md from the studies booksim-2-validation and booksim-2-alltoall.

python tools/validation_page.py            run the study (some minutes) and write the tables and the figure
python tools/validation_page.py --check    exit with 1 if the tables are not those of its published results

--results FOLDER keeps the results of the study, and takes what is there.
"""

from __future__ import annotations

import argparse
import math
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from flitwork.studies import reproduce
from flitwork.studies.booksim_2_alltoall import compare as exchange
from flitwork.studies.booksim_2_validation import compare, zero_load
from flitwork.studies.booksim_2_validation.figures import NAME

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = DOCS / "validation.md"
Row = Mapping[Any, Any]
BLOCK = re.compile(r"(<!-- (?P<name>[a-z-]+): generated -->\n).*?(<!-- end -->)", re.DOTALL)


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table; columns of numbers are aligned at the right."""
    body = [[str(cell) for cell in row] for row in rows]
    rules = ["---:" if re.match(r"[+-]?[0-9]", cell) else "---" for cell in body[0]]
    return "".join(f"| {' | '.join(line)} |\n" for line in [list(head), rules, *body])


def percent(value: float) -> str:
    """With a sign, and no negative zero."""
    return f"{round(value, 2) + 0.0:+.2f} %"


def summary(results: pd.DataFrame) -> str:
    """One row a curve."""
    points = compare.comparison(results)
    rows = []
    for row in compare.saturation(points, compare.ours(results)).to_dict("records"):
        same = (points[compare.CURVE] == [row[column] for column in compare.CURVE]).all(axis=1)
        judged = points[same & points["judged"]]
        equal = compare.waiting_at_equal_load(points[same & ~points["saturated"]])[judged.index]
        worst = judged.loc[judged["latency_percent"].abs().idxmax(), "latency_percent"]
        rows.append(
            [
                compare.name(row),
                percent(worst),
                percent(judged["latency_percent"].mean()),
                percent(judged["waiting_percent"].mean()),
                "-" if equal.isna().all() else percent(equal.mean()),
                *(f"{row[f'throughput_{name}']:.4f}" for name in ("booksim", "ours")),
                percent(row["beyond_percent"]),
                *(_knee(row[f"knee_{name}"]) for name in ("booksim", "ours")),
                "-" if math.isnan(row["knee_percent"]) else percent(row["knee_percent"]),
            ]
        )
    head = ["curve", "latency: largest difference", "mean", "waiting: mean", "at equal load"]
    head += [
        "throughput at the highest load: BookSim",
        "ours",
        "difference beyond saturation",
        "latency tripled at load: BookSim",
        "ours",
    ]
    return table([*head, "difference"], rows)


def _knee(load: float) -> str:
    return "-" if math.isnan(load) else f"{load:.4f}"


def points(results: pd.DataFrame) -> str:
    """One row a load of a curve."""
    rows = []
    for row in compare.comparison(results).to_dict("records"):
        latency = [f"{row['latency_booksim']:.2f} ± {row['latency_se_booksim']:.2f}"]
        latency += [f"{row['latency_ours']:.2f} ± {row['latency_ci_ours']:.2f}", percent(row["latency_percent"])]
        accepted = [f"{row['accepted_booksim']:.4f} ± {row['accepted_se_booksim']:.4f}"]
        accepted += [f"{row['accepted_ours']:.4f} ± {row['accepted_ci_ours']:.4f}", percent(row["accepted_percent"])]
        if row["saturated"]:
            latency = ["saturated", "saturated", ""]
        rows.append([compare.name(row), f"{row['offered_load']:g}", *latency, *accepted, verdict(row)])
    head = ["curve", "offered load", "BookSim [cycles]", "ours [cycles]", "difference"]
    head += ["accepted: BookSim", "ours", "difference", "verdict"]
    return table(head, rows)


def verdict(row: Row) -> str:
    """In words."""
    if row["saturated"]:
        return "throughput"
    agrees = row["latency_agrees"] and row["accepted_agrees"]
    return ("agrees" if agrees else "differs") + ("" if row["judged"] else ", near saturation")


def zero(_results: pd.DataFrame) -> str:
    """What BookSim measured for packets alone, and what ours take."""
    rows = []
    for case in zero_load.MEASURED:
        ours = " or ".join(map(str, sorted(zero_load.ours(case))))
        rows.append([case.setting or "as in the curves", case.topology, case.hops, case.flits, case.cycles, ours])
    return table(["setting of BookSim", "network", "hops", "flits", "BookSim [cycles]", "ours [cycles]"], rows)


def rules(results: pd.DataFrame) -> str:
    """What a changed rule does."""
    changed = compare.rules(results)
    rows = [[rule, percent(row["mesh"]), percent(row["torus"])] for rule, row in changed.iterrows()]
    return table(["changed rule", "mesh, load 0.35", "torus, load 0.5"], rows)


def alltoall(_results: pd.DataFrame) -> str:
    """The completions of an all-to-all, from a study of its own that takes seconds."""
    with tempfile.TemporaryDirectory() as temporary:
        points = exchange.comparison(reproduce("booksim-2-alltoall", temporary).run.table)
    rows = []
    for row in points.to_dict("records"):
        apart = 100 * row["own_rules_difference"] / row["booksim"]
        where = [f"{row['network']}, {row['k']} × {row['k']}", row["algorithm"], row["sync"]]
        rows.append([*where, row["booksim"], row["ours"], row["difference"], row["own_rules"], percent(apart)])
    head = ["network", "algorithm", "synchronisation", "BookSim [cycles]", "ours [cycles]", "difference", "own rules"]
    return table([*head, "difference"], rows)


TABLES: dict[str, Callable[[pd.DataFrame], str]] = {
    "summary": summary,
    "points": points,
    "zero-load": zero,
    "rules": rules,
    "alltoall": alltoall,
}


def main() -> int:
    """Writes or checks the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--results", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        done = reproduce("booksim-2-validation", options.results or temporary, published_results=options.check)
        current = PAGE.read_text(encoding="utf-8")
        missing = set(TABLES) - {match["name"] for match in BLOCK.finditer(current)}
        if missing:
            print(f"{PAGE} has no place for {', '.join(sorted(missing))}", file=sys.stderr)
            return 1
        wanted = BLOCK.sub(lambda m: f"{m[1]}\n{TABLES[m['name']](done.run.table)}\n{m[3]}", current)
        if not options.check:
            PAGE.write_text(wanted, encoding="utf-8")
            (picture,) = [path for path in done.figures if path.name == f"{NAME}.png"]
            shutil.copyfile(picture, DOCS / "images" / picture.name)
        elif current != wanted:
            print(f"{PAGE} is out of date: run python tools/validation_page.py", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
