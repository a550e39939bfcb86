//! Reading a specification, with errors that name the field, and writing its schema.

use super::SimulationSpec;
use crate::error::{Error, Result};
use serde_json::Value;

/// Reads a [`SimulationSpec`] from JSON (study files arrive as JSON too: Python reads the TOML).
///
/// # Errors
/// [`Error::Config`] with the path of the field for anything that is not a valid specification.
pub fn from_json(text: &str) -> Result<SimulationSpec> {
    let value: Value =
        serde_json::from_str(text).map_err(|e| Error::config("specification", "text", format!("JSON ({e})"), ""))?;
    serde_path_to_error::deserialize(&value).map_err(|e| {
        let path = e.path().to_string();
        explain(&path, &e.into_inner().to_string(), &value)
    })
}

/// The JSON Schema of [`SimulationSpec`].
pub fn schema_json() -> String {
    serde_json::to_string_pretty(&schemars::schema_for!(SimulationSpec)).unwrap_or_default()
}

/// Turns serde's sentence into path, value, expectation and hint.
fn explain(path: &str, message: &str, root: &Value) -> Error {
    let path = if path == "." { "" } else { path };
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let (field, expected) = split_quoted(rest);
        let at = if path.ends_with(&field) { path.to_string() } else { join(path, &field) };
        return Error::config(at.clone(), shown(root, &at), known(&expected, "field"), did_you_mean(&field, &expected));
    }
    if let Some(rest) = message.strip_prefix("unknown variant ") {
        let (variant, expected) = split_quoted(rest);
        let at = leaf(root, path, &Value::String(variant.clone()));
        return Error::config(at, format!("{variant:?}"), known(&expected, "value"), did_you_mean(&variant, &expected));
    }
    if let Some(rest) = message.strip_prefix("missing field ") {
        let (field, _) = split_quoted(rest);
        return Error::config(join(path, &field), "nothing", "a value", format!("add {field}"));
    }
    let (found, expected) = message.rsplit_once(", expected ").unwrap_or(("", message));
    let at = match named_value(found) {
        Some(value) => leaf(root, path, &value),
        None if path.is_empty() => "specification".to_string(),
        None => path.to_string(),
    };
    Error::config(at.clone(), shown(root, &at), in_words(expected), type_hint(found, expected))
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
        other => other,
    };
    word.to_string()
}

/// What to do about a value of the wrong type, given serde's "invalid type: string \"16 KB\"".
fn type_hint(found: &str, expected: &str) -> String {
    let number = expected.starts_with(['u', 'f']);
    match named_value(found) {
        Some(Value::String(text)) if number => {
            let digits = text.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '-');
            let unit = digits && text.contains(|c: char| c.is_alphabetic());
            if unit { "the number alone: the unit is part of the field's name" } else { "a number without quotes" }
                .to_string()
        }
        Some(Value::Number(n)) if number && n.is_f64() => "without a fraction, and not too large".to_string(),
        Some(Value::Number(_)) if expected == "a boolean" => "not 0 or 1".to_string(),
        _ => String::new(),
    }
}

