"""What other benchmarks print is read: samples in the layout that their documentation describes."""

from __future__ import annotations

import re
from pathlib import Path

import flitwork as fw
import pytest
from flitwork.cli import main

OSU = """
# OSU MPI All-to-All Personalized Exchange Latency Test v7.3
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
1                       3.25
1024                   11.50
"""
OSU_FULL = """
# OSU MPI All-to-Allv Personalized Exchange Latency Test v5.9
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
1                       3.25              3.00              3.50        1000
1048576              1150.50           1100.25           1200.75         100
"""
LATENCY = """
# OSU MPI Latency Test v5.6.2
# Size          Latency (us)
0                       0.75
8                       0.80
"""
IMB = """
#------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part
#------------------------------------------------------------
# List of Benchmarks to run:

# PingPong
# Alltoall

#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
# ( 2 additional processes waiting in MPI_Barrier)
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.50         0.00
         1024         1000         2.00       512.00

#----------------------------------------------------------------
# Benchmarking Alltoall
# #processes = 4
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            1         1000         4.00         4.50         4.25
       262144          160       900.00       950.00       925.00
      4194304      out-of-mem.; needed X=   2.000 GB; use flag "-mem X" or MAX_MEM_USAGE>=X (IMB_mem_info.h)


# All processes entering MPI_Finalize
"""


VALIDATED = """# OSU MPI Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)        Validation
1                       1.22              Pass
1024                    2.20              Pass
"""


def read(tmp_path: Path, text: str, **told: object) -> list[tuple[object, ...]]:
    file = tmp_path / "printed.txt"
    file.write_text(text)
    table = fw.tune.read_measurements(file, **told)  # type: ignore[arg-type]
    assert list(table.columns) == list(fw.tune.COLUMNS) and table["low"].isna().all() and table["verified"].all()
    names = ["operation", "bytes", "ranks", "seconds", "repetitions"]
    return [tuple(row[name] for name in names) for row in table.to_dict("records")]


def test_osu(tmp_path: Path) -> None:
    us = pytest.approx
    assert read(tmp_path, OSU, ranks=16) == [
        ("alltoall", 1, 16, us(3.25e-6), 1),
        ("alltoall", 1024, 16, us(11.5e-6), 1),
    ]
    # With -f there is the slowest rank.
    found = read(tmp_path, OSU_FULL, ranks=16)
    assert found == [("alltoallv", 1, 16, us(3.5e-6), 1000), ("alltoallv", 1 << 20, 16, us(1200.75e-6), 100)]
    assert read(tmp_path, LATENCY) == [("pingpong", 0, 2, us(0.75e-6), 1), ("pingpong", 8, 2, us(0.8e-6), 1)]


@pytest.mark.parametrize("tag", ["[1,0]<stdout>:", "[1,0]<stdout>: ", "[0] ", "0: ", " 12: "])
def test_tags_of_launchers_are_left_out(tmp_path: Path, tag: str) -> None:
    for text, told in ((OSU, {"ranks": 16}), (OSU_FULL, {"ranks": 16}), (LATENCY, {}), (IMB, {})):
        tagged = "".join(f"{tag}{line}" for line in text.lstrip().splitlines(keepends=True))
        assert read(tmp_path, tagged, **told) == read(tmp_path, text, **told)


@pytest.mark.parametrize("text", [OSU, OSU_FULL, LATENCY, VALIDATED])
def test_names_of_columns_may_stand_close_together(tmp_path: Path, text: str) -> None:
    close = re.sub(r"(?m)^(# Size.*)$", lambda names: re.sub(" +", " ", names[1]), text)
    assert read(tmp_path, close, ranks=16) == read(tmp_path, text, ranks=16)


def test_barriers_have_no_size(tmp_path: Path) -> None:
    title = "# OSU MPI Barrier Latency Test v5.3\n"
    us = pytest.approx
    assert read(tmp_path, title + "# Avg Latency(us)\n            2.50\n", ranks=4) == [
        ("barrier", 0, 4, us(2.5e-6), 1)
    ]
    imb = "# Benchmarking Barrier\n# #processes = 2\n #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
    assert read(tmp_path, imb + "           20         0.53         0.63         0.58") == [
        ("barrier", 0, 2, us(0.63e-6), 20)
    ]


def test_times_that_are_too_short_to_print_are_left_out(tmp_path: Path) -> None:
    assert [row[1] for row in read(tmp_path, LATENCY.replace("0.75", "0.00"))] == [8]


def test_imb(tmp_path: Path) -> None:
    us = pytest.approx
    assert read(tmp_path, IMB) == [
        ("pingpong", 0, 2, us(0.5e-6), 1000), ("pingpong", 1024, 2, us(2e-6), 1000),
        ("alltoall", 1, 4, us(4.5e-6), 1000), ("alltoall", 262_144, 4, us(950e-6), 160),
    ]  # fmt: skip


def test_rules_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text(OSU)
    Path("b.txt").write_text(OSU.replace("3.25", "2.25").replace("11.50", "16.50"))
    words = ["--ranks", "16", "openmpi:linear=a.txt", "openmpi:modified_bruck=b.txt", "--for", "openmpi"]
    monkeypatch.setattr("sys.argv", ["flitwork", "tune", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    assert ended.value.code == 0, printed.err
    # Between the smallest and the largest size that was measured.
    lines = printed.out.splitlines()
    assert f"{16 * 172} 1 0 0 # linear" in lines and any(line.endswith(" 3 0 0 # modified_bruck") for line in lines)


def test_osu_with_validation(tmp_path: Path) -> None:
    """What ``osu_latency -c`` prints."""
    found = read(tmp_path, VALIDATED)
    assert found == read(tmp_path, VALIDATED.replace("        Validation", "").replace("              Pass", ""))
    assert len(found) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (OSU, r":2:1 = # OSU.*expected the number of ranks.*--ranks"),
        (LATENCY.replace("0.80", "n/a"), r":5:25 = n/a: expected a number"),
        (LATENCY.replace("0.80", "0.80 7"), r":5:1 = 3 numbers: expected 2 numbers: size, latency\(us\)"),
        (LATENCY.replace("# Size          Latency (us)\n", ""), r":3:1 .*names of the columns above it"),
        (LATENCY.replace("Latency (us)", "Bandwidth (MB/s)"), r":4:1 .*a column with times"),
        (LATENCY.replace("0.80", "-0.80"), r":5:1 = 8 bytes, -0.8 us"),
        (
            OSU.replace("All-to-All Personalized Exchange Latency", "Multiple Bandwidth"),
            r":2:1 .*a blocking collective",
        ),
        (LATENCY[: LATENCY.index("0     ")], r"no measurements"),
        (VALIDATED.replace("2.20              Pass", "2.20              Fail"), r":5:1 = Fail: expected Pass"),
        (VALIDATED.replace("Pass", "fine"), r":4:43 = fine: expected a number"),
        (IMB.replace("# #processes = 4\n", ""), r":23:1 = alltoall: expected #processes"),
        (IMB.replace("4.25", "4,25"), r":24:62 = 4,25: expected a number"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "printed.txt"
    file.write_text(text)
    with pytest.raises(fw.ConfigError) as error:
        fw.tune.read_measurements(file)
    assert re.search(said, str(error.value)), error.value
