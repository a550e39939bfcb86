"""Reports: one file that needs no other, right in a real browser too; and the numbers behind figures."""

from __future__ import annotations

import base64
import gzip
import io
import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import flitwork as fw
import matplotlib.pyplot as plt
import pandas as pd
import pytest
from common import Cli
from flitwork.base.errors import ConfigError
from flitwork.experiment import parse_study, run_study
from flitwork.plot.drawn import drawn_numbers, tell
from flitwork.report import Section, of_result, of_study, write
from flitwork.studies import Judged, published
from flitwork.studies.claims import load_claims
from flitwork.studies.front import Front
from flitwork.studies.words import paper_in_words

STUDY = {
    "study": {"name": "small", "title": "Small <tori>", "description": "Tori of two sizes."},
    "base": {
        "network": {"topology": {"kind": "torus", "size": ["${N}", "${N}"]}},
        "workload": {"kind": "all_to_all", "algorithm": "a2at"},
    },
    "experiments": [{"id": "sizes", "grid": {"N": [3, 4]}, "seeds": [1]}],
    "plots": [{"id": "time", "experiment": "sizes", "x": "N", "y": "completion_cycles"}],
}
CLAIMS = [
    Judged(id="A.one", claim="A ratio", paper=1.5, tolerance=0.1, ours=1.45, ci=0.02),
    Judged(id="B.two", claim="Yes or no", ours=False),
    Judged(id="C.ten", claim="Something large", paper=10.0, ours=12.0, by="ours"),
    Judged(id="D.none", claim="Not there", paper=2.0),
]


