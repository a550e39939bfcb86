"""A run as one HTML page: what is in it is what the run recorded, unfit input is refused, and it works in a browser."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import flitwork as fw
import numpy as np
import pandas as pd
import pytest
from common import Cli
from flitwork.base.errors import ConfigError, ResultFileError
from flitwork.networks.graph_places import graph_places
from flitwork.view import levels as small_numbers
from flitwork.view import series
from flitwork.view.contents import contents
from flitwork.view.levels import levels, round_end
from flitwork.view.place import place

TORUS = fw.Torus(4, 4)
WORK = fw.all_to_all("a2a", message_flits=40, sync="local", packet_flits=10)
ALL = fw.Run(record=fw.Record(waits=True, operations=True, channel_window_cycles=16))


@pytest.fixture(scope="module")
def recorded() -> fw.Result:
    return fw.simulate(TORUS, WORK, run=ALL)


@pytest.fixture(scope="module")
def page(recorded: fw.Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fw.view(recorded, tmp_path_factory.mktemp("view") / "run.html")


def unpacked(page: Path) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """What a browser finds in a page."""
    text = page.read_text(encoding="utf-8")
    about = json.loads(re.findall(r'<script type="application/json" id="about">(.*?)</script>', text)[0])
    packed = re.findall(r'<script type="text/plain" id="packed">(.*?)</script>', text)[0]
    raw = gzip.decompress(base64.b64decode(packed))
    return about, {
        name: np.frombuffer(raw, one["type"], int(np.prod(one["shape"])), one["at"]).reshape(one["shape"])
        for name, one in about["arrays"].items()
    }


def values(about: dict[str, Any], arrays: dict[str, np.ndarray[Any, Any]], name: str) -> np.ndarray[Any, Any]:
    scale = about["scales"][name]
    found: np.ndarray[Any, Any] = scale["top"] * (arrays[name] / scale["levels"]) ** scale["power"]
    # Stored by channel, here by frame.
    return found.T if name in ("load", "waiting") else found


def test_waits_by_window_add_up_to_waits(recorded: fw.Result) -> None:
    keys = ["router", "port", "reason"]
    whole = recorded.waits.groupby(keys)["cycles"].sum()
    pd.testing.assert_series_equal(recorded.wait_windows.groupby(keys)["cycles"].sum(), whole)
    # Nothing waits in a window outside of the time that it is under way, and no window has more than all VCs and NICs.
    assert recorded.wait_windows["window"].max() < len(recorded.channel_window_edges) - 1
    assert fw.simulate(TORUS, WORK).wait_windows.empty


def test_recording_changes_nothing(recorded: fw.Result) -> None:
    assert recorded.digest == fw.simulate(TORUS, WORK).digest


def test_a_page_has_the_loads_and_the_waits_of_every_window(recorded: fw.Result, page: Path) -> None:
    about, arrays = unpacked(page)
    assert about["window"] == 16 and about["frames"] == len(recorded.channel_window_edges) - 1
    lengths = np.diff(recorded.channel_window_edges)
    windows = recorded.channel_windows
    assert windows is not None
    exact = windows / lengths[:, None]
    shown = values(about, arrays, "load")
    assert np.abs(shown - exact).max() <= exact.max() / 2 / 255 + 1e-6
    assert ((shown > 0) == (exact > 0)).all()
    waits = recorded.wait_windows.merge(recorded.channels.reset_index(names="channel"), on=["router", "port"])
    expected = np.zeros_like(exact)
    np.add.at(expected, (waits["window"], waits["channel"]), waits["cycles"])
    expected /= lengths[:, None]
    waiting = values(about, arrays, "waiting")
    assert waiting.shape == expected.shape and expected.max() > 1
    # The scale is finer where values are small: the step at v is 2 sqrt(v top) / 255.
    assert (np.abs(waiting - expected) <= np.sqrt(np.maximum(expected, waiting) * expected.max()) / 200 + 1e-4).all()
    by_reason = values(about, arrays, "channel_reasons").sum(axis=0).T
    assert about["joined"] == 1 and np.allclose(by_reason, waiting, atol=0.05 * expected.max())


def test_a_page_has_what_terminals_and_ranks_do(recorded: fw.Result, page: Path) -> None:
    about, arrays = unpacked(page)
    lengths = np.diff(recorded.channel_window_edges)
    sent = values(about, arrays, "sent") * lengths
    assert sent.sum(axis=1) == pytest.approx([15 * 40] * 16, rel=0.02)
    assert (values(about, arrays, "received") * lengths).sum(axis=1) == pytest.approx([15 * 40] * 16, rel=0.02)
    # No send of this program depends on others: each can leave when the program has passed it.
    is_send = (recorded.operations["kind"] == "send").to_numpy()
    assert not recorded.columns["operations.waits_for"][is_send].any()
    sends = recorded.operations.query("kind == 'send'")[["rank", "operation", "passed_cycle"]]
    packets = recorded.packets.merge(sends, on=["rank", "operation"])
    assert len(packets) == len(recorded.packets)
    queued = (values(about, arrays, "queued") * lengths).sum()
    at_source = recorded.waits.query("hop == 0 and not body")["cycles"].sum()
    assert queued == pytest.approx((packets["injected_cycle"] - packets["passed_cycle"]).sum() - at_source, rel=0.03)
    assert about["activities"][:3] == ["nothing", "waiting", "sending"]
    assert arrays["terminal_of_rank"].tolist() == list(range(16))
    path = arrays["path"]
    assert path[0, 0] == 0 and path[-1, 2] == recorded.completion_cycles
    assert (path[1:, 0] == path[:-1, 2]).all()


def test_a_result_without_records_is_simulated_again(recorded: fw.Result, tmp_path: Path) -> None:
    plain = fw.simulate(TORUS, WORK)
    about, arrays = unpacked(fw.view(plain, tmp_path / "again.html", frames=50))
    assert about["missing"] == "" and 40 <= about["frames"] <= 50
    assert {"load", "waiting", "activity", "queued"} <= arrays.keys()
    assert values(about, arrays, "load").mean(axis=0) == pytest.approx(
        plain.channel_flits / (plain.end_cycle + 1), rel=0.1, abs=0.02
    )
    stored = recorded.save(tmp_path / "recorded.parquet")
    about, _ = unpacked(fw.view(str(stored), tmp_path / "stored.html"))
    assert about["frames"] == len(recorded.channel_window_edges) - 1


def test_time_begins_before_a_program_where_a_background_does(tmp_path: Path) -> None:
    background = fw.traffic("uniform", offered_load=0.1, packet_flits=2)
    run = fw.Run(warmup_cycles=200)
    result = fw.simulate(TORUS, fw.all_to_all("a2at", message_flits=20), background=background, run=run)
    about, arrays = unpacked(fw.view(result, tmp_path / "run.html", frames=100))
    assert about["start"] == 200 and about["cycles"] == result.end_cycle + 1
    assert arrays["path"][0, 0] == 200 and arrays["path"][-1, 2] == result.end_cycle
    began = np.flatnonzero((arrays["activity"] > 0).any(axis=0))[0]
    assert began == pytest.approx(200 / about["cycles"] * arrays["activity"].shape[1], abs=1)
    # The background sends before that.
    assert values(about, arrays, "load")[: 200 // about["window"]].sum() > 0


def test_what_goes_over_a_bus_is_told_apart(tmp_path: Path) -> None:
    bus = fw.Bus(flits_per_cycle=2, arbitration_cycles=3, latency_cycles=2, operations=["broadcast"])
    work = fw.collective("broadcast", "linear", message_flits=100)
    about, arrays = unpacked(fw.view(fw.simulate(fw.Torus(4, 2, bus=bus), work), tmp_path / "run.html"))
    assert about["activities"] == ["nothing", "waiting", "sending by the bus"]
    number = 2
    assert [int(rank) for rank in np.unique(np.nonzero(arrays["activity"] == number)[0])] == [0]
    length = np.full(about["bins"], about["window"] * about["joined"])
    # The bus carries the data once, all others receive it.
    assert values(about, arrays, "sent").sum(axis=0) @ length == pytest.approx(100, rel=0.1)
    assert values(about, arrays, "received").sum(axis=0) @ length == pytest.approx(700, rel=0.1)
    # 3 cycles of arbitration, 50 of flits, 2 to the others.
    assert arrays["bus_in_use"] @ length == pytest.approx(55, abs=2) and arrays["bus_waiting"].max() == 0


def test_news_by_wire_is_not_drawn_as_a_bus(tmp_path: Path) -> None:
    network = fw.Mesh(4, barrier_tree=fw.BarrierTree(hop_cycles=5))
    page = fw.view(fw.simulate(network, fw.collective("barrier", "tree")), tmp_path / "page.html")
    about, arrays = unpacked(page)
    assert "bus_in_use" not in arrays and about["activities"] == ["nothing", "waiting", "sending"]


def test_ranks_that_send_nothing_are_drawn(tmp_path: Path) -> None:
    result = fw.simulate(fw.Torus(4), fw.Schedule([[fw.Compute(100)], [fw.Compute(30)]]))
    fw.view(result, tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 10_000


def test_ranks_and_ports_of_one_terminal_are_told_apart(tmp_path: Path) -> None:
    network = fw.Mesh(2, 2, nic=fw.Nic(ports=2), terminals_per_router=2)
    host = {"ranks_per_terminal": 2}
    work = fw.all_to_all("a2a", message_flits=30, packet_flits=5)
    result = fw.simulate(network, work, host=host, run=ALL)
    about, arrays = unpacked(fw.view(result, tmp_path / "run.html"))
    assert arrays["terminal_of_rank"].tolist() == [rank // 2 for rank in range(16)]
    assert arrays["router_of_terminal"].tolist() == [terminal // 2 for terminal in range(8)]
    # All waits are of a channel or of a terminal: injection ports of terminals wait for credits, others for ejection.
    length = about["window"] * about["joined"] * np.ones(about["bins"])
    length[-1] = about["cycles"] - length[:-1].sum()
    shown = sum((values(about, arrays, f"{of}_reasons") * length).sum() for of in ("channel", "terminal"))
    assert shown == pytest.approx(result.waits["cycles"].sum(), rel=0.05)
    at = dict(zip(about["terminal_reasons"], values(about, arrays, "terminal_reasons") @ length, strict=True))
    source = result.waits.query("reason == 'source_no_credit'").merge(
        result.packets["src"], left_on="packet", right_index=True
    )
    by_terminal = source.groupby("src")["cycles"].sum().reindex(range(8), fill_value=0)
    assert at["source_no_credit"] == pytest.approx(by_terminal.to_numpy(), rel=0.05, abs=3)


@pytest.mark.parametrize(
    "network",
    [
        fw.Mesh(3, 3),
        fw.Torus(3, 3, 2),
        fw.Torus(2, 3, 2, 2),
        fw.KAryNTree(k=2, levels=3),
        fw.Crossbar(terminals=4),
        fw.Dragonfly(routers_per_group=4, global_channels_per_router=2, vcs=3),
    ],
    ids=["mesh", "3d", "4d", "tree", "crossbar", "dragonfly"],
)
def test_every_network_is_drawn(network: fw.Network, tmp_path: Path) -> None:
    run = fw.Run(warmup_cycles=100, measurement_cycles=200)
    result = fw.simulate(network, fw.traffic("uniform", offered_load=0.3, packet_flits=2), run=run)
    about, arrays = unpacked(fw.view(result, tmp_path / "run.html", frames=30))
    assert len(about["routers"]) == result.described["routers"] == len(arrays["routers"])
    assert set(arrays["segment_channel"].tolist()) == set(range(len(result.channels)))
    assert len(np.unique(arrays["routers"], axis=0)) == len(arrays["routers"])
    assert arrays["queued"].shape == (result.described["terminals"], about["bins"])
    assert about["measurement"] == [100, 300]


def test_groups_of_a_graph_are_circles_and_others_are_spread() -> None:
    # A dragonfly: each router has two channels to other groups.
    groups, size = 9, 4
    within = [(g * size + a, g * size + b) for g in range(groups) for a in range(size) for b in range(a)]
    between = [
        (g * size + (h - g - 1) // 2, h * size + (groups - 1 - h + g) // 2) for h in range(groups) for g in range(h)
    ]

    def channels(edges: list[tuple[int, int]]) -> dict[str, Any]:
        both = np.array([*edges, *((b, a) for a, b in edges)])
        return {"router": both[:, 0], "to_router": both[:, 1]}

    places = graph_places(groups * size, channels(within + between))
    centres = places.reshape(groups, size, 2).mean(axis=1)
    apart = np.linalg.norm(centres[:, None] - centres, axis=2)[~np.eye(groups, dtype=bool)].min()
    assert np.linalg.norm(places.reshape(groups, size, 2) - centres[:, None], axis=2).max() < apart / 2
    ring = graph_places(12, channels([(i, (i + 1) % 12) for i in range(12)]))
    steps = np.linalg.norm(ring - np.roll(ring, 1, axis=0), axis=1)
    assert steps == pytest.approx(np.ones(12), rel=0.1)
    assert (ring == graph_places(12, channels([(i, (i + 1) % 12) for i in range(12)]))).all()


def test_stubs_lie_in_different_directions() -> None:
    found = place({"kind": "torus", "size": [3, 3, 3, 3]})
    last = {int(channel): segment for channel, segment in zip(found.channel, found.segments, strict=True)}
    of_first = [tuple(np.round(last[channel], 6)) for channel in range(8)]
    assert len(set(of_first)) == 8
    double = place({"kind": "torus", "size": [2, 2, 2]})
    assert len({tuple(np.round(segment, 6)) for segment in double.segments}) == len(double.segments) == 8 * 6


def test_values_become_bytes_and_back() -> None:
    found = levels(np.array([0.0, 1e-9, 0.5, 2.0]), power=2)
    assert found.bytes.tolist() == [0, 1, 128, 255] and found.top == 2.0
    assert levels(np.zeros(3)).bytes.tolist() == [0, 0, 0]
    assert [round_end(one) for one in (0.0, 0.2, 0.21, 3.0, 1000.0)] == [1.0, 0.2, 0.5, 5.0, 1000.0]


def test_a_page_loads_nothing_and_carries_the_licence(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.findall(r"""(?:src|href)=["'](?!data:)""", text)
    assert "@import" not in text and "XMLHttpRequest" not in text and not re.findall(r"\bfetch\(", text)
    assert unpacked(page)[0]["library"] == "uPlot 1.6.32" and "Permission is hereby granted" in text
    assert "Copyright (c) 2022 Leon Sorokin" in text


