//! Every table that the schema has, of every kind, refuses a field that it does not have.

use super::fit::{schema, variants};
use super::from_json;
use crate::error::Error;
use serde_json::{Map, Value, json};

const UNKNOWN: &str = "no_such_field";

/// What may stand at a node: references followed, all its forms.
fn forms(node: &'static Value) -> Vec<&'static Value> {
    if let Some(name) = node["$ref"].as_str().filter(|_| node.get("properties").is_none()) {
        return forms(&schema()["$defs"][name.trim_start_matches("#/$defs/")]);
    }
    let several: Vec<_> = ["anyOf", "allOf"].into_iter().filter_map(|key| node[key].as_array()).flatten().collect();
    if several.is_empty() { vec![node] } else { several.into_iter().flat_map(forms).collect() }
}

/// A table of one kind: its fields, and those that it needs.
struct Table {
    fields: Map<String, Value>,
    all_fields: Vec<(&'static String, &'static Value)>,
}

impl Table {
    fn of(node: &'static Value) -> Option<Table> {
        let options = node["$ref"].as_str().map(|name| &schema()["$defs"][name.trim_start_matches("#/$defs/")]);
        let parts: Vec<&'static Value> = [Some(node), options].into_iter().flatten().collect();
        let all_fields: Vec<_> = parts.iter().filter_map(|part| part["properties"].as_object()).flatten().collect();
        let needed: Vec<&str> =
            parts.iter().filter_map(|part| part["required"].as_array()).flatten().filter_map(Value::as_str).collect();
        let fields = all_fields.iter().filter(|(name, _)| needed.contains(&name.as_str()));
        let fields = fields.map(|(name, node)| ((*name).clone(), least(node))).collect();
        (!all_fields.is_empty()).then_some(Table { fields, all_fields })
    }
}

/// The tables that may stand at a node, one for each kind.
fn tables(node: &'static Value) -> Vec<Table> {
    let kinds = |form: &'static Value| if form["oneOf"].is_array() { variants(form).collect() } else { vec![form] };
    forms(node).into_iter().flat_map(kinds).filter_map(Table::of).collect()
}

/// Some value that may stand at a node.
fn least(node: &'static Value) -> Value {
    if let Some(word) = node.get("const") {
        return word.clone();
    }
    let form = forms(node)[0];
    let word = form["enum"].get(0).or_else(|| variants(form).find_map(|one| one.get("const").or(one["enum"].get(0))));
    match (word, tables(form).into_iter().next(), form["type"].as_str()) {
        (Some(word), ..) => word.clone(),
        (_, Some(table), _) => Value::Object(table.fields),
        (.., Some("array")) => json!([]),
        (.., Some("string")) => json!("x"),
        (.., Some("boolean")) => json!(true),
        _ => json!(1),
    }
}

/// Tries an unknown field in all tables at and below a node; `whole` makes a specification of a value there.
fn try_all(node: &'static Value, path: &str, whole: &dyn Fn(Value) -> Value, tried: &mut Vec<String>) {
    for table in tables(node) {
        let kind = table.fields.get("kind").map_or(String::new(), |kind| format!(" {kind}"));
        let mut wrong = table.fields.clone();
        wrong.insert(UNKNOWN.to_string(), json!(5));
        let outcome = from_json(&whole(Value::Object(wrong)).to_string());
        let expected = format!("{path}.{UNKNOWN}");
        match outcome {
            Err(Error::Config { path, value, .. }) if path == expected.trim_start_matches('.') && value == "5" => {}
            other => panic!("{path}{kind}: {other:?}"),
        }
        tried.push(format!("{path}{kind}"));
        for (name, inner) in &table.all_fields {
            let with = |value: Value| {
                let mut fields = table.fields.clone();
                fields.insert((*name).clone(), value);
                whole(Value::Object(fields))
            };
            let path = format!("{path}.{name}");
            try_all(inner, path.trim_start_matches('.'), &with, tried);
        }
    }
    for items in forms(node).into_iter().filter_map(|form| form.get("items")) {
        try_all(items, &format!("{path}[0]"), &|value| whole(json!([value])), tried);
    }
}

#[test]
fn no_table_of_any_kind_has_a_field_that_the_schema_does_not_have() {
    let mut tried = Vec::new();
    try_all(schema(), "", &|whole| whole, &mut tried);
    for known in ["host.placement \"block\"", "host.placement \"round_robin\"", "workload.process \"bernoulli\""] {
        assert!(tried.iter().any(|one| one == known), "{known} of {tried:?}");
    }
    // As many as there are kinds, at least.
    let kinds: usize = schema()["$defs"]
        .as_object()
        .into_iter()
        .flat_map(|defs| defs.values())
        .map(|def| variants(def).filter(|one| one["properties"]["kind"].is_object()).count())
        .sum();
    assert!(kinds > 30 && tried.len() > kinds, "{} tables, {kinds} kinds", tried.len());
}

#[test]
fn keys_that_are_no_words_are_named_and_found() {
    let path_of_error = |text: &str| match from_json(text) {
        Err(Error::Config { path, .. }) => path,
        other => panic!("{other:?}"),
    };
    let topology = r#""network":{"topology":{"kind":"torus","size":[4]}}"#;
    for (workload, path) in [
        (r#"{"kind":"uniform","offered_load":0.1,"":{}}"#, r#"workload."""#),
        (r#"{"kind":"uniform","offered_load":0.1,"":{"x":[1,2]}}"#, r#"workload."""#),
        (r#"{"kind":"uniform","offered_load":0.1,"a.b":1}"#, r#"workload."a.b""#),
        (r#"{"kind":"uniform","":{"":{"":1}}}"#, r#"workload."""#),
    ] {
        assert_eq!(path_of_error(&format!("{{{topology},\"workload\":{workload}}}")), path);
    }
    assert_eq!(path_of_error(&format!("{{{topology},\"\":1}}")), "\"\"");
}

#[test]
fn a_number_where_a_table_of_the_hop_belongs_is_named() {
    let router = |what: &str| {
        format!(
            r#"{{"network":{{"topology":{{"kind":"torus","size":[4]}},"router":{what},"units":{{"cycle_ns":4}},
                "channel":{{"latency_ns":10}}}},"workload":{{"kind":"uniform","offered_load":0.1}}}}"#
        )
    };
    for what in ["5", "\"x\"", "true", "null"] {
        assert!(from_json(&router(what)).is_err_and(|error| error.is_config()), "{what}");
    }
}
