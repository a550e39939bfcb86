"""Commands start without what they do not use."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import flitwork as fw
import pytest
from flitwork.cli.commands import COMMANDS
from flitwork.networks import constructors
from flitwork.values import tables

#: Each takes a tenth of a second to import, or much more.
HEAVY = ("PIL", "dask", "jinja2", "matplotlib", "networkx", "pandas", "pyarrow", "scipy", "statsmodels")
CONFIGURATION = """topology = torus; k = 4; n = 2; routing_function = dim_order; use_noc_latency = 0; num_vcs = 4;
traffic = uniform; injection_rate = 0.1; sample_period = 100; warmup_periods = 1; vc_buf_size = 4;
"""


def loaded(arguments: list[str], modules: tuple[str, ...]) -> list[str]:
    """Which of ``modules`` a command has loaded by its end."""
    script = f"""
import sys
sys.argv = ["flitwork", *{arguments!r}]
from flitwork.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("loaded:", *[name for name in {modules!r} if name in sys.modules])
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return found.stdout.splitlines()[-1].removeprefix("loaded:").split()


def test_help_loads_no_command() -> None:
    of_commands = [f"flitwork.cli.{one.place.partition('.')[0]}" for them in COMMANDS.values() for one in them.values()]
    assert loaded(["--help"], (*HEAVY, "numpy", *of_commands)) == []


def test_help_lists_what_each_command_says_of_itself() -> None:
    """Help is written from a table: it says of each command what the command's own help begins with."""
    for heading, commands in COMMANDS.items():
        for name, listed in commands.items():
            module, what = listed.place.split(".")
            text = inspect.getdoc(getattr(import_module(f"flitwork.cli.{module}"), what))
            assert text is not None and " ".join(text.split("\n\n")[0].split()) == listed.about, (heading, name)
    assert [*[*COMMANDS.values()][-1]][-1] == "reproduce"


def test_booksim_loads_no_large_library(tmp_path: Path) -> None:
    file = tmp_path / "torus44.cfg"
    file.write_text(CONFIGURATION)
    for more in ([], ["--json"], ["--plan"]):
        assert loaded(["booksim", str(file), *more], (*HEAVY, "numpy", "rich", "flitwork.values.tables")) == []


def test_a_simulation_loads_no_large_library() -> None:
    assert loaded(["simulate", "a2at", "--size", "3x3", "--json"], HEAVY) == []
    # What is looked for finds them: a table of packets is one of pandas.
    assert "pandas" in loaded(["explain", "a2at", "--size", "3x3", "--json"], HEAVY)


def test_the_package_loads_what_is_asked_for() -> None:
    script = "import sys, flitwork as fw; print({*%r} & {*sys.modules}); fw.Torus(4, 4); print({*%r} & {*sys.modules})"
    modules = (*HEAVY, "numpy")
    found = subprocess.run(
        [sys.executable, "-c", script % (modules, modules)], capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == ["set()", "set()"]


def test_every_name_of_the_package_can_be_loaded_and_is_known_to_type_checkers() -> None:
    stub = ast.parse(Path(fw.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    lists = [
        node.value for node in stub.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    said = {*ast.literal_eval(lists[0]), *constructors.__all__, *tables.__all__}
    assert said == set(fw.__all__) and len(said) > 90
    assert all(getattr(fw, name) is not None for name in said - {"mpi", "tune"})  # of a package beside
    assert said <= set(dir(fw))


def test_a_function_with_the_name_of_its_module_is_the_function() -> None:
    import flitwork.planning.bound
    import flitwork.view.page  # noqa: F401

    names = ("bound", "burst", "check", "curve", "explain", "fit", "pace", "pick", "steady", "view")
    assert [name for name in names if not callable(getattr(fw, name))] == []
    with pytest.raises(AttributeError, match="no attribute 'torus'"):
        _ = fw.torus  # type: ignore[attr-defined]


def test_square_brackets_in_help_are_text() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "flitwork", "simulate", "--help"],
        capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip
    assert "for example 9x9 or 8x8x4 [default: 8x8]" in shown.stdout
