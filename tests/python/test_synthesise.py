"""Timetables: found, proved, simulated, stored, refused; and what the simulator makes of them."""

import dataclasses
import json
import random
from pathlib import Path
from typing import Any

import flitwork as fw
import pandas as pd
import pytest
from flitwork.cli import app
from typer.testing import CliRunner

STEPS = 400_000


def found(*size: int, **more: Any) -> fw.Synthesis:
    options: dict[str, Any] = {"message_flits": 20, "packet_flits": 1, "budget_steps": STEPS, **more}
    return fw.synthesise(fw.Torus(*size), **options)


@pytest.fixture(scope="module")
def five() -> fw.Synthesis:
    return found(5, 5)


def uses_twice(timetable: dict[str, Any]) -> bool:
    """A count of every cycle of every channel and port of the whole torus, independent of the simulator."""
    sizes, period = timetable["sizes"], timetable["period_cycles"]
    used: set[Any] = set()
    nodes: list[list[int]] = [[]]
    for size in sizes:
        nodes = [[*node, x] for node in nodes for x in range(size)]
    for node in nodes:
        for *vector, start, shift in timetable["entries"]:
            shifts = timetable["shifts"][shift]
            at, place = start - sum(s * x for s, x in zip(shifts, node, strict=True)), list(node)

            def take(what: object, at: int) -> bool:
                slots = {(what, (at + flit) % period) for flit in range(timetable["block_flits"])}
                twice = bool(slots & used) or len(slots) < timetable["block_flits"]
                used.update(slots)
                return twice

            if take(("in", *node), at):
                return True
            for dim, length in enumerate(vector):
                for _ in range(abs(length)):
                    if take((dim, length > 0, *place), at):
                        return True
                    place[dim] = (place[dim] + (1 if length > 0 else -1)) % sizes[dim]
                    at += timetable["hop_cycles"]
            if take(("out", *place), at):
                return True
    return False


def is_complete(timetable: dict[str, Any]) -> bool:
    """Whether each node sends one block to each other node."""
    sizes = timetable["sizes"]
    reached = [tuple(d % k for d, k in zip(row, sizes, strict=False)) for row in timetable["entries"]]
    nodes = 1
    for size in sizes:
        nodes *= size
    return len(set(reached)) == len(reached) == nodes - 1 and (0,) * len(sizes) not in reached


@pytest.mark.parametrize("size", [(4,), (5,), (3, 3), (4, 3), (4, 4), (2, 2, 2)])
def test_small_tori_are_near_their_bound_and_run_as_planned(size: tuple[int, ...]) -> None:
    plan = found(*size)
    content = json.loads(plan.timetable.json)
    assert is_complete(content) and not uses_twice(content)
    assert plan.result is not None and plan.result.completion_cycles == plan.planned_cycles >= plan.bound_cycles
    assert plan.timetable.period_cycles <= 1.3 * plan.least_period_cycles
    # No flit waits: every packet takes as long as it would alone.
    result = fw.simulate(plan.network, plan.timetable, packets=True)
    alone = result.packets.groupby("hops")["packet_latency_cycles"].agg(["min", "max"])
    assert (alone["min"] == alone["max"]).all()


def test_five_by_five_takes_one_cycle_more_than_nodes(five: fw.Synthesis) -> None:
    """The sum rule: distances of a 5 x 5 torus add up to no multiple of 24, so 25 cycles are the shortest period."""
    assert five.timetable.period_cycles == 25
    assert five.ratio_to_bound < 1.1
    assert "period" in five.reason and f"{five.least_period_cycles}" in five.reason


def test_lanes_carry_longer_packets() -> None:
    plan = found(5, 5, message_flits=100, packet_flits=20, budget_steps=4 * STEPS)
    content = json.loads(plan.timetable.json)
    assert content["block_flits"] == 100 and not uses_twice(content) and is_complete(content)
    assert plan.result is not None and plan.result.completion_cycles == plan.planned_cycles
    assert plan.ratio_to_bound < 1.35


