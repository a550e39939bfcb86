//! The delays of a hop: what does not divide by itself may together.
//!
//! A head flit passes route computation, VC allocation, switch allocation, switch traversal and the wire, one after the
//! other. In ns their sum has to be a whole number of cycles, not each of them: 78 ns of switch and 10 ns of wire are
//! 19.5 and 2.5 cycles of 4 ns, together 22. A stage of the router then ends at the first clock edge, and the wire
//! takes what is left of the hop: 20 and 2. So the time of a hop is exact; at the end of a path, a terminal takes a
//! flit at a clock edge. A credit travels back over the same wire, and what the two delays of a credit say is added up,
//! too; it is usable at the first clock edge.
//!
//! Where the sum is no whole number of cycles and times are rounded, each stage ends at the nearest clock edge, and so
//! does the hop.

use super::{number, rounded};
use crate::error::{Error, Result};
use crate::spec::fit::node_at;
use crate::spec::units::{Rounded, Rounding};
use crate::units::{Exact, Units, multiplied, shown};
use serde_json::{Value, json};

/// The parts of a hop in their order, the wire last; with the delays that nothing was said of \[cycles].
const PARTS: [(&str, &str, u32); 5] = [
    ("router", "routing_delay", 0),
    ("router", "vc_alloc_delay", 0),
    ("router", "sw_alloc_delay", 1),
    ("router", "st_delay", 0),
    ("channel", "latency", 0),
];
const SWITCH: usize = 2;
const WIRE: usize = 4;
const CREDIT: (&str, &str) = ("channel", "credit_delay");

fn path(part: (&str, &str), unit: &str) -> String {
    format!("network.{}.{}_{unit}", part.0, part.1)
}

/// A part that does not divide by itself.
#[derive(Debug)]
struct Fraction {
    given: Value,
    cycles: Exact,
}

/// The parts of a hop that do not divide.
#[derive(Debug, Default)]
pub(super) struct Hop {
    parts: [Option<Fraction>; 5],
    credit: Option<Fraction>,
}

impl Hop {
    /// Takes note of a delay that does not divide, if it is a part of a hop or of the way of a credit.
    pub(super) fn takes(&mut self, at: &str, given: &Value, cycles: Exact) -> bool {
        let place = match PARTS.iter().position(|part| at == path((part.0, part.1), "ns")) {
            Some(part) => &mut self.parts[part],
            None if at == path(CREDIT, "ns") => &mut self.credit,
            None => return false,
        };
        *place = Some(Fraction { given: given.clone(), cycles });
        true
    }

    /// Writes the delays that make up the hop into the specification; what was rounded for it.
    pub(super) fn settle(self, root: &mut Value, units: &Units, rounding: Rounding) -> Result<Vec<Rounded>> {
        let mut changed = Vec::new();
        if self.parts.iter().chain([&self.credit]).all(Option::is_none) {
            return Ok(changed);
        }
        let written = |part: (&str, &str), default: u32| {
            let cycles = root["network"][part.0].get(format!("{}_cycles", part.1)).and_then(Value::as_u64);
            Exact::from_integer(cycles.unwrap_or(default.into()).into())
        };
        let mut cycles = [Exact::default(); 5];
        for (i, part) in PARTS.iter().enumerate() {
            cycles[i] = self.parts[i].as_ref().map_or_else(|| written((part.0, part.1), part.2), |part| part.cycles);
        }
        let credit = self.credit.as_ref().map_or_else(|| written(CREDIT, 0), |credit| credit.cycles);
        let hop: Exact = cycles.iter().sum();
        let back = cycles[WIRE] + credit;
        if rounding == Rounding::Exact {
            self.check_whole(hop, back, units)?;
        }
        let found = if hop.is_integer() { ended(&cycles, Exact::ceil) } else { nearest(&cycles) };
        if found[SWITCH] < 1 {
            let at = path((PARTS[SWITCH].0, PARTS[SWITCH].1), "ns");
            let given = self.parts[SWITCH].as_ref().map_or(Value::Null, |part| part.given.clone());
            let expected = "at least a cycle together with the stages before it";
            return Err(Error::config(at, given, expected, "use a shorter cycle, or a longer stage"));
        }
        let sum = Exact::from_integer(found.iter().sum());
        changed.extend(self.changed(sum - hop, units));
        let is_rounded = !hop.is_integer() || self.credit.is_some();
        let back_cycles = if is_rounded { back.round() } else { back.ceil() };
        let wait = (back_cycles.to_integer() - found[WIRE]).max(0);
        if let Some(part) = self.credit.as_ref().filter(|_| hop.is_integer() && !back.is_integer()) {
            let change = Exact::from_integer(wait + found[WIRE]) - back;
            changed.push(rounded(path(CREDIT, "ns"), ns(part.cycles, units), change, units));
        }
        for (i, part) in PARTS.iter().enumerate() {
            let given = self.parts[i].as_ref().map_or(&Value::Null, |part| &part.given);
            put(root, (part.0, part.1), found[i], given)?;
        }
        let given = self.credit.as_ref().map_or(&Value::Null, |credit| &credit.given);
        put(root, CREDIT, wait, given)?;
        Ok(changed)
    }

