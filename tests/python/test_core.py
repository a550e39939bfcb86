"""The compiled module and what the package says about it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import get_type_hints

import pytest
from common import REPOSITORY
from flitwork import _core
from flitwork.cli.options import components
from flitwork.networks.constructors import NetworkOptions, RunOptions
from flitwork.values.flat import FLAT
from flitwork.values.schema import fields, kinds, node, schema, tables


def test_the_options_in_python_are_those_of_the_schema() -> None:
    arguments = {*tables("network")} - {"topology"}
    assert set(get_type_hints(NetworkOptions)) == {*FLAT["network"], *arguments}
    assert set(get_type_hints(RunOptions)) == {*FLAT["run"]} - {"seed"}


def test_the_generated_modules_are_up_to_date() -> None:
    command = [sys.executable, str(REPOSITORY / "tools" / "python_values.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


#: The flat names of version 0.1. The set is closed: what is new in the simulator is written in its table.
NAMES = {
    "network": """adaptive_tie adaptive_vcs buffer_flits classes ports credit_delay_cycles ejection_port
        hold_switch_for_packet information injection_vc input_speedup latency_cycles local_latency_cycles misroutes
        news_delay_cycles order output_speedup patience_cycles pipelined_stages productive ring2 routing
        routing_delay_cycles selection shared_middle_vc source_queue speculative st_delay_cycles sw_alloc_delay_cycles
        sw_allocator switching terminals_per_router tie vc_alloc_delay_cycles vc_allocator vc_busy_when_full vc_policy
        vcs wait_for_tail_credit""",
    "run": """deadlock_check delivery_window_cycles channel_window_cycles max_cycles measurement_cycles memory_limit_mb
        packets seed stalls steady warmup_cycles watchdog_cycles""",
}


@pytest.mark.parametrize("section", NAMES)
def test_flat_names_are_closed_and_lead_to_fields(section: str) -> None:
    assert set(FLAT[section]) == set(NAMES[section].split())
    for name, path in FLAT[section].items():
        assert node(".".join((section, *path))), f"{name}: the simulator has no {section}.{'.'.join(path)}"
    assert len(set(FLAT[section].values())) == len(FLAT[section])


def test_no_topology_has_a_field_that_is_called_like_an_option_of_another_table() -> None:
    arguments = {*tables("network")}
    for kind, one in kinds(tables("network")["topology"]).items():
        for name in fields(one):
            assert name not in arguments and FLAT["network"].get(name, ("topology",))[0] == "topology", f"{kind}.{name}"


def test_every_field_of_the_schema_is_described() -> None:
    for section in ("network", "run"):
        for table, one in tables(section).items():
            assert one.get("description"), table
            for name, field in fields(one).items():
                assert name == "kind" or field.get("description"), f"{section}.{table}.{name}"


def test_the_tables_of_components() -> None:
    listed = components()
    tables = {"topologies", "routings", "algorithms", "allocators", "arbiters", "workloads", "patterns", "collectives"}
    assert set(listed) == tables
    for rows in listed.values():
        assert all({"name", "summary", "parameters", "paper"} <= set(row) for row in rows)
    topologies = {row["name"] for row in listed["topologies"]}
    assert topologies == set(kinds(fields(schema()["properties"]["network"])["topology"]))
    workloads = kinds(schema()["properties"]["workload"])
    assert {row["name"] for row in listed["workloads"]} == set(workloads)
    patterns = kinds(fields(workloads["traffic"])["pattern"])
    assert {row["name"] for row in listed["patterns"]} == set(patterns)


TORUS = {"topology": {"kind": "torus", "size": [5, 5]}}


def test_a_plan_is_hashed_and_printable() -> None:
    text = json.dumps({"network": TORUS, "workload": {"kind": "uniform", "offered_load": 0.1}})
    plan = _core.Plan(text)
    assert len(plan.hash) == 64 and plan.hash == _core.Plan(text).hash
    assert plan.hash in plan.json and plan.hash[:12] in repr(plan)
    with pytest.raises(ValueError, match="specification"):
        _core.Plan("{")
    with pytest.raises(ValueError, match="schedule"):
        plan.messages()


def test_a_path_leads_to_its_destination() -> None:
    plan = _core.Plan(json.dumps({"network": TORUS, "workload": {"kind": "all_to_all", "algorithm": "a2at"}}))
    routers, ports, _ = plan.path(0, 24)
    assert routers.tolist() == [0, 4] and ports.tolist() == [1, 3]
    assert len(plan.messages()["from"]) == 600
    with pytest.raises(ValueError, match="router"):
        plan.path(0, 25)