def machine(draw: random.Random) -> dict[str, Any]:
    """Routers and channels with random delays, buffers and allocators; many cannot run a timetable."""
    size = draw.choice(
        [(2,), (3,), (7,), (8,), (1, 5), (2, 2), (3, 2), (4, 3), (4, 4), (5, 3), (3, 2, 2), (2, 2, 1, 3)]
    )
    allocators = [{"kind": kind} for kind in ("islip", "separable_input_first", "separable_output_first", "wavefront")]
    router = fw.Router(
        vcs=draw.choice([2, 3, 4]), buffer_flits=draw.choice([2, 20, 60]), shared_buffer_flits=draw.choice([0, 0, 20]),
        pipeline=draw.choice(["at_front", "pipelined", "pipelined"]), speculative=draw.choice([False, False, True]),
        routing_delay_cycles=draw.choice([0, 1, 3]), vc_alloc_delay_cycles=draw.choice([0, 1, 2]),
        sw_alloc_delay_cycles=draw.choice([1, 2]), st_delay_cycles=draw.choice([0, 0, 3]),
        switching=draw.choice(["wormhole", "virtual_cut_through"]), input_speedup=draw.choice([1, 2]),
        vc_allocator=draw.choice(allocators), sw_allocator=draw.choice(allocators),
    )  # fmt: skip
    channel = fw.Channel(latency_cycles=draw.choice([0, 0, 2, 9]), local_latency_cycles=draw.choice([0, 2]))
    network = fw.Torus(*size, router=router, channel=channel, nic=fw.Nic(ports=draw.choice([1, 2])))
    lengths = {"message_flits": draw.choice([1, 3, 7, 20]), "packet_flits": draw.choice([1, 1, 2, 3, 8])}
    return {"network": network, **lengths, "seed": draw.randrange(9), "budget_steps": draw.choice([1, 3000, 20000])}


def test_on_random_machines_no_packet_waits() -> None:
    """What is not refused runs to the cycle as planned, and every packet takes as long as it would alone."""
    draw, run = random.Random(3), fw.Run(record=fw.Record(packets=True))
    done = 0
    for _ in range(150):
        drawn = machine(draw)
        try:
            plan = fw.synthesise(**drawn, run=run)
        except fw.ConfigError as error:
            assert error.path.startswith(("network.router", "workload.packet_flits")), error
            continue
        assert plan.result is not None and plan.late_cycles == 0, drawn
        assert plan.completion_cycles >= plan.bound_cycles, drawn
        alone = plan.result.packets.groupby(["hops", "flits"])["network_latency_cycles"].agg(["min", "max"])
        assert (alone["min"] == alone["max"]).all(), drawn
        done += 1
    assert done > 40


def test_ranks_that_keep_late_sends_hold_up_nobody(five: fw.Synthesis) -> None:
    late = fw.Start(kind="uniform", latest_cycles=100, order="drawn")
    sent, kept = (
        fw.simulate(five.network, five.timetable, host=fw.Host(start=late, late_sends=rule), seed=1, packets=True)
        for rule in ("send", "keep")
    )
    assert sent.completion_cycles > kept.completion_cycles > five.planned_cycles
    # What is sent within the timetable takes as long as it would alone.
    for result, waits in ((sent, True), (kept, False)):
        within = result.packets[result.packets["injected_cycle"] < 19 * five.timetable.period_cycles]
        alone = within.groupby("hops")["network_latency_cycles"].agg(["min", "max"])
        assert (alone["min"] != alone["max"]).any() == waits


def test_explain_names_the_timetable(five: fw.Synthesis) -> None:
    recorded = fw.Run(record=fw.Record(waits=True, operations=True))
    causes = fw.explain(fw.simulate(five.network, five.timetable, run=recorded)).causes
    cycles = dict(zip(causes["cause"], causes["cycles"], strict=True))
    assert set(cycles) == {"timetable", "hops"} and sum(cycles.values()) == five.completion_cycles
    assert cycles["timetable"] > 400


