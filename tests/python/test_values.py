"""Values: frozen tables of the specification, and networks made of them."""

from __future__ import annotations

import inspect
import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError
from typing import Any

import flitwork as fw
import pytest
from flitwork.planning.specification import plan_of, simulation
from flitwork.values import placement, routing
from flitwork.values import tables as value_classes
from flitwork.values.schema import kinds, tables
from flitwork.values.value import Value

WORK = fw.uniform(offered_load=0.1)


def classes() -> Iterator[type[Value]]:
    yield from (getattr(value_classes, name) for name in value_classes.__all__)
    yield from (getattr(routing, name) for name in routing.__all__ if name != "Routing")
    # Without the one that needs a field.
    yield from (getattr(placement, name) for name in ("Block", "RoundRobin"))


def plan_hash(network: fw.Network, **run: Any) -> str:
    return plan_of(simulation(network, WORK, run)).hash


def test_values_and_flat_names_make_the_same_plan() -> None:
    flat = fw.Torus(8, 8, vcs=8, ports=2, latency_cycles=3, routing="duato", tie="plus", wait_for_tail_credit=True)
    made = fw.Torus(
        8,
        8,
        router=fw.Router(vcs=8, wait_for_tail_credit=True),
        nic=fw.Nic(ports=2),
        channel=fw.Channel(latency_cycles=3),
        routing=fw.routing.Duato(tie="plus"),
    )
    assert made == flat and hash(made) == hash(flat) and made.spec == flat.spec
    assert plan_hash(made) == plan_hash(flat)
    assert plan_hash(fw.Torus(8, 8, router=fw.Router(vcs=8))) == plan_hash(fw.Torus(8, 8, vcs=8))
    mixed = fw.Torus(8, 8, vcs=8, router=fw.Router(wait_for_tail_credit=True), routing="duato", tie="plus")
    assert mixed.replace(ports=2, latency_cycles=3) == flat


@pytest.mark.parametrize("made", [*classes()], ids=lambda made: made.__name__)
def test_every_value_is_plain(made: type[Value]) -> None:
    one = made()
    assert one == made() and hash(one) == hash(made()) and repr(one) == f"{made.__name__}()"
    assert pickle.loads(pickle.dumps(one)) == one
    assert one.spec == ({"kind": made.KIND} if made.KIND else {})
    assert made.__doc__ and inspect.getdoc(made)
    for name, parameter in inspect.signature(made).parameters.items():
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY and f"``{name}``: " in str(made.__doc__)
        # What a signature shows as the default is what the attribute has.
        assert repr(parameter.default) == repr(getattr(one, name))


def test_the_defaults_that_are_shown_are_those_of_the_simulator() -> None:
    plan = plan_of(simulation(fw.Torus(4, 4), WORK))
    resolved = json.loads(plan.json)["spec"]["network"]["router"]
    router = fw.Router()
    for name, one in resolved.items():
        shown = getattr(router, name)
        assert one == ({**one, **shown.spec} if isinstance(shown, Value) else shown), name


def test_a_value_is_frozen_and_can_be_changed_by_copy() -> None:
    router = fw.Router(vcs=4, sw_allocator=fw.Allocator(kind="wavefront"))
    assert router.vcs == 4 and router.buffer_flits == 16
    assert router.spec == {"vcs": 4, "sw_allocator": {"kind": "wavefront"}}
    assert router.replace(vcs=8).spec["vcs"] == 8 and router.vcs == 4
    assert repr(router) == "Router(sw_allocator=Allocator(kind='wavefront'), vcs=4)"
    assert fw.Router(vcs=4, sw_allocator="wavefront") == router
    assert fw.Router(sw_allocator={"kind": "wavefront"}, vcs=4) == router
    with pytest.raises(FrozenInstanceError):
        router.vcs = 8  # type: ignore[misc]


def test_a_network_can_be_changed() -> None:
    net = fw.Torus(4, 4, router=fw.Router(vcs=4), routing=fw.routing.Duato())
    assert net.replace(vcs=8).options["router"] == fw.Router(vcs=8)
    assert net.replace(router=fw.Router(buffer_flits=4)).spec["router"] == {"buffer_flits": 4}
    assert fw.Torus(4, 4, vcs=8, buffer_flits=2).replace(router=fw.Router(vcs=4)).spec["router"] == {"vcs": 4}
    assert net.replace(tie="plus").spec["routing"] == {"kind": "duato", "tie": "plus"}
    assert fw.Torus(4, 4, tie="plus").replace(routing="romm").spec["routing"] == {"kind": "romm", "tie": "plus"}
    assert repr(net) == "Torus(4, 4, router=Router(vcs=4), routing=Duato())"
    assert pickle.loads(pickle.dumps(net)) == net


