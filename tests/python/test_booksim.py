"""Configurations of BookSim 2: the format, every key, the same specifications as the validation, what is printed."""

from __future__ import annotations

import csv
import json
import re
import time
from pathlib import Path
from typing import Any

import flitwork as fw
import numpy as np
import pandas as pd
import pytest
from conftest import REPOSITORY, Cli
from flitwork.booksim import report
from flitwork.booksim.config_file import Call, parse, read_config
from flitwork.booksim.keys import KEYS, Fate
from flitwork.booksim.knuth import LaggedFibonacci, recommended
from flitwork.booksim.mapping import notes, specification
from flitwork.booksim.measure import Sample, plan, samples
from flitwork.booksim.permutation import random_permutation
from flitwork.booksim.phases import Phases
from flitwork.booksim.settings import Settings, read_settings
from flitwork.experiment import expand, load_study
from flitwork.spec import to_json
from flitwork.studies import published

DATA = REPOSITORY / "tests" / "data" / "booksim"
MESH = DATA / "mesh8x8_dor_uniform_1flit.cfg"
SMALL = "topology = mesh; k = 4; routing_function = dor; num_vcs = 4; sample_period = 200; injection_rate = 0.1;"


def settings(text: str) -> Settings:
    return Settings(parse(text, "test.cfg"))


def spec(text: str) -> dict[str, Any]:
    return specification(settings(text))


def planned(text: str) -> dict[str, Any]:
    found = settings(text)
    resolved: dict[str, Any] = json.loads(plan(found, Phases.of(found), found["seed"]).json)["spec"]
    return resolved


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
    for path, expected in ((tmp_path / "none", "exists"), (tmp_path, "not a folder"), (tmp_path / "noise", "noise:1")):
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


def test_the_keys_are_booksims() -> None:
    with (DATA / "keys.tsv").open(encoding="utf-8") as file:
        theirs = {
            name: (kind, default.strip('"')) for name, kind, default in csv.reader(file, delimiter="\t", quoting=3)
        }
    assert list(KEYS) == list(theirs) and len(KEYS) == 155
    kinds = {"INT": "int", "FLOAT": "float", "TEXT": "str", "INTS": "int|str", "FLOATS": "float|str"}
    for name, key in KEYS.items():
        kind, default = theirs[name]
        assert kinds[key.type.name] == kind, name
        assert key.default == type(key.default)(default), name


#: For each key that is used, two settings that must give different runs; what they need besides.
CHANGES = {
    "topology": ("topology = mesh; routing_function = dim_order;", "topology = torus; routing_function = dim_order;"),
    "k": ("k = 4;", "k = 5;"),
    "n": ("n = 2;", "n = 3;"),
    "routing_function": ("routing_function = dor;", "routing_function = valiant;"),
    "use_noc_latency": (
        "topology = torus; routing_function = dim_order; use_noc_latency = 0;",
        "topology = torus; routing_function = dim_order; use_noc_latency = 1;",
    ),
    "credit_delay": ("", "credit_delay = 2;"),
    "speculative": ("", "speculative = 1;"),
    "num_vcs": ("", "num_vcs = 6;"),
    "vc_buf_size": ("", "vc_buf_size = 6;"),
    "wait_for_tail_credit": ("", "wait_for_tail_credit = 1;"),
    "vc_busy_when_full": ("", "vc_busy_when_full = 1;"),
    "hold_switch_for_packet": ("", "hold_switch_for_packet = 1;"),
    "input_speedup": ("", "input_speedup = 2;"),
    "output_speedup": ("", "output_speedup = 2;"),
    "routing_delay": ("", "routing_delay = 0;"),
    "vc_alloc_delay": ("", "vc_alloc_delay = 2;"),
    "sw_alloc_delay": ("", "sw_alloc_delay = 2;"),
    "st_prepare_delay": ("", "st_prepare_delay = 1;"),
    "st_final_delay": ("", "st_final_delay = 2;"),
    "vc_allocator": ("", "vc_allocator = islip(2);"),
    "sw_allocator": ("", "sw_allocator = separable_output_first(matrix);"),
    "traffic": ("", "traffic = bitcomp;"),
    "perm_seed": ("traffic = randperm; perm_seed = 1;", "traffic = randperm; perm_seed = 2;"),
    "injection_rate": ("", "injection_rate = 0.2;"),
    "injection_rate_uses_flits": ("packet_size = 4;", "packet_size = 4; injection_rate_uses_flits = 1;"),
    "packet_size": ("", "packet_size = 2;"),
    "packet_size_rate": ("packet_size = {{1,3}};", "packet_size = {{1,3}}; packet_size_rate = {{1,2}};"),
    "injection_process": ("", "injection_process = on_off;"),
    "burst_alpha": ("injection_process = on_off;", "injection_process = on_off; burst_alpha = 0.2;"),
    "burst_beta": ("injection_process = on_off;", "injection_process = on_off; burst_beta = 0.2;"),
    "burst_r1": ("injection_process = on_off; burst_beta = -1.0; burst_r1 = 0.2;", "injection_process = on_off; burst_beta = -1.0; burst_r1 = 0.3;"),
    "sim_type": ("", "sim_type = throughput;"),
    "warmup_periods": ("", "warmup_periods = 4;"),
    "sample_period": ("", "sample_period = 300;"),
    "max_samples": ("", "max_samples = 5;"),
    "latency_thres": ("", "latency_thres = 5.0;"),
    "stopping_thres": ("stopping_thres = -1.0; acc_stopping_thres = -1.0;", "stopping_thres = 0.0; acc_stopping_thres = -1.0;"),
    "acc_stopping_thres": ("stopping_thres = -1.0; acc_stopping_thres = -1.0;", "stopping_thres = -1.0; acc_stopping_thres = 0.0;"),
    "sim_count": ("", "sim_count = 2;"),
    "print_csv_results": ("", "print_csv_results = 1;"),
    "seed": ("", "seed = 5;"),
}  # fmt: skip