    /// Refuses a hop, and the way of a credit, that is no whole number of cycles.
    fn check_whole(&self, hop: Exact, back: Exact, units: &Units) -> Result<()> {
        if let Some(last) = (0..5).rev().find(|&i| self.parts[i].is_some()).filter(|_| !hop.is_integer()) {
            let what = "routing, VC and switch allocation, traversal and wire of a hop";
            let part = (PARTS[last].0, PARTS[last].1);
            return Err(refused(&self.parts[last], &path(part, "ns"), (what, hop), units));
        }
        if self.credit.is_some() && !back.is_integer() {
            return Err(refused(&self.credit, &path(CREDIT, "ns"), ("wire and delay of a credit", back), units));
        }
        Ok(())
    }

    /// The delays of the hop that were written in parts of cycles, and by how much their sum was changed.
    fn changed(&self, change: Exact, units: &Units) -> Option<Rounded> {
        let parts =
            self.parts.iter().zip(PARTS).filter_map(|(part, (table, name, _))| Some((part.as_ref()?, table, name)));
        let (mut fields, mut given) = (Vec::new(), Exact::default());
        for (part, table, name) in parts {
            fields.push(path((table, name), "ns"));
            given += part.cycles;
        }
        (change != Exact::default()).then(|| rounded(fields.join(" + "), ns(given, units), change, units))
    }
}

/// A duration in ns.
fn ns(cycles: Exact, units: &Units) -> Exact {
    units.cycle().and_then(|cycle| multiplied(cycles, cycle)).unwrap_or(cycles)
}

/// Whole delays whose sum is the nearest; the switch takes a cycle at least.
fn nearest(cycles: &[Exact; 5]) -> [i128; 5] {
    let mut found = ended(cycles, Exact::round);
    if found[SWITCH] < 1 {
        let missing = 1 - found[SWITCH];
        found[SWITCH] = 1;
        // What the switch takes more the stages behind it take less, as far as they take anything.
        let mut owed = missing;
        for later in &mut found[SWITCH + 1..] {
            let less = owed.min(*later);
            (*later, owed) = (*later - less, owed - less);
        }
    }
    found
}

/// Whole delays: each stage ends at a clock edge, and the next one takes what is left.
fn ended(cycles: &[Exact; 5], edge_of: fn(&Exact) -> Exact) -> [i128; 5] {
    let (mut passed, mut edge, mut found) = (Exact::default(), 0, [0; 5]);
    for (i, stage) in cycles.iter().enumerate() {
        passed += stage;
        let next = edge_of(&passed).to_integer();
        found[i] = next - edge;
        edge = next;
    }
    found
}

/// Writes a delay, if it is in its range.
fn put(root: &mut Value, part: (&str, &str), cycles: i128, given: &Value) -> Result<()> {
    let Some(node) = node_at(&path(part, "cycles")) else { return Ok(()) };
    // Where no table stands, reading says so.
    if root["network"].get(part.0).is_some_and(|table| !table.is_object()) {
        return Ok(());
    }
    let value = number(Exact::from_integer(cycles), node, &path(part, "ns"), given)?;
    let name = format!("{}_cycles", part.1);
    if value != json!(0) || root["network"].get(part.0).is_some_and(|table| table.get(&name).is_some()) {
        root["network"][part.0][name] = value;
    }
    Ok(())
}

/// A part whose sum with others does not divide, and its neighbours whose sums do.
fn refused(part: &Option<Fraction>, at: &str, (what, sum): (&str, Exact), units: &Units) -> Error {
    let (given, part_cycles) =
        part.as_ref().map_or((&Value::Null, Exact::default()), |part| (&part.given, part.cycles));
    let cycle = units.cycle().unwrap_or_default();
    let ns = |cycles: Exact| multiplied(cycles, cycle).map_or_else(|| "?".to_string(), shown);
    let floor = sum.floor();
    let near: Vec<String> = [floor, floor + Exact::from_integer(1)]
        .into_iter()
        .map(|wanted| (part_cycles - (sum - wanted), wanted))
        .filter(|(part_cycles, _)| *part_cycles >= Exact::default())
        .map(|(part_cycles, wanted)| format!("{} ns ({wanted} cycles in all)", ns(part_cycles)))
        .collect();
    let hint = "network.units.rounding = \"nearest\" takes the nearest";
    let expected = format!(
        "{what} to be whole cycles of {} ns, and not {} ns, which are {}: {}",
        shown(cycle),
        ns(sum),
        shown(sum),
        near.join(" or ")
    );
    Error::config(at, given, expected, hint)
}
