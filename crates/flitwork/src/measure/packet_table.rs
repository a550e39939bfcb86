//! The records of the packets of a run that is over.

use super::PacketRecord;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::Range;

/// Packet records in order of (source, sequence).
///
/// They lie where they were written while the run lasted; the table knows in which order to read them.
#[derive(Debug, Clone, Default)]
pub struct PacketTable {
    /// By the number that a packet had in the run.
    records: Vec<PacketRecord>,
    /// The numbers, in the order of the table.
    order: Vec<u32>,
}

impl PacketTable {
    /// Records by number, and the numbers of all in order.
    pub(super) fn new(records: Vec<PacketRecord>, order: Vec<u32>) -> Self {
        debug_assert_eq!(records.len(), order.len());
        PacketTable { records, order }
    }

    /// The same of records whose order is not known.
    pub(super) fn sorted(records: Vec<PacketRecord>) -> Self {
        let mut order: Vec<u32> = (0..records.len() as u32).collect();
        order.sort_by_key(|&number| (records[number as usize].src, records[number as usize].sequence));
        PacketTable { records, order }
    }

    /// Packets.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// All records.
    pub fn iter(&self) -> impl Iterator<Item = &PacketRecord> {
        self.order.iter().map(|&number| &self.records[number as usize])
    }

    /// Copies the records at `places` into a buffer, in the place of what was in it.
    ///
    /// # Panics
    /// Where there are no such places.
    pub fn read(&self, places: Range<usize>, into: &mut Vec<PacketRecord>) {
        into.clear();
        into.extend(self.order[places].iter().map(|&number| self.records[number as usize]));
    }

    /// Where each packet is.
    pub(crate) fn places(&self) -> Places {
        let mut of_number = vec![0; self.order.len()];
        self.order.iter().zip(0..).for_each(|(&number, place)| of_number[number as usize] = place);
        Places { of_number }
    }
}

/// The places of packets in a [`PacketTable`] by the numbers that they had while the run lasted.
#[derive(Debug, Default)]
pub(crate) struct Places {
    of_number: Vec<u32>,
}

impl Places {
    #[cfg(test)]
    pub fn new(of_number: Vec<u32>) -> Self {
        Places { of_number }
    }

    /// That of a packet.
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
