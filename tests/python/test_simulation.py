"""A simulation that is advanced bit by bit, and ranks that are told what to do."""

from __future__ import annotations

import math

import flitwork as fw
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


def test_wrong_answers_name_rank_and_operation() -> None:
    simulation = fw.Simulation(fw.Torus(4), fw.programs())
    with pytest.raises(fw.ScheduleError, match="rank 2 does not ask"):
        simulation.give(2, [])
    assert simulation.advance() == "asked"
    assert simulation.asking == [0, 1, 2, 3]
    for operation, fault in [
        (fw.Send(4, flits=1), "sends to rank 4 of 4"),
        (fw.Send(1, flits=0), "0 flits"),
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
    simulation = fw.Simulation(fw.Torus(2), fw.programs())
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