def test_names_cannot_break_a_page(recorded: fw.Result, tmp_path: Path) -> None:
    from flitwork.view.page import write

    found = contents(recorded)
    found.title = found.about["title"] = "</script><b>&"
    text = write(tmp_path / "run.html", found).read_text(encoding="utf-8")
    assert "</script><b>" not in text and "&lt;/script&gt;" in text


def test_unfit_results_are_refused(recorded: fw.Result, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="a result of a network with routers"):
        fw.view(42, tmp_path / "a.html")
    goal = fw.read_goal(_goal(tmp_path))
    with pytest.raises(ConfigError, match="a result of a network with routers"):
        fw.view(fw.run_goal(goal), tmp_path / "a.html")
    with pytest.raises(ResultFileError, match="there is no such file"):
        fw.view(tmp_path / "none.parquet", tmp_path / "a.html")
    no_result = tmp_path / "no.parquet"
    pd.DataFrame({"a": [1]}).to_parquet(no_result)
    with pytest.raises(ResultFileError, match="is no result of flitwork"):
        fw.view(no_result, tmp_path / "a.html")
    with pytest.raises(ConfigError, match="frames = 0: expected a whole number from 1 to"):
        fw.view(recorded, tmp_path / "a.html", frames=0)
    stopped = fw.Simulation(TORUS, WORK, run=ALL)
    stopped.advance(until=50)
    with pytest.raises(ConfigError, match="interrupted: expected a run that has ended"):
        fw.view(stopped.result(), tmp_path / "a.html")
    nothing = _programmed(ALL, messages=False)
    with pytest.raises(ConfigError, match="expected a run of at least one cycle"):
        fw.view(nothing, tmp_path / "a.html")
    assert not (tmp_path / "a.html").exists()


