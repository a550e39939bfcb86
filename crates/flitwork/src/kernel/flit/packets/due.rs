//! What is due later, by cycle. Events of one kind in one cycle commute, as those of the flit kernel do.

/// Credits that begin to come back, one a cycle.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Returning {
    /// Output VC of a router, or VC of an injection port.
    pub vc: u32,
    pub flits: u16,
}

/// All that is due in one cycle.
#[derive(Debug, Default)]
pub(in super::super) struct Due {
    /// Input VCs whose packet sent its last flit in the cycle before.
    pub releases: Vec<u32>,
    /// First credits at output VCs, and at VCs of injection ports (`port * vcs + vc`).
    pub credits: Vec<Returning>,
    pub injection_credits: Vec<Returning>,
    /// Routers, and terminals, that wait for no more than enough credits: there may be now.
    pub routers: Vec<u32>,
    pub terminals: Vec<u32>,
    /// Injection ports that send the last flit of their packet in this cycle.
    pub last_flits: Vec<u32>,
}

impl Due {
    fn is_empty(&self) -> bool {
        self.releases.is_empty()
            && self.credits.is_empty()
            && self.injection_credits.is_empty()
            && self.routers.is_empty()
            && self.terminals.is_empty()
            && self.last_flits.is_empty()
    }

    fn clear(&mut self) {
        self.releases.clear();
        self.credits.clear();
        self.injection_credits.clear();
        self.routers.clear();
        self.terminals.clear();
        self.last_flits.clear();
    }
}

/// A ring of coming cycles.
#[derive(Debug)]
pub(in super::super) struct Timetable {
    slots: Vec<Due>,
    mask: u64,
}

impl Timetable {
    /// For delays of at most `longest` cycles.
    pub fn new(longest: u64) -> Self {
        let size = (longest + 2).next_power_of_two();
        Timetable { slots: (0..size).map(|_| Due::default()).collect(), mask: size - 1 }
    }

    /// What is due in `cycle`, which must be less than the ring's size away.
    #[inline(always)]
    pub fn at(&mut self, cycle: u64) -> &mut Due {
        crate::unchecked::at_mut(&mut self.slots, (cycle & self.mask) as usize)
    }

    /// Takes out what is due in `cycle`; give it back with [`Timetable::put_back`].
    pub fn take(&mut self, cycle: u64) -> Due {
        std::mem::take(self.at(cycle))
    }

    /// Returns what was taken out, emptied, so that its memory is used again.
    pub fn put_back(&mut self, cycle: u64, mut due: Due) {
        due.clear();
        *self.at(cycle) = due;
    }

    /// Whether nothing is due at all. Looks at every cycle: not for every cycle.
    pub fn is_idle(&self) -> bool {
        self.slots.iter().all(Due::is_empty)
    }

    /// Whether nothing is due in `cycle`.
    pub fn is_empty_at(&self, cycle: u64) -> bool {
        self.slots[(cycle & self.mask) as usize].is_empty()
    }
}
