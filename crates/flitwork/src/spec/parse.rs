//! Reading a specification, with errors that name the field, and writing its schema.

use super::SimulationSpec;
use super::explain::explain;
use super::fit::{check_ranges, check_shape, public_schema};
use super::names::{number_names, number_without_network};
use super::physical;
use super::place::Place;
use super::reader::Reader;
use crate::error::{Error, Result};
use crate::topology::{Fabric, TopologySpec, Without};
use serde::Deserialize;
use serde_json::Value;

/// Reads a [`SimulationSpec`] from JSON (study files arrive as JSON too: Python reads the TOML).
///
/// # Errors
/// [`Error::Config`] with the path of the field for anything that is not a valid specification.
pub fn from_json(text: &str) -> Result<SimulationSpec> {
    let mut value: Value =
        serde_json::from_str(text).map_err(|e| Error::config("specification", "text", format!("JSON ({e})"), ""))?;
    check_shape(&value)?;
    if let Some(network) = value.get_mut("network") {
        number_names(network)?;
    }
    let (value, rounded) = physical::converted(&value)?;
    let mut spec = read(&value)?;
    spec.network.units.rounded = rounded;
    Ok(spec)
}

fn read(value: &Value) -> Result<SimulationSpec> {
    let spec = serde_path_to_error::deserialize(Reader(value)).map_err(|e| {
        let place = Place::of_serde(e.path());
        explain(&place, &e.into_inner(), value)
    })?;
    check_ranges(value)?;
    Ok(spec)
}

/// The network of the table `network.topology` of a specification in JSON; what `network.without` takes out of it is in
/// the field `without` of the table.
///
/// # Errors
/// [`Error::Config`] with the path of the field for anything that is no network.
pub fn fabric_from_json(text: &str) -> Result<Fabric> {
    let mut topology: Value =
        serde_json::from_str(text).map_err(|e| Error::config("topology", "text", format!("JSON ({e})"), ""))?;
    let without = topology.as_object_mut().and_then(|fields| fields.remove("without"));
    let without = without.unwrap_or_else(|| serde_json::json!({}));
    let mut root = serde_json::json!({ "network": { "topology": topology, "without": without } });
    check_shape(&root)?;
    number_names(&mut root["network"])?;
    let (topology, without) = (&root["network"]["topology"], &root["network"]["without"]);
    let fault = |field, fault| explain(&Place::of_fields(&["network", field]), &fault, &root);
    let whole = TopologySpec::deserialize(Reader(topology)).map_err(|found| fault("topology", found))?;
    let without = Without::deserialize(Reader(without)).map_err(|found| fault("without", found))?;
    without.of(&whole.fabric()?)
}

/// Checks one table (JSON) of a specification on its own: its fields, words, types and ranges, in the words of
/// [`from_json`]. `path` is where it stands: `network`, `workload`, `network.router`, `run.record`.
///
/// # Errors
/// [`Error::Config`] with the path of the field.
pub fn check_table(path: &str, text: &str) -> Result<()> {
    let mut whole = serde_json::json!({
        "network": {"topology": {"kind": "torus", "size": [1]}},
        "workload": {"kind": "uniform", "offered_load": 1.0},
    });
    let table: Value =
        serde_json::from_str(text).map_err(|e| Error::config(path, "text", format!("JSON ({e})"), ""))?;
    // The other tables are valid, so what is wrong is in this one.
    let place = path.split('.').try_fold(&mut whole, |table, field| {
        table.as_object_mut().map(|fields| fields.entry(field).or_insert_with(|| serde_json::json!({})))
    });
    let Some(place) = place else { return Err(Error::config(path, "a path", "the path of a table", "")) };
    *place = table;
    check_shape(&whole)?;
    if path.starts_with("network.without") {
        number_without_network(&mut whole["network"]);
    } else {
        number_names(&mut whole["network"])?;
    }
    let has_units = path == "network" && whole["network"].get("units").is_some();
    read(&if has_units { physical::converted(&whole)?.0 } else { physical::checked(&whole)? }).map(|_| ())
}