def test_what_cannot_be_simulated_again_says_what_to_record(tmp_path: Path) -> None:
    run = fw.Run(record=fw.Record())
    result = _programmed(run)
    with pytest.raises(ConfigError) as answered:
        fw.view(result, tmp_path / "a.html")
    assert "channel_window_cycles = 1, waits = true, operations = true" in str(answered.value)
    part = _programmed(fw.Run(record=fw.Record(channel_window_cycles=8)))
    about, arrays = unpacked(fw.view(part, tmp_path / "part.html"))
    assert about["missing"].startswith("Not recorded: queues and why packets wait and what ranks do.")
    assert "load" in arrays and "waiting" not in arrays
    whole = _programmed(fw.Run(record=fw.Record(channel_window_cycles=8, waits=True, operations=True)))
    assert unpacked(fw.view(whole, tmp_path / "whole.html"))[0]["missing"] == ""
    with pytest.raises(ConfigError, match="frames = 20: expected the windows of 8 cycles that the result has"):
        fw.view(whole, tmp_path / "other.html", frames=20)
    mine = fw.Schedule([[fw.Send(1, flits=8)], [fw.Receive(0, flits=8)]])
    with pytest.raises(ConfigError, match="cannot be simulated again from what is stored"):
        fw.view(replace(fw.simulate(fw.Torus(2, 2), mine), tables=()), tmp_path / "mine.html")
    assert unpacked(fw.view(fw.simulate(fw.Torus(2, 2), mine), tmp_path / "mine.html"))[0]["missing"] == ""


