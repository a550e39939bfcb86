"""Permutations and traffic matrices from files and arrays: what they become, and what is wrong with those that are none."""

from __future__ import annotations

import copy
import io
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flitwork as fw
import numpy as np
import pytest
from common import Cli
from flitwork import _core
from flitwork.experiment import load_study, plan_study
from flitwork.planning.specification import plan_of, simulation

NET = fw.Torus(2, 2, vcs=2)
TO = [1, 2, 3, 0]
WEIGHTS = np.array([[0, 3, 0, 1], [0, 0, 0, 0], [2, 0, 0, 0], [0.5, 0.5, 0.5, 0.5]])


def planned(work: fw.Workload) -> _core.Plan:
    return plan_of(simulation(NET, work))


def traffic(pattern: str, **parameters: Any) -> fw.Workload:
    return fw.traffic(pattern, offered_load=0.1, **parameters)


def test_a_permutation_is_the_same_wherever_it_comes_from(tmp_path: Path) -> None:
    (tmp_path / "lines.csv").write_text("1\n2\n3\n0\n\n")
    (tmp_path / "row.csv").write_text("1, 2, 3, 0\n")
    np.savetxt(tmp_path / "floats.csv", np.array(TO))
    np.save(tmp_path / "array.npy", np.array(TO, dtype=np.int16))
    files = [str(tmp_path / name) for name in ("lines.csv", "row.csv", "floats.csv", "array.npy")]
    works = [traffic("permutation", destinations=TO), traffic("permutation", destinations=np.array(TO))]
    works += [traffic("permutation", file=name) for name in files]
    (tmp_path / "upper.CSV").write_text("1\n2\n3\n0\n")
    (tmp_path / "upper.NPY").write_bytes((tmp_path / "array.npy").read_bytes())
    works += [traffic("permutation", file=str(tmp_path / name)) for name in ("upper.CSV", "upper.NPY")]
    works += [traffic("permutation", destinations=Path(files[0])), traffic("permutation", destinations=files[0])]
    assert {planned(work).hash for work in works} == {planned(works[0]).hash}
    packets = fw.simulate(NET, works[-1], packets=True).packets
    assert (packets["dst"] == packets["src"].map(dict(enumerate(TO)))).all()
    assert "file" not in planned(works[-1]).json


def test_a_matrix_is_the_same_wherever_it_comes_from(tmp_path: Path) -> None:
    np.savetxt(tmp_path / "m.csv", WEIGHTS, delimiter=",")
    np.save(tmp_path / "m.npy", WEIGHTS)
    works = [traffic("matrix", weights=WEIGHTS), traffic("matrix", weights=WEIGHTS.tolist())]
    works += [traffic("matrix", weights=np.asfortranarray(WEIGHTS)), traffic("matrix", file=str(tmp_path / "m.csv"))]
    works += [traffic("matrix", weights=tmp_path / "m.npy")]
    plans = [planned(work) for work in works]
    assert {plan.hash for plan in plans} == {plans[0].hash}
    found = json.loads(plans[0].json)["spec"]["workload"]["pattern"]
    assert set(found) == {"kind", "weights"} and found["weights"]["rows"] == 4 and len(found["weights"]["sha256"]) == 64
    assert planned(traffic("matrix", weights=WEIGHTS + 1)).hash != plans[0].hash


def test_terminals_send_by_the_sums_and_the_shares_of_their_rows() -> None:
    result = fw.simulate(NET, traffic("matrix", weights=WEIGHTS), packets=True, measurement_cycles=20_000)
    sent = result.packets.groupby(["src", "dst"]).size().unstack(fill_value=0).reindex(range(4), fill_value=0)
    # About 9,200 packets: the shares are known to about 0.01.
    assert sent.to_numpy() / sent.to_numpy().sum() == pytest.approx(WEIGHTS / WEIGHTS.sum(), abs=0.02)
    assert result.row["offered_load_flits_per_cycle"] == pytest.approx(0.1, rel=0.05)
    assert (sent.to_numpy()[WEIGHTS == 0] == 0).all()


