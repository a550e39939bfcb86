"""What is out of order in a network: ``network.without`` of a specification, and the network that is left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def working_topology(network: Mapping[str, Any]) -> dict[str, Any]:
    """The table ``network.topology``, with ``network.without`` in its field ``without``: as the core reads it.

    ``network`` is the table ``network`` of a specification.
    """
    without = network.get("without")
    return {**network["topology"], **({"without": without} if without else {})}