def test_disturbed_compares_schedules_under_the_same_disturbance(five: fw.Synthesis) -> None:
    table = five.disturbed(seeds=2, late_percent=[5])
    ratio = table.pivot(index="schedule", columns="disturbance", values="ratio_to_bound")
    kept, waits = "timetable, late sends kept", "timetable that begins after the latest start"
    assert list(ratio.columns) == ["detours of 1 %", "none", "starts up to 5 % late"]
    assert set(ratio.index) == {"timetable", kept, waits, "a2at", "simple_spread", "pairwise_shift"}
    assert ratio.loc["timetable", "none"] == pytest.approx(five.ratio_to_bound)
    late = ratio["starts up to 5 % late"]
    assert late[kept] < late["timetable"] and late[waits] == pytest.approx(five.ratio_to_bound + 24 / 480)
    assert late.min() > 1 and late["pairwise_shift"] > late["a2at"] > late[kept]
    assert set(table["runs"]) == {1, 2}


def test_disturbed_takes_any_network() -> None:
    tree = fw.synthesise(
        fw.KAryNTree(k=2, levels=3), message_flits=20, packet_flits=1, budget_steps=STEPS, skew_cycles=50
    )
    shared = fw.synthesise(fw.Torus(3, 3, terminals_per_router=2), message_flits=5, packet_flits=1, budget_steps=STEPS)
    # A block is a whole message, shorter than the longest packet.
    short = fw.synthesise(fw.Torus(3, 3), message_flits=5, packet_flits=20, budget_steps=STEPS)
    for plan, by_coordinates in ((tree, False), (shared, False), (short, True)):
        schedules = set(plan.disturbed(seeds=1, late_percent=[5, 50])["schedule"])
        assert {"simple_spread", "pairwise_shift", "timetable that begins after the latest start"} < schedules
        assert ("a2at" in schedules) == by_coordinates


@pytest.mark.parametrize("options", [{"seeds": 0}, {"late_percent": [0]}, {"late_percent": ["x"]}, {"late_percent": 5}])
def test_disturbed_says_what_is_wrong(five: fw.Synthesis, options: Any) -> None:
    with pytest.raises(fw.ConfigError, match=next(iter(options))):
        five.disturbed(**options)


def starts_late(cycles: int, **more: Any) -> fw.Host:
    """Rank 7 of 25 starts late."""
    return fw.Host(start=fw.Start(kind="list", cycles=[cycles * (rank == 7) for rank in range(25)]), **more)


def test_a_send_within_the_tolerance_is_sent(five: fw.Synthesis) -> None:
    keeping = [{"late_sends": "keep", "late_tolerance_cycles": cycles} for cycles in (3, 2)]
    sent, within, beyond = (
        fw.simulate(five.network, five.timetable, host=starts_late(3, **options)) for options in ({}, *keeping)
    )
    assert within.digest == sent.digest != beyond.digest


def test_a_timetable_that_begins_when_all_have_started_ends_as_planned() -> None:
    late = fw.Host(start=fw.Start(kind="uniform", latest_cycles=250, order="drawn"))
    plan = found(5, 5, skew_cycles=250)
    assert plan.planned_cycles == found(5, 5).planned_cycles + 250 and plan.late_cycles == 0
    assert "250 cycles until all ranks have started" in plan.reason and plan.to_dict()["skew_cycles"] == 250
    assert fw.simulate(plan.network, plan.timetable, host=late, seed=3).completion_cycles == plan.planned_cycles
    by_pairs = fw.synthesise(fw.Mesh(3, 3), message_flits=20, packet_flits=1, budget_steps=STEPS, skew_cycles=250)
    result = fw.simulate(by_pairs.network, by_pairs.timetable, host=late, seed=3)
    assert result.completion_cycles == by_pairs.planned_cycles == by_pairs.completion_cycles


@pytest.mark.parametrize("skew", [-1, 2.5, "x", 2**41])
def test_a_skew_is_a_number_of_cycles(skew: Any) -> None:
    with pytest.raises(fw.ConfigError, match="skew_cycles"):
        found(3, 3, skew_cycles=skew)


def test_a_simulation_later_than_planned_is_said() -> None:
    plan = found(4)
    assert plan.late_cycles == 0 and "waited" not in plan.reason
    late = dataclasses.replace(plan, planned_cycles=plan.planned_cycles - 3)
    assert late.late_cycles == 3 and "packets waited: the simulation ended 3 cycles later" in late.reason


