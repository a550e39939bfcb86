//! Timetables as JSON:
//! `{"sizes", "period_cycles", "hop_cycles", "block_flits", "shifts", "entries": [[d1, ..., dn, start, shift], ...]}`.

use super::{Entry, Timetable};
use crate::error::{Error, Result};
use crate::topology::MAX_DIMS;
use serde::{Deserialize, Serialize};

/// Most entries: a node for each.
const MOST_ENTRIES: usize = 1 << 20;

#[derive(Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table of sizes, period_cycles, hop_cycles, block_flits, shifts and entries"
)]
struct Stored {
    sizes: Vec<u32>,
    period_cycles: u64,
    hop_cycles: u32,
    block_flits: u32,
    shifts: Vec<Vec<i64>>,
    entries: Vec<Vec<i64>>,
}

/// What a timetable file says.
pub(super) fn read<'a, T: Deserialize<'a>>(text: &'a str, path: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|fault| {
        let place = format!("line {} column {}", fault.line(), fault.column());
        let hint = "flitwork synthesise writes such files";
        Error::config(path, place, format!("a timetable in JSON: {fault}"), hint)
    })
}

impl Timetable {
    /// As JSON, entries in ascending order of their starts.
    pub fn to_json(&self) -> String {
        let dims = self.sizes.len();
        let mut entries: Vec<&Entry> = self.entries.iter().collect();
        entries.sort_by_key(|e| (e.start, e.shift, e.vector));
        let row = |e: &Entry| {
            let vector = e.vector[..dims].iter().map(|&d| i64::from(d));
            vector.chain([e.start as i64, i64::from(e.shift)]).collect()
        };
        let stored = Stored {
            sizes: self.sizes.clone(),
            period_cycles: self.period_cycles,
            hop_cycles: self.hop_cycles,
            block_flits: self.block_flits,
            shifts: self.shifts.clone(),
            entries: entries.into_iter().map(row).collect(),
        };
        serde_json::to_string(&stored).unwrap_or_default()
    }

    /// From JSON. Whether it is free of collisions is not looked at, see [`Timetable::check`].
    ///
    /// # Errors
    /// [`Error::Config`] with the path of what is wrong, below `path`.
    pub fn from_json(text: &str, path: &str) -> Result<Timetable> {
        let at = |field: &str| if field.is_empty() { path.to_string() } else { format!("{path}.{field}") };
        let stored: Stored = read(text, path)?;
        let dims = stored.sizes.len();
        if !(1..=MAX_DIMS).contains(&dims) {
            return Err(Error::config(at("sizes"), format!("{:?}", stored.sizes), "1 to 6 sizes", ""));
        }
        if stored.entries.len() > MOST_ENTRIES {
            let expected = format!("at most {MOST_ENTRIES} entries");
            return Err(Error::config(at("entries"), stored.entries.len(), expected, ""));
        }
        let entry = |(n, row): (usize, &Vec<i64>)| {
            let fault = || {
                let expected = format!("{dims} numbers of channels, a start and the number of a vector of shifts");
                Error::config(at(&format!("entries[{n}]")), format!("{row:?}"), expected, "")
            };
            let (vector, rest) = row.split_at_checked(dims).ok_or_else(fault)?;
            let &[start, shift] = rest else { return Err(fault()) };
            let mut entry = Entry { vector: [0; MAX_DIMS], start: 0, shift: 0 };
            for (to, &d) in entry.vector.iter_mut().zip(vector) {
                *to = i32::try_from(d).map_err(|_| fault())?;
            }
            entry.start = u64::try_from(start).map_err(|_| fault())?;
            entry.shift = u32::try_from(shift).map_err(|_| fault())?;
            Ok(entry)
        };
        let entries = stored.entries.iter().enumerate().map(entry).collect::<Result<_>>()?;
        let Stored { sizes, period_cycles, hop_cycles, block_flits, shifts, .. } = stored;
        let timetable = Timetable { sizes, period_cycles, hop_cycles, block_flits, shifts, entries };
        timetable.check_fields().map_err(|fault| match fault {
            super::Fault::Field(field, value, expected) => Error::config(at(&field), value, expected, ""),
            other => Error::config(path, "a timetable", other.describe(&timetable), ""),
        })?;
        Ok(timetable)
    }
}
