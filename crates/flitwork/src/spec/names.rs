//! Names of routers and terminals where their numbers may stand: in the cables of a graph, and among faults.
//!
//! Names are exchanged for numbers before a specification is read, so nothing behind it knows of them, and a plan with
//! names is the plan with numbers. A graph whose cables are said by name needs no list of names: its routers then count
//! in the order in which the cables name them first.

use crate::error::{Error, Result, did_you_mean};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::fmt::{Display, Formatter, Result as Written};

/// In the schema, that names may stand in the place of the numbers of a field.
const NAMED: &str = "x-named";

/// Fields with numbers of routers, and of terminals: the table of the network, and the field.
const OF_ROUTERS: [(&str, &str); 4] =
    [("topology", "cables"), ("topology", "channels"), ("without", "cables"), ("without", "routers")];
const OF_TERMINALS: [(&str, &str); 1] = [("without", "terminals")];

/// Exchanges the names in the table `network` of a specification for numbers.
///
/// # Errors
/// [`Error::Config`] with the place of a name that the network does not have.
pub fn number_names(network: &mut Value) -> Result<()> {
    let (routers, terminals) = (has_names(network, &OF_ROUTERS), has_names(network, &OF_TERMINALS));
    let from_file = network["topology"]["file"].as_str().is_some_and(|file| !file.is_empty());
    if !(routers || terminals) || from_file {
        return Ok(());
    }
    if routers && network["topology"]["kind"] == "graph" && network["topology"].get("names").is_none() {
        let names = names_in_cables(&network["topology"])?;
        if !names.is_empty() {
            network["topology"]["names"] = json!(names);
        }
    }
    Names::of(network, "names", "router").put_into(network, &OF_ROUTERS)?;
    Names::of(network, "terminal_names", "terminal").put_into(network, &OF_TERMINALS)
}

/// One table on its own, without the network whose names it says: each becomes some number.
pub(super) fn number_without_network(network: &mut Value) {
    for (table, field) in OF_ROUTERS.into_iter().chain(OF_TERMINALS) {
        // A cable joins two different routers.
        names_in(network, (table, field)).for_each(|(Place(_, end), name)| *name = json!(end.unwrap_or(0)));
    }
}

/// The schema in which names may stand where they are taken.
pub(super) fn add_to(schema: &mut Value) {
    fn name_integers(node: &mut Value) {
        if node["type"] == "integer" {
            *node = json!({ "anyOf": [node.take(), { "type": "string" }] });
        } else if let Some(items) = node.get_mut("items") {
            name_integers(items);
        }
    }
    match schema {
        Value::Object(inner) => {
            if inner.remove(NAMED).is_some() {
                name_integers(inner.get_mut("items").unwrap_or(&mut Value::Null));
            }
            inner.values_mut().for_each(add_to);
        }
        Value::Array(inner) => inner.iter_mut().for_each(add_to),
        _ => {}
    }
}

/// The entries of a list of numbers or of pairs of them, each with its place.
fn entries(list: &Value) -> impl Iterator<Item = (Place, &Value)> + Clone {
    list.as_array().into_iter().flatten().enumerate().flat_map(|(i, entry)| {
        let ends = entry.as_array().into_iter().flatten().enumerate();
        let alone = (!entry.is_array()).then_some((Place(i, None), entry));
        ends.map(move |(end, one)| (Place(i, Some(end)), one)).chain(alone)
    })
}

/// Number of an entry, and of an end of it.
#[derive(Clone, Copy)]
struct Place(usize, Option<usize>);

impl Display for Place {
    fn fmt(&self, f: &mut Formatter) -> Written {
        write!(f, "[{}]", self.0)?;
        self.1.map_or(Ok(()), |end| write!(f, "[{end}]"))
    }
}

/// The names in a list of numbers or of pairs of them, each with its place.
fn names_in<'a>(network: &'a mut Value, (table, field): (&str, &str)) -> impl Iterator<Item = (Place, &'a mut Value)> {
    let list = network.get_mut(table).and_then(|table| table.get_mut(field)).and_then(Value::as_array_mut);
    let all = list.into_iter().flatten().enumerate().flat_map(|(i, entry)| {
        let (ends, alone) = match entry {
            Value::Array(ends) => (Some(ends), None),
            one => (None, Some((Place(i, None), one))),
        };
        let ends = ends.into_iter().flatten().enumerate();
        ends.map(move |(end, one)| (Place(i, Some(end)), one)).chain(alone)
    });
    all.filter(|(_, one)| one.is_string())
}

fn has_names(network: &Value, fields: &[(&str, &str)]) -> bool {
    fields.iter().any(|(table, field)| entries(&network[table][field]).any(|(_, one)| one.is_string()))
}

/// The routers of a graph without a list of names, in the order in which its cables name them first; none if its cables
/// have numbers.
fn names_in_cables(topology: &Value) -> Result<Vec<&str>> {
    let all = ["cables", "channels"]
        .into_iter()
        .flat_map(|field| entries(&topology[field]).map(move |(at, one)| (field, at, one)));
    let mut names: Vec<&str> = Vec::new();
    let mut known = HashSet::new();
    for name in all.clone().filter_map(|(_, _, one)| one.as_str()) {
        if known.insert(name) {
            names.push(name);
        }
    }
    match all.into_iter().find(|(_, _, one)| one.is_number()) {
        Some((field, at, one)) if !names.is_empty() => {
            let path = format!("network.topology.{field}{at}");
            let hint = "say all by name; or say the names of all routers in names = [...]";
            Err(Error::config(path, one, "the name of a router, as the other cables have it", hint))
        }
        _ => Ok(names),
    }
}