def outcome(text: str) -> object:
    """What a configuration does: its runs, whether they are stable, lines that are asked for; or the error."""
    try:
        found = settings(SMALL + text)
        done = list(samples(found))
    except fw.ConfigError as error:
        return str(error)
    lines = [line for line in report.overall(found, done) if line.startswith("results:")]
    return [*((s.result.plan_hash, bool(s.unstable(found["latency_thres"]))) for s in done), *lines]


@pytest.mark.parametrize("name", [name for name, key in KEYS.items() if key.fate is Fate.MAPPED])
def test_a_key_that_is_used_changes_the_run(name: str) -> None:
    before, after = map(outcome, CHANGES[name])
    assert before != after
    assert isinstance(before, list), before
    if isinstance(after, str):
        assert name in after


def default_value(name: str) -> str:
    """The default as it is written."""
    return str(KEYS[name].default) or '""'


def other_value(name: str) -> str:
    """A value of the right type that is not the default."""
    default = KEYS[name].default
    return "other" if isinstance(default, str) else str(default + 1)


@pytest.mark.parametrize("name", [name for name, key in KEYS.items() if key.fate is Fate.ONLY])
def test_what_flitwork_does_not_have_is_refused_by_name(name: str) -> None:
    needed = "speculative = 1;" if name.startswith("spec_") else ""
    settings(f"{SMALL}{needed}{name} = {default_value(name)};")
    with pytest.raises(fw.ConfigError) as caught:
        settings(f"{SMALL}\n{needed}{name} = {other_value(name)};")
    error = caught.value
    assert error.path == f"test.cfg:2: {name}" and error.value == other_value(name)
    assert default_value(name) in error.expected and error.hint


@pytest.mark.parametrize("name", [n for n, key in KEYS.items() if key.fate in (Fate.NO_EFFECT, Fate.NOTED)])
def test_a_key_without_effect_has_none(name: str) -> None:
    changed = settings(f"{SMALL}{name} = {other_value(name)};")
    assert specification(changed) == spec(SMALL)
    assert [name in note for note in changed.notes()] == [True] * (KEYS[name].fate is Fate.NOTED)
    assert KEYS[name].note
    assert not settings(f"{SMALL}{name} = {default_value(name)};").notes()


def test_no_key_is_forgotten() -> None:
    used = {name for name, key in KEYS.items() if key.fate is Fate.MAPPED}
    assert used == set(CHANGES)


