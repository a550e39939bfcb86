"""Where routers, channels and terminals are drawn: as the simulator says, or as the channels suggest."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from flitwork import _core
from flitwork.base.libraries import np
from flitwork.networks.graph_places import graph_places, placed

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
Ints: TypeAlias = "NDArray[np.int64]"
#: Distance of the two directions of a cable from its middle, and the length of what is shown of a channel that is not
#: drawn from end to end; both as shares of the distance between neighbours.
_APART, _STUB = 0.09, 0.42
#: Height of a network that is no grid, as a share of its width.
_HEIGHT = 0.7
#: Directions of the dimensions of a grid on the page [degrees].
_ANGLES = (0, 90, 45, 135, 22, 112, 67, 157)
#: Space between planes of more than two dimensions [routers].
_GAP = 1.6


@dataclass(frozen=True)
class Place:
    """A network on a page, y upwards. Lengths are in units of the distance between neighbours.

    ``segments`` (x, y from, x, y to) belong to the channels ``channel``; a channel has one or several. ``terminals``
    are at their routers where ``apart`` is false. ``network_ports`` of each router come before those of its terminals.
    """

    routers: Floats
    segments: Floats
    channel: Ints
    terminals: Floats
    router_of_terminal: Ints
    network_ports: Ints
    apart: bool
    axes: tuple[str, str]
    note: str


def place(topology: Mapping[str, Any]) -> Place:
    """The places of ``network.topology``."""
    text = json.dumps(placed(topology))
    channels = {name: column.astype(np.int64) for name, column in _core.channels(text).items()}
    at = {name: column.astype(np.int64) for name, column in _core.terminals(text).items()}
    # Of grids alone: planes side by side are drawn here.
    drawn, size = _core.drawing(text), at.pop("size").tolist()
    axes, terminals = ("", ""), np.empty((0, 2))
    if drawn is not None and len(size) < 3:
        found = drawn["routers"], drawn["segments"].reshape(-1, 4), drawn["channel"].astype(np.int64)
        axes, terminals = (str(drawn["axes"][0]), str(drawn["axes"][1])), drawn["terminals"]
        if not size:
            found, terminals = _stretched(found, terminals)
    elif size:
        found = _in_planes(planes(size), channels)
    else:
        found = _straight(graph_places(len(at["network_ports"]), channels), channels)
    routers, (segments, channel), note = found[0], *_with_stubs(found, channels)
    apart = len(terminals) > 0
    where = terminals if apart else routers[at["router"]]
    return Place(routers, segments, channel, where, at["router"], at["network_ports"], apart, axes, note)


def _stretched(found: tuple[Floats, Floats, Ints], terminals: Floats) -> tuple[tuple[Floats, Floats, Ints], Floats]:
    """The same, at least as high as a share of its width: so channels between levels of a wide tree can be told."""
    routers, segments, channel = found
    width, height = np.ptp(np.concatenate([routers, terminals]), axis=0)
    by = max(1.0, _HEIGHT * width / height) if height > 0 else 1.0
    return (routers * [1, by], segments * [1, by, 1, by], channel), terminals * [1, by]


def planes(size: list[int]) -> Floats:
    """The routers of a grid of three dimensions or more: planes of the first two.

    Planes of a third dimension lie in rows, from the lower left to the upper right, about as high as wide; with four
    dimensions the third goes to the right and the fourth upwards, and so on. Router numbers count the first dimension
    first.
    """
    number = np.arange(math.prod(size))
    shown, at = list(size), []
    for length in size:
        at.append(number % length)
        number //= length
    if len(size) == 3:
        columns = math.ceil(math.sqrt(size[2] * size[1] / size[0]))
        at[2:], shown[2:] = [at[2] % columns, at[2] // columns], [columns, math.ceil(size[2] / columns)]
    found, extent = np.zeros((len(number), 2)), [1.0, 1.0]
    for d, length in enumerate(shown):
        found[:, d % 2] += at[d] * extent[d % 2]
        extent[d % 2] = (length - 1) * extent[d % 2] + (_GAP if d < 2 else 2 * _GAP)
    return found


def _in_planes(routers: Floats, channels: dict[str, Ints]) -> tuple[Floats, Floats, Ints]:
    """A line for each channel of a grid to the next router in the same plane."""
    way = _directions(channels["class"])
    along = routers[channels["to_router"]] - routers[channels["router"]]
    return _lines(routers, channels, (channels["class"] < 4) & (np.abs(along - way).max(axis=1) < 1e-6))


def _straight(routers: Floats, channels: dict[str, Ints]) -> tuple[Floats, Floats, Ints]:
    """A line for each channel."""
    return _lines(routers, channels, channels["router"] != channels["to_router"])


def _lines(routers: Floats, channels: dict[str, Ints], which: NDArray[np.bool_]) -> tuple[Floats, Floats, Ints]:
    """Lines between routers; traffic keeps right."""
    drawn = np.flatnonzero(which)
    start, end = routers[channels["router"][drawn]], routers[channels["to_router"][drawn]]
    along = end - start
    side = _to_the_right(along / np.maximum(np.linalg.norm(along, axis=1), 1e-9)[:, None])
    return routers, np.concatenate([start + side, end + side], axis=1), drawn


def _to_the_right(unit: Floats) -> Floats:
    return _APART * np.stack([unit[:, 1], -unit[:, 0]], axis=1)


def _directions(classes: Ints) -> Floats:
    """Where channels of a class go to on the page, as vectors of length 1: two classes a dimension, up and down."""
    angle = math.pi * (classes % 2) + np.radians(_ANGLES)[classes // 2 % len(_ANGLES)]
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _with_stubs(found: tuple[Floats, Floats, Ints], channels: dict[str, Ints]) -> tuple[tuple[Floats, Ints], str]:
    """The segments with a stub for each channel that has none, where it leaves its router; what a reader must know."""
    routers, segments, channel = found
    lacking = np.setdiff1d(np.arange(len(channels["router"])), channel)
    if not len(lacking):
        return (segments, channel), ""
    way = _directions(channels["class"][lacking])
    start = routers[channels["router"][lacking]] + _to_the_right(way)
    stubs = np.concatenate([start + 0.1 * way, start + _STUB * way], axis=1)
    note = "a short line at a router is a channel to a router elsewhere"
    return (np.concatenate([segments, stubs]), np.concatenate([channel, lacking])), note
