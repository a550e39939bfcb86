"""A simulation that is advanced bit by bit, and ranks that are told what to do."""

from __future__ import annotations

import math
from typing import Any

import flitwork as fw
import numpy as np
import pytest


def test_a_run_in_pieces_is_the_same_run() -> None:
    net, work = fw.Torus(4, 4), fw.all_to_all("a2at", message_flits=8)
    whole = fw.simulate(net, work)
    pieces = fw.Simulation(net, work)
    until = 0
    while pieces.advance(until) == "reached":
        assert pieces.now >= until
        until += 10
    result = pieces.result()
    assert (result.digest, result.completion_cycles) == (whole.digest, whole.completion_cycles)
    assert until > 20


def test_ranks_decide_by_what_the_clock_says() -> None:
    """Each rank computes until it is late, then exchanges a message with its partner."""
    simulation = fw.Simulation(fw.Torus(4), fw.programs(packet_flits=4), packets=True)
    computed, done = [0] * 4, [False] * 4
    while simulation.advance() == "asked":
        for rank in simulation.asking:
            if done[rank]:
                simulation.give(rank, [])
            elif simulation.now < 100:
                computed[rank] += 1
                simulation.give(rank, [fw.Compute(10 + rank)])
            else:
                done[rank] = True
                simulation.give(rank, [fw.Send(rank ^ 1, flits=8), fw.Receive(None, flits=8, tag=None)])
    assert computed == [10, 10, 9, 8]
    result = simulation.result()
    assert result.packets.groupby("src").size().to_dict() == {rank: 2 for rank in range(4)}
    assert int(result.packets["created_cycle"].min()) == 100
    assert result.completion_cycles > 104
    # What ranks decide while they run has no bound.
    assert math.isnan(result.ratio_to_bound) and "no bound known" in repr(result)


def test_a_run_in_one_piece_says_who_can_answer() -> None:
    with pytest.raises(fw.ScheduleError, match="make a Simulation of it"):
        fw.simulate(fw.Torus(4), fw.programs())


def test_wrong_answers_name_rank_and_operation() -> None:
    simulation = fw.Simulation(fw.Torus(4), fw.programs())
    with pytest.raises(fw.ScheduleError, match="rank 2 does not ask"):
        simulation.give(2, [])
    assert simulation.advance() == "asked"
    assert simulation.asking == [0, 1, 2, 3]
    for operation, fault in [
        (fw.Send(4, flits=1), "sends to rank 4 of 4"),
        (fw.Receive(9, flits=1), "receives from rank 9 of 4"),
        (fw.Wait([0]), "does not come before it"),
    ]:
        with pytest.raises(fw.ScheduleError, match=f"rank 2 operation 0 .*{fault}"):
            simulation.give(2, [operation])  # type: ignore[list-item]
    with pytest.raises(fw.ConfigError, match="expected a Send"):
        simulation.give(2, [object()])  # type: ignore[list-item]
    with pytest.raises(fw.ScheduleError, match="asks what to do next"):
        fw.simulate(fw.Torus(4), fw.programs())


def test_programs_that_wait_for_each_other_are_named() -> None:
    simulation: Any = fw.Simulation(fw.Torus(2), fw.programs())
    simulation.advance()
    for rank in (0, 1):
        simulation.give(rank, [fw.Receive(1 - rank, flits=1), fw.Wait([0]), fw.Send(1 - rank, flits=1)])
    with pytest.raises(fw.ScheduleError, match="rank 0"):
        while simulation.advance() == "asked":
            for rank in simulation.asking:
                simulation.give(rank, [])


def test_a_result_ends_a_simulation() -> None:
    simulation = fw.Simulation(fw.Torus(4), fw.uniform(offered_load=0.1), measurement_cycles=200, warmup_cycles=50)
    assert simulation.advance() == "ended"
    assert simulation.result().status == "complete"
    with pytest.raises(fw.ConfigError, match="make a new one"):
        simulation.advance()


#: As a program without types calls them.
SEND: Any = fw.Send
RECEIVE: Any = fw.Receive
COMPUTE: Any = fw.Compute
WAIT: Any = fw.Wait


