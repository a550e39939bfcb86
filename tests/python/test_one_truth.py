"""What a network and a workload are is asked of the simulator: nothing here derives it a second time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import flitwork as fw
import pandas as pd
import pytest
from flitwork.planning.specification import plan_of, simulation
from flitwork.results.columns import RESULT_COLUMNS
from flitwork.values.schema import is_open_loop, kinds, resolve, schema

PACKAGE = Path(fw.__file__).parent
#: Readers of files of others, and studies, which know what they are about.
ELSEWHERE = ("studies", "booksim")
#: How ports, directions, shapes and kinds of workloads would be derived.
DERIVATIONS = {
    "ports of a grid": r"2 \* len\((self\.)?(topology\[.size.\]|size)",
    "dimension of a port": r"\bports?(\.ravel\(\))? // 2",
    "direction of a port": r"\bports?(\.ravel\(\))? % 2",
    "what wraps": r"\.get\(.wrap.\)|kind.\] == .torus.|kind == .torus.",
    "kind of a workload": r"kind.\] (==|in|not in) (?!.completion)",
    "router of a terminal": r"// concentration|terminals_per_router.\]",
}
#: Names that are left, by file: only ever take some away.
KNOWN = {
    "cli/simulation.py": 3,
    "results/columns.py": 1,
    "questions/indices.py": 1,
    "planning/check.py": 1,
    "explain/collisions.py": 1,
    "networks/exchange.py": 1,
    "workloads/arrays.py": 1,
}
#: Files in which a kind may be named: constructors of Python, and what is written or said of other names.
NAMED = (
    "workloads/workload.py",
    "workloads/schedule.py",
    "workloads/timetable.py",
    "workloads/schedule_file.py",
    "networks/constructors.py",
    "values/routing.py",
    "values/noise.py",
    "values/placement.py",
    "values/tables.py",
    "__init__.py",
    "networks/aliases.py",
    "networks/files/filled.py",
    "networks/graph_places.py",
)


def names_of_kinds() -> set[str]:
    """The kinds of every table of the schema that has some; ``file`` is a field of many tables, too."""
    definitions = schema()["$defs"].values()
    return {kind for one in definitions for kind in kinds(one)} - {"file"}


UNITS = {
    "_flits_per_cycle": ("flits/cycle", "flits/cycle/terminal"),
    "_flit_cycles": ("flit-cycles",),
    "_cycles": ("cycles",),
    "_seconds": ("s",),
    "_bytes_per_s": ("bytes/s", "bytes/s/terminal"),
    "_ns": ("ns",),
}


@pytest.mark.parametrize("what", DERIVATIONS)
def test_nothing_is_derived_that_the_simulator_knows(what: str) -> None:
    for file in sorted(PACKAGE.rglob("*.py")):
        if file.relative_to(PACKAGE).parts[0] not in ELSEWHERE:
            found = re.search(DERIVATIONS[what], file.read_text(encoding="utf-8"))
            assert not found, f"{file}: {found and found[0]}"


def test_no_kind_is_named_where_the_simulator_can_be_asked() -> None:
    names = "|".join(sorted(names_of_kinds()))
    # Compared, chosen from, a default, a key, or the kind of a table: not a word of a message or a title.
    before = r"== |!= |in \(|Literal\[|(?<![<>=!])= |\{|.kind.: |kind=|else "
    named = re.compile(rf"""({before})["']({names})["']""")
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE).parts
        if parts[0] not in ELSEWHERE and "/".join(parts) not in NAMED:
            found = [f"{match[0]!r}" for match in named.finditer(file.read_text(encoding="utf-8"))]
            allowed = KNOWN.get("/".join(parts), 0)
            assert len(found) <= allowed, f"{file}: {found}"


