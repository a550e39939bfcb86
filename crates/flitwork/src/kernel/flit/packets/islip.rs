//! iSLIP for whole packets: the allocators of flits, for the ports and paths where something can be granted.

use crate::kernel::flit::vc_allocation::Scratch;
use crate::kernel::flit::{Env, Router, VcMask};

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// One cycle. Requests for paths that are in use are set aside, so the switch allocator does not see them.
    #[inline(always)]
    pub(super) fn step_islip_packets(&mut self, me: usize, scratch: &mut Scratch<M>, env: &mut Env) {
        if env.rules.route.selects_up_port() {
            self.select_up_ports(me, env);
        }
        if !self.waiting.is_empty() {
            if env.rules.ports.selects_any {
                self.allocate_selected(me, scratch, env);
            } else {
                self.allocate_vcs_to_packets(me, scratch, env);
            }
        }
        if self.ready.is_empty() {
            return;
        }
        let aside = self.set_busy_aside(me, env);
        if !self.ready.is_empty() {
            self.allocate_switch_islip::<false>(me, env);
            env.streams.revisit |= self.may_send(me, env);
        }
        self.ready.insert_all(&aside);
    }

    /// VC allocation of the ports where something has changed.
    #[inline(always)]
    fn allocate_vcs_to_packets(&mut self, me: usize, scratch: &mut Scratch<M>, env: &mut Env) {
        // Ports that more than one waiting packet wants need a matching.
        let look = self.ports_to_visit(me, env);
        let contended = self.contended_ports & look;
        if self.requested_ports & look == 0 {
            return;
        }
        if self.requested_ports & look & !contended != 0 {
            // A loop, not a closure: the compiler must not put it into a separate function.
            let mut from = 0;
            while let Some((word, mut bits)) = self.waiting.word_from(from) {
                while bits != 0 {
                    let slot = word * 64 + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    self.allocate_uncontended(me, slot, contended | !look, env);
                }
                from = word + 1;
            }
        }
        if contended != 0 {
            self.match_contended(me, contended, scratch, env);
        }
        self.update_requested_ports();
    }

    /// A waiting packet whose port no other wants: all usable VCs grant it, it accepts the first from its pointer on.
    /// Nothing is done for one whose port is in `others`.
    #[inline(always)]
    fn allocate_uncontended(&mut self, me: usize, slot: usize, others: u64, env: &mut Env) {
        let port = self.input(slot).port as usize;
        if others >> port & 1 == 1 {
            return;
        }
        let usable = self.usable::<false>(me, slot, port, env);
        if env.measured.watched {
            env.measured.observer.requested(self.number(me, slot), !usable.is_empty(), env.now);
        }
        if !usable.is_empty() {
            env.streams.requested += 1;
            let out_vc = self.accept(slot, port, &usable);
            self.accept_vc(me, slot, port, out_vc, env);
        }
    }
}
