//! Serde's errors in the words of a specification: which field, which value, what was expected, what to do.

use super::SimulationSpec;
use super::fit::{expected_at, schema, table_in_words, variants};
use super::renamed::{renamed_field, renamed_word};
use crate::error::{Error, did_you_mean};
use serde_json::Value;

/// Turns serde's sentence into path, value, expectation and hint.
pub(super) fn explain(path: &str, message: &str, root: &Value) -> Error {
    let path = if path == "." { "" } else { path };
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let (field, expected) = split_quoted(rest);
        let at = if last(path) == field { path.to_string() } else { join(&holder(root, path, &field), &field) };
        let hint = renamed_field(&at)
            .map_or_else(|| did_you_mean(&field, &expected), |new| format!("it was renamed: write {new}"));
        return Error::config(at.clone(), shown(root, &at), known(&expected, "field"), hint);
    }
    if let Some(rest) = message.strip_prefix("unknown variant ") {
        let (variant, expected) = split_quoted(rest);
        let at = leaf(root, path, &Value::String(variant.clone()), message);
        let hint = renamed_word(&at, &variant)
            .map_or_else(|| did_you_mean(&variant, &expected), |new| format!("it was renamed: write {new}"));
        return Error::config(at, format!("{variant:?}"), known(&expected, "value"), hint);
    }
    if let Some(rest) = message.strip_prefix("missing field ") {
        let (field, _) = split_quoted(rest);
        let at = join(&needy(root, path, &field), &field);
        return Error::config(at, "nothing", "a value", format!("add {field}"));
    }
    let (found, expected) = message.rsplit_once(", expected ").unwrap_or(("", message));
    let at = match named_value(found) {
        Some(value) => leaf(root, path, &value, message),
        None if path.is_empty() => "specification".to_string(),
        None => path.to_string(),
    };
    let simple = matches!(expected, "u8" | "u16" | "u32" | "u64" | "usize" | "f64" | "string or map");
    let words = simple.then(|| expected_at(root, &at)).flatten().unwrap_or_else(|| in_words(expected));
    Error::config(at.clone(), shown(root, &at), words, type_hint(found, expected))
}

/// The value that serde names: "invalid type: string \"ten\"", "invalid value: integer `-4`".
fn named_value(found: &str) -> Option<Value> {
    let (_, named) = found.split_once(": ")?;
    let (_, value) = named.trim_start_matches("floating ").split_once(' ')?;
    serde_json::from_str(value.trim_matches('`')).ok()
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

/// A table of the specification in words, given what serde calls it: "struct SteadySpec", "internally tagged enum ProcessSpec".
fn named_table(expected: &str) -> Option<String> {
    let name = ["struct ", "internally tagged enum "].into_iter().find_map(|what| expected.strip_prefix(what))?;
    table_in_words(&schema()["$defs"][name])
}

/// What to do about a value of the wrong type, given serde's "invalid type: string \"16 KB\"".
fn type_hint(found: &str, expected: &str) -> String {
    let number = expected.starts_with(['u', 'f']);
    match named_value(found) {
        Some(Value::String(text)) if number && several(&text).is_some() => several(&text).unwrap_or_default(),
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

/// Serde loses its way inside a table that is told apart by its `kind`: below `path`, finds the leaf that is `value`; of several the
/// one that serde means, which is the one without which it says something else.
fn leaf(root: &Value, path: &str, value: &Value, message: &str) -> String {
    fn search(at: &Value, path: &str, value: &Value, found: &mut Vec<String>) {
        match at {
            Value::Object(fields) => fields.iter().for_each(|(k, v)| search(v, &join(path, k), value, found)),
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(i, v)| search(v, &format!("{path}[{i}]"), value, found));
            }
            _ if at == value => found.push(path.to_string()),
            _ => {}
        }
    }
    let mut found = Vec::new();
    if let Some(at) = root.pointer(&pointer(path)) {
        search(at, path, value, &mut found);
    }
    if found.len() > 1 {
        found.retain(|at| said(&without(root, at)) != message);
    }
    if found.len() == 1 { found.swap_remove(0) } else { path.to_string() }
}

/// What serde says of a specification.
fn said(root: &Value) -> String {
    serde_json::from_value::<SimulationSpec>(root.clone()).err().map_or_else(String::new, |e| e.to_string())
}

/// A specification without what is at `path`.
fn without(root: &Value, path: &str) -> Value {
    let (mut rest, pointer) = (root.clone(), pointer(path));
    let (holder, last) = pointer.rsplit_once('/').unwrap_or_default();
    match rest.pointer_mut(holder) {
        Some(Value::Object(fields)) => drop(fields.remove(last)),
        Some(Value::Array(items)) => {
            drop(last.parse().ok().filter(|&i| i < items.len()).map(|i: usize| items.remove(i)))
        }
        _ => {}
    }
    rest
}

/// All tables at and below `path`, with their paths.
fn tables(root: &Value, path: &str) -> Vec<(String, serde_json::Map<String, Value>)> {
    let Some(Value::Object(fields)) = root.pointer(&pointer(path)) else { return Vec::new() };
    let below = fields.keys().flat_map(|field| tables(root, &join(path, field)));
    std::iter::once((path.to_string(), fields.clone())).chain(below).collect()
}

/// At or below `path`, the one table that has the field.
fn holder(root: &Value, path: &str, field: &str) -> String {
    only(tables(root, path).into_iter().filter(|(_, table)| table.contains_key(field)), path)
}

/// At or below `path`, the one table that needs the field by its kind and does not have it.
fn needy(root: &Value, path: &str, field: &str) -> String {
    let of_kind = |kind: &Value| {
        let definitions = schema()["$defs"].as_object().into_iter().flat_map(|defs| defs.values());
        definitions.flat_map(variants).any(|variant| {
            let mut required = variant["required"].as_array().into_iter().flatten();
            variant["properties"]["kind"]["const"] == *kind && required.any(|r| r == field)
        })
    };
    let needs =
        |table: &serde_json::Map<String, Value>| !table.contains_key(field) && table.get("kind").is_some_and(of_kind);
    only(tables(root, path).into_iter().filter(|(_, table)| needs(table)), path)
}

/// The path of the only table of some, or else `path`.
fn only<T>(found: impl Iterator<Item = (String, T)>, path: &str) -> String {
    let mut found: Vec<String> = found.map(|(path, _)| path).collect();
    if found.len() == 1 { found.swap_remove(0) } else { path.to_string() }
}

/// The last field of a path.
fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or_default()
}

/// Splits "`name`, expected one of `a`, `b`" into the name and the candidates.
fn split_quoted(text: &str) -> (String, Vec<String>) {
    let mut quoted = text.split('`').skip(1).step_by(2).map(str::to_string);
    (quoted.next().unwrap_or_default(), quoted.collect())
}

fn known(expected: &[String], what: &str) -> String {
    if expected.is_empty() { format!("no {what} here") } else { format!("one of {}", expected.join(", ")) }
}

fn join(path: &str, field: &str) -> String {
    if path.is_empty() { field.to_string() } else { format!("{path}.{field}") }
}

fn pointer(path: &str) -> String {
    path.split(['.', '[', ']']).filter(|s| !s.is_empty()).map(|s| format!("/{s}")).collect()
}

fn shown(root: &Value, path: &str) -> String {
    root.pointer(&pointer(path)).map_or_else(|| "nothing".to_string(), Value::to_string)
}
