from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from forked import Server
from mpi_libraries import AS_ROOT

REPOSITORY = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "flitwork"]

Cli = Callable[..., "subprocess.CompletedProcess[str]"]

# A shell starts what it runs in the background with SIGINT ignored, and children inherit that: tests of Ctrl-C need it back.
signal.signal(signal.SIGINT, signal.default_int_handler)

#: A study of a few small simulations.
STUDY = """
[study]
name = "tiny"

[base.network.topology]
kind = "torus"
size = ["${N}", "${N}"]

[base.workload]
kind = "all_to_all"
algorithm = "a2at"
message_flits = 10

[[experiments]]
id = "e"
grid = { N = [3, 4], "workload.algorithm" = ["a2at", "a2and"] }
seeds = [1, 2]
columns = { cycles_per_N = "completion_cycles / N" }
quick = { grid = { N = [3] }, seeds = [1] }

[[plots]]
id = "figure"
experiment = "e"
x = "N"
y = "cycles_per_N"
series = "workload.algorithm"
"""

#: A study whose single simulations take long enough to be interrupted (about a second each).
SLOW_STUDY = """
[study]
name = "slow"

[base.network.topology]
kind = "torus"
size = [13, 13]

[base.workload]
kind = "all_to_all"
algorithm = "a2at"
message_flits = "${L}"

[[experiments]]
id = "e"
grid = { L = [100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111] }
"""


def environment() -> dict[str, str]:
    """Without what would colour or widen the output."""
    dropped = ("FORCE_COLOR", "NO_COLOR", "COLUMNS", "GITHUB_ACTIONS", "TTY_COMPATIBLE")
    return {k: v for k, v in os.environ.items() if k not in dropped} | {"MPLBACKEND": "Agg"}


@pytest.fixture(autouse=True)
def ctrl_c_again() -> Iterator[None]:
    """A command that ran in this process leaves SIGINT ignored, as it is at its end; children would inherit that."""
    yield
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    """No test leaves figures open for those that follow."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def commands() -> Iterator[Server]:
    """What starts commands that have their libraries loaded already."""
    server = Server(environment())
    yield server
    server.close()


@pytest.fixture
def cli(tmp_path: Path, commands: Server) -> Cli:
    """Runs the command in an empty folder."""

    def run(*args: object) -> subprocess.CompletedProcess[str]:
        return commands.run([*map(str, args)], tmp_path, environment(), timeout=300)

    return run


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture
def slow_study(tmp_path: Path) -> Path:
    path = tmp_path / "slow.toml"
    path.write_text(SLOW_STUDY)
    return path


@pytest.fixture(scope="session")
def mpi_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where C programs for MPI libraries are kept: each is compiled once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def mpi_programs(monkeypatch: pytest.MonkeyPatch, mpi_cache: Path) -> None:
    """Jobs are started from this process, by root too."""
    for name, value in {**AS_ROOT, "XDG_CACHE_HOME": str(mpi_cache)}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def browser() -> Iterator[Any]:
    """A real browser without a screen, as wide as a phone; skipped by name where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    binary, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if not binary or not driver:
        pytest.skip("no browser: chromium and chromedriver are not both installed")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=390,900"):
        options.add_argument(argument)
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=driver))
    yield found
    found.quit()
