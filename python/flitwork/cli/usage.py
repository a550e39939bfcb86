"""Usage errors: what is wrong with a command line as it is written, in the words and the form of all other errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperCommand

from flitwork.base.errors import did_you_mean
from flitwork.cli.output import USAGE, note, note_json
from flitwork.values.flat import FLAT

#: What the library behind the command line raises where a command cannot be understood.
UsageFault: type[Exception] = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")
_Misused: type[Any] = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "UsageError")


class Command(TyperCommand):
    """A command that takes each option once, except those that may be repeated: typer would take the last of them.

    Square brackets in its help are text, such as units: typer would take them for markup and leave them out.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.help = _plain(self.help or "")
        for parameter in self.params:
            about = getattr(parameter, "help", None)
            if about:
                parameter.help = _plain(about)  # type: ignore[attr-defined]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuses an option that stands twice, then reads the arguments as ever."""
        if not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            given = [one for one in order if not (getattr(one, "multiple", False) or getattr(one, "is_flag", False))]
            twice = next((one for i, one in enumerate(given) if one in given[:i] and one.nargs == 1), None)
            if twice:
                message = f"{twice.opts[0]} is given twice: which of the two?"
                raise _Misused(message, ctx=ctx)
        return super().parse_args(ctx, args)


def _plain(text: str) -> str:
    """The text as rich shows it as it is."""
    if "[" not in text:
        return text
    from rich.markup import escape

    return escape(text)


_STUDY_COMMANDS = ("run", "reproduce")


def explain(fault: Any, arguments: Sequence[str]) -> int:
    """Says what is wrong with the command line ``arguments``, as JSON where they ask for it; the exit code."""
    context = getattr(fault, "ctx", None)
    message = str(fault.format_message()).replace("Value error, ", "").replace("Input should be a valid", "expected a")
    if type(fault).__name__ == "NoArgsIsHelpError":
        typer.echo(message, err=True)
        return USAGE
    command = context.command_path if context else "flitwork"
    hint = _hint(fault, command) or f"{command} --help says what there is"
    if "--json" in arguments:
        note_json({"error": "UsageError", "command": command, "message": message, "hint": hint})
    else:
        note(f"[bold red]error[/]: [bold]{_plain(command)}[/]: {_plain(message)}")
        note(f"  [cyan]hint[/]: {_plain(hint)}")
    return USAGE


def _hint(fault: Any, command: str) -> str:
    """Where an unknown option means an option of the network or the run: how it is written."""
    option = getattr(fault, "option_name", None)
    if type(fault).__name__ != "NoSuchOption" or not option:
        return ""
    key = str(option).lstrip("-").replace("-", "_")
    known = {**FLAT["network"], **FLAT["run"]}
    if command.split()[-1] in _STUDY_COMMANDS:
        return "what is simulated stands in the study file: change it there" if key in {*known, "set", "size"} else ""
    has = getattr(getattr(getattr(fault, "ctx", None), "command", None), "params", ())
    if not any(parameter.name == "settings" for parameter in has):
        return ""
    if key in known:
        return f"write --set {key}=VALUE"
    near = did_you_mean(key, known)
    return near and near.replace("`", "`--set ", 1).replace("`?", "=VALUE`?")
