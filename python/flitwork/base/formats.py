"""What a file is that is not what a command expects: files of other tools by their contents, else by their ending."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from flitwork.base.errors import ConfigError

#: Bytes of a file that are looked at.
_LOOKED_AT = 4096
_BOOKSIM = "flitwork booksim FILE runs configurations of BookSim 2"
_GOAL = "flitwork run FILE.goal runs GOAL programs"
_TABLE = "`flitwork list workloads` says which of them read tables"
_NONE = "flitwork does not read such files"
_NETWORK = "--topology FILE reads networks, and so does fw.read_network"
#: What a text is that has this in it, and what to do with it.
_CONTENTS: tuple[tuple[str, str, str], ...] = (
    (r"<algo\s[^>]*\bnchunksperloop\b", "an MSCCL program", "flitwork run FILE.xml runs MSCCL programs"),
    (r"<!DOCTYPE platform|<platform\b", "a platform of SimGrid (XML)", _NONE),
    (r"<graphml\b", "a graph in GraphML", _NETWORK),
    (r"\A\s*<\?xml|\A\s*<[A-Za-z!]", "an XML file", _NONE),
    (r"(?m)^vendid=0x|^sysimgguid=0x|^# Topology file: generated", "a topology that ibnetdiscover prints", _NETWORK),
    (r'(?m)^(Switch|Hca|Ca)\s+\d+\s+"', "a network of ibsim", _NETWORK),
    (r"(?m)^Unicast lids \[", "the forwarding tables of a fabric", "fw.read_network(FILE, forwarding=FILE) reads them"),
    (r"(?mi)^Nodes \d+\s*\n\s*Connections \d+", "a connection matrix of htsim", _NONE),
    (r"(?mi)^Nodes \d+\s*\n\s*(Tiers|Podsize)\b", "a topology of htsim", _NETWORK),
    (r"(?m)^\s*npus_count\s*:", "a network of ASTRA-sim (YAML)", _NETWORK),
    (r'"(scheduling-policy|all-reduce-implementation)"', "a system of ASTRA-sim (JSON)", _NONE),
    (r"(?m)^#Paraver \(", "a trace of Paraver", _NONE),
    (r"(?m)^\s*(simple|network|package)\s+[\w.]+\s*[;{]", "a network of OMNeT++ (NED)", _NONE),
    (r"\A\s*num_ranks\s+\d+", "a GOAL program", _GOAL),
    (r"(?m)^\s*\w+\s*=\s*[^;\n]+;", "a configuration of BookSim", _BOOKSIM),
    (
        r"(?m)^#\s*OSU MPI|Intel\(R\) MPI Benchmarks",
        "what an MPI benchmark prints",
        "flitwork tune reads it",
    ),
    (r"\A\s*(\{|\[\s*(\{|[\"\d-]|\[\s*[\[{\"\d-]))", "a JSON file", "flitwork reads TOML"),
    (r"(?m)^\s*[\w-]+\s*:(\s|$)", "a YAML file", "flitwork reads TOML"),
)
#: Formats that many tools have: a text may look like one of them by chance.
GENERAL = ("a JSON file", "a YAML file", "a configuration of BookSim", "a GOAL program", "a table")
PARQUET = "a Parquet file"
#: What a file is by its first bytes.
_MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (b"PAR1", PARQUET, _TABLE),
    (b"\x93NUMPY", "an array of NumPy", _TABLE),
    (b"PK\x03\x04", "a ZIP archive", "unpack it"),
    (b"\x1f\x8b", "compressed with gzip", "unpack it"),
    (b"\x89PNG", "a picture", _NONE),
    (b"%PDF", "a PDF", _NONE),
    (b"\x89HDF", "an HDF5 file", _NONE),
    (b"\x7fELF", "a program", "flitwork mpi record runs programs"),
    (b"OTF2", "a trace in OTF2", _NONE),
)
#: What a file is by its ending, where its contents do not say.
_ENDINGS: dict[str, tuple[str, str]] = {
    ".et": ("an execution trace of Chakra, as ASTRA-sim reads it", _NONE),
    ".eg": ("an execution graph of Chakra", _NONE),
    ".xml": ("an XML file", _NONE),
    ".topo": ("a topology of another tool (htsim, ibsim)", _NONE),
    ".cm": ("a connection matrix of htsim", _NONE),
    ".yml": ("a YAML file", "flitwork reads TOML"),
    ".yaml": ("a YAML file", "flitwork reads TOML"),
    ".json": ("a JSON file", "flitwork reads TOML"),
    ".ned": ("a network of OMNeT++ (NED)", _NONE),
    ".ini": ("a configuration of OMNeT++ or gem5", _NONE),
    ".prv": ("a trace of Paraver", _NONE),
    ".dim": ("a trace of Dimemas", _NONE),
    ".otf2": ("a trace in OTF2", _NONE),
    ".net": ("a network of ibsim", _NETWORK),
    ".goal": ("a GOAL program", _GOAL),
    ".cfg": ("a configuration of another tool", _BOOKSIM),
    ".csv": ("a table", _TABLE),
    ".parquet": (PARQUET, _TABLE),
    ".npy": ("an array of NumPy", _TABLE),
    ".py": ("a Python program", "python FILE, or flitwork mpi simulate FILE for mpi4py"),
}
#: Endings of files that are no texts.
_BINARY = (".et", ".eg", ".otf2", ".parquet", ".npy")


def format_of(file: Path) -> tuple[str, str]:
    """What a file is, and what to do with it; two empty texts where nobody knows."""
    start = _start_of(file)
    if start is None:
        return "", ""
    for magic, name, hint in _MAGIC:
        if start.startswith(magic):
            return name, hint
    ending = _ENDINGS.get(file.suffix.lower(), ("", ""))
    try:
        text = start.decode("utf-8-sig") if len(start) < _LOOKED_AT else start.decode("utf-8-sig", errors="ignore")
    except UnicodeDecodeError:
        return ending
    # Binary data may be valid text by chance.
    if "\0" in text or file.suffix.lower() in (".et", ".goal", ".py"):
        return ending
    return next(((name, hint) for pattern, name, hint in _CONTENTS if re.search(pattern, text)), ending)


def _start_of(file: Path) -> bytes | None:
    try:
        with file.open("rb") as handle:
            return handle.read(_LOOKED_AT)
    except OSError:
        return None


def check_binary(file: Path, path: str, expected: str) -> None:
    """Raises :class:`flitwork.ConfigError` that names the format of a file that is no text, where it is known.

    For files that are not in UTF-8: a text in another encoding may well be what is ``expected``.
    """
    start = _start_of(file) or b""
    if file.suffix.lower() in _BINARY or any(start.startswith(magic) for magic, _, _ in _MAGIC):
        check_format(file, path, expected)


def check_format(file: Path, path: str, expected: str, allowed: Collection[str] = ()) -> None:
    """Raises :class:`flitwork.ConfigError` that names the format of a file, where it is known and none of ``allowed``.

    For files that could not be read as what is ``expected``.
    """
    name, hint = format_of(file)
    if name and name not in allowed:
        raise ConfigError(path, file, f"{expected}: this is {name}", hint)
