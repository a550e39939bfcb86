//! The records of packets while a run lasts: all of them until its end, or those that have not arrived and been taken
//! away.
//!
//! Records are appended as injection ports take packets: a place for each source would be in no cache when its next
//! packet comes. Sources are noted beside them. From these alone the order by source is found at the end, so no record
//! is read, or moved, before columns are made.

use super::PacketRecord;
use super::packet_table::PacketTable;

/// What has not happened.
const NEVER: u64 = u64::MAX;

/// Records by number: that of a packet stays while it is under way.
#[derive(Debug, Default)]
pub(crate) struct PacketRecords {
    /// In the order in which injection ports took them; where they are handed over, numbers are used again.
    records: Vec<PacketRecord>,
    /// The source of each, where they are not handed over.
    source_of: Vec<u32>,
    handed_over: Option<HandedOver>,
}

/// Those that somebody takes away while the run lasts.
#[derive(Debug, Default)]
struct HandedOver {
    arrived: Vec<PacketRecord>,
    /// Numbers of packets that have arrived.
    free: Vec<u32>,
}

impl PacketRecords {
    /// These records where those of packets that have arrived are taken away while the run lasts, in the order of their
    /// arrival: no more are kept than packets are under way, besides those that nobody has taken yet.
    pub fn hand_over(self) -> Self {
        PacketRecords { handed_over: Some(HandedOver::default()), ..self }
    }

    /// Keeps the record of a packet that enters; its number.
    #[inline]
    pub fn taken(&mut self, record: PacketRecord) -> u32 {
        if let Some(handed) = &mut self.handed_over {
            if let Some(free) = handed.free.pop() {
                self.records[free as usize] = record;
                return free;
            }
        } else {
            self.source_of.push(record.src);
        }
        self.records.push(record);
        self.records.len() as u32 - 1
    }

    /// The head of this packet left its terminal.
    #[inline]
    pub fn injected(&mut self, number: u32, now: u64) {
        self.records[number as usize].injected = now;
    }

    /// Notes that the tail of a packet arrived.
    #[inline]
    pub fn arrived(&mut self, number: u32, hops: u32, now: u64) {
        let record = &mut self.records[number as usize];
        record.arrived = now;
        record.hops = hops;
        if let Some(handed) = &mut self.handed_over {
            handed.arrived.push(*record);
            handed.free.push(number);
        }
    }

    /// What has arrived since the last call, where records are handed over.
    pub fn take(&mut self) -> Vec<PacketRecord> {
        self.handed_over.as_mut().map(|handed| std::mem::take(&mut handed.arrived)).unwrap_or_default()
    }

    /// All of them in order of (source, sequence). Where records are handed over: those that nobody has taken.
    pub fn in_order(self) -> PacketTable {
        if let Some(HandedOver { mut arrived, .. }) = self.handed_over {
            arrived.extend(self.records.into_iter().filter(|record| record.arrived == NEVER));
            return PacketTable::sorted(arrived);
        }
        let order = self.by_source();
        PacketTable::new(self.records, order)
    }

    /// The numbers of all packets, source by source. Those of a source are in order: it numbers packets as injection
    /// ports take them.
    fn by_source(&self) -> Vec<u32> {
        let sources = self.source_of.iter().map(|&source| source as usize + 1).max().unwrap_or(0);
        // How many packets are before those of a source; then the place of its next one.
        let mut before = vec![0u32; sources + 1];
        self.source_of.iter().for_each(|&source| before[source as usize + 1] += 1);
        (0..sources).for_each(|source| before[source + 1] += before[source]);
        let mut order = vec![0; self.records.len()];
        for (number, &source) in self.source_of.iter().enumerate() {
            let place = &mut before[source as usize];
            order[*place as usize] = number as u32;
            *place += 1;
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(src: u32, sequence: u32) -> PacketRecord {
        PacketRecord {
            src,
            sequence,
            dst: 0,
            flits: 1,
            message: 0,
            injection_port: 0,
            minus: 0,
            wraps: 0,
            hops: 0,
            created: 0,
            injected: NEVER,
            arrived: NEVER,
            background: false,
        }
    }

    fn ids<'a>(records: impl IntoIterator<Item = &'a PacketRecord>) -> Vec<(u32, u32)> {
        records.into_iter().map(|record| (record.src, record.sequence)).collect()
    }

    #[test]
    fn records_come_in_order_of_source_and_sequence_however_they_were_taken() {
        let long = (0..1000).map(|i| (i * 7 % 5, i)).collect();
        for taken in [vec![(2, 0), (0, 0), (2, 1), (0, 1), (0, 4)], long, vec![]] {
            let mut records = PacketRecords::default();
            let numbers: Vec<u32> = taken.iter().map(|&(src, sequence)| records.taken(record(src, sequence))).collect();
            numbers.iter().for_each(|&number| records.arrived(number, 3, u64::from(number)));
            let table = records.in_order();
            let mut expected = taken.clone();
            expected.sort_unstable();
            assert_eq!(ids(table.iter()), expected);
            let mut some = vec![record(9, 9)];
            table.read(taken.len() / 2..taken.len(), &mut some);
            assert_eq!(ids(&some), expected[taken.len() / 2..]);
            assert_eq!((table.len(), table.is_empty()), (taken.len(), taken.is_empty()));
            let places = table.places();
            for (&number, &id) in numbers.iter().zip(&taken) {
                let place = places.of(number) as usize;
                assert_eq!(expected[place], id);
                assert_eq!(table.iter().nth(place).map(|record| record.arrived), Some(u64::from(number)));
            }
            // What is known of packets by number comes in the order of the table.
            let by_number: Vec<u64> = (0..numbers.len() as u64).collect();
            let arrived: Vec<u64> = table.iter().map(|record| record.arrived).collect();
            assert_eq!(places.put_in_order(&by_number, NEVER), arrived);
        }
    }

    #[test]
    fn what_is_taken_away_leaves_its_number_to_the_next_packet() {
        let mut records = PacketRecords::default().hand_over();
        let numbers: Vec<u32> = (0..3).map(|sequence| records.taken(record(7, sequence))).collect();
        records.injected(numbers[1], 5);
        records.arrived(numbers[1], 2, 9);
        let taken = records.take();
        assert_eq!((ids(&taken), taken[0].injected, taken[0].arrived, taken[0].hops), (vec![(7, 1)], 5, 9, 2));
        assert_eq!(records.taken(record(3, 0)), numbers[1]);
        records.arrived(numbers[0], 1, 11);
        assert!(records.take().len() == 1 && records.take().is_empty());
        records.arrived(numbers[2], 1, 12);
        assert_eq!(ids(records.in_order().iter()), vec![(3, 0), (7, 2)]);
    }
}
