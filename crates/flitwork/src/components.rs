//! The components that a user can choose from, as one table: it feeds `flitwork list`, hints and the documentation.

use crate::collective::all_to_all::ALGORITHMS;
use crate::collective::{COLLECTIVES, Collective, Operation};
use crate::component::Component;
use crate::router::{ALLOCATORS, ARBITERS};
use crate::routing::ROUTINGS;
use crate::spec::WORKLOADS;
use crate::topology::TOPOLOGIES;
use crate::traffic::PATTERNS;
use serde::Serialize;

/// All components by kind, as JSON: `{"topologies": [{"name", "summary", "parameters", "paper"}, ...], ...}`.
pub fn components_json() -> String {
    let algorithms: Vec<Component> =
        ALGORITHMS.iter().map(|a| Component::new(a.name, a.summary, a.defined_on, a.paper)).collect();
    serde_json::json!({
        "topologies": TOPOLOGIES,
        "routings": ROUTINGS,
        "algorithms": algorithms,
        "collectives": COLLECTIVES.iter().map(Listed::of).collect::<Vec<_>>(),
        "allocators": ALLOCATORS,
        "arbiters": ARBITERS,
        "workloads": WORKLOADS,
        "patterns": PATTERNS,
    })
    .to_string()
}

/// A row of the list of collectives.
#[derive(Serialize)]
struct Listed {
    operation: Operation,
    name: &'static str,
    summary: &'static str,
    parameters: String,
    defined_on: &'static str,
    goes_by: &'static str,
    paper: &'static str,
}

impl Listed {
    fn of(row: &Collective) -> Self {
        let (defined_on, goes_by) = (row.defined_on(), row.goes_by());
        let &Collective { operation, name, summary, paper, .. } = row;
        Listed { operation, name, summary, parameters: row.parameters.join(", "), defined_on, goes_by, paper }
    }
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
        // A physical field is another way to write the field beside it.
        let is_basic = |(_, node): &(&String, &Value)| node.get("x-physical").is_none();
        let of = |table: &Value| -> BTreeSet<String> {
            table["properties"].as_object().unwrap().iter().filter(is_basic).map(|(name, _)| name.clone()).collect()
        };
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
