"""Options that several commands share."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from flitwork import _core
from flitwork.base.errors import ConfigError
from flitwork.values.flat import FLAT
from flitwork.values.schema import fields, is_open_loop, kinds, number_fields, schema


def _complete_what(incomplete: str) -> list[str]:
    return [name for name in workload_names() if name.startswith(incomplete)]


def _complete_pattern(incomplete: str) -> list[str]:
    return [row["name"] for row in components()["patterns"] if row["name"].startswith(incomplete)]


def _complete_set(incomplete: str) -> list[str]:
    names = sorted({**FLAT["network"], **FLAT["run"]})
    return [f"{name}=" for name in names if name.startswith(incomplete)]


What = Annotated[
    str,
    typer.Argument(
        metavar="WHAT",
        help="What is sent: an all-to-all algorithm, a traffic pattern (`flitwork list`), a trace or a collective.",
        autocompletion=_complete_what,
    ),
]
Machine = Annotated[
    Path | None,
    typer.Argument(
        metavar="[NETWORK.toml]",
        help="A file with a table `network`, and perhaps `host` and `run`; or the options of the network.",
        show_default=False,
    ),
]
Pattern = Annotated[
    str,
    typer.Argument(
        metavar="PATTERN",
        help="Where packets go: a traffic pattern (`flitwork list patterns`).",
        autocompletion=_complete_pattern,
    ),
]
WhatOrStudy = Annotated[
    str,
    typer.Argument(
        metavar="WHAT",
        help="A study file (.toml), or what is sent: an all-to-all algorithm, a traffic pattern or a trace.",
        autocompletion=_complete_what,
    ),
]
Topology = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Topology (`flitwork list topologies`); its fields by --set [default: a torus].",
    ),
]
Size = Annotated[
    str | None,
    typer.Option("--size", "-s", help="Routers along each dimension, for example 9x9 or 8x8x4 [default: 8x8]."),
]
IsMesh = Annotated[bool, typer.Option("--mesh", help="A mesh. Without this option: a torus.")]
Wrap = Annotated[
    str | None,
    typer.Option(
        metavar="DIMENSIONS",
        help="Dimensions that wrap, the others do not: x, xz or 0,2. Without this option: all (--mesh: none).",
    ),
]
Sync = Annotated[
    str | None,
    typer.Option(help="all-to-all: what a message waits for: `async` (default), `local` or `local_sliding`."),
]
MessageFlits = Annotated[int | None, typer.Option(help="all-to-all: length of each message, in flits [default: 100].")]
PacketFlits = Annotated[int | None, typer.Option(help="Length of a packet in flits (all-to-all: the longest).")]
Load = Annotated[float | None, typer.Option(help="Traffic pattern: offered load in flits/cycle/terminal.")]
Ports = Annotated[
    int | None,
    typer.Option(help="Ports of a network interface: messages that a terminal sends, and receives, at once."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Any other option of network, run or traffic, such as vcs=4 or file=matrix.npy; may be repeated.",
        autocompletion=_complete_set,
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Quick = Annotated[bool, typer.Option("--quick", help="The smaller version of the study.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Simulations at once [default: all cores].")]
Engine = Annotated[
    Literal["local", "dask"],
    typer.Option(help="Where simulations run: this machine, or the workers of a Dask scheduler."),
]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Dask scheduler (with --engine dask), such as tcp://host:8786."),
]


def components() -> dict[str, list[dict[str, Any]]]:
    """The tables of components, by name of the table."""
    tables: dict[str, list[dict[str, Any]]] = json.loads(_core.components())
    return tables


def workload_names() -> list[str]:
    """What can be sent: the algorithms, then the patterns, and a trace."""
    found = [row["name"] for kind in ("algorithms", "patterns") for row in components()[kind]]
    return [*found, *(name for name in sent_alone() if name not in found)]


def sent_alone() -> list[str]:
    """Workloads that are named themselves: no pattern and no algorithm says where their packets go."""
    found = kinds(schema()["properties"]["workload"])
    chosen = {"pattern", "algorithm"}
    alone = [kind for kind, one in found.items() if not chosen & {*fields(one)}]
    # Ranks that ask what to do have nobody here who answers.
    alone = [kind for kind in alone if is_open_loop(kind) or kind in number_fields()]
    # An algorithm does not say which operation.
    return [*alone, *(kind for kind, one in found.items() if "operation" in fields(one) and kind not in alone)]


def is_study(what: str) -> bool:
    """Whether an argument names a study file and not what is sent."""
    return what.endswith(".toml") or os.sep in what or (what not in workload_names() and Path(what).exists())


def given_options(context: typer.Context) -> dict[str, str]:
    """The options that stand on the command line, by parameter, as they are written."""
    found = {}
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name) if parameter.name else None
        if parameter.name and source is not None and source.name == "COMMANDLINE":
            found[parameter.name] = parameter.opts[0]
    return found


def check_beside(context: typer.Context, study: bool) -> None:
    """Refuses options that would be ignored: those of one simulation beside a study, ``--quick`` without one."""
    for name, option in given_options(context).items():
        if study and name not in ("what", "quick", "as_json"):
            hint = "a study says itself what is simulated: change the file"
            raise ConfigError(option, "given beside a study file", "only --quick and --json there", hint)
        if name == "quick" and not study:
            raise ConfigError(option, "given", "a study file to go with it", "only a study has a smaller version")
