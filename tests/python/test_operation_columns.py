"""Operations have one encoding between Python and the simulator: the same numbers in rows, in columns and in records."""

from __future__ import annotations

import random
from typing import Any, get_args, get_type_hints

import flitwork as fw
import numpy as np
import pytest
from flitwork import _core
from flitwork.running.simulation import Told
from flitwork.workloads import operation_columns, schedule_file
from flitwork.workloads.operations import NETWORKS, Operation, plain_operations

UNITS = fw.Units(flit_bytes=16, cycle_ns=2)
COLUMNS = ("operations", "kind", "peer", "amount", "tag", "step", "via", "dependencies", "after")


def test_names_and_numbers_of_kinds_are_the_same_on_both_sides() -> None:
    names = _core.operation_kinds()
    assert len({*names}) == len(names)
    numbers = {name: getattr(_core.Kind, name.upper()) for name in names}
    assert numbers == {name: number for number, name in enumerate(names)}
    stated = {name for name in vars(_core.Kind) if name.isupper()} - {"FOREVER"}
    assert stated == {name.upper() for name in names}
    assert schedule_file.KINDS == ("send", "receive", "compute", "wait")
    plain = [fw.Send(1, flits=1), fw.Receive(1, flits=1), fw.Compute(1), fw.Wait([0])]
    assert [names[row.kind] for row in plain_operations(plain)] == [type(one).__name__.lower() for one in plain]


def test_networks_of_a_message_are_named_alike_on_both_sides() -> None:
    assert get_args(get_type_hints(fw.Send)["network"]) == NETWORKS
    sends = [fw.Send(1, flits=1, network=name) for name in NETWORKS]  # type: ignore[arg-type]
    assert [row.via for row in plain_operations(sends)] == [*range(5)]


def random_programs(draw: random.Random) -> list[list[Operation]]:
    """Programs with every kind of operation and field; whether they can finish does not matter."""
    ranks = draw.randint(1, 5)
    in_bytes, in_ns = draw.random() < 0.5, draw.random() < 0.5
    kind_of_int = draw.choice([int, np.int64, np.uint32])

    def number(most: int) -> Any:
        return kind_of_int(draw.randrange(most))

    def size() -> dict[str, Any]:
        return {"bytes" if in_bytes else "flits": 1 + number(2**20)}

    def operation(before: int) -> Any:
        after = draw.choice([(), [], [number(before) for _ in range(draw.randint(0, 3))] if before else ()])
        step = draw.choice([None, number(9)])
        match draw.randrange(4):
            case 0:
                network: Any = draw.choice([NETWORKS[0]] * 5 + [*NETWORKS])
                return fw.Send(number(ranks), tag=number(5), after=after, step=step, network=network, **size())
            case 1:
                source, tag = draw.choice([None, number(ranks)]), draw.choice([None, number(5)])
                return fw.Receive(source, tag=tag, after=after, step=step, **size())
            case 2:
                return fw.Compute(**{"ns" if in_ns else "cycles": number(2**31)}, after=after)
        return fw.Wait(after)

    return [[operation(before) for before in range(draw.randint(0, 8))] for _ in range(ranks)]


def all_of(columns: _core.Operations) -> dict[str, list[int]]:
    return {name: getattr(columns, name).tolist() for name in COLUMNS}


def test_reading_field_by_field_gives_what_reading_one_by_one_does() -> None:
    kinds = set()
    for seed in range(400):
        programs = random_programs(random.Random(seed))
        units, columns = operation_columns._by_field(programs)
        other_units, one_by_one = operation_columns._by_operation(programs)
        assert (units, all_of(columns)) == (other_units, all_of(one_by_one)), seed
        kinds |= {*columns.kind.tolist()}
    assert kinds == {0, 1, 2, 3}


def test_columns_come_back_as_they_were_given() -> None:
    for seed in range(200):
        programs = random_programs(random.Random(seed))
        units, columns = operation_columns.columns_of(programs)
        try:
            table = _core.Table.schedule("some", units, columns)
        except fw.ScheduleError:
            continue
        back = table.operations()
        assert (table.name, table.ranks, table.in_units) == ("some", len(programs), units)
        assert all_of(back) == all_of(columns) and len(back) == table.rows
        assert _core.Table.schedule(table.name, table.in_units, back) == table
        assert fw.Schedule.of_core(table).spec["schedule"] == table


def test_a_program_of_another_format_comes_back_as_it_was_given(tmp_path: Any) -> None:
    (tmp_path / "x.goal").write_text(
        "num_ranks 2\nrank 0 {\nl1: calc 5 cpu 1\nl2: send 8b to 1 tag 3\nl2 irequires l1\n}\n"
        "rank 1 {\nl1: recv 8b from 0 tag 3\n}\n"
    )
    table = fw.read_goal(tmp_path / "x.goal")._core.schedule()
    kinds = {_core.operation_kinds()[kind] for kind in table.operations().kind.tolist()}
    assert {"task", "send", "receive"} <= kinds
    assert _core.Table.schedule(table.name, table.in_units, table.operations()) == table


