"""Workloads: what is sent, plain values whose ``spec`` is the nested table ``workload`` (or ``background``)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal

from flitwork import _core
from flitwork.base.errors import ConfigError
from flitwork.base.table_file import short
from flitwork.values.plain import Spec as Spec
from flitwork.values.plain import checked
from flitwork.values.schema import fields, kinds, schema
from flitwork.workloads.arrays import field_of, table_of

#: A length in flits, or shares by length: ``{1: 0.8, 9: 0.2}``.
PacketFlits = int | Mapping[int, float] | Sequence[Mapping[str, float]]
#: A quantity: a number in the unit of its name, text with a unit, or parts that are added up.
Quantity = float | str | Sequence[float | str]
#: ``"bernoulli"``, or what :func:`on_off` makes.
Process = str | Mapping[str, Any]


@dataclass(frozen=True)
class Workload:
    """What is sent.

    Made by :func:`all_to_all`, :func:`collective`, :func:`uniform`, :func:`traffic`, :func:`burst_workload` or
    :func:`trace`.
    """

    spec: Spec

    #: Fields of the table ``host`` that it needs unless the host says otherwise.
    host_defaults: ClassVar[Mapping[str, Any]] = {}

    def __repr__(self) -> str:
        rest = ", ".join(f"{k}={v!r}" for k, v in self.spec.items() if k != "kind")
        return f"{self.spec['kind']}({rest})"


def make_workload(kind: str, given: Mapping[str, Any]) -> Workload:
    """A workload of ``kind``; a misspelt field or a wrong type is an error here, what does not fit a network later."""
    spec = {"kind": kind, **given}
    checked("workload", spec)
    return Workload(spec)


def _check_name(field: str, value: object, example: str) -> None:
    """Refuses what is no name where a component is named."""
    if not isinstance(value, str):
        raise ConfigError(
            f"workload.{field}", short(value), f"the name of an {field}, as text", f"for example {example}"
        )


def said(default: Any, **field: Any) -> Spec:
    """A field, or its default where neither it nor its physical name has a value."""
    (name, value), *physical = field.items()
    written = {key: one for key, one in physical if one is not None}
    return {**({} if written and value is None else {name: default if value is None else value}), **written}


@cache
def _collectives_alone() -> frozenset[str]:
    """All-to-alls that are schedules of a collective alone."""
    tables = json.loads(_core.components())
    found = {row["name"] for row in tables["collectives"] if row["operation"] == "all_to_all"}
    return frozenset(found - {row["name"] for row in tables["algorithms"]})


def all_to_all(
    algorithm: str = "a2at",
    *,
    message_flits: int | None = None,
    message_bytes: int | str | None = None,
    packet_flits: int | None = None,
    packet_bytes: Quantity | None = None,
    sync: Literal["async", "local", "local_sliding"] = "async",
    **more: Any,
) -> Workload:
    """Closed loop: every rank sends one message of ``message_flits`` flits (100 if not said) to every other.

    Or of ``message_bytes``: as many flits as it takes, of which each carries ``flit_bytes`` of the network's ``units``.
    ``flitwork list algorithms`` names the algorithms. ``packet_flits``, or ``packet_bytes``, cuts messages into packets
    (0 if not said: one packet a message). With ``sync="local"`` a message waits for what its rank should have received
    before the last common start of its NIC's ports; with ``"local_sliding"`` message ``m`` waits for those of index
    ``m - ports`` and below.
    """
    _check_name("algorithm", algorithm, 'fw.all_to_all("a2at"), `flitwork list algorithms` lists them')
    if algorithm in _collectives_alone():
        expected = "an algorithm of `flitwork list algorithms`"
        raise ConfigError("algorithm", repr(algorithm), expected, f'fw.collective("all_to_all", "{algorithm}")')
    sizes = {"message_flits": message_flits, "message_bytes": message_bytes}
    if message_flits is None and message_bytes is None:
        sizes["message_flits"] = 100
    given = {"algorithm": algorithm, **{name: size for name, size in sizes.items() if size is not None}}
    length = said(0, packet_flits=packet_flits, packet_bytes=packet_bytes)
    return make_workload("all_to_all", {**given, **length, "sync": sync, **more})


def collective(
    operation: str,
    algorithm: str,
    *,
    message_flits: int | None = None,
    message_bytes: int | str | None = None,
    packet_flits: int | None = None,
    packet_bytes: Quantity | None = None,
    root: int | None = None,
    radix: int | None = None,
    blocks: Literal["a2a", "doubling"] | None = None,
    order: Literal["ascending", "descending"] | None = None,
    leaders: int | None = None,
    step_barriers: bool | None = None,
    repeats: int | None = None,
    compute_cycles: int | None = None,
    sizes: Any = None,
    **more: Any,
) -> Workload:
    """A collective operation by a named algorithm: ``fw.collective("allreduce", "ring")``.

    ``flitwork list collectives`` names the algorithms of each operation. ``message_flits`` (100 if not said) or
    ``message_bytes`` is the length of a block (all_to_all, scatter, gather, allgather, reduce_scatter) or of the whole
    vector (broadcast, reduce, allreduce); a barrier has none. The blocks of a message are added up in bytes, then cut
    into flits of the network's ``units``. ``packet_flits``, or ``packet_bytes``, is the longest packet (0 if not said:
    as long as a packet may be).

    ``root`` (0 if not said), ``radix`` (2), ``blocks`` ("a2a"), ``order`` ("ascending") and ``leaders`` on each server
    (2 where every server has an even number of ranks, else 1) are for algorithms that have them. ``sizes`` is for
    all-to-alls, in the place of a length: the bytes of the block of each pair of ranks, a row for each sender; a list
    of rows, an array, or the name of a file (.csv or .npy). With ``step_barriers`` all ranks meet in a barrier behind
    each step. ``repeats`` (1) says how often it is done, ``compute_cycles`` (0) what each rank computes before each
    time: the skeleton of a program.
    """
    for field, name in (("operation", operation), ("algorithm", algorithm)):
        _check_name(field, name, 'fw.collective("allreduce", "ring"), `flitwork list collectives` lists them')
    given = {
        "message_flits": message_flits, "message_bytes": message_bytes,
        "root": root, "radix": radix, "blocks": blocks, "order": order, "leaders": leaders,
        "step_barriers": step_barriers, "repeats": repeats, "compute_cycles": compute_cycles,
    }  # fmt: skip
    written: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if isinstance(sizes, (str, os.PathLike)):
        written["file"] = str(sizes)
    elif sizes is not None:
        written["sizes"] = table_of("collective", sizes, "workload.sizes")
    length = said(0, packet_flits=packet_flits, packet_bytes=packet_bytes)
    named = {"operation": operation, "algorithm": algorithm, **length}
    return make_workload("collective", {**named, **written, **more})


def programs(
    *, packet_flits: int | None = None, packet_bytes: Quantity | None = None, software_times: bool = False
) -> Workload:
    """Rank programs: whoever drives :class:`flitwork.Simulation` tells each rank what to do next when it asks.

    ``packet_flits`` (100 if not said), or ``packet_bytes``: the longest packet; a longer message is sent as several.
    ``software_times``: whether the driver adds those of ``host`` (:attr:`flitwork.Simulation.software`); without it
    a host that has some is refused.
    """
    length = said(100, packet_flits=packet_flits, packet_bytes=packet_bytes)
    return make_workload("programs", {**length, **({"software_times": True} if software_times else {})})


def late_starts(latest_cycles: int) -> Spec:
    """The table ``host.start`` of ranks that start at times drawn alike from 0 to ``latest_cycles``, in any order."""
    return {"kind": "uniform", "latest_cycles": latest_cycles, "order": "drawn"}


def uniform(
    *,
    offered_load: float | None = None,
    offered_bytes_per_s: Quantity | None = None,
    packet_flits: PacketFlits | None = None,
    packet_bytes: Quantity | None = None,
    include_self: bool = True,
    process: Process = "bernoulli",
    **more: Any,
) -> Workload:
    """Open loop: every terminal sends to terminals drawn at random; ``offered_load`` in flits/cycle/terminal.

    Or ``offered_bytes_per_s`` for each terminal. ``packet_flits`` and ``process`` as in :func:`traffic`.
    """
    length = said(1, packet_flits=_lengths(packet_flits), packet_bytes=packet_bytes)
    load = _load(offered_load, offered_bytes_per_s)
    given = {**length, **load, "include_self": include_self}
    return make_workload("uniform", {**given, "process": _process(process), **more})


def traffic(
    pattern: str,
    *,
    offered_load: float | None = None,
    offered_bytes_per_s: Quantity | None = None,
    packet_flits: PacketFlits | None = None,
    packet_bytes: Quantity | None = None,
    process: Process = "bernoulli",
    **parameters: Any,
) -> Workload:
    """Open loop: every terminal sends by ``pattern``; ``offered_load`` in flits/cycle/terminal.

    Or ``offered_bytes_per_s`` for each terminal, and ``packet_bytes`` in the place of ``packet_flits`` (1 if not said).
    ``flitwork list patterns`` names the patterns and their parameters: ``fw.traffic("transpose", offered_load=0.1)``,
    ``fw.traffic("hotspot", offered_load=0.01, terminals=[0, 5], shares=[3, 1])``. ``destinations`` of a permutation and
    ``weights`` of a matrix are lists, arrays, or the name of a file (.csv or .npy). Packets are all of ``packet_flits``
    flits, or of lengths drawn by share: ``packet_flits={1: 0.8, 9: 0.2}``. ``process`` says when they are created:
    ``"bernoulli"``, or ``fw.on_off(...)``.
    """
    length = said(1, packet_flits=_lengths(packet_flits), packet_bytes=packet_bytes)
    given = {"pattern": _pattern(pattern, parameters), **length, **_load(offered_load, offered_bytes_per_s)}
    return make_workload("traffic", {**given, "process": _process(process)})


def burst_workload(
    pattern: str,
    *,
    packets: int,
    packet_flits: PacketFlits | None = None,
    packet_bytes: Quantity | None = None,
    rate: float | None = None,
    rate_bytes_per_s: Quantity | None = None,
    **parameters: Any,
) -> Workload:
    """A synchronised burst: at t = 0 every terminal starts to send ``packets`` packets by ``pattern``.

    It is complete when all have arrived. ``rate`` limits the creation of packets to that many flits/cycle/terminal on
    the average (Bernoulli); with 0 all are created at t = 0. A terminal that would send to itself alone sends nothing.
    ``pattern`` with its parameters and lengths as in :func:`traffic`; ``rate_bytes_per_s`` may stand for ``rate``.
    """
    length = said(1, packet_flits=_lengths(packet_flits), packet_bytes=packet_bytes)
    pace = said(0.0, rate=rate, rate_bytes_per_s=rate_bytes_per_s)
    return make_workload("burst", {"pattern": _pattern(pattern, parameters), "packets": packets, **length, **pace})


def trace(packets: Any) -> Workload:
    """Packets given one by one: complete when all have arrived. A packet's latency counts from its cycle of creation.

    ``packets`` has the columns ``cycle`` (from t = 0 on, in ascending order), ``source``, ``destination`` (terminals)
    and ``flits``: a data frame, a dictionary of columns, a structured array, rows of these four numbers, or the name of
    a file (.csv with a first line of names, .npy or .parquet). Other columns are ignored.
    """
    if isinstance(packets, (str, os.PathLike)):
        return make_workload("trace", {"file": str(packets)})
    return make_workload("trace", {"packets": table_of("trace", packets, "workload.packets")})


def on_off(*, mean_on_cycles: float | None = None, mean_off_cycles: float | None = None) -> Spec:
    """A process for :func:`traffic`: on and off periods of geometric length, with these means, both required [cycles].

    The rate in on periods is such that the long-run mean is the offered load. BookSim's ``burst_alpha`` is
    ``1 / mean_off_cycles``, its ``burst_beta`` is ``1 / mean_on_cycles``.
    """
    given = {"mean_on_cycles": mean_on_cycles, "mean_off_cycles": mean_off_cycles}
    given = {name: value for name, value in given.items() if value is not None}
    process = {"kind": "on_off", **given}
    checked("workload.process", process)
    return process


def is_silent(background: Mapping[str, Any]) -> bool:
    """Whether the table ``background`` has a load of exactly 0: it is none, and sweeps of the load may begin there."""
    load = background.get("offered_load")
    return isinstance(load, (int, float)) and not isinstance(load, bool) and load == 0


def patterns() -> dict[str, Spec]:
    """The traffic patterns by name, as the schema describes them."""
    return kinds(fields(kinds(schema()["properties"]["workload"])["traffic"])["pattern"])


def _pattern(name: str, parameters: Mapping[str, Any]) -> Spec:
    if not isinstance(name, str):
        hint = 'its parameters are keywords: fw.traffic("hotspot", terminals=[0, 5], offered_load=0.01)'
        raise ConfigError("workload.pattern", repr(name), "the name of a pattern", hint)
    pattern = {"kind": name, **parameters}
    field = field_of(name)
    if field and isinstance(pattern.get(field), (str, os.PathLike)):
        pattern["file"] = pattern.pop(field)
    elif field in pattern:
        pattern[field] = table_of(name, pattern[field], f"workload.pattern.{field}")
    return pattern


def _load(offered_load: float | None, offered_bytes_per_s: Quantity | None) -> Spec:
    written = {"offered_load": offered_load, "offered_bytes_per_s": offered_bytes_per_s}
    return {name: value for name, value in written.items() if value is not None}


def at_load(workload: Workload, load: float) -> Workload:
    """An open loop with another offered load [flits/cycle/terminal]."""
    spec = {name: value for name, value in workload.spec.items() if name != "offered_bytes_per_s"}
    return Workload({**spec, "offered_load": load})


def _lengths(packet_flits: PacketFlits | None) -> Any:
    if isinstance(packet_flits, Mapping):
        return [{"flits": flits, "share": share} for flits, share in packet_flits.items()]
    return packet_flits


def _process(process: Process) -> Any:
    return {"kind": process} if isinstance(process, str) else process
