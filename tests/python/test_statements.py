"""One verdict a statement: the first reading counts, other readings are shown, the table in README.md says the same."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from common import STUDY, Cli
from flitwork.base.errors import ConfigError
from flitwork.report import Section, write
from flitwork.studies import Claim, Judged, published
from flitwork.studies.claims import load_claims
from flitwork.studies.statements import expected_scores, rows_of, scores, statements
from flitwork.studies.words import score_cells, scores_in_words

ROOT = Path(__file__).parents[2]
CLAIMS = [
    Judged(id="A.first", statement="A", ours=True),
    Judged(id="A.other", statement="A", reading="loops", ours=False),
    Judged(id="B.small", statement="B", ours=True),
    Judged(id="B.large", statement="B", paper=1.0, ours=2.0, expected="not reproduced"),
    Judged(id="C", by="calibration", ours=True),
    Judged(id="D", by="ours", ours=True),
    Judged(id="D.other", statement="D", by="ours", reading="loops", ours=True),
]


def of(*verdicts: str) -> list[Judged]:
    """Claims of one statement with these verdicts."""
    fields: dict[str, dict[str, object]] = {
        "reproduced": {"ours": True},
        "not reproduced": {"ours": False},
        "not measured": {},
        "undecided": {"ours": True, "variants": [True, False]},
        "differs": {"ours": False, "expected": "differs", "because": "x"},
    }
    found = [Judged.model_validate({"id": f"c{i}", "statement": "s", **fields[v]}) for i, v in enumerate(verdicts)]
    assert [claim.verdict for claim in found] == list(verdicts)
    return found


@pytest.mark.parametrize(
    ("verdicts", "together"),
    [
        (["reproduced"], "reproduced"),
        (["reproduced", "reproduced"], "reproduced"),
        (["reproduced", "undecided"], "undecided"),
        (["undecided", "not measured"], "not measured"),
        (["not measured", "reproduced"], "not measured"),
        (["not measured", "differs", "reproduced"], "differs"),
        (["reproduced", "differs", "not reproduced"], "not reproduced"),
    ],
)
def test_a_statement_is_reproduced_if_all_its_claims_are(verdicts: list[str], together: str) -> None:
    (one,) = statements(of(*verdicts))
    assert one.verdict == together
    assert Counter({together: 1}) == scores(of(*verdicts)).paper


def test_the_first_reading_counts_and_others_do_not() -> None:
    found = scores(CLAIMS)
    assert found.paper == {"reproduced": 1, "not reproduced": 1} and found.other == 2
    assert found.calibration == {"reproduced": 1} and found.ours == {"reproduced": 1}
    # The reading that fails changes nothing, and one that holds does not help.
    turned = [claim.model_copy(update={"ours": not claim.ours}) if claim.reading else claim for claim in CLAIMS]
    assert scores(turned) == found
    assert scores_in_words(found) == (
        "1 of 2 statements of the paper reproduced, 1 not reproduced; calibrations: 1 reproduced; "
        "our checks: 1 reproduced; other readings shown, not counted: 2"
    )
    assert score_cells(found) == ["2", "1", "1", "0", "0", "0", "1 of 1", "1 of 1", "2"]


def test_other_readings_and_parts_stand_below_their_statement() -> None:
    shown = [(row.name, row.below, row.verdict) for row in rows_of([*CLAIMS[2:], *CLAIMS[:2]])]
    assert shown == [
        ("B", False, "not reproduced"),
        ("B.small", True, "reproduced"),
        ("B.large", True, "not reproduced"),
        ("C", False, "reproduced"),
        ("D", False, "reproduced"),
        ("D.other", True, "reproduced"),
        ("A.first", False, "reproduced"),
        ("A.other", True, "not reproduced"),
    ]


def test_what_is_expected_needs_no_run() -> None:
    claims = [
        Judged(id="a", expected="not reproduced", quick_expected="reproduced"),
        Judged(id="b", quick=False),
        Judged(id="c", expected="not run"),
        Judged(id="d", statement="a", expected="undecided"),
    ]
    assert expected_scores(claims).paper == {"not reproduced": 1, "reproduced": 1, "not measured": 1}
    assert expected_scores(claims, quick=True).paper == {"undecided": 1, "not measured": 2}


def load(tmp_path: Path, text: str) -> list[Claim]:
    (tmp_path / "claims.toml").write_text(text)
    return load_claims(tmp_path / "claims.toml")


def test_a_claim_judges_a_statement_of_its_own_unless_it_names_one(tmp_path: Path) -> None:
    one, two = load(tmp_path, '[[claims]]\nid = "a"\n[[claims]]\nid = "b"\nstatement = "a"\nreading = "other"\n')
    assert (one.statement, one.reading, two.statement, two.reading) == ("a", "", "a", "other")


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        (
            'id = "F1.speed"\n[[claims]]\nid = "b"\nstatement = "F1.sped"\nreading = "other"',
            r'claims\[1\]\.statement = "F1.sped": expected a statement with a claim in the first reading; did you mean `F1.speed`',
        ),
        ('id = "a"\nreading = "other"', r"leave out reading in one of its claims"),
        (
            'id = "F1.speed"\n[[claims]]\nid = "b"\nstatement = "F1.sped"',
            r'claims\[1\]\.statement = "F1.sped": expected a statement that another claim judges, too; did you mean `F1.speed`',
        ),
        ('id = "a"\n[[claims]]\nid = "b"\nstatement = "a"\nby = "ours"', r'claims\[1\]\.by = "ours": expected "paper", as claim a'),
    ],
)  # fmt: skip
def test_a_statement_has_a_first_reading_and_one_owner(tmp_path: Path, claims: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load(tmp_path, f"[[claims]]\n{claims}\n")


TWO_READINGS = """
[[claims]]
id = "few"
claim = "Few cycles"
paper = 1e9
relation = "at_most"
measure = { experiment = "e", column = "completion_cycles" }

