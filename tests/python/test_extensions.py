"""What packages beside flitwork add is found by entry points, and missed in words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import flitwork as fw
import pytest
from flitwork.base import extensions
from flitwork.studies import published
from typer.testing import CliRunner


def test_what_is_not_installed_is_missed_in_words() -> None:
    for name in ("mpi", "tune"):
        with pytest.raises(
            fw.FlitworkError, match=rf"{name}: flitwork_mpi is not installed: pip install .flitwork\[mpi\]"
        ):
            getattr(fw, name)
        assert not hasattr(fw, name) and getattr(fw, name, 5) == 5
        with pytest.raises(ImportError, match=rf"{name}: flitwork_mpi is not installed: pip install"):
            exec(f"from flitwork import {name}", {})


def test_without_entry_points_the_core_has_its_own_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    from flitwork.cli import app

    monkeypatch.setattr(extensions, "entry_points", lambda group: ())
    extensions.extensions.cache_clear()
    try:
        shown = CliRunner().invoke(app, ["--help"]).stdout
        assert "simulate" in shown and "tune" not in shown
        done = CliRunner().invoke(app, ["tune"])
        assert done.exit_code == 2 and "No such command" in done.output
        with pytest.raises(extensions.MissingPart, match=r"no entry point of flitwork_mpi is installed"):
            getattr(fw, "mpi")  # noqa: B009
        assert published()["makino-1997-ap1000"].on_mpi() is None
    finally:
        extensions.extensions.cache_clear()


def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("other", "no_such_library.inside", "flitwork.modules")
    monkeypatch.setattr(extensions, "entry_points", lambda group: [entry])
    extensions.extensions.cache_clear()
    try:
        with pytest.raises(extensions.MissingExtension, match=r"other: no_such_library is not installed$"):
            extensions.load_extension("flitwork.modules", "other")
    finally:
        extensions.extensions.cache_clear()


def test_the_core_loads_nothing_of_mpi(study: Path) -> None:
    script = """
import sys
sys.modules["flitwork_mpi"] = sys.modules["greenlet"] = None
sys.argv = ["flitwork", "run", sys.argv[1], "--quick", "--out", sys.argv[2]]
from flitwork.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
import flitwork as fw
assert fw.simulate(fw.Torus(2, 2), fw.all_to_all(message_flits=2)).completion_cycles
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(study), str(study.parent / "out")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("library", "extra", "use"),
    [
        ("scipy", "fit", "fw.fit"),
        ("statsmodels", "fit", "fw.fit_model"),
        ("jinja2", "report", "fw.view"),
        ("networkx", "report", "fw.view"),
        ("jinja2", "report", "from flitwork import report"),
        ("scipy", "fit", "from flitwork import fit_model"),
        ("greenlet", "mpi", "from flitwork import mpi"),
        ("greenlet", "mpi", "import flitwork.mpi"),
    ],
)
def test_a_part_that_needs_a_library_says_which_extra_has_it(library: str, extra: str, use: str) -> None:
    asked = f"import sys, flitwork as fw; sys.modules[{library!r}] = None; {use}"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True)
    assert "MissingExtension: " in done.stderr and "Traceback" in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.endswith(f"{library} is not installed: pip install 'flitwork[{extra}]', or [all]")


def test_a_part_that_lacks_a_library_is_no_attribute() -> None:
    asked = """
import sys, flitwork as fw
for name in ("greenlet", "jinja2", "scipy"):
    sys.modules[name] = None
assert not any(hasattr(fw, name) for name in ("mpi", "fit", "fit_model", "view"))
assert getattr(fw, "mpi", None) is None and hasattr(fw, "simulate")
for name in ("greenlet", "jinja2", "scipy"):
    del sys.modules[name]
assert hasattr(fw, "view") and hasattr(fw, "fit")
"""
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_simulation_needs_no_library_of_an_extra(tmp_path: Path) -> None:
    script = """
import sys
for name in ("dask", "distributed", "greenlet", "jinja2", "networkx", "psutil", "scipy", "statsmodels"):
    sys.modules[name] = None
import flitwork as fw
net = fw.Torus(3, 3)
found = fw.curve(net, fw.uniform(offered_load=0.1), [0.1], seeds=[1, 2], resolution=0, warmup_cycles=50, measurement_cycles=200)
assert len(found.table) == 2
assert fw.pick(net, message_flits=4).best
fw.explain(fw.simulate(net, fw.all_to_all(message_flits=4)))
fw.plot.channel_heatmap(fw.simulate(net, fw.all_to_all(message_flits=4), channel_window_cycles=5))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


WITHOUT = """
import sys
for name in ("dask", "distributed", "greenlet", "jinja2", "markupsafe", "networkx", "psutil", "scipy", "statsmodels"):
    sys.modules[name] = None
from flitwork.cli import main
sys.argv = ["flitwork", *{words!r}]
main()
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fit", "times.csv"], "scipy is not installed: pip install 'flitwork[fit]'"),
        (["view", "a2at", "--size", "3x3"], "jinja2 is not installed: pip install 'flitwork[report]'"),
        (["report", "takaue-2010-a2at"], "jinja2 is not installed: pip install 'flitwork[report]'"),
        (["reproduce", "takaue-2010-a2at", "--quick"], "jinja2 is not installed: pip install 'flitwork[report]'"),
        (["mpi", "simulate", "-n", "2", "x.py"], "is not installed: pip install 'flitwork[mpi]'"),
        (["tune", "check", "rules"], "is not installed: pip install 'flitwork[mpi]'"),
    ],
)
def test_a_command_that_lacks_a_library_says_what_to_install(words: list[str], said: str, tmp_path: Path) -> None:
    script = [sys.executable, "-c", WITHOUT.format(words=words)]
    done = subprocess.run(script, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "") and said in done.stderr and "Traceback" not in done.stderr


def test_help_lists_commands_that_lack_a_library() -> None:
    script = [sys.executable, "-c", WITHOUT.format(words=["--help"])]
    done = subprocess.run(script, capture_output=True, text=True, env={**os.environ, "COLUMNS": "160"})
    assert done.returncode == 0, done.stderr
    assert "Not available: scipy is not installed: pip install 'flitwork[fit]'" in done.stdout
    assert "Simulate one workload on one network" in done.stdout


def test_names_of_missing_libraries_are_not_offered(tmp_path: Path) -> None:
    script = """
import sys
for name in ("greenlet", "jinja2", "scipy"):
    sys.modules[name] = None
import flitwork as fw
from flitwork import *
assert "simulate" in globals() and not {"fit", "view", "mpi", "tune"} & {*fw.__all__}
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_library_that_cannot_be_loaded_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "greenlet.py").write_text("raise ImportError('undefined symbol')\n")
    script = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import flitwork.cli as cli; sys.argv = ['flitwork', 'mpi', 'simulate', 'x.py']; cli.main()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and "mpi simulate: cannot be loaded (undefined symbol)" in done.stderr, done.stderr


def test_what_a_command_lacks_is_json_where_that_is_asked_for(tmp_path: Path) -> None:
    script = [sys.executable, "-c", WITHOUT.format(words=["fit", "times.csv", "--json"])]
    done = subprocess.run(script, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and json.loads(done.stderr)["error"] == "MissingExtension"


def test_claims_of_stored_results_need_nothing_of_mpi(tmp_path: Path) -> None:
    code = WITHOUT.replace('"scipy", "statsmodels"', '"none"')
    script = [sys.executable, "-c", code.format(words=["claims", "makino-1997-ap1000"])]
    done = subprocess.run(script, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and "F2" in done.stdout, done.stderr
