"""Detours of ranks: noise of operating systems, drawn and from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flitwork as fw
import pandas as pd
import pytest

PING: list[list[Any]] = [
    [fw.Compute(100), fw.Send(1, flits=4), fw.Receive(1, flits=4), fw.Wait([1, 2]), fw.Compute(50)],
    [fw.Receive(0, flits=4), fw.Wait([0]), fw.Compute(30), fw.Send(0, flits=4)],
]


def finish(noise: Any = None, programs: list[list[Any]] = PING, **host: Any) -> list[int]:
    """When each rank has completed its last operation."""
    given = {**host, **({"noise": noise} if noise else {})}
    simulation = fw.Simulation(fw.Torus(4), fw.Schedule(programs), host=given)
    simulation.advance()
    return [int(cycle) for cycle in simulation.last_cycles()]


def listed(*rows: tuple[int, int, int]) -> fw.noise.File:
    columns = zip(*rows, strict=True)
    names = ("rank", "start_cycles", "duration_cycles")
    return fw.noise.File(detours=fw.detours(dict(zip(names, map(list, columns), strict=True))))


def test_a_computation_is_prolonged_by_the_detours_that_it_overlaps() -> None:
    quiet = finish()
    assert finish(listed((0, 20, 7), (0, 60, 3)))[0] == quiet[0] + 10
    # What lies behind, and what another rank computes in, changes nothing.
    assert finish(listed((0, 10_000, 7), (1, 0, 50))) == quiet


def test_what_is_ready_within_a_detour_waits_for_its_end() -> None:
    # The message reaches rank 1 long before cycle 400.
    late = finish(listed((1, 90, 310)))
    assert late[1] - finish()[1] == 400 + 30 - (finish()[1] - 4)
    started_late = finish(listed((0, 0, 40)))
    assert started_late[0] == finish()[0] + 40


def test_overheads_are_prolonged_and_the_network_is_not() -> None:
    programs: list[list[Any]] = [[fw.Send(1, flits=200)], [fw.Receive(0, flits=200)]]
    quiet = finish(programs=programs, send_overhead_cycles=50)
    assert finish(listed((0, 10, 20)), programs, send_overhead_cycles=50) == [cycle + 20 for cycle in quiet]
    # While flits leave and arrive both are away; rank 0 notices at the end of its detour.
    away = finish(listed((0, 60, 100), (1, 60, 100)), programs, send_overhead_cycles=50)
    assert away == quiet


def test_noise_that_is_drawn_follows_the_seed() -> None:
    work = fw.all_to_all("a2a", message_flits=4, sync="local")
    drawn = [
        fw.noise.Periodic(period_cycles=100, duration_cycles=20),
        fw.noise.Exponential(mean_interval_cycles=80, mean_duration_cycles=20),
        fw.noise.Exponential(mean_interval_cycles=80, duration_cycles=20),
    ]
    for noise in drawn:
        runs = [fw.simulate(fw.Torus(4, 4), work, host=fw.Host(noise=noise), seed=seed) for seed in (1, 1, 2)]
        assert runs[0].digest == runs[1].digest != runs[2].digest
        assert runs[0].completion_cycles > fw.simulate(fw.Torus(4, 4), work).completion_cycles
    together = fw.noise.Periodic(period_cycles=100, duration_cycles=20, phase="same", phase_cycles=50)
    one, other = (fw.simulate(fw.Torus(4, 4), work, host=fw.Host(noise=together), seed=seed) for seed in (1, 2))
    assert one.digest == other.digest


def test_ranks_that_ask_have_the_same_noise() -> None:
    host = fw.Host(noise=fw.noise.Exponential(mean_interval_cycles=40, mean_duration_cycles=15))
    stored = fw.Simulation(fw.Torus(4), fw.Schedule(PING), host=host)
    stored.advance()
    asked = fw.Simulation(fw.Torus(4), fw.programs(packet_flits=4), host=host)
    left = {rank: list(program) for rank, program in enumerate([*PING, [], []])}
    while asked.advance() == "asked":
        for rank in asked.asking:
            asked.give(rank, left[rank][:1])
            left[rank] = left[rank][1:]
    assert list(asked.last_cycles())[:2] == list(stored.last_cycles())


def test_a_file_stands_beside_its_study(tmp_path: Path) -> None:
    pd.DataFrame({"duration_cycles": [300], "rank": [0], "start_cycles": [5]}).to_csv(tmp_path / "n.csv", index=False)
    pd.read_csv(tmp_path / "n.csv").to_parquet(tmp_path / "n.parquet")
    study = """
        [study]
        name = "noisy"
        [base.network]
        topology = {{ kind = "torus", size = [4] }}
        [base.workload]
        kind = "all_to_all"
        algorithm = "a2a"
        [base.host.noise]
        kind = "file"
        file = "{file}"
        [[experiments]]
        id = "one"
    """
    cycles = []
    for file in ("n.csv", "n.parquet"):
        (tmp_path / "study.toml").write_text(study.format(file=file))
        cycles += (
            fw.run_study(fw.load_study(tmp_path / "study.toml"), tmp_path / file[2:], jobs=1)
            .table["completion_cycles"]
            .tolist()
        )
    host = fw.Host(noise=listed((0, 5, 300)))
    assert cycles == [fw.simulate(fw.Torus(4), fw.all_to_all("a2a"), host=host).completion_cycles] * 2


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        ({"kind": "periodic", "period_cycles": 0, "duration_cycles": 1}, r"period_cycles = 0"),
        ({"kind": "periodic", "period_cycles": -5, "duration_cycles": 1}, r"period_cycles = -5"),
        ({"kind": "periodic", "period_cycles": 10, "duration_cycles": 10}, r"duration_cycles = 10: expected 1 to 9"),
        ({"kind": "periodic", "period_cycles": 10}, r"duration_cycles = nothing"),
        ({"kind": "exponential", "mean_interval_cycles": 9}, r"duration_cycles = nothing: expected the length"),
        ({"kind": "file", "file": "nowhere.csv"}, r"host.noise.file = nowhere.csv: expected a file that can be read"),
        ({"kind": "file", "detours": {"rank": [9], "start_cycles": [0], "duration_cycles": [1]}}, r"rank 9: expected ranks 0 to 3"),
        ({"kind": "file", "detours": {"rank": [0], "start_cycles": [-1], "duration_cycles": [1]}}, r"\[0\].start_cycles = -1"),
        ({"kind": "file", "detours": {"rank": [0], "start_cycles": [1.5], "duration_cycles": [1]}}, r"start_cycles = 1.5"),
        ({"kind": "file", "detours": {"rank": [0], "start": [1], "duration_cycles": [1]}}, r"no start_cycles"),
        ({"kind": "weekly"}, r"weekly"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(noise: dict[str, Any], message: str) -> None:
    with pytest.raises(fw.ConfigError, match=message):
        fw.simulate(fw.Torus(4), fw.all_to_all("a2a"), host={"noise": noise})


def test_a_wrong_cell_of_a_file_is_named_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("rank,start_cycles,duration_cycles\n0,1,1\n0,5,0\n")
    with pytest.raises(fw.ConfigError, match=r"duration_cycles = 0 \(n.csv, line 3\)"):
        fw.simulate(fw.Torus(4), fw.all_to_all("a2a"), host=fw.Host(noise=fw.noise.File(file=str(tmp_path / "n.csv"))))
