//! The switch where VC allocation takes one cycle and packets of one flit are usual.
//!
//! The algorithm is that of `islip.rs`. Departures from it, none of which changes a result:
//!
//! 1. *A packet of one flit leaves in one go.* Its flit is head and tail, so the VC becomes free, the buffer loses its
//!    front packet, and no test for head, tail or an empty buffer is needed. `ALL_SINGLE_FLIT` removes the test for the
//!    length, too.
//! 2. *Winners leave `ready` as a set.* A longer packet may stay ready; it is put back before it takes the usual path,
//!    out of line.
//! 3. *Known absence of conflicts.* VCs that were allocated together for different ports need no comparison of their
//!    output ports (`vc_allocation/single_flit.rs`).

use crate::kernel::flit::router::HEAD;
use crate::kernel::flit::{Env, Router, VcMask};

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Whether all that is ready was given VCs of different ports in the cycle before.
    #[inline(always)]
    fn is_known_conflict_free(&self) -> bool {
        WORDS == 1 && self.ready.first_word() & !self.conflict_free == 0
    }

    /// Sends all ready VCs if they do not conflict, else those that win the switch.
    #[inline(always)]
    pub(crate) fn allocate_switch_single_flit<const ALL_SINGLE_FLIT: bool>(&mut self, me: usize, env: &mut Env) {
        // Of many ready VCs some nearly always meet: it is skipped whether they do.
        let conflict_free = self.ready.has_few()
            && self.ready.has_one_per_port::<VCS>()
            && (self.is_known_conflict_free() || self.outputs_are_conflict_free());
        let won = if conflict_free { self.ready } else { self.match_switch::<true>(me, env) };
        self.ready.remove_all(&won);
        let mut from = 0;
        while let Some((word, mut bits)) = won.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let vc = self.input(slot);
                let port = vc.port as usize;
                let single = ALL_SINGLE_FLIT || vc.left == 1 && vc.flags & HEAD != 0;
                debug_assert!(!ALL_SINGLE_FLIT || vc.left == 1);
                self.move_switch_pointers(slot, port);
                if single {
                    self.send_owner(me, slot, env);
                } else {
                    self.traverse_out_of_line(me, slot, env);
                }
            }
            from = word + 1;
        }
    }

    /// The front packet, of one flit, leaves by the VC that it owns.
    #[inline(always)]
    fn send_owner(&mut self, me: usize, slot: usize, env: &mut Env) {
        let vc = self.input(slot);
        let (port, out_vc) = (vc.port as usize, vc.output as usize % VCS);
        self.port(port).free.insert(out_vc);
        self.send_one_flit_packet(me, slot, (port, out_vc), env);
    }

    /// [`Router::traverse`] of a longer packet, out of line, so that it takes no registers from the others.
    #[inline(never)]
    fn traverse_out_of_line(&mut self, me: usize, slot: usize, env: &mut Env) {
        self.ready.insert(slot);
        self.traverse::<false, true>(me, slot, env.now, env);
    }
}
