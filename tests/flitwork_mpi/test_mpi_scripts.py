"""``flitwork mpi simulate``: unmodified scripts, what they print, and how they end."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flitwork as fw
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "mpi"
Simulate = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def simulate(tmp_path: Path) -> Simulate:
    """Runs a script, given as text or by its path, on so many ranks."""

    def run(script: str | Path, *arguments: str, ranks: int | None = 3, options: tuple[str, ...] = ("-q",)) -> object:
        path = script if isinstance(script, Path) else tmp_path / "script.py"
        if isinstance(script, str):
            path.write_text(script, encoding="utf-8")
        many = ["-n", str(ranks)] if ranks else []
        command = [sys.executable, "-m", "flitwork", "mpi", "simulate", *many, *options, str(path)]
        return subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=60, cwd=tmp_path)

    return run  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("name", "ranks", "expected"),
    [
        ("ring", 5, "5 names"),
        ("pi", 4, "pi is about 3.14159"),
        ("transpose", 6, "24 x 24 transposed"),
        ("halo", 6, "3 x 2 ranks, 5 steps: heat 960.000000"),
        ("workers", 4, "12 results, their sum is 506"),
    ],
)
def test_the_examples_run(simulate: Simulate, name: str, ranks: int, expected: str) -> None:
    done = simulate(EXAMPLES / f"{name}.py", ranks=ranks)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[0] ") and expected in done.stdout


def test_each_rank_has_its_own_globals_modules_arguments_and_random_numbers(simulate: Simulate, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(
        "from mpi4py import MPI\nrank = MPI.COMM_WORLD.rank\ncount = 0\n"
        "def bump():\n    global count\n    count += 1\n    return rank, count\n"
    )
    done = simulate(
        "import sys, random, pickle, mpi4py\n"
        "import numpy as np\n"
        "mpi4py.rc.initialize = False\n"
        "from mpi4py import MPI\n"
        "import helper\n"
        "class Thing:\n    pass\n"
        "comm = MPI.COMM_WORLD\n"
        "random.seed(5); np.random.seed(6)\n"
        "sys.argv.append(str(comm.rank))\n"
        "comm.barrier()\n"
        "seen = comm.allgather((helper.bump(), random.random(), np.random.rand(), sys.argv[1:], Thing()))\n"
        "assert all(isinstance(one[4], Thing) for one in seen) and __name__ == '__main__'\n"
        "assert len({one[1] for one in seen}) == len({one[2] for one in seen}) == 1\n"
        "if comm.rank == 0: print([one[0] for one in seen], [one[3] for one in seen], end='')\n"
        "sys.stderr.write('to stderr')\n",
        "a", "--b",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    own = "[(0, 1), (1, 1), (2, 1)]"
    assert done.stdout == f"[0] {own} [['a', '--b', '0'], ['a', '--b', '1'], ['a', '--b', '2']]\n"
    assert sorted(done.stderr.splitlines()) == [f"[{rank}] to stderr" for rank in range(3)]


def test_each_rank_has_its_own_streams_log_and_folder(simulate: Simulate, tmp_path: Path) -> None:
    done = simulate(
        "import contextlib, io, logging, os, sys\n"
        "from mpi4py import MPI\n"
        "comm = MPI.COMM_WORLD\n"
        "logging.basicConfig(format=f'of {comm.rank}: %(message)s', stream=sys.stdout)\n"
        "text = io.StringIO()\n"
        "with contextlib.redirect_stdout(text):\n"
        "    print('kept', comm.rank)\n"
        "    comm.barrier()\n"
        "    print('kept', comm.rank)\n"
        "assert text.getvalue() == 2 * f'kept {comm.rank}\\n'\n"
        "if comm.rank:\n"
        "    os.mkdir(f'of{comm.rank}')\n"
        "    os.chdir(f'of{comm.rank}')\n"
        "    sys.stdout = open('out', 'w')\n"
        "comm.barrier()\n"
        "logging.warning('said')\n"
        "print(os.path.basename(os.getcwd()), flush=True)\n"
        "sys.exit(len(logging.getLogger().handlers) - 1)\n"
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = [f"[{rank}] of {rank}: said" for rank in range(3)]
    assert sorted(done.stdout.splitlines()) == sorted([f"[0] {tmp_path.name}", *said])
    assert [(tmp_path / f"of{rank}" / "out").read_text() for rank in (1, 2)] == ["of1\n", "of2\n"]


def test_what_a_rank_registers_for_its_exit_it_calls_at_its_end(simulate: Simulate) -> None:
    done = simulate(
        "import atexit, sys\n"
        "from mpi4py import MPI\n"
        "comm = MPI.COMM_WORLD\n"
        "def last(word):\n    print(word, comm.allreduce(comm.rank), flush=True)\n"
        "atexit.register(last, 'last')\n"
        "atexit.register(print, 'never')\n"
        "atexit.unregister(print)\n"
        "@atexit.register\ndef first():\n    print('first')\n    1 / (comm.rank - 1)\n"
        "sys.exit(3 * (comm.rank == 2))\n"
    )
    assert done.returncode == 3
    lines = done.stdout.splitlines()
    for rank in range(3):
        assert [line for line in lines if line[1] == str(rank)] == [f"[{rank}] first", f"[{rank}] last 3"]
    assert done.stderr.count("Exception ignored in atexit callback: <function first") == 1
    assert "[1] ZeroDivisionError" in done.stderr and "own.py" not in done.stderr


def test_pools_of_libraries_send_their_workers_home_at_exit(simulate: Simulate, tmp_path_factory: Any) -> None:
    library = tmp_path_factory.mktemp("library")
    (library / "pools.py").write_text(
        "import atexit, sys\n"
        "from mpi4py import MPI\n"
        "atexit.register(print, 'of all ranks')\n"
        "def close():\n"
        "    for worker in range(1, MPI.COMM_WORLD.size):\n        MPI.COMM_WORLD.send(None, worker)\n"
        "def begin():\n"
        "    if MPI.COMM_WORLD.rank == 0:\n        atexit.register(close)\n        return\n"
        "    while MPI.COMM_WORLD.recv(source=0) is not None:\n        pass\n"
        "    sys.exit()\n"
    )
    script = f"import sys\nsys.path.append({str(library)!r})\nimport pools\npools.begin()\n"
    done = simulate(script)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "of all ranks\n")
    # Who gets what is sent at exit may have ended before; what was sent earlier is still missed.
    assert simulate(f"{script}pools.close()\n").returncode == 0
    done = simulate(f"{script}pools.close()\nMPI = pools.MPI\nMPI.COMM_WORLD.send('lost', 2)\n")
    assert done.returncode == 1 and done.stderr.count("a message of") == 1
    assert "a message of rank 0 to rank 2" in done.stderr


def test_the_table_and_json(simulate: Simulate) -> None:
    done = simulate(EXAMPLES / "pi.py", ranks=4, options=("--size", "2x3", "--set", "vcs=4"))
    assert "4 ranks on Torus(2, 3, vcs=4): complete" in done.stdout and "time_ns" in done.stdout
    found = json.loads(simulate("import mpi4py.MPI", options=("--json",)).stdout)
    assert (found["ranks"], found["messages"], found["finish_ns"]) == (3, 0, [0, 0, 0])


def test_what_took_so_long_and_the_stored_result(simulate: Simulate, tmp_path: Path) -> None:
    (tmp_path / "net.toml").write_text('network.topology = { kind = "torus", size = [2, 2] }\nrun.max_cycles = 9999\n')
    text = "from mpi4py import MPI\nMPI.COMM_WORLD.alltoall(list(range(4)))\n"
    options = ("--network", "net.toml", "--explain", "--save", "run.parquet", "--json")
    found = json.loads(simulate(text, ranks=4, options=options).stdout)
    stored = fw.Result.load(tmp_path / "run.parquet")
    assert stored.spec["run"]["max_cycles"] == 9999 and stored.spec["run"]["record"]["waits"]
    causes = found["explanation"]["causes"]
    assert sum(row["cycles"] for row in causes) == found["explanation"]["completion_cycles"]
    assert fw.explain(stored).to_dict() == found["explanation"]
    assert "a file .parquet" in simulate(text, options=("--save", "run.txt")).stderr


def test_networks_from_files(simulate: Simulate, tmp_path: Path) -> None:
    script = "from mpi4py import MPI\nprint(MPI.Get_processor_name(), MPI.Wtick())"
    (tmp_path / "net.toml").write_text(
        'network = { topology = { kind = "mesh", size = [2, 2] }, units = { cycle_ns = 4, flit_bytes = 8 } }\n'
        "host = { ranks_per_terminal = 2 }\nrun = { max_cycles = 1000 }\n"
    )
    done = simulate(script, options=("-q", "--network", "net.toml"))
    assert done.stdout.splitlines() == [f"[{rank}] terminal-{rank // 2} 4e-09" for rank in range(3)], done.stderr
    (tmp_path / "net.toml").write_text("netwrk = 1")
    done = simulate(script, options=("--network", "net.toml"))
    assert done.returncode == 2 and "netwrk" in done.stderr and "did you mean" in done.stderr


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        (
            "if comm.rank == 1: 1 / 0\ncomm.barrier()",
            1,
            ["[1] ZeroDivisionError", 'script.py", line 3', "rank 1: Zero"],
        ),
        ("import sys; comm.barrier(); sys.exit(0)", 0, []),
        ("import sys; comm.barrier(); sys.exit(5 * (comm.rank == 2))", 5, ["rank 2 ended with exit code 5"]),
        ("import sys; sys.exit('no luck')", 1, ["[0] no luck", "rank 0 ended with exit code 1"]),
        ("comm.Abort(9) if comm.rank == 0 else comm.barrier()", 9, ["rank 0 called Abort(9)"]),
        ("comm.rank == 2 and exit(7)\ncomm.recv(source=2)", 1, ["rank 2 has ended with exit code 7"]),
        (
            "import os\nif comm.rank == 1:\n    try: os._exit(4)\n    except BaseException: print('on')\ncomm.barrier()",
            4,
            ["rank 1 ended with exit status 4 by os._exit at", "script.py:5, without MPI.Finalize: the run ends"],
        ),
        (
            "import os; 0 == os.fork() and os._exit(6); os.wait(); MPI.Finalize(); os._exit(comm.rank)",
            1,
            ["rank 2 ended with exit code 2"],
        ),
        ("comm.recv(source=0)", 1, ["3 of 3 ranks cannot go on", "script.py:3: waits for a message from rank 0"]),
        ("comm.isend('x', dest=0, tag=8)", 1, ["a message of rank 1 to rank 0, tag 8", "sent at", "script.py:3"]),
        ("comm.irecv(source=0, tag=8)", 0, ["a receive of rank 2 from rank 0, tag 8, posted at", "script.py:3"]),
        (
            "data = bytearray(4)\ncomm.Bcast(data, root=0) if comm.rank == 0 else None",
            1,
            ["a message of rank 0 to rank 1, in Bcast, 4 bytes, sent at", "script.py:4"],
        ),
        ("MPI.File.Open(comm, 'x')", 1, ["MPI_ERR_NO_SUCH_FILE", "/x'"]),
        (
            "MPI.Session.Init()",
            1,
            ["MPI.Session.Init is not supported by the simulated communicator: MPI.COMM_WORLD is"],
        ),
        ("comm.Spawn('x')", 1, ["MPI.Comm.Spawn is not supported", "all ranks begin together (their number: -n"]),
        ("from mpi4py import futures", 1, ["mpi4py.futures is not supported", "ask one of them for tasks"]),
        ("import mpi4py; mpi4py.rc(finalise=False)", 1, ["mpi4py.rc has no option 'finalise'"]),
        ("from mpi4py.util import pool", 1, ["pool"]),
        ("import mpi4py.util.sync", 1, ["mpi4py.util.sync is not supported by the simulated communicator"]),
        (
            "from mpi4py.util import pkl5\ncomm = pkl5.Intracomm(comm)\ncomm.sendrecv(b'x' * 2**20, 0, source=MPI.ANY_SOURCE)"
            " if comm.rank == 0 else None",
            0,
            [],
        ),
        ("from mpi4py.util import dtlib\ndtlib.from_numpy_dtype('d').Commit().Free()", 0, []),
    ],
)
def test_how_scripts_end(simulate: Simulate, script: str, code: int, said: list[str]) -> None:
    done = simulate(f"from mpi4py import MPI\ncomm = MPI.COMM_WORLD\n{script}\n")
    assert done.returncode == code, done.stderr
    assert all(one in done.stderr for one in said), done.stderr


@pytest.mark.parametrize(
    ("placement", "ranks"),
    [
        ('kind = "counts", ranks = [5, 2, 1]', 8),
        ('kind = "list", terminals = [2, 0, 1]', 3),
        ('kind = "block"', 4),
    ],
)
def test_a_file_that_places_ranks_says_how_many(simulate: Simulate, tmp_path: Path, placement: str, ranks: int) -> None:
    file = tmp_path / "machine.toml"
    host = f"[host]\nplacement = {{ {placement} }}\n"
    topology = '{ kind = "crossbar", terminals = 3 }' if ranks != 4 else '{ kind = "torus", size = [2, 2] }'
    file.write_text(f"[network]\ntopology = {topology}\n{host}")
    count = "from mpi4py import MPI\nMPI.COMM_WORLD.rank or print(MPI.COMM_WORLD.size)"
    done = simulate(count, ranks=None, options=("-q", "--network", str(file)))
    assert done.stdout == f"[0] {ranks}\n", done.stderr


def test_the_run_of_a_file_is_written_as_in_a_study(simulate: Simulate, tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    topology = '[network.topology]\nkind = "torus"\nsize = [2, 2]\n'
    file.write_text(f'{topology}[run]\nkernel = "flit"\nrecord = {{ waits = true }}\nmax_cycles = 900\n')
    send = "from mpi4py import MPI\nMPI.COMM_WORLD.bcast(1)\n"
    done = simulate(send, ranks=2, options=("--explain", "--json", "--network", str(file)))
    assert json.loads(done.stdout)["kernel"] == "flit", done.stderr
    done = simulate(f"{send}import time; time.sleep(1e-6)", ranks=2, options=("-q", "--network", str(file)))
    assert "not complete after 900 cycles" in done.stderr
    file.write_text(f"{topology}[run]\nrecord = {{ wait = true }}\n")
    assert "did you mean waits?" in simulate(send, ranks=2, options=("-q", "--network", str(file))).stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-n", "9", "--size", "2x2", "x.py"], "at most 4 on this network"),
        (["-n", "2", "nothing.py"], "a Python file that can be read"),
        (["-n", "2", "--algorithm", "bcast=binomail", "x.py"], "did you mean `binomial`"),
        (["-n", "2", "--network", "none.toml", "x.py"], "a TOML file that can be read"),
        (["-n", "2", "broken.py"], "a Python file"),
    ],
)
def test_what_cannot_be_run_is_said(tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "x.py").write_text("")
    (tmp_path / "broken.py").write_text("def")
    command = [sys.executable, "-m", "flitwork", "mpi", "simulate", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 2 and said in done.stderr, done.stderr


def test_the_command_says_that_files_take_no_time(simulate: Simulate, tmp_path: Path) -> None:
    script = f"""
from mpi4py import MPI
file = MPI.File.Open(MPI.COMM_WORLD, {str(tmp_path / "x")!r}, MPI.MODE_CREATE | MPI.MODE_WRONLY)
file.Write_ordered(b"1234")
file.Close()
"""
    done = simulate(script, options=())
    assert done.returncode == 0, done.stderr
    assert "MPI.File: 12 bytes read and written; that takes no simulated time" in done.stdout
