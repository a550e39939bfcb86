from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from common import SLOW_STUDY, STUDY, Cli, environment
from forked import Server

# A shell starts what it runs in the background with SIGINT ignored, and children inherit that: tests of Ctrl-C need it back.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def own_temporary_folder() -> Iterator[None]:
    """What tests start puts its temporary files into a folder that is removed with what is left in it.

    Open MPI's launcher names its session folder by its process number and leaves it there where it is killed, as some
    tests do. A later launcher that gets the same number does not start. Sockets need a short path, too.
    """
    tempfile.gettempdir()  # looked up once: pytest's own folders stay where they are
    with (
        tempfile.TemporaryDirectory(prefix="fw-", ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("TMPDIR", folder)
        yield


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
