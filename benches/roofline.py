"""What bounds the flit kernel: `python benches/roofline.py FILE`, with the file of `benches/run.py --json FILE`.

A core executes only so many instructions a nanosecond, brings only so many lines of memory, and loses time where it
guesses a branch wrong. How much of each a flit-hop needs, callgrind has counted; what the machine can do at most, small
loops measure here (`examples/ceilings.rs`), and callgrind counts them in the same way. That gives two times for a
flit-hop: the *roof*, where instructions and misses happen at the same time, with as many misses under way as the core
can have, so that only the largest part counts; and the *sum*, where each miss and each wrong guess is waited for alone.

Written are a picture (two rooflines: instructions per nanosecond over instructions per miss; and the parts of the sum
beside the time measured) and, into a page, a table. Ceilings are measured where the file has none, or with `--measure`:
let nothing else run then. On a machine that others use, too, run the bench more than once: of each case the least time
of all files counts, and is kept in the first. Needs matplotlib, and to measure valgrind and cargo.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import others
import run

mpl.use("Agg")
import matplotlib.pyplot as plt

#: Working sets that miss a cache of 32 kB but not one of 1 MB, and that miss both [bytes].
SECOND_LEVEL, THIRD_LEVEL = 1 << 18, 1 << 22
#: Steps of a loop that callgrind runs.
STEPS = 1_000_000
#: Of the loop that measures each ceiling: millions of steps that are timed, and its arguments but for the steps.
LOOPS: dict[str, tuple[int, tuple[str, ...]]] = {
    "instructions": (300, ("instructions",)),
    "together, 32 kB": (300, ("gather", str(SECOND_LEVEL))),
    "alone, 32 kB": (100, ("chase", str(SECOND_LEVEL))),
    "together, 1 MB": (200, ("gather", str(THIRD_LEVEL))),
    "alone, 1 MB": (20, ("chase", str(THIRD_LEVEL))),
    "wrong guess": (100, ("guess", "1")),
    "right guess": (200, ("guess", "0")),
}
#: Of cases with packets of so many flits; of others.
COLORS = {1: "tab:blue", 8: "tab:orange", 16: "tab:green"}
OTHERS = "tab:gray"
#: What takes the time of a flit-hop.
PARTS = ("instructions", "misses of 32 kB", "misses of 1 MB", "wrong guesses")
START, END = "<!-- roofline -->\n", "<!-- end of roofline -->"


@dataclass(frozen=True)
class Ceilings:
    """What the machine can do: instructions a nanosecond; nanoseconds of a miss of 32 kB and of one of 1 MB, where many
    are under way together and where each is waited for; nanoseconds lost by a wrong guess."""

    instructions: float
    together: tuple[float, float]
    alone: tuple[float, float]
    wrong_guess: float


@dataclass(frozen=True)
class Bounds:
    """The time of a flit-hop of a case [ns]: measured; its `PARTS`, each miss and guess waited for; the roof."""

    case: str
    measured: float
    parts: tuple[float, float, float, float]
    roof: float

    @property
    def sum(self) -> float:
        """Nothing overlaps."""
        return sum(self.parts)


def a_step(loops: Path, millions: int, loop: tuple[str, ...], folder: Path) -> dict[str, float]:
    """What one step of a loop takes: `ns`, the least of five; and what callgrind counts. Differences of two lengths."""
    name, *rest = loop

    def command(steps: int) -> list[str]:
        return [str(loops), name, str(steps), *rest]

    def seconds(steps: int) -> float:
        return others.timed(command(steps))[1].user

    times = [(seconds(millions * 10**6), seconds(2 * millions * 10**6)) for _ in range(5)]
    short, long = (min(column) for column in zip(*times, strict=True))
    nanoseconds = (long - short) / (millions * 10**6) * 1e9
    if nanoseconds <= 0:
        sys.exit(
            f"{' '.join(loop)}: twice the steps took no longer ({short:.2f} s, {long:.2f} s); let nothing else run"
        )
    (before, _), (after, _) = (run.counted(command(steps), folder) for steps in (STEPS, 2 * STEPS))
    return {"ns": nanoseconds, **{key: (after[key] - before[key]) / STEPS for key in after}}


def measure() -> dict[str, dict[str, float]]:
    """All loops."""
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed: nothing counts the loops")
    loops = run.build("ceilings")
    with tempfile.TemporaryDirectory() as folder:
        return {name: a_step(loops, *loop, Path(folder)) for name, loop in LOOPS.items()}


def ceilings(steps: dict[str, dict[str, float]]) -> Ceilings:
    """The ceilings that the loops show."""

    def miss(how: str, cache: str, counted: str) -> float:
        step = steps[f"{how}, {cache}"]
        return step["ns"] / step[counted]

    right, wrong = steps["right guess"], steps["wrong guess"]
    return Ceilings(
        steps["instructions"]["instructions"] / steps["instructions"]["ns"],
        (miss("together", "32 kB", "d1_misses"), miss("together", "1 MB", "ll_misses")),
        (miss("alone", "32 kB", "d1_misses"), miss("alone", "1 MB", "ll_misses")),
        (wrong["ns"] - right["ns"]) / (wrong["wrong_guesses"] - right["wrong_guesses"]),
    )


def bounds(case: dict[str, Any], most: Ceilings) -> Bounds:
    """The bounds of a case."""
    # A miss of 1 MB is one of 32 kB, too.
    second, third = max(0.0, case["d1_misses"] - case["ll_misses"]), max(0.0, case["ll_misses"])
    work = case["instructions"] / most.instructions
    guesses = case["wrong_guesses"] * most.wrong_guess
    together = (second * most.together[0], third * most.together[1])
    parts = (work, second * most.alone[0], third * most.alone[1], guesses)
    # Wrong guesses are no part of the roof: the machine's own predictor may be better than callgrind's.
    return Bounds(case["case"], case["ns"], parts, max(work, *together))


def table(found: list[Bounds], most: Ceilings) -> str:
    """The bounds beside the times, and the ceilings, for a page."""
    head = ("case", "roof [ns]", "measured [ns]", "sum [ns]", *PARTS)
    shares = [[f"{part / one.sum:.0%}" for part in one.parts] for one in found]
    rows = [
        [one.case, f"{one.roof:.0f}", f"{one.measured:.0f}", f"{one.sum:.0f}", *parts]
        for one, parts in zip(found, shares, strict=True)
    ]
    (second, third), (second_alone, third_alone) = most.together, most.alone
    text = (
        f"Ceilings: {most.instructions:.1f} instructions a nanosecond; a miss of 32 kB {second:.2g} ns where many are "
        f"under way, {second_alone:.2g} ns where each is waited for; one of 1 MB {third:.2g} and {third_alone:.2g} ns; "
        f"a wrong guess {most.wrong_guess:.2g} ns."
    )
    return text + "\n\n" + run.markdown(head, rows, last="---:")


def draw(cases: list[dict[str, Any]], found: list[Bounds], most: Ceilings) -> plt.Figure:
    """The two rooflines above, the parts of the times below."""
    figure = plt.figure(figsize=(11, 5 + 0.26 * len(cases)), layout="constrained")
    grid = figure.add_gridspec(2, 2, height_ratios=[5, 0.26 * len(cases)])
    for cache, key, axes in (
        (0, "d1_misses", figure.add_subplot(grid[0, 0])),
        (1, "ll_misses", figure.add_subplot(grid[0, 1])),
    ):
        draw_roofline(axes, cases, most, cache, key)
    draw_parts(figure.add_subplot(grid[1, :]), found)
    return figure


def draw_roofline(axes: plt.Axes, cases: list[dict[str, Any]], most: Ceilings, cache: int, key: str) -> None:
    """Instructions a nanosecond over instructions per miss."""
    shown = [case for case in cases if case[key] >= 0.01]
    at = [case["instructions"] / case[key] for case in shown]
    if not shown:
        axes.set_axis_off()
        return
    left, right = min(at) / 3, max(at) * 3
    for cost, style, label in (
        (most.together[cache], "-", "misses together"),
        (most.alone[cache], "--", "each miss alone"),
    ):
        corner = min(max(left, most.instructions * cost), right)
        axes.plot(
            [left, corner, right],
            [left / cost, min(corner / cost, most.instructions), min(right / cost, most.instructions)],
            "k" + style,
            lw=1,
            label=f"ceiling: {label}, {cost:.2g} ns",
        )
    for length in [*COLORS, None]:
        mine = [i for i, case in enumerate(shown) if case["packet_flits"] == length]
        rates = [shown[i]["instructions"] / shown[i]["ns"] for i in mine]
        if not mine:
            continue
        label = "all-to-alls" if length is None else f"{length}-flit packets"
        axes.scatter([at[i] for i in mine], rates, s=18, color=COLORS.get(length, OTHERS), label=label)
    axes.set(xscale="log", yscale="log", xlim=(left, right))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("{x:g}")
    axes.tick_params(which="both", labelsize=8)
    axes.set_xlabel(f"instructions per miss of {('32 kB', '1 MB')[cache]}")
    axes.set_ylabel("instructions per nanosecond")
    axes.legend(fontsize=7, loc="lower right")


def draw_parts(axes: plt.Axes, found: list[Bounds]) -> None:
    """Each part of the sum of a case, its roof, and the time measured."""
    places = range(len(found))
    starts = [0.0] * len(found)
    for part, name in enumerate(PARTS):
        widths = [one.parts[part] for one in found]
        axes.barh(places, widths, left=starts, height=0.7, label=f"{name}, alone", color=f"C{part}", alpha=0.6)
        starts = [start + width for start, width in zip(starts, widths, strict=True)]
    axes.plot([one.roof for one in found], places, "k|", ms=10, label="roof: the largest part, misses together")
    axes.plot([one.measured for one in found], places, "kD", ms=4, label="measured")
    axes.set_yticks(places, [one.case for one in found], fontsize=7)
    axes.set_ylim(len(found) - 0.4, -0.6)
    axes.set_xlabel("time of a flit-hop [ns]")
    axes.legend(fontsize=8, loc="lower center", bbox_to_anchor=(0.4, 1), ncols=3, frameon=False)


def keep_least(cases: list[dict[str, Any]], again: list[dict[str, Any]]) -> None:
    """Gives each case the time that it has in another run, where that is less."""
    times = {case["case"]: case["ns"] for case in again}
    for case in cases:
        case["ns"] = min(case["ns"], times.get(case["case"], case["ns"]))


def read(file: Path) -> dict[str, Any]:
    """What a run of the bench has written."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return found if found["cases"] else sys.exit(f"{file} has no cases")
    except (OSError, ValueError, LookupError, TypeError) as error:
        sys.exit(f"{file} is not what benches/run.py --json writes: {error!r}")


