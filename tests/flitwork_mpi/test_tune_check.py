"""Files of rules with errors: each is found, with its line and column."""

from __future__ import annotations

import re
from pathlib import Path

import flitwork as fw
import pytest
from flitwork_mpi.tune import Asked, Choice, Rule, Span, openmpi_file
from flitwork_mpi.tune.mpich_file import REQUIRED
from flitwork_mpi.tune.openmpi_file import OpenMpiFile

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
    "line",
    [
        "alltoall ranks=4- algorithm=library",
        "alltoall ranks=10-12 bytes=5000-6000 algorithm=pairwise_shift",
        "alltoallv algorithm=table:mine.txt",
    ],
)
def test_a_later_rule_may_be_wider_or_say_the_same(tmp_path: Path, line: str) -> None:
    file = tmp_path / "rules"
    file.write_text(OURS + line)
    assert fw.tune.read_rules(file).listing()[-1]["line"] == 4


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
        (f"alltoall ranks={'9' * 5000} algorithm=bruck", "4:10 .*numbers up to 18446744073709551615"),
        ("alltoall ranks=99 algorithm=bruck radix=4294967296", "4:35 .*at most 4294967295"),
        (f"alltoall ranks=99 algorithm=bruck radix={'9' * 5000}", "4:35 .*at most 4294967295"),
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
        ("\n3\n2\n", "\n3\n0\n", "4:1 = 0: expected the number of communicator sizes of alltoall, at least 1"),
        ("8 # ranks", "2147483648 # ranks", "8:1 = 2147483648: expected a communicator size, from 0 to 2147483647"),
        ("512 1", f"{'9' * 5000} 1", "11:1 = 99.*expected a message size"),
        ("# one collective\n1", f"rule-file-version-{'9' * 5000}\n1", "1:1 "),
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


def classic(*rules: Rule) -> OpenMpiFile:
    text = openmpi_file.write(rules)
    return openmpi_file.read(text, "classic")


def test_the_json_form_says_what_the_classic_one_says(tmp_path: Path) -> None:
    spans = (
        (Span(4, 7), Span(0, 63), "linear"),
        (Span(4, 7), Span(64), "pairwise"),
        (Span(16), Span(8), "modified_bruck"),
    )
    rules = [Rule("alltoall", ranks, Span(1), sizes, Choice(name)) for ranks, sizes, name in spans]
    rules.append(Rule("alltoallv", Span(4), Span(1), Span(), Choice("basic_linear")))
    file = tmp_path / "rules.json"
    file.write_text(fw.tune.written(rules, "openmpi6"))
    found, other = fw.tune.read_rules(file), classic(*rules)
    assert found.format == "openmpi6" and {row["ranks"] for row in found.listing()} >= {"4", "7", "16-"}
    for operation in ("alltoall", "alltoallv"):
        for ranks in (2, 4, 7, 8, 16, 17):
            for size in (0, 7, 8, 63, 64, 4096):
                asked = Asked(operation, ranks, size)
                assert found.select(asked).algorithm == other.select(asked).algorithm, asked
    # Of ranks from 4 to 7 each has sums of its own.
    assert (
        found.select(Asked("alltoall", 7, 64)).algorithm
        == "pairwise"
        != found.select(Asked("alltoall", 7, 63)).algorithm
    )
    assert "inf" not in file.read_text()


SIX = """{
  "collectives": {
    "alltoall": [
      {"comm_size_max": 64, "rules": [
        {"msg_size_max": 511, "alg": "linear"},
        {"msg_size_min": 512, "alg": 2, "reqs": 4}
      ]},
      {"comm_rank_distribution": "one-per-node", "rules": [{"alg": 3}]}
    ]
  }
}
"""


