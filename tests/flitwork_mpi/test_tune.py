"""Rules from tables of times: which algorithm, where ranges end, and what ties do."""

from __future__ import annotations

import json
import random
import re
import tempfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import flitwork as fw
import pandas as pd
import pytest
from flitwork.cli import main
from flitwork_mpi.tune import Asked, Rule, Span, TuningFile, mpich_file
from flitwork_mpi.tune.flitwork_file import FlitworkFile

MACHINE = """
[network]
units = { flit_bytes = 16, cycle_ns = 4 }
topology = { kind = "torus", size = [2, 2] }

[host]
send_overhead_ns = 400
"""


def table(*rows: tuple[Any, ...], half: float = 0.0, **more: Any) -> pd.DataFrame:
    """Measurements from (ranks, ranks per server, bytes, algorithm, microseconds)."""
    names = ("ranks", "ranks_per_server", "bytes", "algorithm", "seconds")
    found = pd.DataFrame([dict(zip(names, row, strict=True)) for row in rows])
    found["seconds"] *= 1e-6
    found = found.assign(low=found["seconds"] - half * 1e-6, high=found["seconds"] + half * 1e-6)
    return found.assign(
        **{"operation": "alltoall", "repetitions": 9, "verified": True, "mpi": "x", "version": "1", **more}
    )