REFUSALS = [
    ("topologie = mesh;", "topologie", "did you mean `topology`?"),
    ("num_vcs = 2.5;", "num_vcs", "a whole number"),
    ("num_vcs = many;", "num_vcs", "a whole number"),
    ("num_vcs = {2};", "num_vcs", "not a list"),
    ("injection_rate = fast;", "injection_rate", "a number"),
    ("injection_rate = {0.1,0.2};", "injection_rate", "one class of traffic"),
    ("traffic = 5;", "traffic", "a word"),
    ("seed = time;", "seed", "runs repeat themselves"),
    ("topology = fattree;", "topology", "does not have BookSim's fattree yet"),
    ("topology = qtree;", "topology", "BookSim's qtree"),
    ("topology = tree4;", "topology", "BookSim's tree4"),
    ("topology = cmesh;", "topology", "BookSim's cmesh"),
    ("topology = fly;", "topology", "BookSim's fly"),
    ("topology = flatfly;", "topology", "BookSim's flatfly"),
    ("topology = dragonflynew;", "topology", "BookSim's dragonflynew"),
    ("topology = anynet;", "topology", "BookSim's anynet"),
    ("topology = mush;", "topology", "did you mean `mesh`?"),
    ("routing_function = none;", "routing_function", "for a mesh one of dor, dim_order, xy_yx"),
    ("routing_function = planar_adapt;", "routing_function", "BookSim's planar_adapt yet"),
    ("routing_function = dro;", "routing_function", "did you mean `dor`?"),
    ("topology = torus;", "routing_function", "one of dim_order"),
    ("topology = torus; routing_function = romm;", "routing_function", "one of dim_order, min_adapt, valiant"),
    ("num_vcs = 1; routing_function = valiant;", "num_vcs", "at least 2"),
    ("num_vcs = 1; routing_function = romm;", "num_vcs", "at least 2"),
    ("num_vcs = 1; routing_function = xy_yx;", "num_vcs", "at least 2"),
    ("num_vcs = 3; topology = torus; routing_function = min_adapt;", "num_vcs", "at least 4"),
    ("num_vcs = 2; topology = torus; routing_function = min_adapt;", "num_vcs", "at least 4"),
    ("sw_allocator = pim;", "sw_allocator", "BookSim's pim"),
    ("sw_allocator = islop;", "sw_allocator", "did you mean `islip`?"),
    ("vc_allocator = separable_input_first(tree(2,matrix));", "vc_allocator", "separable_input_first(matrix)"),
    ("vc_allocator = islip(two);", "vc_allocator", "islip(n)"),
    ("traffic = taper64;", "traffic", "BookSim's taper64"),
    ("traffic = unifrom;", "traffic", "did you mean `uniform`?"),
    ("traffic = hotspot;", "traffic", "BookSim draws a node where none is named"),
    ("traffic = hotspot({-1});", "traffic", "BookSim draws a node where none is named"),
    ("traffic = hotspot({3,-1});", "traffic", "BookSim draws a node where none is named"),
    ("traffic = hotspot({});", "traffic", "nodes from 0 to 15"),
    ("traffic = hotspot({1},{1},{1});", "traffic", "hotspot({nodes},{rates})"),
    ("traffic = tornado(8);", "traffic", "tornado(4,2) as the network is"),
    ("traffic = neighbor(4,1);", "traffic", "neighbor(4,2) as the network is"),
    ("traffic = tornado(4,2,2);", "traffic", "tornado(4,2) as the network is"),
    ("traffic = tornado(4,2,1,1);", "traffic", "tornado(4,2) as the network is"),
    ("traffic = transpose(4);", "traffic", "one of uniform"),
    ("traffic = hotspot({16});", "traffic", "nodes from 0 to 15"),
    ("traffic = hotspot({1,2},{1,2,3});", "traffic", "at most 2 rates"),
    ("traffic = hotspot({1,2},{0,0});", "traffic", "a rate above 0 for at least one node"),
    ("traffic = hotspot({1,2},{});", "traffic", "at most 2 rates of at least 0"),
    ("traffic = hotspot({1,2},{-1,3});", "traffic", "at most 2 rates of at least 0"),
    ("k = 8192; traffic = randperm;", "traffic", "it names each of them"),
    ("k = 8192; n = 6; traffic = background({0});", "traffic", "it names each of them"),
    ("k = 8192; n = 6;", "k", "at most 2^30 routers"),
    ("traffic = background({0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15});", "traffic", "not excluded"),
    ("traffic = randperm(2147483648);", "traffic", "a seed"),
    ("perm_seed = -2147483649; traffic = randperm;", "perm_seed", "a seed"),
    ("k = 3; traffic = bitcomp;", "traffic", "a power of two"),
    ("injection_process = poisson;", "injection_process", "bernoulli, on_off"),
    ("injection_process = on_off(0.5,0.5,-1.0,1);", "injection_process", "on_off(alpha,beta,r1)"),
    ("injection_process = on_off(0.0,0.5);", "injection_process", "burst_alpha more than 0"),
    ("injection_process = on_off(0.5,x);", "injection_process", "burst_beta more than 0"),
    ("injection_process = on_off; burst_beta = 1.5;", "burst_beta", "at most 1"),
    (
        "injection_process = on_off; burst_r1 = 0.5;",
        "burst_r1",
        "exactly one of burst_alpha, burst_beta, burst_r1 below 0",
    ),
    (
        "injection_process = on_off; burst_beta = -1.0;",
        "burst_beta",
        "here burst_alpha = 0.5, burst_beta = -1.0, burst_r1 = -1",
    ),
    ("injection_process = on_off(-1,0.5);", "injection_process", "exactly one of"),
    ("injection_process = on_off(-1,-1,0.5);", "injection_process", "exactly one of"),
    ("injection_process = on_off; burst_beta = -1.0; burst_r1 = 1.5;", "burst_r1", "at most 1"),
    ("injection_process = on_off; burst_beta = -1.0; burst_r1 = 0.0;", "burst_r1", "more than 0"),
    (
        "injection_process = on_off; burst_beta = -1.0; burst_r1 = 0.1;",
        "burst_r1",
        "more than the injection rate, here 0.1",
    ),
    ("injection_process = on_off(1e-300,0.5);", "injection_process", "cycles"),
    ("injection_process = on_off(0.5,-1,0.1000000000000001);", "injection_process", "cycles"),
    ("injection_rate = 18446744073709551615;", "injection_rate", "at most 1 packet a cycle"),
    ("injection_rate = 0;", "injection_rate", "more than 0"),
    ("injection_process = on_off(-1,0.5,0.05);", "injection_process", "more than the injection rate"),
    ("injection_process = on_off; injection_rate = 1.5;", "injection_rate", "at most 1 packet a cycle"),
    ("injection_process = on_off; injection_rate = 0.0;", "injection_rate", "more than 0"),
    ("injection_rate = 1.5;", "injection_rate", "at most 1 packet a cycle"),
    ("injection_rate = 0.0;", "injection_rate", "more than 0"),
    ("packet_size = 0;", "packet_size", "at least 1"),
    ("packet_size = {1,2};", "packet_size", "a mixture is a list in a list"),
    ("packet_size = {{1,x}};", "packet_size", "a whole number of flits"),
    ("packet_size = {{1,2}}; packet_size_rate = {{1,2,3}};", "packet_size_rate", "at most 2 weights"),
    ("packet_size = {{1,2}}; packet_size_rate = {{1,-1}};", "packet_size_rate", "of at least 0"),
    ("packet_size = {{1,2}}; packet_size_rate = {{0,0}};", "packet_size_rate", "above 0"),
    ("packet_size = 0; injection_rate_uses_flits = 1;", "packet_size", "at least 1 flit"),
    ("vc_alloc_delay = 0;", "vc_alloc_delay", "at least 1"),
    ("speculative = 1; vc_alloc_delay = 2;", "vc_alloc_delay", "at most sw_alloc_delay"),
    ("st_final_delay = -1;", "st_final_delay", "at least 0"),
    ("credit_delay = -1;", "credit_delay", "a whole number, 0 to"),
    ("input_speedup = 3;", "input_speedup", ""),
    ("vc_buf_size = 0;", "vc_buf_size", "1 to"),
    ("num_vcs = 1; topology = torus; routing_function = dim_order;", "num_vcs", "at least 2"),
    ("k = 0;", "k", "1 to"),
    ("k = -4;", "k", "1 to 8192"),
    ("k = 1000000000; traffic = randperm;", "k", "1 to 8192"),
    ("n = 7;", "n", "1 to 6"),
    ("n = -1;", "n", "1 to 6"),
    ("n = 1000000000000000000;", "n", "1 to 6"),
    ("n = 0;", "n", "1 to 6"),
    ("sim_type = batch;", "sim_type", "no batches"),
    ("sample_period = 0;", "sample_period", "at least 1"),
    ("warmup_periods = 0;", "warmup_periods", "at least 1"),
    ("max_samples = 3;", "max_samples", "nothing is measured"),
    ("sim_count = 0;", "sim_count", "at least 1"),
    ("seed = -1;", "seed", "at least 0"),
]


