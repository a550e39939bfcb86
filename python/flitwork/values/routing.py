"""The kinds of ``network.routing``, each a value: Which route packets take.

Written by tools/python_values.py from the schema of the simulator. Do not edit: change the comments of the fields in
crates/flitwork/src and run the tool again.
"""

# fmt: off
# ruff: noqa: B008, E501, F401, RUF100
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from flitwork.values.value import Value, default, value

__all__ = [
    "AdaptiveUp",
    "CrossLine",
    "DModK",
    "DimensionOrder",
    "DragonflyMinimal",
    "DragonflyUgal",
    "DragonflyValiant",
    "Duato",
    "DuatoMisrouting",
    "Ecmp",
    "GraphUgal",
    "GraphValiant",
    "HopClasses",
    "Lash",
    "MinAdapt",
    "O1Turn",
    "RandomUp",
    "Relation",
    "Romm",
    "Routing",
    "SModK",
    "ShortestPath",
    "Spray",
    "StructuredPool",
    "Table",
    "UpDown",
    "Valiant",
]


class Routing(Value):
    """Which route packets take. Each kind is a class of this module."""

    TABLES = ("network.routing",)


@value
class DimensionOrder(Routing):
    """Finish one dimension before the next, always along a shortest route.

    * ``classes``: How virtual channels are divided where a dimension wraps. Default: entered.
    * ``order``: Dimensions in the order in which they are walked. Default (empty): 0, 1, 2, ...
    * ``tie``: What to do at half a ring of even length. Default: parity.
    """

    KIND = "dimension_order"
    classes: Literal["entered", "crossed", "at_dateline"] = default("entered")
    order: Sequence[int] = default(())
    tie: Literal["plus", "parity", "random", "split", "by_message"] = default("parity")


@value
class Duato(Routing):
    """Duato's protocol, minimal: adaptive virtual channels, and an escape network of dimension order.

    * ``order``: Dimensions in the order in which the escape network walks them. Default (empty): 0, 1, 2, ...
    * ``selection``: Which of several ports a packet asks for. Default: most_credits.
    * ``tie``: What to do at half a ring of even length; not split or by_message. Default: parity.
    """

    KIND = "duato"
    order: Sequence[int] = default(())
    selection: Literal["most_credits", "random", "round_robin", "all"] = default("most_credits")
    tie: Literal["plus", "parity", "random", "split", "by_message"] = default("parity")


@value
class DuatoMisrouting(Routing):
    """Duato's protocol with detours: if no minimal and no escape channel can be had, an adaptive one away from the
    destination.

    * ``misroutes``: Hops away from its destination that a packet may make, 1 to 255. Default: 4.
    * ``order``: Dimensions in the order in which the escape network walks them. Default (empty): 0, 1, 2, ...
    * ``patience_cycles``: Cycles that a packet waits before it makes one [cycles]. Default: 1.
    * ``patience_ns``: ``patience_cycles`` in ns; or text with a unit.
    * ``selection``: Which of several ports a packet asks for; not all. Default: most_credits.
    * ``tie``: What to do at half a ring of even length; not split or by_message. Default: parity.
    """

    KIND = "duato_misrouting"
    misroutes: int = default(4)
    order: Sequence[int] = default(())
    patience_cycles: int = default(1)
    patience_ns: float | str | Sequence[float | str] = default(None)
    selection: Literal["most_credits", "random", "round_robin", "all"] = default("most_credits")
    tie: Literal["plus", "parity", "random", "split", "by_message"] = default("parity")


@value
class CrossLine(Routing):
    """Cross-Line: minimal adaptive, by the queues along the row and the column.

    * ``information``: What a router knows: cross, local, none. Default: cross.
    * ``news_delay_cycles``: Time that congestion information takes for each hop [cycles], 0 to 16. Default: 1.
    * ``news_delay_ns``: ``news_delay_cycles`` in ns; or text with a unit.
    * ``tie``: What to do at half a ring of even length; not split or by_message. Default: parity.
    """

    KIND = "cross_line"
    information: Literal["cross", "local", "none"] = default("cross")
    news_delay_cycles: int = default(1)
    news_delay_ns: float | str | Sequence[float | str] = default(None)
    tie: Literal["plus", "parity", "random", "split", "by_message"] = default("parity")