def test_the_bound_of_a_matrix_is_that_of_its_flows() -> None:
    line = fw.Mesh(4)
    weights = np.zeros((4, 4))
    weights[0, 3], weights[1, 2] = 3, 1
    # Terminal 0 sends 3 times the mean of all, terminal 1 as much as the mean; both use the channel in the middle.
    bound = fw.bound(line, traffic("matrix", weights=weights))
    assert bound.saturation_load == pytest.approx(1 / 4)
    assert bound.values["terminal_load_flits_per_cycle"] == pytest.approx(1 / 3)
    burst = fw.burst_workload("matrix", packets=5, packet_flits=4, weights=weights)
    # In a burst the sums of the rows make no difference.
    assert fw.bound(line, burst).channel_load_cycles == 2 * 5 * 4
    result = fw.simulate(line, burst)
    assert result.row["packets"] == 10 and result.completion_cycles >= 40


def test_a_table_can_be_copied_and_sent() -> None:
    table = _core.Table.matrix(WEIGHTS)
    for other in (copy.deepcopy(table), pickle.loads(pickle.dumps(table)), _core.Table.from_bytes(table.to_bytes())):
        assert other == table and hash(other) == hash(table) and other.sha256 == table.sha256
    with pytest.raises(ValueError, match="no table"):
        _core.Table.from_bytes(table.to_bytes()[:-1])
    with pytest.raises(fw.ConfigError, match="expected a matrix of weights"):
        text = json.dumps({"kind": "traffic", "offered_load": 0.1, "pattern": {"kind": "matrix"}})
        _core.Plan(json.dumps({"network": NET.spec, "workload": json.loads(text)}))


