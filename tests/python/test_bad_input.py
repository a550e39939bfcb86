"""Every kind of bad input is a ConfigError with the path, the value, what was expected, and a hint where one helps."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flitwork as fw
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

A2AT = fw.all_to_all("a2at")


def net(**options: Any) -> fw.Network:
    return fw.Torus(4, 4, **options)


def point(n: int, **_: Any) -> tuple[fw.Network, fw.Workload]:
    return fw.Torus(n, n), fw.all_to_all(message_flits=2)


CASES: list[tuple[str, Callable[[], object], str, str, str, str]] = [
    # what is wrong, how it is written, the path, the value (a part of it), a part of what is expected, a part of the hint
    ("unknown option", lambda: net(vsc=2), "network.vsc", "unknown key", "vcs", "did you mean `vcs`?"),
    ("option in another unit", lambda: net(latency_ns=2), "network.latency_ns", "unknown key", "latency_cycles", "channel=fw.Channel(latency_ns=...)"),
    ("option of a table", lambda: net(sl_to_vl=[0]), "network.sl_to_vl", "unknown key", "vc_policy", "router=fw.Router(sl_to_vl=...)"),
    ("option of a table of run", lambda: fw.simulate(net(), A2AT, waits=True), "run.waits", "unknown key", "packets", "run=fw.Run(record=fw.Record(waits=...))"),  # type: ignore[call-arg]
    ("unknown run option", lambda: fw.simulate(net(), A2AT, max_cycle=5), "run.max_cycle", "unknown key", "max_cycles", "`max_cycles`?"),  # type: ignore[call-arg]
    ("unknown workload option", lambda: fw.all_to_all(flits=5), "workload.flits", "5", "message_flits", ""),
    ("unknown algorithm", lambda: fw.simulate(net(), fw.all_to_all("a2ta")), "workload.algorithm", "a2ta", "a2at", "did you mean a2at?"),
    ("unknown value", lambda: fw.simulate(net(switching="vct"), A2AT), "network.router.switching", '"vct"', "wormhole, virtual_cut_through", ""),
    ("unknown routing", lambda: fw.simulate(net(routing="xy"), A2AT), "network.routing.kind", '"xy"', "dimension_order", ""),
    ("a text for a number", lambda: fw.simulate(net(vcs="two"), A2AT), "network.router.vcs", '"two"', "a whole number, 1 to 640", "without quotes"),
    ("a unit in a number", lambda: fw.simulate(net(buffer_flits="2 kB"), A2AT), "network.router.buffer_flits", '"2 kB"', "a whole number", "the unit is part of the field's name"),
    ("a fraction", lambda: fw.simulate(net(vcs=2.5), A2AT), "network.router.vcs", "2.5", "a whole number", "without a fraction"),
    ("a number for a switch", lambda: fw.simulate(net(speculative=1), A2AT), "network.router.speculative", "1", "true or false", "not 0 or 1"),
    ("not a number", lambda: fw.simulate(net(), fw.uniform(offered_load=float("nan"))), "workload.offered_load", "nan", "a finite number", ""),
    ("an object", lambda: fw.simulate(net(vcs=object()), A2AT), "network.router.vcs", "<object object", "a number, a string", ""),
    ("a zero size", lambda: fw.simulate(fw.Torus(4, 0), A2AT), "network.topology.size[1]", "0", "1 to 8192", ""),
    ("a negative size", lambda: fw.simulate(fw.Torus(-4, 4), A2AT), "network.topology.size[0]", "-4", "a whole number, 1 to 8192", ""),
    ("no size", lambda: fw.simulate(fw.Torus(), A2AT), "network.topology.size", "[]", "1 to 6", ""),
    ("a text for a size", lambda: fw.Torus("4x4"), "network.topology.size[0]", '"4x4"', "a whole number", "a list of numbers: [4, 4]"),  # type: ignore[arg-type]
    ("a fraction for a size", lambda: fw.Mesh(4, 2.5), "network.topology.size[1]", "2.5", "a whole number", "without a fraction"),  # type: ignore[arg-type]
    ("a word misspelt", lambda: fw.Torus(4, 4, routing="duat"), "network.routing.kind", '"duat"', "dimension_order, duato", "did you mean duato?"),  # type: ignore[arg-type]
    ("an allocator misspelt", lambda: fw.Torus(4, 4, sw_allocator="islop"), "network.router.sw_allocator.kind", '"islop"', "islip", "did you mean islip?"),  # type: ignore[arg-type]
    ("a table beside its field", lambda: fw.Torus(4, 4, tie="parity", routing={"kind": "dimension_order", "tie": "plus"}), "network.routing.tie", "'parity'", "it once", "'plus' already"),
    ("seven dimensions", lambda: fw.simulate(fw.Mesh([2] * 7), A2AT), "network.topology.size", "[2, 2, 2, 2, 2, 2, 2]", "1 to 6", ""),
    ("wrap too short", lambda: fw.simulate(fw.Grid((4, 4), wrap=[True]), A2AT), "network.topology.wrap", "[true]", "2 entries", ""),
    ("no port", lambda: fw.simulate(net(ports=0), A2AT), "network.nic.ports", "0", "1 to", ""),
    ("no buffer", lambda: fw.simulate(net(buffer_flits=0), A2AT), "network.router.buffer_flits", "0", "1 to 65535", ""),
    ("an empty message", lambda: fw.simulate(net(), fw.all_to_all(message_flits=0)), "workload.message_flits", "0", "1 to 4294967295", ""),
    ("no VC for the dateline", lambda: fw.simulate(net(vcs=1), A2AT), "network.router.vcs", "1", "at least 2", "vcs = 2"),
    ("VCs for destinations", lambda: fw.simulate(net(vcs=16, vc_policy="destination"), A2AT), "network.router.vcs", "16", "at least 32", "vcs = 32"),
    ("a packet that does not fit", lambda: fw.simulate(net(switching="virtual_cut_through", buffer_flits=20), A2AT), "workload.message_flits", "100", "at most the buffer of 20 flits", "network.router.buffer_flits = 100"),
    ("too large for memory", lambda: fw.simulate(fw.Mesh(64, 64, 64), fw.uniform(offered_load=0.1), memory_limit_mb=10), "network.topology.size", "[64, 64, 64]", "at most 10 MB", "run.memory_limit_mb"),
    ("too large for any memory", lambda: fw.simulate(fw.Mesh(1000, 1000, 1000, vcs=64, buffer_flits=4096), fw.uniform(offered_load=0.1)), "network.topology.size", "[1000, 1000, 1000]", "a simulation of at most", "a smaller network"),
    ("an algorithm without peers", lambda: fw.simulate(fw.Mesh(1), A2AT), "network.topology.size", "1", "at least 2 routers", ""),
    ("several terminals a router", lambda: fw.simulate(net(terminals_per_router=2), A2AT), "network.topology.terminals_per_router", "2", "one rank a router", ""),
    ("a load above 1", lambda: fw.simulate(net(), fw.uniform(offered_load=1.5)), "workload.offered_load", "1.5", "at most 1 packet a cycle", ""),
    ("a truth value for a load", lambda: fw.uniform(offered_load=True), "workload.offered_load", "true", "a number", "no numbers"),
    ("a text for a load", lambda: fw.traffic("shuffle", offered_load="0.1"), "workload.offered_load", '"0.1"', "a number", "without quotes"),  # type: ignore[arg-type]
    ("a text for a length", lambda: fw.all_to_all(message_flits="4"), "workload.message_flits", '"4"', "a whole number", "without quotes"),  # type: ignore[arg-type]
    ("a table for a pattern", lambda: fw.traffic({"kind": "transpose"}, offered_load=0.1), "workload.pattern", "{'kind': 'transpose'}", "the name of a pattern", "keywords"),  # type: ignore[arg-type]
    ("no pattern", lambda: fw.traffic(None, offered_load=0.1), "workload.pattern", "None", "the name of a pattern", ""),  # type: ignore[arg-type]
    ("no terminals", lambda: fw.traffic("hotspot", offered_load=0.1), "workload.pattern.terminals", "nothing", "a value", "add terminals"),
    ("half a process", lambda: fw.traffic("shuffle", offered_load=0.1, process={"kind": "on_off", "mean_on_cycles": 4}), "workload.process.mean_off_cycles", "nothing", "a value", "add mean_off_cycles"),
    ("no load", lambda: fw.simulate(net(), fw.uniform(offered_load=0.0)), "workload.offered_load", "0", "more than 0", ""),
    ("no measurement", lambda: fw.simulate(net(), fw.uniform(offered_load=0.1), measurement_cycles=0), "run.measurement_cycles", "0", "at least 1", ""),
    ("arguments swapped", lambda: fw.simulate(A2AT, net()), "network", "all_to_all(", "a Network", "fw.Torus"),  # type: ignore[arg-type]
    ("nothing to draw", lambda: fw.plot.timeline(fw.simulate(net(), A2AT)), "run.record.packets", "false", "packets to draw", "packets=True"),
    ("a check of nothing", lambda: fw.check("a3a", size=(4, 4)), "workload.algorithm", "a3a", "a2at", "did you mean"),
    ("no jobs", lambda: fw.sweep(point, n=[3], jobs=0), "jobs", "0", "at least 1", "leave it out to use all cores"),
    ("negative jobs", lambda: fw.sweep(point, n=[3], jobs=-2), "jobs", "-2", "at least 1", "all cores"),
    ("half a job", lambda: fw.sweep(point, n=[3], jobs=1.5), "jobs", "1.5", "a whole number", "all cores"),  # type: ignore[arg-type]
    ("no jobs for a study", lambda: fw.run_study(_study(), "never-made", jobs=0), "jobs", "0", "at least 1", "all cores"),
    ("a seed twice", lambda: fw.sweep(point, n=[3], seeds=[4, 5, 4]), "sweep.seeds[2]", "4", "each seed once", "the same result"),
    ("a negative seed", lambda: fw.sweep(point, n=[3], seeds=[-1]), "sweep.seeds[0]", "-1", "from 0 to 2^64 - 1", ""),
    ("a seed that is no number", lambda: fw.sweep(point, n=[3], seeds=[1, "2"]), "sweep.seeds[1]", "'2'", "a whole number", ""),  # type: ignore[list-item]
    ("one seed without a list", lambda: fw.sweep(point, n=[3], seeds=3), "sweep.seeds", "3", "a list of whole numbers", "seeds=[3]"),  # type: ignore[arg-type]
    ("no seeds", lambda: fw.sweep(point, n=[3], seeds=[]), "sweep.seeds", "[]", "at least one seed", "seed 1"),
    ("an axis without values", lambda: fw.sweep(point, n=[]), "sweep.n", "[]", "at least one value", "remove n"),
    ("an axis that is no list", lambda: fw.sweep(point, n=3), "sweep.n", "3", "a list of values", "n=[3]"),  # type: ignore[arg-type]
    ("an axis that is a text", lambda: fw.sweep(point, n="34"), "sweep.n", "'34'", "a list of values", "n=['34']"),
    ("a value twice", lambda: fw.sweep(point, n=[3, 4, 3]), "sweep.n[2]", "3", "each value once", "remove one"),
    ("an axis like a column", lambda: fw.sweep(point, n=[3], size=[3]), "sweep.size", '"size"', "no column of the results", "size_"),
    ("an unknown engine", lambda: fw.sweep(point, n=[3], engine="dsak"), "engine", '"dsak"', "one of local, dask", "`dask`?"),
    ("a cluster without address", lambda: fw.sweep(point, n=[3], engine="dask"), "scheduler", "None", "the address of a Dask scheduler", "dask scheduler"),
    ("an address that is no text", lambda: fw.sweep(point, n=[3], engine="dask", scheduler=8786), "scheduler", "8786", "the address of a Dask scheduler", "tcp://host:8786"),  # type: ignore[arg-type]
    ("an address for this machine", lambda: fw.sweep(point, n=[3], scheduler="tcp://host:8786"), "scheduler", "tcp://host:8786", "no scheduler for the local engine", '"dask"'),
    ("jobs for a cluster", lambda: fw.sweep(point, n=[3], engine="dask", scheduler="tcp://host:8786", jobs=4), "jobs", "4", "the workers decide", "leave it out"),
    ("a sweep of nothing", lambda: fw.sweep(lambda n: fw.Torus(n, n), n=[3]), "sweep.simulate(n=3)", "Torus(3, 3)", "a network and a workload", ""),  # type: ignore[arg-type, return-value]
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_bad_input_is_explained(case: tuple[str, Callable[[], object], str, str, str, str]) -> None:
    _, write, path, value, expected, hint = case
    assert path and value and expected
    with pytest.raises(fw.ConfigError) as caught:
        write()
    error = caught.value
    assert error.path == path
    assert error.value.startswith(value) and expected in error.expected and hint in error.hint, str(error)
    assert isinstance(error, ValueError) and error.path in str(error)


def test_a_routing_may_be_a_table() -> None:
    table = fw.Torus(4, 4, routing={"kind": "duato", "selection": "random"}, vcs=4, switching="virtual_cut_through")
    size: Any = np.array([4, 4])
    flat = fw.Torus(size, routing="duato", selection="random", vcs=4, switching="virtual_cut_through")
    assert table.spec == flat.spec
    assert table.replace(routing="dimension_order").spec["routing"] == {"kind": "dimension_order"}


def test_numbers_of_numpy_are_numbers() -> None:
    result = fw.simulate(net(vcs=np.int64(2)), fw.all_to_all(message_flits=np.int32(3)))  # type: ignore[arg-type]
    assert result.spec["workload"]["message_flits"] == 3


def test_a_limit_of_cycles_is_a_simulation_error() -> None:
    with pytest.raises(fw.SimulationError, match="max_cycles"):
        fw.simulate(net(), A2AT, max_cycles=50)


@pytest.mark.parametrize("damage", ["cut", "noise", "empty", "text"])
def test_a_damaged_result_names_the_file_and_the_remedy(tmp_path: Path, damage: str) -> None:
    path = fw.simulate(net(), A2AT).save(tmp_path / "result.parquet")
    whole = path.read_bytes()
    broken = {
        "cut": whole[: len(whole) // 2],
        "noise": whole[:40] + bytes(b ^ 0x55 for b in whole[40:-40]) + whole[-40:],
        "empty": b"",
        "text": b"nothing like it",
    }
    path.write_bytes(broken[damage])
    with pytest.raises(fw.ResultFileError) as caught:
        fw.load(path)
    assert str(path) in str(caught.value) and "run again" in str(caught.value)


def test_bits_that_flip_are_noticed(tmp_path: Path) -> None:
    path = fw.simulate(net(), A2AT, packets=True).save(tmp_path / "result.parquet")
    whole, stored = path.read_bytes(), fw.load(path)
    draw, refused = random.Random(1), 0
    for place in draw.sample(range(len(whole)), 400):
        broken = bytearray(whole)
        broken[place] ^= 1 << draw.randrange(8)
        path.write_bytes(bytes(broken))
        try:
            found = fw.load(path)
        except fw.ResultFileError as error:
            assert "run again" in str(error)
            refused += 1
            continue
        # What is not refused is the result: the bit was in what nothing reads, such as statistics of a page.
        assert found.plan == stored.plan and found.row == stored.row and found.bound.values == stored.bound.values
        assert all(np.array_equal(found.columns[name], column) for name, column in stored.columns.items())
    assert refused > 200


@pytest.mark.parametrize("change", ["values", "summary", "column", "checksum", "no checksum", "format 4"])
def test_a_checksum_is_over_everything(change: str, tmp_path: Path) -> None:
    path = fw.simulate(net(), A2AT).save(tmp_path / "result.parquet")
    table = pq.read_table(path)
    metadata = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    if change == "values":
        metadata["flitwork.values"] = metadata["flitwork.values"].replace('"packets":', '"packets":1', 1)
    elif change == "summary":
        at = table.column_names.index("packets")
        table = table.set_column(at, "packets", pa.array([7]))
    elif change == "column":
        at = table.column_names.index("[channel_flits]")
        flits = table["[channel_flits]"].combine_chunks().flatten().to_numpy().copy()
        flits[0] += 1
        table = table.set_column(at, "[channel_flits]", pa.array([flits], type=table.schema.field(at).type))
    elif change == "checksum":
        metadata["flitwork.sha256"] = metadata["flitwork.sha256"][::-1]
    elif change == "no checksum":
        del metadata["flitwork.sha256"]
    else:
        metadata["flitwork.format"] = "4"
    pq.write_table(table.replace_schema_metadata(metadata), path)
    with pytest.raises(fw.ResultFileError, match=r"checksum.*run again"):
        fw.load(path)


def test_the_name_of_a_folder_is_no_part_of_a_result(tmp_path: Path) -> None:
    result = fw.simulate(net(), A2AT)
    assert fw.load(result.save(tmp_path / "N=3" / "result.parquet")).row == result.row


def test_a_foreign_parquet_file_is_no_result(tmp_path: Path) -> None:
    fw.simulate(net(), A2AT).summary.to_parquet(tmp_path / "foreign.parquet")
    with pytest.raises(fw.ResultFileError, match="no result of flitwork"):
        fw.load(tmp_path / "foreign.parquet")
    with pytest.raises(fw.ResultFileError, match="no such file"):
        fw.load(tmp_path / "missing.parquet")


def test_a_result_cannot_be_stored_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(fw.ConfigError, match="folder that can be written"):
        fw.run_study(_study(), tmp_path / "file" / "results")


def _study() -> Any:
    from common import STUDY
    from flitwork.base.input_files import tomllib
    from flitwork.experiment import parse_study

    return parse_study(tomllib.loads(STUDY))


def test_a_result_that_cannot_be_saved_is_a_clear_error(tmp_path: Path) -> None:
    result = fw.simulate(fw.Torus(3, 3), fw.all_to_all(message_flits=2))
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(fw.ConfigError, match="can be written to"):
        result.save(tmp_path / "file" / "x.parquet")
    with pytest.raises(fw.ConfigError, match="can be written to"):
        result.save(tmp_path)


@pytest.mark.parametrize(
    "call",
    [
        lambda machine: fw.simulate(machine, A2AT),
        lambda machine: fw.Simulation(machine, fw.programs()),
        lambda machine: fw.bound(machine, A2AT),
        lambda machine: fw.pace(machine, A2AT),
        lambda machine: fw.pick(machine, message_flits=8),
        lambda machine: fw.curve(machine, fw.uniform(offered_load=0.1)),
        lambda machine: fw.sweep(lambda n: (machine, A2AT), n=[1]),
        lambda machine: fw.run_goal(fw.Goal("num_ranks 1\nrank 0 {\n}\n"), machine),
    ],
)  # fmt: skip
def test_a_machine_is_no_network_and_the_error_says_which_part_is(call: Callable[[Any], object]) -> None:
    with pytest.raises(fw.ConfigError) as caught:
        call(fw.machines.ap1000())
    assert (caught.value.path, caught.value.value) == ("network", "a machine")
    assert caught.value.hint == "write machine.network, and where ranks run host=machine.host"


def test_a_machine_is_no_host_and_no_workload() -> None:
    machine = fw.machines.ap1000()
    with pytest.raises(fw.ConfigError, match=r"host = a machine: .*; write host=machine.host"):
        fw.simulate(machine.network, A2AT, host=machine)  # type: ignore[arg-type]
    with pytest.raises(fw.ConfigError, match="workload = a machine: expected a Workload"):
        fw.simulate(machine.network, machine)  # type: ignore[arg-type]
