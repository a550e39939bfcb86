//! Where flits and whole packets differ. Code that both share calls these functions instead of testing `PACKETS`. For
//! flits most of them do nothing, and the compiler removes the call.

use crate::kernel::flit::router::{ACTIVE, InputVc};
use crate::kernel::flit::rules::{AllocationPath, Hold};
use crate::kernel::flit::switch::GeneralSwitch;
use crate::kernel::flit::{Env, Kernel, Router, VcMask};
use crate::transit::NONE;
use crate::unchecked::at_mut;

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Kernel<M, PORTS, VCS, WORDS, PACKETS>
{
    /// One cycle of a router of whole packets; whether it is visited in the next one, too.
    #[inline(always)]
    pub(crate) fn step_packets(&mut self, me: usize) -> bool {
        let router = at_mut(&mut self.routers, me);
        match &mut self.general {
            None => router.step_islip_packets(me, &mut self.scratch, &mut self.env),
            Some(_) if WORDS == 1 && self.env.rules.path == AllocationPath::FirstCome => {
                return router.step_fcfs(me, &mut self.env);
            }
            Some(general) => router.step_general(me, general, &mut self.env),
        }
        self.env.visit_again(me)
    }
}

/// Buffers: flits are counted one by one; whole packets are only listed.
impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Counts a flit that enters a buffer.
    #[inline(always)]
    pub(crate) fn count_flit(input: &mut InputVc) {
        if !PACKETS {
            input.occupied += 1;
        }
    }

    /// Whether the front packet that has just left an input VC was alone in it.
    #[inline(always)]
    pub(crate) fn is_empty_behind(input: &InputVc) -> bool {
        if PACKETS { input.behind_last == NONE } else { input.occupied == 0 }
    }

    /// The cycle in which the packet behind a tail comes to the front: whole packets are released at the start of the
    /// cycle behind their tails.
    #[inline(always)]
    pub(crate) fn next_front_since(env: &Env) -> u64 {
        env.now + u64::from(!PACKETS)
    }

    /// Whether a granted packet has a flit in its buffer: the first flit of a whole packet always is.
    #[inline(always)]
    pub(crate) fn has_flit(input: &InputVc) -> bool {
        PACKETS || input.occupied > 0
    }

    /// Flits in an input VC with a front packet. Whole packets are stuck only before they have begun to leave.
    pub(crate) fn buffered_flits(input: &InputVc, env: &Env) -> u32 {
        if PACKETS { env.flits_of_all(input) } else { u32::from(input.occupied) }
    }

    /// Whether the packet in front owns an output VC and may still have to wait for credits. A whole packet that has
    /// been granted its VC has all of them.
    pub(crate) fn may_wait_for_credits(flags: u8) -> bool {
        !PACKETS && flags & ACTIVE != 0
    }
}

/// Credits: those of whole packets come back one a cycle, without an event for each.
impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Whether `returned` of a port counts the credits that have come back, where up ports of a tree are compared.
    pub(crate) const COUNTS_RETURNED: bool = !PACKETS;

    /// Whether a granted packet has a credit of its output VC. A whole packet was granted it with all credits that it
    /// needs.
    #[inline(always)]
    pub(crate) fn has_credit(&mut self, output: (usize, usize)) -> bool {
        PACKETS || self.output_of(output).credits > 0
    }

    /// Credits of an output VC.
    #[inline(always)]
    pub(crate) fn credits_now(&self, me: usize, slot: usize, env: &Env) -> u16 {
        let credits = self.output_at(slot).credits;
        if PACKETS { env.streams.credits(self.number(me, slot), credits, env.now) } else { credits }
    }

    /// A waiting packet needs `needed` credits of output VC `slot`, which has fewer: whole packets are visited again
    /// when it has enough.
    #[inline(always)]
    pub(crate) fn note_missing_credits(&self, me: usize, slot: usize, needed: u16, env: &Env) {
        if PACKETS {
            env.streams.wait_for_credits(self.number(me, slot), self.output_at(slot).credits, needed);
        }
    }

    /// Flits that have left through a port and whose credits have not come back.
    #[inline(always)]
    pub(crate) fn flits_without_credit(&self, me: usize, port: usize, env: &Env) -> u32 {
        if Self::COUNTS_RETURNED && env.rules.route.selects_up_port() {
            let port = self.port_at(port);
            return (port.flits as u32).wrapping_sub(port.returned);
        }
        let credits = |v: usize| u32::from(self.credits_now(me, Self::slot(port, v), env));
        let taken = env.p.vcs as u32 * env.p.buffer_flits - (0..env.p.vcs).map(credits).sum::<u32>();
        // Credits of whole packets are reduced at the grant, by all flits; some of them have not left yet.
        if PACKETS { taken - env.streams.unsent_flits(self.port_number(me, port), env.now) } else { taken }
    }
}

