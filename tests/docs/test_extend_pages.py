"""Follows the pages of docs/extend on a copy of the project: what they tell the reader to do must work."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT, Block, apply, blocks

PAGES = sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs/extend").glob("*.md"))
COPIED = ("Cargo.toml", "Cargo.lock", "rustfmt.toml", "crates", "docs", "mpi", "python")


def copy_project(folder: Path) -> None:
    """The part of the project that the pages change; new files have new times, so that cargo sees the changes."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, copy_function=shutil.copyfile)
        elif source.exists():
            shutil.copyfile(source, folder / name)


def target_folder() -> str:
    """Not the project's own target folder: cargo would take a copy of a package for the package."""
    return os.environ.get("FLITWORK_EXTEND_TARGET", str(ROOT / "target" / "extend-pages"))


#: Few sizes of routers, for the tests and for the package: both are compiled from one library.
FEW_SIZES = "--features flitwork/few-sizes"


def faster() -> dict[str, str]:
    """Variables of a cargo that does not optimise, and of tests with fewer random cases: to compile takes longer than to
    run."""
    profile = {"OPT_LEVEL": "0", "DEBUG": "0"}
    of_cargo = {f"CARGO_PROFILE_{kind}_{name}": value for kind in ("TEST", "DEV") for name, value in profile.items()}
    return {
        **os.environ,
        **of_cargo,
        "CARGO_INCREMENTAL": "0",
        "CARGO_TARGET_DIR": target_folder(),
        "FLITWORK_FULL": "0",
        "FLITWORK_TIMES": "0.25",
    }


def run(command: str, folder: Path) -> None:
    of_cargo, _, of_tests = command.partition(" -- ")
    line = [*of_cargo.split(), *FEW_SIZES.split(), "--", *of_tests.split()]
    done = subprocess.run(line, cwd=folder, env=faster(), capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    if "--no-run" not in command:
        assert re.search(r"^running [1-9]", done.stdout, re.MULTILINE), f"{command}: no test ran\n{done.stdout}"


# Runs the study file that is its argument and draws the network with the load of its channels.
STUDY = """
import sys
from pathlib import Path
import flitwork as fw
study = fw.load_study(sys.argv[1])
done = fw.run_study(study, "results", jobs=1)
assert not done.failures, done.failures
assert len(done.table) == len(done.jobs) > 0
fw.plot.channel_snapshot(next(iter(done.results.values()))).savefig("channels.png")
assert Path("channels.png").stat().st_size > 1000
"""


def run_with_the_package(study: str, folder: Path) -> None:
    """Builds the Python package of the copy not for speed, and runs a study file with it."""
    build = f"cargo build -p flitwork-python --features pyo3/extension-module {FEW_SIZES}"
    done = subprocess.run(build.split(), cwd=folder, env=faster(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    for old in (folder / "python" / "flitwork").glob("_core*.so"):
        old.unlink()
    (built,) = (
        file for file in Path(target_folder(), "debug").glob("*flitwork_core.*") if file.suffix in (".so", ".dylib")
    )
    shutil.copyfile(built, folder / "python" / "flitwork" / "_core.abi3.so")
    (folder / "study.toml").write_text(study, encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(folder / "python"), "MPLBACKEND": "agg"}
    script = [sys.executable, "-c", STUDY, "study.toml"]
    done = subprocess.run(script, cwd=folder, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


def is_formatted(file: Path) -> bool:
    command = ["rustfmt", "--check", "--config-path", str(ROOT / "rustfmt.toml"), str(file)]
    return subprocess.run(command, stdout=subprocess.DEVNULL).returncode == 0


def commands(block: Block) -> list[str]:
    return [line for line in block.body.splitlines() if line.strip() and not line.startswith("#")]


def test_there_are_pages() -> None:
    assert len(PAGES) >= 3


@pytest.mark.parametrize("page", PAGES)
def test_the_page_fits_the_tree(page: str, tmp_path: Path) -> None:
    """Quick: every place that the page names exists, and what it inserts is formatted."""
    copy_project(tmp_path)
    files = {apply(block, tmp_path) for block in blocks(page) if "file" in block.words}
    assert files
    for file in files:
        original = ROOT / file.relative_to(tmp_path)
        if file.suffix == ".rs" and (not original.exists() or is_formatted(original)):
            assert is_formatted(file), f"{file}: what {page} inserts is not formatted"


@pytest.mark.parametrize("page", PAGES)
def test_the_page_says_how_to_write_what_follows_from_the_schema(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for tool in ("python_values.py", "configuration_page.py"):
        assert f"python tools/{tool}" in text and (ROOT / "tools" / tool).exists()
    # Files that a page names in its text are there, and have what it says is in them.
    for file in re.findall(r"`(crates/[\w/.-]+\.rs|tools/\w+\.py|docs/\w+\.md)`", text):
        made = any(block.words.get("file") == file for block in blocks(page) if "file" in block.words)
        assert made or (ROOT / file).exists(), file


def names_in(page: str) -> set[str]:
    """The files and types that a page adds."""
    added = [block for block in blocks(page) if block.words.keys() == {"file"}]
    types = [name for block in added for name in re.findall(r"\b(?:struct|enum|trait) (\w+)", block.body)]
    return {*types, *(Path(block.words["file"]).stem for block in added)}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_needs_no_other(page: str) -> None:
    names = names_in(page)
    assert names
    for other in PAGES:
        if other != page:
            found = {word for block in blocks(other) for word in re.findall(r"\w+", block.body)}
            assert not found & names, f"{other} uses what {page} adds"


@pytest.mark.slow
def test_the_pages_work(tmp_path: Path) -> None:
    """Full: what the pages build compiles and passes the tests that each of them names. All are carried out on
    one copy, which is compiled once; that each finds its places in the tree as it is, and needs none of the others, the tests above
    say."""
    copy_project(tmp_path)
    found = {page: blocks(page) for page in PAGES}
    for block in (block for page in PAGES for block in found[page] if "file" in block.words):
        apply(block, tmp_path)
    for page in PAGES:
        tests = [command for block in found[page] if "test" in block.words for command in commands(block)]
        assert tests
        for command in tests:
            run(command, tmp_path)
    studies = [block for page in PAGES for block in found[page] if "built" in block.words]
    assert studies
    for block in studies:
        run_with_the_package(block.body, tmp_path)