def test_without_a_simulation_the_planned_time_counts() -> None:
    assert found(4, simulated=False).completion_cycles == found(4).completion_cycles


@pytest.mark.parametrize("budget_steps", [1, 2000, 5000])
def test_few_steps_are_enough(budget_steps: int) -> None:
    """Steps are counted some thousands at a time: the second search may have none left."""
    assert found(8, 8, message_flits=2, budget_steps=budget_steps, simulated=False).steps < 3 * 4096 + budget_steps


def test_a_packet_may_be_longer_than_its_message() -> None:
    longer, equal = (found(5, message_flits=20, packet_flits=packet) for packet in (64, 20))
    assert longer.completion_cycles == equal.completion_cycles == longer.planned_cycles


def test_what_does_not_fit_into_memory_is_refused_before_the_search() -> None:
    with pytest.raises(fw.ConfigError, match="memory_limit_mb"):
        found(16, 16, budget_steps=10**12, run=fw.Run(memory_limit_mb=1))


def test_ctrl_c_gives_the_best_so_far_at_once() -> None:
    def interrupt(block: int, steps: int, period: int) -> bool:
        if steps > 100_000:
            raise KeyboardInterrupt
        return True

    plan = found(8, 8, budget_steps=10**12, progress=interrupt)
    assert plan.interrupted and plan.result is None and not uses_twice(json.loads(plan.timetable.json))
    assert plan.completion_cycles == plan.planned_cycles


def test_equal_seeds_find_the_same(five: fw.Synthesis) -> None:
    assert found(5, 5).timetable.json == five.timetable.json
    assert found(5, 5, seed=2).timetable.json != five.timetable.json


def test_no_more_steps_are_done_than_allowed_and_their_number_is_exact() -> None:
    plans = [found(8, 8, packet_flits=1, budget_steps=300_000, simulated=False) for _ in range(2)]
    assert plans[0].steps == plans[1].steps
    # Steps are counted some thousands at a time, for each length of blocks.
    assert 200_000 < plans[0].steps <= 300_000 + 2 * 70_000


def test_both_kernels_agree(five: fw.Synthesis) -> None:
    router = fw.Router(switching="virtual_cut_through", hold_switch_until_tail=True)
    results = [
        fw.simulate(fw.Torus(5, 5, router=router), five.timetable, run=fw.Run(kernel=kernel))
        for kernel in ("flit", "packet")
    ]
    assert [result.completion_cycles for result in results] == [five.completion_cycles] * 2
    assert results[0].digest == results[1].digest


def test_periods_beyond_all_time_are_refused() -> None:
    slow = {"sizes": [3], "period_cycles": 2**48, "hop_cycles": 1, "block_flits": 1, "shifts": [[0]]}
    text = json.dumps({**slow, "entries": [[1, 0, 0], [-1, 1, 0]]})
    with pytest.raises(fw.ConfigError, match="period_cycles"):
        fw.bound(fw.Torus(3), fw.Timetable.of_json(text, message_flits=10**6))


def test_it_is_stored_and_read(five: fw.Synthesis, tmp_path: Path) -> None:
    file = five.timetable.save(tmp_path / "five.json")
    read = fw.Timetable.read(file, message_flits=20, packet_flits=1)
    assert read.json == five.timetable.json and read.sizes == (5, 5)
    assert fw.simulate(fw.Torus(5, 5), read).completion_cycles == five.completion_cycles
    in_file = {"kind": "timetable", "file": str(file), "message_flits": 20, "packet_flits": 1}
    assert fw.simulate(fw.Torus(5, 5), fw.Workload(in_file)).completion_cycles == five.completion_cycles
    table = five.timetable.table()
    assert list(table.columns) == ["dx", "dy", "start_cycle", "shift_x", "shift_y"] and len(table) == 24


