"""Lists and parameters as BookSim's tokeniser takes them apart; what it was asked for here, BookSim itself has shown."""

from __future__ import annotations

import pytest
from booksim_files import SMALL, planned, settings
from flitwork.booksim.config_file import Call, Value, parse
from flitwork.booksim.mapping import notes
from flitwork.booksim.parameters import parameters


@pytest.mark.parametrize(
    ("written", "found", "lost"),
    [
        ("hotspot", (), ()),
        ("hotspot()", (), ()),
        ("hotspot({})", (), ()),
        ("hotspot({11,55})", (11, 55), ()),
        ("hotspot({{11,55}})", ([11, 55],), ()),
        ("hotspot({{5,6},{2}})", ([5, 6], [2]), ()),
        ("hotspot({0,63},{3,1})", (0, 63), ([3, 1],)),
        ("hotspot({5},{3},{2})", (5, [3]), ([2],)),
        ("hotspot({5},3,4)", (5, 3), (4,)),
        ("hotspot(11,55)", (11,), (55,)),
        ("on_off(0.02,0.05)", (0.02,), (0.05,)),
    ],
)
def test_the_first_braces_are_those_of_all_parameters(
    written: str, found: tuple[Value, ...], lost: tuple[Value, ...]
) -> None:
    (one,) = parse(f"key = {written};", "test.cfg")
    read = parameters(one.value)
    assert (read.found, read.lost) == (found, lost)


def pattern(traffic: str) -> dict[str, object]:
    found: dict[str, object] = planned(f"{SMALL} traffic = {traffic};")["workload"]["pattern"]
    return found


@pytest.mark.parametrize(
    ("traffic", "terminals", "shares"),
    [
        ("hotspot(11)", [11], [1.0]),
        ("hotspot({11})", [11], [1.0]),
        ("hotspot({11,5})", [11], [5.0]),
        ("hotspot({0,5},{3,1})", [0], [5.0]),
        ("hotspot(11,5)", [11], [1.0]),
        ("hotspot({5},{3},{2})", [5], [3.0]),
        ("hotspot({{5,6},{2}})", [5, 6], [2.0, 2.0]),
        ("hotspot({{5,6},{2,3,4}})", [5, 6], [2.0, 3.0]),
        ("{hotspot({5},{3},{2}),uniform}", [5], [1.0]),
        ("background({5,6,7})", [0, 1, 2, 3, 4, *range(6, 16)], []),
        ("background(5)", [0, 1, 2, 3, 4, *range(6, 16)], []),
        ("background({{5,6,7}})", [0, 1, 2, 3, 4, *range(8, 16)], []),
    ],
)
def test_nodes(traffic: str, terminals: list[int], shares: list[float]) -> None:
    found = pattern(traffic)
    assert (found["terminals"], found["shares"]) == (terminals, shares)