def read(table: pd.DataFrame, target: str, base: Path | None = None, **more: Any) -> TuningFile:
    """A file of rules, written and read."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rules"
        file.write_text(fw.tune.written(fw.tune.rules(table, target, **more), target, base=base))
        return fw.tune.read_rules(file, target)


def lines(table: pd.DataFrame, target: str = "flitwork", **more: Any) -> list[str]:
    return fw.tune.written(fw.tune.rules(table, target, **more), target).splitlines()


def test_ranges_end_where_times_cross() -> None:
    # 10 + 0.1 m against 20 + 0.05 m: the same at 200 bytes, exactly.
    rows = [(8, 1, size, "bruck", 10 + size * 0.1) for size in (0, 100, 1000)]
    rows += [(8, 1, size, "pairwise_shift", 20 + size * 0.05) for size in (0, 100, 1000)]
    assert lines(table(*rows)) == [
        "alltoall ranks=8 per_server=1 bytes=0-199 algorithm=bruck",
        "alltoall ranks=8 per_server=1 bytes=200-1000 algorithm=pairwise_shift",
    ]
    # An algorithm that was not measured at both sizes begins where it was seen to be the fastest.
    assert "bytes=1000 algorithm=pairwise_shift" in lines(table(*rows[:3], rows[-1]))[1]


def test_ties_keep_fewer_and_simpler_rules() -> None:
    rows = [
        (8, 1, 1, "bruck radix=4", 10.0), (8, 1, 1, "bruck", 11.0),
        (8, 1, 64, "bruck radix=4", 22.0), (8, 1, 64, "bruck", 20.0), (8, 1, 64, "pairwise_shift", 19.0),
        (8, 1, 4096, "bruck radix=4", 90.0), (8, 1, 4096, "bruck", 99.0), (8, 1, 4096, "pairwise_shift", 50.0),
    ]  # fmt: skip
    exact = lines(table(*rows))
    assert [line.split("algorithm=")[1] for line in exact] == ["bruck radix=4", "pairwise_shift"]
    # Within an interval of 1 microsecond either way, bruck is as fast at 1 byte and at 64.
    tied = lines(table(*rows, half=1.0))
    assert [line.split("algorithm=")[1] for line in tied] == ["bruck", "pairwise_shift"]
    assert lines(table(*rows), tolerance=0.12) == tied
    assert lines(table(*rows), tolerance=1.0) == ["alltoall ranks=8 per_server=1 bytes=1-4096 algorithm=bruck"]


def test_rules_end_where_the_evidence_ends() -> None:
    rows = [(4, 4, size, name, time) for size in (16, 4096) for name, time in (("bruck", 1.0), ("birkhoff", 2.0))]
    assert lines(table(*rows)) == ["alltoall ranks=4 per_server=4 bytes=16-4096 algorithm=bruck"]
    for target in ("flitwork", "openmpi", "openmpi6"):
        file = read(table(*rows), target)
        for ranks, size, chosen in ((4, 16, True), (4, 4096, True), (4, 15, False), (4, 4097, False), (5, 64, False)):
            name = file.select(Asked("alltoall", ranks, size, 4)).algorithm
            assert (name != "library") == chosen, (target, ranks, size, name)
    # A hundred times as many ranks and thousand times as many bytes are for the library.
    assert file.select(Asked("alltoall", 1024, 2**24)).algorithm == "library"


def test_numbers_between_measured_ones_are_those_of_the_nearer_one() -> None:
    rows = [
        (4, 1, 8, "bruck", 1.0), (4, 2, 8, "two_level_ring", 1.0),
        (16, 1, 8, "bruck", 1.0), (16, 4, 8, "simple_spread", 1.0),
    ]  # fmt: skip
    assert lines(table(*rows)) == [
        # Of 3 and 4 ranks on a server nothing is known for fewer than 16 ranks.
        "alltoall ranks=4-8 per_server=1 bytes=8 algorithm=bruck",
        "alltoall ranks=4-8 per_server=2 bytes=8 algorithm=two_level_ring",
        "alltoall ranks=9-16 per_server=1-2 bytes=8 algorithm=bruck",
        "alltoall ranks=16 per_server=3-4 bytes=8 algorithm=simple_spread",
    ]
    # Sizes that were measured for one of the two only end at that one.
    wide = [(4, 1, 8, "bruck", 1.0), (4, 1, 800, "bruck", 2.0), (16, 1, 8, "bruck", 1.0), (16, 1, 80, "bruck", 1.0)]
    assert lines(table(*wide)) == [
        "alltoall ranks=4 per_server=1 bytes=8-800 algorithm=bruck",
        "alltoall ranks=5-16 per_server=1 bytes=8-80 algorithm=bruck",
    ]


def test_what_is_extrapolated_is_marked_in_every_format(tmp_path: Path) -> None:
    rows = [(4, 4, size, name, time) for size in (16, 4096) for name, time in (("bruck", 1.0), ("birkhoff", 2.0))]
    assert lines(table(*rows), extrapolate=True)[-1] == "alltoall ranks=5- per_server=4- algorithm=bruck # extrapolated"
    base = tmp_path / "base.json"
    own: dict[str, Any] = {"algorithm=MPIR_Alltoall_intra_scattered": {}}
    tree: dict[str, Any] = {f"collective={name}": {"algorithm=MPIR_x": {}} for name in mpich_file.REQUIRED}
    tree["collective=alltoall"] = {"comm_type=intra": {"is_sendbuf_inplace=no": own, "is_sendbuf_inplace=any": own}}
    base.write_text(json.dumps(tree))
    for target in fw.tune.TARGETS:
        file = read(table(*rows), target, base if target == "mpich" else None, extrapolate=True)
        for ranks, size, marked in (
            (4, 16, False),
            (4, 4096, False),
            (4, 8, True),
            (4, 5000, True),
            (1024, 2**24, True),
        ):
            found = file.select(Asked("alltoall", ranks, size, 4))
            assert "bruck" in found.algorithm and found.extrapolated == marked, (target, ranks, size, found)
        assert any(row["extrapolated"] for row in file.listing()) and not all(
            row["extrapolated"] for row in file.listing()
        )


@pytest.mark.parametrize("seed", range(3))
def test_no_rule_of_any_format_is_for_what_was_not_measured(seed: int) -> None:
    """Random tables: inside, a rule names an algorithm of a neighbouring measurement; outside, the library chooses."""
    chance = random.Random(seed)
    for _ in range(6):
        counts, names = (
            sorted(chance.sample(range(2, 70), chance.randint(1, 3))),
            ["bruck", "pairwise_shift", "library"],
        )
        sizes = {ranks: sorted(chance.sample(range(1, 5000), chance.randint(1, 4))) for ranks in counts}
        rows = [(n, 1, m, name, chance.uniform(1, 9)) for n in counts for m in sizes[n] for name in names]
        asked = [
            (n, m)
            for n in range(1, 80)
            for m in (0, 1, *(m + d for ms in sizes.values() for m in ms for d in (-1, 0, 1)))
        ]
        for target in ("flitwork", "openmpi", "openmpi6"):
            # Where the library is the fastest everywhere, there is no rule, and no file is written.
            nothing = not fw.tune.rules(table(*rows), target)
            file: TuningFile = FlitworkFile(()) if nothing else read(table(*rows), target)
            for n, m in asked:
                near = [one for one in counts if one <= n][-1:] + [one for one in counts if one >= n][:1]
                inside = len(near) == 2 and all(sizes[one][0] <= m <= sizes[one][-1] for one in near)
                name = file.select(Asked("alltoall", n, m, 1)).algorithm
                assert inside or name == "library", (target, n, m, name, sizes)
                if inside and n in counts and m in sizes[n]:
                    best = min((t, one) for r, _, b, one, t in rows if (r, b) == (n, m))[1]
                    same = {"bruck": "modified_bruck", "pairwise_shift": "pairwise"}
                    assert name == (best if target == "flitwork" else same.get(best, best)), (target, n, m)


def test_what_is_not_defined_everywhere_is_named_where_it_was_measured() -> None:
    rows = [(8, 1, 8, "pairwise_xor", 1.0), (8, 1, 8, "bruck", 2.0), (8, 1, 8, "pairwise_shift", 3.0)]
    more = [(16, 1, 8, "bruck", 2.0), (8, 4, 8, "bruck", 2.0)]
    assert lines(table(*rows, *more)) == [
        "alltoall ranks=8 per_server=1 bytes=8 algorithm=pairwise_xor",
        "alltoall ranks=8 per_server=2-4 bytes=8 algorithm=bruck",
        "alltoall ranks=9-16 per_server=1 bytes=8 algorithm=bruck",
    ]


def test_where_the_library_is_the_fastest_there_is_no_rule() -> None:
    rows = [(8, 1, 8, "library", 1.0), (8, 1, 8, "bruck", 2.0), (8, 1, 800, "library", 4.0), (8, 1, 800, "bruck", 2.0)]
    (line,) = lines(table(*rows))
    assert line == "alltoall ranks=8 per_server=1 bytes=272-800 algorithm=bruck"
    classic = lines(table(*rows), "openmpi")
    assert [line.split(" #")[0] for line in classic[-6:-3]] == ["0 0 0 0", f"{272 * 8} 3 0 0", f"{801 * 8} 0 0 0"]
    # Where it is the fastest everywhere, no rule at all is left to write.
    assert fw.tune.rules(table(*rows[:2])) == []
    for target in ("flitwork", "openmpi", "openmpi6"):
        with pytest.raises(fw.ConfigError, match=r"no rules: .*run without a file of rules"):
            fw.tune.written([], target)


def test_wrong_data_and_other_libraries_do_not_count() -> None:
    rows = [(8, 1, 8, "bruck", 1.0), (8, 1, 8, "pairwise_shift", 2.0), (8, 1, 8, "mpich:scattered", 0.5)]
    with pytest.warns(UserWarning, match="1 of 3 rows are left out: the data of their calls were wrong"):
        assert lines(table(*rows, verified=[False, True, True]))[0].endswith("pairwise_shift")
    with pytest.raises(fw.ConfigError, match="verified = False in all 3 rows"):
        fw.tune.rules(table(*rows, verified=False))
    # A row with wrong data does not count as one that a target knows.
    some = table(*rows[:1], (8, 1, 8, "two_level_ring", 2.0), verified=[False, True])
    with (
        pytest.warns(UserWarning, match="1 of 2"),
        pytest.raises(fw.ConfigError, match="two_level_ring: expected an algorithm that openmpi has"),
    ):
        fw.tune.rules(some, "openmpi")
    assert "64 4 0 0 # linear_sync" in lines(table(*rows, (8, 1, 8, "openmpi:linear_sync", 0.1)), "openmpi")
    with pytest.raises(fw.ConfigError, match="expected an algorithm that openmpi has"):
        fw.tune.rules(table((8, 1, 8, "two_level_ring", 1.0)), "openmpi")
    with pytest.raises(fw.ConfigError, match="measurements of one library"):
        fw.tune.rules(table(*rows, version=["1", "1", "2"]))


def test_open_mpi_cannot_tell_servers_apart() -> None:
    rows = [(8, 1, 8, "bruck", 1.0), (8, 2, 8, "pairwise_shift", 1.0)]
    with pytest.raises(fw.ConfigError, match=r"ranks_per_server.*one number for each number of ranks"):
        lines(table(*rows), "openmpi")
    assert "128 2 0 0 # pairwise" in lines(table(*rows[:1], (16, 2, 8, "pairwise_shift", 1.0)), "openmpi")


def test_an_alltoallv_of_open_mpi_has_one_algorithm_for_all_sizes() -> None:
    rows = [(8, 1, 8, "simple_spread", 1.0), (8, 1, 8, "pairwise_shift", 1.5)]
    rows += [(8, 1, 8000, "simple_spread", 30.0), (8, 1, 8000, "pairwise_shift", 10.0)]
    # It cannot end where the measured sizes end.
    with pytest.raises(fw.ConfigError, match=r"operation = alltoallv.*one rule of it for all message sizes"):
        fw.tune.rules(table(*rows, operation="alltoallv"), "openmpi")
    text = lines(table(*rows, operation="alltoallv"), "openmpi", extrapolate=True)
    assert text[1] == "4 # alltoallv" and text[-2:] == [
        "1 # rules: bytes, algorithm, fan-out, segment size",
        "0 2 0 0 # pairwise, extrapolated",
    ]


def test_simulated_times_are_those_of_simulations() -> None:
    net = fw.Torus(2, 2, units=fw.Units(flit_bytes=16, cycle_ns=4))
    found = fw.tune.simulated(net, [64, 1024], ranks_per_server=[1, 2], algorithms=["bruck", "pairwise_xor"])
    assert list(found.columns) == list(fw.tune.COLUMNS) and len(found) == 2 * (3 + 2)
    row = found[(found["algorithm"] == "bruck radix=4") & (found["bytes"] == 1024)].iloc[0]
    work = fw.collective("all_to_all", "bruck", message_bytes=1024, radix=4)
    result = fw.simulate(net, work, host=fw.Host(ranks_per_terminal=2))
    assert row["seconds"] == row["low"] == row["high"] == pytest.approx(result.completion_cycles * 4e-9, rel=1e-12)
    assert (row["ranks"], row["ranks_per_server"]) == (8, 2)
    with pytest.raises(fw.ConfigError, match=r"network\.units"):
        fw.tune.simulated(fw.Torus(2, 2, units=fw.Units(flit_bytes=16)), [64], algorithms=["bruck"])


def test_simulated_blocks_of_different_sizes_send_their_sizes_where_they_are_handed_on() -> None:
    net = fw.Torus(2, 2, units=fw.Units(flit_bytes=16, cycle_ns=4))
    names = ["bruck", "pairwise_xor"]
    found = fw.tune.simulated(net, [64, 1024], algorithms=names, operations=["alltoall", "alltoallv"])
    rows = found.to_dict("records")
    times = {(row["operation"], row["algorithm"], row["bytes"]): float(row["seconds"]) for row in rows}
    assert {key[2] for key in times} == {64, 1024}
    (lengths,) = fw.tune.simulated(net, [8], algorithms=["bruck"])["seconds"].tolist()
    assert times["alltoallv", "bruck", 64] == times["alltoall", "bruck", 64] + lengths
    assert times["alltoallv", "pairwise_xor", 1024] == times["alltoall", "pairwise_xor", 1024]
    assert {rule.operation for rule in fw.tune.rules(found)} == {"alltoall", "alltoallv"}
    with pytest.raises(fw.ConfigError, match="of alltoall, alltoallv, alltoallw"):
        fw.tune.simulated(net, [64], operations=["allgather"])


def test_what_is_written_is_read_again() -> None:
    rows = [(8, 2, size, name, time * size) for size in (1, 100) for name, time in (("bruck", 1.0), ("birkhoff", 1.5))]
    rules = fw.tune.rules(table(*rows))
    text = fw.tune.written(rules, "flitwork", "a comment\nof two lines")
    assert text.startswith("# a comment\n# of two lines\nalltoall ranks=8 per_server=2 bytes=1-100 algorithm=bruck\n")


def test_the_command_writes_and_checks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def called(*words: str) -> str:
        monkeypatch.setattr("sys.argv", ["flitwork", "tune", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        assert ended.value.code == 0, printed.err
        return printed.out

    monkeypatch.chdir(tmp_path)
    (tmp_path / "machine.toml").write_text(MACHINE)
    more = ("--ranks-per-server", "1,2", "--algorithms", "bruck,pairwise_shift")
    called("--machine", "machine.toml", "--message-bytes", "16,16384", *more, "-o", "r", "--save", "t.csv")
    rules = fw.tune.read_rules(tmp_path / "r")
    assert rules.format == "flitwork" and rules.listing()
    # The stored table gives the same rules.
    assert called("t.csv").splitlines()[1:] == (tmp_path / "r").read_text().splitlines()[1:]
    called("t.csv", "--for", "openmpi", "--ranks-per-server", "2", "-o", "o")
    shown = called("check", "o", "--ranks", "8", "--bytes", "16,16384", "--json")
    assert '"algorithm": "pairwise"' in shown and '"format": "openmpi"' in shown
    assert "no errors" in called("check", "r")
    called("t.csv", "--extrapolate", "-o", "x")
    called("check", "x", "--ranks", "999", "--bytes", "16,16384")
    monkeypatch.setattr("sys.argv", ["flitwork", "tune", "check", "x"])
    with pytest.raises(SystemExit):
        main()
    assert "rules are beyond what was measured" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("t.csv", "--machine", "m.toml"), "one of the two"),
        ((), "flitwork tune"),
        (("--machine", "m.toml"), "--message-bytes = nothing"),
        (("--machine", "m.toml", "--message-bytes", "4k"), "whole numbers with commas"),
        (("t.csv", "--ranks", "7"), "numbers that were measured: 8"),
        (("t.csv", "--for", "openmpi5"), "--for = openmpi5"),
        (("t.csv", "--algorithms", "brook"), "an algorithm that was measured"),
        (("none.csv",), "No such file"),
        (("check", "t.csv", "--ranks", "8"), "t.csv:1:1"),
        (("check", "r.txt", "--ranks", "8"), "--bytes = nothing"),
        (("check", "r.txt", "--ranks-per-server", "8"), "--ranks and --bytes with it"),
        (("check", "r.txt", "--operation", "altoall"), "did you mean `alltoall`"),
    ],
)
def test_bad_command_lines(
    tmp_path: Path,
    words: tuple[str, ...],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["flitwork", "tune", *words])
    (tmp_path / "m.toml").write_text(MACHINE)
    (tmp_path / "r.txt").write_text("alltoall algorithm=bruck")
    table((8, 1, 8, "bruck", 1.0)).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2 and said in " ".join("".join(capsys.readouterr()).split())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"bytes": -1}, "row 1: bytes = -1.* at least 0"),
        ({"bytes": 1.5}, "row 1: bytes = 1.5.*whole number"),
        ({"seconds": 0}, "row 1: seconds.*above 0 s"),
        ({"seconds": "fast"}, "row 1: seconds = fast.*a number"),
        ({"algorithm": "bruck radix"}, "row 1: algorithm = bruck radix"),
        ({"verified": "maybe"}, "row 1: verified = maybe"),
        ({"speed": 1}, "speed = unknown column"),
        ({"algorithm": "bruck foo=3"}, "row 1: algorithm = bruck foo=3: expected parameters of bruck: radix"),
        ({"algorithm": "bruck radxi=3"}, "row 1: algorithm.*did you mean `radix`"),
        ({"algorithm": "pairwise_shift radix=3"}, "row 1: algorithm.*parameters of pairwise_shift: none"),
        ({"algorithm": "library radix=3"}, "row 1: algorithm.*parameters of library: none"),
        ({"algorithm": "mpich:brucks k=3"}, "row 1: algorithm.*parameters of mpich:brucks: none"),
        ({"algorithm": "bruck radix=2 radix=4"}, "row 1: algorithm.*radix once"),
        ({"algorithm": "bruck radix=1"}, "row 1: algorithm.*from 2 to"),
        ({"algorithm": "bruck radix=-4"}, "row 1: algorithm.*name=number"),
        ({"algorithm": "bruck radix=1_0"}, "row 1: algorithm.*name=number"),
        ({"algorithm": f"bruck radix={'9' * 5000}"}, "row 1: algorithm.*name=number"),
        ({"operation": ""}, "row 1: operation = nothing: expected the name of an operation; alltoall"),
        ({"operation": " "}, "row 1: operation = "),
        ({"operation": 3}, "row 1: operation = 3"),
        ({"low": 2e-6}, r"row 1: low = 2e-06: expected a number, at most that of seconds, 1e-06"),
        ({"high": 5e-7}, r"row 1: high = 5e-07: expected a number, at least that of seconds"),
        ({"ranks": 2**31}, "row 1: ranks = 2147483648: expected a whole number, at least 1 and at most 2147483647"),
        ({"ranks_per_server": 2**31}, "row 1: ranks_per_server = 2147483648"),
    ],
)
def test_tables_with_errors_name_the_row(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    file = tmp_path / "t.csv"
    table((8, 1, 8, "bruck", 1.0)).assign(**changes).to_csv(file, index=False)
    with pytest.raises(fw.ConfigError, match=said):
        fw.tune.read_measurements(file)


def test_what_is_right_in_a_table_stays_so(tmp_path: Path) -> None:
    """Parameters that algorithms have, ends of intervals that are not known, and the most ranks that MPI can have."""
    rows = [(8, 1, 8, name, 1.0) for name in ("bruck radix=4", "openmpi:linear_sync requests=4", "library")]
    found = table(*rows, (2**31 - 1, 1, 8, "openmpi:linear", 1.0)).assign(low=None, high=None)
    found.to_csv(tmp_path / "t.csv", index=False)
    again = fw.tune.read_measurements(tmp_path / "t.csv")
    assert len(again) == 4
    seconds: Any = [Decimal("1e-6")] * 4
    found.assign(seconds=seconds).to_parquet(tmp_path / "t.parquet")
    stored = fw.tune.read_measurements(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(stored, again, check_dtype=False)
    (tmp_path / "rules").write_text(fw.tune.written(fw.tune.rules(again, "openmpi", extrapolate=True), "openmpi"))
    rules = fw.tune.read_rules(tmp_path / "rules")
    assert rules.select(Asked("alltoall", 2**31 - 1, 8)).algorithm == "linear"


def test_no_file_is_written_without_rules(tmp_path: Path, cli: Callable[..., Any]) -> None:
    rows = [(8, 1, 8, "library", 1.0), (8, 1, 8, "bruck", 2.0)]
    for name, verified, said in (("library", True, "rules = no rules"), ("wrong", False, "False in all 2 rows")):
        table(*rows, verified=verified).to_csv(tmp_path / f"{name}.csv", index=False)
        done = cli("tune", tmp_path / f"{name}.csv", "-o", tmp_path / "rules.txt")
        assert done.returncode == 2 and said in done.stderr, done.stderr
        assert not (tmp_path / "rules.txt").exists()
    table(*rows[:1], (8, 1, 8, "bruck", 0.5), (8, 1, 9, "bruck", 1.0), verified=[True, True, False]).to_csv(
        tmp_path / "some.csv", index=False
    )
    done = cli("tune", tmp_path / "some.csv", "-o", tmp_path / "rules.txt")
    assert done.returncode == 0 and "warning: 1 of 3 rows are left out" in done.stderr
    assert cli("tune", "check", tmp_path / "rules.txt").returncode == 0


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("latin-1", "a text file in UTF-8 (line 3: invalid continuation byte)"),
        ("utf-16", "this is UTF-16: save it as UTF-8"),
        ("utf-16-le", "in UTF-8 (line "),
    ],
)
def test_a_table_in_another_encoding(encoding: str, said: str, tmp_path: Path) -> None:
    rows = table(*[(8, 1, size, "bruck", 1.0) for size in (1, 2)], version=["4", "caf\u00e9 5"])
    file = tmp_path / "t.csv"
    for length in (1, 200):
        # What is read of a file to recognise it is less than the second one.
        more = pd.concat([rows, *[rows[:1]] * length], ignore_index=True)
        file.write_text(more.to_csv(index=False), encoding=encoding)
        with pytest.raises(fw.ConfigError, match=re.escape(said)):
            fw.tune.read_measurements(file)
    file.write_text("operation,algorithm,bytes,ranks,seconds\nalltoall,bruck,1,8,1e-6\n", encoding="utf-16-le")
    with pytest.raises(fw.ConfigError, match=r"in UTF-8 \(line 1: a zero byte\)"):
        fw.tune.read_measurements(file)
    with pytest.raises(fw.ConfigError, match=r"in UTF-8 \(line 1: a zero byte\)"):
        fw.tune.read_rules(file)


def test_spans() -> None:
    assert Span(1, 4).meets(Span(4)) and not Span(1, 3).meets(Span(4, 4)) and Span(2).covers(Span(2, 9))
    rule = Rule("alltoall", Span(8, 9), Span(1), Span(), fw.tune.Choice("bruck"))
    assert rule.holds(Asked("alltoall", 8, 5), 5) and not rule.holds(Asked("alltoallv", 8, 5), 5)