def sent_in_order(timetable: fw.Timetable) -> list[list[int]]:
    """To whom each terminal sends by :meth:`Timetable.table`, in the order of the starts there."""
    table, sizes, period = timetable.table(), timetable.sizes, timetable.period_cycles
    if not sizes:
        return [part["destination"].tolist() for _, part in table.groupby("source")]
    axes = "xyz"[: len(sizes)]
    orders = []
    for rank in range(timetable.terminals):
        place, rest = [], rank
        for size in sizes:
            place.append(rest % size)
            rest //= size
        starts = table["start_cycle"] - sum(table[f"shift_{axis}"] * x for axis, x in zip(axes, place, strict=True))
        to: Any = 0
        stride = 1
        for axis, x, size in zip(axes, place, sizes, strict=True):
            to, stride = to + (table[f"d{axis}"] + x) % size * stride, stride * size
        orders.append(pd.Series(to).iloc[(starts % period).argsort(kind="stable")].tolist())
    return orders


@pytest.mark.parametrize(("ports", "network"), [(1, fw.Torus(4, 3)), (3, fw.Torus(5)), (2, fw.Mesh(3, 2))])
def test_without_a_clock_the_order_remains(ports: int, network: fw.Network) -> None:
    plan = fw.synthesise(network, message_flits=12, packet_flits=4, budget_steps=STEPS)
    schedule, ranks = plan.timetable.schedule(ports=ports), plan.timetable.terminals
    table = schedule.table()
    sends = table[table["operation"] == "send"]
    assert sends.groupby("rank")["peer"].agg(list).tolist() == sent_in_order(plan.timetable)
    assert [len(set(order)) for order in plan.timetable.order().tolist()] == [ranks - 1] * ranks
    assert schedule.check()["messages"] == ranks * (ranks - 1) and set(sends["flits"]) == {12}
    # Sends stand behind the receives, and each waits for the one so many before it.
    waits = [f"{ranks - 1 + k - ports}" if k >= ports else "" for k in range(ranks - 1)]
    assert sends["after"].tolist() == waits * ranks
    done = fw.simulate(network, schedule)
    assert done.row["status"] == "complete" and done.ratio_to_bound < 2
    units = fw.Units(flit_bytes=8, cycle_ns=1)
    goal = fw.Goal.of(plan.network.replace(units=units), plan.timetable)
    assert goal == fw.Goal.of(network.replace(units=units), plan.timetable)
    ran = fw.run_goal(goal, network.replace(units=units))
    assert ran.messages == goal.messages == ranks * (ranks - 1)


def test_an_order_says_what_is_wrong(five: fw.Synthesis) -> None:
    for ports in (0, 25, "x"):
        with pytest.raises(fw.ConfigError, match="ports"):
            five.timetable.schedule(ports=ports)  # type: ignore[arg-type]
    in_bytes = fw.Timetable.of_json(five.timetable.json, message_bytes="8 KiB")
    with pytest.raises(fw.ConfigError, match="message_bytes = '8 KiB'"):
        in_bytes.schedule()
    assert fw.Timetable.of_json(five.timetable.json, message_bytes=64).schedule().table()["bytes"].iloc[0] == 64


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "damaged.json"
    for text in ('{"sizes": [3]', '{"sizes": [0], "period_cycles": 1}', "[1]", ""):
        file.write_text(text)
        with pytest.raises(fw.ConfigError) as error:
            fw.Timetable.read(file)
        assert error.value.path.startswith(str(file)), error.value


@pytest.mark.parametrize("wrong", [5, None, {}, [1], b"x"])
def test_what_is_no_timetable_is_refused(wrong: Any) -> None:
    for make in (fw.Timetable, fw.Timetable.read, fw.Timetable.of_json):
        with pytest.raises(fw.ConfigError):
            make(wrong)


def test_edits_are_rejected_just_where_a_count_finds_a_collision_or_a_loss(five: fw.Synthesis) -> None:
    """Random single edits: planning and an independent count agree on each."""
    draw = random.Random(5)
    good = json.loads(five.timetable.json)
    rejected = 0
    for _ in range(150):
        edited = json.loads(json.dumps(good))
        row = draw.choice(edited["entries"])
        what = draw.randrange(3)
        if what == 0:
            row[-2] = draw.randrange(edited["period_cycles"])
        elif what == 1:
            other = draw.choice(edited["entries"])
            row[-2], other[-2] = other[-2], row[-2]
        else:
            row[draw.randrange(2)] = draw.randrange(-2, 3)
        wrong = not is_complete(edited) or uses_twice(edited)
        try:
            fw.bound(fw.Torus(5, 5), fw.Timetable.of_json(json.dumps(edited), message_flits=1))
        except fw.ConfigError:
            assert wrong, edited
        else:
            assert not wrong, edited
        rejected += wrong
    assert 75 < rejected < 150