def test_every_topology_can_be_made_by_name_and_by_its_constructor() -> None:
    assert fw.Network("torus", size=(8, 8), router=fw.Router(vcs=4)) == fw.Torus(8, 8, vcs=4)
    assert fw.Network("grid", size=[4, 3], wrap=[True, False]) == fw.Grid((4, 3), wrap=(True, False))
    for kind in kinds(tables("network")["topology"]):
        make = getattr(fw, kind.title().replace("_", ""))
        assert "router" in inspect.signature(make).parameters and make.__doc__


def test_a_host_is_a_value() -> None:
    net, work = fw.Mesh(2, 2), fw.all_to_all("a2a", message_flits=4)
    listed = fw.placement.List(terminals=[3, 2, 1, 0])
    by_value = fw.simulate(net, work, host=fw.Host(placement=listed, send_queue="as_ready"))
    table = {"placement": {"kind": "list", "terminals": [3, 2, 1, 0]}, "send_queue": "as_ready"}
    assert fw.simulate(net, work, host=table).plan_hash == by_value.plan_hash
    assert fw.simulate(net, work, host={**table, "placement": listed}).plan_hash == by_value.plan_hash
    for host in (fw.Host(placement="round_robin"), {"placement": "round_robin"}):
        assert fw.simulate(net, work, host=host).plan["spec"]["host"]["placement"] == {"kind": "round_robin"}
    assert fw.Host(ranks_per_terminal=2).ranks_per_terminal == 2 and fw.Host().spec == {}


def test_a_run_is_a_value() -> None:
    run = fw.Run(max_cycles=7000, warmup_cycles=100, measurement_cycles=200, record=fw.Record(packets=True), seed=3)
    net = fw.Mesh(3, 3)
    made = fw.simulate(net, WORK, run=run)
    flat = fw.simulate(net, WORK, max_cycles=7000, warmup_cycles=100, measurement_cycles=200, packets=True, seed=3)
    assert made.plan_hash == flat.plan_hash and made.digest == flat.digest and made.seed == 3
    swept = fw.sweep(lambda n: (fw.Mesh(n, n), WORK), n=[3], run=fw.Run(record=fw.Record(stalls=True)), seeds=[3])
    assert len(swept) == 1