/// The JSON Schema of [`SimulationSpec`].
pub fn schema_json() -> String {
    serde_json::to_string_pretty(&public_schema()).unwrap_or_default()
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
        let whole = "a whole number, 1 to 640".to_string();
        let flits = "a whole number, 1 to 65535".to_string();
        let unit = "the number alone: the unit is part of the field's name".to_string();
        assert_eq!(explained("\"buffer_flits\":\"16 KB\""), (flits, unit));
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
    fn an_unknown_field_that_ends_like_its_table_is_named() {
        let (path, value, hint) = error("\"offered_load\"", "\"load\"");
        assert_eq!((path.as_str(), value.as_str(), hint.as_str()), ("workload.load", "0.1", ""));
    }

    #[test]
    fn tables_are_explained_in_words() {
        let expected = |to: &str| match from_json(&GOOD.replace("0.1}", to)) {
            Err(Error::Config { path, expected, .. }) => (path, expected),
            other => panic!("{other:?}"),
        };
        let (path, words) = expected(r#"0.1},"run":{"steady":true}"#);
        assert_eq!(path, "run.steady");
        assert!(words.starts_with("a table with fields such as") && words.contains("relative_ci"), "{words}");
        let (path, words) = expected(r#"0.1,"process":"on_off"}"#);
        assert_eq!(path, "workload.process");
        assert_eq!(words, "a table with a kind, one of bernoulli, on_off, and its fields");
    }

    #[test]
    fn a_missing_field_of_a_table_in_a_table_is_named() {
        let (path, value, _) = error("0.1}", r#"0.1,"process":{"kind":"on_off","mean_off_cycles":3}}"#);
        assert_eq!((path.as_str(), value.as_str()), ("workload.process.mean_on_cycles", "nothing"));
    }

    #[test]
    fn of_several_that_begin_alike_the_nearest_is_meant() {
        let (_, _, hint) = error("\"router\"", r#""routing":{"kind":"duat"},"router""#);
        assert_eq!(hint, "did you mean duato?");
    }

    #[test]
    fn a_missing_field_is_named() {
        let (path, ..) = error(",\"size\":[4,4]", "");
        assert_eq!(path, "network.topology.size");
    }

    #[test]
    fn a_table_is_checked_on_its_own_as_in_its_place() {
        let of = |path: &str, text: &str| match check_table(path, text) {
            Err(Error::Config { path, value, hint, .. }) => (path, value, hint),
            other => panic!("{other:?}"),
        };
        let said = |path: &str, value: &str, hint: &str| (path.to_string(), value.to_string(), hint.to_string());
        assert_eq!(of("network.router", r#"{"vsc": 4}"#), said("network.router.vsc", "4", "did you mean vcs?"));
        assert_eq!(of("network", "{}"), said("network.topology", "nothing", "add topology"));
        let load = of("workload", r#"{"kind": "uniform", "offered_load": true, "include_self": true}"#);
        assert_eq!(load, said("workload.offered_load", "true", "true and false are no numbers"));
        assert_eq!(of("run", r#"{"max_cycles": "ten"}"#), said("run.max_cycles", "\"ten\"", "a number without quotes"));
        let size = of("network.topology", r#"{"kind": "torus", "size": ["4x4"]}"#);
        assert_eq!(size, said("network.topology.size[0]", "\"4x4\"", "a list of numbers: [4, 4]"));
        let size = of("network.topology", r#"{"kind": "torus", "size": 4}"#);
        assert_eq!(size, said("network.topology.size", "4", "write [4]"));
        assert!(check_table("run.record", r#"{"packets": true}"#).is_ok());
        assert!(check_table("run.seed.deeper", "{}").is_err());
    }

    #[test]
    fn what_is_no_json_is_an_error() {
        assert!(from_json("network = 1").is_err_and(|e| e.is_config()));
    }
}