def test_places_that_cannot_be_written_to_are_refused(recorded: fw.Result, tmp_path: Path) -> None:
    there = tmp_path / "there.html"
    there.write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"expected a file that does not exist; .*--overwrite"):
        fw.view(recorded, there, overwrite=False)
    assert there.read_text(encoding="utf-8") == "mine"
    assert fw.view(recorded, there).stat().st_size > 10_000
    with pytest.raises(ConfigError, match=r"a file that ends in \.html"):
        fw.view(recorded, tmp_path / "run.pdf")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(ConfigError, match="expected a file, not a folder"):
        fw.view(recorded, tmp_path / "folder.html")
    with pytest.raises(ConfigError, match=r"path = .*expected a folder that can be written to"):
        fw.view(recorded, there / "below.html")


def test_the_command(cli: Cli, recorded: fw.Result, tmp_path: Path) -> None:
    recorded.save(tmp_path / "run.parquet")
    done = cli("view", "run.parquet")
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"view  run\.html \(0\.\d MB\)\n", done.stdout)
    refused = cli("view", "run.parquet")
    assert refused.returncode == 2 and "--overwrite" in refused.stderr
    # A table of results is no study with a mistake in its first line.
    (tmp_path / "results.csv").write_text("N,cycles\n3,4\n")
    table = cli("view", "results.csv")
    assert table.returncode == 2 and "a stored result (.parquet), a study (.toml)" in table.stderr
    sent = cli(
        "view", "uniform", "--size", "3x3", "--load", "0.2", "--frames", "20", "-o", "run.html", "--overwrite", "--json"
    )
    assert sent.returncode == 0, sent.stderr
    assert json.loads(sent.stdout)["title"] == "uniform on torus 3x3"
    beside = cli("view", "run.parquet", "--size", "3x3", "-o", "beside.html")
    assert beside.returncode == 2 and "no --size beside a stored result" in beside.stderr
    no_network = cli("view", _goal(tmp_path), "-o", "goal.html")
    assert no_network.returncode == 2 and "a network with routers" in no_network.stderr
    machine = tmp_path / "net.toml"
    machine.write_text(
        '[network]\ntopology = { kind = "torus", size = [2, 2] }\nunits = { flit_bytes = 16, cycle_ns = 1 }\n'
    )
    part = _programmed(fw.Run(record=fw.Record(channel_window_cycles=8)))
    part.save(tmp_path / "part.parquet")
    less = cli("view", "part.parquet")
    assert less.returncode == 0 and "Not recorded: queues and why packets wait" in less.stderr
    goal = cli("view", _goal(tmp_path), "--network", machine, "-o", "goal.html", "--frames", "30")
    assert goal.returncode == 0, goal.stderr
    about, arrays = unpacked(tmp_path / "goal.html")
    assert about["cycle_ns"] == 1 and arrays["activity"].shape[0] == 2 and "waiting" in about["scales"]


