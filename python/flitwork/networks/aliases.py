"""Names of topologies: ``fat_tree`` stands for one of two, and other names get a hint what they are called here."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.base.notices import warn_user
from flitwork.values.schema import kinds, tables

#: What can be written for several topologies, and the fields that tell which of them is meant.
ALIASES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "fat_tree": {"k_ary_n_tree": ("k", "levels"), "xgft": ("children", "parents")},
}
_PATH = "network.topology.kind"
_TREE = "fat_tree with children and parents: children = [16, 8], parents = [1, 8] has 8 leaf switches of 16 terminals"
#: How other names are written here.
_ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(
        ("fattree", "folded_clos", "clos", "leaf_spine", "spine_leaf", "two_tier", "slimmed_fat_tree"), _TREE
    ),
    **dict.fromkeys(
        ("tree", "three_tier", "k_ary_fat_tree"), "fat_tree with k and levels, or with children and parents"
    ),
    "ring": 'torus with one dimension: kind = "torus", size = [8]',
    **dict.fromkeys(("line", "chain", "linear_array"), 'mesh with one dimension: kind = "mesh", size = [8]'),
    **dict.fromkeys(("k_ary_n_cube", "cube", "torus2d", "torus3d", "2d_torus", "3d_torus"), "torus: size = [8, 8, 8]"),
    **dict.fromkeys(("mesh2d", "mesh3d", "2d_mesh", "3d_mesh", "k_ary_n_mesh"), "mesh: size = [8, 8]"),
    **dict.fromkeys(("star", "switch", "single", "single_switch", "ideal", "bus", "full"), "crossbar: terminals = 16"),
    **dict.fromkeys(("megafly",), "dragonfly_plus"),
    **dict.fromkeys(("dragonflynew",), "dragonfly"),
    **dict.fromkeys(("flatfly", "flat_fly"), "flattened_butterfly, or hyperx with any sizes"),
    **dict.fromkeys(
        ("fully_connected", "all_to_all", "complete", "full_mesh"), "hyperx with one dimension: size = [8]"
    ),
    **dict.fromkeys(("slimfly",), "slim_fly"),
    **dict.fromkeys(("jellyfish", "random", "random_graph"), "random_regular: routers = 64, degree = 6"),
    **dict.fromkeys(
        ("anynet", "irregular", "custom", "file", "edges"), 'graph: cables = [[0, 1], [1, 2]], or file = "net.graphml"'
    ),
    **dict.fromkeys(("chordal_ring", "ring_with_chords"), "circulant: routers = 16, strides = [1, 4]"),
}


def resolved(kind: str, options: Collection[str]) -> str:
    """The topology that a name stands for, given the fields that are told; of an alias a warning says which it is."""
    candidates = ALIASES.get(kind)
    if candidates is None:
        return kind
    matching = [name for name, fields in candidates.items() if any(field in options for field in fields)]
    if len(matching) != 1:
        given = (
            ", ".join(field for fields in candidates.values() for field in fields if field in options) or "none of them"
        )
        either = ", or ".join(f"{' and '.join(fields)} (then it is {name})" for name, fields in candidates.items())
        raise ConfigError(_PATH, f'"{kind}" with {given}', either, "for example k = 4, levels = 3")
    (found,) = matching
    others = "; ".join(f"{name} has {' and '.join(fields)}" for name, fields in candidates.items() if name != found)
    text = f"topology {kind} is {found} here, as {' and '.join(candidates[found])} are given ({others})"
    warn_user(text)
    return found


def fields_of_alias(kind: str) -> list[str]:
    """The fields that an alias may have; none of what is no alias."""
    return [field for fields in ALIASES.get(kind, {}).values() for field in fields]


def specification(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A specification whose topology has the name that the simulator knows."""
    network = spec.get("network")
    topology = network.get("topology") if isinstance(network, Mapping) else None
    name = topology.get("kind") if isinstance(topology, Mapping) else None
    if not isinstance(network, Mapping) or not isinstance(topology, Mapping) or str(name) not in ALIASES:
        return dict(spec)
    kind = resolved(str(name), [*topology])
    return {**spec, "network": {**network, "topology": {**topology, "kind": kind}}}


def unknown(kind: str, path: str = _PATH) -> ConfigError:
    """The error for a name that no topology has; its hint is never empty."""
    known = [*kinds(tables("network")["topology"]), *ALIASES]
    name = kind.lower().replace("-", "_").replace(" ", "_")
    hint = _ELSEWHERE.get(name) or did_you_mean(name, known) or "flitwork list topologies says what each of them is"
    return ConfigError(path, f'"{kind}"', f"one of {', '.join(known)}", hint)


def is_known(kind: str) -> bool:
    """Whether a topology or an alias has this name."""
    return kind in ALIASES or kind in kinds(tables("network")["topology"])
