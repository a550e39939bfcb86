#!/usr/bin/env python3
"""Damages inputs of all commands and looks whether each failure is an error in words.

    python tools/fuzz.py --seconds 300 --seed 7     for so long, from this seed on
    python tools/fuzz.py --case 7/table:csv/123     one case again, as a failure names it; its files are kept

A case is a command with valid files (tools/fuzz_cases.py), of which one is damaged: by a key, a type, a number, a line
or a cell where it is a text that is understood, or by bits, pieces and encodings of any file. What must hold: the exit
code is one of those that ``flitwork --help`` names, no traceback, no panic, an error that names the file where the file
cannot be read, and an end within some seconds of CPU time. A long simulation that a damaged file describes is stopped
and not counted.

Cases run in this process one after the other; ``--seconds`` starts processes of many cases each, so that a crash is
seen.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from fuzz_cases import Case, cases, toml

#: CPU seconds that a case may take; those of its simulation do not count.
CPU_SECONDS = 5
#: Where a simulation runs: a case that is there at the end of its time is long, and no failure.
_SIMULATES = ("simulation.py", "local.py", "packets_file.py", "goal.py", "measure.py", "execute.py", "threading.py")
#: Exit codes that `flitwork --help` names.
_CODES = (0, 1, 2, 3)
_BATCH = 40
_EXTREME = [
    *("-1", "0", "1e308", "-1e400", "nan", "inf", "-inf", "18446744073709551616", "9" * 400, "9" * 5000, "0x10", "1_0"),
    *(
        '""',
        "[]",
        "{}",
        "true",
        '"x"',
        "'",
        '"',
        "${N ** 64 ** 64}",
        "٣",
        "\u00b2",
        "1.5",
        "-0.0",
        " ",
        "\t",
        "\x00",
        "\ufeff",
    ),
]
_VALUES: list[Any] = [
    *(-1, 0, 1, 1.5, 2**31, 2**64, 10**400, 1e308, float("inf"), float("nan"), True, "", "x", "..", "${N}", "a\x00b"),
    *([], [[]], [1, "x"], {}, {"": 1}, {"kind": "x"}, {"kind": 5}, [{}], "x" * 5000),
]


class Slow(BaseException):
    """The time of a case is over."""


def damaged_tree(tree: Any, draw: random.Random) -> Any:
    """The same tree with one thing changed."""
    tree = json.loads(json.dumps(tree))
    places = list(_places(tree))
    for _ in range(draw.choice((1, 1, 1, 2))):
        holder, key = draw.choice(places)
        how = draw.randrange(6)
        try:
            if how == 0:
                del holder[key]
            elif how == 1 and isinstance(holder, dict):
                holder[draw.choice(["", "a.b", "workload..x", ".", "x", f"{key}.", f" {key}", "kind"])] = draw.choice(
                    _VALUES
                )
            elif how == 2 and isinstance(holder, dict):
                holder[draw.choice([f"{key}s", str(key).upper(), f"{key}.{key}", "é"])] = holder.pop(key)
            elif how == 3:
                holder[key] = _deep(draw.choice(("list", "table")), draw.choice((3, 60, 150)))
            elif how == 4:
                holder[key] = [holder[key]] if draw.random() < 0.5 else {"x": holder[key]}
            else:
                holder[key] = draw.choice(_VALUES)
        except (KeyError, IndexError):
            continue
    return tree


def _deep(what: str, levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value] if what == "list" else {"x": value}
    return value


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ():
        yield tree, key
        yield from _places(value)


def damaged_text(data: bytes, draw: random.Random) -> bytes:
    """A text with a word, a line or a cell changed, or in another encoding."""
    text = data.decode(errors="replace")
    lines = text.splitlines(keepends=True) or [""]
    how, line = draw.randrange(9), draw.randrange(len(lines))
    if how == 0:
        lines.pop(line)
    elif how == 1:
        lines.insert(draw.randrange(len(lines) + 1), lines[line])
    elif how in (2, 3, 4):
        for mark in draw.sample([",", " ", "=", ";", ":"], 5):
            cells = lines[line].rstrip("\n").split(mark)
            if len(cells) > 1:
                cells[draw.randrange(len(cells))] = draw.choice(_EXTREME)
                lines[line] = mark.join(cells) + "\n"
                break
        else:
            lines[line] = draw.choice(_EXTREME) + "\n"
    elif how == 5:
        lines.insert(line, draw.choice(["(", "[", "{", "((", "{("]) * draw.choice((1, 90, 3000)) + "\n")
    elif how == 6:
        return text.encode(draw.choice(["utf-16", "utf-8-sig", "utf-32"]))
    elif how == 7:
        return text.replace("\n", draw.choice(["\r\n", "\r", "\n\n", " "])).encode()
    else:
        place = draw.randrange(len(text) + 1)
        return (text[:place] + draw.choice(_EXTREME) + text[place:]).encode(errors="replace")
    return "".join(lines).encode(errors="replace")


def damaged_bytes(data: bytes, draw: random.Random) -> bytes:
    """Bytes with bits flipped, or a piece taken out, doubled, put in, or written over."""
    found, how = bytearray(data), draw.randrange(7)
    place = draw.randrange(len(found) + 1)
    length = draw.choice((1, 2, 4, 8, 40))
    if how <= 1 and found:
        for _ in range(draw.choice((1, 1, 3, 20))):
            found[draw.randrange(len(found))] ^= 1 << draw.randrange(8)
    elif how == 2:
        del found[place:]
    elif how == 3:
        del found[place : place + length]
    elif how == 4:
        found[place:place] = draw.choice([b"\x00", b"\xff", b"\xef\xbb\xbf", b"\x7f"]) * length
    elif how == 5:
        found[place:place] = found[max(place - length, 0) : place]
    else:
        found[place : place + length] = draw.choice([b"\x00", b"\xff", b"\x80"]) * length
    return b"" if draw.random() < 0.02 else bytes(found)


def _replace_file(path: Path, draw: random.Random) -> None:
    """Something else in the place of a file."""
    path.unlink()
    how = draw.randrange(4)
    if how == 0:
        path.mkdir()
    elif how == 1:
        path.symlink_to("/dev/zero")
    elif how == 2:
        path.symlink_to(path.name)


def _damaged_options(words: tuple[str, ...], draw: random.Random) -> list[str]:
    found = list(words)
    place = draw.randrange(1, len(found))
    word = found[place]
    key, mark, value = word.partition("=")
    how = draw.randrange(5)
    if mark and how < 3:
        found[place] = (
            f"{key}={draw.choice(_EXTREME)}"
            if how
            else f"{draw.choice(['', '.', key + '.', 'run', 'host', '..'])}={value}"
        )
    elif how == 3:
        found[place] = draw.choice(_EXTREME)
    else:
        found[place] = word[: draw.randrange(len(word) + 1)] + draw.choice(["", "\udcff", "=", "x"])
    return [word.replace("\x00", "") for word in found]


def prepared(case: Case, draw: random.Random, folder: Path) -> tuple[list[str], str]:
    """The command with its damaged files in ``folder``, and which of them is damaged."""
    if "option" in case.tags:
        for name, data in case.files.items():
            (folder / name).write_bytes(data)
        return _damaged_options(case.words, draw), ""
    which = draw.choice(case.damaged)
    words = list(case.words)
    for name, data in case.files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(_damaged(data, case, draw) if name == which else data)
    if draw.random() < 0.03:
        _replace_file(folder / which, draw)
    if draw.random() < 0.03 and "/" not in which:
        other = os.fsdecode(b"\xff\xe9 n" + os.fsencode(Path(which).suffix))
        (folder / which).rename(folder / other)
        words, which = [word.replace(which, other) for word in words], ""
    return words, which


def _damaged(data: bytes, case: Case, draw: random.Random) -> bytes:
    if draw.random() < 0.6:
        with contextlib.suppress(ValueError, RecursionError):
            if "toml" in case.tags:
                from flitwork.base.input_files import tomllib

                return toml(damaged_tree(tomllib.loads(data.decode()), draw)).encode()
            if "json" in case.tags:
                return json.dumps(damaged_tree(json.loads(data), draw)).encode()
    is_text = b"\x00" not in data and data.isascii()
    return damaged_text(data, draw) if is_text and draw.random() < 0.7 else damaged_bytes(data, draw)


def fault(name: str, case: Case, seed: int, number: int, folder: Path) -> str | None:
    """Runs a case; what is wrong with how it ended, or nothing."""
    draw = random.Random(f"{seed}/{name}/{number}")
    words, which = prepared(case, draw, folder)
    code, output, raised = _run(words, folder)
    shown = f"$ flitwork {' '.join(map(ascii, words))}\n{output[-1500:]}"
    if raised:
        return f"{raised}\n{shown}"
    if code not in _CODES:
        return f"exit code {code}\n{shown}"
    if "Traceback" in output or "panicked" in output:
        return f"a traceback, or a panic\n{shown}"
    if code and "error" not in output.lower() and "usage" not in output.lower():
        return f"exit code {code} without an error\n{shown}"
    named = not case.named or not which or Path(which).stem in output.replace("\n", "")
    # What is right by itself and does not fit the rest is named by its field.
    if code == 2 and not named and "error: run." not in output:
        return f"the error does not name {which}\n{shown}"
    return None


def _run(words: list[str], folder: Path) -> tuple[int, str, str]:
    """Exit code, what was printed, and what was raised that should not have been."""
    from flitwork import cli

    out, before, started = io.StringIO(), Path.cwd(), time.process_time()
    code, raised = 0, ""
    os.chdir(folder)
    signal.signal(signal.SIGPROF, _over)
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = _called(cli, words)
    except Slow as error:
        raised = "" if str(error) == "simulates" else f"more than {CPU_SECONDS} s of CPU time, at {error}"
    except BaseException:
        raised = traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        os.chdir(before)
    if not raised and time.process_time() - started > 3 * CPU_SECONDS:
        raised = f"{time.process_time() - started:.0f} s of CPU time"
    return code, out.getvalue(), raised


def _called(cli: Any, words: list[str]) -> int:
    import typer

    try:
        return int(cli.app(words, standalone_mode=False) or 0)
    except cli.usage.UsageFault as found:
        return int(cli.usage.explain(found, words))
    except typer.Abort:
        return 130
    except SystemExit as end:
        return int(end.code or 0) if isinstance(end.code, int | None) else 1


def _over(_: int, frame: FrameType | None) -> None:
    stack = traceback.extract_stack(frame)
    simulates = any(Path(place.filename).name in _SIMULATES or place.name == "run_plan" for place in stack[-12:])
    last = next((place for place in reversed(stack) if "flitwork" in place.filename), stack[-1])
    raise Slow("simulates" if simulates else f"{last.filename}:{last.lineno}")


def run_batch(seed: int, first: int, count: int, log: Callable[[str], object]) -> list[str]:
    """Runs cases one after the other, each kind in turn; faults with their names."""
    known, faults = cases(), []
    names = sorted(known)
    # Kinds of commands load much; the first case of each does not count that.
    for number in range(first, first + count):
        name = names[number % len(names)]
        log(f"{seed}/{name}/{number}")
        with tempfile.TemporaryDirectory(prefix="fuzz") as folder:
            found = fault(name, known[name], seed, number, Path(folder))
        if found:
            faults.append(f"{seed}/{name}/{number}: {found}")
    return faults


def _one(text: str) -> int:
    seed, name, number = text.split("/")
    folder = Path(tempfile.mkdtemp(prefix="fuzz-case"))
    found = fault(name, cases()[name], int(seed), int(number), folder)
    print(found or "nothing wrong", f"\nfiles: {folder}")
    return 1 if found else 0


def _in_processes(seconds: float, seed: int) -> int:
    """Batches in processes until the time is over; a process that crashes is a fault of its last case."""
    end, first, faults = time.monotonic() + seconds, 0, {}
    while time.monotonic() < end:
        words = [sys.executable, __file__, "--batch", f"{seed}/{first}/{_BATCH}"]
        with tempfile.TemporaryDirectory() as scratch:
            done = subprocess.run(words, capture_output=True, check=False, cwd=scratch)
        lines = done.stdout.decode(errors="backslashreplace").splitlines() or [""]
        if done.returncode == 0:
            found = json.loads(lines[-1])
        else:
            output = done.stderr.decode(errors="backslashreplace")[-1500:]
            found = [f"{lines[-1]}: the process ended with {done.returncode}\n{output}"]
        for one in found:
            # The same line of code is one fault.
            key = hashlib.sha256(_where(one).encode()).hexdigest()
            if key not in faults:
                faults[key] = one
                print(one, flush=True)
        first += _BATCH
    print(f"{first} cases, {len(faults)} faults")
    return 1 if faults else 0


def _where(text: str) -> str:
    places = [line.strip() for line in text.splitlines() if line.strip().startswith("File ") and "flitwork" in line]
    return places[-1] if places else text.partition(": ")[2][:60]


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="for how long [default: 60]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", help="one case again: SEED/KIND/NUMBER")
    parser.add_argument("--batch", help=argparse.SUPPRESS)
    output = parser.parse_args()
    if output.case:
        return _one(output.case)
    if output.batch:
        seed, first, count = map(int, output.batch.split("/"))
        print(json.dumps(run_batch(seed, first, count, lambda name: print(name, flush=True))))
        return 0
    return _in_processes(output.seconds, output.seed)


if __name__ == "__main__":
    sys.exit(main())
