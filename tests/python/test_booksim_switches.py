"""Configurations of BookSim 2: each switch is read as BookSim tests it, over -1, 0, 1 and 2."""

from __future__ import annotations

import flitwork as fw
import pytest
from booksim_files import SMALL, settings, spec
from flitwork.booksim.keys import KEYS, Fate, Reads

VALUES = (-1, 0, 1, 2)
#: Whether BookSim has the switch on, for each of the values, as its source tests it.
ON = {
    "use_noc_latency": (False, False, True, False),
    "link_failures": (False, False, True, True),
    "noq": (True, False, True, True),
    "speculative": (False, False, True, True),
    "spec_check_elig": (False, False, True, True),
    "spec_check_cred": (False, False, True, True),
    "spec_mask_by_reqs": (False, False, True, True),
    "private_bufs": (False, True, True, True),
    "private_buf_start_vc": (False, True, True, True),
    "private_buf_end_vc": (False, True, True, True),
    "wait_for_tail_credit": (True, False, True, True),
    "vc_busy_when_full": (False, False, True, True),
    "vc_prioritize_empty": (False, False, True, True),
    "vc_shuffle_requests": (False, False, True, True),
    "hold_switch_for_packet": (False, False, True, True),
    "injection_rate_uses_flits": (True, False, True, True),
    "use_read_write": (True, False, True, True),
    "measure_stats": (True, False, True, True),
    "pair_stats": (False, False, True, False),
    "include_queuing": (False, False, True, False),
    "print_activity": (False, False, True, True),
    "print_csv_results": (True, False, True, True),
    "viewer_trace": (False, False, True, True),
    "sim_power": (False, False, True, True),
}
#: Beside which a switch matters.
BESIDE = {
    "use_noc_latency": "topology = torus; routing_function = dim_order;",
    "injection_rate_uses_flits": "packet_size = 4;",
    "spec_mask_by_reqs": "speculative = 1; spec_sw_allocator = prio;",
    "vc_prioritize_empty": "vc_allocator = wavefront;",
    "private_bufs": "buffer_policy = shared;",
    "private_buf_start_vc": "buffer_policy = shared;",
    "private_buf_end_vc": "buffer_policy = shared;",
    "spec_check_elig": "speculative = 1;",
    "spec_check_cred": "speculative = 1;",
}


def test_no_switch_is_forgotten() -> None:
    assert {name for name, key in KEYS.items() if key.reads is not Reads.VALUE} == set(ON)
    assert all(KEYS[name].type.name in ("INT", "INTS") for name in ON)


@pytest.mark.parametrize("name", ON)
def test_a_switch_is_read_as_booksim_tests_it(name: str) -> None:
    for value, is_on in zip(VALUES, ON[name], strict=True):
        found = KEYS[name].reads.of(value)
        assert found is is_on, f"{name} = {value}"


@pytest.mark.parametrize("name", [name for name in ON if KEYS[name].fate is Fate.MAPPED])
def test_a_switch_that_is_used_sets_what_1_and_0_set(name: str) -> None:
    base = SMALL + BESIDE.get(name, "")
    by_state = {state: (spec(f"{base} {name} = {state:d};"), settings(base)[name]) for state in (False, True)}
    if name != "print_csv_results":
        assert by_state[False][0] != by_state[True][0]
    for value, is_on in zip(VALUES, ON[name], strict=True):
        text = f"{base} {name} = {value};"
        assert spec(text) == by_state[is_on][0], text
        assert settings(text)[name] is is_on
        notes = [note for note in settings(text).notes() if name in note]
        word = "on" if is_on else "off"
        assert [f"{value} is {word}, as in BookSim" in note for note in notes] == [True] * (value not in (0, 1)), text


@pytest.mark.parametrize("name", [name for name in ON if KEYS[name].fate is Fate.ONLY])
def test_a_switch_that_flitwork_does_not_have_may_be_in_the_state_of_its_default(name: str) -> None:
    base, usual = SMALL + BESIDE.get(name, ""), KEYS[name].reads.of(int(KEYS[name].default))
    for value, is_on in zip(VALUES, ON[name], strict=True):
        text = f"{base} {name} = {value};"
        if is_on == usual or name == "spec_mask_by_reqs":  # The allocator `prio` does not read it.
            assert spec(text) == spec(base), text
        else:
            with pytest.raises(fw.ConfigError, match=name):
                settings(text)


@pytest.mark.parametrize("name", [name for name in ON if KEYS[name].fate is Fate.NOTED])
def test_a_switch_without_effect_has_a_note_where_it_is_on(name: str) -> None:
    for value, is_on in zip(VALUES, ON[name], strict=True):
        text = f"{SMALL} {name} = {value};"
        assert spec(text) == spec(SMALL)
        assert len(settings(text).notes()) == is_on, text
