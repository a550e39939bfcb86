"""The compiled module and what the package says about it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Literal, get_args, get_origin, get_type_hints

import pytest
from conftest import REPOSITORY
from flitwork import _core
from flitwork.cli.options import components
from flitwork.schema import fields, flat_keywords, kinds, schema, tables
from flitwork.spec import NetworkOptions, RunOptions


def test_the_stub_is_the_module() -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "flitwork._core"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_options_in_python_are_those_of_the_schema() -> None:
    assert set(get_type_hints(NetworkOptions)) == set(flat_keywords("network"))
    assert set(get_type_hints(RunOptions)) == set(flat_keywords("run")) - {"seed"}


def _values(node: dict[str, object]) -> set[object]:
    """The values that an enumeration of the schema allows."""
    name = str(node.get("$ref", "")).rsplit("/", 1)[-1]
    one_of = schema()["$defs"].get(name, {}).get("oneOf", [])
    return {variant["const"] for variant in one_of if "const" in variant}


def test_the_choices_in_python_are_those_of_the_schema() -> None:
    checked = 0
    for keyword, hint in get_type_hints(NetworkOptions).items():
        if get_origin(hint) is Literal:
            table, field = flat_keywords("network")[keyword]
            assert set(get_args(hint)) == _values(fields(tables("network")[table])[field]), keyword
            checked += 1
    assert checked >= 6


def test_every_field_of_the_schema_is_described() -> None:
    for section in ("network", "run"):
        for table, node in tables(section).items():
            assert node.get("description"), table
            for name, field in fields(node).items():
                assert name == "kind" or field.get("description"), f"{section}.{table}.{name}"


def test_the_tables_of_components() -> None:
    listed = components()
    tables = {"topologies", "routings", "algorithms", "allocators", "arbiters", "workloads", "patterns"}
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
