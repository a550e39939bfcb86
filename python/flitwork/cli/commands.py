"""The commands by name, and where each is: a command is loaded when it is called or when help is asked for.

Packages beside flitwork add commands by entry points of the group ``flitwork.commands``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from flitwork.base.extensions import Group, MissingExtension, extensions, load_extension
from flitwork.cli.output import explain
from flitwork.cli.usage import Command

#: Module and function, or the application with commands of its own, in the order in which help shows them.
COMMANDS = {
    "run": "studies.run",
    "reproduce": "studies.reproduce",
    "report": "report.report",
    "claims": "report.claims",
    "simulate": "single_run.simulate",
    "plan": "single_run.plan",
    "bound": "single_run.bound",
    "check": "single_run.check",
    "pace": "pace.pace",
    "pick": "pick.pick",
    "synthesise": "synthesise.synthesise",
    "msccl": "msccl.msccl",
    "draw": "single_run.draw",
    "curve": "curve.curve",
    "burst": "burst.burst",
    "fit": "fit.fit",
    "predict": "predict.predict",
    "explain": "explain.explain_run",
    "view": "view.view_run",
    "booksim": "booksim.booksim",
    "example": "example.example",
    "list": "inspect.list_table",
    "schema": "inspect.schema",
    "show": "inspect.show",
}

_GROUP: Group = "flitwork.commands"


class _Loaded(MutableMapping[str, Any]):
    """The commands by name, each made when it is first asked for."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _made(name)
        return self._made[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        raise TypeError(f"{name}: commands are not taken away")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def _names(self) -> dict[str, Any]:
        return {**COMMANDS, **extensions(_GROUP), **self._made}


def _made(name: str) -> Any:
    """The command of this name; where libraries of an extra are missing, one that says so."""
    try:
        found = _loaded(name)
    except MissingExtension as missing:
        found = _unusable(name, missing)
    if not isinstance(found, typer.Typer):
        alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
        alone.command(name, cls=Command)(found)
        return typer.main.get_command(alone)
    group = typer.main.get_command(found)
    group.name = name
    return group


def _loaded(name: str) -> Any:
    """The function or the application of a command."""
    if name in COMMANDS:
        module, what = COMMANDS[name].split(".")
        return getattr(import_module(f"flitwork.cli.{module}"), what)
    if name in extensions(_GROUP):
        return load_extension(_GROUP, name)
    raise KeyError(name)


def _unusable(name: str, missing: MissingExtension) -> typer.Typer:
    """A command that takes anything and ends with the error."""
    anything = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
    app = typer.Typer(add_completion=False)

    @app.command(name, cls=Command, help=f"Not available: {missing}.", context_settings=anything)
    def command() -> None:
        raise typer.Exit(explain(missing, "--json" in sys.argv))

    return app


class Commands(TyperGroup):
    """The command that has all the others."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = _Loaded()

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands, without loading them."""
        return list(self.commands)
