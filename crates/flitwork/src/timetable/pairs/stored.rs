//! Timetables by pairs as JSON: `{"terminals", "period_cycles", "block_flits", "starts": [[null, 3, ...], ...]}`, a row
//! a source, `null` for the source itself.

use super::{PairFault, PairTimetable};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    terminals: u32,
    period_cycles: u64,
    block_flits: u32,
    starts: Vec<Vec<Option<u64>>>,
}

impl PairTimetable {
    /// As JSON.
    pub fn to_json(&self) -> String {
        let row = |from: u32| (0..self.terminals).map(|to| (to != from).then(|| self.start(from, to))).collect();
        let stored = Stored {
            terminals: self.terminals,
            period_cycles: self.period_cycles,
            block_flits: self.block_flits,
            starts: (0..self.terminals).map(row).collect(),
        };
        serde_json::to_string(&stored).unwrap_or_default()
    }

    /// From JSON. Whether it is free of collisions is not looked at, see [`PairTimetable::check`].
    ///
    /// # Errors
    /// [`Error::Config`] with the path of what is wrong, below `path`.
    pub fn from_json(text: &str, path: &str) -> Result<PairTimetable> {
        let stored: Stored = super::super::stored::read(text, path)?;
        let Stored { terminals, period_cycles, block_flits, starts } = stored;
        let expected = format!("{terminals}: a row a source, an entry a destination");
        if starts.len() != terminals as usize {
            return Err(Error::config(format!("{path}.starts"), format!("{} rows", starts.len()), expected, ""));
        }
        for (from, row) in starts.iter().enumerate() {
            let at = format!("{path}.starts[{from}]");
            if row.len() != terminals as usize {
                return Err(Error::config(at, format!("{} entries", row.len()), expected, ""));
            }
            if let Some(to) = (0..row.len()).find(|&to| row[to].is_none() != (to == from)) {
                let expected = "null for the source itself, and a number for each other destination";
                let value = if to == from { "a number" } else { "null" };
                return Err(Error::config(format!("{at}[{to}]"), value, expected, ""));
            }
        }
        let starts = starts.into_iter().flatten().map(Option::unwrap_or_default).collect();
        let timetable = PairTimetable { terminals, period_cycles, block_flits, starts };
        timetable.check_fields().map_err(|fault| match fault {
            PairFault::Field(field, value, expected) => Error::config(format!("{path}.{field}"), value, expected, ""),
            other => Error::config(path, "a timetable", other.to_string(), ""),
        })?;
        Ok(timetable)
    }
}
