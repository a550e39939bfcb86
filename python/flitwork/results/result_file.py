"""The file of a result: one Parquet file of one row with a checksum over all that is in it.

The checksum covers every column and all metadata, so what is read is what was written.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO

from flitwork import _core
from flitwork.base import parquet
from flitwork.base.errors import ResultFileError
from flitwork.base.formats import PARQUET, format_of
from flitwork.base.input_files import because
from flitwork.base.output_files import write_atomically

_FORMAT = "5"
_FORMAT_KEY, _CHECKSUM_KEY = "flitwork.format", "flitwork.sha256"

Metadata = Mapping[str, str]
Table = Mapping[str, parquet.Column]
#: Tables of a plan, one after the other in base 64; not kept where they have more bytes than that.
_TABLES_KEY, _MOST_TABLES = "flitwork.tables", 1 << 24
#: Where those of a study's points are.
_FOLDER = "tables"


def metadata_of(tables: Sequence[_core.Table]) -> Metadata:
    """Tables of a plan as metadata; nothing where they are too large."""
    data = [table.to_bytes() for table in tables]
    if not data or sum(map(len, data)) > _MOST_TABLES:
        return {}
    return {_TABLES_KEY: " ".join(map(_text, data))}


def tables_of(path: Path, metadata: Metadata, spec: Mapping[str, Any]) -> list[_core.Table]:
    """The tables of a plan: those in the metadata of its result, or those of the study that it is a point of."""
    if _TABLES_KEY in metadata:
        return [_table(base64.b64decode(one)) for one in metadata[_TABLES_KEY].split()]
    files = [path.parent.parent / _FOLDER / digest for digest in _digests(spec)]
    return [_table(file.read_bytes()) for file in files if file.is_file()]


def save_tables(folder: Path, tables: Sequence[_core.Table]) -> None:
    """Stores tables in the folder of a study, each once."""
    for table in tables:
        path = folder / _FOLDER / table.sha256
        if not path.is_file():
            write_atomically(path, partial(_write, zlib.compress(table.to_bytes())))


def _write(data: bytes, file: BinaryIO) -> None:
    file.write(data)


def _text(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


# Many results may have one table.
@lru_cache(maxsize=16)
def _table(compressed: bytes) -> _core.Table:
    try:
        return _core.Table.from_bytes(zlib.decompress(compressed))
    except zlib.error as error:
        raise ValueError(f"a table of its plan cannot be read: {error}") from None


def _digests(spec: object) -> Iterator[str]:
    """The tables that a specification names."""
    if isinstance(spec, Mapping):
        if "sha256" in spec:
            yield str(spec["sha256"])
        for inner in spec.values():
            yield from _digests(inner)


def write(path: Path, table: Table, metadata: Metadata) -> Path:
    """Stores ``table`` with ``metadata``, the format and the checksum, at once or not at all."""
    metadata = {_FORMAT_KEY: _FORMAT, **metadata}
    metadata = {**metadata, _CHECKSUM_KEY: _checksum(table, metadata)}
    stored = parquet.to_bytes(table, metadata)
    return write_atomically(path, lambda file: file.write(stored))


def read(path: Path) -> tuple[Table, Metadata]:
    """Table and metadata of a file. What is damaged is a :class:`ResultFileError`."""
    try:
        if path.is_dir():
            raise ResultFileError(f"{path}: is a folder; name one result in it, a .parquet file")
        file = _core.ParquetFile(path)
        metadata = parquet.metadata(file)
        # Others may be too large for memory.
        table = parquet.columns(file) if metadata.get(_FORMAT_KEY) == _FORMAT else None
    except FileNotFoundError:
        raise ResultFileError(f"{path}: there is no such file; run the simulation first") from None
    except ResultFileError:
        raise
    except Exception as error:
        name, hint = format_of(path)
        if name and name != PARQUET:
            raise ResultFileError(f"{path}: is no stored result but {name}; {hint}") from None
        raise ResultFileError(
            f"{path}: cannot be read as a result ({because(error)}); if flitwork wrote it, delete it and run again"
        ) from None
    found = metadata.get(_FORMAT_KEY, "none")
    if found == "none" and "flitwork.plan_hash" in metadata and _CHECKSUM_KEY not in metadata:
        raise ResultFileError(
            f"{path}: has the packets of a run, not its result: flitwork.read_parquet reads them; "
            "--save stores a result"
        )
    if table is None:
        raise ResultFileError(f"{path}: is no result of flitwork (format {found}, expected {_FORMAT}); run again")
    if not _is_whole(table, metadata):
        raise ResultFileError(f"{path}: is damaged: its checksum is not that of its contents; delete it and run again")
    return table, metadata


def _is_whole(table: Table, metadata: Metadata) -> bool:
    try:
        return metadata.get(_CHECKSUM_KEY) == _checksum(table, metadata)
    except Exception:
        # What was written by another program may be anything.
        return False


def _checksum(table: Table, metadata: Metadata) -> str:
    """SHA-256 of names, types and contents; each part is preceded by its length, so that none runs into the next."""
    found = hashlib.sha256()

    def add(part: bytes | memoryview) -> None:
        found.update(len(part).to_bytes(8, "little"))
        found.update(part)

    for key, value in sorted(metadata.items()):
        if key != _CHECKSUM_KEY:
            add(key.encode())
            add(value.encode())
    for name, column in table.items():
        add(name.encode())
        add(column.kind.encode())
        if column.lengths is not None:
            add(memoryview(column.values).cast("B") if len(column.values) else b"")
        else:
            add(repr(column.to_list()).encode())
    return found.hexdigest()
