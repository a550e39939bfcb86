"""How many ranks a simulated table is of: several may share a terminal, as many on each or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flitwork as fw
import pandas as pd
import pyarrow.parquet as pq
import pytest
from common import Cli
from flitwork.experiment import Archive, parse_study
from flitwork.fit import fit
from flitwork.fit.table import read_table

SIZES = [64, 256, 1024]
SEVERAL = ["host_ranks", "host_ranks_per_terminal"]


def study(host: dict[str, Any], **grid: list[Any]) -> Any:
    """Exchanges on two servers."""
    return parse_study(
        {
            "study": {"name": "servers"},
            "base": {
                "network": {
                    "topology": {"kind": "crossbar", "terminals": 2},
                    "units": {"flit_bytes": 16, "cycle_ns": 4},
                },
                "host": host,
                "workload": {
                    "kind": "collective",
                    "operation": "all_to_all",
                    "algorithm": "pairwise_shift",
                    "packet_flits": 16,
                },
            },
            "experiments": [{"id": "e", "grid": {"workload.message_bytes": SIZES, **grid}}],
        }
    )


def ranks(table: pd.DataFrame) -> set[tuple[float, float]]:
    found = read_table(table)
    return set(zip(found["ranks"], found["ranks_per_server"], strict=True))


def test_ranks_that_share_terminals_in_every_point_are_counted(tmp_path: Path, cli: Cli) -> None:
    done = fw.run_study(study({"ranks_per_terminal": 4}), tmp_path)
    assert ranks(done.table) == {(8, 4)}
    said = cli("fit", tmp_path / "results.csv", "--model", "linear_bytes").stdout
    assert "8 ranks, 4 ranks per server" in " ".join(said.split())


@pytest.mark.parametrize(
    ("placement", "expected"),
    [
        ({"kind": "counts", "ranks": [5, 2]}, (7, 5)),
        ({"kind": "list", "terminals": [1, 0, 1]}, (3, 2)),
        ({"kind": "round_robin"}, (2, 1)),
    ],
)
def test_unequal_numbers_of_ranks_are_counted(placement: Any, expected: tuple[int, int], tmp_path: Path) -> None:
    assert ranks(fw.run_study(study({"placement": placement}), tmp_path).table) == {expected}


def test_experiments_with_other_numbers_of_ranks_are_told_apart(tmp_path: Path) -> None:
    table = fw.run_study(study({}, **{"host.ranks_per_terminal": [1, 3]}), tmp_path / "axis").table
    more = fw.run_study(study({"ranks_per_terminal": 4}), tmp_path / "fixed").table
    assert ranks(pd.concat([table, more], ignore_index=True)) == {(2, 1), (6, 3), (8, 4)}


def test_a_stored_result_with_unequal_numbers_is_counted(tmp_path: Path) -> None:
    done = fw.run_study(study({"placement": {"kind": "counts", "ranks": [5, 2]}}), tmp_path)
    (found,) = fit(sorted((tmp_path / "points").glob("*.parquet")), "linear_bytes")
    assert found.title == "all_to_all, pairwise_shift, simulated, 7 ranks, 5 ranks per server"
    assert len(done.results) == len(SIZES)


def test_an_older_table_is_right_or_refused(tmp_path: Path) -> None:
    table = fw.run_study(study({"ranks_per_terminal": 4}), tmp_path / "fixed").table.drop(columns=SEVERAL)
    with pytest.raises(fw.ConfigError, match=r"host_ranks = missing: .* earlier versions .*--column ranks=NAME"):
        read_table(table)
    # What a column of a study that is called ranks counts nobody knows.
    with pytest.raises(fw.ConfigError, match="host_ranks"):
        read_table(table.assign(ranks=4))
    assert set(read_table(table.assign(n=8), columns={"ranks": "n"})["ranks"]) == {8}
    axis = fw.run_study(study({}, **{"host.ranks_per_terminal": [1, 3]}), tmp_path / "axis").table
    assert ranks(axis.drop(columns=SEVERAL)) == {(2, 1), (6, 3)}


def test_published_rows_of_an_earlier_version_get_their_ranks(tmp_path: Path) -> None:
    asked = study({"placement": {"kind": "counts", "ranks": [5, 2]}})
    done = fw.run_study(asked, tmp_path / "whole")
    stored = pq.read_table(Archive({}).with_results(done.jobs, done.rows).save(tmp_path / "new.parquet"))
    pq.write_table(stored.drop_columns(SEVERAL), tmp_path / "old.parquet")
    run = fw.run_study(asked, tmp_path / "again", archive=Archive.load(tmp_path / "old.parquet"))
    assert not run.results and ranks(run.table) == {(7, 5)}