@value
class Valiant(Routing):
    """Valiant's routing: dimension order to a random router, and on from there.

    * ``order``: Dimensions in the order in which they are walked. Default (empty): 0, 1, 2, ...
    * ``tie``: What to do at half a ring of even length; not split or by_message. Default: parity.
    """

    KIND = "valiant"
    order: Sequence[int] = default(())
    tie: Literal["plus", "parity", "random", "split", "by_message"] = default("parity")


@value
class Romm(Routing):
    """ROMM: dimension order to a random router on a shortest route, and on from there.

    * ``order``: Dimensions in the order in which they are walked. Default (empty): 0, 1, 2, ...
    * ``tie``: What to do at half a ring of even length; not split or by_message. Default: parity.
    """

    KIND = "romm"
    order: Sequence[int] = default(())
    tie: Literal["plus", "parity", "random", "split", "by_message"] = default("parity")


@value
class MinAdapt(Routing):
    """Minimal adaptive, with an escape network of dimension order that is not left again.

    * ``order``: Dimensions in the order in which the escape network walks them. Default (empty): 0, 1, 2, ...
    * ``selection``: Which of several ports a packet asks for. Default: all.
    * ``tie``: What to do at half a ring of even length; not split or by_message. Default: parity.
    """

    KIND = "min_adapt"
    order: Sequence[int] = default(())
    selection: Literal["most_credits", "random", "round_robin", "all"] = default("all")
    tie: Literal["plus", "parity", "random", "split", "by_message"] = default("parity")


@value
class O1Turn(Routing):
    """O1TURN: dimension order, forwards or backwards, by a random bit for each packet.

    * ``order``: Dimensions in the order of the forward half. Default (empty): 0, 1, 2, ...
    * ``tie``: What to do at half a ring of even length; not split or by_message. Default: parity.
    """

    KIND = "o1turn"
    order: Sequence[int] = default(())
    tie: Literal["plus", "parity", "random", "split", "by_message"] = default("parity")


@value
class StructuredPool(Routing):
    """Dimension order with a structured buffer pool: a set of virtual channels for each channel walked; in both
    directions, or in one.

    * ``order``: Dimensions in the order in which they are walked. Default (empty): 0, 1, 2, ...
    * ``tie``: What to do at half a ring of even length; not split or by_message. Default: parity.
    * ``ways``: In which directions packets walk rings. Default: shortest.
    """

    KIND = "structured_pool"
    order: Sequence[int] = default(())
    tie: Literal["plus", "parity", "random", "split", "by_message"] = default("parity")
    ways: Literal["shortest", "plus"] = default("shortest")


@value
class ShortestPath(Routing):
    """On any network: the lowest port on a shortest path, from a table. The default where the network is neither a
    grid nor a tree."""

    KIND = "shortest_path"


@value
class Lash(Routing):
    """On any network: a shortest path, and the pairs of routers in layers of virtual channels that close no cycle,
    each with about the same load. The default where shortest_path can deadlock and hop_classes does not need fewer."""

    KIND = "lash"


@value
class UpDown(Routing):
    """On any network: up towards a root, then down, with one virtual channel.

    * ``root``: Number of the root router. Default: a router in the middle of a longest shortest path.
    """

    KIND = "up_down"
    root: int = default(None)


@value
class Table(Routing):
    """On any network: by a table of next routers.

    * ``file``: A file with the table: ``next`` as CSV or NumPy (.npy), a row for each router, or ``ports`` as the
      forwarding tables of the fabric that ``ibnetdiscover`` prints. It is read before a plan is made.
    * ``next``: The next router: a row for each router, in it a column for each destination router, each the number of
      a router next to that of the row. A router's own column is ignored. Of parallel cables destination d takes number
      d modulo their number, in the order of their ports.
    * ``ports``: The output port instead of the next router: a row for each router, in it a column for each destination
      terminal, each the number of a port of the router of that row. -1 where no packet for that terminal comes, and at
      its own router. Ports count from 0 in the order in which the cables of the router are listed.
    """

    KIND = "table"
    file: str = default(None)
    next: Sequence[Sequence[int]] = default(None)
    ports: Sequence[Sequence[int]] = default(None)


