"""`make check` knows every folder of the crate and every test that it names."""

from __future__ import annotations

import sys

from pages import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import check

CRATE = ROOT / "crates" / "flitwork"


def test_every_folder_of_the_crate_has_a_row() -> None:
    folders = {path.name for path in (CRATE / "src").iterdir()}
    assert set(check.RUST) == folders


def test_the_tests_that_rows_name_exist() -> None:
    files = {path.stem for path in (CRATE / "tests").glob("*.rs")}
    for row in check.RUST.values():
        for word in row.split():
            module = CRATE / "src" / word.replace("::", "/")
            assert word in files or module.is_dir() or module.with_suffix(".rs").is_file(), word
    for row in check.BY_PATH.values():
        assert all((ROOT / path).is_file() for path in row.split()), row


def test_a_change_chooses_its_tests() -> None:
    chosen = check.choose(["crates/flitwork/src/host/queue.rs", "python/flitwork/questions/curve.py", "docs/model.md"])
    assert {"host::", "kernel::simulation::"} <= chosen.modules
    assert {"architecture", "bus", "workloads"} <= chosen.crate_tests
    assert {"tests/python/test_curve.py", "tests/docs/test_extend_pages.py"} <= chosen.pytest
    assert "tests/python/test_booksim_run.py" not in chosen.pytest
    assert check.choose(["crates/flitwork/tests/oracle/bus.rs"]).crate_tests == {"oracle_equivalence", "architecture"}