@pytest.mark.parametrize(
    ("answer", "path", "value"),
    [
        ((0, [SEND(1, -3)]), "operations[0].flits", "-3"),
        ((0, [SEND(1, 0)]), "operations[0].flits", "0"),
        ((0, [COMPUTE(1), SEND(1, 2.5)]), "operations[1].flits", "2.5"),
        ((0, [SEND(1, True)]), "operations[0].flits", "True"),
        ((0, [SEND(1, 2**41)]), "operations[0].flits", str(2**41)),
        ((0, [SEND(None, 2)]), "operations[0].to", "None"),
        ((0, [SEND(1, 2, tag=-1)]), "operations[0].tag", "-1"),
        ((0, [SEND(1, 2, tag=None)]), "operations[0].tag", "None"),
        ((0, [RECEIVE(2**32 - 1, 2)]), "operations[0].source", "4294967295"),
        ((0, [RECEIVE(1, 2, tag=2**32 - 1)]), "operations[0].tag", "4294967295"),
        ((0, [RECEIVE(1, "2")]), "operations[0].flits", "'2'"),
        ((0, [WAIT(0)]), "operations[0].after", "0"),
        ((0, [SEND(1, 2, after=[0, -1])]), "operations[0].after[1]", "-1"),
        ((0, [COMPUTE(-1)]), "operations[0].cycles", "-1"),
        ((0, [COMPUTE(10**30)]), "operations[0].cycles", "1" + "0" * 30),
        ((0, [5]), "operations[0]", "5"),
        ((0, SEND(1, 2)), "operations", "Send("),
        ((-1, []), "rank", "-1"),
        ((True, []), "rank", "True"),
        ((1.0, []), "rank", "1.0"),
    ],
)
def test_a_field_that_cannot_be_used_is_named(answer: Any, path: str, value: str) -> None:
    simulation = fw.Simulation(fw.Torus(4), fw.programs())
    simulation.advance()
    with pytest.raises(fw.ConfigError) as caught:
        simulation.give(*answer)
    assert caught.value.path == path and caught.value.value.startswith(value) and caught.value.expected
    # Nothing of it was taken: the rank asks still.
    assert simulation.asking == [0, 1, 2, 3]


@pytest.mark.parametrize("until", [-1, 2.5, True, 2**64, "10"])
def test_the_cycle_to_advance_to_is_a_whole_number(until: Any) -> None:
    with pytest.raises(fw.ConfigError, match=r"^until = .*a whole number"):
        fw.Simulation(fw.Torus(4), fw.programs()).advance(until)


def test_numbers_of_numpy_are_numbers() -> None:
    simulation: Any = fw.Simulation(fw.Torus(2), fw.programs())
    simulation.advance(np.int64(5))
    simulation.give(np.int64(0), (one for one in [SEND(np.int64(1), np.uint32(4)), WAIT(np.array([0]))]))
    simulation.give(1, [RECEIVE(0, np.int32(4))])
    while simulation.advance() == "asked":
        for rank in simulation.asking:
            simulation.give(rank, [])
    assert simulation.result().values["packets"] == 1


def test_a_result_before_the_end_is_no_result_of_a_whole_run() -> None:
    simulation = fw.Simulation(fw.Torus(4, 4), fw.all_to_all("a2at", message_flits=8))
    assert simulation.advance(20) == "reached"
    result = simulation.result()
    assert result.status == "interrupted" and math.isnan(result.ratio_to_bound)
    assert "interrupted" in repr(result) and "times the bound" not in repr(result)


def test_what_ranks_will_send_has_no_bound() -> None:
    bound = fw.bound(fw.Torus(4, 4), fw.programs())
    assert (bound.tightest, bound.tightest_cycles) == ("none", 0.0)
    assert math.copysign(1, bound.phase_model_cycles) == 1


def test_ranks_may_be_told_in_bytes_and_ns() -> None:
    def run(units: Any, operations: list[list[Any]]) -> fw.Result:
        simulation = fw.Simulation(fw.Torus(2, units=units), fw.programs(packet_flits=8), packets=True)
        while simulation.advance() == "asked":
            for rank in simulation.asking:
                simulation.give(rank, operations[rank])
                operations[rank] = []
        return simulation.result()

    units = fw.Units(flit_bytes=16, cycle_ns=2.5)
    physical = run(units, [[COMPUTE(ns=101), SEND(1, bytes=100)], [RECEIVE(0, bytes=100)]])
    plain = run(units, [[COMPUTE(41), SEND(1, 7)], [RECEIVE(0, 7)]])
    assert physical.digest == plain.digest and physical.packets["created_cycle"].tolist() == [41]
    with pytest.raises(fw.ConfigError, match=r"network.units.cycle_ns = nothing"):
        run(fw.Units(flit_bytes=16), [[COMPUTE(ns=1)], []])
    with pytest.raises(fw.ConfigError, match=r"operations\[0\].bytes = 8: expected flits or bytes, not both"):
        run(units, [[SEND(1, 8, bytes=8)], []])