/// The names of a network's routers, or of its terminals.
struct Names {
    numbers: HashMap<String, usize>,
    all: Vec<String>,
    what: &'static str,
}

impl Names {
    fn of(network: &Value, field: &str, what: &'static str) -> Names {
        let list = network["topology"][field].as_array().into_iter().flatten();
        let all: Vec<String> = list.filter_map(Value::as_str).map(str::to_string).collect();
        let numbers = all.iter().enumerate().rev().map(|(i, name)| (name.clone(), i)).collect();
        Names { numbers, all, what }
    }

    fn put_into(&self, network: &mut Value, fields: &[(&str, &str)]) -> Result<()> {
        fields.iter().try_for_each(|&(table, field)| {
            names_in(network, (table, field))
                .try_for_each(|(at, name)| self.put(name, || format!("network.{table}.{field}{at}")))
        })
    }

    fn put(&self, place: &mut Value, path: impl Fn() -> String) -> Result<()> {
        let Some(name) = place.as_str() else { return Ok(()) };
        if let Some(number) = self.numbers.get(name) {
            *place = json!(number);
            return Ok(());
        }
        let what = self.what;
        let (expected, hint) = match self.all.is_empty() {
            true => (format!("the number of a {what}: the {what}s of this network have no names"), String::new()),
            false => (format!("a {what} of this network, by name or number"), did_you_mean(name, &self.all)),
        };
        Err(Error::config(path(), &*place, expected, hint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(network: Value) -> std::result::Result<Value, String> {
        let mut network = network;
        number_names(&mut network).map(|()| network).map_err(|error| error.to_string())
    }

    #[test]
    fn names_become_the_numbers_of_the_lists() {
        let network = json!({
            "topology": {"kind": "graph", "cables": [["leaf", "spine"], [0, "b"]], "names": ["b", "leaf", "spine"],
                "terminal_names": ["h0", "h1"]},
            "without": {"cables": [["spine", 1]], "routers": ["b", 2], "terminals": ["h1", 0]},
        });
        let found = numbered(network).unwrap();
        assert_eq!(found["topology"]["cables"], json!([[1, 2], [0, 0]]));
        assert_eq!(found["without"], json!({"cables": [[2, 1]], "routers": [0, 2], "terminals": [1, 0]}));
    }

    #[test]
    fn routers_without_a_list_of_names_count_as_the_cables_name_them() {
        let topology = json!({"kind": "graph", "cables": [["a", "c"], ["c", "b"]], "channels": [["d", "a"]]});
        let found = numbered(json!({ "topology": topology, "without": {"routers": ["d"]} })).unwrap();
        assert_eq!(found["topology"]["cables"], json!([[0, 1], [1, 2]]));
        assert_eq!(found["topology"]["channels"], json!([[3, 0]]));
        assert_eq!(found["topology"]["names"], json!(["a", "c", "b", "d"]));
        assert_eq!(found["without"]["routers"], json!([3]));
    }

    #[test]
    fn what_has_no_such_name_is_refused_at_its_place() {
        let refused = |topology: Value, without: Value| {
            numbered(json!({ "topology": topology, "without": without })).unwrap_err()
        };
        let named = json!({"kind": "graph", "cables": [[0, 1]], "names": ["leaf0", "leaf1"]});
        let said = refused(named.clone(), json!({"cables": [["leaf0", "leaf2"]]}));
        assert!(
            said.starts_with("network.without.cables[0][1] = \"leaf2\": expected a router of this network"),
            "{said}"
        );
        assert!(said.contains("did you mean leaf"), "{said}");
        let said = refused(named, json!({"terminals": [0, "h1"]}));
        assert!(said.contains("without.terminals[1] = \"h1\": expected the number of a terminal"), "{said}");
        let said = refused(json!({"kind": "torus", "size": [4]}), json!({"routers": ["a"]}));
        assert!(said.contains("the routers of this network have no names"), "{said}");
        let said = refused(json!({"kind": "graph", "cables": [["a", "b"], ["b", 2]]}), json!({}));
        assert!(said.contains("network.topology.cables[1][1] = 2: expected the name of a router"), "{said}");
    }

    #[test]
    fn what_is_no_list_of_numbers_is_left_to_those_who_read_it() {
        for topology in
            [json!(3), json!({"kind": "graph", "cables": {"a": 1}}), json!({"kind": "graph", "cables": [[["x"]]]})]
        {
            let network = json!({ "topology": topology, "without": [1] });
            assert_eq!(numbered(network.clone()).unwrap(), network);
        }
    }

    #[test]
    fn fields_that_take_names_say_so_in_the_schema() {
        let text = super::super::schema_json();
        assert!(!text.contains(NAMED));
        let schema: Value = serde_json::from_str(&text).unwrap();
        let ends = &schema["$defs"]["Without"]["properties"]["cables"]["items"]["items"]["anyOf"];
        assert_eq!((&ends[0]["type"], &ends[1]["type"]), (&json!("integer"), &json!("string")));
        let marked = serde_json::to_string(super::super::fit::schema()).unwrap().matches(NAMED).count();
        assert_eq!(marked, OF_ROUTERS.len() + OF_TERMINALS.len());
    }
}