@value
class Relation(Routing):
    """On any network: by a list of the channels that packets may take in each place.

    * ``rows``: The channels that packets may take, a row each: router, the router that the packet came from, the set
      that it came in (both -1 from a terminal), its destination router, the next router, the set there.
    * ``selection``: Which of several channels with a virtual channel to give a packet asks for. Default: most_credits.
    * ``sets``: Sets into which the virtual channels of each port are divided, 1 to 255. Default: 1.
    """

    KIND = "relation"
    rows: Sequence[Sequence[int]] = default(())
    selection: Literal["most_credits", "random", "round_robin", "all"] = default("most_credits")
    sets: int = default(1)


@value
class HopClasses(Routing):
    """On any network: the lowest port on a shortest path, with a set of virtual channels for each channel walked."""

    KIND = "hop_classes"


@value
class GraphValiant(Routing):
    """On any network: a shortest path to a random router, and one on from there."""

    KIND = "graph_valiant"


@value
class GraphUgal(Routing):
    """On any network: by a shortest path, or by a random router where the queue is shorter there.

    * ``bias_bytes``: ``bias_flits`` in bytes; or text with a unit.
    * ``bias_flits``: Head start of the shortest path [flits]: a packet takes the other route only if the queue of the
      shortest path, times its channels, exceeds the queue of the other route, times its channels, by more. A larger
      bias keeps more packets on shortest paths. Default: 0.
    """

    KIND = "graph_ugal"
    bias_bytes: float | str | Sequence[float | str] = default(None)
    bias_flits: int = default(0)


@value
class Ecmp(Routing):
    """On any network: a shortest path for each pair of terminals, by a hash.

    * ``seed``: Seed of the hash. Another one spreads the pairs of terminals differently.
    """

    KIND = "ecmp"
    seed: int = default(0)


@value
class Spray(Routing):
    """On any network: a random shortest path for each packet."""

    KIND = "spray"


@value
class DragonflyMinimal(Routing):
    """On a dragonfly: by one global channel at most. The default of dragonflies."""

    KIND = "dragonfly_minimal"


@value
class DragonflyValiant(Routing):
    """On a dragonfly: minimally to a random other group, and minimally on from there."""

    KIND = "dragonfly_valiant"


@value
class DragonflyUgal(Routing):
    """On a dragonfly: minimally, or by a random other group where the queue is shorter there.

    * ``bias_bytes``: ``bias_flits`` in bytes; or text with a unit.
    * ``bias_flits``: Head start of the minimal route [flits]: a packet takes the other route only if the queue of the
      minimal route, times its channels, exceeds the queue of the other route, times its channels, by more. A larger
      bias keeps more packets on minimal routes. Default: 0.
    * ``global_queues``: UGAL-G: the queues that are compared are those of the global channels by which the routes
      leave the group of the source, also at other routers. No router knows these at once: a limit to compare with.
      Without it, the queues of the router's own ports (UGAL-L). Default: false.
    * ``progressive``: Progressive adaptive routing (PAR): a packet on its minimal route decides again at the second
      router of its group. Needs a fourth set of virtual channels. Default: false.
    """

    KIND = "dragonfly_ugal"
    bias_bytes: float | str | Sequence[float | str] = default(None)
    bias_flits: int = default(0)
    global_queues: bool = default(False)
    progressive: bool = default(False)


@value
class DModK(Routing):
    """On a fat tree: up by the destination's number, down on the one path that there is. The default of trees."""

    KIND = "d_mod_k"


@value
class SModK(Routing):
    """On a fat tree: up by the source's number, down on the one path that there is."""

    KIND = "s_mod_k"


@value
class RandomUp(Routing):
    """On a fat tree: up by random ports to a nearest common ancestor, then down."""

    KIND = "random_up"


@value
class AdaptiveUp(Routing):
    """On a fat tree: up by the least loaded ports to a nearest common ancestor, then down.

    * ``candidates``: Up ports that are compared, drawn at random for each packet and router, the same one perhaps
      twice: 1 to 64. Default (0): all of them.
    """

    KIND = "adaptive_up"
    candidates: int = default(0)
