"""Parquet files without pyarrow: what pandas writes is read as pandas reads it, and the other way round."""

from __future__ import annotations

import io
import random
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import flitwork as fw
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from flitwork import _core
from flitwork.base import parquet
from flitwork.experiment.archive import Archive
from flitwork.studies import published

MEMORY = 1 << 30
ARCHIVES = [study.archive_file for study in published().values() if study.archive_file.is_file()]


def stored(table: pd.DataFrame, path: Path, **options: Any) -> Path:
    """A file that pandas has written, by pyarrow."""
    table.to_parquet(path, **options)
    return path


def ours(table: pd.DataFrame, path: Path) -> Path:
    path.write_bytes(parquet.to_bytes(table))
    return path


@pytest.mark.parametrize("file", ARCHIVES, ids=lambda file: file.parent.name)
def test_published_results_are_those_that_pyarrow_reads(file: Path, tmp_path: Path) -> None:
    table = pd.read_parquet(file)
    pd.testing.assert_frame_equal(fw.read_parquet(file), table)
    written = ours(table, tmp_path / "again.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(written), table)
    pd.testing.assert_frame_equal(fw.read_parquet(written), table)
    saved = Archive.load(file).save(tmp_path / "saved.parquet")
    rows = pq.read_table(file).to_pylist()
    assert sorted(map(repr, pq.read_table(saved).to_pylist())) == sorted(map(repr, rows)) and len(rows) > 100
    assert saved.stat().st_size < 1.02 * file.stat().st_size


def test_there_are_published_results() -> None:
    assert len(ARCHIVES) >= 4


def anything(draw: random.Random) -> pd.DataFrame:
    """A table with any of the types that our tables have."""
    rows = draw.choice([0, 1, 7, 300])
    random_numbers = np.random.default_rng(draw.randrange(1 << 30))

    def texts() -> list[str | None]:
        return [draw.choice(["", "a", "zwölf", "x" * draw.randrange(300), str(draw.random())]) for _ in range(rows)]

    def holes(values: Any) -> Any:
        return [None if draw.random() < 0.3 else value for value in values]

    def whole(kind: str) -> Any:
        about = np.iinfo(kind)
        return random_numbers.integers(about.min, about.max, rows, dtype=kind, endpoint=True)

    kinds: dict[str, Callable[[], Any]] = {
        **{
            kind: partial(whole, kind)
            for kind in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
        },
        "float64": lambda: random_numbers.normal(size=rows),
        "float32": lambda: random_numbers.normal(size=rows).astype("float32"),
        "gaps": lambda: np.where(random_numbers.random(rows) < 0.3, np.nan, random_numbers.random(rows)),
        "bool": lambda: random_numbers.random(rows) < 0.5,
        "Int64": lambda: pd.array(holes(range(rows)), dtype="Int64"),
        "UInt8": lambda: pd.array(holes([5] * rows), dtype="UInt8"),
        "Float64": lambda: pd.array(holes([0.5] * rows), dtype="Float64"),
        "boolean": lambda: pd.array(holes([True] * rows), dtype="boolean"),
        "text": texts,
        "text with gaps": lambda: holes(texts()),
        "objects": lambda: pd.Series(holes(texts()), dtype=object),
        "truth with gaps": lambda: pd.Series(holes([True] * rows), dtype=object),
        "nothing": lambda: pd.Series([None] * rows, dtype=object),
    }
    names = draw.sample([*kinds], draw.randrange(1, len(kinds)))
    return pd.DataFrame({f"[{name}] {place}": kinds[name]() for place, name in enumerate(names)})


@pytest.mark.parametrize("seed", range(25))
def test_any_table_goes_both_ways(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    for _ in range(4):
        table = anything(draw)
        by_us, by_pandas = ours(table, tmp_path / "ours.parquet"), stored(table, tmp_path / "theirs.parquet")
        expected = pd.read_parquet(by_pandas)
        for file in (by_us, by_pandas):
            pd.testing.assert_frame_equal(fw.read_parquet(file), expected)
        pd.testing.assert_frame_equal(pd.read_parquet(by_us), expected)


def foreign(rows: int = 1000) -> pd.DataFrame:
    """A table with types that files from outside have, beside those of ours."""
    days = pd.date_range("2026-01-01", periods=rows, freq="s")
    return pd.DataFrame(
        {
            "cycle": np.arange(rows),
            "small": np.arange(rows) % 100,
            "load": np.linspace(0, 1, rows),
            "name": [f"rank {i % 7}" for i in range(rows)],
            "long": [f"text {i} " * 5 for i in range(rows)],
            "is_last": [i % 3 == 0 for i in range(rows)],
            "gaps": [None if i % 4 else float(i) for i in range(rows)],
            "whole": pd.array([None if i % 5 else i for i in range(rows)], dtype="Int64"),
            "ns": days.astype("datetime64[ns]"),
            "us": days.astype("datetime64[us]"),
            "s": days.astype("datetime64[s]"),
            "here": days.tz_localize("UTC").tz_convert("Europe/Berlin").astype("datetime64[us, Europe/Berlin]"),
            "took": pd.to_timedelta(np.arange(rows), unit="s"),
            "day": [day.date() for day in days],
            "price": [Decimal(i).scaleb(-2) for i in range(rows)],
            "bytes": [b"\xff\x00" * (i % 3) for i in range(rows)],
            "none": pd.Series([None] * rows, dtype=object),
        }
    )


@pytest.mark.parametrize("compression", ["snappy", "gzip", "zstd", "lz4", None])
@pytest.mark.parametrize(
    "options", [{"use_dictionary": False}, {"data_page_version": "2.0"}, {"version": "1.0"}, {}], ids=str
)
def test_files_of_pandas_are_read_as_pandas_reads_them(
    compression: Any, options: dict[str, Any], tmp_path: Path
) -> None:
    table = foreign()
    path = stored(table, tmp_path / "t.parquet", compression=compression, row_group_size=300, **options)
    assert _core.ParquetFile(path).row_groups == 4
    pd.testing.assert_frame_equal(fw.read_parquet(path), pd.read_parquet(path))


def test_numbers_in_other_encodings_are_read(tmp_path: Path) -> None:
    encodings = {"cycle": "DELTA_BINARY_PACKED", "load": "BYTE_STREAM_SPLIT", "small": "PLAIN"}
    table = foreign()[[*encodings]].astype({"small": "int32"})
    path = stored(table, tmp_path / "t.parquet", use_dictionary=False, column_encoding=encodings)
    pd.testing.assert_frame_equal(fw.read_parquet(path), table)


@pytest.mark.parametrize(
    "index",
    [
        pd.Index([5, 3, 9], name="rank"),
        pd.Index([5, 3, 9]),
        pd.RangeIndex(2, 8, 2),
        pd.RangeIndex(3, name="rank"),
        pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["node", None]),
    ],
    ids=["named", "nameless", "range", "named range", "several"],
)
def test_the_index_of_pandas_is_read(index: pd.Index[Any], tmp_path: Path) -> None:
    path = stored(pd.DataFrame({"a": [1, 2, 3]}, index=index), tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(fw.read_parquet(path), pd.read_parquet(path))


def test_nulls_without_a_note_of_pandas(tmp_path: Path) -> None:
    columns = {
        "whole": pa.array([1, None, 3]), "truth": pa.array([True, None, False]), "text": pa.array(["a", None, ""]),
        "real": pa.array([1.5, None, float("nan")]), "time": pa.array([1, None, 3], pa.timestamp("ms")),
        "zone": pa.array([1, None, 3], pa.timestamp("us", "UTC")), "half": pa.array(np.array([1, 2, 3], "float16")),
        "day": pa.array([1, None, 3], pa.date32()), "large": pa.array(["a", None, "b"], pa.large_string()),
        "kind": pa.array(["a", None, "a"]).dictionary_encode(),
    }  # fmt: skip
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", store_schema=False)
    pd.testing.assert_frame_equal(fw.read_parquet(tmp_path / "t.parquet"), pd.read_parquet(tmp_path / "t.parquet"))


@pytest.mark.parametrize(
    ("column", "options", "said"),
    [
        (pa.array([[1, 2], []]), {}, "column x: expected numbers, truth values, texts, dates or times in each row"),
        (pa.array([{"a": 1}, {"a": 2}]), {}, "column x: expected numbers"),
        (pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64())), {}, "column x: expected numbers"),
        (pa.array([1, 2], pa.time64("us")), {}, "column x: expected numbers"),
        (
            pa.array([1, 2]),
            {"compression": {"x": "brotli"}},
            "column x: compressed with BROTLI: expected snappy, gzip, zstd",
        ),
        (
            pa.array(["a", "b"]),
            {"use_dictionary": False, "column_encoding": {"x": "DELTA_BYTE_ARRAY"}},
            "column x: texts in the encoding DELTA_BYTE_ARRAY: expected plain values or a dictionary",
        ),
    ],
    ids=["list", "structure", "map", "time of day", "brotli", "encoding"],
)
def test_what_is_not_read_is_an_error_with_the_column(
    column: pa.Array, options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    pq.write_table(pa.table({"before": [1, 2], "x": column}), tmp_path / "t.parquet", **options)
    with pytest.raises(fw.ConfigError, match=rf"t\.parquet.*{said}"):
        fw.read_parquet(tmp_path / "t.parquet")


def test_a_column_of_several_types_is_not_written() -> None:
    with pytest.raises(ValueError, match=r"column x: expected .* \(there are: int, str\)"):
        parquet.to_bytes(pd.DataFrame({"x": pd.Series([1, "a"], dtype=object)}))


def damaged(data: bytes, draw: random.Random) -> bytes:
    found = bytearray(data)
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for _ in range(draw.choice([1, 1, 1, 2, 4, 16])):
        at = draw.randrange(draw.choice([0, footer]), len(found))
        how = draw.randrange(5)
        if how == 0:
            found[at] ^= 1 << draw.randrange(8)
        elif how == 1:
            found[at] = draw.choice([0, 255, 127, 128])
        elif how == 2:
            found[at : at + 5] = b"\xff\xff\xff\xff\x0f"
        elif how == 3:
            del found[at : at + draw.randrange(1, 9)]
        else:
            del found[at:]
            break
    return bytes(found)


@pytest.mark.parametrize("compression", ["snappy", "gzip", "zstd", "lz4", None])
def test_damaged_files_are_errors(compression: str | None, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    draw, path, refused = random.Random(7), tmp_path / "t.parquet", 0
    for options in ({}, {"use_dictionary": False}, {"data_page_version": "2.0"}):
        whole = io.BytesIO()
        pq.write_table(pa.Table.from_pandas(foreign(200)), whole, compression=compression, row_group_size=90, **options)
        for _ in range(150):
            path.write_bytes(damaged(whole.getvalue(), draw))
            try:
                fw.read_parquet(path)
            except fw.ConfigError as error:
                assert "t.parquet" in str(error)
                refused += 1
    assert refused > 200
    # A panic would leave its traces there.
    assert capfd.readouterr() == ("", "")


def patched(table: pa.Table, before: bytes, after: bytes, path: Path, **options: Any) -> Path:
    """A file in which some bytes are others: a number of any size has as many bytes as it needs."""
    whole = io.BytesIO()
    pq.write_table(table, whole, compression="none", store_schema=False, write_statistics=False, **options)
    data = whole.getvalue()
    assert data.count(before) == 1
    footer = int.from_bytes(data[-8:-4], "little")
    longer = len(after) - len(before) if data.index(before) > len(data) - 8 - footer else 0
    data = data[:-8] + (footer + longer).to_bytes(4, "little") + data[-4:]
    path.write_bytes(data.replace(before, after))
    return path


def varint(number: int) -> bytes:
    """A number of Thrift's compact protocol."""
    found, number = bytearray(), 2 * number
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def test_what_a_file_claims_is_checked_before_memory_is_taken(tmp_path: Path) -> None:
    path, most = tmp_path / "t.parquet", (1 << 31) - 1
    table = pa.table({"x": pa.array([1, 2, 1, 2], pa.int64())})
    # The header of the dictionary: its kind, bytes unpacked and packed, entries.
    header = b"\x15" + varint(2) + b"\x15" + varint(16) + b"\x15" + varint(16)
    entries = b"\x4c\x15" + varint(2)
    file = _core.ParquetFile(patched(table, header + entries, header + b"\x4c\x15" + varint(most), path))
    with pytest.raises(ValueError, match="column x: damaged: a dictionary has more entries than bytes"):
        file.read(0, MEMORY)
    large = b"\x15" + varint(2) + b"\x15" + varint(most) + b"\x15" + varint(16)
    file = _core.ParquetFile(patched(table, header, large, path))
    with pytest.raises(ValueError, match="column x: a page needs 2147483647 bytes, more memory than there is"):
        file.read(0, MEMORY)
    # The root of the columns: its name, and how many there are.
    root = b"\x06schema\x15"
    with pytest.raises(ValueError, match="damaged: a column has more parts than there are"):
        _core.ParquetFile(patched(table, root + varint(1), root + varint(most), path))
    # Few bytes may stand for many values.
    many = pa.table({"x": pa.array(np.zeros(1 << 20))})
    pq.write_table(many, path)
    assert path.stat().st_size < 20_000
    with pytest.raises(ValueError, match="column x: its values need more memory than there is"):
        _core.ParquetFile(path).read(0, 1 << 20)
    for other, said in ((tmp_path, "not a folder"), (tmp_path / "none.parquet", "check the name")):
        with pytest.raises(fw.ConfigError, match=said):
            fw.read_parquet(other)


def test_columns_that_are_nested_deeply_are_refused(tmp_path: Path) -> None:
    kind: pa.DataType = pa.int64()
    for _ in range(40):
        kind = pa.list_(kind)
    pq.write_table(pa.table({"x": pa.array([None], kind)}), tmp_path / "t.parquet", store_schema=False)
    with pytest.raises(fw.ConfigError, match="columns are nested more than 64 times"):
        fw.read_parquet(tmp_path / "t.parquet")


def test_texts_of_a_dictionary_are_one_object(tmp_path: Path) -> None:
    stored(pd.DataFrame({"x": ["a" * 1000] * 10_000}), tmp_path / "t.parquet")
    values, _, _ = _core.ParquetFile(tmp_path / "t.parquet").read(0, 1 << 20)
    assert len({*map(id, values)}) == 1


def test_a_result_that_pyarrow_has_written_is_read(tmp_path: Path) -> None:
    result = fw.simulate(fw.Torus(4, 4), fw.all_to_all("a2a", message_flits=4), packets=True)
    path = result.save(tmp_path / "result.parquet")
    # As earlier versions did: pyarrow notes its own types in the file.
    pq.write_table(pq.read_table(path), tmp_path / "earlier.parquet", compression="zstd")
    for file in (path, tmp_path / "earlier.parquet"):
        again = fw.load(file)
        assert again.row == result.row and again.packets.equals(result.packets) and again.digest == result.digest
    assert path.stat().st_size < 1.1 * (tmp_path / "earlier.parquet").stat().st_size


WITHOUT = """
import sys
sys.modules["pyarrow"] = None
import flitwork as fw, pandas as pd
net, work = fw.Torus(4, 4), fw.all_to_all("a2a", message_flits=4)
result = fw.simulate(net, work)
assert fw.load(result.save("result.parquet")).digest == result.digest
fw.simulate(net, work, packets_file="packets.parquet")
assert len(fw.read_parquet("packets.parquet")) == 16 * 15
schedule = fw.Schedule([[fw.Send(1, flits=64)], [fw.Receive(0, flits=64)]], packet_flits=16)
schedule.save("schedule.parquet")
again = fw.Schedule.read("schedule.parquet", packet_flits=16)
assert fw.simulate(fw.Torus(4), again).digest == fw.simulate(fw.Torus(4), schedule).digest
assert not [name for name in sys.modules if name.startswith("pyarrow.")]
"""


def test_nothing_of_it_needs_pyarrow(tmp_path: Path) -> None:
    found = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, cwd=tmp_path)
    assert (found.returncode, found.stderr) == (0, "")
