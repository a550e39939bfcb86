"""Options of the network and of the workload, declared once for all commands that simulate.

A command that has them takes one argument for each of the two::

    @guarded
    @with_options
    def bound(what: WhatOrStudy, network: NetworkOptions, ...) -> None: ...

:func:`with_options` shows Typer the single options in its place, in the order of the fields.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from flitwork.base.errors import ConfigError
from flitwork.cli.network_file import network_file
from flitwork.cli.options import IsMesh, Load, MessageFlits, PacketFlits, Ports, Settings, Size, Sync, Topology, Wrap
from flitwork.cli.simulation import machine_parts, network_table, one_simulation
from flitwork.networks.network import Network
from flitwork.values.tables import Run
from flitwork.workloads.workload import Spec

R = TypeVar("R")


@dataclass(frozen=True)
class GridOptions:
    """Options of a grid, in commands that need one."""

    size: Size = None
    mesh: IsMesh = False
    wrap: Wrap = None

    @property
    def table(self) -> dict[str, Any]:
        """The table ``network.topology``."""
        return network_table(self.size, self.mesh, self.wrap)


@dataclass(frozen=True)
class TopologyOptions:
    """Options of the topology."""

    topology: Topology = None
    size: Size = None
    mesh: IsMesh = False
    wrap: Wrap = None

    @property
    def has_topology(self) -> bool:
        """Whether one of them says what the topology is."""
        return self.mesh or any(one is not None for one in (self.topology, self.size, self.wrap))

    @property
    def table(self) -> dict[str, Any]:
        """The table ``network.topology``; fields without an option come by ``--set``."""
        return network_table(self.size, self.mesh, self.wrap, self.topology)


@dataclass(frozen=True)
class MachineOptions(TopologyOptions):
    """Options of the network in commands whose ranks use one port, and ``--set`` for every other field."""

    settings: Settings = None


@dataclass(frozen=True)
class NetworkOptions(TopologyOptions):
    """Options of the network, and ``--set`` for every other field."""

    ports: Ports = None
    settings: Settings = None


@dataclass(frozen=True)
class WorkloadOptions:
    """Options of the workload."""

    sync: Sync = None
    message_flits: MessageFlits = None
    packet_flits: PacketFlits = None
    load: Load = None

    @property
    def workload_fields(self) -> dict[str, Any]:
        """The fields of the workload."""
        return {"offered_load" if name == "load" else name: value for name, value in asdict(self).items()}


def specification(what: str, network: NetworkOptions, more: tuple[str, ...] = (), **workload: Any) -> Spec:
    """The simulation that the options describe; ``more`` settings, and fields of the ``workload``."""
    return one_simulation(what, network.table, [*(network.settings or []), *more], network.ports, **workload)


def machine_of(
    file: Path | None, options: NetworkOptions, **sent: Any
) -> tuple[Network, dict[str, Any], Run | None, dict[str, Any]]:
    """Network, host, run and the fields of the workload, of a machine that a file or the options describe."""
    of_topology = {
        "--topology": options.topology,
        "--size": options.size,
        "--mesh": options.mesh or None,
        "--wrap": options.wrap,
    }
    beside = next((option for option, value in of_topology.items() if value is not None), None)
    if file is not None and not file.exists():
        expected = "a file that describes a network or a machine"
        raise ConfigError("NETWORK", file, expected, "check its name; an operation is named by --operation")
    if file is not None and beside:
        raise ConfigError(beside, of_topology[beside], f"no {beside} beside a file", f"{file} says the topology")
    table = None if file is not None else options.table
    found = None if file is None else network_file(file, "NETWORK")
    return machine_parts(table, found, options.settings, options.ports, **sent)


def bytes_of(text: str | None) -> int | str | None:
    """Bytes as a number, or as text with a unit."""
    return int(text) if text is not None and text.isdecimal() else text


def with_options(command: Callable[..., R]) -> Callable[..., R]:
    """The command with single options in place of each argument that is a group of them."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    shown: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            types = get_type_hints(groups[name], include_extras=True)
            shown += [
                inspect.Parameter(one.name, parameter.KEYWORD_ONLY, default=one.default, annotation=types[one.name])
                for one in fields(groups[name])
            ]
        else:
            shown.append(parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=hints[name]))

    @functools.wraps(command)
    def called(**options: Any) -> R:
        for name, kind in groups.items():
            options[name] = kind(**{one.name: options.pop(one.name) for one in fields(kind)})
        return command(**options)

    called.__annotations__ = {one.name: one.annotation for one in shown} | {"return": None}
    called.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    return called
