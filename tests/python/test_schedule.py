"""Schedules written in Python: a workload like any other, stored, read again, refused where they make no sense."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import flitwork as fw
import pandas as pd
import pytest
from common import Cli


def shift(rank: int, ranks: int) -> Iterator[Any]:
    """All-to-all, a shift a step."""
    for step in range(1, ranks):
        yield fw.Receive((rank - step) % ranks, flits=100), fw.Send((rank + step) % ranks, flits=100)


def at_once(rank: int, ranks: int) -> Iterator[Any]:
    """The same, all posted at once and nothing waited for."""
    for step in range(1, ranks):
        yield fw.Receive((rank - step) % ranks, flits=100), fw.Send((rank + step) % ranks, flits=100)


def test_a_schedule_from_python_is_the_builtin_one() -> None:
    torus = fw.Torus(4, 4)
    ours, known = (fw.simulate(torus, w) for w in (fw.Schedule.of(at_once, 16, blocking=False), fw.all_to_all("a2a")))
    assert ours.digest == known.digest
    bounds = [fw.bound(torus, w) for w in (fw.Schedule.of(at_once, 16, blocking=False), fw.all_to_all("a2a"))]
    assert bounds[0] == bounds[1]


def test_steps_block_where_they_are_told_to() -> None:
    torus = fw.Torus(8)
    # By hand: a message of 4 flits over one hop is complete in its 6th cycle; nobody sends again before.
    once = fw.Schedule.of(lambda r, n: [(fw.Receive((r - 1) % n, flits=4), fw.Send((r + 1) % n, flits=4))], 8)
    twice = fw.Schedule.of(lambda r, n: [(fw.Receive((r - 1) % n, flits=4), fw.Send((r + 1) % n, flits=4))] * 2, 8)
    one, two = (fw.simulate(torus, s).completion_cycles for s in (once, twice))
    assert two == 2 * one
    rows = fw.Schedule.of(lambda r, n: [[fw.Compute(3)], [fw.Compute(4, after=[0])]], 1).table()
    assert [*rows["operation"]] == ["compute", "wait", "compute"]
    assert [*rows["after"]] == ["", "0", "0"]


def test_dependencies_count_what_the_program_gives() -> None:
    def program(rank: int, ranks: int) -> Iterator[Any]:
        yield fw.Compute(5)
        yield fw.Compute(6), fw.Send(0, flits=1, after=[0, 1])
        yield fw.Receive(0, flits=1)

    rows = fw.Schedule.of(program, 1).table()
    assert [*rows["after"]] == ["", "0", "", "0 2", "2 3", ""]
    assert [*rows["step"]] == [0, 0, 0, 1, 0, 2]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_schedule_survives_its_file(tmp_path: Path, ending: str) -> None:
    units = fw.Units(flit_bytes=16, cycle_ns=2)
    programs: list[list[Any]] = [
        [fw.Send(1, bytes=100, tag=3, step=2), fw.Compute(ns=7), fw.Wait([0, 1])],
        [fw.Receive(None, bytes=100, tag=None, step=2)],
    ]
    given = fw.Schedule(programs, name="two")
    again = fw.Schedule.read(given.save(tmp_path / f"two.{ending}"))
    pd.testing.assert_frame_equal(again.table(), given.table())
    assert (again.name, again.ranks) == ("two", 2)
    results = [fw.simulate(fw.Torus(4, units=units), w) for w in (given, again)]
    assert results[0].digest == results[1].digest
    # 100 bytes are 7 flits.
    assert results[0].row["flit_hops"] == 14


def test_a_file_runs_from_the_command_line(cli: Cli, tmp_path: Path) -> None:
    file = fw.Schedule.of(shift, 16).save(tmp_path / "shift.csv")
    out = cli("simulate", "schedule", "--size", "4x4", "--set", f"file={file}", "--json")
    assert out.returncode == 0, out.stderr
    assert '"workload": "shift"' in out.stdout


def test_results_and_sweeps_keep_it(tmp_path: Path) -> None:
    work = fw.Schedule.of(shift, 16, name="mine")
    result = fw.simulate(fw.Torus(4, 4), work)
    again = fw.load(result.save(tmp_path / "r.parquet"))
    assert again.digest == result.digest
    table = fw.sweep(lambda n: (fw.Torus(n, n), fw.Schedule.of(shift, n * n)), n=[2, 3])
    assert [*table["workload"]] == ["shift", "shift"]


def test_what_cannot_finish_is_named() -> None:
    waits = fw.Schedule.of(lambda r, n: [[fw.Receive((r + 1) % n, flits=1)], [fw.Send((r - 1) % n, flits=1)]], 4)
    for run in (waits.check, lambda: fw.simulate(fw.Torus(4), waits)):
        with pytest.raises(fw.ScheduleError, match=r"4 of 4 ranks cannot finish"):
            run()
    lost = fw.Schedule([[fw.Send(1, flits=1)], []])
    for run in (lost.check, lambda: fw.simulate(fw.Torus(4), lost)):
        with pytest.raises(fw.ScheduleError, match=r"rank 0 operation 0 .* has no receive"):
            run()


@pytest.mark.parametrize(
    ("programs", "error", "words"),
    [
        ([], fw.ConfigError, "programs = nothing"),
        (3, fw.ConfigError, "programs = 3"),
        ([[fw.Send(5, flits=1)]], fw.ScheduleError, "names rank 5 of 1"),
        ([[fw.Send(0, flits=0)]], fw.ConfigError, r"programs\[0\]\[0\].flits = 0"),
        ([[fw.Send(0, flits=1, after=[7])]], fw.ScheduleError, "depends on operation 7"),
        ([[fw.Wait([0])]], fw.ScheduleError, "depends on operation 0"),
        ([[fw.Send(0, flits=1), fw.Receive(0, bytes=1)]], fw.ConfigError, r"programs\[0\]\[1\].bytes = 1"),
        ([[fw.Compute(1), fw.Compute(ns=1)]], fw.ConfigError, r"programs\[0\]\[1\].ns = 1"),
        ([[fw.Send(0, flits=1, step=-1)]], fw.ConfigError, r"programs\[0\]\[0\].step = -1"),
        ([["send"]], fw.ConfigError, r"programs\[0\]\[0\] = 'send'"),
    ],
)
def test_what_makes_no_sense_is_refused(programs: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        fw.Schedule(programs)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"rank": [0]}, "no column operation"),
        ({"rank": [0], "operation": ["sends"]}, r"table\[0\].operation = sends"),
        ({"rank": [0, 0.5], "operation": ["wait", "wait"]}, r"table\[1\].rank = 0.5"),
        ({"rank": [0], "operation": ["send"], "peer": [0]}, r"table\[0\].flits = nothing"),
        ({"rank": [0], "operation": ["send"], "flits": [1]}, r"table\[0\].peer = any"),
        ({"rank": [0], "operation": ["wait"], "flits": [1], "bytes": [1]}, "columns flits and bytes"),
        ({"rank": [0], "operation": ["wait"], "after": ["x"]}, r"table\[0\].after = .*x"),
        ({"rank": [0], "operation": ["wait"], "pear": [1]}, "did you mean `peer`"),
        ({"rank": [10**9], "operation": ["wait"]}, "1,000,000,001 ranks"),
        ({"rank": [], "operation": []}, "0 rows"),
    ],
)
def test_tables_that_make_no_sense_are_refused(columns: Any, words: str) -> None:
    with pytest.raises(fw.ConfigError, match=words):
        fw.Schedule.from_table(columns)


def test_what_does_not_fit_the_network_is_refused() -> None:
    work = fw.Schedule.of(shift, 16)
    with pytest.raises(fw.ConfigError, match=r"workload.schedule = 16 ranks: expected 1 to 4 ranks"):
        fw.simulate(fw.Torus(2, 2), work)
    assert fw.simulate(fw.Torus(2, 2), work, host=fw.Host(ranks_per_terminal=4)).status == "complete"
    with pytest.raises(fw.ConfigError, match=r"network.units.flit_bytes"):
        fw.simulate(fw.Torus(4), fw.Schedule([[fw.Send(0, bytes=8), fw.Receive(0, bytes=8)]]))
    small = fw.Torus(4, 4, router=fw.Router(switching="virtual_cut_through", buffer_flits=20))
    with pytest.raises(fw.ConfigError, match=r"a message of 100 flits.*packet_flits, at most 20"):
        fw.simulate(small, work)
    with pytest.raises(fw.ConfigError, match=r"background"):
        fw.simulate(fw.Torus(4, 4), fw.all_to_all(), background=work)
