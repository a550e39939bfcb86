#!/usr/bin/env python3
"""Damages inputs of all commands and looks whether each failure is an error in words.

    python tools/fuzz.py --seconds 300 --seed 7     for so long, from this seed on
    python tools/fuzz.py --case 7/table:csv/123     one case again, as a failure names it; its files are kept

A case is a command with valid files (:data:`CASES`), of which one is damaged: by a key, a type, a number, a line or a cell
where it is a text that is understood, or by bits, pieces and encodings of any file. What must hold: the exit code is one of
those that ``flitwork --help`` names, no traceback, no panic, an error that names the file where the file cannot be read, and
an end within some seconds of CPU time. A long simulation that a damaged file describes is none of a reader's business:
it is stopped without being counted.

Cases run in this process one after the other; ``--seconds`` starts processes of many cases each, so that a crash is seen.
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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd

#: CPU seconds that a case may take; those of its simulation do not count.
CPU_SECONDS = 10
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


@dataclass(frozen=True)
class Case:
    """A command, and the files that it reads by their names; ``damaged`` are those that are damaged."""

    words: tuple[str, ...]
    files: Mapping[str, bytes]
    damaged: tuple[str, ...]
    #: Whether an error has to name the file, because nothing else would say where it is.
    named: bool = True
    tags: tuple[str, ...] = field(default=())


# --- valid files ------------------------------------------------------------------------------------------------------


def _of(write: Callable[[Any], object]) -> bytes:
    into = io.BytesIO()
    write(into)
    return into.getvalue()


STUDY: dict[str, Any] = {
    "study": {"name": "fuzz", "title": "a"},
    "base": {
        "network": {"topology": {"kind": "torus", "size": [3, 3]}, "router": {"vcs": 2, "buffer_flits": 8}},
        "workload": {"kind": "uniform", "offered_load": "${0.1 * N}", "process": {"kind": "bernoulli"}},
        "run": {"warmup_cycles": 20, "measurement_cycles": 50},
    },
    "experiments": [
        {
            "id": "e",
            "set": {"network.nic.ports": 1},
            "grid": {"N": [1, 2], "network.router.buffer_flits": [4]},
            "zip": {"a": [1], "b": [2]},
            "seeds": [1],
            "columns": {"double": "2 * packets"},
            "quick": {"grid": {"N": [1]}},
        },
        {"id": "f", "like": "e", "found": {"load": {"experiment": "e", "column": "packets"}}, "grid": {"N": [1]}},
    ],
    "plots": [{"id": "p", "experiment": "e", "x": "N", "y": "packets", "xlim": [0, 3], "lines": [{"y": 1.0}]}],
}
MACHINE: dict[str, Any] = {
    "network": {
        "topology": {"kind": "torus", "size": [2, 2]},
        "router": {"vcs": 2},
        "units": {"flit_bytes": 16, "cycle_ns": 4},
        "channel": {"latency_ns": 12},
    },
    "host": {"placement": {"kind": "block"}, "send_overhead_ns": 100},
    "run": {"max_cycles": 100_000},
}
GOAL = """num_ranks 2
rank 0 {
l1: calc 100
l2: send 64b to 1 tag 3
l2 requires l1
}
rank 1 {
l1: recv 64b from 0 tag 3
l2: calc 10
l2 requires l1
}
"""
_OTHERS = (
    *("bcast", "allreduce", "reduce", "barrier", "gather", "gatherv", "scatter", "scatterv", "alltoallv", "alltoallw"),
    *("allgather", "allgatherv", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"),
)
_COLLECTIVE = (
    *("simulate", "collective", "--size", "2x2", "--set", "operation=all_to_all", "--set", "algorithm=simple_spread"),
    *("--set", "message_flits=3"),
)
RULES = {
    "ours": "alltoall ranks=1-8 bytes=0-4095 algorithm=bruck radix=2\nalltoall ranks=9- algorithm=pairwise_shift\n",
    "openmpi": "2 # collectives\n3\n1\n4\n2\n0 3 0 0\n4096 2 0 0\n4\n1\n4\n1\n0 2 0 0\n",
    "openmpi6": json.dumps(
        {
            "rule_file_version": 3,
            "module": "tuned",
            "collectives": {
                "alltoall": [
                    {"comm_size_min": 1, "comm_size_max": 8, "rules": [{"msg_size_min": 0, "alg": "pairwise"}]}
                ]
            },
        }
    ),
    "mpich": json.dumps(
        {"collective=alltoall": {"comm_type=intra": {"is_sendbuf_inplace=no": {"comm_size<=8": {"algorithm=MPIR_Alltoall_intra_brucks": {}}, "any": {"algorithm=MPIR_Alltoall_intra_pairwise": {}}}}},
         **{f"collective={name}": {"algorithm=MPIR_x": {}} for name in _OTHERS}}
    ),
}  # fmt: skip
OSU = """# OSU MPI All-to-All Personalized Exchange Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
1                       2.50
1024                    9.75
"""
CONFIG = """// a mesh
topology = mesh; k = 3; n = 2;
routing_function = dor; num_vcs = 2; vc_buf_size = 4;
traffic = uniform; injection_rate = 0.1;
sample_period = 100; warmup_periods = 1; max_samples = 2; sim_count = 1;
traffic = hotspot({0, 1}, {1, 2});
"""


def _measured() -> pd.DataFrame:
    rows = [
        ("alltoall", name, size, ranks, factor * (ranks * 1e-6 + size * ranks * 1e-9))
        for name, factor in (("bruck", 1.0), ("pairwise_shift", 1.1))
        for ranks in (4, 8)
        for size in (16, 1024, 65536)
    ]
    return pd.DataFrame(rows, columns=["operation", "algorithm", "bytes", "ranks", "seconds"])


def _trace_of_a_program() -> dict[str, bytes]:
    """A recorded program of two ranks: rank 0 sends to rank 1."""
    from flitwork.mpi.native.record_trace import EVENT, FORMAT, KINDS, _checked, _mixed

    assert _checked and _mixed
    files = {}
    for rank in range(2):
        rows = [
            {"what": KINDS["START"], "peer": rank, "tag": 2, "bytes": FORMAT},
            {"what": KINDS["COMM"], "words": 2, "tag": 0, "bytes": 2},
            {
                "what": KINDS["SEND" if rank == 0 else "RECV"],
                "peer": 1 - rank,
                "tag": 5,
                "bytes": 64,
                "compute_ns": 100,
            },
            {"what": KINDS["END"]},
        ]
        lists = np.array([0, 1], dtype="<i8")
        events = np.zeros(len(rows), dtype=EVENT)
        for event, row in zip(events, rows, strict=True):
            for name, value in row.items():
                event[name] = value
        with_checksums(events, lists)
        files[f"rank-{rank}.events"], files[f"rank-{rank}.lists"] = events.tobytes(), lists.tobytes()
    return {f"trace/{name}": data for name, data in files.items()}


def with_checksums(events: Any, lists: Any) -> None:
    """Fills in the checksums of records, one by one, as ``mpi/record/trace.c`` does."""
    mask = (1 << 64) - 1

    def mixed(x: int) -> int:
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & mask
        x = (x ^ x >> 27) * 0x94D049BB133111EB & mask
        return x ^ x >> 31

    first = 0
    for place, event in enumerate(events):
        words = np.frombuffer(event.tobytes(), dtype="<u8")[:-1]
        own = lists[first : first + int(event["words"])]
        first += int(event["words"])
        found = place + 1
        for word in words:
            found = mixed(found + int(word) & mask)
        added = sum(mixed((int(word) & mask) + (i + 1) * 0x9E3779B97F4A7C15 & mask) for i, word in enumerate(own))
        events["check"][place] = mixed(found + added & mask)


def cases() -> dict[str, Case]:
    """All commands with valid files."""
    trace = pd.DataFrame({"cycle": [0, 3], "source": [0, 1], "destination": [2, 3], "flits": [4, 1]})
    operations = pd.DataFrame(
        {"rank": [0, 0, 1], "operation": ["compute", "send", "receive"], "peer": [-1, 1, 0], "flits": [0, 5, 5],
         "cycles": [10, 0, 0], "tag": [0, 2, 2], "after": ["", "0", ""]}
    )  # fmt: skip
    detours = pd.DataFrame({"rank": [0, 1], "start_cycles": [5, 9], "duration_cycles": [3, 2]})
    weights = np.array([[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]], dtype=float)
    small = ("--set", "warmup_cycles=10", "--set", "measurement_cycles=50", "--set", "max_cycles=5000")
    found: dict[str, Case] = {}

    def tables(name: str, frame: pd.DataFrame, words: tuple[str, ...]) -> None:
        for ending, data in (("csv", frame.to_csv(index=False).encode()), ("parquet", _of(frame.to_parquet))):
            told = tuple(word.replace("FILE", f"{name}.{ending}") for word in words)
            found[f"{name}:{ending}"] = Case(
                told, {f"{name}.{ending}": data}, (f"{name}.{ending}",), named=name != "times", tags=(ending,)
            )

    tables("packets", trace, ("simulate", "trace", "--size", "2x2", "--set", "file=FILE", "--set", "max_cycles=5000"))
    tables("operations", operations, ("simulate", "schedule", "--size", "2x2", "--set", "file=FILE", "--set", "max_cycles=5000"))  # fmt: skip
    tables("detours", detours, (*_COLLECTIVE, "--set", 'host.noise={kind="file", file="FILE"}'))  # fmt: skip
    tables("times", _measured(), ("fit", "FILE", "--json"))
    tables("rows", _measured(), ("tune", "FILE"))
    for name, array in (("weights", weights), ("permutation", np.array([1, 2, 3, 0]))):
        kind = "matrix" if name == "weights" else "permutation"
        text = "\n".join(",".join(map(str, np.atleast_1d(row))) for row in array)
        for ending, data in (("csv", text.encode()), ("npy", _of(lambda into, array=array: np.save(into, array)))):
            file = f"{name}.{ending}"
            words = ("simulate", kind, "--size", "2x2", "--load", "0.1", "--set", f"file={file}", *small)
            found[f"{name}:{ending}"] = Case(words, {file: data}, (file,), tags=(ending,))
    sizes = {"sizes.csv": b"0,8,16,24\n8,0,8,8\n1,2,0,4\n9,9,9,0\n"}
    found["sizes:csv"] = Case((*_COLLECTIVE[:-2], "--set", "file=sizes.csv", "--set", "units.flit_bytes=8"), sizes, ("sizes.csv",), named=False)  # fmt: skip
    study = {"study.toml": toml(STUDY).encode()}
    for command in (("run", "--out", "out", "-j", "1"), ("plan",)):
        words = (command[0], "study.toml", *command[1:])
        found[f"study:{command[0]}"] = Case(words, study, ("study.toml",), named=False, tags=("toml",))
    machine = {"machine.toml": toml(MACHINE).encode()}
    goal = {"program.goal": GOAL.encode()}
    found["goal:text"] = Case(("run", "program.goal"), goal, ("program.goal",))
    network = {"machine.toml": toml({"network": MACHINE["network"]}).encode()}
    found["machine:goal"] = Case(("run", "program.goal", "--network", "machine.toml"), {**goal, **network}, ("machine.toml",), named=False, tags=("toml",))  # fmt: skip
    found["machine:tune"] = Case(("tune", "--machine", "machine.toml", "--message-bytes", "64", "--algorithms", "bruck", "-j", "1"), machine, ("machine.toml",), named=False, tags=("toml",))  # fmt: skip
    for name, text in RULES.items():
        tags = ("json",) if text.startswith("{") else ()
        found[f"rules:{name}"] = Case(("tune", "check", "rules.txt", "--ranks", "4", "--bytes", "64,8192"), {"rules.txt": text.encode()}, ("rules.txt",), tags=tags)  # fmt: skip
    found["osu"] = Case(("tune", "--ranks", "8", "bruck=osu.txt"), {"osu.txt": OSU.encode()}, ("osu.txt",))
    found["booksim"] = Case(("booksim", "small.cfg"), {"small.cfg": CONFIG.encode()}, ("small.cfg",), named=False)
    trace_files = _trace_of_a_program()
    found["recorded"] = Case(("mpi", "record", "--from", "trace", "-o", "out.goal"), trace_files, tuple(trace_files), named=False)  # fmt: skip
    for name, option in _OPTIONS.items():
        found[f"option:{name}"] = Case(option, {}, (), named=False, tags=("option",))
    return {**found, **_made_by_commands(found)}


_OPTIONS = {
    "set": ("simulate", "uniform", "--size", "2x2", "--load", "0.1", "--set", "measurement_cycles=50", "--set", "warmup_cycles=10", "--set", "router.vcs=2"),
    "host": (*_COLLECTIVE, "--set", 'host.placement={kind="block"}'),
    "curve": ("bound", "uniform", "--size", "2x2", "--set", 'process={kind="bernoulli"}'),
    "list": ("list", "topologies"),
    "plan": ("plan", "a2at", "--size", "2x2", "--set", "run.seed=3", "--set", "sync=local"),
}  # fmt: skip


def _made_by_commands(known: Mapping[str, Case]) -> dict[str, Case]:
    """Files that commands write: a result, fits, a program in binary."""
    import flitwork as fw
    from flitwork.fit import fit, save_fits

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        result = fw.simulate(
            fw.Torus(2, 2), fw.all_to_all("a2at", message_flits=3), run=fw.Run(record=fw.Record(packets=True))
        )
        result.save(place / "r.parquet")
        save_fits(fit(_measured(), model="hockney", ranks=8, algorithm="bruck"), place / "f.json")
        fw.read_goal(_written(place / "p.goal", known["goal:text"].files["program.goal"])).write(
            place / "p.bin", binary=True
        )
        files = {name: (place / name).read_bytes() for name in ("r.parquet", "f.json", "p.bin")}
    one = {"result.parquet": files["r.parquet"]}
    return {
        "result:show": Case(("show", "result.parquet"), one, ("result.parquet",), tags=("parquet",)),
        "result:explain": Case(("explain", "result.parquet"), one, ("result.parquet",), tags=("parquet",)),
        "fits": Case(
            ("predict", "fit.json", "--bytes", "64", "--ranks", "8"),
            {"fit.json": files["f.json"]},
            ("fit.json",),
            tags=("json",),
        ),  # fmt: skip
        "goal:binary": Case(("run", "program.bin"), {"program.bin": files["p.bin"]}, ("program.bin",)),
    }


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


# --- damage -----------------------------------------------------------------------------------------------------------


def toml(tables: Mapping[str, Any]) -> str:
    """A document with tables inline, so that any tree can be written."""
    return "".join(f"{_key(name)} = {_inline(value)}\n" for name, value in tables.items())


def _key(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else json.dumps(name)


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(str(name))} = {_inline(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, float):
        return {float("inf"): "inf"}.get(value, "nan" if value != value else repr(value))
    return (
        json.dumps(value)
        if not isinstance(value, int) or isinstance(value, bool)
        else "9" * 400
        if value > 2**70
        else str(value)
    )


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


def _replaced(path: Path, draw: random.Random) -> None:
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


# --- running ----------------------------------------------------------------------------------------------------------


def prepared(case: Case, draw: random.Random, folder: Path) -> tuple[list[str], str]:
    """The command with its damaged files in ``folder``, and which of them is damaged."""
    if "option" in case.tags:
        return _damaged_options(case.words, draw), ""
    which = draw.choice(case.damaged)
    words = list(case.words)
    for name, data in case.files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(_damaged(data, case, draw) if name == which else data)
    if draw.random() < 0.03:
        _replaced(folder / which, draw)
    if draw.random() < 0.03 and "/" not in which:
        other = os.fsdecode(b"\xff\xe9 n" + os.fsencode(Path(which).suffix))
        (folder / which).rename(folder / other)
        words, which = [word.replace(which, other) for word in words], ""
    return words, which


def _damaged(data: bytes, case: Case, draw: random.Random) -> bytes:
    if draw.random() < 0.6:
        with contextlib.suppress(ValueError, RecursionError):
            if "toml" in case.tags:
                from flitwork.gate import tomllib

                return toml(damaged_tree(tomllib.loads(data.decode()), draw)).encode()
            if "json" in case.tags:
                return json.dumps(damaged_tree(json.loads(data), draw)).encode()
    is_text = b"\x00" not in data and data.isascii()
    return damaged_text(data, draw) if is_text and draw.random() < 0.7 else damaged_bytes(data, draw)


def fault(name: str, case: Case, seed: int, number: int, folder: Path) -> str | None:
    """Runs a case; what is wrong with how it ended, or nothing."""
    draw = random.Random(f"{seed}/{name}/{number}")
    words, which = prepared(case, draw, folder)
    code, told, raised = _run(words, folder)
    shown = f"$ flitwork {' '.join(map(ascii, words))}\n{told[-1500:]}"
    if raised:
        return f"{raised}\n{shown}"
    if code not in _CODES:
        return f"exit code {code}\n{shown}"
    if "Traceback" in told or "panicked" in told:
        return f"a traceback, or a panic\n{shown}"
    if code and "error" not in told.lower() and "usage" not in told.lower():
        return f"exit code {code} without an error\n{shown}"
    if code == 2 and case.named and which and Path(which).stem not in told.replace("\n", ""):
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
    simulates = any(Path(place.filename).name in _SIMULATES for place in stack[-12:])
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
            done = subprocess.run(words, capture_output=True, check=False, cwd=scratch, errors="backslashreplace", text=True)  # fmt: skip
        lines = done.stdout.splitlines()
        found = json.loads(lines[-1]) if done.returncode == 0 and lines else [
            f"{lines[-1] if lines else first}: the process ended with {done.returncode}\n{done.stderr[-1500:]}"
        ]  # fmt: skip
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="for how long [default: 60]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", help="one case again: SEED/KIND/NUMBER")
    parser.add_argument("--batch", help=argparse.SUPPRESS)
    told = parser.parse_args()
    if told.case:
        return _one(told.case)
    if told.batch:
        seed, first, count = map(int, told.batch.split("/"))
        print(json.dumps(run_batch(seed, first, count, lambda name: print(name, flush=True))))
        return 0
    return _in_processes(told.seconds, told.seed)


if __name__ == "__main__":
    sys.exit(main())
