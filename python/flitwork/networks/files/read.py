"""A network from a file of any format that is known."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flitwork.base import input_files
from flitwork.base.errors import ConfigError
from flitwork.base.formats import check_format
from flitwork.networks.files import anynet, astra_sim, edge_list, forwarding, graphs, htsim, infiniband
from flitwork.networks.files.listed import Listed

_EXPECTED = (
    "a network: GraphML, an edge list in CSV, what ibnetdiscover prints, BookSim's anynet, a topology of htsim, "
    "or a network of ASTRA-sim"
)
_GRAPHML = "<graphml"
#: How the names of edge lists end: texts of other tools are known by more.
_TEXTS = (".csv", ".tsv", ".txt", ".edgelist", ".edges")
#: A line of an edge list whose columns are separated by something else.
_OTHER_SEPARATOR = re.compile(r"\s*\w+[ \t;]+\w+\s*([\d{].*)?")
#: Whether a text is of a format, and its reader.
_FORMATS: tuple[tuple[Callable[[str], bool], Callable[[str, str], Listed]], ...] = (
    (infiniband.looks_like, infiniband.read),
    (anynet.looks_like, anynet.read),
    (htsim.looks_like, htsim.read),
    (astra_sim.looks_like, astra_sim.read),
    (edge_list.looks_like, edge_list.read),
)
#: Most bytes of a text: a fabric of a hundred thousand hosts is a tenth of that.
_MOST = 1 << 28
#: Bytes at the start of a file by which forwarding tables are known.
_LOOKED_AT = 4096


def topology_fields(file: Path, where: str = "network.topology.file") -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields of the topology ``graph`` that a file says, and what it says of other tables of the network."""
    text = input_files.read_text(file, where, _EXPECTED, most=_MOST)
    try:
        found = _listed(text, file, where)
        return found.fields(), found.beside
    except ConfigError as error:
        raise _in(file, error) from None


def forwarding_tables(
    file: Path, fabric: Path, where: str = "network.routing.file", of_fabric: str = "network.topology.file"
) -> list[list[int]]:
    """The output ports that the forwarding tables in a file say, of a fabric in a file of ``ibnetdiscover``."""
    tables = input_files.read_text(file, where, "forwarding tables as ibroute prints them", most=_MOST)
    text = input_files.read_text(fabric, of_fabric, "what ibnetdiscover prints", most=_MOST)
    if not infiniband.looks_like(text):
        raise ConfigError(of_fabric, fabric, "what ibnetdiscover prints, as forwarding tables are beside it")
    try:
        return forwarding.output_ports(tables, text, where, of_fabric)
    except ConfigError as error:
        raise _in(fabric if error.path == of_fabric else file, error) from None


def are_forwarding_tables(file: Path) -> bool:
    """Whether a file begins as the forwarding tables of switches do; false if it cannot be read."""
    try:
        with file.open("rb") as handle:
            return forwarding.looks_like(handle.read(_LOOKED_AT).decode("utf-8-sig", "replace"))
    except (OSError, ValueError):
        return False


def _in(file: Path, error: ConfigError) -> ConfigError:
    """An error over what is in a file, with the name of the file."""
    if error.value == str(file):
        return error
    return ConfigError(error.path, f"{file.name}: {error.value}", error.expected, error.hint)


def _listed(text: str, file: Path, where: str) -> Listed:
    if _GRAPHML in text[:4096]:
        return graphs.read_graphml(file, where)
    for is_one, read in _FORMATS:
        if is_one(text):
            return read(text, where)
    line = next((line for line in text.splitlines() if line.strip()), "")
    if file.suffix.lower() in _TEXTS and _OTHER_SEPARATOR.fullmatch(line):
        raise ConfigError(where, f"{line.strip()} (first line)", "commas between the two ends of a cable", "write 0,1")
    check_format(file, where, _EXPECTED)
    raise ConfigError(where, file, _EXPECTED, "an edge list has a line 0,1 for each cable")
