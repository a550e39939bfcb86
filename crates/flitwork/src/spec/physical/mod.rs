//! What is said in ns, bytes and bytes/s, in cycles and flits.
//!
//! No table has fields for both. Every field in cycles or flits (`latency_cycles`, `buffer_flits`) may be written by
//! its physical name in its place (`latency_ns`, `buffer_bytes`): before a specification is read, such fields are
//! exchanged for those of the model, by the clock that `network.units` says. The schema has them all ([`fields`]), so a
//! new field has its physical name without more ado. Times that do not divide are rounded, or refused with their
//! neighbours, as `network.units.rounding` says; sizes that do not divide are refused. Delays that follow each other in
//! a hop are added up before ([`hop`]).

pub(super) mod fields;
mod hop;

use super::fit::{field, limits, resolve, schema};
use super::units::{Rounded, Rounding, UnitsSpec, neighbours};
use crate::error::{Error, Result};
use crate::units::{Dimension, Exact, Units, multiplied, shown, whole};
use fields::{BASE, by_itself, dimension_of};
use hop::Hop;
use serde_json::{Map, Value, json};

/// A specification in cycles and flits, and the times that were rounded.
///
/// # Errors
/// [`Error::Config`] names the field for what is no quantity, does not divide, is said twice, or is there without
/// units.
pub(super) fn converted(root: &Value) -> Result<(Value, Vec<Rounded>)> {
    let mut root = numbers(root)?;
    let units = root["network"].get("units").map(|units| serde_json::from_value::<UnitsSpec>(units.clone()));
    // What is wrong with the units themselves is found where they are read.
    let (units, rounding) = match units {
        Some(Ok(units)) => (units.resolve()?, units.rounding),
        Some(Err(_)) => return Ok((root, Vec::new())),
        None => (Units::default(), Rounding::default()),
    };
    let mut walk = Walk { by: Some(units), rounding, ..Walk::default() };
    walk.value(schema(), &mut root, "")?;
    walk.rounded.extend(walk.hop.settle(&mut root, &units, rounding)?);
    Ok((root, walk.rounded))
}

/// One table on its own, of which the units are not known: its physical fields are checked and become any number.
///
/// # Errors
/// As for [`converted`].
pub(super) fn checked(root: &Value) -> Result<Value> {
    let mut root = numbers(root)?;
    Walk::default().value(schema(), &mut root, "")?;
    Ok(root)
}

/// Text with a unit in fields that are physical by themselves (`message_bytes = "16 KiB"`) as numbers.
fn numbers(root: &Value) -> Result<Value> {
    fn visit(node: &'static Value, value: &mut Value, path: &str) -> Result<()> {
        let table = resolve(node, value);
        match value {
            Value::Object(_) => {
                each_field(table, value, path, &mut |node, name, value, path| match by_itself(node, name) {
                    Some(dimension) if value.is_string() || value.is_array() => {
                        *value = number(dimension.read(path, value)?, node, path, value)?;
                        Ok(())
                    }
                    _ => visit(node, value, path),
                })
            }
            Value::Array(items) => each_item(table, items, path, &mut visit),
            _ => Ok(()),
        }
    }
    let mut root = root.clone();
    visit(schema(), &mut root, "")?;
    Ok(root)
}