STUDY = """
[study]
name = "files"

[base.network]
topology = { kind = "torus", size = [2, 2] }
router = { vcs = 2 }

[base.workload]
kind = "traffic"
offered_load = 0.1
pattern = { kind = "shuffle" }

[base.run]
measurement_cycles = 500

[[experiments]]
id = "axis"
set = { "workload.pattern.kind" = "matrix" }
grid = { "workload.pattern.file" = ["m1.npy", "m2.csv"] }
seeds = [1, 2]

[[experiments]]
id = "name"
set = { "workload.pattern" = { kind = "matrix", file = "m${i}.npy" } }
grid = { i = [1] }
seeds = [2]

[[experiments]]
id = "rows"
set = { "workload.pattern" = { kind = "matrix", weights = [[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]] } }
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    folder.mkdir()
    np.save(folder / "m1.npy", WEIGHTS)
    np.savetxt(folder / "m2.csv", WEIGHTS + 1, delimiter=",")
    (folder / "study.toml").write_text(STUDY)
    return folder / "study.toml"


def test_names_in_a_study_start_from_its_folder(study: Path, tmp_path: Path) -> None:
    jobs = plan_study(load_study(study))
    assert [len(job.points) for job in jobs] == [1, 2, 1, 1, 1]
    assert jobs[0].spec.tables[0] is jobs[1].spec.tables[0], "all simulations share what was read"
    run = fw.run_study(load_study(study), tmp_path / "out")
    assert run.table["workload.pattern.file"].dropna().tolist() == ["m1.npy", "m1.npy", "m2.csv", "m2.csv"]
    assert run.table["plan_hash"].nunique() == 5 and (run.table["workload"] == "matrix").all()


def test_the_command_line_takes_files(cli: Cli, study: Path) -> None:
    m1, at = study.parent / "m1.npy", ("--size", "2x2", "--json")
    for command in ("simulate", "plan"):
        found = cli(command, "matrix", "--load", "0.1", "--set", f"file={m1}", "--set", "measurement_cycles=500", *at)
        assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["spec"]["workload"]["pattern"]["weights"]["rows"] == 4
    found = cli("bound", "matrix", "--set", f"file={m1}", *at)
    assert found.returncode == 0 and json.loads(found.stdout)[0]["saturation_load_flits_per_cycle"] > 0
    loads = ("--loads", "0.1,0.2", "--seeds", "1", "--resolution", "0", "--out", str(study.parent / "curve"))
    found = cli("curve", "matrix", "--set", f"file={m1}", *loads, *at)
    assert found.returncode == 0, found.stderr
    assert len(json.loads(found.stdout)["points"]) == 2
    found = cli("simulate", "matrix", "--load", "0.1", "--set", "file=absent.npy", *at)
    error = json.loads(found.stderr)
    assert found.returncode == 2 and error["path"] == "workload.pattern.file" and "No such file" in error["expected"]


def csv(text: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / "f.csv").write_text(text)
        return folder / "f.csv"

    return write


def npy(array: Any) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        np.save(folder / "f.npy", array, allow_pickle=True)
        return folder / "f.npy"

    return write


def named(name: str, content: bytes = b"") -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    return write


def several() -> bytes:
    file = io.BytesIO()
    np.savez(file, a=np.zeros(3), b=np.zeros(3))
    return file.getvalue()


FOUR = "0,1,1,1\n1,0,1,1\n1,1,0,1\n"
BAD = [
    # the file, the pattern, the path below workload.pattern, a part of the value, a part of what is expected
    (csv("1\n2\n2\n0\n"), "permutation", "destinations[2]", "2 (f.csv, line 3, column 1)", "each of 0 to 3 once"),
    (csv("1,2,4,0\n"), "permutation", "destinations[2]", "4 (f.csv, line 1, column 3)", "each of 0 to 3 once"),
    (npy(np.array([0, 1, 2, 2])), "permutation", "destinations[3]", "2 (f.npy, row 3, column 0)", "each of 0 to 3 once"),
    (csv("1\n2\n3\n"), "permutation", "destinations", "3 destinations (f.csv)", "4 destinations"),
    (csv("1\n-2\n3\n0\n"), "permutation", "destinations[1]", "-2 (f.csv, line 2, column 1)", "the number of a terminal"),
    (csv("1\n2.5\n3\n0\n"), "permutation", "destinations[1]", "2.5 (f.csv, line 2", "the number of a terminal"),
    (csv("1\ntwo\n3\n0\n"), "permutation", "destinations", '"two" (f.csv, line 2, column 1)', "a number"),
    (csv("1\n\n3\n0\n"), "permutation", "destinations", "nothing (f.csv, line 2, column 1)", "a number"),
    *((csv(f"1\n2\n3\n0\n{word}\n"), "permutation", "destinations", f'"{word}" (f.csv, line 5, column 1)', "a number")
      for word in ("nan", "NaN", "N/A", "NULL", "null", "NA", "None", "-", "True")),
    (csv("True\nFalse\n"), "permutation", "destinations", "True (f.csv, line 1, column 1)", "a number"),
    (csv("1\n2\n123456789012345678901234567890\n0\n"), "permutation", "destinations[2]", "(f.csv, line 3, column 1)", "the number of a terminal"),
    (csv("0,1\n1,0\n"), "permutation", "destinations", "2 x 2 numbers", "one destination for each terminal"),
    (csv(""), "permutation", "file", "f.csv", "numbers, separated by commas"),
    (named("f.txt"), "permutation", "file", "f.txt", "a file .csv or .npy"),
    (named("f.npy"), "permutation", "file", "f.npy", "an array of NumPy"),
    (named("f.npy", b"no array at all"), "matrix", "file", "f.npy", "an array of NumPy"),
    (named("f.npy", several()), "matrix", "file", "f.npy", "an array of NumPy"),
    (npy(np.array(["a"], dtype=object)), "matrix", "file", "f.npy", "an array of NumPy"),
    (npy(np.array(["a", "b"])), "matrix", "weights", "(2,) of <U1 (f.npy)", "an array of numbers"),
    (npy(np.zeros((2, 2, 2))), "matrix", "weights", "(2, 2, 2) of float64 (f.npy)", "an array of numbers"),
    (csv(FOUR), "matrix", "weights", "3 rows of 4 numbers (f.csv)", "a square matrix"),
    (csv("0,1\n1,0\n"), "matrix", "weights", "2 rows and columns (f.csv)", "4 rows and columns"),
    (csv(FOUR + "1,1,-1,0\n"), "matrix", "weights[3][2]", "-1 (f.csv, line 4, column 3)", "at least 0"),
    (csv(FOUR + "1,1,x,0\n"), "matrix", "weights", '"x" (f.csv, line 4, column 3)', "a number"),
    (csv(FOUR + "1,1,1,0\nNA,NA,NA,NA\n"), "matrix", "weights", '"NA" (f.csv, line 5, column 1)', "a number"),
    (csv(FOUR + "1,1,,0\n"), "matrix", "weights", "nothing (f.csv, line 4, column 3)", "a number"),
    (csv(FOUR + "1,1,1,0,1\n"), "matrix", "file", "f.csv", "line 4, saw 5"),
    (csv("0 1\n1 0\n"), "matrix", "weights", '"0 1" (f.csv, line 1, column 1)', "a number"),
    (npy(np.full((4, 4), np.nan)), "matrix", "weights[0][0]", "NaN (f.npy, row 0, column 0)", "a finite number"),
    (npy(np.zeros((4, 4))), "matrix", "weights", "a sum of 0 (f.npy)", "above 0"),
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD, ids=[f"{i}" for i in range(len(BAD))])
def test_a_bad_file_is_explained_with_its_place(tmp_path: Path, bad: Any) -> None:
    write, pattern, path, value, expected = bad
    with pytest.raises(fw.ConfigError) as caught:
        fw.simulate(NET, traffic(pattern, file=str(write(tmp_path))))
    error = caught.value
    assert error.path == f"workload.pattern.{path}"
    assert error.value.endswith(value) or value in error.value, str(error)
    assert expected in error.expected, str(error)


@pytest.mark.parametrize(
    ("make", "path", "text"),
    [
        (lambda: traffic("matrix", weights=[[0, 1], [1]]), "weights", "rows need the same length"),
        (lambda: traffic("matrix", weights=[["a", "b"], ["c", "d"]]), "weights", "a square matrix of numbers"),
        (lambda: traffic("matrix", weights=[1, 2]), "weights", "a square matrix of numbers"),
        (lambda: traffic("matrix", weights=[[0, -1], [1, 0]]), "weights[0][1]", "at least 0"),
        (lambda: traffic("matrix"), "weights", "a matrix of weights"),
        (lambda: traffic("matrix", file="m.npy", weights=[[1]]), "file", "either a file or weights"),
        (lambda: traffic("permutation", file="p.csv", destinations=[0]), "file", "either a file or destinations"),
        (lambda: traffic("permutation", file=3), "file", "expected text"),
        (lambda: traffic("permutation", file="no-such.csv"), "file", "No such file"),
        (lambda: traffic("permutation", destinations=[0, 1]), "destinations", "4 destinations, one for each terminal"),
        (lambda: traffic("permutation"), "destinations", "give destinations, or a file"),
    ],
)
def test_bad_numbers_are_explained(make: Callable[[], fw.Workload], path: str, text: str) -> None:
    with pytest.raises(fw.ConfigError) as caught:
        fw.simulate(NET, make())
    assert caught.value.path == f"workload.pattern.{path}" and text in str(caught.value)


def test_the_terminal_that_sends_most_limits_the_load() -> None:
    weights = np.ones((4, 4))
    weights[2] = 5
    with pytest.raises(fw.ConfigError) as caught:
        fw.simulate(NET, fw.traffic("matrix", offered_load=0.5, weights=weights))
    assert caught.value.path == "workload.offered_load" and "2.5000 times the mean" in caught.value.hint
    fw.simulate(NET, fw.traffic("matrix", offered_load=0.4, weights=weights))
    fw.simulate(NET, fw.traffic("matrix", offered_load=1.2, packet_flits=3, weights=weights), max_cycles=10_000)


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    np.save(tmp_path / "p.npy", TO)
    first = planned(traffic("permutation", file=str(tmp_path / "p.npy"))).hash
    np.save(tmp_path / "p.npy", TO[::-1])
    assert planned(traffic("permutation", file=str(tmp_path / "p.npy"))).hash != first


def test_a_background_takes_a_matrix(tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", WEIGHTS)
    beside = traffic("matrix", file=str(tmp_path / "m.npy"))
    result = fw.simulate(NET, fw.burst_workload("shuffle", packets=50), background=beside, warmup_cycles=100)
    assert result.background["packets"] > 0
    np.save(tmp_path / "m.npy", -WEIGHTS)
    with pytest.raises(fw.ConfigError, match=r"background.pattern.weights\[0\]\[1\]"):
        fw.simulate(NET, fw.burst_workload("shuffle", packets=5), background=beside)


def test_bursts_curves_and_steady_states_take_a_matrix() -> None:
    trials = fw.burst(NET, "matrix", packets=[1, 3], parameters={"weights": WEIGHTS}, trials=2)
    # The row without weights sends nothing.
    assert trials.table["packets"].tolist() == [3, 3, 9, 9]
    work = traffic("matrix", weights=WEIGHTS)
    table = fw.steady(NET, work, relative_ci=0.1, max_cycles=20_000)
    assert table["status"].tolist() == ["complete"]
    curve = fw.curve(NET, work, seeds=[1], resolution=0, warmup_cycles=100, measurement_cycles=2000)
    # The terminal that sends most sends 2 times the mean: its limit is that of the sweep.
    assert max(curve.grid) == pytest.approx(0.5) and len(curve.table) == 20