def _goal(folder: Path) -> Path:
    """A program of two ranks that send 512 bytes each way."""
    program = folder / "two.goal"
    program.write_text(
        "num_ranks 2\nrank 0 {\na: send 512b to 1 tag 1\nb: recv 512b from 1 tag 1\nb requires a\n}\n"
        "rank 1 {\na: recv 512b from 0 tag 1\nb: send 512b to 0 tag 1\nb requires a\n}\n",
        encoding="utf-8",
    )
    return program


def _programmed(run: fw.Run, messages: bool = True) -> fw.Result:
    """The result of ranks that are told what to do while they run: it cannot be simulated again."""
    simulation = fw.Simulation(fw.Torus(2, 2), fw.programs(), run=run)
    answered: set[int] = set()
    while simulation.advance() == "asked":
        for rank in simulation.asking:
            exchange = (fw.Send((rank + 1) % 4, flits=20), fw.Receive((rank - 1) % 4, flits=20))
            simulation.give(rank, exchange if messages and rank not in answered else [])
            answered.add(rank)
    return simulation.result()


def _ready(browser: Any, page: Path) -> None:
    browser.set_window_size(1366, 900)
    browser.get(page.as_uri())
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 30).until(lambda b: b.execute_script("return document.documentElement.dataset.ready"))
    assert browser.execute_script("return document.documentElement.dataset.ready") == "yes"