@pytest.mark.parametrize("kind", sorted(kinds(schema()["properties"]["workload"])))
def test_the_schema_says_what_completes(kind: str) -> None:
    ring = {
        "sizes": [2],
        "period_cycles": 1,
        "hop_cycles": 1,
        "block_flits": 1,
        "shifts": [[0]],
        "entries": [[1, 0, 0]],
    }
    rows = [{"cycle": 0, "source": 0, "destination": 1, "flits": 1}]
    workloads: dict[str, Callable[[], fw.Workload]] = {
        "all_to_all": lambda: fw.all_to_all("a2a"),
        "collective": lambda: fw.collective("barrier", "dissemination"),
        "schedule": lambda: fw.Schedule([[fw.Send(1, flits=2)], [fw.Receive(0, flits=2)]]),
        "timetable": lambda: fw.Timetable.of_json(json.dumps(ring)),
        "programs": fw.programs,
        "uniform": lambda: fw.uniform(offered_load=0.1),
        "traffic": lambda: fw.traffic("neighbour", offered_load=0.1),
        "burst": lambda: fw.burst_workload("neighbour", packets=1),
        "trace": lambda: fw.trace(pd.DataFrame(rows)),
    }
    work = workloads[kind]()
    network = fw.Torus(2, tie="by_message") if kind == "timetable" else fw.Torus(4, 4)
    plan = json.loads(plan_of(simulation(network, work)).json)
    assert plan["described"]["runs_to_completion"] is not is_open_loop(kind)


def test_ranges_that_are_told_are_in_the_schema() -> None:
    """A field whose description says a range has it in the schema, where values are checked."""
    untold = {"max_cycles"}  # 0 is how its default is written in a plan.
    for table in schema()["$defs"].values():
        for one in (table, *kinds(table).values()):
            for name, field in one.get("properties", {}).items():
                about = " ".join(field.get("description", "").split()).split("Default")[0]
                number = field if "$ref" in field else resolve(field)
                if number.get("type", "integer") not in ("integer", "number") or name in untold:
                    continue
                between = re.search(r"(?:\]|[,;(]) (\d[\d.]*) to (\d[\d.^]*\d)", about)
                if between:
                    base, _, power = between[2].partition("^")
                    most = float(base) ** float(power or 1)
                    assert (number.get("minimum"), number.get("maximum")) == (float(between[1]), most), (name, about)
                elif (least := re.search(r", at least (\d[\d.]*\d|\d)", about)) and "$ref" not in field:
                    assert number.get("minimum") == float(least[1]), (name, about)


@pytest.mark.parametrize("column", RESULT_COLUMNS.values(), ids=lambda column: column.name)
def test_the_name_of_a_column_says_its_unit(column: object) -> None:
    name, unit = column.name, column.unit  # type: ignore[attr-defined]
    expected = next((units for ending, units in UNITS.items() if name.endswith(ending)), ("",))
    assert unit in expected and column.about  # type: ignore[attr-defined]


def test_a_result_has_the_columns_of_the_table_in_order() -> None:
    work = fw.all_to_all(message_flits=2)
    plain = fw.simulate(fw.Torus(3, 3), work)
    units = fw.Units(flit_bytes=16, cycle_ns=4)
    net = fw.Torus(3, 3, units=units, bus=fw.Bus())
    full = fw.simulate(net, work, background=fw.uniform(offered_load=0.05), stalls=True)
    assert list(full.row) == list(RESULT_COLUMNS)
    assert list(plain.row) == [name for name in RESULT_COLUMNS if not RESULT_COLUMNS[name].may_miss]
    assert plain.row["bound_saturation_load_flits_per_cycle"] is None


def test_a_plan_says_what_uniform_traffic_it_carries() -> None:
    described = fw.simulate(fw.Torus(4, 4, ports=4), fw.uniform(offered_load=0.1)).described
    assert described["uniform_capacity_flits_per_cycle"] == 2.0
    assert (described["nic_ports"], described["routers"], described["size"]) == (4, 16, "4x4")
    assert described["runs_to_completion"] is False
