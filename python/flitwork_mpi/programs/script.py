"""A script on every rank: its own globals, the same arguments, an exit code."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

from flitwork.base.errors import ConfigError

from flitwork_mpi.programs.errors import Abort
from flitwork_mpi.programs.modules import Modules
from flitwork_mpi.programs.per_rank import call_at_exit
from flitwork_mpi.programs.world import Process


class Script:
    """A Python file that is run as ``__main__`` by each rank."""

    def __init__(self, path: Path, arguments: list[str]) -> None:
        self.path, self.arguments = path, arguments
        try:
            source = path.read_bytes()
        except OSError as error:
            raise ConfigError("script", path, "a Python file that can be read", error.strerror or "") from None
        try:
            self._code = compile(source, str(path), "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            raise ConfigError("script", path, "a Python file", str(error)) from None
        self.folder = path.resolve().parent
        #: Exit codes of ranks that did not end with 0.
        self.exit_codes: dict[int, int] = {}
        sys_path = str(self.folder)
        self._path = [sys_path, *[entry for entry in sys.path if entry != sys_path]]

    def run(self, process: Process, modules: Modules) -> Any:
        """Runs it on a rank; returns its globals."""
        module = types.ModuleType("__main__")
        module.__dict__.update(__file__=str(self.path), __builtins__=__builtins__)
        modules.give_to_rank(process, "__main__", module)
        sys.argv = [str(self.path), *self.arguments]
        sys.path[:] = self._path
        try:
            exec(self._code, module.__dict__)
        except Abort:
            raise
        except SystemExit as stop:
            self._ended(process, stop.code)
        call_at_exit(process)
        return None

    def _ended(self, process: Process, code: object) -> None:
        if code is None or code == 0:
            return
        if not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
        self.exit_codes[process.rank] = process.exit_code = int(code)
