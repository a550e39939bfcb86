"""What the commands share: consoles, tables, exit codes, errors in words and as JSON."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TextIO, TypeVar

import typer

from flitwork.base import interrupt
from flitwork.base.errors import (
    ConfigError,
    FlitworkError,
    ResultFileError,
    ScheduleError,
    SimulationError,
    StorageError,
)
from flitwork.base.extensions import MissingExtension
from flitwork.base.output_files import AGAIN, NO_ROOM
from flitwork.results.columns import is_latency

if TYPE_CHECKING:
    from rich.console import Console

    from flitwork.results.result import Result

OK = 0
CLAIM_FAILED = 1
USAGE = 2
SIMULATION_FAILED = 3
INTERRUPTED = interrupt.EXIT_CODE
_PLAIN_WIDTH = 200
#: Characters of a value that an error shows.
_LONGEST_VALUE = 200
#: What Python raises as a ``RuntimeError`` where a thread cannot be started.
_NO_THREAD = "can't start new thread"

P = ParamSpec("P")
R = TypeVar("R")


def _console(stderr: bool) -> Console:
    """Colours and the terminal's width on a terminal; elsewhere plain text that is not cut at 80 columns."""
    from rich.console import Console

    class _Console(Console):
        def on_broken_pipe(self) -> None:
            """Leaves it to :func:`guarded`: whoever reads has seen enough, which is no failure."""
            raise

    stream = sys.stderr if stderr else sys.stdout
    return _Console(stderr=stderr, width=None if stream.isatty() else _PLAIN_WIDTH, highlight=False)


def say(text: str = "") -> None:
    """A line of result."""
    _console(False).print(text, soft_wrap=True)


def note(text: str) -> None:
    """A line that is no result: progress, warnings."""
    with contextlib.suppress(OSError):
        _console(True).print(text, soft_wrap=True)


def note_json(value: Mapping[str, Any]) -> None:
    """An error as one line of JSON on standard error."""
    with contextlib.suppress(OSError):
        sys.stderr.write(json.dumps(value) + "\n")
        sys.stderr.flush()


def print_json(value: Any) -> None:
    """Prints one JSON document on standard output; what is not a number there (nothing was measured) is ``null``."""
    sys.stdout.write(json.dumps(_jsonable(value), indent=2, allow_nan=False) + "\n")


def _jsonable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _jsonable(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(inner) for inner in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)


def print_table(
    headers: Sequence[str], rows: Iterable[Sequence[object]], title: str = "", dim: Collection[int] = ()
) -> None:
    """A table; numbers to the right. The rows with the numbers ``dim`` are muted."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    rows = [list(row) for row in rows]
    table = Table(
        title=escape(title) or None, title_justify="left", header_style="bold", box=SIMPLE_HEAD, pad_edge=False
    )
    for i, header in enumerate(headers):
        numeric = bool(rows) and all(isinstance(row[i], (int, float)) or row[i] in ("", None) for row in rows)
        table.add_column(escape(header), justify="right" if numeric else "left", overflow="fold")
    for i, row in enumerate(rows):
        table.add_row(*(escape(cell(value)) for value in row), style="dim" if i in dim else None)
    _console(False).print(table)


def print_quantities(row: Mapping[str, Any], skip: Sequence[str] = ()) -> None:
    """The columns of a result, one a line. A latency of a saturated network grows with the run: it is left out."""
    saturated = row["status"] == "saturated"
    shown = {name: math.nan if saturated and is_latency(name) else value for name, value in row.items()}
    print_table(("quantity", "value"), [(k, v) for k, v in shown.items() if v is not None and k not in skip])
    if saturated:
        note("[yellow]note[/]: the network is saturated: latencies grow with the length of the run, so none is shown")


def print_result(result: Result, skip: Sequence[str] = ()) -> None:
    """The columns of a result, one a line, and what has to be said of them."""
    print_quantities(result.row, skip)
    if result.precision_note:
        note(f"[yellow]note[/]: {result.precision_note}")


def cell(value: object) -> str:
    """A value as people read it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if not math.isfinite(value):
            return "-" if math.isnan(value) else str(value)
        return f"{value:,.0f}" if value == int(value) and abs(value) < 1e15 else f"{value:,.4g}"
    return str(value)


