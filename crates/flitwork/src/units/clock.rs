//! The clock of a network: what a flit carries and how long a cycle takes.

use super::exact::{Exact, divided, multiplied};
use num_traits::{ToPrimitive, Zero};

/// Largest numerator and denominator of a cycle: then 64-bit numbers of ns convert without overflow.
const LARGEST: i128 = 1 << 62;
const NS_PER_S: i128 = 1_000_000_000;

/// What a flit carries and how long a cycle takes; nothing where the network does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Units {
    flit_bytes: Option<u32>,
    cycle: Option<Exact>,
    packets: Option<Packets>,
}

/// Packets that begin with a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Packets {
    /// What the longest packet carries besides its header \[bytes].
    payload: u32,
    /// \[bytes]
    header: u32,
}

impl Units {
    /// Flits of so many bytes (at least 1) and cycles of so many ns (more than 0). `None` for a cycle that is a
    /// fraction of too many digits.
    pub fn new(flit_bytes: Option<u32>, cycle: Option<Exact>) -> Option<Units> {
        let fits = |cycle: &Exact| *cycle > Exact::zero() && *cycle.numer() < LARGEST && *cycle.denom() < LARGEST;
        let is_sound = flit_bytes.is_none_or(|bytes| bytes > 0) && cycle.as_ref().is_none_or(fits);
        is_sound.then_some(Units { flit_bytes, cycle, packets: None })
    }

    /// The same where each packet, of at most so many flits, begins with a header of so many bytes. `None` where
    /// nothing is left.
    pub(crate) fn with_headers(self, packet_flits: u32, header: u32) -> Option<Units> {
        let payload =
            packet_flits.saturating_mul(self.flit_bytes?).checked_sub(header).filter(|&payload| payload > 0)?;
        Some(Units { packets: Some(Packets { payload, header }), ..self })
    }

    /// Bytes of a flit.
    pub fn flit_bytes(&self) -> Option<u32> {
        self.flit_bytes
    }

    /// Length of a cycle, exact \[ns].
    pub fn cycle(&self) -> Option<Exact> {
        self.cycle
    }

    /// Length of a cycle \[ns].
    pub fn cycle_ns(&self) -> Option<f64> {
        self.cycle.map(|cycle| *cycle.numer() as f64 / *cycle.denom() as f64)
    }

    /// The flits of a message of `bytes` and the headers of its packets: rounded up. A message of 0 bytes is one flit
    /// at least, as its arrival is a signal.
    pub fn flits(&self, bytes: u64) -> Option<u64> {
        let headers = |packets: Packets| bytes.div_ceil(packets.payload.into()).max(1) * u64::from(packets.header);
        let all = bytes.saturating_add(self.packets.map_or(0, headers));
        self.flit_bytes.map(|flit| all.div_ceil(u64::from(flit)).max(1))
    }

    /// The cycles of a duration of `ns`: rounded up.
    pub fn cycles(&self, ns: u64) -> Option<u64> {
        let cycle = self.cycle?;
        let product = u128::from(ns) * cycle.denom().unsigned_abs();
        product.div_ceil(cycle.numer().unsigned_abs()).to_u64()
    }

    /// A duration in cycles, exact.
    pub(crate) fn in_cycles(&self, ns: Exact) -> Option<Exact> {
        divided(ns, self.cycle?)
    }

    /// A size in flits, exact.
    pub(crate) fn in_flits(&self, bytes: Exact) -> Option<Exact> {
        divided(bytes, Exact::from_integer(self.flit_bytes?.into()))
    }

    /// A rate of bytes/s in flits/cycle, exact.
    pub(crate) fn in_flits_per_cycle(&self, bytes_per_s: Exact) -> Option<Exact> {
        divided(bytes_per_s, self.bytes_per_s()?)
    }

    /// Bytes/s of a channel that takes a flit in every cycle, exact.
    pub(crate) fn bytes_per_s(&self) -> Option<Exact> {
        let per_ns = divided(Exact::from_integer(self.flit_bytes?.into()), self.cycle?)?;
        multiplied(per_ns, Exact::from_integer(NS_PER_S))
    }

    /// How long flits of so many bytes take on a channel of so many bytes/s \[ns].
    pub(crate) fn cycle_of(flit_bytes: u32, bytes_per_s: Exact) -> Option<Exact> {
        divided(Exact::from_integer(i128::from(flit_bytes) * NS_PER_S), bytes_per_s)
    }

    /// The bytes that a channel of so many bytes/s carries in so many ns.
    pub(crate) fn bytes_in(cycle: Exact, bytes_per_s: Exact) -> Option<Exact> {
        divided(multiplied(cycle, bytes_per_s)?, Exact::from_integer(NS_PER_S))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_are_exact() {
        let units = Units::new(Some(16), Units::cycle_of(16, Exact::from_integer(3_000_000_000))).unwrap();
        assert_eq!(units.cycle(), Some(Exact::new(16, 3)));
        assert_eq!(units.cycles(16), Some(3));
        assert_eq!(units.cycles(17), Some(4));
        assert_eq!(units.cycles(u64::MAX), Some((u128::from(u64::MAX) * 3).div_ceil(16) as u64));
        assert_eq!([0, 1, 16, 17, 1 << 40].map(|bytes| units.flits(bytes).unwrap()), [1, 1, 1, 2, 1 << 36]);
        assert_eq!(units.in_flits_per_cycle(Exact::from_integer(1_500_000_000)), Some(Exact::new(1, 2)));
        // 49 / 0.7 is more than 70 in floating point.
        assert_eq!(Units::new(None, Some(Exact::new(7, 10))).unwrap().cycles(49), Some(70));
        assert_eq!(Units::default().cycles(1), None);
    }

    #[test]
    fn every_packet_of_a_message_has_its_header() {
        let units = Units::new(Some(16), None).unwrap();
        let packets = units.with_headers(128, 32).unwrap();
        for (bytes, flits) in [(0, 2), (1, 3), (2016, 128), (2017, 131), (4032, 256), (3 * 2016 + 16, 3 * 128 + 3)] {
            assert_eq!(packets.flits(bytes), Some(flits), "{bytes}");
            // Cut into packets of 128 flits, there are as many as there are headers.
            assert_eq!(flits.div_ceil(128), bytes.div_ceil(2016).max(1));
        }
        assert_eq!(units.with_headers(2, 32), None);
        assert_eq!(Units::default().with_headers(2, 32), None);
    }

    #[test]
    fn what_is_no_clock_is_none() {
        for cycle in [Exact::from_integer(0), Exact::from_integer(-1), Exact::new(1, 1 << 63)] {
            assert_eq!(Units::new(None, Some(cycle)), None);
        }
        assert_eq!(Units::new(Some(0), None), None);
    }
}