@pytest.mark.parametrize(("text", "name", "said"), REFUSALS, ids=[text for text, *_ in REFUSALS])
def test_what_cannot_be_obeyed_is_an_error_with_key_and_line(text: str, name: str, said: str) -> None:
    with pytest.raises(fw.ConfigError) as caught:
        found = settings(f"{SMALL}\n{text}")
        list(samples(found))
    error = caught.value
    assert re.search(rf"test\.cfg:\d+: {name}\b", error.path), error
    assert said in f"{error.expected}; {error.hint}"


def test_an_error_of_the_specification_is_about_what_was_written() -> None:
    with pytest.raises(fw.ConfigError) as caught:
        list(samples(settings(f"{SMALL} injection_process = on_off; burst_beta = 1.0; injection_rate = 1e-6;")))
    assert caught.value.value == "1.0 (workload.process.mean_on_cycles = 1)"
    with pytest.raises(fw.ConfigError) as caught:
        list(samples(settings(f"{SMALL} vc_buf_size = 0;")))
    assert (caught.value.path, caught.value.value) == ("test.cfg:1: vc_buf_size", "0")


def test_patterns() -> None:
    names = {
        "bitcomp": "bit_complement",
        "bitrev": "bit_reverse",
        "shuffle": "shuffle",
        "transpose": "transpose",
        "tornado": "tornado",
        "neighbor": "neighbour",
    }
    for theirs, ours in names.items():
        assert planned(f"{SMALL} traffic = {theirs};")["workload"]["pattern"] == {"kind": ours}
    assert planned(f"{SMALL} traffic = uniform;")["workload"]["include_self"] is True
    hot = planned(f"{SMALL} traffic = hotspot({{3,0,5}},{{2,0,1}});")["workload"]["pattern"]
    assert hot == {"kind": "hotspot", "terminals": [3, 5], "shares": [2.0, 1.0]}
    assert planned(f"{SMALL} traffic = background({{0,1}});")["workload"]["pattern"]["terminals"] == list(range(2, 16))


def test_knuths_random_numbers() -> None:
    """The two values that Knuth gives to check a program with."""
    for arrays, length in ((2010, 1009), (1010, 2009)):
        source = LaggedFibonacci(310952)
        for _ in range(arrays):
            found = source.take(length)
        assert found[0] == 995235265
    whole = LaggedFibonacci(5).take(3 * 1009).reshape(3, 1009)
    assert recommended(5, 250).tolist() == whole[:, :100].ravel()[:250].tolist()
    assert not len(recommended(5, 0))


