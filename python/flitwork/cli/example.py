"""``flitwork example``: the files of the documentation, written where the user is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.base.output_files import writable_file, write_atomically
from flitwork.cli.options import AsJson, Overwrite
from flitwork.cli.output import escape, guarded, print_json, print_table, say

#: The files, in folders by what runs them.
_FOLDER = Path(__file__).parents[1] / "examples"
#: How a file is run, by its ending; rank programs stand in a folder of their own.
_RUN = {".toml": "flitwork run {}", ".py": "python {}"}
_PROGRAMS = "mpi"
_RUN_PROGRAM = "flitwork mpi simulate -n 16 {}"


def examples() -> dict[str, list[Path]]:
    """The files of each example, by its name; the one that is run comes first."""
    found: dict[str, list[Path]] = {}
    for path in sorted(_FOLDER.rglob("*"), key=lambda path: (path.suffix not in _RUN, path.parent.name, path.name)):
        if path.is_file() and "__pycache__" not in path.parts:
            found.setdefault(path.stem, []).append(path)
    return found


@guarded
def example(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Example to write; without it all are listed.")
    ] = None,
    folder: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder to write to.")] = Path("."),
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Write an example file, or list them: studies, Python scripts and mpi4py programs.

    Examples:

      flitwork example

      flitwork example torus_sizes

      flitwork run torus_sizes.toml
    """
    known = examples()
    if name is None:
        rows = [(one, _command(files[0]), _about(files[0])) for one, files in known.items()]
        if as_json:
            print_json([dict(zip(("name", "run", "about"), row, strict=True)) for row in rows])
        else:
            print_table(("example", "run it with", "what it shows"), rows)
        return
    files = known.get(name) or known.get(Path(name).stem)
    if files is None:
        raise ConfigError("NAME", name, f"one of {', '.join(known)}", did_you_mean(name, known))
    written = [folder / path.name for path in files]
    for target in written:
        writable_file(target, "--out", overwrite)
    for path, target in zip(files, written, strict=True):
        _copy(path, target)
    if as_json:
        print_json([str(target) for target in written])
        return
    say(f"{escape(', '.join(map(str, written)))} written; run it:")
    say(f"  {escape(_command(files[0], written[0]))}")


def _copy(path: Path, target: Path) -> None:
    contents = path.read_bytes()
    write_atomically(target, lambda file: file.write(contents))


def _command(path: Path, target: Path | None = None) -> str:
    pattern = _RUN_PROGRAM if path.parent.name == _PROGRAMS else _RUN[path.suffix]
    return pattern.format(target or path.name)


def _about(path: Path) -> str:
    """The first line of a file: its docstring, or its comment."""
    return path.read_text(encoding="utf-8").split("\n", 1)[0].strip('"# ')