def _printed(browser: Any, **how: Any) -> int:
    """The number of A4 pages on which a browser prints what it shows."""
    pdf = browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69, **how})["data"]
    return len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(pdf)))


def test_a_page_is_drawn_for_paper_and_then_for_the_screen_again(page: Path, browser: Any) -> None:
    _ready(browser, page)
    state_of = "[innerWidth, network.width, network.view, isDark(), network.colours, drawn.rows.plot.width, isPaper()]"
    browser.execute_script("setTheme(true)")
    before = _of(browser, state_of)
    noted = "({dark: isDark(), ink: css('--ink'), widths: [network.width, drawn.rows.plot.width, drawn.overview.plot.width]})"
    browser.execute_script(f"addEventListener('beforeprint', () => {{ window.noted = {noted} }})")
    assert _printed(browser) <= 2
    paper = _of(browser, "noted")
    # Margins of 1 cm leave 718 pixels of A4, and those of US letter 740.
    assert not paper["dark"] and paper["ink"] == "#1b1f24" and max(paper["widths"]) < 700 < before[0]
    assert _of(browser, state_of) == before
    # A part of the network stays that part.
    browser.execute_script(
        "network.zoomed = true; network.view.scale *= 2; network.place(); dispatchEvent(new Event('beforeprint'))"
    )
    scales = _of(browser, "[network.view.scale / paper.view.scale, network.width]")
    assert scales[0] == pytest.approx(scales[1] / before[1])
    controls = browser.find_elements("css selector", "header button, footer button, #fit, #slider, #speed")
    assert controls and not any(control.is_displayed() for control in controls)
    assert _of(browser, "document.documentElement.scrollWidth <= innerWidth")
    browser.execute_script("dispatchEvent(new Event('afterprint'))")
    assert _of(browser, "[isPaper(), isDark(), network.view.scale]") == [False, True, 2 * before[2]["scale"]]


def _of(browser: Any, name: str) -> Any:
    return browser.execute_script(f"return {name}")