/// Serde loses its way inside a table that is told apart by its `kind`: below `path`, finds the one leaf that is `value`.
fn leaf(root: &Value, path: &str, value: &Value) -> String {
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
    if found.len() == 1 { found.swap_remove(0) } else { path.to_string() }
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

/// A hint with the candidate most like `word`, or nothing where none is close.
pub fn did_you_mean<S: AsRef<str>>(word: &str, candidates: &[S]) -> String {
    candidates
        .iter()
        .map(|c| (likeness(word, c.as_ref()), c.as_ref()))
        .filter(|(score, _)| *score > 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or_else(String::new, |(_, best)| format!("did you mean {best}?"))
}

/// How alike two words are, 0 to 1: few typing errors (swapped letters count as one), or a long common beginning.
fn likeness(a: &str, b: &str) -> f64 {
    let typing = strsim::normalized_damerau_levenshtein(a, b);
    if a.len() > 3 && (b.starts_with(a) || a.starts_with(b)) { typing.max(0.8) } else { typing }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"network":{"topology":{"kind":"torus","size":[4,4]},"router":{"vcs":4}},
        "workload":{"kind":"uniform","offered_load":0.1}}"#;

    fn error(from: &str, to: &str) -> (String, String, String) {
        assert!(GOOD.contains(from));
        match from_json(&GOOD.replace(from, to)) {
            Err(Error::Config { path, value, hint, .. }) => (path, value, hint),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_good_specification_is_read() {
        assert_eq!(from_json(GOOD).unwrap().network.router.vcs, 4);
    }

    #[test]
    fn an_unknown_field_is_named_with_its_likely_meaning() {
        let (path, value, hint) = error("\"vcs\"", "\"vsc\"");
        assert_eq!((path.as_str(), value.as_str()), ("network.router.vsc", "4"));
        assert_eq!(hint, "did you mean vcs?");
    }

    #[test]
    fn an_unknown_field_inside_a_tagged_table_is_named() {
        let (path, _, hint) = error("\"size\"", "\"sizes\"");
        assert_eq!(path, "network.topology.sizes");
        assert_eq!(hint, "did you mean size?");
    }

    #[test]
    fn an_unknown_kind_is_named() {
        let (path, value, hint) = error("\"torus\"", "\"tours\"");
        assert_eq!(
            (path.as_str(), value.as_str(), hint.as_str()),
            ("network.topology.kind", "\"tours\"", "did you mean torus?")
        );
    }

    #[test]
    fn a_wrong_type_is_named() {
        let (path, value, _) = error("4}", "\"four\"}");
        assert_eq!((path.as_str(), value.as_str()), ("network.router.vcs", "\"four\""));
    }

    #[test]
    fn types_are_explained_in_words() {
        let explained = |to: &str| match from_json(&GOOD.replace("\"vcs\":4", to)) {
            Err(Error::Config { expected, hint, .. }) => (expected, hint),
            other => panic!("{other:?}"),
        };
        let whole = "a whole number, 0 to 4294967295".to_string();
        let unit = "the number alone: the unit is part of the field's name".to_string();
        assert_eq!(explained("\"buffer_flits\":\"16 KB\""), (whole.clone(), unit));
        assert_eq!(explained("\"vcs\":\"two\""), (whole.clone(), "a number without quotes".to_string()));
        assert_eq!(explained("\"vcs\":2.5"), (whole.clone(), "without a fraction, and not too large".to_string()));
        assert_eq!(explained("\"vcs\":5000000000"), (whole, String::new()));
        assert_eq!(explained("\"speculative\":1"), ("true or false".to_string(), "not 0 or 1".to_string()));
    }

    #[test]
    fn a_negative_size_is_named() {
        let (path, _, _) = error("\"vcs\":4", "\"vcs\":-4");
        assert_eq!(path, "network.router.vcs");
    }

    #[test]
    fn a_wrong_value_inside_a_tagged_table_is_named() {
        let (path, value, _) = error("[4,4]", "[4,-3]");
        assert_eq!((path.as_str(), value.as_str()), ("network.topology.size[1]", "-3"));
        let (path, value, _) = error("0.1", "\"ten percent\"");
        assert_eq!((path.as_str(), value.as_str()), ("workload.offered_load", "\"ten percent\""));
        let (path, _, hint) =
            error("\"router\"", "\"routing\":{\"kind\":\"dimension_order\",\"tie\":\"parrity\"},\"router\"");
        assert_eq!((path.as_str(), hint.as_str()), ("network.routing.tie", "did you mean parity?"));
    }

    #[test]
    fn a_missing_field_is_named() {
        let (path, ..) = error(",\"size\":[4,4]", "");
        assert_eq!(path, "network.topology.size");
    }

    #[test]
    fn what_is_no_json_is_an_error() {
        assert!(from_json("network = 1").is_err_and(|e| e.is_config()));
    }
}
