"""The one gate for files from outside: what they hold is read with a budget, and whatever goes wrong names the file.

Readers of foreign formats (TOML, JSON, CSV, NumPy, Parquet) raise all sorts of errors over damaged files; within
:func:`reading` each of them is a :class:`flitwork.ConfigError`. No file is taken for larger than it is allowed to be,
whatever it is: a text without end (a device, a pipe) is refused as one that is too long.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flitwork.base.errors import ConfigError, FlitworkError
from flitwork.base.formats import check_binary, check_format
from flitwork.base.memory import limited_by, usable_bytes

if sys.version_info >= (3, 11):
    import tomllib as tomllib
else:
    import tomli as tomllib

#: Most bytes of a text that people write: configurations, studies, rules.
MOST_WRITTEN = 1 << 24
#: Bytes that a text takes at most for each of its bytes, read and split into its parts.
_PER_BYTE = 20
_LONGEST_REASON = 200


@contextlib.contextmanager
def reading(file: Path, path: str, expected: str, hint: str = "") -> Iterator[None]:
    """Whatever a reader of ``file`` raises is an error at ``path`` that names the file; ours pass as they are."""
    try:
        yield
    except FlitworkError:
        raise
    except Exception as error:
        unread = isinstance(error, OSError) and "can be read" not in expected
        what = f"{expected} that can be read" if unread else expected
        raise ConfigError(path, file, f"{what} ({because(error)})", hint) from None


def because(error: BaseException) -> str:
    """What an error says, on one line."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, MemoryError):
        return "it needs more memory than there is"
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= _LONGEST_REASON else f"{text[: _LONGEST_REASON - 3]}..."


def checked(file: Path, path: str, expected: str, hint: str = "check the name", *, pipe: bool = False) -> int:
    """The size of ``file`` [bytes], if it can be read and has an end (or is a ``pipe``, if it may); or an error."""
    with reading(file, path, expected, hint):
        found = file.stat()
        if stat.S_ISDIR(found.st_mode):
            raise ConfigError(path, file, f"{expected}, not a folder", "name a file in it")
        if not stat.S_ISREG(found.st_mode) and not (pipe and stat.S_ISFIFO(found.st_mode)):
            raise ConfigError(path, file, f"{expected}, not a device or a pipe", "write it to a file first")
        return found.st_size


def check_memory(file: Path, path: str, needed: float) -> None:
    """Refuses a file that needs more memory than there is, before it is read; ``needed`` is in bytes."""
    if not 0 <= needed <= (limit := usable_bytes()):
        expected = f"a file that can be read with {limit / 1e6:,.0f} MB (three quarters of {limited_by()})"
        raise ConfigError(path, file, expected, f"this one needs about {needed / 1e6:,.0f} MB")


def read_bytes(
    file: Path,
    path: str,
    expected: str,
    hint: str = "check the name",
    most: int | None = None,
    per_byte: int = _PER_BYTE,
) -> bytes:
    """The contents of ``file``: at most ``most`` bytes, or as many as there is memory for at ``per_byte`` for each."""
    limit = int(usable_bytes() / per_byte) if most is None else most
    size = checked(file, path, expected, hint, pipe=True)
    with reading(file, path, expected, hint):
        if size <= limit:
            with file.open("rb") as handle:
                data = handle.read(limit + 1)
            if len(data) <= limit:
                return data
    raise ConfigError(path, file, f"a file of at most {limit:,} bytes", "this one is longer")


def read_text(
    file: Path,
    path: str,
    expected: str,
    hint: str = "check the name",
    most: int | None = MOST_WRITTEN,
    errors: str = "strict",
) -> str:
    """The text of a file in UTF-8, with or without a mark of its byte order."""
    data = read_bytes(file, path, expected, hint, most)
    try:
        text = data.decode("utf-8-sig", errors)
        if errors == "strict" and (zero := data.find(0)) >= 0:
            # UTF-16 without a mark of its byte order is valid UTF-8 where all of its letters are plain.
            raise UnicodeDecodeError("utf-8", data, zero, zero + 1, "a zero byte")
    except UnicodeDecodeError as error:
        check_binary(file, path, expected)
        line = data.count(b"\n", 0, error.start) + 1
        marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        hint = "this is UTF-16: save it as UTF-8" if marked else "this is no text, or in another encoding"
        raise ConfigError(path, file, f"{expected} in UTF-8 (line {line}: {error.reason})", hint) from None
    # As text files are opened: one sign for the end of a line.
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_toml(file: Path, path: str = "file", expected: str = "a TOML file") -> dict[str, Any]:
    """The tables of a TOML file; an error names the file and the line."""
    text = read_text(file, path, expected)
    with reading(file, path, "TOML", "strings need quotes, tables [brackets]"):
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            if file.suffix.lower() != ".toml":
                check_format(file, path, expected)
            raise


def read_json(file: Path, path: str, expected: str, hint: str) -> Any:
    """What a JSON file holds; an error names the file and the line."""
    text = read_text(file, path, expected, hint)
    with reading(file, path, expected, hint):
        return json.loads(text)
