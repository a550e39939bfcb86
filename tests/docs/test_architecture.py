"""The Python package keeps to docs/architecture.md: who may import whom, files stay readable."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from pages import ROOT

PACKAGE = ROOT / "python" / "flitwork"
FILES = sorted(PACKAGE.rglob("*.py"))
OF_MPI = sorted((ROOT / "python" / "flitwork_mpi").rglob("*.py"))
LONGEST_FILE = 600

#: The rooms from the bottom up: a room imports only rooms that stand before it.
LAYERS = (
    *("_core", "base", "values", "networks", "workloads", "planning", "msccl", "results", "running", "measurements"),
    *("plot", "experiment", "explain", "view", "questions", "booksim", "fit", "studies", "report"),
    *("cli", "examples"),
)
#: Libraries for terminals, and the only part that may import them.
TERMINAL_LIBRARIES = {"typer", "rich", "click"}
#: Besides: the bar that scripts and notebooks show, too.
DISPLAY = "experiment/display.py"


def imports(file: Path) -> Iterator[str]:
    """The names of the modules that a file imports."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: write the whole name of the module"
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def part(module: str) -> str | None:
    """The part of the package that a module belongs to."""
    names = module.split(".")
    return names[1] if names[0] == "flitwork" and len(names) > 1 and names[1] in LAYERS else None


def uses() -> set[tuple[str, str]]:
    """Which part imports which."""
    found = set()
    for file in FILES:
        user = file.relative_to(PACKAGE).with_suffix("").parts[0]
        if user not in ("__init__", "__main__"):
            found |= {(user, used) for module in imports(file) if (used := part(module)) and used != user}
    return found


def test_rooms_import_only_what_is_below_them() -> None:
    rooms = {file.relative_to(PACKAGE).with_suffix("").parts[0] for file in FILES} - {"__init__", "__main__"}
    assert rooms == {*LAYERS} - {"_core"}, f"say where {rooms ^ {*LAYERS} - {'_core'}} stand"
    wrong = {(a, b) for a, b in uses() if LAYERS.index(b) >= LAYERS.index(a)}
    assert not wrong, f"these imports point up: {wrong}"


def test_nothing_of_the_core_imports_the_package_of_mpi() -> None:
    assert [file for file in FILES if any(name.startswith("flitwork_mpi") for name in imports(file))] == []


def test_no_file_lies_loose() -> None:
    assert {file.name for file in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py"}


def test_every_room_says_what_it_is_for() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    listed = [page.index(f"\n  {room}/") for room in LAYERS[1:]]
    assert listed == sorted(listed), "the list of folders has another order"
    for room in LAYERS[1:]:
        assert room == "examples" or ast.get_docstring(
            ast.parse((PACKAGE / room / "__init__.py").read_text(encoding="utf-8"))
        )


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_only_the_command_line_knows_the_terminal(file: Path) -> None:
    used = TERMINAL_LIBRARIES & {name.split(".")[0] for name in imports(file)}
    if file.relative_to(PACKAGE).parts[0] != "cli":
        assert used <= ({"rich"} if file == PACKAGE / DISPLAY else set())


@pytest.mark.parametrize("file", [*FILES, *OF_MPI], ids=lambda file: str(file.relative_to(PACKAGE.parent)))
def test_files_stay_readable(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    # What a tool writes grows with the schema, a constructor for each topology: nobody edits it.
    assert "Written by tools/" in text[:400] or len(text.splitlines()) <= LONGEST_FILE