@pytest.mark.parametrize(
    ("network", "options", "says"),
    [
        (fw.Torus(4, 4, terminals_per_router=2, tie="random"), {}, "network.routing.kind"),
        (fw.Torus(4, 4, routing="duato", vcs=4), {}, "network.routing.kind"),
        (fw.Torus(4, 4), {"operation": "allgather"}, "operation"),
        (fw.Torus(4, 4), {"message_flits": 0}, "message_flits"),
        (fw.Torus(4, 4), {"seed": -1}, "seed"),
        (fw.Torus(4, 4), {"budget_steps": 0}, "budget_steps"),
        (fw.Torus(4, 4), {"budget_seconds": -1.0}, "budget_seconds"),
        (fw.Torus(1, 1), {}, "network.topology"),
        (fw.Mesh(50, 50), {}, "network.topology"),
        (fw.Torus(4, buffer_flits=1), {}, "network.router.buffer_flits"),
        (fw.Torus(4, router=fw.Router(routing_delay_cycles=1)), {}, "network.router.pipeline"),
        (fw.Torus(4, nic=fw.Nic(packet_gap_cycles=1)), {}, "network.nic.packet_gap_cycles"),
        (fw.Torus(4), {"budget_seconds": "3"}, "budget_seconds"),
        (fw.Torus(4), {"simulated": "no"}, "simulated"),
        (fw.Torus(4), {"progress": 5}, "progress"),
    ],
)
def test_what_it_is_not_for_is_refused(network: fw.Network, options: dict[str, Any], says: str) -> None:
    with pytest.raises(fw.ConfigError) as error:
        fw.synthesise(network, **options)
    assert says in error.value.path


def test_progress_that_returns_false_stops_with_the_best_so_far() -> None:
    seen: list[int] = []

    def stop(block: int, steps: int, period: int) -> bool:
        seen.append(period)
        return not period

    plan = fw.synthesise(fw.Torus(8, 8), message_flits=1, packet_flits=1, budget_steps=10**12, progress=stop)
    assert seen[-1] > 0 and not uses_twice(json.loads(plan.timetable.json))


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "four.json"

    def command(*arguments: str) -> Any:
        return CliRunner().invoke(app, ["synthesise", *arguments])

    done = command("--size", "4x3", "--packet-flits", "1", "--budget-steps", str(STEPS), "-o", str(file))
    assert done.exit_code == 0, done.output
    assert "ratio to bound" in done.stdout and "by_message" in done.stdout
    assert fw.Timetable.read(file).sizes == (4, 3)
    again = command("--size", "4x3", "-o", str(file))
    assert again.exit_code == 2 and "--overwrite" in again.output
    as_json = command("--size", "3x3", "--packet-flits", "1", "--budget-steps", "1000", "--json")
    assert json.loads(as_json.stdout)["timetable"]["sizes"] == [3, 3]


def test_the_command_leaves_nothing_out_unsaid(tmp_path: Path) -> None:
    machine = tmp_path / "machine.toml"
    machine.write_text('network.topology = { kind = "torus", size = [3, 3] }\n')
    hosts = tmp_path / "hosts.toml"
    hosts.write_text(machine.read_text() + "host.ranks_per_terminal = 2\n")

    def command(*arguments: str) -> Any:
        return CliRunner().invoke(app, ["synthesise", *arguments, "--budget-steps", "2000"])

    for arguments, path in [
        ((str(machine), "--size", "4x4"), "--size"),
        ((str(hosts),), "host"),
        ((str(tmp_path / "none.toml"),), "NETWORK"),
        ((str(machine), "--set", "radix=2"), "radix"),
    ]:
        done = command(*arguments)
        assert done.exit_code == 2 and f"error: {path} =" in done.output, done.output
    asked = ("--message-flits", "8", "--set", "packet_flits=1", "--json")
    assert json.loads(command(str(machine), *asked).stdout)["block_flits"] == 1


