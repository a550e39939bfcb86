//! What serde reports in the words of a specification: which field, which value, what was expected, what to do.

use super::SimulationSpec;
use super::fault::Fault;
use super::fit::{expected_at, schema, table_in_words, variants};
use super::place::Place;
use super::reader::Reader;
use crate::error::{Error, did_you_mean};
use serde::Deserialize;
use serde_json::Value;

/// Turns what serde reports at `place` into path, value, expectation and hint.
pub(super) fn explain(place: &Place, fault: &Fault, root: &Value) -> Error {
    match fault {
        Fault::UnknownField { field, fields } => {
            let at = place.field(field);
            unknown_field(&at.to_string(), field, at.value(root).unwrap_or(&Value::Null), fields)
        }
        Fault::UnknownVariant { variant, variants } => {
            let at = leaf(root, place, &Value::String(variant.clone()), fault).to_string();
            Error::config(at, format!("{variant:?}"), known(variants, "value"), did_you_mean(variant, variants))
        }
        Fault::MissingField(field) => {
            let at = needy(root, place, field).field(field).to_string();
            Error::config(at, "nothing", "a value", format!("add {field}"))
        }
        Fault::Unfit { found, expected } => {
            let place = found.as_ref().map_or_else(|| place.clone(), |value| leaf(root, place, value, fault));
            unfit(&place, root, expected, type_hint(found.as_ref(), expected))
        }
        Fault::Other(message) => unfit(place, root, message, String::new()),
    }
}

/// The error for a value that is not what serde expects, in the words of the schema where it has better ones.
fn unfit(place: &Place, root: &Value, expected: &str, hint: String) -> Error {
    let at = if place.is_root() { "specification".to_string() } else { place.to_string() };
    let simple = matches!(expected, "u8" | "u16" | "u32" | "u64" | "usize" | "f64" | "string or map");
    let words = simple.then(|| expected_at(root, &at)).flatten().unwrap_or_else(|| in_words(expected));
    let value = place.value(root).map_or_else(|| "nothing".to_string(), Value::to_string);
    Error::config(at, value, words, hint)
}

/// The error for a field at `path` that does not exist beside those that do.
pub(super) fn unknown_field<S: AsRef<str>>(path: &str, field: &str, value: &Value, fields: &[S]) -> Error {
    Error::config(path, value, known(fields, "field"), did_you_mean(field, fields))
}

/// Serde's Rust types in words.
fn in_words(expected: &str) -> String {
    let word = match expected {
        "u8" => "a whole number, 0 to 255",
        "u16" => "a whole number, 0 to 65535",
        "u32" => "a whole number, 0 to 4294967295",
        "u64" | "usize" => "a whole number, at least 0",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "a table",
        "a string" => "text",
        other => return named_table(other).unwrap_or_else(|| other.to_string()),
    };
    word.to_string()
}

/// A table of the specification in words, given what serde calls it: "struct SteadySpec", "internally tagged enum
/// ProcessSpec".
fn named_table(expected: &str) -> Option<String> {
    let name = ["struct ", "internally tagged enum "].into_iter().find_map(|what| expected.strip_prefix(what))?;
    table_in_words(&schema()["$defs"][name])
}

/// What to do about a value of the wrong type.
fn type_hint(found: Option<&Value>, expected: &str) -> String {
    let number = expected.starts_with(['u', 'f']);
    match found {
        Some(Value::String(text)) if number && several(text).is_some() => several(text).unwrap_or_default(),
        Some(Value::String(text)) if number => {
            let digits = text.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '-');
            let unit = digits && text.contains(|c: char| c.is_alphabetic());
            if unit { "the number alone: the unit is part of the field's name" } else { "a number without quotes" }
                .to_string()
        }
        Some(Value::Number(n)) if number && n.is_f64() => "without a fraction, and not too large".to_string(),
        Some(Value::Number(_)) if expected == "a boolean" => "not 0 or 1".to_string(),
        Some(Value::Bool(_)) if number => "true and false are no numbers".to_string(),
        Some(one @ (Value::Number(_) | Value::Bool(_))) if expected == "a sequence" => format!("write [{one}]"),
        _ => String::new(),
    }
}

/// Sizes joined by x, as the list that is meant.
fn several(text: &str) -> Option<String> {
    let parts: Option<Vec<u64>> = text.split('x').map(|part| part.trim().parse().ok()).collect();
    let parts = parts.filter(|parts| parts.len() > 1)?;
    Some(format!("a list of numbers: {parts:?}"))
}

/// Serde loses its way inside a table that is told apart by its `kind`: below `place`, finds the leaf that is `value`;
/// of several the one that serde means, which is the one without which it reports something else.
fn leaf(root: &Value, place: &Place, value: &Value, fault: &Fault) -> Place {
    fn search(at: &Value, place: &Place, value: &Value, found: &mut Vec<Place>) {
        match at {
            Value::Object(fields) => fields.iter().for_each(|(k, v)| search(v, &place.field(k), value, found)),
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(i, v)| search(v, &place.item(i), value, found));
            }
            _ if at == value => found.push(place.clone()),
            _ => {}
        }
    }
    let mut found = Vec::new();
    if let Some(at) = place.value(root) {
        search(at, place, value, &mut found);
    }
    if found.len() > 1 {
        found.retain(|at| reported(&at.taken_from(root)).as_ref() != Some(fault));
    }
    if found.len() == 1 { found.swap_remove(0) } else { place.clone() }
}

/// What serde reports of a specification.
fn reported(root: &Value) -> Option<Fault> {
    SimulationSpec::deserialize(Reader(root)).err()
}

/// At or below `place`, the one table that needs the field by its kind and does not have it.
fn needy(root: &Value, place: &Place, field: &str) -> Place {
    fn tables<'a>(at: &'a Value, place: &Place, found: &mut Vec<(Place, &'a serde_json::Map<String, Value>)>) {
        if let Value::Object(fields) = at {
            found.push((place.clone(), fields));
            fields.iter().for_each(|(name, inner)| tables(inner, &place.field(name), found));
        }
    }
    let of_kind = |kind: &Value| {
        let definitions = schema()["$defs"].as_object().into_iter().flat_map(|defs| defs.values());
        definitions.flat_map(variants).any(|variant| {
            let mut required = variant["required"].as_array().into_iter().flatten();
            variant["properties"]["kind"]["const"] == *kind && required.any(|r| r == field)
        })
    };
    let mut found = Vec::new();
    if let Some(at) = place.value(root) {
        tables(at, place, &mut found);
    }
    found.retain(|(_, table)| !table.contains_key(field) && table.get("kind").is_some_and(of_kind));
    if found.len() == 1 { found.swap_remove(0).0 } else { place.clone() }
}

fn known<S: AsRef<str>>(expected: &[S], what: &str) -> String {
    let names: Vec<&str> = expected.iter().map(AsRef::as_ref).collect();
    if names.is_empty() { format!("no {what} here") } else { format!("one of {}", names.join(", ")) }
}