def test_other_forms() -> None:
    assert pattern("tornado({4,2})") == pattern("tornado(4,99)") == {"kind": "tornado"}
    assert pattern("transpose(4)") == {"kind": "transpose"}
    assert pattern("randperm({7})") == pattern("randperm(7,8)") == pattern("randperm; perm_seed = 7")

    def process(text: str) -> tuple[float, float]:
        found = planned(f"{SMALL} injection_process = {text};")["workload"]["process"]
        return found["mean_on_cycles"], found["mean_off_cycles"]

    assert process("on_off({0.1,0.2})") == process("on_off({0.1,0.2,-1,1})") == (5.0, 10.0)
    assert process("on_off(0.1,0.2)") == (2.0, 10.0), "beta is burst_beta's default"
    assert planned(f"{SMALL} injection_process = bernoulli(3);")["workload"]["process"] == {"kind": "bernoulli"}


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("packet_size = {5,1};", "packet_flits", 5),
        ("packet_size = {5,{1,2}};", "packet_flits", 5),
        ("packet_size = {{1,3},5};", "packet_flits", [{"flits": 1, "share": 1.0}, {"flits": 3, "share": 1.0}]),
        ("injection_rate = {0.2,0.1};", "offered_load", 0.2),
        ("traffic = {bitcomp,uniform};", "pattern", {"kind": "bit_complement"}),
    ],
)
def test_of_a_list_the_first_entry_is_for_the_one_class_of_traffic(text: str, field: str, value: object) -> None:
    assert planned(f"{SMALL} {text}")["workload"][field] == value
    (note,) = notes(settings(f"{SMALL} {text}"))
    assert "one class of traffic" in note and ("mixture" in note) is text.startswith("packet_size = {5")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("traffic = hotspot({11,5});", "hotspot({11,5}) is node 11 with rate 5, as in BookSim; all of it is hotspot({{11,5}})"),
        ("traffic = hotspot({0,5},{3,1});", "is node 0 with rate 5 ({3,1}: not read), as in BookSim; all of it is hotspot({{0,5},{3,1}})"),
        ("traffic = hotspot({1,2,3});", "is node 1 with rate 2 (3: not read), as in BookSim; all of it is hotspot({{1,2,3}})"),
        ("traffic = hotspot(11,5);", "is node 11 (5: not read), as in BookSim; all of it is hotspot({{11,5}})"),
        ("traffic = hotspot({{5,6},{2,3,4}});", "more rates than nodes: the last ones are not used"),
        ("traffic = background({5,6,7});", "is all nodes but 5 (6, 7: not read), as in BookSim; all of it is background({{5,6,7}})"),
        ("traffic = tornado(4,9);", "is tornado (9: not read), as in BookSim; all of it is tornado({4,9})"),
        ("traffic = transpose(4);", "transpose(4) is transpose (4: not read), as in BookSim"),
        ("injection_process = on_off(0.1,0.2);", "is alpha = 0.1 (0.2: not read), as in BookSim; all of it is on_off({0.1,0.2})"),
        ("packet_size = {1,5};", "packet_size: {1,5} is 1, as in BookSim: one class of traffic; a mixture is {{1,5}}"),
        ("packet_size = {{1,5}}; packet_size_rate = {3,1};", "packet_size_rate: {3,1} is 3"),
        ("packet_size = {{1,5}}; packet_size_rate = {{3,1,9}};", "more weights than sizes"),
        ("packet_size = 2; packet_size_rate = {{3,1}};", "more weights than sizes"),
    ],
)  # fmt: skip
def test_a_note_says_what_surely_was_not_meant(text: str, said: str) -> None:
    (note,) = notes(settings(f"{SMALL} {text}"))
    assert said in note and note.startswith("test.cfg:1: ")


@pytest.mark.parametrize(
    "text",
    [
        "traffic = hotspot({{11,5}});",
        "traffic = hotspot({{0,5},{3,1}});",
        "traffic = hotspot(11);",
        "traffic = background({{5,6,7}});",
        "traffic = background(5);",
        "traffic = tornado({4,2});",
        "traffic = randperm(3);",
        "injection_process = on_off({0.1,0.2,-1});",
        "packet_size = {{1,5}}; packet_size_rate = {{3,1}};",
        "packet_size = {5};",
    ],
)
def test_what_is_meant_as_booksim_reads_it_needs_no_note(text: str) -> None:
    assert not notes(settings(f"{SMALL} {text}"))


def test_lists_of_what_has_no_effect_are_read() -> None:
    (note,) = notes(settings(f"{SMALL} watch_flits = {{1,2}};"))
    assert "watch_flits: no effect" in note


@pytest.mark.parametrize("topology", ["cmesh", "flatfly", "anynet", "nonsense"])
def test_the_first_error_is_about_the_topology(topology: str) -> None:
    """Not about the keys that such a topology brings, nor about those that nobody knows."""
    text = f"c = 4; xr = 2; own_key = 1; num_vcs = {{2}}; injection_rate = 0; sim_type = batch; topology = {topology};"
    with pytest.raises(ValueError, match="topology"):
        settings(text)


def test_values_are_written_as_they_stand() -> None:
    assert str(Call("hotspot", ([1, 2], 3))) == "hotspot({1,2},3)"
