"""What ranks print: whole lines, each behind the rank that printed it."""

from __future__ import annotations

import io
from typing import Any, TextIO

from flitwork_mpi.programs.world import here


class Labelled(io.TextIOBase):
    """Standard output (or error) of all ranks: ``[3] text``. What no rank prints goes through as it is."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._begun: dict[int, str] = {}

    def write(self, text: str) -> int:
        """Writes the lines that are complete."""
        process = here.process
        if process is None:
            return self._stream.write(text)
        *lines, rest = (self._begun.pop(process.rank, "") + text).split("\n")
        if lines:
            self._stream.write("".join(f"[{process.rank}] {line}\n" for line in lines))
        if rest:
            self._begun[process.rank] = rest
        return len(text)

    def flush(self) -> None:
        """Writes what is complete; lines that are not wait for their ends."""
        self._stream.flush()

    def finish(self) -> None:
        """Writes lines that were never ended."""
        for rank, rest in sorted(self._begun.items()):
            self._stream.write(f"[{rank}] {rest}\n")
        self._begun.clear()
        self._stream.flush()

    def writable(self) -> bool:
        """Yes."""
        return True

    def isatty(self) -> bool:
        """No: lines are labelled."""
        return False

    def fileno(self) -> int:
        """That of the stream behind."""
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """That of the stream behind."""
        return self._stream.encoding

    @property
    def buffer(self) -> Any:
        """Bytes of ranks are text, too."""
        return _Bytes(self)


class _Bytes(io.RawIOBase):
    """The bytes side of a labelled stream."""

    def __init__(self, text: Labelled) -> None:
        self._text = text

    def write(self, data: Any) -> int:
        """Writes text that is encoded."""
        self._text.write(bytes(data).decode(self._text.encoding or "utf-8", "replace"))
        return len(data)

    def flush(self) -> None:
        """Flushes as the stream of the text does."""
        self._text.flush()
