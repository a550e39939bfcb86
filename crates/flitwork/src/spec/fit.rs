//! What the schema says and serde does not check: a table is no list and has no field that is not there, whatever its
//! kind; a number lies in its range. And the schema in words.

use super::explain::unknown_field;
use super::place::shown_key;
use super::{SimulationSpec, names, physical};
use crate::error::{Error, Result};
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// What marks a field that programs set, and users do not.
const INTERNAL: &str = "x-internal";

/// The schema as users see it.
pub(super) fn public_schema() -> Value {
    fn publish(node: &mut Value) {
        if let Some(fields) = node.get_mut("properties").and_then(Value::as_object_mut) {
            fields.retain(|_, field| field.get(INTERNAL).is_none());
        }
        match node {
            Value::Object(inner) => inner.values_mut().for_each(publish),
            Value::Array(inner) => inner.iter_mut().for_each(publish),
            _ => {}
        }
    }
    let mut public = schema().clone();
    publish(&mut public);
    names::add_to(&mut public);
    public
}

/// The schema of a specification, with its internal fields.
pub(super) fn schema() -> &'static Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
        let mut schema = schemars::schema_for!(SimulationSpec).to_value();
        unescape(&mut schema);
        physical::fields::add_to(&mut schema);
        schema
    });
    &SCHEMA
}

/// Documentation comments escape the bracket of a unit, `\[cycles]`, which would be a link otherwise; descriptions show
/// it as it reads.
fn unescape(node: &mut Value) {
    if let Some(Value::String(text)) = node.get_mut("description") {
        *text = text.replace("\\[", "[");
    }
    match node {
        Value::Object(inner) => inner.values_mut().for_each(unescape),
        Value::Array(inner) => inner.iter_mut().for_each(unescape),
        _ => {}
    }
}

/// Refuses lists in the place of tables (serde would take their entries for the fields, in order) and fields that a
/// table does not have (serde would drop those of a kind without fields).
pub(super) fn check_shape(root: &Value) -> Result<()> {
    visit(schema(), root, "", &mut |node, value, path| match value {
        Value::Array(items) => match table_in_words(resolve(node, value)) {
            Some(expected) => Err(Error::config(path, value, expected, as_a_kind(resolve(node, value), items))),
            None => Ok(()),
        },
        Value::Object(given) => check_fields(resolve(node, value), value, given, path),
        _ => Ok(()),
    })
}

fn check_fields(table: &'static Value, value: &Value, given: &Map<String, Value>, path: &str) -> Result<()> {
    let Some(fields) = fields_of(table, value) else { return Ok(()) };
    let Some((name, inner)) = given.iter().find(|(name, _)| !fields.iter().any(|(field, _)| field == name)) else {
        return Ok(());
    };
    let hidden = |node: &Value| node.get(physical::fields::BASE).is_some() || node.get(INTERNAL).is_some();
    let shown = fields.iter().filter(|(field, node)| *field != "kind" && !hidden(node));
    let names: Vec<String> = shown.map(|(field, _)| (*field).clone()).collect();
    let at = if path.is_empty() { shown_key(name) } else { format!("{path}.{}", shown_key(name)) };
    Err(unknown_field(&at, name, inner, &names))
}

/// Refuses numbers out of their range.
pub(super) fn check_ranges(root: &Value) -> Result<()> {
    visit(schema(), root, "", &mut |node, value, path| match value.as_f64() {
        Some(number) if !Range::of(node, value).has(number) => {
            let expected = number_in_words(node, value).unwrap_or_default();
            Err(Error::config(path, value, expected, ""))
        }
        _ => Ok(()),
    })
}

/// What may stand at `path`, if that is a number or a word.
pub(super) fn expected_at(root: &Value, at: &str) -> Option<String> {
    let mut found = None;
    let look = &mut |node: &'static Value, value: &Value, path: &str| {
        if path == at {
            found = number_in_words(node, value).or_else(|| words(resolve(node, value)));
        }
        Ok(())
    };
    visit(schema(), root, "", look).ok()?;
    found
}

/// A table in words, given its node in the schema.
pub(super) fn table_in_words(table: &Value) -> Option<String> {
    let kinds: Vec<&str> = variants(table).filter_map(|v| v["properties"]["kind"]["const"].as_str()).collect();
    if !kinds.is_empty() {
        return Some(format!("a table with a kind, one of {}, and its fields", kinds.join(", ")));
    }
    let basic = table["properties"].as_object()?.iter().filter(|(_, node)| node.get(physical::fields::BASE).is_none());
    let fields: Vec<&str> = basic.map(|(name, _)| name.as_str()).collect();
    Some(format!("a table with fields such as {}", fields.join(", ")))
}

/// The kinds of a table.
pub(super) fn variants(table: &Value) -> impl Iterator<Item = &Value> {
    table["oneOf"].as_array().into_iter().flatten()
}

