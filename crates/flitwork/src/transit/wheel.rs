//! The timing wheel: what is under way on channels and in pipelines, by the cycle in which it is due.
//!
//! Every delay of the model is a constant below the wheel's size, so a slot holds exactly one cycle. Events of one
//! cycle commute (each touches its own virtual channel), which is why their order in a slot, and with it the order in
//! which routers were visited, cannot matter.

use crate::unchecked::at_mut;

/// No packet: the flit is not a head.
pub(crate) const NONE: u32 = u32::MAX;

/// A flit on its way into an input VC.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FlitArrival {
    /// Receiving input VC (see `Layout::vc`).
    pub vc: u32,
    /// The packet if this is its head, else [`NONE`].
    pub packet: u32,
}

/// All that is due in one cycle.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    pub flits: Vec<FlitArrival>,
    /// Output VCs that get a credit.
    pub credits: Vec<u32>,
    /// VCs of injection ports that get a credit, `port * vcs + vc`.
    pub injection_credits: Vec<u32>,
    /// Input VCs whose front packet leaves a pipeline stage: it waits for an output VC, or may request the switch, from
    /// now on.
    pub wakes: Vec<u32>,
    /// Packets whose tail arrives at its terminal.
    pub tails: Vec<u32>,
}

/// What may lie in a slot of a [`Wheel`].
pub(crate) trait Due: Default {
    /// Whether nothing is due.
    fn is_empty(&self) -> bool;
    /// Empties it, and keeps its memory.
    fn clear(&mut self);
}

impl Due for Slot {
    fn is_empty(&self) -> bool {
        self.flits.is_empty()
            && self.credits.is_empty()
            && self.injection_credits.is_empty()
            && self.wakes.is_empty()
            && self.tails.is_empty()
    }

    fn clear(&mut self) {
        self.flits.clear();
        self.credits.clear();
        self.injection_credits.clear();
        self.wakes.clear();
        self.tails.clear();
    }
}

/// Slots for the coming cycles.
#[derive(Debug)]
pub(crate) struct Wheel<S = Slot> {
    slots: Vec<S>,
    mask: u64,
}

impl Wheel {
    /// A wheel for delays of at most `longest` cycles in a network of `ports` ports in all.
    pub fn with_room(longest: u64, ports: usize) -> Self {
        let size = Self::size(longest);
        let events = Self::reserved_events(size, ports);
        let slot = || Slot {
            flits: Vec::with_capacity(events),
            credits: Vec::with_capacity(events),
            injection_credits: Vec::with_capacity(events),
            wakes: Vec::with_capacity(events),
            tails: Vec::with_capacity(events),
        };
        Wheel { slots: (0..size).map(|_| slot()).collect(), mask: size - 1 }
    }

    /// Events of a kind that each slot has room for from the start: one a port, where that is little in all; larger
    /// networks, and longer wheels, grow while they warm up.
    fn reserved_events(size: u64, ports: usize) -> usize {
        ports.min((1 << 18) / size.min(1 << 18) as usize).max(1)
    }

    /// Bytes that [`Wheel::with_room`] reserves.
    pub fn reserved_bytes(longest: u64, ports: usize) -> u64 {
        let size = Self::size(longest);
        let event = size_of::<FlitArrival>() + 4 * size_of::<u32>();
        size * (size_of::<Slot>() + event * Self::reserved_events(size, ports)) as u64
    }
}

impl<S: Due> Wheel<S> {
    /// A wheel for delays of at most `longest` cycles, without memory for events.
    pub fn new(longest: u64) -> Self {
        let size = Self::size(longest);
        Wheel { slots: (0..size).map(|_| S::default()).collect(), mask: size - 1 }
    }

    /// From cycle `now` on it is for delays of at most `longest` cycles, or as long as before.
    pub fn reach(&mut self, now: u64, longest: u64) {
        let (before, size) = (self.cycles(), Self::size(longest));
        if size <= before {
            return;
        }
        let mut slots: Vec<S> = (0..size).map(|_| S::default()).collect();
        for cycle in now..now + before {
            slots[(cycle & (size - 1)) as usize] = self.take(cycle);
        }
        (self.slots, self.mask) = (slots, size - 1);
    }

    fn size(longest: u64) -> u64 {
        (longest + 2).next_power_of_two()
    }

    /// The slot of `cycle`, which must be less than the wheel's size away.
    #[inline(always)]
    pub fn at(&mut self, cycle: u64) -> &mut S {
        // The mask is the number of slots minus one.
        at_mut(&mut self.slots, (cycle & self.mask) as usize)
    }

    /// The slot of `cycle`, which must be less than the wheel's size away.
    pub fn peek(&self, cycle: u64) -> &S {
        &self.slots[(cycle & self.mask) as usize]
    }

    /// Takes the slot of `cycle` out for reading; give it back with [`Wheel::put_back`].
    pub fn take(&mut self, cycle: u64) -> S {
        std::mem::take(self.at(cycle))
    }

    /// Returns a slot taken out, emptied, so that its memory is used again.
    pub fn put_back(&mut self, cycle: u64, mut slot: S) {
        slot.clear();
        *self.at(cycle) = slot;
    }

    /// The number of cycles that it reaches ahead.
    pub fn cycles(&self) -> u64 {
        self.mask + 1
    }

    /// Whether nothing is due in `cycle`.
    pub fn is_empty_at(&self, cycle: u64) -> bool {
        self.slots[(cycle & self.mask) as usize].is_empty()
    }

    /// Whether nothing is under way. Looks at every slot: not for every cycle.
    pub fn is_idle(&self) -> bool {
        self.slots.iter().all(S::is_empty)
    }

    /// All slots.
    #[cfg(feature = "audit")]
    pub fn slots(&self) -> &[S] {
        &self.slots
    }
}

#[cfg(test)]
mod tests {
    use super::Wheel;

    #[test]
    fn what_is_due_stays_where_it_is_when_a_wheel_reaches_further() {
        let mut wheel = Wheel::with_room(6, 4);
        (13..20).for_each(|cycle| wheel.at(cycle).wakes.push(cycle as u32));
        wheel.reach(13, 3);
        assert_eq!(wheel.cycles(), 8);
        wheel.reach(13, 30);
        wheel.at(43).wakes.push(43);
        assert_eq!(wheel.cycles(), 32);
        let due: Vec<u32> = (13..45).flat_map(|cycle| wheel.take(cycle).wakes).collect();
        assert_eq!(due, [13, 14, 15, 16, 17, 18, 19, 43]);
    }
}
