"""What files and graphs say of networks: the fields of the topology ``graph``.

A file per format reads its text into a :class:`~flitwork.networks.files.listed.Listed` network, which becomes these
fields. The contents of a file decide which format it is, not its name.
"""

from flitwork.networks.files.filled import with_network_files
from flitwork.networks.files.graphs import graph_of, listed, terminal_names_of, without_physical
from flitwork.networks.files.read import are_forwarding_tables, topology_fields

__all__ = [
    "are_forwarding_tables",
    "graph_of",
    "listed",
    "terminal_names_of",
    "topology_fields",
    "with_network_files",
    "without_physical",
]
