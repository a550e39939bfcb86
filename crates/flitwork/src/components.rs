//! The components that a user can choose from, as one table: it feeds `flitwork list`, hints and the documentation.

use crate::collective::all_to_all::ALGORITHMS;
use crate::component::Component;
use crate::router::ARBITERS;
use crate::routing::ROUTINGS;
use crate::topology::TOPOLOGIES;

const fn component(
    name: &'static str,
    summary: &'static str,
    parameters: &'static str,
    paper: &'static str,
) -> Component {
    Component { name, summary, parameters, paper }
}

const ALLOCATORS: &[Component] = &[
    component(
        "islip",
        "round robin; pointers move on accepted grants of the first iteration",
        "iterations",
        "McKeown, IEEE/ACM Trans. Networking 7(2), 1999",
    ),
    component(
        "separable_input_first",
        "requesters pick, then resources pick",
        "arbiter",
        "Dally and Towles, Principles and Practices of Interconnection Networks, 2004, chapter 19",
    ),
    component(
        "separable_output_first",
        "resources pick, then requesters pick",
        "arbiter",
        "Dally and Towles 2004, chapter 19",
    ),
    component(
        "wavefront",
        "grants along diagonals, starting one further each time",
        "arbiter",
        "Tamir and Chi, IEEE Trans. Parallel and Distributed Systems 4(1), 1993",
    ),
];

const WORKLOADS: &[Component] = &[
    component(
        "all_to_all",
        "every rank sends a message to every other",
        "algorithm, message_flits, packet_flits, sync",
        "",
    ),
    component(
        "uniform",
        "open loop, to terminals drawn at random",
        "offered_load, packet_flits, include_self, process",
        "",
    ),
    component("traffic", "open loop, by a pattern", "pattern, offered_load, packet_flits, process", ""),
    component("burst", "so many packets of each terminal, by a pattern", "pattern, packets, packet_flits, rate", ""),
    component("trace", "packets given one by one: cycle, source, destination, flits", "packets, file", ""),
];

const PATTERNS: &[Component] = &[
    component("uniform", "a destination drawn uniformly for each packet", "include_self", ""),
    component("transpose", "(x, y) sends to (y, x)", "", DALLY),
    component("shuffle", "the address rotated left by one bit", "", DALLY),
    component("bit_complement", "the address with every bit inverted", "", DALLY),
    component("bit_reverse", "the address read backwards", "", DALLY),
    component("bit_rotation", "the address rotated right by one bit", "", DALLY),
    component("tornado", "almost half-way round in each dimension", "", DALLY),
    component("neighbour", "one further in each dimension", "", DALLY),
    component("random_permutation", "a permutation drawn once for the run", "", ""),
    component("random_pairs", "pairs drawn once for the run", "", "Yokota, Ootsu and Baba"),
    component("random_selection", "a destination drawn once for each terminal", "", "Yokota, Ootsu and Baba"),
    component("hotspot", "some terminals receive everything", "terminals, shares", ""),
    component("permutation", "a permutation given in full or as a file", "destinations, file", ""),
    component("matrix", "a destination drawn for each packet by the weights of its source", "weights, file", ""),
];

const DALLY: &str = "Dally and Towles 2004, section 3.2";

/// All components by kind, as JSON: `{"topologies": [{"name", "summary", "parameters", "paper"}, ...], ...}`.
pub fn components_json() -> String {
    let algorithms: Vec<Component> =
        ALGORITHMS.iter().map(|a| component(a.name, a.summary, a.defined_on, a.paper)).collect();
    serde_json::json!({
        "topologies": TOPOLOGIES,
        "routings": ROUTINGS,
        "algorithms": algorithms,
        "allocators": ALLOCATORS,
        "arbiters": ARBITERS,
        "workloads": WORKLOADS,
        "patterns": PATTERNS,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{AllocatorSpec, schema_json};
    use serde::de::DeserializeOwned;
    use serde_json::Value;
    use std::collections::{BTreeMap, BTreeSet};

    /// The kinds of a table of the specification, each with its fields.
    fn kinds(definitions: &Value, table: &Value) -> BTreeMap<String, BTreeSet<String>> {
        let variants = table["oneOf"].as_array().unwrap();
        let of = |table: &Value| table["properties"].as_object().unwrap().keys().cloned().collect::<BTreeSet<String>>();
        let fields = |variant: &Value| {
            let named = variant["$ref"].as_str().map(|name| of(&definitions[name.trim_start_matches("#/$defs/")]));
            &of(variant) | &named.unwrap_or_default()
        };
        let kind = |variant: &Value| variant["properties"]["kind"]["const"].as_str().unwrap().to_string();
        variants.iter().map(|v| (kind(v), fields(v))).collect()
    }

    /// What a specification accepts is in the tables, with its fields, and nothing else.
    #[test]
    fn the_tables_are_those_of_the_schema() {
        let schema: Value = serde_json::from_str(&schema_json()).unwrap();
        let tables = [
            ("TopologySpec", TOPOLOGIES),
            ("RoutingSpec", ROUTINGS),
            ("WorkloadSpec", WORKLOADS),
            ("Pattern", PATTERNS),
        ];
        for (name, components) in tables {
            let expected = kinds(&schema["$defs"], &schema["$defs"][name]);
            let listed: BTreeMap<String, BTreeSet<String>> = components
                .iter()
                .map(|c| {
                    let fields = c.parameters.split(", ").filter(|f| !f.is_empty()).chain(["kind"]);
                    (c.name.to_string(), fields.map(str::to_string).collect())
                })
                .collect();
            assert_eq!(listed, expected, "{name}");
        }
    }

    /// Every name in the other tables is one that a specification accepts: the table cannot run ahead of the code.
    #[test]
    fn allocators_and_arbiters_can_be_named_in_a_specification() {
        fn accepts<T: DeserializeOwned>(json: String) -> bool {
            match serde_json::from_str::<T>(&json) {
                Ok(_) => true,
                Err(e) => !e.to_string().contains("unknown variant"),
            }
        }
        let kind = |c: &Component| format!(r#"{{"kind": "{}"}}"#, c.name);
        assert!(ALLOCATORS.iter().all(|c| accepts::<AllocatorSpec>(kind(c))));
        assert!(ARBITERS.iter().all(|c| accepts::<AllocatorSpec>(format!(r#"{{"arbiter": "{}"}}"#, c.name))));
    }
}
