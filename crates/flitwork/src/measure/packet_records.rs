//! The records of packets while a run lasts: all of them until its end, or those that have not arrived and been taken away.

use super::PacketRecord;

/// What has not happened.
const NEVER: u64 = u64::MAX;

/// Records by number: that of a packet stays while it is under way.
#[derive(Debug, Default)]
pub(crate) struct PacketRecords {
    /// In the order in which injection ports took them; where they are handed over, numbers are used again.
    records: Vec<PacketRecord>,
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
    /// The same where records of packets that have arrived are taken away while the run lasts, in the order of their arrival: no more
    /// are kept than packets are under way, besides those that nobody has taken yet.
    pub fn hand_over(self) -> Self {
        PacketRecords { handed_over: Some(HandedOver::default()), ..self }
    }

    /// Keeps the record of a packet that enters; its number.
    #[inline]
    pub fn taken(&mut self, record: PacketRecord) -> u32 {
        if let Some(free) = self.handed_over.as_mut().and_then(|handed| handed.free.pop()) {
            self.records[free as usize] = record;
            return free;
        }
        self.records.push(record);
        self.records.len() as u32 - 1
    }

    /// The head of this packet left its terminal.
    #[inline]
    pub fn injected(&mut self, number: u32, now: u64) {
        self.records[number as usize].injected = now;
    }

    /// Its tail arrived.
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

    /// All of them in order of (source, sequence), and the place in it of each number. Where records are handed over: those that nobody
    /// has taken, and no places.
    pub fn in_order(self) -> (Vec<PacketRecord>, Vec<u32>) {
        match self.handed_over {
            None => in_order(self.records),
            Some(HandedOver { mut arrived, .. }) => {
                arrived.extend(self.records.into_iter().filter(|record| record.arrived == NEVER));
                (in_order(arrived).0, Vec::new())
            }
        }
    }
}

/// The records in order of (source, sequence), and the place of each in it. Each source sends in order, but for ports that take packets in
/// turn from several queues: what is counted by source is nearly always all there is to do.
fn in_order(records: Vec<PacketRecord>) -> (Vec<PacketRecord>, Vec<u32>) {
    let sources = records.iter().map(|record| record.src as usize + 1).max().unwrap_or(0);
    // Two counters in one: how many records come before those of a source, then where its next record goes.
    let mut before = vec![0u32; sources + 1];
    records.iter().for_each(|record| before[record.src as usize + 1] += 1);
    (0..sources).for_each(|source| before[source + 1] += before[source]);
    let mut next_sequence = vec![0u32; sources];
    let mut sorted = true;
    let mut places: Vec<u32> = records
        .iter()
        .map(|record| {
            let source = record.src as usize;
            sorted &= next_sequence[source] <= record.sequence;
            next_sequence[source] = record.sequence;
            before[source] += 1;
            before[source] - 1
        })
        .collect();
    let mut order: Vec<u32> = (0..records.len() as u32).collect();
    if sorted {
        places.iter().zip(0..).for_each(|(&place, record)| order[place as usize] = record);
    } else {
        order.sort_unstable_by_key(|&i| (records[i as usize].src, records[i as usize].sequence));
        order.iter().enumerate().for_each(|(place, &record)| places[record as usize] = place as u32);
    }
    (order.iter().map(|&record| records[record as usize]).collect(), places)
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

    fn ids(records: &[PacketRecord]) -> Vec<(u32, u32)> {
        records.iter().map(|record| (record.src, record.sequence)).collect()
    }

    #[test]
    fn records_come_in_order_of_source_and_sequence_however_they_were_taken() {
        for taken in [vec![(2, 0), (0, 0), (2, 1), (0, 1), (0, 4)], vec![(1, 1), (3, 0), (1, 0), (3, 2), (3, 1)]] {
            let mut records = PacketRecords::default();
            taken.iter().for_each(|&(src, sequence)| _ = records.taken(record(src, sequence)));
            let (ordered, places) = records.in_order();
            let mut expected = taken.clone();
            expected.sort_unstable();
            assert_eq!(ids(&ordered), expected);
            let at_places: Vec<(u32, u32)> = places.iter().map(|&place| expected[place as usize]).collect();
            assert_eq!(at_places, taken);
        }
        assert_eq!(PacketRecords::default().in_order(), (vec![], vec![]));
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
        let (rest, places) = records.in_order();
        assert_eq!((ids(&rest), places), (vec![(3, 0), (7, 2)], vec![]));
    }
}
