"""Configurations of BookSim 2: the format, files, errors that name file and line."""

from __future__ import annotations

from pathlib import Path

import flitwork as fw
import pytest
from flitwork.booksim.config_file import Call, parse, read_config
from flitwork.booksim.settings import read_settings


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("8", 8),
        ("-1", -1),
        ("0.5", 0.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e-3", 0.001),
        ("-2.5E+2", -250.0),
        ("mesh", "mesh"),
        ("dir/file-1.txt", "dir/file-1.txt"),
        ("-", "-"),
        ('"a name; with = signs // and blanks"', "a name; with = signs // and blanks"),
        ("'single'", "single"),
        ('""', ""),
        ("{1,2}", [1, 2]),
        ("{ 1 ,\n 0.5, word }", [1, 0.5, "word"]),
        ("{{1,5},{2}}", [[1, 5], [2]]),
        ("{}", []),
        ("islip(2)", Call("islip", (2,))),
        ("tree(4,matrix)", Call("tree", (4, "matrix"))),
        ("hotspot({0,5},{3,1})", Call("hotspot", ([0, 5], [3, 1]))),
        ("separable_input_first( tree( 2, round_robin ) )", Call("separable_input_first", (Call("tree", (2, "round_robin")),))),
        ("{hotspot({1}),uniform}", [Call("hotspot", ([1],)), "uniform"]),
    ],
)  # fmt: skip
def test_values(written: str, value: object) -> None:
    (one,) = parse(f"key = {written} ; // comment", "test.cfg")
    assert (one.key, one.value, one.place) == ("key", value, "test.cfg:1")
    assert isinstance(one.value, type(value))


def test_several_assignments_and_comments() -> None:
    found = parse("// first\nk = 4; n=2;\n\n  // k = 9;\ntraffic\n=\nuniform;//end", "test.cfg")
    assert [(a.key, a.value, a.place) for a in found] == [
        ("k", 4, "test.cfg:2"),
        ("n", 2, "test.cfg:2"),
        ("traffic", "uniform", "test.cfg:5"),
    ]
    assert parse("", "test.cfg") == [] and parse("// nothing\n", "test.cfg") == []


@pytest.mark.parametrize(
    ("text", "path", "value", "expected"),
    [
        ("k = 4", "test.cfg:1", "the end", "; after the value of k"),
        ("k = 4;\nn = 2\nc = 1;", "test.cfg:3", '"c"', "; after the value of n"),
        ("k 4;", "test.cfg:1", '"4"', "= after k"),
        ("\n\nk = ;", "test.cfg:3", '";"', "a value"),
        ("= 4;", "test.cfg:1", '"="', "a key"),
        ("k = {1,2;", "test.cfg:1", '";"', ", or }"),
        ("k = {1 2};", "test.cfg:1", '"2"', ", or }"),
        ("k = islip(2;", "test.cfg:1", '";"', ", or )"),
        ("k = 16KB;", "test.cfg:1", '"16KB"', "a number, a word"),
        ("k = 4; \n n = 2 # two", "test.cfg:2", '"#"', "a number, a word"),
        ('k = "4;\n', "test.cfg:1", '"""', "a number, a word"),
        ("include other.cfg;", "test.cfg:1", '"other.cfg"', "= after include"),
        (
            "k = 4;\nseed = " + "9" * 5000 + ";",
            "test.cfg:2",
            "9" * 40 + "... (5000 characters)",
            "from -2^63 to 2^64 - 1",
        ),
        ("packet_size = 18446744073709551616;", "test.cfg:1", "18446744073709551616", "from -2^63 to 2^64 - 1"),
        ("packet_size = {{1,-9223372036854775809}};", "test.cfg:1", "-9223372036854775809", "from -2^63 to 2^64 - 1"),
        ("injection_rate = 1e999;", "test.cfg:1", "1e999", "at most about 1e308"),
        ("k = " + "{" * 5000, "test.cfg:1", '"{"', "at most 20 lists within each other"),
        ("traffic = " + "f(" * 5000, "test.cfg:1", '"("', "at most 20 lists within each other"),
    ],
)
def test_faults_of_the_format_name_file_and_line(text: str, path: str, value: str, expected: str) -> None:
    with pytest.raises(fw.ConfigError) as caught:
        parse(text, "test.cfg")
    error = caught.value
    assert (error.path, error.value) == (path, value) and expected in error.expected
    assert ("several files" in error.hint) is text.startswith("include")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "noise").write_bytes(b"\xff\xfe\x00k")
    for path, expected in (
        (tmp_path / "none", "No such file"),
        (tmp_path, "not a folder"),
        (tmp_path / "noise", "noise:1"),
    ):
        with pytest.raises(fw.ConfigError, match=expected):
            read_config(path)
    (tmp_path / "old").write_bytes(b"\xef\xbb\xbfk = 4; // a mark at the start\n// gr\xf6\xdfer, in Latin-1\nn = 3;")
    assert [one.key for one in read_config(tmp_path / "old")] == ["k", "n"]


def test_later_files_win_and_the_command_line_over_all(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("k = 3; k = 4; num_vcs = 4;")
    (tmp_path / "b").write_text("k = 5;")
    found = read_settings([tmp_path / "a", tmp_path / "b"], ["num_vcs=8", "n=3;"])
    assert (found["k"], found["num_vcs"], found["n"], found["vc_buf_size"]) == (5, 8, 3, 8)
    assert found.place("num_vcs") == "command line: num_vcs" and found.place("k") == f"{tmp_path / 'b'}:1: k"
