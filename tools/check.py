#!/usr/bin/env python3
"""Runs formatting, lints and the tests of what differs from main (`make check`).

A change is everything between the merge base with the branch (default: main) and the working tree, untracked files
included. `RUST`, `BY_PATH` and the names of the test files say which tests belong to it. `make test-quick` runs all
tests.

    tools/check.py [--list] [--base BRANCH]
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"

#: Folders and files of crates/flitwork/src: the tests in crates/flitwork/tests that exercise them, and modules whose
#: unit tests do so beside their own.
RUST: dict[str, str] = {
    "bound": "workloads crossbar fat_tree",
    "collective": "workloads",
    "compat": "workloads kernel::flit",
    "component.rs": "bad_input",
    "components.rs": "bad_input",
    "error.rs": "bad_input",
    "host": "bus workloads kernel::simulation",
    "kernel": "bus workloads steady longer",
    "lib.rs": "",
    "measure": "steady longer kernel::simulation",
    "mix.rs": "workloads",
    "pace": "workloads",
    "plan": "bad_input bus",
    "router": "kernel::flit",
    "routing": "dragonfly fat_tree crossbar kernel::flit",
    "run.rs": "workloads steady",
    "schedule": "goal workloads host",
    "spec": "bad_input plan",
    "synthesis": "timetable",
    "terminal": "bus workloads kernel::simulation",
    "timers.rs": "bus host",
    "timetable": "timetable",
    "topology": "dragonfly fat_tree crossbar topologies",
    "traffic": "workloads steady",
    "transit": "workloads kernel::flit",
    "unchecked.rs": "workloads kernel::flit",
    "units": "bad_input plan",
}

#: Other paths, by how they begin: test files of Python.
BY_PATH: dict[str, str] = {
    "crates/flitwork-python/": "tests/python/test_core.py tests/python/test_api.py",
    "crates/flitwork-steps/": "tests/python/test_collectives.py tests/flitwork_mpi/test_mpi_steps.py",
    "docs/": "tests/docs/test_extend_pages.py",
    "docs/architecture.md": "tests/docs/test_architecture.py",
    "docs/configuration.md": "tests/docs/test_configuration_page.py",
    "docs/booksim.md": "tests/docs/test_booksim_page.py",
    "docs/readings.md": "tests/docs/test_readings_page.py",
    "README.md": "tests/docs/test_readme.py",
    "pyproject.toml": "tests/python/test_extensions.py",
    "tests/common.py": "tests/python/test_cli.py",
    "tests/conftest.py": "tests/python/test_cli.py",
    "tests/flitwork_mpi/programs/": "tests/flitwork_mpi/test_mpi_library.py",
    "mpi/": "tests/flitwork_mpi/test_mpi_library.py",
    "python/flitwork/networks/": "tests/python/test_network_files.py",
    "python/": "tests/docs/test_architecture.py tests/python/test_api.py",
    "tools/check.py": "tests/docs/test_check.py",
}


@dataclass
class Chosen:
    """The checks of a change: what is compiled and linted, and which tests run."""

    rust: bool = False
    python: list[str] = field(default_factory=list)
    modules: set[str] = field(default_factory=set)
    crate_tests: set[str] = field(default_factory=set)
    packages: set[str] = field(default_factory=set)
    pytest: set[str] = field(default_factory=set)

    def commands(self) -> list[list[str]]:
        """Command lines, the quickest first."""
        lines: list[list[str]] = []
        if self.python:
            lines += [
                [str(BIN / "ruff"), "format", "--check", *self.python],
                [str(BIN / "ruff"), "check", *self.python],
            ]
        if self.rust:
            lines.append(["cargo", "fmt", "--all", "--check"])
        test = ["cargo", "test", "--profile", "dev-fast", "--quiet"]
        lines += [[*test, "-p", package] for package in sorted(self.packages)]
        test += ["-p", "flitwork", "--features", "few-sizes"]
        if self.crate_tests:
            chosen = [word for name in sorted(self.crate_tests) for word in ("--test", name)]
            lines.append([*test, *chosen])
        if self.modules:
            # What lists all compiled sizes cannot hold where few are compiled.
            skipped = ("--skip", "as_the_table_of_sizes_says")
            lines.append([*test, "--lib", "--", *skipped, *sorted(self.modules)])
        if self.rust:
            lines.append(["cargo", "clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])
        if self.rust and self.pytest:
            lines.append(["make", "--no-print-directory", "dev"])
        if self.pytest:
            lines.append([str(BIN / "python"), "-m", "pytest", "-n", "auto", "-m", "not slow", *sorted(self.pytest)])
        return lines


def choose(changed: list[str]) -> Chosen:
    """The checks of changed files, given by their paths in the repository."""
    chosen = Chosen()
    folders = {"flitwork": "tests/python", "flitwork_mpi": "tests/flitwork_mpi"}
    for path in changed:
        parts = Path(path).parts
        exists = (ROOT / path).exists()
        if path.endswith((".py", ".pyi")) and exists:
            chosen.python.append(path)
        chosen.rust |= path.endswith(".rs") or parts[-1] in ("Cargo.toml", "Cargo.lock")
        if path.startswith("crates/flitwork/src/"):
            in_crate(parts[3:], chosen)
        elif re.match(r"crates/flitwork/tests/\w+", path):
            stem = Path(parts[3]).stem
            chosen.crate_tests.add({"oracle": "oracle_equivalence", "data": "goal"}.get(stem, stem))
        elif path.startswith("crates/flitwork-steps/"):
            chosen.packages.add("flitwork-steps")
        elif re.match(r"tests/(python|docs|flitwork_mpi)/test_\w+\.py$", path) and exists:
            chosen.pytest.add(path)
        for beginning, files in BY_PATH.items():
            if path.startswith(beginning):
                chosen.pytest.update(files.split())
        if parts[0] == "python" and len(parts) > 2 and parts[1] in folders:
            words = {part.strip("_") for part in Path(*parts[2:]).with_suffix("").parts} - {"init", "core", "base", ""}
            begin = tuple(f"test_{of}{word}" for word in words for of in ("", "mpi_"))
            tests = sorted((ROOT / folders[parts[1]]).glob("test_*.py"))
            chosen.pytest.update(str(test.relative_to(ROOT)) for test in tests if test.name.startswith(begin))
    # The test in Rust holds the page, too.
    if chosen.rust or "docs/architecture.md" in changed:
        chosen.crate_tests.add("architecture")
    return chosen


def in_crate(parts: tuple[str, ...], chosen: Chosen) -> None:
    """Adds the tests of a file of the crate."""
    if parts[0] not in RUST:
        sys.exit(
            f"{parts[0]} of crates/flitwork/src has no row in RUST of tools/check.py: say which tests belong to it"
        )
    own = Path(parts[0]).stem
    words = RUST[parts[0]].split()
    files = {path.stem for path in ROOT.glob("crates/flitwork/tests/*.rs")}
    chosen.crate_tests.update(word for word in words if word in files)
    chosen.modules.update(
        word.removesuffix("::") + "::" for word in [own, *words] if word not in files and word != "lib"
    )


def changed_files(base: str) -> list[str]:
    """Files that differ from the merge base with a branch, and untracked ones."""

    def git(*arguments: str) -> list[str]:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"git {shlex.join(arguments)}: {done.stderr.strip()}")
        return done.stdout.split("\n")[:-1]

    (start,) = git("merge-base", base, "HEAD")
    return sorted({*git("diff", "--name-only", start), *git("ls-files", "--others", "--exclude-standard")})


def main() -> int:
    """Runs the checks, each with a line that says how long it took; ends with the first that fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the commands and do not run them")
    parser.add_argument("--base", default="main", metavar="BRANCH", help="branch to compare with (default: main)")
    options = parser.parse_args()
    changed = changed_files(options.base)
    lines = choose(changed).commands()
    if not lines:
        print(f"no checks are known for what differs from {options.base}: {', '.join(changed) or 'nothing does'}")
    if any(line[0].startswith(str(BIN)) for line in lines) and not (BIN / "ruff").exists():
        sys.exit("the tools are not installed: make .venv/.tools")
    for line in lines:
        shown = shlex.join(line).replace(f"{ROOT}/", "")
        print(shown, flush=True)
        if options.list:
            continue
        began = time.monotonic()
        if status := subprocess.run(line, cwd=ROOT).returncode:
            return status
        print(f"  {time.monotonic() - began:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
