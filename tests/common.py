"""What tests of all packages share: the command, and studies of a few simulations."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
COMMAND = [sys.executable, "-m", "flitwork"]

Cli = Callable[..., "subprocess.CompletedProcess[str]"]

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
