"""A bus beside the network: schedules and tables that name it, the AP1000, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path

import flitwork as fw
import pandas as pd
import pytest


def _both() -> fw.Schedule:
    root = [
        fw.Send(1, flits=40),
        fw.Send(1, flits=40, tag=1, network="bus"),
        fw.Send(2, flits=40, network="bus_same"),
        fw.Send(2, flits=10, network="bus_next"),
    ]
    second = [fw.Receive(0, flits=40), fw.Receive(0, flits=40, tag=1)]
    return fw.Schedule([root, second, [fw.Receive(0, flits=40), fw.Receive(0, flits=40)]])


def test_a_schedule_says_which_network_a_message_takes(tmp_path: Path) -> None:
    net = fw.Torus(4, bus=fw.Bus(flits_per_cycle=2))
    result = fw.simulate(net, _both(), packets=True)
    by_bus = result.packets[result.packets["injection_port"] == 1]
    assert sorted(by_bus["arrived_cycle"]) == [20, 20, 25]
    found = {name: result.row[f"bus_{name}"] for name in ("transfers", "messages", "flits_carried", "busy_cycles")}
    assert found == {"transfers": 1, "messages": 3, "flits_carried": 50, "busy_cycles": 25}
    assert fw.Result.load(result.save(tmp_path / "run.parquet")).row["bus_flits_carried"] == 50
    table = _both().table()
    assert list(table["network"].dropna()) == ["network", "bus", "bus_same", "bus_next"]
    for name in ("work.csv", "work.parquet"):
        read = fw.Schedule.read(_both().save(tmp_path / name))
        assert fw.simulate(net, read).row["digest"] == result.row["digest"]
    # Where all go by routers and channels there is no such column.
    assert "network" not in fw.Schedule([[fw.Send(1, flits=1)], [fw.Receive(0, flits=1)]]).table()


def test_networks_that_make_no_sense_are_named() -> None:
    def fault(send: fw.Send) -> str:
        with pytest.raises(fw.ConfigError) as error:
            fw.Schedule([[send], [fw.Receive(0, flits=1)]])
        return str(error.value)

    assert fault(fw.Send(1, flits=1, network="buss")).startswith("programs[0][0].network = 'buss'")  # type: ignore[arg-type]
    with pytest.raises(fw.ScheduleError, match="has no message before it on the bus"):
        fw.Schedule([[fw.Send(1, flits=1, network="bus_next")], [fw.Receive(0, flits=1)]])
    together = [fw.Send(1, flits=4, network="bus"), fw.Send(2, flits=800, network="bus_same")]
    with pytest.raises(fw.ScheduleError, match="goes together with a message of 4 and cannot be of another size"):
        fw.Schedule([together, [fw.Receive(0, flits=4)], [fw.Receive(0, flits=800)]])
    with pytest.raises(fw.ConfigError, match="it has no bus"):
        fw.simulate(fw.Torus(4), _both())
    rows = {"rank": [0, 1], "operation": ["send", "receive"], "peer": [1, 0], "flits": [1, 1]}
    with pytest.raises(fw.ConfigError, match=r"table\[0\].network = bus2: expected one of network, bus,"):
        fw.Schedule.from_table(pd.DataFrame({**rows, "network": ["bus2", None]}))
    with pytest.raises(fw.ConfigError, match=r"table\[1\].network = bus: expected nothing: only a send"):
        fw.Schedule.from_table(pd.DataFrame({**rows, "network": [None, "bus"]}))


def test_the_ap1000_is_no_faster_than_its_hardware() -> None:
    machine = fw.machines.ap1000(startup_ns=0)
    size = 1 << 20

    def ns(operation: str, algorithm: str, host: fw.Host = machine.host) -> float:
        work = fw.collective(operation, algorithm, message_bytes=size, packet_flits=65535)
        return float(fw.simulate(machine.network, work, host=host).row["completion_ns"])

    assert ns("broadcast", "linear") == 20 * size
    assert ns("scatter", "linear") == ns("gather", "linear") == 15 * 20 * size
    pair = fw.Host(placement={"kind": "list", "terminals": [0, 5]})
    assert 40 * size < ns("all_to_all", "pairwise_shift", pair) < 40.1 * size


def test_the_host_is_one_more_rank_at_the_same_distance_from_all_cells() -> None:
    machine = fw.machines.ap1000(4, 2, host=True)
    work = fw.collective("scatter", "linear", message_bytes=4000, root=8)
    result = fw.simulate(machine.network, work, host=machine.host, packets=True)
    assert len(result.packets) == 8 and (result.packets["injection_port"] == 1).all()
    assert result.packets["arrived_cycle"].diff().dropna().unique().tolist() == [500]


def test_a_barrier_goes_by_wire_and_a_schedule_may_say_so() -> None:
    machine = fw.machines.ap1000(8, 2)
    barrier = fw.simulate(machine.network, fw.collective("barrier", "tree"), host=machine.host)
    assert barrier.completion_cycles == 2 * 4 and barrier.row["flit_hops"] == 0
    news = fw.Schedule([[fw.Send(1, flits=1, network="tree")], [fw.Receive(0, flits=1)]])
    assert fw.simulate(fw.Torus(4, barrier_tree=fw.BarrierTree(hop_cycles=7)), news).completion_cycles == 7
    with pytest.raises(fw.ConfigError, match="it has no barrier tree"):
        fw.simulate(fw.Torus(4), news)
    with pytest.raises(fw.ScheduleError, match="carries signals alone"):
        fw.Schedule([[fw.Send(1, flits=2, network="tree")], [fw.Receive(0, flits=2)]])


@pytest.mark.parametrize("size", [(64, 32), (2, 2, 2), (0, 4), (-1,)])
def test_sizes_that_no_ap1000_has_are_refused(size: tuple[int, ...]) -> None:
    for wrong in (math.nan, -1.0, "5 us", True):
        with pytest.raises(fw.ConfigError, match=r"startup_ns = .*: expected a number of ns, 0 to 1e\+12"):
            fw.machines.ap1000(startup_ns=wrong)  # type: ignore[arg-type]
    with pytest.raises(fw.ConfigError, match="columns and rows, at most 1,024 cells"):
        fw.machines.ap1000(*size)


def test_one_way_is_longer_than_the_shortest() -> None:
    def hops(ways: str) -> int:
        machine = fw.machines.ap1000(5, 4, ways=ways)  # type: ignore[arg-type]
        work = fw.collective("all_to_all", "a2and", message_bytes=40)
        return int(fw.simulate(machine.network, work, host=machine.host, packets=True).packets["hops"].sum())

    # 20 cells send over 1 or 2 channels in x and 1, 2 or 1 in y, or over 1 to 4 and 1 to 3.
    assert hops("shortest") == 20 * (4 * (1 + 1 + 2 + 2) + 5 * (1 + 2 + 1))
    assert hops("plus") == 20 * (4 * (1 + 2 + 3 + 4) + 5 * (1 + 2 + 3))
