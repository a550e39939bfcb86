"""Deadlocks of a part of a network while the rest of it moves, and terminals that starve."""

from __future__ import annotations

import re
from typing import Any

import flitwork as fw
import numpy as np
import pytest
from booksim_files import settings
from flitwork.base.errors import DeadlockError
from flitwork.booksim import measure

EVERY = 1000
RUN: dict[str, Any] = {
    "warmup_cycles": 2000,
    "measurement_cycles": 5000,
    "watchdog_cycles": EVERY,
    "deadlock_check": False,
}


def _rings(far: int = 3) -> tuple[fw.Network, fw.Workload]:
    """In the first row of a torus all send ``far`` hops round the ring of 8; the other rows send to their neighbours."""
    weights = np.zeros((64, 64))
    for y in range(8):
        for x in range(8):
            weights[y * 8 + x, y * 8 + (x + (far if y == 0 else 1)) % 8] = 1
    network = fw.Torus(8, 8, router=fw.Router(vcs=1, buffer_flits=4), routing="shortest_path")
    return network, fw.traffic("matrix", offered_load=0.3, packet_flits=16, weights=weights)


@pytest.mark.parametrize(
    "run",
    [
        fw.Run(**RUN),
        fw.Run(**RUN, kernel="flit", threads=2),
        fw.Run(**RUN, record=fw.Record(waits=True)),
        fw.Run(watchdog_cycles=EVERY, deadlock_check=False, steady=fw.Steady()),
        fw.Run(**RUN | {"watchdog_cycles": 10**6}, max_cycles=8000),
    ],
    ids=["fixed", "threads", "waits", "steady", "at the end"],
)
def test_a_dead_ring_beside_live_traffic_is_a_deadlock(run: fw.Run) -> None:
    with pytest.raises(DeadlockError) as found:
        fw.simulate(*_rings(), run=run)
    said = re.fullmatch(
        r"deadlock at cycle (\d+): (.*); 16 of \d+ virtual channels .* the rest of the network still moves",
        str(found.value),
    )
    assert said, found.value
    cycle, waiting = int(said[1]), said[2].split(" -> ")
    # Without a search in between it is found when the run ends, which is when its status is known.
    assert 6999 <= cycle <= 8000 if run.max_cycles == 8000 else cycle % EVERY == 0 or run.steady
    # Each router of the ring waits with its buffer and with the packet of its own terminal: a cycle goes through all eight buffers, and through
    # terminals whose packets are only in part in the network. Ten are named.
    assert waiting[0] == waiting[-1] and waiting[-2] in {f"{more} more" for more in range(1, 7)}
    assert all(re.match(r"router \[\d, 0\] ", name) for name in waiting[:10])


def test_the_same_traffic_is_no_deadlock_where_it_can_go_on() -> None:
    result = fw.simulate(*_rings(far=1), run=fw.Run(**RUN))
    assert result.status == "complete" and result.row["starved_terminals"] == 0 and result.starved_terminals == []


def test_a_file_of_booksim_that_can_deadlock() -> None:
    text = """
        topology = torus; k = 16; n = 2; routing_function = dim_order; num_vcs = 3; vc_buf_size = 2; traffic = uniform;
        injection_rate = 0.1; packet_size = 4; sample_period = 1000; warmup_periods = 1; latency_thres = 1000000;
    """
    said = []
    for threads in (1, 2):
        with pytest.raises(DeadlockError) as found:
            list(measure.samples(settings(text), threads=threads))
        said.append(str(found.value))
    assert said[0] == said[1] and " -> " in said[0] and "the rest of the network still moves" in said[0]


def test_terminals_that_starve_are_named() -> None:
    """All send to one terminal; traffic that is under way goes first."""
    weights = np.zeros((8, 8))
    weights[1:, 0] = 1
    network = fw.Mesh(8, router=fw.Router(vcs=1, buffer_flits=4, injection_priority="last"))
    work = fw.traffic("matrix", offered_load=0.8, packet_flits=4, weights=weights)
    result = fw.simulate(network, work, run=fw.Run(warmup_cycles=1000, measurement_cycles=2000, max_cycles=6000))
    starved = result.starved_terminals
    assert starved and result.row["starved_terminals"] == len(starved)
    delivered = result.terminals["delivered_flits"]
    assert (delivered[starved] == 0).all() and set(np.flatnonzero(delivered == 0)) - {0} == set(starved)
