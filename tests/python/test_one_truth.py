"""What a network and a workload are is asked of the simulator: nothing here derives it a second time."""

from __future__ import annotations

import re
from pathlib import Path

import flitwork as fw
import pytest
from flitwork.columns import RESULT_COLUMNS

PACKAGE = Path(fw.__file__).parent
#: Readers of files of others, and studies, which know what they are about.
ELSEWHERE = ("studies", "booksim", "format_3.py")
#: How ports, directions, shapes and kinds of workloads would be derived.
DERIVATIONS = {
    "ports of a grid": r"2 \* len\((self\.)?(topology\[.size.\]|size)",
    "dimension of a port": r"\bports?(\.ravel\(\))? // 2",
    "direction of a port": r"\bports?(\.ravel\(\))? % 2",
    "what wraps": r"\.get\(.wrap.\)|kind.\] == .torus.|kind == .torus.",
    "kind of a workload": r"kind.\] (==|in|not in) (?!.completion)|kind (==|in) .(uniform|traffic|all_to_all|burst)",
    "router of a terminal": r"// concentration|terminals_per_router.\]",
}
UNITS = {
    "_flits_per_cycle": ("flits/cycle", "flits/cycle/terminal"),
    "_flit_cycles": ("flit-cycles",),
    "_cycles": ("cycles",),
    "_seconds": ("s",),
}


@pytest.mark.parametrize("what", DERIVATIONS)
def test_nothing_is_derived_that_the_simulator_knows(what: str) -> None:
    for file in sorted(PACKAGE.rglob("*.py")):
        if file.relative_to(PACKAGE).parts[0] not in ELSEWHERE:
            found = re.search(DERIVATIONS[what], file.read_text(encoding="utf-8"))
            assert not found, f"{file}: {found and found[0]}"


@pytest.mark.parametrize("column", RESULT_COLUMNS.values(), ids=lambda column: column.name)
def test_the_name_of_a_column_says_its_unit(column: object) -> None:
    name, unit = column.name, column.unit  # type: ignore[attr-defined]
    expected = next((units for ending, units in UNITS.items() if name.endswith(ending)), ("",))
    assert unit in expected and column.about  # type: ignore[attr-defined]


def test_a_result_has_the_columns_of_the_table_in_order() -> None:
    work = fw.all_to_all(message_flits=2)
    plain = fw.simulate(fw.Torus(3, 3), work)
    full = fw.simulate(fw.Torus(3, 3), work, background=fw.uniform(offered_load=0.05), stalls=True)
    assert list(full.row) == list(RESULT_COLUMNS)
    assert list(plain.row) == [name for name in RESULT_COLUMNS if not RESULT_COLUMNS[name].may_miss]
    assert plain.row["bound_load_flits_per_cycle"] is None


def test_a_plan_says_what_uniform_traffic_it_carries() -> None:
    described = fw.simulate(fw.Torus(4, 4, ports=4), fw.uniform(offered_load=0.1)).described
    assert described["uniform_capacity_flits_per_cycle"] == 2.0
    assert (described["nic_ports"], described["routers"], described["size"]) == (4, 16, "4x4")
    assert described["runs_to_completion"] is False