def test_a_page_works_in_a_browser(page: Path, browser: Any) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    about, arrays = unpacked(page)
    _ready(browser, page)
    body = browser.find_element("tag name", "body")
    assert _of(browser, "arrays.load.length") == arrays["load"].size
    assert browser.title == "a2a on torus 4x4"

    # Time: keys, slider, playing to the end.
    for key in (Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT):
        body.send_keys(key)
    assert _of(browser, "state.frame") == 2
    assert "cycles 32 to 47" in browser.find_element("id", "now").text
    slider = browser.find_element("id", "slider")
    browser.execute_script("arguments[0].value = 5; arguments[0].dispatchEvent(new Event('input'))", slider)
    assert _of(browser, "state.frame") == 5
    body.send_keys(Keys.END, Keys.ARROW_LEFT, Keys.ARROW_LEFT, Keys.SPACE)
    _until(browser, "!state.playing && state.frame === about.frames - 1")

    # A channel is selected by a click on it; its value is the one of the page, its colour that of the scale.
    frame, channel = np.unravel_index(np.argmax(arrays["waiting"].T), arrays["waiting"].T.shape)
    x, y = browser.execute_script(
        "goTo(arguments[0]); const i = 4 * arrays.segment_channel.indexOf(arguments[1]); const s = network.screen;"
        "return [(s[i] + s[i + 2]) / 2, (s[i + 1] + s[i + 3]) / 2]",
        int(frame), int(channel),
    )  # fmt: skip
    canvas = browser.find_element("id", "canvas")
    size = canvas.size

    def click(x: float, y: float) -> None:
        offset = round(x - size["width"] / 2), round(y - size["height"] / 2)
        ActionChains(browser).move_to_element_with_offset(canvas, *offset).click().perform()

    click(x, y)
    assert _of(browser, "state.selected") == {"kind": "channel", "id": int(channel)}
    assert f"{values(about, arrays, 'waiting')[frame, channel]:.3g} packets wait" in _text(browser, "detail-now")
    assert _of(browser, "drawn.queue.plot !== null && drawn.flow.plot !== null")
    pixel = browser.execute_script(
        "const c = document.getElementById('canvas'); const r = c.width / c.clientWidth;"
        "return [...c.getContext('2d').getImageData(arguments[0] * r, arguments[1] * r, 1, 1).data].slice(0, 3)",
        x, y,
    )  # fmt: skip
    share = min(1.0, values(about, arrays, "load")[frame, channel] / about["scales"]["load"]["end"])
    assert pixel == about["colours"][255 - round(share * 255)]

    # A router selects its terminal and marks its rank; a row of the diagram does the same, and goes to its time.
    click(*_of(browser, "toScreen(arrays.routers, 5)"))
    assert _of(browser, "state.selected.id") == 5 and not _of(browser, "spaceTime.row.hidden")
    over = browser.find_element("css selector", "#space-time .u-over")
    ActionChains(browser).move_to_element_with_offset(over, round(-over.size["width"] / 4), 1).click().perform()
    assert _of(browser, "state.selected.kind") == "terminal" and _of(browser, "state.selected.rank") in (7, 8)
    assert abs(_of(browser, "state.frame") - about["frames"] / 4) <= 2

    # A drag across one diagram shows a section of time in all of them.
    ActionChains(browser).move_to_element(over).click_and_hold().move_by_offset(60, 0).release().perform()
    low, high = _of(browser, "[section.low, section.high]")
    assert 0 < low < high < about["cycles"]
    assert _of(browser, "charts.every((one) => !one.plot || one.plot.scales.x.min === section.low)")
    body.send_keys("f")
    assert _of(browser, "[section.low, section.high]") == [0, about["cycles"]]

    # Other colours, rows and themes; letting go.
    body.send_keys("m", "r", "d")
    assert _of(browser, "[state.metric, state.rows, isDark()]") == ["waiting", "queued", True]
    body.send_keys(Keys.ESCAPE)
    assert _of(browser, "state.selected") is None
    browser.execute_script("goTo(arguments[0])", int(frame))
    row = browser.find_element("css selector", "#busiest tbody tr")
    row.click()
    assert _of(browser, "state.selected.kind") == "channel"
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_a_bus_is_drawn_over_time(tmp_path: Path, browser: Any) -> None:
    """All send to the root at once, one after the other over the bus."""
    network = fw.Torus(4, 2, bus=fw.Bus(operations=["gather"]))
    result = fw.simulate(network, fw.collective("gather", "linear", message_flits=100))
    _ready(browser, fw.view(result, tmp_path / "run.html"))
    assert browser.find_element("id", "bus").is_displayed() and _of(browser, "arrays.bus_waiting[0]") > 5
    assert "bus in use 100 %, 6" in browser.find_element("id", "now").text
    browser.find_element("css selector", "#bus .u-over").click()
    assert abs(_of(browser, "state.frame") - _of(browser, "about.frames") / 2) <= 1