class Page(HTMLParser):
    """Everything that a page points at, and whether each tag is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.points_at: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.points_at += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "img", "input", "br", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    study = of_study(run_study(parse_study(STUDY), folder / "study"))
    judged = Section(name="judged", title="Judged", asked="Why?", found=["Because."], claims=CLAIMS)
    return write(folder / "report.html", [study, judged], "Two sections")


def test_a_report_is_one_whole_file_with_its_data(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = Page(text)
    assert found.open == []
    assert all(place.startswith(("data:", "#")) for place in found.points_at)
    assert "http://" not in text.replace("http://www.w3.org", "") and "https://" not in text
    assert "Small &lt;tori&gt;" in text and "Small <tori>" not in text
    # What somebody says of their study is no finding.
    assert "<p>Tori of two sizes.</p>" in text and text.count("Found:") == 1
    packed = next(place for place in found.points_at if place.startswith("data:application/gzip"))
    table = pd.read_csv(io.BytesIO(gzip.decompress(base64.b64decode(packed.partition(",")[2]))))
    numbers = next(place for place in found.points_at if place.startswith("data:text/csv"))
    drawn = pd.read_csv(io.BytesIO(base64.b64decode(numbers.partition(",")[2])))
    assert list(drawn["y"]) == list(table["completion_cycles"]) and list(drawn["x"]) == [3, 4]


def test_a_result_is_shown_with_what_it_recorded(tmp_path: Path) -> None:
    result = fw.simulate(fw.Torus(4, 4), fw.all_to_all("a2at"))
    section = of_result(result, "result", tmp_path / "figures")
    assert "network" in [shown.name for shown in section.figures]
    assert result.digest in section.table["value"].tolist()
    assert write(tmp_path / "result.html", [section]).stat().st_size > 10_000


def test_what_cannot_be_reported_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="at least one study or result"):
        write(tmp_path / "report.html", [])
    with pytest.raises(ConfigError, match=r"a file that ends in \.html"):
        write(tmp_path / "report.pdf", [Section(name="a", title="A")])


def test_sentences_have_the_values_of_claims_and_none_without() -> None:
    front = Front(found=["Ours {A.one}, paper {A.one:paper}: {A.one:verdict}.", "It is {B.two}.", "And {D.none}."])
    assert front.filled_in(CLAIMS) == ["Ours 1.45, paper 1.5: reproduced.", "It is no."]
    with pytest.raises(ConfigError, match=r'found\[0\] = "A.on": expected a claim of the study'):
        Front(found=["{A.on}"]).filled_in(CLAIMS)


def test_the_number_of_a_claim_of_ours_is_not_told_as_the_papers() -> None:
    assert [paper_in_words(one) for one in CLAIMS] == ["1.5 ± 0.1", "", "10 (our limit)", "2"]


@pytest.mark.parametrize("name", sorted(published()))
def test_statements_stand_alone(name: str) -> None:
    # They are sorted and filtered: what stood above is elsewhere then.
    for claim in load_claims(published()[name].folder / "claims.toml"):
        assert not claim.claim.startswith("The same"), claim.id


@pytest.mark.parametrize("name", sorted(published()))
def test_fronts_name_claims_of_their_studies(name: str) -> None:
    study = published()[name]
    front = Front.load(study.folder)
    assert front.asked
    front.filled_in([Judged.of(claim) for claim in load_claims(study.folder / "claims.toml")])


def test_the_numbers_in_a_figure() -> None:
    figure, (left, right) = plt.subplots(1, 2)
    left.set_title("lines")
    left.plot([1, 2], [3.0, 4.0], label="one")
    left.errorbar([1, 2], [5.0, 6.0], yerr=[0.5, 1.0], label="two")
    left.axhline(9, label="a limit")
    left.plot([0, 1], [0, 1])
    right.bar([0, 1], [7.0, 8.0], yerr=[[1.0, 0.0], [0.0, 2.0]], label="bars")
    right.set_xticks([0, 1], ["first", "second"])
    table = drawn_numbers(figure)
    plt.close(figure)
    rows = [tuple(row) for row in table.fillna(-1).itertuples(index=False)]
    assert rows == [
        ("lines", "two", 1.0, 5.0, 4.5, 5.5),
        ("lines", "two", 2.0, 6.0, 5.0, 7.0),
        ("lines", "one", 1.0, 3.0, -1, -1),
        ("lines", "one", 2.0, 4.0, -1, -1),
        (2, "bars", "first", 7.0, 6.0, 7.0),
        (2, "bars", "second", 8.0, 8.0, 10.0),
    ]


def test_the_numbers_in_a_figure_with_words_along_an_axis() -> None:
    figure, (left, right) = plt.subplots(1, 2)
    left.errorbar(["ring", "bruck"], [5.0, 6.0], yerr=[0.5, 1.0], label="two")
    left.plot(["bruck", "ring"], [3.0, 4.0], label="one")
    right.scatter(["no", "yes"], ["low", "high"], label="marks")
    table = drawn_numbers(figure)
    plt.close(figure)
    rows = [tuple(row) for row in table.fillna(-1).itertuples(index=False)]
    assert rows == [
        (1, "two", "ring", 5.0, 4.5, 5.5),
        (1, "two", "bruck", 6.0, 5.0, 7.0),
        (1, "one", "bruck", 3.0, -1, -1),
        (1, "one", "ring", 4.0, -1, -1),
        (2, "marks", "no", "low", -1, -1),
        (2, "marks", "yes", "high", -1, -1),
    ]


def test_a_figure_that_is_drawn_by_hand_is_told() -> None:
    figure, ax = plt.subplots()
    ax.text(0.5, 0.5, "7")
    table = pd.DataFrame({"reading": ["one"], "ratio": [7.0]})
    assert drawn_numbers(figure).empty
    tell(figure, table)
    assert drawn_numbers(figure).equals(table)
    plt.close(figure)


def test_a_report_works_in_a_browser(page: Path, browser: Any) -> None:
    browser.get(page.as_uri())

    def claims() -> list[str]:
        rows = browser.find_elements("css selector", "#all-claims tbody tr")
        return [row.find_elements("tag name", "td")[1].text for row in rows if row.is_displayed()]

    assert claims() == ["A.one", "B.two", "C.ten", "D.none"]
    # By the paper's number: 1.5, 2, 10; then the other way round. The one without is the last.
    paper = browser.find_elements("css selector", "#all-claims th button")[4]
    browser.execute_script("arguments[0].click()", paper)
    assert claims() == ["A.one", "D.none", "C.ten", "B.two"]
    browser.execute_script("arguments[0].click()", paper)
    assert claims() == ["C.ten", "D.none", "A.one", "B.two"]
    # On a phone there are no headings.
    sort = browser.find_element("id", "sort")
    assert sort.is_displayed() and not paper.is_displayed()
    sort.send_keys("Paper ▲")
    assert claims() == ["A.one", "D.none", "C.ten", "B.two"]
    browser.find_element("id", "search").send_keys("ratio")
    assert claims() == ["A.one"]
    assert browser.find_element("id", "count").text == "1 of 4 claims"
    # The page itself is as wide as the screen of a phone, only tables scroll.
    assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
    assert browser.execute_script("return [...document.images].every((i) => !i.src || i.loading === 'lazy')")
    zoom = browser.find_element("class name", "zoom")
    browser.execute_script("arguments[0].scrollIntoView(); arguments[0].click()", zoom)
    assert browser.execute_script("return document.getElementById('enlarged').open")
    assert browser.execute_script("return document.querySelector('#enlarged img').src.startsWith('data:image')")
    # Without a mouse: nearer, and away.
    picture = browser.find_element("css selector", "#enlarged img")
    assert browser.execute_script("const p = document.querySelector('.pan'); return p.scrollHeight <= p.clientHeight")
    far = picture.size["width"]
    browser.find_element("class name", "nearer").send_keys("\ue007")
    assert picture.size["width"] > 2 * far
    close = browser.find_element("class name", "close")
    assert close.rect["y"] + close.size["height"] <= browser.find_element("class name", "pan").rect["y"] + 1
    close.send_keys("\ue007")
    assert not browser.execute_script("return document.getElementById('enlarged').open")


@pytest.fixture
def on_paper(browser: Any) -> Iterator[Any]:
    """The browser as it lays a page out for A4, for a reader who has dark screens."""
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": dark})
    a4 = {"width": 718, "height": 1046, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", a4)
    yield browser
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def test_on_paper_a_report_is_black_on_white_and_nothing_is_cut_off(page: Path, on_paper: Any) -> None:
    on_paper.get(page.as_uri())

    def of(what: str) -> Any:
        return on_paper.execute_script(f"return {what}")

    assert of("matchMedia('(prefers-color-scheme: dark)').matches && matchMedia('print').matches")
    assert of("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert of("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    wide = "[...document.querySelectorAll('body, table, .wide, img')].filter((e) => e.getBoundingClientRect().right > innerWidth"
    assert of(f"{wide} || e.scrollWidth > e.clientWidth + 1).map((e) => e.outerHTML.slice(0, 80))") == []
    # The head of a table stands on every page, which buttons would not; what cannot be pressed is not there.
    assert of("getComputedStyle(document.querySelector('#all-claims th button')).display") == "contents"
    pressed = on_paper.find_elements("css selector", ".filter, summary, figcaption a")
    assert pressed and not any(element.is_displayed() for element in pressed)
    assert of("getComputedStyle(document.querySelector('figure')).breakInside") == "avoid"
    # Nothing of a section's head stands alone at the end of a page, and verdicts have room for their reasons.
    assert of("[...document.querySelectorAll('section > p')].every((p) => getComputedStyle(p).breakInside === 'avoid')")
    widths = of("[...document.querySelector('#all-claims tr').cells].map((cell) => cell.offsetWidth)")
    assert widths[6] > widths[0] and widths[2] == max(widths)


def test_the_numbers_of_one_result_are_on_paper(tmp_path: Path, on_paper: Any) -> None:
    result = fw.simulate(fw.Torus(3, 3), fw.all_to_all(message_flits=2))
    on_paper.get(write(tmp_path / "one.html", [of_result(result, "one", tmp_path)]).as_uri())
    (table,) = on_paper.find_elements("css selector", "details table")
    assert table.is_displayed() and "completion_cycles" in table.text and "network_latency_p99_cycles" in table.text


def test_the_numbers_of_one_result_fit_a_phone(tmp_path: Path, browser: Any) -> None:
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    result = fw.simulate(fw.Torus(3, 3), fw.all_to_all(message_flits=2))
    browser.get(write(tmp_path / "one.html", [of_result(result, "one", tmp_path)]).as_uri())
    wide = "document.querySelector('details .wide')"
    assert browser.execute_script(f"return {wide}.scrollWidth <= {wide}.clientWidth")


def test_the_commands_report_and_claims(cli: Cli, tmp_path: Path) -> None:
    study = tmp_path / "small.toml"
    study.write_text(
        'study.name = "small"\nplots = [{ id = "time", experiment = "sizes", x = "N", y = "completion_cycles" }]\n'
        '[base]\nnetwork.topology = { kind = "torus", size = ["${N}", "${N}"] }\n'
        'workload = { kind = "all_to_all", algorithm = "a2at" }\n'
        '[[experiments]]\nid = "sizes"\ngrid = { N = [3, 4] }\nseeds = [1]\n'
    )
    done = cli("report", study)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "results" / "small" / "report.html").stat().st_size > 10_000
    refused = cli("report", study, "--out", "report.pdf")
    assert refused.returncode == 2 and "a file that ends in .html" in refused.stderr
    assert cli("report", "no-such-study").returncode == 2
    stored = next((tmp_path / "results" / "small" / "points").glob("*.parquet"))
    (tmp_path / "r").mkdir()
    one = cli("report", stored, "-o", "r/one.html")
    assert one.returncode == 0, one.stderr
    # Self-contained: nothing lies beside it; and it is replaced only when told.
    assert [path.name for path in (tmp_path / "r").iterdir()] == ["one.html"]
    again = cli("report", stored, "-o", "r/one.html")
    assert again.returncode == 2 and "--overwrite" in again.stderr
    assert cli("report", stored, "-o", "r/one.html", "--overwrite").returncode == 0
    nothing = cli("claims", "takaue-2010-a2at")
    assert nothing.returncode == 0 and "no results in results/takaue-2010-a2at" in nothing.stderr
    assert "not measured" in nothing.stdout


def test_reproduce_takes_a_study_or_all(cli: Cli) -> None:
    for words in ((), ("--all", "takaue-2010-a2at")):
        refused = cli("reproduce", *words)
        assert refused.returncode == 2 and "the name of a study, or --all" in refused.stderr


def test_reproduce_writes_a_report(cli: Cli, tmp_path: Path) -> None:
    done = cli("reproduce", "booksim-2-alltoall", "--quick")
    assert done.returncode == 0, done.stderr
    report = tmp_path / "results" / "booksim-2-alltoall-quick" / "report.html"
    assert f"report  {report.relative_to(tmp_path)}" in done.stdout
    assert "complete an all-to-all in the same cycle?" in report.read_text(encoding="utf-8")
    claims = cli("claims", "booksim-2-alltoall", "--quick", "--json")
    assert [claim["verdict"] for claim in json.loads(claims.stdout)] == ["reproduced"] * 4
