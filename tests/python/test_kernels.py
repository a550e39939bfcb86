"""Which kernel runs a simulation, and that it makes no difference."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import flitwork as fw
import numpy as np
import pytest
from flitwork.base.errors import ConfigError

WHOLE = fw.Router(vcs=4, buffer_flits=16, switching="virtual_cut_through", hold_switch_until_tail=True)
#: What a result says of itself and not of the network.
OF_THE_RUN = ("kernel", "plan_hash", "wall_seconds")


def same_in_both(result: fw.Result) -> dict[str, Any]:
    return {name: value for name, value in result.row.items() if name not in OF_THE_RUN}


@pytest.mark.parametrize("routing", ["dimension_order", "duato", "valiant"])
def test_both_kernels_give_the_same_result(routing: str) -> None:
    network = fw.Torus(4, 4, routing={"kind": routing}, router=WHOLE)
    for workload in (
        fw.all_to_all("a2a", message_flits=40, packet_flits=8),
        fw.uniform(offered_load=0.2, packet_flits=16),
    ):
        runs: dict[str, fw.Result] = {}
        kernels: tuple[Literal["flit", "packet"], ...] = ("flit", "packet")
        for kernel in kernels:
            run = fw.Run(kernel=kernel, record=fw.Record(packets=True, channel_window_cycles=100))
            runs[kernel] = fw.simulate(network, workload, run=run)
        assert [result.kernel for result in runs.values()] == ["flit", "packet"]
        flit, packet = runs.values()
        assert same_in_both(flit) == same_in_both(packet)
        assert flit.packets.equals(packet.packets) and flit.channels.equals(packet.channels)
        np.testing.assert_array_equal(flit.channel_windows, packet.channel_windows)


def test_the_packet_kernel_runs_where_it_is_exact() -> None:
    result = fw.simulate(fw.Torus(3, 3, router=WHOLE), fw.all_to_all("a2at", message_flits=16))
    assert (result.kernel, result.kernel_note) == ("packet", None)
    result = fw.simulate(fw.Torus(3, 3), fw.all_to_all("a2at", message_flits=16))
    assert result.kernel == "flit"
    assert result.kernel_note == "network.router.switching is not virtual_cut_through"


def test_it_is_refused_where_it_is_not() -> None:
    with pytest.raises(ConfigError) as error:
        fw.simulate(fw.Torus(3, 3), fw.all_to_all(), run=fw.Run(kernel="packet"))
    assert error.value.path == "run.kernel"
    assert "because network.router.switching is not virtual_cut_through" in error.value.expected
    with pytest.raises(ConfigError) as error:
        fw.simulate(fw.Torus(3, 3, router=fw.Router(hold_switch_until_tail=True)), fw.all_to_all())
    assert error.value.path == "network.router.hold_switch_until_tail"


def test_the_command_line_sets_any_field_by_its_place(tmp_path: Path) -> None:
    same_in_both = [
        *("router.switching=virtual_cut_through", "router.hold_switch_until_tail=true", "buffer_flits=100"),
        *("run.kernel=packet", "host.send_queue=as_ready", "nic.packet_gap_cycles=3", "routing.order=[1, 0]"),
    ]
    options = [part for setting in same_in_both for part in ("--set", setting)]
    command = [sys.executable, "-m", "flitwork", "simulate", "a2a", "--size", "3x3", "--json"]
    file = tmp_path / "result.parquet"
    done = subprocess.run([*command, *options, "--save", str(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kernel"] == "packet"
    spec = fw.load(file).spec
    assert spec["host"]["send_queue"] == "as_ready" and spec["network"]["nic"]["packet_gap_cycles"] == 3
    assert spec["network"]["routing"]["order"] == [1, 0]
    for settings, path in [
        (["run.kernels=flit"], "run.kernels"),
        (["router.vcs=4", "router.vcs.x=1"], "network.router.vcs"),
        (
            ["router.compat.late_receives=true", "router.compat.late_receives.x=1"],
            "network.router.compat.late_receives",
        ),
        (["routing=valiant", "routing.kind=duato"], "network.routing.kind"),
        (["seed=2", "run.seed=3"], "run.seed"),
        (["run.=3"], "--set"),
    ]:
        options = [part for setting in settings for part in ("--set", setting)]
        wrong = subprocess.run([*command, *options], capture_output=True, text=True)
        assert wrong.returncode == 2 and "Traceback" not in wrong.stderr, (settings, wrong.stderr)
        assert json.loads(wrong.stderr)["message"].startswith(path), (settings, wrong.stderr)
