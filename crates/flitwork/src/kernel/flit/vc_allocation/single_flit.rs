//! VC allocation where it takes one cycle and packets of one flit are usual.
//!
//! The algorithm:
//!
//! ```text
//! match waiting packets with free output VCs (islip.rs)
//! a packet with a new VC is ready from the next cycle on, if the VC has a credit
//! ```
//!
//! Departures from it, none of which changes a result:
//!
//! 1. *Sets change at once.* All lone requests are taken out of `waiting` and put into `allocated` as whole sets. The
//!    few exceptions (no usable VC, no credit) are put back one by one. Nothing reads the sets in between.
//! 2. *One operation for three flags.* A waiting packet has `WAITING` and neither `GRANTED` nor `ACTIVE`, so one XOR
//!    switches all three.
//! 3. *Absence of conflicts is remembered.* If no two packets waited for the same port, those that became ready want
//!    different output ports in the next cycle. They are noted in `conflict_free`, and the switch need not compare
//!    their ports again (`switch/single_flit.rs`).

use crate::kernel::flit::router::{ACTIVE, GRANTED, SlotSet, WAITING};
use crate::kernel::flit::vc_allocation::Scratch;
use crate::kernel::flit::{Env, Router, VcMask};

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Waiting packets are given VCs; from the next cycle on they may request the switch: those that may, if no two
    /// packets waited for the same port; else nothing.
    #[inline(always)]
    pub(crate) fn allocate_vcs_single_flit(
        &mut self,
        me: usize,
        scratch: &mut Scratch<M>,
        env: &mut Env,
    ) -> SlotSet<WORDS> {
        let (mut wanted, mut contended, mut from) = (0u64, 0u64, 0);
        while let Some((word, mut bits)) = self.waiting.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let port = 1 << (self.input(slot).port & 63);
                contended |= wanted & port;
                wanted |= port;
            }
            from = word + 1;
        }
        // Ports that more than one waiting packet wants need a matching.
        let mut given = self.waiting;
        if contended != 0 {
            given = self.allocate_contended_in_stage(me, contended, scratch, env);
        }
        let (alone, mut from) = (given, 0);
        self.waiting.remove_all(&given);
        while let Some((word, mut bits)) = alone.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let port = self.input(slot).port as usize;
                let usable = self.usable::<true>(me, slot, port, env);
                if usable.is_empty() {
                    self.waiting.insert(slot);
                    given.remove(slot);
                    continue;
                }
                // No other waits for the port: all usable VCs grant it, it accepts the first from its pointer on.
                let out_vc = self.accept(slot, port, &usable);
                // `grant_vc`, but for the sets, which change for all at once.
                self.move_vc_pointers(slot, (port, out_vc));
                self.port(port).free.remove(out_vc);
                let vc = self.input(slot);
                debug_assert!(vc.flags & (WAITING | GRANTED | ACTIVE) == WAITING);
                vc.flags ^= WAITING | GRANTED | ACTIVE;
                if self.output_of((port, out_vc)).credits == 0 {
                    Self::take_out(&mut given, slot);
                }
            }
            from = word + 1;
        }
        self.allocated.insert_all(&given);
        if contended == 0 { given } else { SlotSet::EMPTY }
    }

    /// Takes a VC out of a set, where that is not the rule.
    #[cold]
    #[inline(never)]
    fn take_out(set: &mut SlotSet<WORDS>, slot: usize) {
        set.remove(slot);
    }

    /// Packets that wait for `contended` ports are given VCs. The others that wait.
    #[inline(never)]
    fn allocate_contended_in_stage(
        &mut self,
        me: usize,
        contended: u64,
        scratch: &mut Scratch<M>,
        env: &mut Env,
    ) -> SlotSet<WORDS> {
        let (mut alone, mut from) = (self.waiting, 0);
        while let Some((word, bits)) = self.waiting.word_from(from) {
            bits.for_each(|bit| {
                if contended >> (self.input_at(word * 64 + bit).port & 63) & 1 == 1 {
                    alone.remove(word * 64 + bit);
                }
            });
            from = word + 1;
        }
        self.allocate_contended::<true>(me, contended, scratch, env);
        alone
    }
}
