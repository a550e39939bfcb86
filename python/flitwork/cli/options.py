"""Options that several commands share, and how a network and a workload are read from them."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from flitwork import _core
from flitwork.errors import ConfigError
from flitwork.schema import flat_keywords
from flitwork.spec import Network, Spec, Workload, make_network, make_workload, nest, patterns, simulation
from flitwork.strict import tomllib


def _complete_what(incomplete: str) -> list[str]:
    names = [row["name"] for kind in ("algorithms", "patterns") for row in components()[kind]]
    return [name for name in names if name.startswith(incomplete)]


def _complete_set(incomplete: str) -> list[str]:
    names = sorted({**flat_keywords("network"), **flat_keywords("run")})
    return [f"{name}=" for name in names if name.startswith(incomplete)]


What = Annotated[
    str,
    typer.Argument(
        metavar="WHAT",
        help="What is sent: an all-to-all algorithm or a traffic pattern (`flitwork list`).",
        autocompletion=_complete_what,
    ),
]
WhatOrStudy = Annotated[
    str,
    typer.Argument(
        metavar="WHAT",
        help="A study file (.toml), or what is sent: an all-to-all algorithm or a traffic pattern.",
        autocompletion=_complete_what,
    ),
]
Size = Annotated[str, typer.Option("--size", "-s", help="Routers along each dimension, for example 9x9 or 8x8x4.")]
IsMesh = Annotated[bool, typer.Option("--mesh", help="A mesh. Without this option: a torus.")]
Sync = Annotated[str | None, typer.Option(help="all-to-all: `async` or `local` synchronisation.")]
MessageFlits = Annotated[int | None, typer.Option(help="all-to-all: length of each message, in flits [default: 100].")]
PacketFlits = Annotated[int | None, typer.Option(help="Length of a packet in flits (all-to-all: the longest).")]
Load = Annotated[float | None, typer.Option(help="Traffic pattern: offered load in flits/cycle/terminal.")]
Controllers = Annotated[int | None, typer.Option(help="Messages that a terminal sends, and receives, at once.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Any other option of network or run, such as vcs=4 or sw_allocator=wavefront; may be repeated.",
        autocompletion=_complete_set,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Quick = Annotated[bool, typer.Option("--quick", help="The smaller version of the study.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Simulations at once [default: all cores].")]


def components() -> dict[str, list[dict[str, Any]]]:
    """The tables of components, by name of the table."""
    tables: dict[str, list[dict[str, Any]]] = json.loads(_core.components())
    return tables


def parse_size(text: str) -> list[int]:
    """``9x9`` as ``[9, 9]``."""
    try:
        return [int(part) for part in text.lower().replace("×", "x").replace(",", "x").split("x")]
    except ValueError:
        raise ConfigError("--size", f'"{text}"', "whole numbers joined by x", "for example 9x9 or 8x8x4") from None


def one_simulation(
    what: str,
    size: str,
    mesh: bool,
    settings: list[str] | None = None,
    controllers: int | None = None,
    **workload: object,
) -> Spec:
    """The specification that the options of a command describe."""
    given: dict[str, Any] = dict(_setting(text) for text in settings or [])
    run = {key: given.pop(key) for key in list(given) if key in flat_keywords("run")}
    if controllers is not None:
        given["controllers"] = controllers
    network: Network = make_network({"kind": "mesh" if mesh else "torus", "size": parse_size(size)}, given)
    return simulation(network, _work(what, {k: v for k, v in workload.items() if v is not None}), nest("run", run))


def _work(what: str, given: dict[str, object]) -> Workload:
    if what == "uniform":
        return make_workload("uniform", given)
    if what in patterns():
        return make_workload("traffic", {"pattern": {"kind": what}, **given})
    return make_workload("all_to_all", {"algorithm": what, **given})


def _setting(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise ConfigError("--set", f'"{text}"', "KEY=VALUE", "for example --set vcs=4")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value


def is_study(what: str) -> bool:
    """Whether an argument names a study file."""
    return what.endswith(".toml")