type OnField<'a> = &'a mut dyn FnMut(&'static Value, &str, &mut Value, &str) -> Result<()>;
type OnItem<'a> = &'a mut dyn FnMut(&'static Value, &mut Value, &str) -> Result<()>;

/// Shows the fields of a table that the schema knows.
fn each_field(table: &'static Value, value: &mut Value, path: &str, look: OnField) -> Result<()> {
    let names: Vec<String> = value.as_object().into_iter().flat_map(Map::keys).cloned().collect();
    for name in names {
        let (Some(node), true) = (field(table, value, &name), value.is_object()) else { continue };
        look(node, &name, &mut value[&name], &joined(path, &name))?;
    }
    Ok(())
}

fn each_item(table: &'static Value, items: &mut [Value], path: &str, look: OnItem) -> Result<()> {
    let Some(node) = table.get("items") else { return Ok(()) };
    items.iter_mut().enumerate().try_for_each(|(i, item)| look(node, item, &format!("{path}[{i}]")))
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_string() } else { format!("{path}.{name}") }
}

/// Exchanges physical fields.
#[derive(Default)]
struct Walk {
    /// The clock; `None` where only the form is checked.
    by: Option<Units>,
    rounding: Rounding,
    hop: Hop,
    /// The times that were rounded; of the entries of a list the one that was changed most.
    rounded: Vec<Rounded>,
}

impl Walk {
    fn value(&mut self, node: &'static Value, value: &mut Value, path: &str) -> Result<()> {
        let table = resolve(node, value);
        match value {
            Value::Object(_) => self.table(table, value, path),
            Value::Array(items) => each_item(table, items, path, &mut |node, item, at| self.value(node, item, at)),
            _ => Ok(()),
        }
    }

    fn table(&mut self, table: &'static Value, value: &mut Value, path: &str) -> Result<()> {
        let names: Vec<String> = value.as_object().into_iter().flat_map(Map::keys).cloned().collect();
        for name in names {
            let Some(node) = field(table, value, &name) else { continue };
            let at = joined(path, &name);
            let Some(base) = node[BASE].as_str() else {
                self.value(node, &mut value[&name], &at)?;
                continue;
            };
            if value.get(base).is_some() {
                let expected = format!("nothing beside {}", joined(path, base));
                return Err(Error::config(at, &value[&name], expected, "say it once: take one of the two out"));
            }
            let Some(base_node) = field(table, value, base) else { continue };
            let found = self.exchanged(base_node, dimension_of(&name), &value[&name], &at)?;
            if let Some(fields) = value.as_object_mut() {
                fields.remove(&name);
                fields.extend(found.map(|found| (base.to_string(), found)));
            }
        }
        Ok(())
    }

    /// What a physical field is in the model; nothing where it is a part of a hop that is added up first.
    fn exchanged(&mut self, node: &'static Value, what: Dimension, given: &Value, at: &str) -> Result<Option<Value>> {
        let of_a_list = resolve(node, &json!(1))["type"] == "array";
        if let (Some(parts), true) = (given.as_array(), of_a_list) {
            let items = &resolve(node, given)["items"];
            let one = |(i, part)| self.exchanged(items, what, part, &format!("{at}[{i}]"));
            let found: Result<Vec<Option<Value>>> = parts.iter().enumerate().map(one).collect();
            return Ok(Some(found?.into_iter().flatten().collect()));
        }
        let quantity = what.read(at, given)?;
        let Some(units) = self.by else {
            let (least, _) = limits(node, &json!(1));
            let any = json!(least.unwrap_or(0.0).max(1.0) as u64);
            return Ok(Some(if of_a_list { json!([any]) } else { any }));
        };
        let found = in_model(what, quantity, &units).ok_or_else(|| missing(what, given, at, &units))?;
        if is_whole(node) && !found.is_integer() {
            if self.hop.takes(at, given, found) {
                return Ok(None);
            }
            return self.nearest(node, what, (quantity, found), given, at, &units).map(Some);
        }
        number(found, node, at, given).map(Some)
    }

    /// A time that does not divide in whole cycles, at least as many as the field has to have.
    fn nearest(
        &mut self,
        node: &'static Value,
        what: Dimension,
        (quantity, found): (Exact, Exact),
        given: &Value,
        at: &str,
        units: &Units,
    ) -> Result<Value> {
        if self.rounding == Rounding::Exact || what != Dimension::Time {
            return Err(does_not_divide(what, quantity, given, at, units));
        }
        let least = Exact::from_integer(limits(node, &json!(1)).0.unwrap_or(0.0) as i128);
        let cycles = found.round().max(least);
        let field = at.split('[').next().unwrap_or(at);
        let new = rounded(field.to_string(), quantity, cycles - found, units);
        match self.rounded.iter_mut().find(|one| one.field == field) {
            Some(known) if known.error.abs() < new.error.abs() => *known = new,
            Some(_) => {}
            None => self.rounded.push(new),
        }
        number(cycles, node, at, given)
    }
}

/// What a time became that was changed by a part of a cycle.
fn rounded(field: String, given: Exact, change: Exact, units: &Units) -> Rounded {
    let float = |value: Exact| *value.numer() as f64 / *value.denom() as f64;
    let (given_ns, cycle) = (float(given), units.cycle().unwrap_or_default());
    let change_ns = multiplied(change, cycle).map_or_else(|| float(change) * float(cycle), float);
    Rounded { field, given_ns, value_ns: given_ns + change_ns, error: change_ns / given_ns }
}

/// Whether a field of the model is a whole number.
fn is_whole(node: &'static Value) -> bool {
    resolve(node, &json!(1))["type"] != "number"
}

/// A quantity in cycles, flits or flits/cycle; `None` without the units for it.
fn in_model(what: Dimension, quantity: Exact, units: &Units) -> Option<Exact> {
    match what {
        Dimension::Time => units.in_cycles(quantity),
        Dimension::Size => units.in_flits(quantity),
        Dimension::Rate => units.in_flits_per_cycle(quantity),
    }
}

fn missing(what: Dimension, given: &Value, at: &str, units: &Units) -> Error {
    let needed = match what {
        Dimension::Time => "cycle_ns",
        Dimension::Rate if units.cycle().is_none() => "cycle_ns",
        Dimension::Size | Dimension::Rate => "flit_bytes",
    };
    if units.cycle().is_some() && needed == "cycle_ns" || units.flit_bytes().is_some() && needed == "flit_bytes" {
        return Error::config(at, given, "a number of fewer digits", "");
    }
    let expected = format!("a value, as {at} is in {}", what.unit());
    let hint = "for example network.units = {flit_bytes = 16, channel_bytes_per_s = \"4 GB/s\"}";
    Error::config(format!("network.units.{needed}"), "nothing", expected, hint)
}

fn does_not_divide(what: Dimension, quantity: Exact, given: &Value, at: &str, units: &Units) -> Error {
    let (step, steps, of) = match what {
        Dimension::Size => (units.flit_bytes().map(|bytes| Exact::from_integer(bytes.into())), "flit", "a flit"),
        _ => (units.cycle(), "cycle", "a cycle"),
    };
    let step = step.unwrap_or(Exact::from_integer(1));
    let near = neighbours(quantity, step, what.unit(), steps);
    let expected = format!("a multiple of {of}, {} {}: {near}", shown(step), what.unit());
    let hint = match what {
        Dimension::Time => "network.units.rounding = \"nearest\" takes the nearest",
        _ => "a buffer or a packet holds whole flits",
    };
    Error::config(at, given, expected, hint)
}

/// An exact number as the value of a field, if it is in the field's range; the error names what was `given` for it.
fn number(value: Exact, node: &'static Value, at: &str, given: &Value) -> Result<Value> {
    let approximate = *value.numer() as f64 / *value.denom() as f64;
    let (least, most) = limits(node, &json!(1));
    if least.is_some_and(|least| approximate < least) || most.is_some_and(|most| approximate > most) {
        let range = match (least, most) {
            (Some(least), Some(most)) => format!("{least} to {most}"),
            (Some(least), None) => format!("at least {least}"),
            (_, most) => format!("at most {}", most.unwrap_or_default()),
        };
        let expected = format!("what is in the range of the field, {range}; this is {}", shown(value));
        return Err(Error::config(at, given, expected, ""));
    }
    match whole(value) {
        Some(whole) => Ok(json!(whole)),
        None if is_whole(node) => Err(Error::config(at, given, "a whole number below 2^64", "")),
        None => Ok(json!(approximate)),
    }
}

#[cfg(test)]
mod tests;
