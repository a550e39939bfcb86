"""Configurations of BookSim 2: every key is used, without effect, or refused by name."""

from __future__ import annotations

import csv

import flitwork as fw
import pytest
from booksim_files import DATA, SMALL, settings, spec
from flitwork.booksim import report
from flitwork.booksim.idle import IDLE
from flitwork.booksim.keys import KEYS, Fate, Reads
from flitwork.booksim.mapping import specification
from flitwork.booksim.measure import samples


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
    "xr": ("traffic = tornado({2,4});", "traffic = tornado({2,2}); xr = 2;"),
    "speculative": ("", "speculative = 1;"),
    "spec_check_elig": ("speculative = 1;", "speculative = 1; spec_check_elig = 0;"),
    "num_vcs": ("", "num_vcs = 6;"),
    "vc_buf_size": ("", "vc_buf_size = 6;"),
    "buf_size": ("buffer_policy = shared;", "buffer_policy = shared; buf_size = 40;"),
    "buffer_policy": ("", "buffer_policy = shared;"),
    "private_buf_size": ("buffer_policy = shared;", "buffer_policy = shared; private_buf_size = 2;"),
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
    return [*((s.result.plan_hash, bool(s.unstable)) for s in done), *lines]


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


def beside(name: str) -> str:
    """Settings beside which a key has an effect in BookSim."""
    needed = {
        "spec_": "speculative = 1; spec_sw_allocator = islip;",
        "spec_sw": "speculative = 1;",
        "private_buf": "buffer_policy = shared;",
        "vc_prior": "vc_allocator = wavefront;",
        "output_buffer": "output_speedup = 2;",
    }
    return next((text for start, text in reversed(needed.items()) if name.startswith(start)), "")


@pytest.mark.parametrize("name", [name for name, key in KEYS.items() if key.fate is Fate.ONLY])
def test_what_flitwork_does_not_have_is_refused_by_name(name: str) -> None:
    settings(f"{SMALL}{name} = {default_value(name)};")
    other = (
        "0" if KEYS[name].reads in (Reads.POSITIVE, Reads.NONZERO) and KEYS[name].default == 1 else other_value(name)
    )
    with pytest.raises(fw.ConfigError) as caught:
        settings(f"{SMALL}\n{name} = {other};\n{beside(name)}")
    error = caught.value
    assert error.path == f"test.cfg:2: {name}" and error.value == other
    assert default_value(name) in error.expected and error.hint


@pytest.mark.parametrize("name", sorted(IDLE))
def test_a_key_that_changes_nothing_there_is_accepted_with_a_note(name: str) -> None:
    values = {"output_buffer_size": "4", "spec_sw_allocator": "islip", "private_buf_size": "{1,2}", "xr": "2"}
    places = "buf_size = 40;" if name == "vc_buf_size" else ""
    value = values.get(name, "0" if name.startswith("spec_check") else other_value(name))
    changed = settings(f"{SMALL}{places}{name} = {value};")
    assert specification(changed) == spec(SMALL + places)
    (note,) = (note for note in changed.notes() if name in note)
    assert note == f"test.cfg:1: {name}: no effect: {IDLE[name].where}"


@pytest.mark.parametrize("name", [n for n, key in KEYS.items() if key.fate is Fate.NOTED])
def test_a_key_without_effect_has_none(name: str) -> None:
    changed = settings(f"{SMALL}{name} = {other_value(name)};")
    assert specification(changed) == spec(SMALL)
    assert changed.notes() == [f"test.cfg:1: {name}: no effect: {KEYS[name].note}"] and KEYS[name].note
    assert not settings(f"{SMALL}{name} = {default_value(name)};").notes()


def test_one_note_lists_all_keys_with_one_reason() -> None:
    notes = settings(f"{SMALL} x = 4; y = 4; vct = 1;\nc = 2;").notes()
    assert [note.count("no effect") for note in notes] == [1, 1]
    assert notes[0] == "test.cfg:1: x, test.cfg:1: y, test.cfg:2: c: no effect: of cmesh and flatfly"


@pytest.mark.parametrize("name", [n for n, key in KEYS.items() if key.fate is Fate.TECHNOLOGY])
def test_a_key_of_a_technology_file_is_refused_in_a_configuration(name: str) -> None:
    with pytest.raises(fw.ConfigError, match="technology file"):
        settings(f"{SMALL}{name} = {default_value(name)};")


def test_no_key_is_forgotten() -> None:
    used = {name for name, key in KEYS.items() if key.fate is Fate.MAPPED}
    assert used == set(CHANGES)