def wrong_programs() -> list[list[Any]]:
    good = fw.Send(1, flits=4)
    return [
        [fw.Send(-1, flits=4)],
        [fw.Send(2**32 - 1, flits=4)],
        [fw.Send(2**70, flits=4)],
        [fw.Send(True, flits=4)],
        [fw.Send(1.0, flits=4)],  # type: ignore[arg-type]
        [fw.Send(None, flits=4)],  # type: ignore[arg-type]
        [fw.Send(1, flits=0)],
        [fw.Send(1, flits=2**41)],
        [fw.Send(1)],
        [fw.Send(1, flits=4, bytes=4)],
        [fw.Send(1, flits=4, tag=None)],  # type: ignore[arg-type]
        [fw.Send(1, flits=4, network="air")],  # type: ignore[arg-type]
        [fw.Send(1, flits=4, network=[])],  # type: ignore[arg-type]
        [fw.Send(1, flits=4, after=3)],  # type: ignore[arg-type]
        [fw.Send(1, flits=4, after="1")],  # type: ignore[arg-type]
        [fw.Send(1, flits=4, after=[0.5])],  # type: ignore[list-item]
        [good, fw.Send(1, bytes=4)],
        [fw.Compute(4), fw.Compute(ns=4)],
        [fw.Compute()],
        [good, "send"],
        [good, 7],
    ]


@pytest.mark.parametrize("program", wrong_programs(), ids=repr)
def test_what_is_wrong_is_named_by_its_place(program: list[Any]) -> None:
    place = rf"^programs\[1\]\[{len(program) - 1}\]"
    with pytest.raises(fw.ConfigError, match=place) as found:
        fw.Schedule([[], program])
    with pytest.raises(fw.ConfigError) as one_by_one:
        operation_columns._by_operation([[], program])
    assert str(found.value) == str(one_by_one.value)


def test_iterables_of_any_kind_are_programs() -> None:
    programs: list[list[Operation]] = [[fw.Send(1, flits=4)], [fw.Receive(0, flits=4)]]
    once = fw.Schedule(iter([(op for op in programs[0]), tuple(programs[1])]))
    assert once.spec == fw.Schedule(programs).spec


def test_rows_in_any_order_of_ranks_take_what_they_wait_for_with_them() -> None:
    draw = random.Random(5)
    for seed in range(60):
        try:
            whole = fw.Schedule(random_programs(random.Random(seed)), name="table")
        except (fw.ScheduleError, fw.ConfigError):
            continue
        frame = whole.table()
        if not len(frame) or frame["rank"].nunique() < 2:
            continue
        # Ranks are mixed, the rows of each stay in order.
        mixed = frame.assign(key=[draw.random() for _ in range(len(frame))])
        mixed["key"] = mixed.groupby("rank")["key"].transform(lambda keys: sorted(keys))
        mixed = mixed.sort_values("key").drop(columns="key")
        again = fw.Schedule.from_table(mixed, name="table")
        assert again.table().equals(fw.Schedule.from_table(frame, name="table").table())


def test_ranks_are_told_bytes_and_ns_or_flits_and_cycles() -> None:
    def cycles(send: fw.Send, receive: fw.Receive, compute: fw.Compute, net: fw.Network) -> int:
        sim = fw.Simulation(net, fw.programs())
        assert sim.advance() == "asked"
        for rank in sim.asking:
            sim.give(rank, [compute, send] if rank == 0 else [receive] if rank == 1 else [])
        while sim.advance() == "asked":
            for rank in sim.asking:
                sim.give(rank, [])
        return sim.result().completion_cycles

    net = fw.Torus(2, 2, units=UNITS)
    plain = cycles(fw.Send(1, flits=5), fw.Receive(0, flits=5), fw.Compute(30), net)
    assert plain == cycles(fw.Send(1, bytes=80), fw.Receive(0, bytes=80), fw.Compute(ns=60), net)
    assert plain > cycles(fw.Send(1, flits=5), fw.Receive(0, flits=5), fw.Compute(3), net)
    for wrong, field in ((fw.Send(1, bytes=8), "flit_bytes"), (fw.Compute(ns=8), "cycle_ns")):
        sim = fw.Simulation(fw.Torus(2, 2), fw.programs())
        sim.advance()
        with pytest.raises(
            fw.ConfigError, match=rf"network\.units\.{field} = nothing: expected a value; an operation is in"
        ):
            sim.give(0, [wrong])


def test_rows_of_drivers_say_less() -> None:
    """A row of six: sends in bytes, times in cycles, a receive of any length."""
    kind = _core.Kind
    sim = fw.Simulation(fw.Torus(2, 2, units=UNITS), fw.programs())
    _, _, asking, _ = sim.turn([])
    told: dict[int, list[Told]] = {
        0: [(kind.COMPUTE, None, 30, None, 0, ()), (kind.SEND, 1, 80, 3, 7, ())],
        1: [(kind.RECEIVE, 0, 0, 3, 7, ())],
    }
    status, now, asking, completed = sim.turn([(rank, told.get(rank, [])) for rank in asking])
    while status == "asked" and len(completed) < 2:
        status, now, asking, more = sim.turn([(rank, []) for rank in asking])
        completed = [*completed, *more]
    assert {(rank, op) for rank, op, *_ in completed} == {(0, 1), (1, 0)} and now > 35
    sim = fw.Simulation(fw.Torus(2, 2), fw.programs())
    sim.turn([])
    with pytest.raises(ValueError, match="the network has no flit_bytes"):
        sim.turn([(0, told[0])])
    for number in (kind.TASK, kind.STARTED, kind.LATE_START, 99):
        with pytest.raises(ValueError, match=f"{number} is no kind of operation"):
            sim.turn([(0, [(number, 0, 0, 0, 0, ())])])
