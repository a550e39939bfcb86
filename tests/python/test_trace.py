"""Traces from files and from memory: what they become, what they are bounded by, and what is wrong with those that are none."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import flitwork as fw
import numpy as np
import pandas as pd
import pytest
from common import Cli
from flitwork import _core
from flitwork.base import input_files
from flitwork.experiment import Point, load_study, plan_study
from flitwork.experiment.jobs import plan_points
from flitwork.planning.specification import plan_of, simulation

NET = fw.Torus(2, 2, vcs=2)
ROWS = [(0, 0, 1, 4), (0, 1, 3, 2), (5, 0, 2, 16), (90, 3, 3, 1)]
NAMES = ["cycle", "source", "destination", "flits"]
TABLE = pd.DataFrame(ROWS, columns=NAMES)


def planned(work: fw.Workload, network: fw.Network = NET) -> _core.Plan:
    return plan_of(simulation(network, work))


def written(folder: Path) -> dict[str, Path]:
    TABLE.to_csv(folder / "t.csv", index=False)
    TABLE[NAMES[::-1]].assign(comment="x").to_csv(folder / "more.csv", index=False)
    TABLE.to_parquet(folder / "t.parquet")
    np.save(folder / "rows.npy", np.array(ROWS, dtype=np.uint32))
    np.save(folder / "named.npy", TABLE.to_records(index=False))
    return {name: folder / name for name in ("t.csv", "more.csv", "t.parquet", "rows.npy", "named.npy")}


def test_a_trace_is_the_same_wherever_it_comes_from(tmp_path: Path) -> None:
    works = [fw.trace(TABLE), fw.trace(ROWS), fw.trace(np.array(ROWS)), fw.trace(np.array(ROWS, dtype=float))]
    works += [fw.trace(TABLE.to_dict("list")), fw.trace(TABLE.to_records(index=False)), fw.trace(TABLE.astype("Int32"))]
    works += [fw.trace(path) for path in written(tmp_path).values()]
    (tmp_path / "T.CSV").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "t.csv").read_bytes() + b"\n\n")
    works += [fw.trace(tmp_path / "T.CSV"), fw.trace(TABLE.map(Decimal))]
    assert {planned(work).hash for work in works} == {planned(works[0]).hash}
    found = json.loads(planned(works[-1]).json)["spec"]["workload"]
    assert set(found) == {"kind", "packets"} and found["packets"]["rows"] == 4


def test_packets_are_created_when_the_trace_says() -> None:
    result = fw.simulate(NET, fw.trace(TABLE), packets=True, delivery_window_cycles=10)
    packets = result.packets.sort_values(["created_cycle", "src"])
    assert packets[["created_cycle", "src", "dst", "flits"]].to_numpy().tolist() == [list(row) for row in ROWS]
    assert result.runs_to_completion and not result.has_schedule and result.row["workload"] == "trace"
    assert result.completion_cycles == packets["arrived_cycle"].max() >= result.bound.tightest_cycles == 91
    # Terminal 0 sends its second packet behind the first.
    second = packets.iloc[2]
    assert second["injected_cycle"] == 5 and second["packet_latency_cycles"] > 16
    assert result.deliveries["packets"].sum() == 4 and result.deliveries["flits"].iloc[-1] == 1


def test_a_trace_starts_behind_the_warm_up_of_a_background() -> None:
    beside = fw.uniform(offered_load=0.1, packet_flits=2)
    result = fw.simulate(NET, fw.trace(TABLE), background=beside, warmup_cycles=300, packets=True)
    own = result.packets[~result.packets["background"]]
    assert sorted(own["created_cycle"]) == [300, 300, 305, 390] and result.start_cycle == 300
    assert result.row["packets"] == 4 and result.background["packets"] > 0
    assert own["arrived_cycle"].max() - 300 == result.completion_cycles


def test_a_terminal_waits_for_its_earlier_packets() -> None:
    line = fw.Mesh(3)
    result = fw.simulate(line, fw.trace([(0, 0, 1, 100), (1, 0, 2, 1)]), packets=True)
    assert result.packets["injected_cycle"].tolist() == [0, 100]
    assert result.bound.injection_cycles == 101


def test_the_bound_of_a_trace_is_what_it_needs() -> None:
    line = fw.Mesh(4)
    bound = fw.bound(line, fw.trace([(0, 0, 3, 10), (0, 1, 3, 7), (0, 2, 0, 5)]))
    assert (bound.channel_load_cycles, bound.ejection_cycles, bound.injection_cycles) == (17, 17, 10)
    ring = fw.Torus(4, tie="split", vcs=2)
    # Of packets of 5 flits half-way round 3 go to plus and 2 to minus; one of 1 flit goes to plus.
    assert fw.bound(ring, fw.trace([(0, 0, 2, 5), (0, 0, 2, 1)])).channel_load_cycles == 4
    # Where ties are drawn, the bound is that of the draw: both go one way, or each goes its own.
    drawn = [fw.simulate(ring.replace(tie="random"), fw.trace([(0, 0, 2, 5), (0, 0, 2, 1)]), seed=i) for i in range(9)]
    assert {run.bound.channel_load_cycles for run in drawn} == {5, 6}
    assert all(run.completion_cycles >= run.bound.tightest_cycles for run in drawn)
    assert fw.bound(ring, fw.trace([(1000, 0, 2, 5)])).tightest_cycles == 1005


_ADAPTIVE = {"routing": "duato", "vcs": 4, "switching": "virtual_cut_through", "buffer_flits": 16}


@pytest.mark.parametrize("options", [{}, {"tie": "split"}, _ADAPTIVE, {"ports": 2}])
def test_no_trace_beats_its_bound(options: Any) -> None:
    rng = np.random.default_rng(3)
    n = 3000
    table = {
        "cycle": np.sort(rng.integers(0, 200, n)),
        "source": rng.integers(0, 32, n),
        "destination": rng.integers(0, 32, n),
        "flits": rng.integers(1, 12, n),
    }
    network = fw.Torus(4, 4, terminals_per_router=2, **{"vcs": 2, **options})
    result = fw.simulate(network, fw.trace(table))
    assert 0.3 < result.bound.tightest_cycles / result.completion_cycles <= 1, result.bound


def test_a_study_and_the_command_line_take_a_trace(cli: Cli, tmp_path: Path) -> None:
    written(tmp_path)
    example = Path(__file__).parents[2] / "examples" / "halo_trace.toml"
    jobs = plan_study(load_study(example), quick=True)
    assert len(jobs) == 6 and len({id(job.spec.tables[0]) for job in jobs}) == 1
    assert jobs[0].work == json.loads(jobs[0].plan().json)["described"]["estimated_work_flit_hops"] > 192
    at = ("--size", "2x2", "--json", "--set", "file=t.parquet")
    found = cli("simulate", "trace", *at)
    assert found.returncode == 0 and json.loads(found.stdout)["packets"] == 4, found.stderr
    assert json.loads(cli("plan", "trace", *at).stdout)["spec"]["workload"]["packets"]["rows"] == 4
    assert json.loads(cli("bound", "trace", *at).stdout)[0]["tightest_cycles"] == 91
    assert "packets.rows" in cli("plan", "trace", "--size", "2x2", "--set", "file=t.csv").stdout
    found = cli("curve", "trace", *at)
    assert found.returncode == 2 and "a traffic pattern, which has a load" in found.stderr
    found = cli("simulate", "trace", "--size", "2x2", "--load", "0.1", "--json", "--set", "file=t.csv")
    assert found.returncode == 2 and json.loads(found.stderr)["path"] == "workload.offered_load"
    assert "trace" in cli("list", "workloads").stdout
    found = cli("simulate", "trace", "--size", "1x3", "--json", "--set", "file=t.csv")
    error = json.loads(found.stderr)
    assert (error["path"], error["value"]) == ("workload.packets[3].source", "3 (t.csv, line 5)")
    assert error["expected"] == "a terminal, 0 to 2" and error["hint"] == "terminals count from 0"


def test_a_trace_can_be_sent_to_another_process() -> None:
    table = fw.trace(TABLE).spec["packets"]
    again = pickle.loads(pickle.dumps(table))
    assert again == table and again.rows == 4


def test_a_large_trace_is_refused_before_it_starts() -> None:
    n = 200_000
    table = {
        "cycle": np.arange(n),
        "source": np.zeros(n, int),
        "destination": np.ones(n, int),
        "flits": np.ones(n, int),
    }
    work = fw.trace(table)
    estimated = json.loads(planned(work).json)["estimated_memory_bytes"]
    assert 14 * n < estimated < 30 * n
    with pytest.raises(fw.ConfigError) as caught:
        fw.simulate(NET, work, packets=True, memory_limit_mb=10)
    assert caught.value.path == "workload.packets" and caught.value.value == "200000 rows"


def test_a_file_larger_than_the_memory_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path)
    np.save(tmp_path / "m.npy", np.ones((4, 4)))
    monkeypatch.setattr(input_files, "usable_bytes", lambda: 1e-2)
    for name in ("t.csv", "rows.npy", "t.parquet"):
        with pytest.raises(fw.ConfigError, match="a file that can be read with 0 MB") as caught:
            planned(fw.trace(tmp_path / name))
        assert caught.value.path == "workload.file"
    with pytest.raises(fw.ConfigError, match="a file that can be read with 0 MB"):
        planned(fw.traffic("matrix", offered_load=0.1, file=str(tmp_path / "m.npy")))


def test_points_with_the_same_contents_share_them(tmp_path: Path) -> None:
    for i in range(12):
        TABLE.to_csv(tmp_path / f"{i}.csv", index=False)
    work = {i: fw.trace(tmp_path / f"{i}.csv") for i in range(12)}
    points = [Point("p", "p", {"i": i}, i, {**simulation(NET, work[i]), "run": {"seed": i}}) for i in range(12)]
    jobs = plan_points(points)
    assert len(jobs) == 12 and len({id(job.spec.tables[0]) for job in jobs}) == 1


def csv(text: str) -> Callable[[Path], Any]:
    def write(folder: Path) -> Path:
        (folder / "t.csv").write_text(text)
        return folder / "t.csv"

    return write


def rows(*some: tuple[Any, ...]) -> Callable[[Path], Any]:
    return csv("cycle,source,destination,flits\n" + "".join(",".join(map(str, row)) + "\n" for row in some))


def saved(name: str, write: Callable[[Path], object]) -> Callable[[Path], Any]:
    def in_folder(folder: Path) -> Path:
        write(folder / name)
        return folder / name

    return in_folder


def typed(dtype: str) -> pd.DataFrame:
    return TABLE.assign(cycle=TABLE["cycle"].to_numpy().astype(dtype))


FIRST = (7, 0, 1, 4)
BAD = [
    # the trace, the path below workload, the value, a part of what is expected, a part of the hint
    (rows(FIRST, (6, 0, 1, 4)), "packets[1].cycle", "6 (t.csv, line 3)", "at least 7, the cycle of the row before", "sort"),
    (rows(FIRST, (-6, 0, 1, 4)), "packets[1].cycle", "-6 (t.csv, line 3)", "a cycle, 0 to 2^40", "t = 0"),
    (rows(FIRST, (7, 4, 1, 4)), "packets[1].source", "4 (t.csv, line 3)", "a terminal, 0 to 3", "count from 0"),
    (rows(FIRST, (7, 0, 4, 4)), "packets[1].destination", "4 (t.csv, line 3)", "a terminal, 0 to 3", "count from 0"),
    (rows(FIRST, (7, -1, 1, 4)), "packets[1].source", "-1 (t.csv, line 3)", "a terminal, 0 to", ""),
    (rows(FIRST, (7, 10**12, 1, 4)), "packets[1].source", "1000000000000 (t.csv, line 3)", "a terminal, 0 to", ""),
    (rows(FIRST, (7, 0, 1, 0)), "packets[1].flits", "0 (t.csv, line 3)", "1 to 65535 flits", ""),
    (rows(FIRST, (7, 0, 1, 65_536)), "packets[1].flits", "65536 (t.csv, line 3)", "1 to 65535 flits", ""),
    (rows(FIRST, (7, 0, 1, 2.5)), "packets[1].flits", "2.5 (t.csv, line 3)", "a whole number", ""),
    (rows(FIRST, (7, 0, 1, "four")), "packets[1].flits", '"four" (t.csv, line 3)', "a whole number", ""),
    (rows(FIRST, (7, 0, 1, "")), "packets[1].flits", "nothing (t.csv, line 3)", "a whole number", ""),
    (csv("cycle,source,destination,flits\n7,0,1,4\n\n8,0,1,4\n"), "packets[1].cycle", "nothing (t.csv, line 3)", "a whole number", ""),
    (rows(), "packets", "0 rows (t.csv)", "at least one packet", ""),
    (csv(""), "file", "", "the columns cycle, source, destination, flits", "the file is empty"),
    (csv("0,0,1,4\n"), "packets", "columns 0, 0, 1, 4 (t.csv)", "no cycle", "the first line names the columns"),
    (csv("cycle,source,destinations,flits\n"), "packets", "columns cycle, source, destinations, flits (t.csv)", "no destination", "`destination`"),
    (rows((7, 0, 1, 4, 5)), "file", "", "a table with commas", ""),
    (rows(FIRST, (7, 0, 1, 4, 5)), "file", "", "a table with commas", ""),
    (rows(FIRST, (7, 0, 1)), "packets[1].flits", "nothing (t.csv, line 3)", "a whole number", ""),
    (saved("t.txt", lambda path: path.write_text("x")), "file", "", "a file .csv, .npy or .parquet", "the ending"),
    (saved("t.npy", lambda path: path.write_text("x")), "file", "", "an array of NumPy", ""),
    (saved("t.npy", lambda path: np.save(path, np.zeros((3, 5)))), "packets", "3 x 5 numbers (t.npy)", "rows of 4 numbers", ""),
    (saved("t.npy", lambda path: np.save(path, [FIRST, (6, 0, 1, 4)])), "packets[1].cycle", "6 (t.npy, row 1)", "at least 7", ""),
    (saved("t.parquet", lambda path: path.write_text("x")), "file", "", "a Parquet file", ""),
    (saved("t.parquet", lambda path: TABLE[NAMES[:3]].to_parquet(path)), "packets", "columns cycle, source, destination (t.parquet)", "no flits", ""),
    (saved("t.parquet", lambda path: TABLE.assign(flits=0).to_parquet(path)), "packets[0].flits", "0 (t.parquet, row 0)", "1 to 65535", ""),
    (lambda folder: folder / "none.csv", "file", "", "No such file", "check the name"),
    (lambda _: [(1, 2, 3)], "packets", "1 x 3 numbers", "rows of 4 numbers", ""),
    (lambda _: [(1, 2, 3, 4), (1, 2)], "packets", "rows of different lengths", "rows with the columns", ""),
    (lambda _: {"cycle": [0]}, "packets", "columns cycle", "no source", ""),
    (lambda _: {**TABLE.to_dict("list"), "flits": [1]}, "packets", "columns of different lengths", "a value of each", ""),
    (lambda _: TABLE.rename(columns={"flits": "flit"}), "packets", "columns cycle, source, destination, flit", "no flits", "`flits`"),
    (lambda _: [(0, 0, 1, 4), (0, 0, 1, -4)], "packets[1].flits", "-4", "1 to 65535 flits", ""),
    (lambda _: np.array([[0, 0, 1, np.nan]]), "packets[0].flits", "nothing", "a whole number", ""),
    (lambda _: 3, "packets", "3", "rows of 4 numbers", ""),
    (lambda _: None, "packets", "None", "rows of 4 numbers", ""),
    (rows(FIRST, ("NA",) * 4), "packets[1].cycle", '"NA" (t.csv, line 3)', "a whole number", ""),
    (rows(FIRST, (7, 0, 1, "nan")), "packets[1].flits", '"nan" (t.csv, line 3)', "a whole number", ""),
    (rows(FIRST, (7, 0, "True", 4)), "packets[1].destination", '"True" (t.csv, line 3)', "a whole number", ""),
    (rows((0, "True", 1, 4)), "packets.source", "values of type bool (t.csv)", "whole numbers", ""),
    (csv("cycle,cycle,source,destination,flits\n0,0,0,1,4\n"), "packets", "column cycle twice (t.csv)", "each column once", ""),
    (saved("t.parquet", lambda path: typed("timedelta64[s]").to_parquet(path)), "packets.cycle", None, "whole numbers", ""),
    (saved("t.parquet", lambda path: typed("datetime64[s]").to_parquet(path)), "packets.cycle", None, "whole numbers", ""),
    (saved("t.parquet", lambda path: TABLE.assign(flits=True).to_parquet(path)), "packets.flits", "values of type bool (t.parquet)", "whole numbers", ""),
    (saved("t.parquet", lambda path: TABLE.astype({"flits": str}).to_parquet(path)), "packets[0].flits", '"4" (t.parquet, row 0)', "a whole number", ""),
    (lambda _: TABLE.astype({"flits": str}), "packets[0].flits", '"4"', "a whole number", ""),
    (lambda _: TABLE.assign(flits=True), "packets.flits", "values of type bool", "whole numbers", ""),
    (lambda _: TABLE.assign(flits=[4, True, 4, 4]).astype(object), "packets[1].flits", "True", "a whole number", ""),
    (lambda _: pd.concat([TABLE, TABLE["cycle"]], axis=1), "packets", "column cycle twice", "each column once", ""),
    (lambda _: {**TABLE.to_dict("list"), "flits": np.ones((4, 2), int)}, "packets.flits", "4 x 2 values", "one value a row", ""),
    (lambda _: {**TABLE.to_dict("list"), "flits": 4}, "packets.flits", "4", "one value a row", ""),
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD, ids=[str(i) for i in range(len(BAD))])
def test_a_bad_trace_is_explained_with_its_place(tmp_path: Path, bad: Any) -> None:
    make, path, value, expected, hint = bad
    with pytest.raises(fw.ConfigError) as caught:
        fw.simulate(NET, fw.trace(make(tmp_path)))
    error = caught.value
    assert error.path == f"workload.{path}" and (
        error.value == value if value else tmp_path.name in error.value or value is None
    ), str(error)
    assert expected in error.expected and hint in error.hint, str(error)


def test_packets_must_fit_the_buffer_under_virtual_cut_through() -> None:
    small = NET.replace(switching="virtual_cut_through", buffer_flits=8)
    with pytest.raises(fw.ConfigError) as caught:
        fw.simulate(small, fw.trace(TABLE))
    assert caught.value.path == "workload.packets[2].flits" and caught.value.value == "16"
    assert "the buffer of 8 flits" in caught.value.expected


def test_limits_of_cycles_look_at_the_last_packet() -> None:
    late = fw.trace([(2_000_000_000, 0, 1, 1)])
    assert fw.simulate(NET, late).completion_cycles > 2_000_000_000
    with pytest.raises(fw.ConfigError, match="until the last packet is created") as caught:
        fw.simulate(NET, late, max_cycles=1000)
    assert caught.value.path == "run.max_cycles"
    with pytest.raises(fw.ConfigError, match="a background has no end"):
        fw.simulate(NET, fw.uniform(offered_load=0.1), background=late)
    with pytest.raises(fw.ConfigError, match="a trace: rows of cycle"):
        fw.simulate(NET, fw.Workload({"kind": "trace"}))


def test_work_of_a_trace_counts_flits_cycles_and_its_background() -> None:
    net = fw.Torus(4, 4)

    def work(rows: list[list[int]], beside: fw.Workload | None = None) -> float:
        return plan_points([Point("p", "p", {}, 1, simulation(net, fw.trace(rows), {}, beside))])[0].work

    def around(flits: int, last: int = 0) -> list[list[int]]:
        return [*([0, i, (i + 1) % 16, flits] for i in range(16)), [last, 0, 1, flits]]

    short, long = work(around(1)), work(around(100))
    assert 20 * short < long < 200 * short
    late = work(around(1, 100_000))
    # 16 terminals that do nothing for 100,000 cycles.
    assert late - short == pytest.approx(0.1 * 16 * 100_000, rel=0.01)
    background = fw.uniform(offered_load=0.5)
    hops = 3
    assert work(around(1, 100_000), background) - late > 0.5 * hops * 16 * 100_000
    schedule = plan_points([Point("p", "p", {}, 1, simulation(net, fw.all_to_all(message_flits=50)))])[0].work
    both = plan_points([Point("p", "p", {}, 1, simulation(net, fw.all_to_all(message_flits=50), {}, background))])
    assert both[0].work > schedule + 0.5 * hops * 16 * 800  # 16 messages of 50 flits, 1 a cycle at most