BAD: list[tuple[str, Callable[[], object], str, str, str]] = [
    ("unknown field", lambda: fw.Router(vsc=2), "network.router.vsc", "unknown key", "`vcs`"),  # type: ignore[call-arg]
    ("unknown field of a kind", lambda: fw.routing.Duato(ties="plus"), "network.routing.ties", "unknown key", "`tie`"),  # type: ignore[call-arg]
    ("unknown word", lambda: fw.Router(switching="wormhol"), "network.router.switching", '"wormhol"', "wormhole"),  # type: ignore[arg-type]
    ("a text for a number", lambda: fw.Nic(ports="two"), "network.nic.ports", '"two"', "without quotes"),  # type: ignore[arg-type]
    ("a word in an allocator", lambda: fw.Allocator(kind="islop"), "Allocator.kind", '"islop"', "islip"),  # type: ignore[arg-type]
    ("a word for an allocator", lambda: fw.Router(sw_allocator="islop"), "network.router.sw_allocator.kind", '"islop"', "islip"),  # type: ignore[arg-type]
    ("no number at all", lambda: fw.Run(max_cycles=float("inf")), "run.max_cycles", "inf", ""),  # type: ignore[arg-type]
    ("said twice", lambda: fw.Torus(4, 4, vcs=4, router=fw.Router(vcs=2)), "network.router.vcs", "4", "it is 2 already"),
    ("the kind said twice", lambda: fw.Torus(4, 4, routing=fw.routing.Duato(tie="plus"), tie="plus"), "network.routing.tie", "'plus'", "already"),
    ("of a run said twice", lambda: fw.simulate(fw.Mesh(2, 2), WORK, run=fw.Run(seed=1), seed=2), "run.seed", "2", "it is 1 already"),
    ("a value in another's place", lambda: fw.Torus(4, 4, router=fw.Channel()), "network.router", "Channel()", "network.channel"),  # type: ignore[arg-type]
    ("an unknown topology", lambda: fw.Network("tours", size=(4, 4)), "network.topology.kind", '"tours"', "torus"),
    ("a field of another topology", lambda: fw.Network("mesh", size=(4, 4), wrap=[True, False]), "network.wrap", "unknown key", ""),
    ("a missing field", lambda: fw.Network("grid", size=(4, 4)), "network.topology.wrap", "nothing", "add wrap"),
    ("a list for a kind", lambda: fw.Torus(4, 4, routing=["duato"]), "network.routing", '["duato"]', ""),  # type: ignore[arg-type]
    ("a list for a table", lambda: fw.Torus(4, 4, nic=[2]), "network.nic", "[2]", ""),  # type: ignore[arg-type]
    ("no VCs", lambda: fw.Router(vcs=0), "network.router.vcs", "0", ""),
    ("a negative number of VCs", lambda: fw.Router(vcs=-1), "network.router.vcs", "-1", ""),
    ("a flit of nothing", lambda: fw.Units(flit_bytes=0), "network.units.flit_bytes", "0", ""),
    ("a cycle of no length", lambda: fw.Units(cycle_ns=-1), "network.units.cycle_ns", "-1", ""),
    ("a burst of nothing", lambda: fw.burst_workload("shuffle", packets=0), "workload.packets", "0", ""),
    ("a flat name of another routing", lambda: fw.Crossbar(terminals=4, tie="plus"), "network.routing.tie", '"plus"', "routing is shortest_path on this network"),
    ("a list for a placement", lambda: fw.Host(placement=[3, 2, 1, 0]), "host.placement", "[3,2,1,0]", 'write {kind = "list"'),  # type: ignore[arg-type]
    ("an unknown placement", lambda: fw.Host(placement="round"), "host.placement.kind", '"round"', "round_robin"),  # type: ignore[arg-type]
    ("no ranks", lambda: fw.Host(ranks_per_terminal=0), "host.ranks_per_terminal", "0", ""),
    ("no host", lambda: fw.bound(fw.Mesh(2, 2), WORK, host=5), "host", "5", "fw.Host("),  # type: ignore[arg-type]
    ("an unknown field of a host", lambda: fw.bound(fw.Mesh(2, 2), WORK, host={"queue": 5}), "host.queue", "5", ""),
    ("no kind", lambda: fw.Torus(4, 4, routing=None), "network.routing", "None", "leave it out"),  # type: ignore[arg-type]
    ("a number for a kind", lambda: fw.Torus(4, 4, routing=5), "network.routing", "5", ""),  # type: ignore[arg-type]
    ("a number for a kind, and a field", lambda: fw.Torus(4, 4, routing=5, tie="plus"), "network.routing", "5", "tie"),  # type: ignore[arg-type]
    ("a class for a kind", lambda: fw.Torus(4, 4, routing=fw.routing.Duato), "network.routing", "the class Duato", "write Duato()"),  # type: ignore[arg-type]
    ("a class in a value", lambda: fw.Router(sw_allocator=fw.Allocator), "network.router.sw_allocator", "the class Allocator", "write Allocator()"),  # type: ignore[arg-type]
    ("a class for a run", lambda: fw.simulate(fw.Mesh(2, 2), WORK, run=fw.Run), "run", "the class Run", "write Run()"),  # type: ignore[arg-type]
    ("no run", lambda: fw.simulate(fw.Mesh(2, 2), WORK, run=5), "run", "5", "max_cycles"),  # type: ignore[arg-type]
]  # fmt: skip


@pytest.mark.parametrize("case", BAD, ids=[case[0] for case in BAD])
def test_what_is_wrong_with_a_value_is_said_where_it_is_made(
    case: tuple[str, Callable[[], object], str, str, str],
) -> None:
    _, write, path, value, hint = case
    with pytest.raises(fw.ConfigError) as caught:
        write()
    error = caught.value
    assert error.path == path and error.value.startswith(value) and hint in error.hint, str(error)


def test_a_field_of_run_without_a_flat_name_is_led_to() -> None:
    with pytest.raises(fw.ConfigError, match=r"run=fw.Run\(threads=...\)"):
        fw.simulate(fw.Torus(4, 4), fw.all_to_all("a2a", message_flits=5), threads=2)  # type: ignore[call-arg]
