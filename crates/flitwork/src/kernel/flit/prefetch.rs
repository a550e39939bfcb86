//! Prefetching: in networks that do not fit the caches, cache lines are requested some events before they are used.
//!
//! There each line of a router comes from memory, and the next one to request is known only when it is there: which VCs
//! are ready, which port they want. Events and visits therefore come in batches, and each batch passes through stages:
//! a stage requests the lines that the next stage reads, while the batches before it are worked on. It is a hint: where
//! state has changed meanwhile, the access is slower, not wrong.

use crate::kernel::flit::router::Memory;
use crate::kernel::flit::{Kernel, Router, VcMask};
use crate::transit::{FlitArrival, NONE};
use crate::unchecked::{at, prefetch};

/// Events of a batch.
const BATCH: usize = 16;

/// Bytes of all routers from which on this pays: with 15 MB it takes as long as without, with less it costs up to a
/// sixth.
const LARGE: usize = 1 << 24;

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Kernel<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Whether lines are prefetched; `always`: in small networks, too. Where packets move whole, or a router is large,
    /// a visit reads other lines than these.
    pub(super) fn prefetches(routers: usize, always: bool) -> bool {
        let bytes = routers * size_of::<Router<M, PORTS, VCS, WORDS, PACKETS>>();
        !PACKETS && !M::Memory::<PORTS, VCS>::COUNTED && (always || bytes >= LARGE)
    }

    /// Delivers `events`; their lines are prefetched in two stages where that pays.
    #[inline(always)]
    pub(super) fn deliver_ahead<E>(
        &mut self,
        events: &[E],
        stages: (impl Fn(&Self, &E), impl Fn(&Self, &E)),
        deliver: impl Fn(&mut Self, &[E]),
    ) {
        if !self.ahead {
            return deliver(self, events);
        }
        let batch = |number: usize| events.chunks(BATCH).nth(number).unwrap_or_default().iter();
        batch(0).chain(batch(1)).for_each(|event| stages.0(self, event));
        batch(0).for_each(|event| stages.1(self, event));
        for (number, now) in events.chunks(BATCH).enumerate() {
            batch(number + 2).for_each(|event| stages.0(self, event));
            batch(number + 1).for_each(|event| stages.1(self, event));
            deliver(self, now);
        }
    }

    /// Prefetches what a flit's arrival reads first.
    #[inline(always)]
    pub(super) fn prefetch_input(&self, flit: &FlitArrival) {
        let (router, slot) = self.router_and_slot(flit.vc as usize);
        let at = at(&self.routers, router);
        prefetch(at.input_at(slot));
        prefetch(&at.waiting);
        if flit.packet != NONE {
            prefetch(&self.env.pool[flit.packet]);
            self.env.route.table.prefetch_key(router);
        }
    }

    /// Prefetches the output port of a body flit.
    #[inline(always)]
    pub(super) fn prefetch_output(&self, flit: &FlitArrival) {
        if flit.packet == NONE {
            let (router, slot) = self.router_and_slot(flit.vc as usize);
            at(&self.routers, router).prefetch_output(slot);
        }
    }

    /// Prefetches what a credit changes.
    #[inline(always)]
    pub(super) fn prefetch_credits(&self, vc: u32) {
        let (router, output) = self.router_and_slot(vc as usize);
        prefetch(at(&self.routers, router).output_at(output));
    }

    /// Prefetches lines of the active routers of the words behind `word`: their sets, then the input sides of what may
    /// move, then the output sides.
    #[inline(never)]
    pub(super) fn prefetch_visits(&self, word: usize) {
        // The first words have no words before them.
        let words = |ahead: usize| if word == 0 { 0..ahead + 1 } else { word + ahead..word + ahead + 1 };
        words(3).for_each(|word| self.each_active(word, |router| prefetch(&router.waiting)));
        words(2)
            .for_each(|word| self.each_active(word, |router| router.each_mover(|slot| router.prefetch_input(slot))));
        words(1)
            .for_each(|word| self.each_active(word, |router| router.each_mover(|slot| router.prefetch_output(slot))));
    }

    #[inline(always)]
    fn each_active(&self, word: usize, mut look: impl FnMut(&Router<M, PORTS, VCS, WORDS, PACKETS>)) {
        if let Some(bits) = self.env.visits.active.get(word) {
            bits.for_each(|bit| look(at(&self.routers, word * 64 + bit)));
        }
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// The VCs that wait or are ready.
    #[inline(always)]
    fn each_mover(&self, mut look: impl FnMut(usize)) {
        let mut movers = self.waiting;
        movers.insert_all(&self.ready);
        let mut from = 0;
        while let Some((word, bits)) = movers.word_from(from) {
            bits.for_each(|bit| look(word * 64 + bit));
            from = word + 1;
        }
    }

    #[inline(always)]
    fn prefetch_input(&self, slot: usize) {
        prefetch(self.input_at(slot));
        prefetch(self.port_at(slot / VCS));
    }

    #[inline(always)]
    fn prefetch_output(&self, slot: usize) {
        prefetch(self.port_at(self.input_at(slot).port as usize % PORTS));
    }
}