def test_a_page_fits_a_phone(page: Path, browser: Any) -> None:
    _ready(browser, page)
    assert not browser.find_element("id", "bus").is_displayed()
    browser.set_window_size(500, 900)
    _until(browser, "document.documentElement.scrollWidth <= window.innerWidth")
    assert _of(browser, "network.width") > 300
    # However far the page is scrolled, the controls do not lie over the network.
    for top in ("0", "document.body.scrollHeight / 2", "document.body.scrollHeight"):
        apart = f"""(() => {{ scrollTo(0, {top});
            const [controls, shown] = ["footer", "#canvas-box"].map(
                (one) => document.querySelector(one).getBoundingClientRect());
            return controls.bottom <= shown.top || controls.top >= shown.bottom; }})()"""
        assert _of(browser, apart), top


def test_a_short_title_leaves_a_line_for_what_is_shown(recorded: fw.Result, tmp_path: Path, browser: Any) -> None:
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    _ready(browser, fw.view(recorded, tmp_path / "run.html"))
    for title in ("a2a on torus 4x4", "scatter linear on torus 4x2", "all_to_all two_level_ring on torus 16x16x16"):
        browser.execute_script("document.querySelector('h1').textContent = arguments[0]", title)
        facts = browser.find_element("id", "facts").size
        assert facts["width"] > 200 and facts["height"] < 100, title


def _text(browser: Any, name: str) -> str:
    return str(browser.find_element("id", name).text)


def _until(browser: Any, condition: str) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 30).until(lambda b: b.execute_script(f"return {condition}"))


def test_frames_are_joined_where_there_are_many(recorded: fw.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series, "_MOST_BINS", 20)
    monkeypatch.setattr(small_numbers, "_MANY", 100)
    found = contents(recorded)
    about, arrays = found.about, found.arrays
    assert about["joined"] == -(-about["frames"] // 20) > 1
    assert about["bins"] == -(-about["frames"] // about["joined"])
    length = np.diff(np.minimum(np.arange(about["bins"] + 1) * 16 * about["joined"], about["cycles"]))
    by_reason = values(about, arrays, "channel_reasons").sum(axis=(0, 1)) @ length
    frames = np.diff(recorded.channel_window_edges)
    assert by_reason == pytest.approx(frames @ values(about, arrays, "waiting").sum(axis=1), rel=0.05)
    assert values(about, arrays, "sent").sum(axis=0) @ length == pytest.approx(16 * 15 * 40, rel=0.03)
    assert arrays["load"].max() == about["scales"]["load"]["levels"] == 63


@pytest.mark.slow
def test_a_large_page_is_small_enough_and_plays_to_its_end(tmp_path: Path, browser: Any) -> None:
    run = fw.Run(warmup_cycles=500, measurement_cycles=9450, record=fw.Record(channel_window_cycles=1, waits=True))
    network = fw.Torus(32, 32, router=fw.Router(vcs=4, buffer_flits=8))
    result = fw.simulate(network, fw.traffic("uniform", offered_load=0.1, packet_flits=4), run=run)
    page = fw.view(result, tmp_path / "large.html")
    assert page.stat().st_size < 30_000_000
    _ready(browser, page)
    assert _of(browser, "[arrays.load.shape, about.routers.length]") == [
        [4096, len(result.channel_window_edges) - 1],
        1024,
    ]
    # Frames far apart, each with the sums that the result has.
    windows = result.channel_windows
    assert windows is not None
    for frame in (0, 4321, len(windows) - 1):
        shown = browser.execute_script(
            "goTo(arguments[0]); return [...frameValues('load')].reduce((sum, byte) => sum + tableOf('load')[byte], 0)",
            frame,
        )
        assert shown == pytest.approx(windows[frame].sum(), abs=1)
    browser.execute_script(
        "goTo(about.frames - 2000); change({ speed: 600, selected: { kind: 'channel', id: 9 } }); play()"
    )
    _until(browser, "!state.playing && state.frame === about.frames - 1")