/// VC requests. Routers of whole packets are visited only if a request may succeed, so requested ports and changes are
/// noted.
impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Whether requests are made port by port, for the ports where something has changed.
    #[inline(always)]
    pub(crate) fn requests_by_port(env: &Env) -> bool {
        PACKETS && !env.rules.ports.selects_any
    }

    /// The packet of an input VC begins to wait for a VC of `port`.
    #[inline(always)]
    pub(crate) fn note_request(&mut self, me: usize, slot: usize, port: u8, env: &mut Env) {
        if PACKETS {
            let wanted = 1 << (port & 63);
            env.note_change(me, wanted);
            self.contended_ports |= self.requested_ports & wanted;
            self.requested_ports |= wanted;
            if WORDS == 1 && env.rules.path == AllocationPath::FirstCome {
                *at_mut(&mut env.streams.requesters, self.port_number(me, usize::from(port))) |= 1 << slot;
            }
        }
    }

    /// `requests` more packets have requested VCs in this cycle.
    #[inline(always)]
    pub(crate) fn count_requests(requests: usize, env: &mut Env) {
        if PACKETS {
            env.streams.requested += requests as u32;
        }
    }

    /// A request was granted.
    #[inline(always)]
    pub(crate) fn count_grant(env: &mut Env) {
        if PACKETS {
            env.streams.granted_vc(env.rules.ports.selects_ejection);
        }
    }

    /// VC allocation is over, or waiting packets have selected other ports.
    #[inline(always)]
    pub(crate) fn renew_requests(&mut self) {
        if PACKETS {
            self.update_requested_ports();
        }
    }

    /// A waiting packet has selected `port`.
    #[inline(always)]
    pub(crate) fn note_selected_port(me: usize, port: u32, env: &mut Env) {
        if PACKETS {
            env.note_change(me, 1 << port);
        }
    }

    /// Whether a packet of the router will request a detour later, without any event.
    #[inline(always)]
    pub(crate) fn note_later_request(later: bool, env: &mut Env) {
        if PACKETS {
            env.streams.revisit |= later;
        }
    }
}

/// The switch: whole packets keep their paths by themselves.
impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Sends the front flit of an input VC in cycle `turn`, or the whole front packet from now on.
    #[inline(always)]
    pub(crate) fn send_front<const GENERAL: bool, const COMMON: bool>(
        &mut self,
        me: usize,
        slot: usize,
        turn: u64,
        env: &mut Env,
    ) {
        if PACKETS { self.send_packet(me, slot, env) } else { self.traverse::<GENERAL, COMMON>(me, slot, turn, env) }
    }

    /// Marks the columns of the general switch allocator that take no part in this cycle; returns the rows that do not,
    /// as bits.
    #[inline(always)]
    pub(crate) fn mark_busy_paths(&mut self, me: usize, switch: &mut GeneralSwitch, env: &Env) -> u64 {
        if PACKETS {
            let busy = env.streams.busy[me];
            switch.set_busy_cols(busy.cols);
            return busy.rows;
        }
        // Without output speed-up, which slow channels exclude, a column is a port.
        let busy = env.transit.timing.as_ref().map_or(0, |timing| timing.busy_ports(me, env.now));
        switch.set_busy_cols(busy);
        if env.rules.switch.hold == Hold::Never { 0 } else { self.serve_held_paths(me, switch, busy, env) }
    }

    /// Switch allocation is over: a router of whole packets is visited again if a packet lost that could have been
    /// sent.
    #[inline(always)]
    pub(crate) fn note_losers(&mut self, me: usize, env: &mut Env) {
        if PACKETS {
            env.streams.revisit |= self.may_send(me, env);
        }
    }
}