type Look<'a> = &'a mut dyn FnMut(&'static Value, &Value, &str) -> Result<()>;

/// Shows `look` all that stands in a specification with its node in the schema, outer tables first.
fn visit(node: &'static Value, value: &Value, path: &str, look: Look) -> Result<()> {
    look(node, value, path)?;
    let table = resolve(node, value);
    match value {
        Value::Object(fields) => fields.iter().try_for_each(|(name, inner)| match field(table, value, name) {
            Some(node) if path.is_empty() => visit(node, inner, name, look),
            Some(node) => visit(node, inner, &format!("{path}.{name}"), look),
            None => Ok(()),
        }),
        Value::Array(items) => match table.get("items") {
            Some(node) => {
                items.iter().enumerate().try_for_each(|(i, item)| visit(node, item, &format!("{path}[{i}]"), look))
            }
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Follows references; of several forms the one that `value` has.
pub(super) fn resolve(node: &'static Value, value: &Value) -> &'static Value {
    if let Some(name) = node["$ref"].as_str() {
        return resolve(&schema()["$defs"][name.trim_start_matches("#/$defs/")], value);
    }
    let forms = ["anyOf", "allOf"].into_iter().filter_map(|key| node[key].as_array()).flatten();
    let is = |form: &&'static Value| match resolve(form, value)["type"].as_str() {
        Some("array") => value.is_array(),
        Some("integer" | "number") => value.is_number(),
        Some("object") => value.is_object(),
        _ => true,
    };
    forms.clone().find(is).or(forms.clone().next()).map_or(node, |form| resolve(form, value))
}

/// The node of a field; of a table with a kind, of that kind.
pub(super) fn field(table: &'static Value, value: &Value, name: &str) -> Option<&'static Value> {
    fields_of(table, value)?.into_iter().find(|(field, _)| *field == name).map(|(_, node)| node)
}

/// The fields of a table, with their nodes; of a table with a kind, of that kind. `None` where it has none, or no such
/// kind.
fn fields_of(table: &'static Value, value: &Value) -> Option<Vec<(&'static String, &'static Value)>> {
    let variant = variants(table).find(|v| v["properties"]["kind"]["const"] == value["kind"]);
    let options = variant.and_then(|variant| variant["$ref"].as_str());
    let options = options.map(|name| &schema()["$defs"][name.trim_start_matches("#/$defs/")]);
    let places = [Some(table), variant, options];
    let tables: Vec<_> = places.into_iter().flatten().filter_map(|node| node["properties"].as_object()).collect();
    (!tables.is_empty()).then(|| tables.into_iter().flatten().collect())
}

/// The range of a number.
struct Range {
    least: Option<f64>,
    above: Option<f64>,
    most: Option<f64>,
    below: Option<f64>,
}

impl Range {
    fn of(node: &'static Value, value: &Value) -> Range {
        let resolved = resolve(node, value);
        let limit = |name: &str| node.get(name).or_else(|| resolved.get(name)).and_then(Value::as_f64);
        Range {
            least: limit("minimum"),
            above: limit("exclusiveMinimum"),
            most: limit("maximum"),
            below: limit("exclusiveMaximum"),
        }
    }

    fn has(&self, number: f64) -> bool {
        self.least.is_none_or(|least| number >= least)
            && self.above.is_none_or(|above| number > above)
            && self.most.is_none_or(|most| number <= most)
            && self.below.is_none_or(|below| number < below)
    }
}

/// The largest number of the type of a field.
fn most_of_type(node: &Value) -> Option<f64> {
    match node["format"].as_str() {
        Some("uint8") => Some(f64::from(u8::MAX)),
        Some("uint16") => Some(f64::from(u16::MAX)),
        Some("uint32") => Some(f64::from(u32::MAX)),
        _ => None,
    }
}

/// The least and the largest number of a field.
pub(super) fn limits(node: &'static Value, value: &Value) -> (Option<f64>, Option<f64>) {
    let range = Range::of(node, value);
    (range.least, range.most.or_else(|| most_of_type(resolve(node, value))))
}

/// The node of a field by its path through tables without kinds.
pub(super) fn node_at(path: &str) -> Option<&'static Value> {
    path.split('.').try_fold(schema(), |node, name| field(resolve(node, &Value::Null), &Value::Null, name))
}

/// A number in words, with its range.
fn number_in_words(node: &'static Value, value: &Value) -> Option<String> {
    // Whatever stands there: what may stand there is a number, if it has no other form.
    let inner = resolve(node, value);
    let what = match inner["type"].as_str()? {
        "integer" => "a whole number",
        "number" => "a number",
        _ => return None,
    };
    let mut range = Range::of(node, value);
    range.most = range.most.or_else(|| most_of_type(inner));
    if let (Some(least), Some(most)) = (range.least, range.most) {
        return Some(format!("{what}, {least} to {most}"));
    }
    let limits =
        [("at least", range.least), ("more than", range.above), ("at most", range.most), ("less than", range.below)];
    let limits: Vec<String> = limits.iter().filter_map(|(how, limit)| Some(format!("{how} {}", (*limit)?))).collect();
    Some(if limits.is_empty() { what.to_string() } else { format!("{what}, {}", limits.join(" and ")) })
}

/// The words that may stand somewhere.
fn words(node: &Value) -> Option<String> {
    let listed = node["enum"].as_array().into_iter().flatten();
    let each = variants(node).flat_map(|v| match v.get("const") {
        Some(word) => std::slice::from_ref(word),
        None => v["enum"].as_array().map_or(&[][..], Vec::as_slice),
    });
    let words: Vec<&str> = listed.chain(each).filter_map(Value::as_str).collect();
    (!words.is_empty()).then(|| format!("one of {}", words.join(", ")))
}

/// How a list is written that is all that some kind of a table has: `{kind = "list", terminals = [...]}`.
fn as_a_kind(table: &Value, items: &[Value]) -> String {
    let only_a_list = |variant: &Value| -> Option<String> {
        let fields: Vec<_> = variant["properties"].as_object()?.iter().filter(|(name, _)| *name != "kind").collect();
        let [(name, node)] = fields[..] else { return None };
        let of_numbers = node["items"]["type"] == "integer" && items.iter().all(Value::is_number);
        let kind = &variant["properties"]["kind"]["const"];
        of_numbers.then(|| format!("write {{kind = {kind}, {name} = {}}}", Value::from(items)))
    };
    variants(table).find_map(only_a_list).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::check_table;
    use crate::error::Error;

    fn fault(path: &str, text: &str) -> (String, String, String, String) {
        match check_table(path, text) {
            Err(Error::Config { path, value, expected, hint }) => (path, value, expected, hint),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_number_out_of_its_range_is_named_with_it() {
        let of = |path: &str, text: &str| {
            let (path, value, expected, _) = fault(path, text);
            format!("{path} = {value}: {expected}")
        };
        for (table, text, expected) in [
            ("network.router", r#"{"vcs": 0}"#, "network.router.vcs = 0: a whole number, 1 to 640"),
            ("network.router", r#"{"vcs": -1}"#, "network.router.vcs = -1: a whole number, 1 to 640"),
            ("network.units", r#"{"flit_bytes": 0}"#, "network.units.flit_bytes = 0: a whole number, 1 to 1000000"),
            (
                "network.units",
                r#"{"cycle_ns": -1}"#,
                "network.units.cycle_ns = -1: a number, more than 0 and at most 1000000",
            ),
            (
                "network.router",
                r#"{"sw_allocator": {"iterations": 17}}"#,
                "network.router.sw_allocator.iterations = 17: a whole number, 1 to 16",
            ),
            (
                "network.routing",
                r#"{"kind": "duato_misrouting", "misroutes": 0}"#,
                "network.routing.misroutes = 0: a whole number, 1 to 255",
            ),
            (
                "workload",
                r#"{"kind": "uniform", "offered_load": 0.1, "packet_flits": [{"flits": 0, "share": 1}]}"#,
                "workload.packet_flits[0].flits = 0: a whole number, 1 to 4294967295",
            ),
            (
                "workload",
                r#"{"kind": "uniform", "offered_load": 0.1, "packet_flits": 0}"#,
                "workload.packet_flits = 0: a whole number, 1 to 4294967295",
            ),
            (
                "run.steady",
                r#"{"relative_ci": 1}"#,
                "run.steady.relative_ci = 1: a number, more than 0 and less than 1",
            ),
            ("host", r#"{"send_queue": 5}"#, "host.send_queue = 5: one of program_order, as_ready"),
        ] {
            assert_eq!(of(table, text), expected);
        }
    }

    #[test]
    fn a_list_is_no_table() {
        let (path, value, expected, _) = fault("network.nic", "[2]");
        assert_eq!((path.as_str(), value.as_str()), ("network.nic", "[2]"));
        assert!(expected.starts_with("a table with fields such as"), "{expected}");
        let (path, _, expected, hint) = fault("host", r#"{"placement": [3, 2]}"#);
        assert_eq!(path, "host.placement");
        assert_eq!(expected, "a table with a kind, one of block, round_robin, list, counts, and its fields");
        assert_eq!(hint, r#"write {kind = "list", terminals = [3,2]}"#);
        let (path, ..) = fault("network", r#"{"topology": {"kind": "torus", "size": [1]}, "routing": ["duato"]}"#);
        assert_eq!(path, "network.routing");
    }
}