def guarded(command: Callable[P, R]) -> Callable[P, R]:
    """Turns the errors of a command into a message and an exit code."""

    @functools.wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        as_json = bool(kwargs.get("as_json"))
        interrupt.loaded()
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning  # type: ignore[assignment]
                done = command(*args, **kwargs)
                sys.stdout.flush()
                return done
        except FlitworkError as error:
            raise typer.Exit(explain(error, as_json)) from None
        except KeyboardInterrupt:
            interrupt.over()
            note("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            no_more_output()
            raise typer.Exit(OK) from None
        except (OSError, MemoryError, RuntimeError) as error:
            raise typer.Exit(explain(about(error), as_json)) from None

    return wrapper


def about(error: Exception) -> FlitworkError:
    """What went wrong with a file, with standard output, memory or threads, as an error of ours.

    Raises a ``RuntimeError`` that is none of these again.
    """
    if no_thread(error):
        limits = "ulimit -v (memory) or ulimit -u (processes and threads)"
        return SimulationError(
            f"the limits of this process allow no further thread or process: raise {limits}, or ask for less"
        )
    if isinstance(error, MemoryError):
        return SimulationError("there is not enough memory: close other programs, or ask for less")
    if isinstance(error, RecursionError):
        return ConfigError("input", "nested too deeply", "fewer tables or lists within each other")
    if isinstance(error, RuntimeError):
        raise error
    if isinstance(error, OSError) and error.filename is not None:
        file = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else str(error.filename)
        if error.errno in NO_ROOM:
            return StorageError(f"{file}: cannot be stored ({error.strerror}): free space, {AGAIN}")
        return ConfigError("file", file, f"a file that can be used ({error.strerror or error})", "choose another")
    return unwritable(error)


def no_thread(error: Exception) -> bool:
    """Whether the system has refused a thread or a process.

    A stream that would block raises the same class, but it says how much it has written.
    """
    if isinstance(error, BlockingIOError):
        return error.filename is None and not hasattr(error, "characters_written")
    return isinstance(error, RuntimeError) and str(error) == _NO_THREAD


def unwritable(error: Exception) -> StorageError:
    """The error for a standard output that cannot be written to."""
    no_more_output()
    error = getattr(error, "strerror", None) or error
    return StorageError(f"standard output: cannot be written ({error}): free space, or print elsewhere")


def standard_streams() -> None:
    """Makes sure that there are standard streams, which a shell can close, and that any text can be written to them."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # Otherwise the next file that is opened would be taken for standard output, or for messages.
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # Names of files need be no text, and the encoding need not have all signs.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def no_more_output(stream: TextIO | None = None) -> None:
    """From now on nothing is written to ``stream`` (standard output), what is still to be written neither."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def end_of_messages() -> None:
    """Writes the messages that are left. Where they cannot be written they are lost, and the exit code stays."""
    try:
        sys.stderr.flush()
    except OSError:
        no_more_output(sys.stderr)


def escape(text: str) -> str:
    """The text as rich shows it as it is: rich is loaded when something is shown."""
    from rich.markup import escape

    return escape(text)


def explain(error: FlitworkError, as_json: bool) -> int:
    """Says what went wrong; the exit code for it."""
    if as_json:
        fields = {key: getattr(error, key) for key in ("path", "value", "expected", "hint") if hasattr(error, key)}
        note_json({"error": type(error).__name__, "message": str(error), **fields})
    elif isinstance(error, ConfigError):
        note(f"[bold red]error[/]: [bold]{escape(error.path)}[/] = {escape(_shortened(error.value))}")
        note(f"  expected {escape(error.expected)}")
        if error.hint:
            note(f"  [cyan]hint[/]: {escape(error.hint)}")
    else:
        note(f"[bold red]error[/]: {escape(str(error))}")
    usage = isinstance(error, (ConfigError, MissingExtension, ResultFileError))
    return USAGE if usage else CLAIM_FAILED if isinstance(error, ScheduleError) else SIMULATION_FAILED


def _shortened(text: str) -> str:
    """A long value without its middle: some say at their end in which file and line they stand."""
    if len(text) <= _LONGEST_VALUE:
        return text
    half = _LONGEST_VALUE // 2
    return f"{text[:half]} ... {text[-half:]} ({len(text):,} characters)"


def _show_warning(message: Warning | str, *_: Any) -> None:
    note(f"[yellow]warning[/]: {escape(str(message))}")
