"""Files of other tools are named as what they are, wherever a file is taken."""

from __future__ import annotations

from pathlib import Path

import flitwork as fw
import pytest
from flitwork.base.formats import format_of
from flitwork.cli import app
from typer.testing import CliRunner

#: Files of other tools: their contents, and what they are.
OTHERS = {
    "workload.0.et": (b"\x04\x0a\x02\x08\x01\x12\x00\xff", "an execution trace of Chakra"),
    "platform.xml": (b'<?xml version="1.0"?>\n<platform version="4.1"/>\n', "a platform of SimGrid"),
    "data.xml": (b"<a>1</a>\n", "an XML file"),
    "leaf_spine.topo": (b"Nodes 16\nTiers 2\nPodsize 4\n", "a topology of htsim"),
    "other.topo": (b"0 1 1\n", "a topology of another tool"),
    "perm.cm": (b"Nodes 16\nConnections 2\n0->1 start 0\n", "a connection matrix of htsim"),
    "net": (b'# four hosts\nSwitch 8 "s1"\n[1] "h1"[1]\nHca 1 "h1"\n', "a network of ibsim"),
    "fabric.txt": (b'vendid=0x2c9\ndevid=0xbd36\nsysimgguid=0x2\nSwitch 36 "S-2"\n', "a topology that ibnetdiscover"),
    "network.yml": (b"topology: [ Ring ]\nnpus_count: [ 4 ]\n", "a network of ASTRA-sim"),
    "any.yaml": (b"key: value\n", "a YAML file"),
    "system.json": (b'{"scheduling-policy": "LIFO"}\n', "a system of ASTRA-sim"),
}


#: What is read where a network is expected.
NETWORKS = ("net", "fabric.txt", "leaf_spine.topo", "network.yml")


@pytest.mark.parametrize("name", OTHERS)
def test_every_command_that_takes_a_file_names_it(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    contents, what = OTHERS[name]
    Path(name).write_bytes(contents)
    for words in (("run", f"./{name}"), ("plan", f"./{name}"), ("simulate", f"./{name}"), ("explain", f"./{name}"),
                  ("tune", name), ("mpi", "simulate", "--network", name, "x.py")):  # fmt: skip
        if words[0] == "mpi" and name in NETWORKS:
            continue
        done = CliRunner().invoke(app, [*words])
        said = " ".join(done.stderr.split())
        assert done.exit_code == 2 and f"this is {what}" in said, (words, done.stderr)
        assert "TOML (" not in said


def test_what_flitwork_reads_is_said_by_its_own_readers(tmp_path: Path) -> None:
    """A mistake in a file of the right kind is an error with its line, not another format."""
    file = tmp_path / "study.toml"
    file.write_text("[study\nname = 1\n")
    done = CliRunner().invoke(app, ["run", str(file)])
    assert "line 1" in done.stderr and "this is" not in done.stderr
    program = tmp_path / "program.goal"
    program.write_text("num_ranks 1\nrank 0 {\nl1: sends 10b to 1\n}\n")
    with pytest.raises(fw.ConfigError, match="3"):
        fw.read_goal(program)
    rules = tmp_path / "rules.txt"
    rules.write_text("alltoall algorithm=brook\n")
    with pytest.raises(fw.ConfigError, match=r"rules\.txt:1:10"):
        fw.tune.read_rules(rules)
    assert format_of(tmp_path / "missing") == ("", "")


def test_a_file_of_another_tool_is_no_damaged_result(tmp_path: Path) -> None:
    (tmp_path / "platform.xml").write_text("<?xml version='1.0'?>\n<platform version='4.1'/>\n")
    with pytest.raises(fw.ResultFileError, match=r"platform\.xml: is no stored result but a platform of SimGrid"):
        fw.load(tmp_path / "platform.xml")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1\0\0")
    with pytest.raises(fw.ResultFileError, match="delete it and run again"):
        fw.load(tmp_path / "cut.parquet")


NOISE = "warning: no version information available (required by /usr/lib64/libcxi.so.1)\n\n[node1:7] loading\n"
OSU = "# OSU MPI All-to-All Personalized Exchange Latency Test v7.5\n# Datatype: MPI_CHAR.\n"


def test_what_osu_prints_is_read_behind_lines_of_the_launcher(tmp_path: Path) -> None:
    file = tmp_path / "osu.txt"
    rows = "1                      12.46              Pass\n1024                   13.37              Pass\n"
    file.write_text(NOISE + OSU + "# Size       Avg Latency(us)        Validation\n" + rows)
    assert fw.tune.read_measurements(file, ranks=8)["bytes"].tolist() == [1, 1024]
    file.write_text(file.read_text() + "65536                  37.01              Fail\n")
    with pytest.raises(fw.ConfigError, match=r"osu\.txt:9:1 = Fail: expected Pass"):
        fw.tune.read_measurements(file, ranks=8)
    # Between the numbers a line is still refused, by its place.
    file.write_text(OSU + "# Size       Avg Latency(us)\n1   12.46\n[node1:1234] 7 more processes\n")
    with pytest.raises(fw.ConfigError, match=r"osu\.txt:5:1 = \[node1:1234\]"):
        fw.tune.read_measurements(file, ranks=8)
