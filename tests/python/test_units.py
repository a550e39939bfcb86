"""Messages in bytes, ranks that share a terminal: units and hosts from Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flitwork as fw
import pytest

UNITS = {"flit_bytes": 16, "cycle_ns": 4}
NET = fw.Torus(4, 4, units=fw.Units(flit_bytes=16, cycle_ns=4))
BLOCK: dict[str, Any] = {"ranks_per_terminal": 2}


def test_a_message_in_bytes_is_the_flits_that_it_fills() -> None:
    in_bytes = fw.simulate(NET, fw.all_to_all(message_bytes=97))
    in_flits = fw.simulate(fw.Torus(4, 4), fw.all_to_all(message_flits=7))
    assert (in_bytes.digest, in_bytes.completion_cycles) == (in_flits.digest, in_flits.completion_cycles)
    assert in_bytes.bound.tightest_cycles == in_flits.bound.tightest_cycles
    assert in_bytes.spec["workload"]["message_bytes"] == 97 and "message_flits" not in in_bytes.spec["workload"]
    assert in_bytes.spec["network"]["units"] == UNITS


def test_a_message_of_no_said_length_has_100_flits() -> None:
    assert fw.all_to_all().spec["message_flits"] == 100
    assert "message_flits" not in fw.all_to_all(message_bytes=5).spec


def test_units_are_a_value_or_a_table() -> None:
    assert fw.Torus(4, 4, units=UNITS) == NET and NET.spec["units"] == UNITS
    with pytest.raises(fw.ConfigError, match="flit_bytes"):
        fw.Torus(4, 4, units={"flit_byte": 16})


def test_ranks_share_terminals_as_they_are_placed() -> None:
    work = fw.all_to_all("a2a", message_flits=4)
    block = fw.simulate(NET, work, host=BLOCK)
    spread = fw.simulate(NET, work, host={**BLOCK, "placement": {"kind": "round_robin"}, "send_queue": "as_ready"})
    assert block.row["packets"] == spread.row["packets"] == 32 * 31
    assert block.digest != spread.digest
    assert block.bound.tightest_cycles == fw.bound(NET, work, host=BLOCK).tightest_cycles
    assert fw.bound(NET, work, host=BLOCK).injection_cycles > fw.bound(NET, work).injection_cycles
    paused = fw.Simulation(NET, work, host=BLOCK)
    assert paused.advance() == "ended" and paused.result().digest == block.digest


@pytest.mark.parametrize(
    ("run", "path", "said"),
    [
        (
            lambda: fw.simulate(fw.Torus(4), fw.all_to_all(message_bytes=5)),
            "network.units.flit_bytes",
            "flit_bytes = 16",
        ),
        (lambda: fw.simulate(NET, fw.all_to_all(message_bytes=5, message_flits=1)), "workload.message_bytes", "once"),
        (lambda: fw.simulate(NET, fw.all_to_all(message_bytes=0)), "workload.message_bytes", "1 to 1099511627776"),
        (lambda: fw.simulate(NET, fw.all_to_all(), host="two"), "host", "a table"),  # type: ignore[arg-type]
        (lambda: fw.simulate(NET, fw.all_to_all(), host=BLOCK), "host.ranks_per_terminal", "a2a"),
        (lambda: fw.bound(NET, fw.uniform(offered_load=0.1), host=BLOCK), "host", "a schedule"),
        (
            lambda: fw.simulate(NET, fw.all_to_all("a2a"), host={"placement": {"kind": "list", "terminals": [0]}}),
            "host.placement",
            "at least 2 ranks",
        ),
    ],
)
def test_what_makes_no_sense_is_named(run: Callable[[], object], path: str, said: str) -> None:
    with pytest.raises(fw.ConfigError) as caught:
        run()
    assert caught.value.path == path and said in str(caught.value)
