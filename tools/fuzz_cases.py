"""Commands of flitwork with valid files: what tools/fuzz.py damages."""

from __future__ import annotations

import io
import json
import shlex
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Case:
    """A command, and the files that it reads by their names; ``damaged`` are those that are damaged."""

    words: tuple[str, ...]
    files: Mapping[str, bytes]
    damaged: tuple[str, ...]
    #: Whether an error has to name the file, because nothing else would say where it is.
    named: bool = True
    tags: tuple[str, ...] = field(default=())


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


def _of(write: Callable[[Any], object]) -> bytes:
    into = io.BytesIO()
    write(into)
    return into.getvalue()


STUDY: dict[str, Any] = {
    "study": {"name": "fuzz", "title": "a"},
    "base": {
        "network": {"topology": {"kind": "torus", "size": [3, 3]}, "router": {"vcs": 2, "buffer_flits": 8}},
        "workload": {"kind": "uniform", "offered_load": "${0.1 * N}", "process": {"kind": "bernoulli"}},
        "run": {"warmup_cycles": 20, "measurement_cycles": 50, "max_cycles": 5000},
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
MSCCL = """<algo name="two" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="alltoall" inplace="0">
<gpu id="0" i_chunks="2" o_chunks="2" s_chunks="0">
<tb id="0" send="1" recv="1" chan="0">
<step s="0" type="s" srcbuf="i" srcoff="1" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="1" deps="0" hasdep="0"/>
</tb>
<tb id="1" send="-1" recv="-1" chan="0">
<step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="1"/>
</tb>
</gpu>
<gpu id="1" i_chunks="2" o_chunks="2" s_chunks="0">
<tb id="0" send="0" recv="0" chan="0">
<step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="1" type="r" srcbuf="i" srcoff="1" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="2" type="cpy" srcbuf="i" srcoff="1" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb>
</gpu>
</algo>
"""
_OTHERS = (
    *("bcast", "allreduce", "reduce", "barrier", "gather", "gatherv", "scatter", "scatterv", "alltoallv", "alltoallw"),
    *("allgather", "allgatherv", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"),
)
_ALLTOALL: dict[str, dict[str, dict[str, str]]] = {
    "comm_size<=8": {"algorithm=MPIR_Alltoall_intra_brucks": {}},
    "any": {"algorithm=MPIR_Alltoall_intra_pairwise": {}},
}
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
        {
            "collective=alltoall": {"comm_type=intra": {"is_sendbuf_inplace=no": _ALLTOALL}},
            **{f"collective={name}": {"algorithm=MPIR_x": {}} for name in _OTHERS},
        }
    ),
}
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


def measured() -> pd.DataFrame:
    """Times of two algorithms."""
    rows = [
        ("alltoall", name, size, ranks, factor * (ranks * 1e-6 + size * ranks * 1e-9))
        for name, factor in (("bruck", 1.0), ("pairwise_shift", 1.1))
        for ranks in (4, 8)
        for size in (16, 1024, 65536)
    ]
    return pd.DataFrame(rows, columns=["operation", "algorithm", "bytes", "ranks", "seconds"])


def trace_of_a_program() -> dict[str, bytes]:
    """A recorded program of two ranks: rank 0 sends to rank 1."""
    from flitwork_mpi.native.record_trace import EVENT, FORMAT, KINDS

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
    """All commands with valid files, by a name of what they read."""
    files = _files()
    found = {
        name: _case(command, files, tags, named)
        for name, (command, tags, named) in {**_READERS, **_DESCRIPTIONS, **_WRITTEN}.items()
    }
    for name in RULES:
        command = f"tune check rules-{name} --ranks 4 --bytes 64,8192"
        found[f"rules:{name}"] = _case(command, files, "json" if RULES[name].startswith("{") else "", True)
    recorded = trace_of_a_program()
    words = ("mpi", "record", "--from", "trace", "-o", "out.goal")
    found["recorded"] = Case(words, recorded, tuple(recorded), named=False)
    for number, command in enumerate(_OPTIONS):
        found[f"option:{number}"] = _case(command, files, "option", False)
    return found


_SHORT = "--set warmup_cycles=10 --set measurement_cycles=50 --set max_cycles=5000"
_COLLECTIVE = (
    "simulate collective --size 2x2 --set operation=all_to_all --set algorithm=simple_spread --set max_cycles=5000"
)
#: By name: the command, tags, and whether an error has to name the file, because nothing else would say where it is.
_READERS = {
    **{
        f"{name}:{ending}": (command.replace("FILE", f"{name}.{ending}"), ending, named)
        for name, command, endings, named in (
            ("packets", "simulate trace --size 2x2 --set file=FILE --set max_cycles=5000", "csv parquet npy", True),
            ("operations", "simulate schedule --size 2x2 --set file=FILE", "csv parquet", True),
            (
                "detours",
                _COLLECTIVE + """ --set message_flits=3 --set 'host.noise={kind="file", file="FILE"}'""",
                "csv parquet",
                True,
            ),
            ("weights", f"simulate matrix --size 2x2 --load 0.1 --set file=FILE {_SHORT}", "csv npy", True),
            ("permutation", f"simulate permutation --size 2x2 --load 0.1 --set file=FILE {_SHORT}", "csv npy", True),
            ("sizes", _COLLECTIVE + " --set file=FILE --set units.flit_bytes=8", "csv npy", True),
            ("times", "fit FILE --json", "csv parquet", False),
            ("rows", "tune FILE", "csv parquet", True),
        )
        for ending in endings.split()
    },
    "goal:text": ("run program.goal", "", True),
    "goal:binary": ("run program.bin", "", True),
    "msccl:check": ("msccl program.xml", "", True),
    "msccl:run": ("run program.xml --network network.toml --message-bytes 64", "", True),
    "osu": ("tune --ranks 8 bruck=osu.txt", "", True),
}
_DESCRIPTIONS = {
    "study:run": ("run study.toml --out out -j 1", "toml", False),
    "study:plan": ("plan study.toml", "toml", False),
    "machine:goal": ("run program.goal --network network.toml", "toml", False),
    "machine:tune": ("tune --machine machine.toml --message-bytes 64 --algorithms bruck -j 1", "toml", False),
    "booksim": ("booksim small.cfg", "", False),
}
_WRITTEN = {
    "result:show": ("show result.parquet", "parquet", True),
    "result:explain": ("explain result.parquet", "parquet", True),
    "fits": ("predict fit.json --bytes 64 --ranks 8", "json", True),
}
_OPTIONS = (
    "simulate uniform --size 2x2 --load 0.1 --set router.vcs=2 " + _SHORT,
    _COLLECTIVE + """ --set message_flits=3 --set 'host.placement={kind="block"}'""",
    """bound uniform --size 2x2 --set 'process={kind="bernoulli"}'""",
    "plan a2at --size 2x2 --set run.seed=3 --set sync=local",
    "list topologies",
    "predict fit.json --bytes 64 --ranks 8",
    "fit times.csv --model hockney --ranks 8 --bytes 16,1024 --algorithm bruck",
    "tune rows.csv --ranks 4,8 --tolerance 0.1 --for openmpi",
    "tune check rules-ours --ranks 4 --bytes 64,8192",
    "curve uniform --size 2x2 --loads 0.1,0.2 --out out -j 1 " + _SHORT,
)


def _case(command: str, files: Mapping[str, bytes], tag: str, named: bool) -> Case:
    """A command with those of the files that it names; the last one is damaged."""
    own = [name for name in files if name in command]
    last = (max(own, key=command.index),) if own else ()
    return Case(tuple(shlex.split(command)), {name: files[name] for name in own}, last, named, (tag,))


def _files() -> dict[str, bytes]:
    """Valid files of all readers, by name."""
    packets = {"cycle": [0, 3], "source": [0, 1], "destination": [2, 3], "flits": [4, 1]}
    operations = {
        "rank": [0, 0, 1],
        "operation": ["compute", "send", "receive"],
        "peer": [-1, 1, 0],
        "flits": [0, 5, 5],
    }
    operations |= {"cycles": [10, 0, 0], "tag": [0, 2, 2], "after": ["", "0", ""]}
    tables = {
        "packets": pd.DataFrame(packets),
        "operations": pd.DataFrame(operations),
        "detours": pd.DataFrame({"rank": [0, 1], "start_cycles": [5, 9], "duration_cycles": [3, 2]}),
        "times": measured(),
        "rows": measured(),
    }
    arrays = {
        "packets": np.array([packets[name] for name in packets]).T,
        "weights": 1.0 - np.eye(4),
        "permutation": np.array([[1], [2], [3], [0]]),
        "sizes": np.array([[0, 8, 16, 24], [8, 0, 8, 8], [1, 2, 0, 4], [9, 9, 9, 0]]),
    }
    found = {f"{name}.csv": _text(array) for name, array in arrays.items()}
    found |= {f"{name}.npy": _of(partial(np.save, arr=array)) for name, array in arrays.items()}
    found |= {f"{name}.csv": table.to_csv(index=False).encode() for name, table in tables.items()}
    found |= {f"{name}.parquet": _of(table.to_parquet) for name, table in tables.items()}
    texts = {"program.goal": GOAL, "program.xml": MSCCL, "osu.txt": OSU, "small.cfg": CONFIG}
    texts |= {"study.toml": toml(STUDY), "machine.toml": toml(MACHINE)}
    texts |= {"network.toml": toml({"network": MACHINE["network"]})}
    texts |= {f"rules-{name}": text for name, text in RULES.items()}
    return {**found, **{name: text.encode() for name, text in texts.items()}, **_made_by_commands()}


def _text(array: Any) -> bytes:
    return "\n".join(",".join(map(str, row)) for row in array).encode()


def _made_by_commands() -> dict[str, bytes]:
    """Files that commands write: a result, fits, a program in binary."""
    import flitwork as fw
    from flitwork.fit import fit, save_fits

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        result = fw.simulate(
            fw.Torus(2, 2), fw.all_to_all("a2at", message_flits=3), run=fw.Run(record=fw.Record(packets=True))
        )
        result.save(place / "result.parquet")
        save_fits(fit(measured(), model="hockney", ranks=8, algorithm="bruck"), place / "fit.json")
        fw.Goal(GOAL).write(place / "program.bin", binary=True)
        return {path.name: path.read_bytes() for path in place.iterdir()}
