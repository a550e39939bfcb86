"""A network from a file of any format that is known."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flitwork.base import input_files
from flitwork.base.errors import ConfigError
from flitwork.base.formats import check_format
from flitwork.networks.files import anynet, edge_list, graphs, infiniband
from flitwork.networks.files.listed import Listed

_EXPECTED = "a network: GraphML, an edge list in CSV, what ibnetdiscover prints, or BookSim's anynet"
_GRAPHML = "<graphml"
#: How the names of edge lists end: texts of other tools are known by more.
_TEXTS = (".csv", ".tsv", ".txt", ".edgelist", ".edges")
#: A line of an edge list whose columns are separated by something else.
_OTHER_SEPARATOR = re.compile(r"\s*\w+[ \t;]+\w+\s*([\d{].*)?")
#: Whether a text is of a format, and its reader.
_FORMATS: tuple[tuple[Callable[[str], bool], Callable[[str, str], Listed]], ...] = (
    (infiniband.looks_like, infiniband.read),
    (anynet.looks_like, anynet.read),
    (edge_list.looks_like, edge_list.read),
)
#: Most bytes of a text: a fabric of a hundred thousand hosts is a tenth of that.
_MOST = 1 << 28


def topology_fields(file: Path, where: str = "network.topology.file") -> dict[str, Any]:
    """The fields of the topology ``graph`` that a file says."""
    text = input_files.read_text(file, where, _EXPECTED, most=_MOST)
    if _GRAPHML in text[:4096]:
        return graphs.read_graphml(file, where).fields()
    for is_one, read in _FORMATS:
        if is_one(text):
            return read(text, where).fields()
    line = next((line for line in text.splitlines() if line.strip()), "")
    if file.suffix.lower() in _TEXTS and _OTHER_SEPARATOR.fullmatch(line):
        raise ConfigError(where, f"{line.strip()} (first line)", "commas between the two ends of a cable", "write 0,1")
    check_format(file, where, _EXPECTED)
    raise ConfigError(where, file, _EXPECTED, "an edge list has a line 0,1 for each cable")
