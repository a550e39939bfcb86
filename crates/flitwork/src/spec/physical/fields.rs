//! Which fields have a physical name, and the schema with those names in it.

use crate::units::Dimension;
use serde_json::{Map, Value, json};

/// In the schema, the field in whose place a physical field stands.
pub(in crate::spec) const BASE: &str = "x-physical";
/// In the schema, the physical name of a field whose own name does not end in its unit.
const RATE: &str = "x-rate";
/// In the schema, that a field is physical by itself: text with a unit may stand there.
const TEXT: &str = "x-text";

/// Ends of names of fields in the units of the model, and what they are in physical units.
const ENDS: [(&str, &str); 2] = [("cycles", "ns"), ("flits", "bytes")];
const DIMENSIONS: [(&str, Dimension); 3] =
    [("bytes_per_s", Dimension::Rate), ("bytes", Dimension::Size), ("ns", Dimension::Time)];

/// The physical name of a field.
fn counterpart(name: &str, node: &Value) -> Option<String> {
    if let Some(rate) = node[RATE].as_str() {
        return Some(rate.to_string());
    }
    ENDS.iter().find_map(|(end, physical)| {
        let before = name.strip_suffix(end)?;
        (before.is_empty() || before.ends_with('_')).then(|| format!("{before}{physical}"))
    })
}

/// What a physical field measures, by the end of its name.
pub(super) fn dimension_of(name: &str) -> Dimension {
    by_name(name).unwrap_or(Dimension::Time)
}

fn by_name(name: &str) -> Option<Dimension> {
    let ends = |end: &str| name.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('_'));
    DIMENSIONS.iter().find(|(end, _)| ends(end)).map(|found| found.1)
}

/// What a field measures that is physical by itself, such as `message_bytes`.
pub(super) fn by_itself(node: &Value, name: &str) -> Option<Dimension> {
    if node.get(TEXT).is_some() { by_name(name) } else { None }
}

/// Puts the physical fields into a schema, each beside the one in whose place it may stand.
pub(in crate::spec) fn add_to(schema: &mut Value) {
    let definitions = schema["$defs"].clone();
    visit(schema, &definitions);
}

fn visit(node: &mut Value, definitions: &Value) {
    match node {
        Value::Object(fields) => {
            if let Some(Value::Object(properties)) = fields.get_mut("properties") {
                let more = physical(properties, definitions);
                properties.extend(more);
            }
            fields.values_mut().for_each(|inner| visit(inner, definitions));
        }
        Value::Array(items) => items.iter_mut().for_each(|inner| visit(inner, definitions)),
        _ => {}
    }
}

/// The physical fields that stand beside those of a table; marks what is physical by itself.
fn physical(properties: &mut Map<String, Value>, definitions: &Value) -> Vec<(String, Value)> {
    let found: Vec<(String, Value)> = properties
        .iter()
        .filter(|(_, node)| is_number(node, definitions))
        .filter_map(|(name, node)| {
            let physical = counterpart(name, node)?;
            (!properties.contains_key(&physical)).then(|| (physical.clone(), described(name, &physical, node)))
        })
        .collect();
    for (name, node) in properties.iter_mut() {
        if let (Some(fields), Some(_)) = (node.as_object_mut(), by_name(name)) {
            if fields.get("type").is_some_and(|kind| kind == "integer" || kind == "number") {
                fields.insert(TEXT.into(), Value::Bool(true));
            }
        }
    }
    found
}

/// Whether numbers may stand at a field: not where a word or a switch ends like a unit.
fn is_number(node: &Value, definitions: &Value) -> bool {
    let forms = node["anyOf"].as_array().into_iter().flatten();
    let referred = node["$ref"].as_str().map(|name| &definitions[name.trim_start_matches("#/$defs/")]);
    node["type"] == "integer"
        || node["type"] == "number"
        || node["type"] == "array" && node["items"]["type"] == "integer"
        || forms.chain(referred).any(|form| is_number(form, definitions))
}

fn described(base: &str, name: &str, node: &Value) -> Value {
    let dimension = by_name(name).unwrap_or(Dimension::Time);
    let list = node["type"] == "array";
    let several = if list { ", each" } else { "" };
    let text = format!("`{base}` in {}{several}; or text with a unit.", dimension.unit());
    json!({ "description": text, BASE: base })
}
