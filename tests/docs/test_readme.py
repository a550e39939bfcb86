"""Runs what README.md and the tutorial tell the reader to type."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT, blocks

PAGES = ["README.md", "docs/getting-started.md", "docs/workloads.md", "docs/collectives.md", "docs/routing.md"]
#: Pages with Python that runs and no study files.
PYTHON_PAGES = [
    *PAGES,
    "docs/networks.md",
    "docs/programs.md",
    "docs/steady.md",
    "docs/goal.md",
    "docs/msccl.md",
    "docs/several-networks.md",
    "docs/units.md",
    "docs/explain.md",
    "docs/switches.md",
    "docs/tune.md",
    "docs/fit.md",
    "docs/view.md",
    "docs/readings.md",
]


@pytest.mark.parametrize("page", PYTHON_PAGES)
def test_the_python_runs(page: str, tmp_path: Path) -> None:
    """All Python of a page runs as one script, in a folder that holds the study files of the page."""
    found = blocks(page)
    for block in found:
        if block.language == "toml":
            (tmp_path / block.words["run"]).write_text(block.body, encoding="utf-8")
    bodies = [block.body for block in found if block.language == "python"]
    assert bodies and all("run" in block.words for block in found if block.language == "python")
    # Workers of a sweep import the main module: what the script does must not run again in them.
    body = "".join(bodies).replace("\n", "\n    ")
    script = tmp_path / "page.py"
    script.write_text(f'if __name__ == "__main__":\n    {body}\n', encoding="utf-8")
    run([sys.executable, str(script)], tmp_path)


@pytest.mark.parametrize("page", PAGES)
def test_the_studies_run(page: str, tmp_path: Path) -> None:
    studies = [block for block in blocks(page) if block.language == "toml"]
    assert studies
    for block in studies:
        name = block.words["run"]
        (tmp_path / name).write_text(block.body, encoding="utf-8")
        run([sys.executable, "-m", "flitwork", "run", name, "--quick"], tmp_path)
        assert list(tmp_path.glob("results/*/results.csv"))
        assert list(tmp_path.glob("results/*/figures/*.png"))


def test_the_readme_is_as_short_as_it_says() -> None:
    lengths = {b.language: len([x for x in b.body.splitlines() if x.strip()]) for b in blocks("README.md")}
    assert lengths["python"] <= 10 and lengths["toml"] <= 10


PATH = re.compile(r"\]\((?P<target>[^)#\s]+)[^)]*\)")
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    targets = [m["target"] for m in PATH.finditer(page.read_text(encoding="utf-8"))]
    missing = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert not missing, f"{page.relative_to(ROOT)} links to {', '.join(missing)}"


def run(command: list[str], folder: Path) -> None:
    env = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
