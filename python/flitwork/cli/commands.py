"""The commands by name, what help says of each, and where each is: a command is loaded when it is called.

Help lists commands without loading them, from the tables here. Packages beside flitwork add commands by entry points of
the group ``flitwork.commands``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import nullcontext
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import typer
from typer.core import TyperGroup

from flitwork.base.extensions import Group, MissingExtension, extensions, load_extension, loading, needs
from flitwork.cli.output import explain
from flitwork.cli.usage import Command


class Listed(NamedTuple):
    """A command that is not loaded yet."""

    #: Module and name of the function or of the application with commands of its own.
    place: str
    #: The first paragraph of its help.
    about: str
    #: The extra of the distribution whose libraries it needs.
    extra: str = ""
    #: Settings of the library behind the command line, such as where options may stand.
    settings: Mapping[str, Any] = {}


#: By what one wants to do, in the order in which help shows them.
COMMANDS: dict[str, dict[str, Listed]] = {
    "Simulate": {
        "simulate": Listed("single_run.simulate", "Simulate one workload on one network and show what came out."),
        "curve": Listed(
            "curve.curve",
            "Sweep the offered load of a traffic pattern: latency and accepted load with confidence intervals,"
            " and a figure.",
        ),
        "burst": Listed(
            "burst.burst",
            "Run bursts that all terminals start at t = 0: how long until all packets have arrived, over many trials.",
        ),
        "booksim": Listed("booksim.booksim", "Run a configuration file of BookSim 2 and print what BookSim prints."),
        "plan": Listed(
            "single_run.plan",
            "Show what would run: every default filled in, memory, the hash that names the result. Nothing is"
            " simulated.",
        ),
    },
    "Find out why": {
        "explain": Listed(
            "explain.explain_run",
            "Say why a run took as long as it did: causes in words, the critical path, pictures of ranks and of"
            " channels.",
        ),
        "view": Listed(
            "view.view_run",
            "Write a run as one HTML page: the network over time, queues, why packets wait, what ranks do.",
            extra="report",
        ),
        "draw": Listed(
            "single_run.draw",
            "Draw one simulation: phases on the network, channels over time (still and animation), time-line of"
            " terminals.",
        ),
        "show": Listed("inspect.show", "Show what lies in a stored result."),
    },
    "Find a better schedule": {
        "bound": Listed(
            "single_run.bound",
            "Show what no run can beat: bisection, channel loads under the routing, injection and ejection.",
        ),
        "pick": Listed(
            "pick.pick",
            "Simulate the algorithms of a collective on a machine: the fastest, its time, the bound, and why it wins.",
        ),
        "synthesise": Listed(
            "synthesise.synthesise",
            "Search for an all-to-all in which no flit waits: how near it is to the bound, and what keeps it from it.",
        ),
        "pace": Listed(
            "pace.pace",
            "Show how the messages of each step overlap on channels, and the pauses that pacing makes of it.",
        ),
        "check": Listed(
            "single_run.check",
            "Prove that an algorithm brings all data to where it belongs, and print the load of every channel"
            " class by phase.",
        ),
        "msccl": Listed(
            "msccl.msccl",
            "Check an MSCCL program: whether every chunk ends where it belongs. Or write a collective as one.",
        ),
    },
    "Measure and predict": {
        "fit": Listed(
            "fit.fit",
            "Fit times with a formula in message size and ranks; say how well it fits, and where it does not.",
            extra="fit",
        ),
        "predict": Listed(
            "predict.predict",
            "Predict times of message sizes and numbers of ranks, or the number of ranks from which more do not pay.",
            extra="fit",
        ),
    },
    "Run studies": {
        "example": Listed(
            "example.example", "Write an example file, or list them: studies, Python scripts and mpi4py programs."
        ),
        "run": Listed(
            "studies.run",
            "Run every simulation of a study file, then write its tables and figures; or run a GOAL or MSCCL program.",
        ),
        "list": Listed(
            "inspect.list_table", "List what can be named in a study: topologies, routings, algorithms, ..."
        ),
        "schema": Listed(
            "inspect.schema",
            "Print the JSON Schema of a specification: every field with meaning, unit, default and range.",
        ),
        "report": Listed(
            "report.report",
            "Write a report: one HTML file with figures, the numbers in them, tables and how to make it all again.",
            extra="report",
        ),
        "claims": Listed(
            "report.claims", "Print the claims of published studies, with our values where results are stored."
        ),
        "reproduce": Listed(
            "studies.reproduce",
            "Run a published study again, judge the statements of its paper, and write a report.",
            extra="report",
        ),
    },
}

_GROUP: Group = "flitwork.commands"


class Commands(TyperGroup):
    """Commands that are loaded when they are called: one class for each such group."""

    #: Where the modules of :data:`listed` are.
    package: ClassVar[str]
    #: The commands by heading and name. Under the heading "" they have the usual one.
    listed: ClassVar[Mapping[str, Mapping[str, Listed]]]
    #: Commands of other packages: whether there are any, see the module.
    extensible: ClassVar[bool] = False

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = _Loaded(self._load, self._names)

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands, without loading them."""
        return list(self.commands)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Writes the help of the group. No command is loaded."""
        self._of_the_tables(lambda: super(Commands, self).format_help(ctx, formatter))

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """What a shell offers for the beginning of a word. No command is loaded."""
        return self._of_the_tables(lambda: super(Commands, self).shell_complete(ctx, incomplete))

    def _of_the_tables(self, use: Callable[[], Any]) -> Any:
        loaded, self.commands = self.commands, {name: self._shown(name) for name in self.commands}
        try:
            return use()
        finally:
            self.commands = loaded

    def _names(self) -> list[str]:
        mine = [name for commands in self.listed.values() for name in commands]
        return mine + [name for name in extensions(_GROUP) if self.extensible and name not in mine]

    def _find(self, name: str) -> tuple[str, Listed | None]:
        """The heading of a command and what is known of it, which is nothing of those of other packages."""
        return next(((heading, them[name]) for heading, them in self.listed.items() if name in them), ("", None))

    def _shown(self, name: str) -> Any:
        """A command as help lists it."""
        heading, listed = self._find(name)
        if listed is None:
            return self._load(name)
        about = listed.about
        try:
            if listed.extra:
                needs(listed.extra)
        except MissingExtension as missing:
            about = f"Not available: {missing}."
        return Command(name, help=about, rich_help_panel=heading or None)

    def _load(self, name: str) -> Any:
        """The command of this name; where libraries of an extra are missing, one that says so."""
        _, listed = self._find(name)
        if listed is None and not (self.extensible and name in extensions(_GROUP)):
            raise KeyError(name)
        try:
            found = self._imported(name, listed)
        except MissingExtension as missing:
            found = _unusable(name, missing)
        if not isinstance(found, typer.Typer):
            alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
            settings = dict(listed.settings) if listed else None
            alone.command(name, cls=Command, context_settings=settings)(found)
            return typer.main.get_command(alone)
        group = typer.main.get_command(found)
        group.name = name
        return group

    def _imported(self, name: str, listed: Listed | None) -> Any:
        """The function or the application of a command."""
        if listed is None:
            return load_extension(_GROUP, name)
        module, what = listed.place.split(".")
        with loading(f"{self.name} {name}") if listed.extra else nullcontext():
            return getattr(import_module(f"{self.package}.{module}"), what)


class AllCommands(Commands):
    """The commands of flitwork, and those of packages beside it."""

    package = "flitwork.cli"
    listed = COMMANDS
    extensible = True


class _Loaded(MutableMapping[str, Any]):
    """Commands by name, each made when it is first asked for."""

    def __init__(self, load: Callable[[str], Any], names: Callable[[], list[str]]) -> None:
        self._load, self._names = load, names
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = self._load(name)
        return self._made[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        raise TypeError(f"{name}: commands are not taken away")

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, Any]:
        return {**dict.fromkeys(self._names()), **self._made}


def _unusable(name: str, missing: MissingExtension) -> typer.Typer:
    """A command that takes anything and ends with the error."""
    anything = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
    app = typer.Typer(add_completion=False)

    @app.command(name, cls=Command, help=f"Not available: {missing}.", context_settings=anything)
    def command() -> None:
        raise typer.Exit(explain(missing, "--json" in sys.argv))

    return app