def test_the_permutation_is_booksims() -> None:
    def drawn(text: str) -> list[int]:
        pattern = planned(f"{SMALL} {text}")["workload"]["pattern"]
        assert pattern["kind"] == "permutation"
        return list(pattern["destinations"])

    assert drawn("traffic = randperm;") == [2, 8, 6, 1, 0, 11, 4, 5, 3, 14, 10, 7, 15, 12, 9, 13]
    assert drawn("traffic = randperm(0); perm_seed = 7;") == drawn("traffic = randperm;"), "the seed of traffic wins"
    assert (
        drawn("traffic = randperm(7);") == drawn("traffic = randperm; perm_seed = 7;") != drawn("traffic = randperm;")
    )
    hops = []
    for seed in range(4):
        to = np.array(drawn(f"k = 8; traffic = randperm({seed});"))
        here = np.arange(64)
        hops.append(np.mean(abs(here % 8 - to % 8) + abs(here // 8 - to // 8)) + 1)
    assert hops == [6.4375, 5.84375, 6.5, 6.40625]


@pytest.mark.parametrize("nodes", [1, 2, 3, 64, 100, 1009])
@pytest.mark.parametrize("seed", [0, 1, 2**30 - 2, 2**31 - 1, -1, -2])
def test_permutations_take_the_free_node_that_is_drawn(seed: int, nodes: int) -> None:
    free, wanted = list(range(nodes)), [0] * nodes
    for i, number in enumerate(recommended(seed, nodes).tolist()):
        wanted[free.pop(number % len(free))] = i
    assert random_permutation(seed, nodes) == wanted


def test_a_large_permutation_is_drawn_soon() -> None:
    began = time.process_time()
    drawn = random_permutation(1, 2**19)
    assert time.process_time() - began < 20, "node by node it takes minutes"
    assert sorted(drawn) == list(range(2**19))


def test_routings() -> None:
    ours = {"dor": "dimension_order", "dim_order": "dimension_order", "xy_yx": "o1turn"}
    for theirs in ("dor", "dim_order", "xy_yx", "romm", "valiant", "min_adapt"):
        found = planned(f"{SMALL} routing_function = {theirs};")["network"]["routing"]
        assert (found["kind"], found["tie"]) == (ours.get(theirs, theirs), "random")
    for theirs in ("dim_order", "valiant", "min_adapt"):
        routing = planned(f"{SMALL} topology = torus; routing_function = {theirs};")["network"]["routing"]
        assert routing["kind"] == ours.get(theirs, theirs)
    adaptive = f"{SMALL} routing_function = min_adapt;"
    network = planned(adaptive)["network"]
    assert network["routing"]["selection"] == "all"
    assert network["router"]["compat"] == {"productive": "first"}, "a mesh uses all VCs but the first"
    network = planned(f"{adaptive} topology = torus; num_vcs = 8;")["network"]
    ring = {"productive": "first", "adaptive_vcs": [3], "adaptive_tie": "minus"}
    assert (network["router"]["compat"], network["routing"]["tie"]) == (ring, "random")
    (note,) = notes(settings(adaptive))
    assert "first productive dimension" in note and not notes(settings(SMALL))
    _, note = notes(settings(f"{adaptive} topology = torus;"))
    assert "can deadlock" in note
    assert len(notes(settings(f"{adaptive} topology = torus; wait_for_tail_credit = 1;"))) == 1


@pytest.mark.parametrize(
    ("topology", "routing"), [("torus", "dim_order"), ("mesh", "xy_yx"), ("mesh", "romm"), ("mesh", "valiant")]
)
def test_the_middle_one_of_an_odd_number_of_vcs_belongs_to_both_halves(topology: str, routing: str) -> None:
    text = f"{SMALL} topology = {topology}; routing_function = {routing};"
    odd = planned(f"{text} num_vcs = 3;")
    assert odd["network"]["router"]["compat"]["shared_middle_vc"] is True and odd["run"]["deadlock_check"] is False
    (note,) = notes(settings(f"{text} num_vcs = 3;"))
    assert f"an odd num_vcs with {routing} on a {topology} can deadlock" in note
    waits = f"{text} num_vcs = 3; wait_for_tail_credit = 1;"
    assert "deadlock_check" not in planned(waits)["run"] and not notes(settings(waits))
    assert "compat" not in planned(f"{text} num_vcs = 4;")["network"]["router"]
    assert "compat" not in planned(f"{SMALL} num_vcs = 3;")["network"]["router"], "nothing is halved"


def test_rates_and_channels() -> None:
    assert planned(f"{SMALL} packet_size = 5;")["workload"]["offered_load"] == 0.5
    assert planned(f"{SMALL} packet_size = 5; injection_rate_uses_flits = 1;")["workload"]["offered_load"] == 0.1
    torus = "topology = torus; routing_function = dim_order;"
    latencies = [planned(SMALL + more)["network"]["channel"] for more in ("", torus, f"{torus} use_noc_latency = 0;")]
    assert [c["latency_cycles"] for c in latencies] == [1, 2, 1]
    assert all(c["local_latency_cycles"] == 1 for c in latencies)


def test_lengths_and_processes() -> None:
    mixed = planned(f"{SMALL} packet_size = {{{{1,5}}}}; packet_size_rate = {{{{3,1}}}};")["workload"]
    assert mixed["packet_flits"] == [{"flits": 1, "share": 3.0}, {"flits": 5, "share": 1.0}]
    assert mixed["offered_load"] == pytest.approx(0.1 * 2)
    even = planned(f"{SMALL} packet_size = {{{{1,5}}}};")["workload"]
    assert [length["share"] for length in even["packet_flits"]] == [1.0, 1.0] and even["offered_load"] == 0.1 * 3
    bursts = {"kind": "on_off", "mean_on_cycles": 5.0, "mean_off_cycles": 10.0}
    for text in (
        "injection_process = on_off; burst_alpha = 0.1; burst_beta = 0.2;",
        "injection_process = on_off(0.1,0.2);",
    ):
        assert planned(SMALL + text)["workload"]["process"] == bursts
    assert planned(SMALL)["workload"]["process"] == {"kind": "bernoulli"}


def test_weights_are_filled_with_the_last_one() -> None:
    def lengths(weights: str) -> object:
        found = planned(f"{SMALL} packet_size = {{{{1,5,9}}}}; packet_size_rate = {weights};")["workload"]
        return found["packet_flits"], pytest.approx(found["offered_load"])

    every = [{"flits": 1, "share": 3.0}, {"flits": 5, "share": 2.0}, {"flits": 9, "share": 2.0}]
    assert lengths("{{3,2}}") == lengths("{{3,2,2}}") == (every, 0.1 * 31 / 7)
    assert lengths("{{0,3}}") == ([{"flits": 5, "share": 3.0}, {"flits": 9, "share": 3.0}], 0.1 * 7)
    assert lengths("{{0,3,0}}") == (5, 0.1 * 5)

    def hot(arguments: str) -> object:
        pattern = planned(f"{SMALL} traffic = hotspot({arguments});")["workload"]["pattern"]
        return dict(zip(pattern["terminals"], pattern["shares"], strict=True))

    assert hot("{0,5},{1}") == {0: 1.0, 5: 1.0}
    assert hot("{0,5,7},{1,3}") == {0: 1.0, 5: 3.0, 7: 3.0}


def test_patterns_of_digits_may_name_the_network() -> None:
    for name, ours in (("tornado", "tornado"), ("neighbor", "neighbour")):
        for arguments in ("", "(4)", "(4,2)", "(4,2,1)"):
            assert planned(f"{SMALL} traffic = {name}{arguments};")["workload"]["pattern"] == {"kind": ours}


@pytest.mark.parametrize(
    ("given", "burst", "idle"),
    [
        # alpha = beta * rate / (r1 - rate), beta = alpha * (r1 - rate) / rate, at 0.1 packets/cycle
        ("burst_alpha = -1.0; burst_beta = 0.2; burst_r1 = 0.3;", 5.0, 10.0),
        ("burst_alpha = 0.1; burst_beta = -1.0; burst_r1 = 0.3;", 5.0, 10.0),
        ("injection_process = on_off(-1,0.2,0.3);", 5.0, 10.0),
        ("injection_process = on_off(0.1,-1); burst_r1 = 0.3;", 5.0, 10.0),
        ("packet_size = 4; injection_rate = 0.4; injection_rate_uses_flits = 1; burst_beta = -1; burst_r1 = 0.2;", 2.0, 2.0),
    ],
)  # fmt: skip
def test_one_of_the_three_numbers_of_bursts_follows(given: str, burst: float, idle: float) -> None:
    found = settings(f"{SMALL} injection_process = on_off; {given}")
    workload = specification(found)["workload"]
    assert workload["process"]["mean_on_cycles"] == pytest.approx(burst)
    assert workload["process"]["mean_off_cycles"] == pytest.approx(idle)
    assert workload["offered_load"] == (0.4 if "packet_size" in given else 0.1) and not notes(found)


@pytest.mark.parametrize(
    ("given", "said", "packets"),
    [
        ("burst_alpha = 0.1; burst_beta = 0.4;", "burst_r1 = 1.5 ", 0.2),
        ("burst_alpha = 0.1; burst_beta = 0.4; packet_size = 3;", "burst_r1 = 1.5 ", 0.2),
        ("burst_alpha = -1; burst_beta = 0.5; burst_r1 = 0.4;", "burst_alpha = 1.5 ", 0.4 / 1.5),
        ("burst_alpha = 0.8; burst_beta = -1; burst_r1 = 0.9;", "burst_beta = 1.6 ", 0.4),
    ],
)
def test_what_follows_acts_as_1_where_it_is_more(given: str, said: str, packets: float) -> None:
    found = settings(f"{SMALL} injection_process = on_off; injection_rate = 0.3; {given}")
    flits = found["packet_size"]
    assert specification(found)["workload"]["offered_load"] == pytest.approx(packets * flits)
    (note,) = notes(found)
    assert said in note and f"create {packets:.4g} packets/cycle, not 0.3" in note
    one = sample(f"{SMALL} injection_process = on_off; injection_rate = 0.3; sample_period = 5000; {given}")
    created = one.result.packets["created_cycle"]
    assert ((created >= 15000) & (created < 20000)).sum() / 5000 / 16 == pytest.approx(packets, rel=0.1)


def test_the_example_of_the_manual() -> None:
    """A mesh with input speed-up and packets of 20 flits, as in the user's guide of BookSim 2."""
    text = """
        topology = mesh; k = 8; n = 2; routing_function = dor;
        num_vcs = 8; vc_buf_size = 8; wait_for_tail_credit = 1;
        vc_allocator = islip; sw_allocator = islip; alloc_iters = 1;
        credit_delay = 2; routing_delay = 0; vc_alloc_delay = 1; sw_alloc_delay = 1;
        input_speedup = 2; output_speedup = 1; internal_speedup = 1.0;
        traffic = transpose; packet_size = 20; sim_type = latency; injection_rate = 0.005;
    """
    found = planned(text)
    router = found["network"]["router"]
    assert (router["vcs"], router["buffer_flits"], router["input_speedup"]) == (8, 8, 2)
    assert router["wait_for_tail_credit"] and router["routing_delay_cycles"] == 0 and router["st_delay_cycles"] == 1
    assert found["network"]["channel"]["credit_delay_cycles"] == 2
    assert found["workload"]["offered_load"] == 0.1 and found["workload"]["packet_flits"] == 20


def test_only_stages_of_several_cycles_take_batches() -> None:
    for text in ("routing_delay = 2;", "st_final_delay = 2;", "st_prepare_delay = 1;"):
        assert planned(SMALL + text)["network"]["router"]["compat"] == {"pipelined_stages": False}
    assert "compat" not in planned(SMALL)["network"]["router"]


CURVES = {
    "mesh8x8_dor_uniform_1flit": [0.05, 0.3, 0.43, 0.5],
    "mesh8x8_dor_uniform_4flit": [0.05, 0.3, 0.43, 0.5],
    "torus8x8_dimorder_uniform_1flit": [0.05, 0.3, 0.6, 0.7],
    "torus8x8_dimorder_uniform_4flit": [0.05, 0.3, 0.6, 0.7],
    "torus8x8_dimorder_bitcomp_1flit": [0.05, 0.3, 0.45, 0.5],
    "torus8x8_dimorder_transpose_1flit": [0.05, 0.15, 0.3, 0.4],
    "mesh8x8_valiant_uniform_1flit": [0.05, 0.2, 0.3, 0.4],
    "mesh8x8_min_adapt_uniform_1flit_sepif": [0.05, 0.2, 0.43, 0.5],
}


@pytest.mark.parametrize("name", CURVES)
def test_the_validation_study_runs_the_same_specifications(name: str) -> None:
    folder = published()["booksim-2-validation"].folder
    points = expand(load_study(folder / "study.toml"))
    hashes = {fw._core.Plan(to_json(p.spec)).hash for p in points if p.seed == 2 and p.experiment != "rules"}
    for load in CURVES[name]:
        found = read_settings([DATA / f"{name}.cfg"], [f"injection_rate={load}", "seed=2"])
        assert plan(found, Phases.of(found), 2).hash in hashes, load


def test_the_periods_follow_the_thresholds() -> None:
    def periods(more: str) -> list[int]:
        return [s.phases.measured for s in samples(settings(SMALL + more))]

    off = "stopping_thres = -1.0; acc_stopping_thres = -1.0;"
    assert periods(off) == [3]
    assert periods("stopping_thres = 1.0; acc_stopping_thres = 1.0;") == [3], "everything is little"
    assert periods("stopping_thres = 0.0; max_samples = 8;") == [5], "nothing is little: until max_samples"
    assert periods(f"{off} max_samples = 5;") == [2]
    assert periods(f"{off} sim_count = 2;") == [3, 3]
    assert periods("sim_type = throughput; stopping_thres = 0.0; acc_stopping_thres = 1.0;") == [3]
    between = periods("stopping_thres = 0.01; acc_stopping_thres = -1.0; max_samples = 40;")[0]
    assert 3 < between < 37


def test_the_changes_are_those_of_running_means() -> None:
    """Made up: two packets a period, the latency rises by one a period."""
    phases = Phases(period_cycles=100, warmup=3, measured=3, most=10, drain=True)
    created = np.repeat(np.arange(6) * 100, 2)
    latency = np.repeat(np.arange(10, 16), 2)
    packets = pd.DataFrame({"created_cycle": created, "arrived_cycle": created + latency, "flits": 1})
    packets["packet_latency_cycles"] = latency
    changes = list(phases._changes(packets))
    # The last warm-up period counts alone (it has begun anew after the second): 12, then means of 13, 13.5, 14.
    assert [c[0] for c in changes] == pytest.approx([1 / 13, 0.5 / 13.5, 0.5 / 14])
    assert [c[1] for c in changes] == pytest.approx([0, 0, 0])


def sample(text: str) -> Sample:
    return next(iter(samples(settings(text))))


def test_rates_are_counted_in_the_measurement() -> None:
    one = sample(f"{SMALL} packet_size = 3; injection_rate_uses_flits = 1; injection_rate = 0.3;")
    packets, (start, end) = one.result.packets, (600, 1200)
    inside = packets[(packets["injected_cycle"] >= start) & (packets["injected_cycle"] < end)]
    assert one.injected_packets.average == pytest.approx(len(inside) / 600 / 16)
    assert one.injected_flits.average == pytest.approx(3 * len(inside) / 600 / 16)
    by_node = inside.groupby("src").size().reindex(range(16), fill_value=0)
    assert one.injected_packets.minimum == by_node.min() / 600
    assert by_node[one.injected_packets.maximum_node or 0] == by_node.max()
    assert one.accepted_flits.average == pytest.approx(one.result.accepted_load)
    assert one.hops == one.result.row["mean_hops"] + 1


def test_close_to_booksim() -> None:
    """Two points of the reference curves; the validation compares all of them."""
    found = read_settings([MESH], ["injection_rate=0.3", "sim_count=3"])
    done = list(samples(found))
    assert np.mean([s.packet_latency.average for s in done]) == pytest.approx(36.906, rel=0.01)
    assert np.mean([s.hops for s in done]) == pytest.approx(6.259, rel=0.01)
    assert done[0].packet_latency.minimum == 7
    over = sample(MESH.read_text() + "injection_rate = 0.5; sim_type = throughput;")
    assert over.accepted_flits.average == pytest.approx(0.4228, rel=0.03)
    assert over.injected_flits.average == pytest.approx(0.4216, rel=0.03)
    assert over.result.completion_cycles == 6000 and not over.unstable(500.0)


def test_the_command_prints_what_booksim_prints(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mesh.cfg").write_text(SMALL + "\n")
    done = cli("booksim", "mesh.cfg", "seed=3", "pair_stats=1")
    assert done.returncode == 0 and "pair_stats: no effect" in done.stderr
    lines = done.stdout.splitlines()
    assert lines[:4] == [
        "BEGIN Configuration File: mesh.cfg",
        SMALL,
        "END Configuration File: mesh.cfg",
        "OVERRIDE Parameter: seed=3",
    ]
    overall = lines[lines.index("====== Overall Traffic Statistics ======") :]
    assert overall[1] == "====== Traffic class 0 ======"
    number = r"\d+(\.\d+)?(e-\d+)?"
    for title in (
        "Packet latency",
        "Network latency",
        "Flit latency",
        "Fragmentation",
        "Injected packet rate",
        "Accepted packet rate",
        "Injected flit rate",
        "Accepted flit rate",
    ):
        at = next(i for i, line in enumerate(overall) if line.startswith(f"{title} average = "))
        assert re.fullmatch(rf"{title} average = {number} \(1 samples\)", overall[at])
        assert re.fullmatch(rf"\tminimum = {number} \(1 samples\)", overall[at + 1])
        assert re.fullmatch(rf"\tmaximum = {number} \(1 samples\)", overall[at + 2])
    for title in ("Injected packet size", "Accepted packet size", "Hops"):
        assert any(re.fullmatch(rf"{title} average = {number} \(1 samples\)", line) for line in overall)
    assert re.fullmatch(rf"Total run time {number}", lines[-1])
    assert re.search(r"Accepted flit rate average= ", done.stdout), "as scripts expect of the periods"
    found = json.loads(cli("booksim", "mesh.cfg", "seed=3", "--json").stdout)
    assert f"Packet latency average = {found['classes'][0]['packet_latency']['average']:.6g} (1 samples)" in overall
    assert found["stable"] and found["runs"][0]["seed"] == 3 and found["settings"]["k"] == "4"


def test_the_order_of_the_blocks_is_booksims(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mesh.cfg").write_text(SMALL)

    def titles(*more: str) -> list[list[str]]:
        """Those of the block of the measurement, and of the overall block."""
        blocks = cli("booksim", "mesh.cfg", *more).stdout.split("====== Overall")
        return [re.findall(r"^(.*?) average ?= ", block, re.MULTILINE) for block in blocks]

    rates = [f"{done} {what} rate" for what in ("packet", "flit") for done in ("Injected", "Accepted")]
    latencies, flits = ["Packet latency", "Network latency"], ["Flit latency", "Fragmentation"]
    for more, expected in (((), latencies + flits), (("packet_size=2",), latencies)):
        for found, name in zip(titles(*more), ("length", "size"), strict=True):
            assert found[: len(expected) + 4] == expected + rates
            assert found[len(expected) + 4 :][:2] == [f"Injected packet {name}", f"Accepted packet {name}"]


def test_flits_are_known_of_packets_of_one_flit() -> None:
    """Those of all packets that arrive in the measurement or after it."""
    one = sample(f"{SMALL} injection_rate = 0.4; packet_size = {{{{1,1}}}};")
    packets = one.result.packets.dropna()
    late = packets[packets["arrived_cycle"] >= one.phases.start]
    assert set(late["created_cycle"] < one.phases.start) == {True, False}
    latency = (late["arrived_cycle"] - late["injected_cycle"]).astype(float)
    found = one.flit_latency
    assert (found.average, found.minimum, found.maximum) == (latency.mean(), latency.min(), latency.max())
    assert (one.fragmentation.average, one.fragmentation.maximum) == (0, 0)
    more = sample(f"{SMALL} packet_size = {{{{1,2}}}};")
    assert np.isnan([more.flit_latency.average, more.fragmentation.average]).all()
    none = sample(f"{SMALL} injection_rate = 1e-7;")
    assert np.isnan([none.flit_latency.average, none.fragmentation.average]).all()


@pytest.mark.parametrize("flits", [1, 4])
def test_the_line_for_other_programs(cli: Cli, tmp_path: Path, flits: int) -> None:
    (tmp_path / "mesh.cfg").write_text(f"{SMALL} traffic = hotspot({{0,5}},{{1}}); injection_rate_uses_flits = 1;")
    args = ("booksim", "mesh.cfg", f"packet_size={flits}", "print_csv_results=1", "sim_count=2")
    printed = cli(*args).stdout.splitlines()
    assert printed[-1].startswith("Total run time") and printed[-3].startswith("Hops average")
    start = f"results:0,hotspot({{0,5}},{{1}}),0,{0.1 / flits:.6g},"
    assert printed[-2].startswith(start)
    values = printed[-2][len(start) :].split(",")
    (numbers,) = json.loads(cli(*args, "--json").stdout)["classes"]
    expected = []
    for name in (
        "packet_latency",
        "network_latency",
        "flit_latency",
        "fragmentation",
        "injected_packets",
        "accepted_packets",
        "injected_flits",
        "accepted_flits",
    ):
        known = numbers.get(name, dict.fromkeys(("minimum", "average", "maximum"), float("nan")))
        expected += [known[what] for what in ("minimum", "average", "maximum")]
    expected += [numbers[name] for name in ("injected_packet_size", "accepted_packet_size", "hops")]
    assert values == [f"{number:.6g}" for number in expected] and len(values) == 27
    assert (values[6:12] == ["nan"] * 6) is (flits > 1)
    unstable = cli(*args, "latency_thres=1.0")
    assert unstable.returncode == 1 and "results:" not in unstable.stdout


def test_an_unstable_run_says_so(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mesh.cfg").write_text(SMALL)
    done = cli("booksim", "mesh.cfg", "latency_thres=10.0")
    assert done.returncode == 1
    assert "Average latency for class 0 exceeded 10 cycles. Aborting simulation." in done.stdout
    assert "Simulation unstable, ending ..." in done.stdout and "Overall" not in done.stdout
    found = cli("booksim", "mesh.cfg", "latency_thres=10.0", "--json")
    assert found.returncode == 1 and json.loads(found.stdout)["stable"] is False
    assert cli("booksim", "mesh.cfg", "latency_thres=-1.0").returncode == 0


@pytest.mark.parametrize(
    ("more", "code"),
    [
        (("injection_rate=1e-7",), 0),
        (("injection_rate=1e-7", "sim_type=throughput"), 0),
        (("injection_rate=1e-7", "sim_count=2"), 0),
        (("packet_size=5000", "sim_type=throughput"), 0),
        (("packet_size=5000",), 1),
        (("injection_rate=0",), 2),
        (("max_samples=1",), 2),
    ],
)
def test_runs_in_which_nothing_arrives(cli: Cli, tmp_path: Path, more: tuple[str, ...], code: int) -> None:
    (tmp_path / "mesh.cfg").write_text(SMALL)
    done = cli("booksim", "mesh.cfg", *more)
    assert done.returncode == code and "Traceback" not in done.stderr
    assert ("no packet of the measurement" in done.stderr) is (code < 2)
    assert ("Packet latency average = nan" in done.stdout) is (code < 2)
    if code < 2:
        found = json.loads(cli("booksim", "mesh.cfg", *more, "--json").stdout)
        assert found["classes"][0]["packet_latency"]["average"] is None and found["stable"] is (code == 0)
        assert any("no packet of the measurement" in note for note in found["notes"])


def test_the_table_of_packets_has_its_columns_without_packets() -> None:
    some, none = sample(SMALL).result.packets, sample(f"{SMALL} injection_rate = 1e-7;").result.packets
    assert len(some) and none.empty
    assert none.dtypes.equals(some.dtypes)


@pytest.mark.parametrize(
    "more", [("k=1",), ("k=1", "n=1"), ("k=2", "n=1"), ("sample_period=1",), ("warmup_periods=1", "max_samples=2")]
)
def test_the_least_networks_and_phases(cli: Cli, tmp_path: Path, more: tuple[str, ...]) -> None:
    (tmp_path / "mesh.cfg").write_text(SMALL)
    done = cli("booksim", "mesh.cfg", *more)
    assert done.returncode == 0 and not done.stderr, done.stderr
    (hops,) = re.findall(r"^Hops average = (\S+) ", done.stdout, re.MULTILINE)
    assert (float(hops) == 1) is ("k=1" in more)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("k=4",), "a configuration file"),
        (("missing.cfg",), "exists"),
        (("mesh.cfg", "kk=4"), "command line: kk = 4"),
        (("mesh.cfg", "traffic=hotspot({0,"), "command line:1"),
        (("mesh.cfg", "num_vcs=0"), "command line: num_vcs"),
        (("mesh.cfg", "topology=fattree"), "does not have BookSim's fattree yet"),
    ],
)
def test_errors_of_the_command(cli: Cli, tmp_path: Path, args: tuple[str, ...], said: str) -> None:
    (tmp_path / "mesh.cfg").write_text(SMALL)
    done = cli("booksim", *args)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr
    error = json.loads(cli("booksim", *args, "--json").stderr)
    assert error["error"] == "ConfigError"


def test_the_plan_is_printed_and_nothing_runs(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mesh.cfg").write_text(SMALL)
    found = json.loads(cli("booksim", "mesh.cfg", "k=5", "--plan").stdout)
    assert found["spec"]["network"]["topology"] == {"kind": "mesh", "size": [5, 5], "terminals_per_router": 1}
