"""``fw.explain``: tiny cases by hand, pieces that sum to the completion time, and what cannot be explained."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import flitwork as fw
import numpy as np
import pytest
from flitwork.explain.critical_path import critical_path
from flitwork.explain.records import Records, with_records

RECORDED = fw.Run(record=fw.Record(waits=True, operations=True))
#: One virtual channel, so that packets follow each other.
ONE_VC = fw.Router(vcs=1, buffer_flits=8)
#: What the packet kernel runs.
WHOLE_PACKETS = fw.Router(switching="virtual_cut_through", hold_switch_until_tail=True, buffer_flits=16, vcs=2)


def causes(result: Any) -> dict[str, int]:
    table = fw.explain(result).causes
    return dict(zip(table["cause"], table["cycles"].tolist(), strict=True))


def messages(count: int, flits: int) -> fw.Schedule:
    """So many messages from rank 0 to rank 1, all posted at once."""
    return fw.Schedule(
        [
            [fw.Send(1, flits=flits, tag=i) for i in range(count)],
            [fw.Receive(0, flits=flits, tag=i) for i in range(count)],
        ]
    )


#: Rank 0 computes and sends to rank 1.
COMPUTED = fw.Schedule([[fw.Compute(cycles=50), fw.Send(1, flits=4)], [fw.Receive(0, flits=4)]])


def delays(result: fw.Result) -> tuple[int, int, int]:
    """Into the network, over a router and a channel, and over the last router (docs/model.md)."""
    router, channel = result.spec["network"]["router"], result.spec["network"]["channel"]
    through = (
        router["routing_delay_cycles"]
        + router["vc_alloc_delay_cycles"]
        + router["sw_alloc_delay_cycles"]
        + router["st_delay_cycles"]
    )
    local = channel["local_latency_cycles"]
    return local + 1, through + channel["latency_cycles"], through + local


def test_a_message_alone_travels_and_sends_its_flits() -> None:
    result = fw.simulate(fw.Mesh(2), messages(1, 8), run=RECORDED)
    into, hop, out = delays(result)
    assert result.completion_cycles == into + hop + out + 7
    assert causes(result) == {"serialisation": 7, "hops": into + hop + out}


def test_the_ranks_of_the_path_include_the_one_where_it_ends() -> None:
    ranks: list[list[Any]] = [[fw.Compute(100), fw.Send(1, flits=4)], [fw.Receive(0, flits=4)], [], []]
    found = fw.explain(fw.simulate(fw.Torus(4), fw.Schedule(ranks)))
    assert "2 stretches over 2 ranks and ends at rank 1." in str(found)
    assert "100, at rank 0." in str(found)


def test_messages_behind_others_find_the_source_busy() -> None:
    result = fw.simulate(fw.Mesh(2), messages(3, 8), run=RECORDED)
    assert causes(result) == {"source_busy": 16, "serialisation": 7, "hops": sum(delays(result))}


def test_packets_of_one_message_are_its_own_flits_and_pauses() -> None:
    work = fw.Schedule([[fw.Send(1, flits=8)], [fw.Receive(0, flits=8)]], packet_flits=4)
    network = fw.Mesh(2, nic=fw.Nic(packet_gap_cycles=5))
    result = fw.simulate(network, work, run=RECORDED)
    assert causes(result) == {"serialisation": 4 + 3, "pacing": 5, "hops": sum(delays(result))}


@pytest.mark.parametrize("order", ["round_robin", "random"])
def test_packets_of_messages_in_turn_find_the_source_busy(order: str) -> None:
    """Between two packets of a message its port sends those of others."""
    service = fw.Service(order=order, queue_pairs="peer", start_jitter_cycles=8)  # type: ignore[arg-type]
    net = fw.Crossbar(terminals=4, nic=fw.Nic(service=service), vcs=1, buffer_flits=16)
    work = fw.collective("all_to_all", "pairwise_shift", message_flits=16, packet_flits=1)
    found = fw.explain(fw.simulate(net, work, host=fw.Host(ranks_per_terminal=4), run=RECORDED))
    causes = found.causes.set_index("cause")["cycles"]
    assert "other" not in causes and causes["source_busy"] > causes["serialisation"]
    assert causes.sum() == found.result.completion_cycles


def test_what_an_adapter_spends_before_a_message_stands_on_the_path() -> None:
    network = fw.Mesh(2, nic=fw.Nic(service=fw.Service(order="round_robin", message_overhead_cycles=9)))
    result = fw.simulate(network, messages(1, 8), run=RECORDED)
    assert causes(result) == {"message_overhead": 9, "serialisation": 7, "hops": sum(delays(result))}


def test_what_a_port_waits_for_besides_the_adapter_keeps_its_cause() -> None:
    """A pause, or reading, is longer than the overhead of one cycle beside it."""
    service = fw.Service(order="round_robin", message_overhead_cycles=1)
    paced = fw.simulate(fw.Mesh(2, nic=fw.Nic(packet_gap_cycles=50, service=service)), messages(3, 8), run=RECORDED)
    assert causes(paced)["pacing"] >= 98 and causes(paced)["message_overhead"] <= 3
    slow, plain = fw.Host(read_flits_per_cycle=0.1), fw.Nic(service=service)
    read = fw.simulate(fw.Mesh(2, nic=plain), messages(3, 8), host=slow, run=RECORDED)
    assert causes(read)["reading"] >= 3 * 80 - 2 and causes(read).get("message_overhead", 0) <= 3


def test_messages_by_the_bus() -> None:
    """3 cycles of arbitration and 20 of 40 flits; the second message waits for the first."""
    network = fw.Mesh(3, bus=fw.Bus(flits_per_cycle=2, arbitration_cycles=3))
    sends = [[fw.Send(2, flits=40, network="bus", tag=rank)] for rank in range(2)]
    work = fw.Schedule([*sends, [fw.Receive(rank, flits=40, tag=rank) for rank in range(2)]])
    explained = fw.explain(fw.simulate(network, work, run=RECORDED))
    assert causes(explained.result) == {"bus": 23, "bus_busy": 23}
    assert explained.path[["what", "rank"]].to_numpy().tolist() == [["queued", 1], ["sending", 1]]


def test_messages_by_the_bus_count_among_packets() -> None:
    network = fw.Mesh(2, bus=fw.Bus(flits_per_cycle=2))
    sends = [fw.Send(1, flits=7), fw.Send(1, flits=10, network="bus", tag=1)]
    work = fw.Schedule([sends, [fw.Receive(0, flits=7), fw.Receive(0, flits=10, tag=1)]])
    result = fw.simulate(network, work, run=RECORDED)
    found = fw.explain(result).causes_of_packets.set_index("cause")["cycles_per_packet"]
    assert found["bus"] == 5 / 2 and found["serialisation"] == 6 / 2
    assert found.sum() == result.row["packet_latency_mean_cycles"]


@pytest.mark.parametrize("algorithm", ["tree", "dissemination"])
def test_news_by_wire_takes_nothing_but_its_way(algorithm: str) -> None:
    network = fw.Mesh(4, barrier_tree=fw.BarrierTree(hop_cycles=5))
    result = fw.simulate(network, fw.collective("barrier", algorithm), run=RECORDED)
    assert causes(result) == {"hops": result.completion_cycles}
    assert fw.explain(result).causes_of_packets[["cause", "cycles_per_packet"]].to_numpy().tolist() == [["hops", 5.0]]


def test_a_run_of_nothing_says_so() -> None:
    for work in (fw.Schedule([[], []]), fw.uniform(offered_load=1e-6)):
        assert "no packet was measured" in fw.explain(fw.simulate(fw.Torus(4), work, seed=1)).text


def test_a_message_that_asks_first() -> None:
    """Request and answer are one flit each, and take the way of a packet; a receive that is late holds up the answer."""
    rendezvous, way = fw.Host(eager_limit_flits=4), sum(delays(fw.simulate(fw.Mesh(2), messages(1, 8), run=RECORDED)))
    explained = fw.explain(fw.simulate(fw.Mesh(2), messages(1, 8), host=rendezvous, run=RECORDED))
    assert explained.path[["what", "rank", "to_rank"]].to_numpy().tolist() == [
        ["request", 0, 1],
        ["answer", 1, 0],
        ["message", 0, 1],
    ]
    assert causes(explained.result) == {"rendezvous": 2 * way, "serialisation": 7, "hops": way}
    late = fw.Schedule([[fw.Send(1, flits=8)], [fw.Compute(cycles=100), fw.Receive(0, flits=8)]])
    explained = fw.explain(fw.simulate(fw.Mesh(2), late, host=rendezvous, run=RECORDED))
    assert list(explained.path["what"]) == ["computing", "answer", "message"]
    assert causes(explained.result) == {"computing": 100, "rendezvous": way, "serialisation": 7, "hops": way}


def test_a_late_start_and_a_computation_stand_on_the_path() -> None:
    work = fw.Schedule([[fw.Compute(cycles=30), fw.Send(1, flits=4)], [fw.Receive(0, flits=4)]])
    result = fw.simulate(fw.Mesh(2), work, host=fw.Host(start={"kind": "list", "cycles": [70, 0]}), run=RECORDED)
    found = causes(result)
    assert found == {"late_start": 70, "computing": 30, "serialisation": 3, "hops": sum(delays(result))}
    explanation = fw.explain(result)
    assert list(explanation.path["what"]) == ["late_start", "computing", "message"]
    assert list(explanation.path["to_rank"]) == [0, 0, 1]
    assert "waited for a rank that started late; most of it, 70, at rank 0" in explanation.text


def test_detours_of_the_operating_system_stand_on_the_path() -> None:
    # The computation begins behind the first detour, cycles 0 to 9, and stands still in the second.
    noise = fw.noise.Periodic(period_cycles=40, duration_cycles=10)
    result = fw.simulate(fw.Mesh(2), COMPUTED, host=fw.Host(noise=noise), run=RECORDED)
    found = causes(result)
    assert found.pop("os_noise") == result.completion_cycles - sum(found.values())
    assert found == {"computing": 50, "serialisation": 3, "hops": sum(delays(result))}


def test_the_path_goes_through_whom_the_last_rank_waited_for() -> None:
    relay = fw.Schedule(
        [
            [fw.Compute(cycles=50), fw.Send(1, flits=4)],
            [fw.Receive(0, flits=4), fw.Wait([0]), fw.Send(2, flits=4)],
            [fw.Receive(1, flits=4)],
        ]
    )
    explanation = fw.explain(fw.simulate(fw.Mesh(3), relay, run=RECORDED))
    path = explanation.path
    assert path[["what", "rank", "to_rank"]].to_numpy().tolist() == [
        ["computing", 0, 0],
        ["message", 0, 1],
        ["message", 1, 2],
    ]


def test_two_that_want_one_channel() -> None:
    # Both heads meet at router 1: that of rank 1, which is there first, keeps the only VC of the channel to router 2.
    work = fw.Schedule(
        [
            [fw.Send(2, flits=8)],
            [fw.Send(2, flits=8)],
            [fw.Receive(0, flits=8), fw.Receive(1, flits=8)],
        ]
    )
    result = fw.simulate(fw.Mesh(3, router=ONE_VC), work, run=RECORDED)
    into, hop, out = delays(result)
    explanation = fw.explain(result)
    found = dict(zip(explanation.causes["cause"], explanation.causes["cycles"].tolist(), strict=True))
    alone = into + 2 * hop + out + 7
    assert found["hops"] == into + 2 * hop + out
    assert found["serialisation"] == 7
    waited = result.completion_cycles - alone
    # The tail of the first leaves router 1 in cycle `into + hop - 1 + 7 - ...`: 8 flits, `hop` cycles behind it.
    assert waited == 8 - hop
    assert found["no_credit"] == waited
    assert explanation.pieces.dropna(subset=["place"])["place"].unique().tolist() == ["channel (1) +x"]
    waiting = explanation.channels.set_index(["router", "class"]).loc[(1, "+x"), "waiting_packets"]
    assert waiting == pytest.approx(waited / result.end_cycle)


def test_two_that_leave_by_one_ejection_port() -> None:
    work = fw.Schedule(
        [
            [fw.Send(1, flits=8)],
            [fw.Receive(0, flits=8), fw.Receive(2, flits=8)],
            [fw.Send(1, flits=8)],
        ]
    )
    result = fw.simulate(fw.Mesh(3, router=ONE_VC), work, run=RECORDED)
    assert causes(result)["ejection_busy"] == 8
    assert "ejection port of router (1)" in fw.explain(result).text


def test_each_head_takes_what_the_model_says_and_the_rest_are_waits() -> None:
    for router in (ONE_VC, fw.Router(vcs=2, buffer_flits=3, routing_delay_cycles=2, vc_alloc_delay_cycles=1)):
        work = fw.all_to_all("a2a", message_flits=12, packet_flits=6)
        result = fw.simulate(fw.Mesh(3, 3, router=router), work, run=RECORDED)
        into, hop, out = delays(result)
        records = Records(result)
        packets, waits = records.packets, records.waits
        head = np.bincount(waits.packet[~waits.body], waits.cycles[~waits.body], len(packets.flits))
        hops = records.result.packets["hops"].to_numpy()
        assert (packets.head_arrived - packets.created - head == into + hops * hop + out).all()
        assert (records.serialisation == packets.flits - 1).all()
        assert len(waits.packet) > 10


def program(rng: random.Random, ranks: int, bus: bool = False) -> fw.Schedule:
    """A random schedule that can end: operations are made one after the other. With ``bus`` half of it goes there."""
    programs: list[list[Any]] = [[] for _ in range(ranks)]

    def add(rank: int, operation: Any) -> None:
        programs[rank].append(operation)

    def some(rank: int) -> list[int]:
        made = range(len(programs[rank]))
        return rng.sample(made, min(len(made), rng.randrange(3)))

    for tag in range(rng.randrange(1, 4 * ranks)):
        sender, receiver = rng.sample(range(ranks), 2)
        way: Any = rng.choice(["bus", "network"]) if bus else "network"
        add(sender, fw.Send(receiver, flits=rng.randrange(1, 40), tag=tag, after=some(sender), network=way))
        add(receiver, fw.Receive(sender, flits=40, tag=tag))
        if rng.random() < 0.3:
            add(sender, fw.Compute(cycles=rng.randrange(1, 60), after=some(sender)))
        if rng.random() < 0.3 and programs[receiver]:
            add(receiver, fw.Wait(some(receiver)))
    return fw.Schedule(programs, packet_flits=rng.choice([3, 7, 16]))


@pytest.mark.parametrize("seed", range(24))
def test_the_pieces_sum_to_the_completion_time(seed: int) -> None:
    rng = random.Random(seed)
    router = rng.choice([WHOLE_PACKETS, ONE_VC, fw.Router(vcs=2, buffer_flits=rng.choice([1, 2, 16]))])
    router = router.replace(routing_delay_cycles=rng.randrange(3), st_delay_cycles=rng.randrange(1, 3))
    if seed % 2:
        router = router.replace(pipeline="pipelined", vc_alloc_delay_cycles=seed % 3)
    nic = fw.Nic(ports=rng.choice([1, 2]), packet_gap_cycles=rng.choice([0, 0, 6]))
    make = fw.Mesh if router.vcs == 1 else fw.Torus
    network = make(3, rng.choice([1, 2]), router=router, nic=nic)
    start = {"kind": "normal_range", "latest_cycles": rng.choice([0, 80])}
    host = fw.Host(send_queue=rng.choice(["program_order", "as_ready"]), start=start, ranks_per_terminal=1 + seed % 2)
    ranks = 3 * network.spec["topology"]["size"][1] * (1 + seed % 2)
    if seed % 7 == 3:
        network = network.replace(
            bus=fw.Bus(flits_per_cycle=rng.choice([0.3, 1, 4]), arbitration_cycles=rng.randrange(9))
        )
    work = program(rng, ranks, seed % 7 == 3)
    background = fw.uniform(offered_load=0.1, packet_flits=4) if seed % 5 == 0 else None
    if seed % 3 == 1:
        host = host.replace(eager_limit_flits=rng.choice([0, 4, 20]), control_flits=rng.choice([1, 3]))
    if seed % 4 == 2 and not background and not nic.packet_gap_cycles:
        service = fw.Service(order="random" if seed % 8 == 2 else "round_robin")
        service = service.replace(message_overhead_cycles=rng.choice([0, 5]), start_jitter_cycles=rng.choice([0, 20]))
        network = network.replace(nic=nic.replace(service=service))
    run = fw.Run(record=fw.Record(operations=True), warmup_cycles=50) if background else fw.Run()
    plain = fw.simulate(network, work, host=host, background=background, run=run)
    record = run.replace(record=fw.Record(waits=True, operations=True))
    recorded = fw.simulate(network, work, host=host, background=background, run=record)
    assert recorded.digest == plain.digest
    if router == WHOLE_PACKETS:
        assert (plain.kernel, recorded.kernel) == ("packet", "flit")
    path = critical_path(Records(recorded))
    at = 0
    for one in path:
        assert one.begin == at
        assert sum(piece.length for piece in one.pieces) == one.end - one.begin
        assert all(piece.length > 0 for piece in one.pieces)
        at = one.end
    assert at == plain.completion_cycles
    assert "other" not in set(fw.explain(recorded).causes["cause"])


def test_causes_of_an_open_loop_sum_to_the_mean_latency() -> None:
    result = fw.simulate(fw.Torus(4, 4), fw.uniform(offered_load=0.5, packet_flits=4), seed=3)
    explanation = fw.explain(result)
    assert explanation.path.empty
    assert explanation.causes["cycles_per_packet"].sum() == pytest.approx(result.mean_packet_latency_cycles)
    assert "no critical path" in explanation.text
    assert explanation.channels["waiting_packets"].max() > 0
    with pytest.raises(fw.ConfigError, match="a workload of ranks"):
        explanation.space_time()


def test_steps_name_the_pair_that_holds_up_the_others() -> None:
    work = fw.all_to_all("a2a", sync="local", message_flits=16)
    steps = fw.explain(fw.simulate(fw.Mesh(4), work)).steps
    assert list(steps["messages"]) == [4, 4, 4]
    assert (steps["held_up_cycles"] == steps["slowest_cycles"] - steps["median_cycles"]).all()
    assert (steps["slowest_from"] != steps["slowest_to"]).all()


def test_a_stored_result_is_simulated_again(tmp_path: Path) -> None:
    result = fw.simulate(fw.Torus(3, 3, router=WHOLE_PACKETS), fw.all_to_all("a2at", message_flits=10))
    assert result.kernel == "packet"
    explanation = fw.explain(result.save(tmp_path / "a.parquet"))
    assert explanation.result.digest == result.digest
    assert explanation.causes["cycles"].sum() == result.completion_cycles
    # With the records in it there is nothing to simulate.
    assert with_records(explanation.result) is explanation.result


def test_a_schedule_is_stored_with_its_result(tmp_path: Path) -> None:
    result = fw.simulate(fw.Mesh(2), messages(1, 4))
    stored = fw.Result.load(result.save(tmp_path / "b.parquet"))
    assert [one.sha256 for one in stored.tables] == [result.spec["workload"]["schedule"]["sha256"]]
    explanation = fw.explain(tmp_path / "b.parquet")
    assert explanation.result.digest == result.digest
    trace = fw.trace({"cycle": [0, 3], "source": [0, 1], "destination": [1, 0], "flits": [4, 4]})
    folder = tmp_path / "study"
    points = fw.sweep(lambda: (fw.Mesh(2), messages(1, 4)), out=folder, seeds=[1, 2])
    assert len([*(folder / "tables").iterdir()]) == 1 and len(points) == 2
    assert fw.explain(next((folder / "points").glob("*.parquet"))).result.digest == result.digest
    packets = fw.simulate(fw.Mesh(2), trace)
    assert fw.explain(packets.save(tmp_path / "t.parquet")).result.digest == packets.digest


def test_what_cannot_be_simulated_again_says_what_to_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flitwork.results.result_file._MOST_TABLES", 10)
    stored = fw.simulate(fw.Mesh(2), messages(1, 4)).save(tmp_path / "b.parquet")
    assert not fw.Result.load(stored).tables
    with pytest.raises(fw.ConfigError, match=r"waits = true, operations = true"):
        fw.explain(stored)
    with pytest.raises(fw.ConfigError, match="a result of a network with routers"):
        fw.explain(3)
    with pytest.raises(fw.ResultFileError, match="there is no such file"):
        fw.explain(tmp_path / "none.parquet")


def test_pictures_and_tables_are_written(tmp_path: Path) -> None:
    result = fw.simulate(
        fw.Torus(3, 3, router=fw.Router(vcs=2, buffer_flits=2)), fw.all_to_all("a2a", message_flits=10)
    )
    explanation = fw.explain(result)
    names = {path.name for path in explanation.save(tmp_path)}
    assert {"explanation.txt", "path.csv", "space_time.png", "heat_map.png"} <= names
    assert (tmp_path / "explanation.txt").read_text() == explanation.text + "\n"
    figure = explanation.space_time()
    assert figure.axes[0].get_xlim() == (0, result.completion_cycles)
    assert [text.get_text() for text in figure.legends[0].get_texts()][-1] == "critical path"


def test_records_are_tables_too() -> None:
    result = fw.simulate(fw.Mesh(2), messages(2, 4), run=RECORDED)
    assert list(result.operations["kind"]) == ["send", "send", "receive", "receive"]
    assert list(result.operations["from_operation"].dropna()) == [0, 1]
    assert list(result.packets["operation"]) == [0, 1]
    assert result.waits.empty
    plain = fw.simulate(fw.Mesh(2), messages(2, 4))
    assert plain.operations.empty
    assert plain.waits.empty
    assert plain.plan_hash == fw.simulate(fw.Mesh(2), messages(2, 4), run=fw.Run(record=fw.Record())).plan_hash


@pytest.mark.parametrize(
    ("ports", "faults"), [(1, {}), (2, {}), (1, {"terminals": ["n1"], "cables": [["leaf0", "spine1"]]})]
)
def test_terminals_are_called_by_their_names(ports: int, faults: dict[str, Any]) -> None:
    names = [f"n{number}" for number in range(9)]
    cables = [[leaf, spine] for leaf in ("leaf0", "leaf1") for spine in ("spine0", "spine1")]
    net = fw.Graph(
        cables=cables, names=["leaf0", "leaf1", "spine0", "spine1"], terminals=[4, 3, 0, 2], terminal_names=names,
        routing="lash", vcs=2, buffer_flits=2, nic=fw.Nic(ports=ports), without=fw.Without(**faults),
    )  # fmt: skip
    left = [name for name in names if name not in faults.get("terminals", ())]
    run = fw.Run(record=fw.Record(waits=True, operations=True, packets=True))
    result = fw.simulate(net, fw.all_to_all("a2a", message_flits=6), run=run)
    places, seen = fw.explain(result).places, Counter[str]()
    ends = {packet: (left[row.src], left[row.dst]) for packet, row in result.packets[["src", "dst"]].iterrows()}
    for row in result.waits.to_dict("records"):
        at_source = row["reason"].startswith("source")
        port, _, terminal = places.name(row["router"], row["port"], at_source).partition(" port of ")
        # Behind a packet it waits for what that one waits for.
        if terminal and row["reason"] != "behind_packet":
            assert terminal == ends[row["packet"]][0 if at_source else 1]
            seen[port] += 1
    assert seen["an injection"] > 10 and seen["an ejection"] > 5
    assert [places.rank(rank) for rank in (0, 1)] == [f"0 ({left[0]})", f"1 ({left[1]})"]
    assert re.search(r"ends at rank \d \(n\d\)\.", fw.explain(result).text)


def test_ranks_are_called_by_the_terminals_that_they_run_on() -> None:
    net = fw.Graph(cables=[["a", "b"]], terminals=[2, 1], terminal_names=["x", "y", "z"])
    host = fw.Host(ranks_per_terminal=2, placement={"kind": "list", "terminals": [2, 0, 1, 2, 0, 1]})
    work = fw.collective("all_to_all", "pairwise_shift", message_flits=4)
    result = fw.simulate(net, work, host=host, run=RECORDED)
    places = fw.explain(result).places
    assert [places.rank(rank) for rank in range(6)] == ["0 (z)", "1 (x)", "2 (y)", "3 (z)", "4 (x)", "5 (y)"]


def test_ranks_of_a_schedule_are_called_by_their_terminals(tmp_path: Path) -> None:
    """Also from a file: its specification has the schedule by hash alone. A rank without messages is a number."""
    net = fw.Graph(cables=[["a", "b"]], terminals=[2, 1], terminal_names=["x", "y", "z"])
    work = fw.Schedule([[fw.Send(2, flits=4)], [fw.Compute(cycles=1)], [fw.Receive(0, flits=4)]])
    result = fw.simulate(net, work, run=RECORDED)
    result.save(tmp_path / "run.parquet")
    for found in (fw.explain(result), fw.explain(tmp_path / "run.parquet")):
        assert [found.places.rank(rank) for rank in range(3)] == ["0 (x)", "1", "2 (z)"]
        assert "ends at rank 2 (z)." in found.text