[[claims]]
id = "few.other"
statement = "few"
reading = "no time"
claim = "No cycles"
paper = 0.0
expected = "EXPECTED"
measure = { experiment = "e", column = "completion_cycles" }
"""


@pytest.mark.parametrize(("expected", "code"), [("not reproduced", 0), ("reproduced", 1)])
def test_another_reading_fails_only_against_what_is_expected(
    cli: Cli, tmp_path: Path, expected: str, code: int
) -> None:
    study = tmp_path / "author-2026-key"
    study.mkdir()
    (study / "study.toml").write_text(STUDY)
    (study / "claims.toml").write_text(TWO_READINGS.replace("EXPECTED", expected))
    done = cli("reproduce", study, "--quick")
    assert done.returncode == code, done.stderr
    assert "1 of 1 statements of the paper reproduced; other readings shown, not counted: 1\n" in done.stdout
    assert "not reproduced; not counted (reading: no time)" in done.stdout and "   few.other" in done.stdout
    failed = "failed: few.other should be reproduced in another reading (no time)"
    assert (failed in done.stdout) == bool(code)
    stored = cli("reproduce", study, "--quick", "--json").stdout
    (statement,) = json.loads(stored)["statements"]
    assert statement["verdict"] == "reproduced" and statement["other_readings"] == {"few.other": "not reproduced"}


def test_a_report_counts_papers_by_statement(tmp_path: Path) -> None:
    ours = Section(name="checks", title="Checks", claims=[Judged(id="x", by="ours", ours=True)])
    paper = Section(name="author-2026-key", title="The paper", claims=CLAIMS, full="flitwork reproduce author-2026-key")
    text = write(tmp_path / "report.html", [paper, ours]).read_text(encoding="utf-8")
    table = text[text.index('id="all-scores"') : text.index("</table>")]
    assert table.count("<tr>") == 2 and ">The paper</a></td><td>quick</td><td>2</td><td>1</td>" in table
    assert '<tr class="below other" data-verdict="not reproduced" data-whose="other reading">' in text
    assert "1 of 2 statements of the paper reproduced, 1 not reproduced" in text
    alone = write(tmp_path / "alone.html", [ours]).read_text(encoding="utf-8")
    assert 'id="all-scores"' not in alone and "our checks: 1 reproduced" in alone


def test_both_readings_of_the_paper_are_one_statement() -> None:
    """No id of a statement is that of another reading of one: its claims would count twice."""
    for study in published().values():
        claims = load_claims(study.folder / "claims.toml")
        names = {reading for claim in claims if (reading := claim.reading)}
        ends = tuple(f".{name}" for name in names if " " not in name)
        forgotten = [claim.id for claim in claims if not claim.reading and ends and claim.id.endswith(ends)]
        assert not forgotten, f"{study.name}: claims without reading: {', '.join(forgotten)}"


def test_the_table_in_the_readme_says_what_claims_expect() -> None:
    tool = [sys.executable, str(ROOT / "tools" / "scores_table.py"), "--check"]
    done = subprocess.run(tool, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