def by_pairs(network: fw.Network, **more: Any) -> fw.Synthesis:
    options: dict[str, Any] = {"message_flits": 20, "packet_flits": 1, "budget_steps": STEPS, **more}
    return fw.synthesise(network, **options)


@pytest.mark.parametrize(
    "network",
    [
        fw.Mesh(4, 4),
        fw.KAryNTree(k=4, levels=2),
        fw.Crossbar(terminals=5),
        fw.Dragonfly(global_channels_per_router=1, routers_per_group=2),
    ],
    ids=["mesh", "tree", "crossbar", "dragonfly"],
)
def test_other_networks_have_a_start_for_each_message(network: fw.Network, tmp_path: Path) -> None:
    plan = by_pairs(network)
    assert plan.timetable.sizes == () and plan.timetable.hop_cycles is None
    assert plan.ratio_to_bound < 1.6 and plan.timetable.period_cycles <= 1.4 * plan.least_period_cycles
    file = plan.timetable.save(tmp_path / "pairs.json")
    plan.timetable.save(tmp_path / "pairs.csv")
    read = fw.Timetable.read(file, message_flits=20, packet_flits=1)
    result = fw.simulate(network, read, packets=True)
    assert result.completion_cycles == plan.completion_cycles
    alone = result.packets.groupby("hops")["packet_latency_cycles"].agg(["min", "max"])
    assert (alone["min"] == alone["max"]).all()
    table = read.table()
    assert len((tmp_path / "pairs.csv").read_text().splitlines()) == len(table) + 1
    assert list(table.columns) == ["source", "destination", "start_cycle"]
    assert len(table) == read.terminals * (read.terminals - 1) and table["start_cycle"].is_monotonic_increasing
    assert by_pairs(network).timetable.json == plan.timetable.json


@pytest.mark.parametrize(("packet", "block", "most"), [(1, 1, 1.01), (1000, 1_048_000, 1.6)])
def test_messages_longer_than_a_block_go_in_several(packet: int, block: int, most: float) -> None:
    plan = found(3, message_flits=3_000_000, packet_flits=packet, budget_steps=1000, simulated=False)
    # A lane has as many rows as the ring has nodes: three, where two would do.
    assert plan.timetable.block_flits == block and plan.ratio_to_bound < most


def test_even_rings_share_half_a_ring_out_by_pairs() -> None:
    """All nodes alike would load one direction with 36 flits and the other with 28."""
    plan = by_pairs(fw.Torus(16), budget_steps=4 * STEPS)
    assert plan.timetable.sizes == () and plan.timetable.period_cycles < 36 and plan.network == fw.Torus(16)
    assert plan.result is not None and plan.result.completion_cycles < 36 * 20


def test_meshes_longer_than_a_flit_go_in_rounds() -> None:
    plan = by_pairs(fw.Mesh(4, 4), message_flits=100, packet_flits=20)
    assert plan.timetable.block_flits == 100 and plan.result is not None
    assert plan.completion_cycles == plan.result.completion_cycles < 1.2 * plan.bound_cycles


@pytest.mark.parametrize(
    "network",
    [
        fw.Mesh(4, 4, routing="o1turn"),
        fw.Torus(4, 4, routing="valiant", vcs=4),
        fw.KAryNTree(k=2, levels=2, routing="random_up"),
    ],
    ids=["o1turn", "valiant", "random_up"],
)
def test_routes_that_are_drawn_have_no_timetable(network: fw.Network) -> None:
    with pytest.raises(fw.ConfigError, match="the same route"):
        by_pairs(network)


def test_damaged_files_by_pairs_are_refused_with_words(tmp_path: Path) -> None:
    """Random single edits of the text: read and planned, or a named fault."""
    text = by_pairs(fw.Mesh(3, 2)).timetable.json
    draw = random.Random(3)
    refused = 0
    for _ in range(120):
        at = draw.randrange(len(text))
        edited = text[:at] + draw.choice('0123456789,[]{}":-enul') + text[at + draw.randrange(2) :]
        try:
            fw.bound(fw.Mesh(3, 2), fw.Timetable.of_json(edited, message_flits=2))
        except fw.ConfigError:
            refused += 1
    assert refused > 40
