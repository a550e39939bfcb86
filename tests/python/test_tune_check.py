"""Files of rules with errors: each is found, with its line and column."""

from __future__ import annotations

import re
from pathlib import Path

import flitwork as fw
import pytest
from flitwork.tune import Asked

OURS = """# two rules
alltoall ranks=8-64 per_server=2- bytes=0-4095 algorithm=bruck radix=4
alltoall ranks=8-64 bytes=4096- algorithm=pairwise_shift  # the rest
"""
CLASSIC = """# one collective
1
3
2
1
1
0 0 0 0
8 # ranks
3
0 3 0 0
512 1 0 0
4096 2 0 0
"""


def refused(tmp_path: Path, text: str, format: str | None = None) -> str:
    file = tmp_path / "rules"
    file.write_text(text)
    with pytest.raises(fw.ConfigError) as error:
        fw.tune.read_rules(file, format)
    return str(error.value).removeprefix(f"{file}:")


def test_ours_is_read(tmp_path: Path) -> None:
    file = tmp_path / "rules"
    file.write_text(OURS)
    rules = fw.tune.read_rules(file)
    asked = [
        Asked("alltoall", 8, 64, 2),
        Asked("alltoall", 64, 4096),
        Asked("alltoall", 8, 64, 1),
        Asked("alltoall", 7, 64),
    ]
    assert [(rules.select(one).algorithm, rules.select(one).line) for one in asked] == [
        ("bruck radix=4", 2), ("pairwise_shift", 3), ("library", 0), ("library", 0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("altoall algorithm=bruck", "4:1 = altoall: expected an operation"),
        ("alltoall algorithm=brook", "4:10 = brook.*did you mean `bruck`"),
        ("alltoall ranks=9", "4:1 .*algorithm=NAME"),
        ("alltoall rank=9 algorithm=bruck", "4:10 = rank=9.*did you mean `ranks`"),
        ("alltoall ranks=9-4 algorithm=bruck", "4:10 .*ranks=4-9"),
        ("alltoall ranks=0 algorithm=bruck", "4:10 .*from 1 on"),
        ("alltoall bytes=4k algorithm=bruck", "4:10 .*bytes=N or bytes=N-M"),
        ("alltoall ranks=9 ranks=9 algorithm=bruck", "4:18 .*ranks once"),
        ("alltoall ranks=99 algorithm=pairwise_xor radix=4", "4:42 = radix=4"),
        ("alltoall ranks=99 algorithm=bruck radix=1", "4:35 .*at least 2"),
        ("alltoall ranks=99 algorithm=bruck quickly", "4:35 .*KEY=VALUE"),
        ("  alltoall ranks=64-65 bytes=9000 algorithm=bruck", "4:3 .*line 3 is for some of the same calls"),
    ],
)
def test_errors_in_ours(tmp_path: Path, line: str, said: str) -> None:
    assert re.match(said, refused(tmp_path, OURS + line))


def test_classic_is_read(tmp_path: Path) -> None:
    file = tmp_path / "rules"
    file.write_text(CLASSIC)
    rules = fw.tune.read_rules(file)
    assert rules.format == "openmpi"
    # Open MPI counts the bytes to all ranks.
    found = [rules.select(Asked("alltoall", 8, size)).algorithm for size in (0, 63, 64, 511, 512)]
    assert found == ["modified_bruck", "modified_bruck", "linear", "linear", "pairwise"]
    assert rules.select(Asked("alltoall", 16, 32)).algorithm == "linear"
    assert rules.select(Asked("alltoall", 7, 512)).algorithm == "library"
    assert rules.select(Asked("alltoallv", 8, 512)).algorithm == "library"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("0 3 0 0", "8 3 0 0", "10:1 = 8: expected a first rule for 0 bytes"),
        ("512 1", "4096 1", "12:1 = 4096: expected message sizes in ascending order"),
        ("512 1", "512 7", "11:5 = 7: expected an algorithm of alltoall, from 0 to 5"),
        ("512 1", "0512 1", "11:1 = 0512.*octal"),
        ("512 1", "5l2 1", "11:1 = 5l2.*a whole number"),
        ("8 # ranks", "1 # ranks", "8:1 = 1: expected communicator sizes in ascending order"),
        ("\n3\n2\n", "\n33\n2\n", "3:1 = 33: expected the number of a collective, from 0 to 21"),
        ("\n3\n0 3", "\n4\n0 3", "12:10 = the end of the file: expected a message size"),
        ("\n3\n0 3", "\n2\n0 3", "12:1 = 4096: expected the end of the file"),
        ("# one collective\n1", "# one\n rule-file-version-2\n1", "2:2 .*at the very beginning"),
        ("# one collective\n1", "rule-file-version-3\n1", "1:1 "),
        ("# one collective\n1", "2", "11:10 = the end of the file: expected the number of a collective"),
    ],
)
def test_errors_in_the_classic_form(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert CLASSIC.count(old) == 1
    found = refused(tmp_path, CLASSIC.replace(old, new), "openmpi")
    assert re.match(said, found), found


def test_a_file_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(fw.ConfigError, match="text file that can be read"):
        fw.tune.read_rules(tmp_path / "nothing")
    assert "format" in refused(tmp_path, OURS, "lammpi")
