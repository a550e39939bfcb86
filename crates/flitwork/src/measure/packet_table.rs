//! The records of the packets of a run that is over.

use super::PacketRecord;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::{Index, Range};

/// Packet records in order of (source, sequence).
///
/// They lie where they were written while the run lasted; the table knows in which order to read them.
#[derive(Debug, Clone, Default)]
pub struct PacketTable {
    /// In no order; of a run that kept all its packets by their numbers in the run.
    records: Vec<PacketRecord>,
    /// Indices of `records`, in the order of the table.
    order: Vec<u32>,
}

impl PacketTable {
    /// A table of `records`, which are read in `order`.
    pub(super) fn new(records: Vec<PacketRecord>, order: Vec<u32>) -> Self {
        let table = PacketTable { records, order };
        debug_assert_eq!(table.records.len(), table.order.len());
        debug_assert!(table.iter().is_sorted_by_key(source_and_sequence), "packets are in order");
        table
    }

    /// A table of records in any order, which are sorted.
    pub(super) fn sorted(records: Vec<PacketRecord>) -> Self {
        let mut order: Vec<u32> = (0..records.len() as u32).collect();
        order.sort_unstable_by_key(|&number| source_and_sequence(&records[number as usize]));
        PacketTable { records, order }
    }

    /// How many packets there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// All records.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &PacketRecord> + DoubleEndedIterator {
        self.order.iter().map(|&number| &self.records[number as usize])
    }

    /// Replaces what is in `into` with copies of the records at `places`.
    ///
    /// # Panics
    /// Where there are no such places.
    pub fn read(&self, places: Range<usize>, into: &mut Vec<PacketRecord>) {
        into.clear();
        into.extend(self.order[places].iter().map(|&number| self.records[number as usize]));
    }

    /// The place of each packet by its number in the run. Only of a run that kept all its packets: what is handed over
    /// has other numbers.
    pub(crate) fn places(&self) -> Places {
        let mut of_number = vec![0; self.order.len()];
        self.order.iter().zip(0..).for_each(|(&number, place)| of_number[number as usize] = place);
        Places { of_number }
    }
}

/// What the order of a table follows.
fn source_and_sequence(record: &PacketRecord) -> (u32, u32) {
    (record.src, record.sequence)
}

impl Index<usize> for PacketTable {
    type Output = PacketRecord;

    /// The record at a place.
    fn index(&self, place: usize) -> &PacketRecord {
        &self.records[self.order[place] as usize]
    }
}

/// The places of packets in a [`PacketTable`] by the numbers that they had while the run lasted.
#[derive(Debug)]
pub(crate) struct Places {
    of_number: Vec<u32>,
}

impl Places {
    #[cfg(test)]
    pub fn new(of_number: Vec<u32>) -> Self {
        Places { of_number }
    }

    /// The place of the packet with this number.
    pub fn of(&self, number: u32) -> u32 {
        self.of_number[number as usize]
    }

    /// What is known of packets by number, in the order of the table; `unknown` where it is not known.
    pub fn put_in_order<T: Copy>(&self, by_number: &[T], unknown: T) -> Vec<T> {
        let mut in_order = vec![unknown; self.of_number.len()];
        for (&place, &value) in self.of_number.iter().zip(by_number) {
            in_order[place as usize] = value;
        }
        in_order
    }
}

impl PartialEq for PacketTable {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Serialize for PacketTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for PacketTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(PacketTable::sorted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_the_same_after_json_and_another_with_another_packet() {
        let record = |src, sequence| {
            serde_json::json!({
                "src": src, "sequence": sequence, "dst": 1, "flits": 2, "message": 3, "injection_port": 0, "minus": 0, "wraps": 0, "hops": 4,
                "created": 5, "injected": 6, "arrived": 10 * src + sequence, "background": false,
            })
        };
        let read = |rows: &[serde_json::Value]| serde_json::from_value::<PacketTable>(rows.into()).expect("a table");
        let table = read(&[record(2, 0), record(0, 0), record(2, 1), record(0, 1)]);
        let names: Vec<_> = table.iter().map(source_and_sequence).collect();
        assert_eq!(names, [(0, 0), (0, 1), (2, 0), (2, 1)]);
        assert_eq!((table[1].arrived, table.iter().len()), (1, 4));
        let json = serde_json::to_value(&table).expect("JSON");
        assert_eq!(json, serde_json::json!([record(0, 0), record(0, 1), record(2, 0), record(2, 1)]));
        assert_eq!(serde_json::from_value::<PacketTable>(json).expect("a table"), table);
        assert_ne!(read(&[record(0, 0), record(0, 1), record(2, 0), record(2, 2)]), table);
        assert_ne!(read(&[record(0, 0), record(0, 1), record(2, 0)]), table);
    }
}