def pattern(text: str) -> re.Pattern[str]:
    """A regular expression from the command line."""
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no regular expression: {error}") from error


def main() -> int:
    """Measure what is missing, draw and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="what benches/run.py --json wrote; ceilings are added to it")
    parser.add_argument("more", type=Path, nargs="*", help="the same of other runs, with or without counts")
    parser.add_argument("--measure", action="store_true", help="measure the ceilings, also where the file has them")
    parser.add_argument(
        "--only",
        metavar="PATTERN",
        type=pattern,
        default=pattern(""),
        help="only cases with a name that this regular expression is found in",
    )
    parser.add_argument("--picture", metavar="PNG", type=Path, help="where to put the picture")
    parser.add_argument("--write", metavar="PAGE", type=Path, help="put the table into a page, between its markers")
    args = parser.parse_args()

    stored = read(args.file)
    for file in args.more:
        keep_least(stored["cases"], read(file)["cases"])
    to_measure = args.measure or "ceilings" not in stored
    if to_measure:
        stored["ceilings"] = measure()
    if to_measure or args.more:
        args.file.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    most = ceilings(stored["ceilings"])
    cases = [case for case in stored["cases"] if "instructions" in case and args.only.search(case["case"])]
    if not cases:
        sys.exit(
            f"no case with counts matches {args.only.pattern!r} in {args.file}: run benches/run.py where valgrind is"
        )
    found = [bounds(case, most) for case in cases]
    text = table(found, most)
    print(text)
    if args.picture:
        figure = draw(cases, found, most)
        figure.savefig(args.picture, dpi=110)
    if args.write:
        run.put_between(args.write, START, END, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