def test_the_json_form_is_read(tmp_path: Path) -> None:
    file = tmp_path / "rules"
    file.write_text(SIX)
    rules = fw.tune.read_rules(file)
    found = [rules.select(Asked("alltoall", 8, size)).algorithm for size in (63, 64)]
    assert found == ["linear", "pairwise requests=4"]
    assert rules.select(Asked("alltoall", 65, 8, 1)).algorithm == "modified_bruck"
    assert rules.select(Asked("alltoall", 65, 8, 5)).algorithm == "library"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"alltoall"', '"altoall"', "3:5 = altoall.*did you mean `alltoall`"),
        ("msg_size_max", "msg_size_most", "5:10 = msg_size_most: expected one of msg_size_min"),
        ('"linear"', '"linar"', "5:31 = linar.*did you mean `linear`"),
        ('"alg": 2', '"alg": 7', "6:31 = 7: expected one of ignore"),
        ("511,", '"5kB",', "5:10 = 5kB: expected a whole number"),
        ('"msg_size_min": 512', '"msg_size_max": 500', "6:9 = bytes 0-500: expected sizes that no rule before"),
        ('"comm_size_max": 64, ', "", "8:7 = ranks 0-: expected ranks that no entry before"),
        ("64, ", '"inf", ', "4:8 = inf: expected a whole number; leave it out"),
        ('"one-per-node"', '"one_per_node"', "8:8 = one_per_node.*did you mean `one-per-node`"),
        ('"reqs": 4', '"reqs": -4', "6:41 = -4"),
        ('"reqs": 4', '"alg": 4', "6:41 = alg: expected each key once"),
        ("]},\n      {", "]}\n      {", "8:7 = .*: expected JSON"),
        ('"collectives"', '"collective"', "2:3 = collective.*did you mean `collectives`"),
    ],
)
def test_errors_in_the_json_form(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert SIX.count(old) == 1
    found = refused(tmp_path, SIX.replace(old, new))
    assert re.match(said, found), found


def tuning(tree: str) -> str:
    others = "".join(f',\n"collective={name}": {{"algorithm=MPIR_x": {{}}}}' for name in REQUIRED if name != "alltoall")
    return f'{{"collective=alltoall": {{\n"comm_type=intra": {{\n"is_sendbuf_inplace=no": {tree}}}}}{others}}}'


PAIRWISE = '{"algorithm=MPIR_Alltoall_intra_pairwise": {}}'


def test_a_tuning_file_of_mpich_is_read(tmp_path: Path) -> None:
    file = tmp_path / "rules"
    brucks = PAIRWISE.replace("pairwise", "brucks")
    scattered = PAIRWISE.replace("pairwise", "scattered")
    tree = f'{{"comm_size = pow2": {PAIRWISE}, "comm_avg_ppn<=2": {brucks}, "avg_msg_size < 8": {brucks}, "any": {scattered}}}'
    file.write_text(tuning(tree))
    rules = fw.tune.read_rules(file)
    asked = [
        Asked("alltoall", 8, 9),
        Asked("alltoall", 9, 9, 2),
        Asked("alltoall", 9, 7, 3),
        Asked("alltoall", 9, 8, 3),
    ]
    assert [rules.select(one).algorithm for one in asked] == ["pairwise", "brucks", "brucks", "scattered"]
    assert rules.select(Asked("alltoall", 9, 7)).algorithm == "undecided"
    assert rules.format == "mpich" and len(rules.listing()) == 6


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        (PAIRWISE.replace("pairwise", "pairwize"), "3:27 .*did you mean `MPIR_Alltoall_intra_pairwise`"),
        (f'{{"comm_size<8": {PAIRWISE}}}', "3:27 = comm_size<8: expected a last condition that always holds"),
        (f'{{"comm_size<8": {PAIRWISE}, "comm_size<=7": {PAIRWISE}, "any": {PAIRWISE}}}', "3:90 .*ascending order"),
        (f'{{"com_size<8": {PAIRWISE}, "any": {PAIRWISE}}}', "3:27 = com_size<8: expected a condition of MPICH"),
        ("{}", "3:1 = is_sendbuf_inplace=no: expected conditions or an algorithm"),
        ("7", "3:1 = 7: expected a table"),
        (PAIRWISE.replace("{}", '{"k": {}}'), "3:70 = k: expected a parameter"),
    ],
)
def test_errors_in_a_tuning_file_of_mpich(tmp_path: Path, tree: str, said: str) -> None:
    found = refused(tmp_path, tuning(tree))
    assert re.match(said, found), found


def test_mpich_needs_rules_of_all_collectives(tmp_path: Path) -> None:
    text = tuning(PAIRWISE).replace('"collective=scan"', '"collective=iscan"')
    assert "no rules of scan" in refused(tmp_path, text)
    with pytest.raises(fw.ConfigError, match="--base = nothing"):
        fw.tune.written([], "mpich")
    (tmp_path / "libother.so").write_bytes(b"\x7fELF nothing")
    with pytest.raises(fw.ConfigError, match="a library of MPICH 4"):
        fw.tune.written([], "mpich", base=tmp_path / "libother.so")
