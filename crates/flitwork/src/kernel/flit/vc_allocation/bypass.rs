//! VC allocation where each packet requests VCs of one port and flits move one by one; a packet of one flit without
//! competitors bypasses the switch allocator.
//!
//! The algorithm, where VC allocation takes no cycle of its own:
//!
//! ```text
//! match waiting packets with free output VCs (islip.rs)
//! packets with a new VC and a credit join the ready VCs
//! match ready VCs with output ports (switch/islip.rs)
//! each winner sends a flit; behind a tail the output VC becomes free
//! ```
//!
//! Departures from it, none of which changes a result:
//!
//! 1. *Bypass.* A packet of one flit that has a VC and a credit, and whose input port and output port no other packet
//!    wants, leaves at once. iSLIP would grant it the switch, because nothing competes with it.
//! 2. *A bypassing packet never owns its VC.* It would take the VC and return it within the cycle, and nothing reads
//!    the owner in between. The pointers of both allocators move as if it had.
//! 3. *Competitors are overestimated.* All packets that wait count, even those that get no VC. A packet that could have
//!    bypassed then takes the usual path, with the same result.
//! 4. *The bypass is optional.* In routers of more than 64 VCs with several ready ones in a word, a conflict is nearly
//!    certain, so the bypass is not tried. Routers of more than 32 ports, and those with grouped sets, have none.
//! 5. *Contended ports come first.* Ports are independent matchings, so their order is free. Nearly always two packets
//!    meet, and these are matched without lists (`match_two`).

use crate::kernel::flit::router::SlotSet;
use crate::kernel::flit::vc_allocation::{Scratch, VcRequest};
use crate::kernel::flit::{Env, Router, VcMask};

/// The ports that packets want to use, as bits, and those that more than one packet wants: output ports, and below
/// them, where a router is small enough for the bypass, input ports.
#[derive(Debug, Clone, Copy, Default)]
struct PortUse {
    wanted: u64,
    contended: u64,
}

impl PortUse {
    #[inline(always)]
    fn add(&mut self, ports_between: u64) {
        self.contended |= self.wanted & ports_between;
        self.wanted |= ports_between;
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Whether routers of this size have a bypass.
    const CAN_BYPASS: bool = PORTS <= 32 && !SlotSet::<WORDS>::GROUPED;

    /// Waiting packets are given VCs; some leave.
    #[inline(never)]
    pub(crate) fn allocate_vcs_to_flits<const COMMON: bool, const BYPASS: bool>(
        &mut self,
        me: usize,
        scratch: &mut Scratch<M>,
        env: &mut Env,
    ) {
        let (mut use_of_ports, mut from) = (PortUse::default(), 0);
        // Loops, not closures: the compiler must not put them into separate functions.
        while let Some((word, mut bits)) = self.waiting.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                use_of_ports.add(self.ports_between::<BYPASS>(slot));
            }
            from = word + 1;
        }
        // Ports that more than one waiting packet wants need a matching.
        let contended = if BYPASS && Self::CAN_BYPASS { use_of_ports.contended >> 32 } else { use_of_ports.contended };
        if contended != 0 {
            self.allocate_contended::<COMMON>(me, contended, scratch, env);
        }
        // Of many ready VCs some nearly always conflict.
        let bypass = BYPASS && Self::CAN_BYPASS && self.ready.has_few();
        if bypass {
            self.add_ready(&mut use_of_ports);
        }
        let mut from = 0;
        while let Some((word, mut bits)) = self.waiting.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let port = self.input(slot).port as usize;
                if contended >> port & 1 == 1 {
                    continue;
                }
                let usable = self.usable::<COMMON>(me, slot, port, env);
                if env.is_watched::<COMMON>() {
                    env.measured.observer.requested(self.number(me, slot), !usable.is_empty(), env.now);
                }
                if usable.is_empty() {
                    continue;
                }
                // No other waits for the port: all usable VCs grant it, it accepts the first from its pointer on.
                let out_vc = self.accept(slot, port, &usable);
                if bypass && self.can_bypass(slot, port, out_vc, &use_of_ports) {
                    self.bypass::<COMMON>(me, slot, (port, out_vc), env);
                } else if BYPASS {
                    self.accept_vc_out_of_line(me, slot, port, out_vc, env);
                } else {
                    self.accept_vc(me, slot, port, out_vc, env);
                }
            }
            from = word + 1;
        }
    }

    /// [`Router::accept_vc`] out of line, so that it takes no registers from the packets that bypass.
    #[inline(never)]
    fn accept_vc_out_of_line(&mut self, me: usize, slot: usize, port: usize, out_vc: usize, env: &mut Env) {
        self.accept_vc(me, slot, port, out_vc, env);
    }

    /// Waiting packets of ports that more than one wants, nearly always two: these are matched without lists.
    #[inline(always)]
    pub(super) fn allocate_contended<const COMMON: bool>(
        &mut self,
        me: usize,
        contended: u64,
        scratch: &mut Scratch<M>,
        env: &mut Env,
    ) {
        let (mut many, mut left) = (contended, contended);
        if env.is_watched::<COMMON>() || env.rare::<COMMON>(|rules| rules.ports.injection_last) {
            left = 0;
        }
        while left != 0 {
            let port = left.trailing_zeros() as usize;
            left &= left - 1;
            if let Some(two) = self.two_requesters(port) {
                self.match_two::<COMMON>(me, port, two, env);
                many &= !(1 << port);
            }
        }
        if many != 0 {
            self.match_contended(me, many, scratch, env);
        }
    }

    /// The two waiting packets that want `port`, by their input VCs; `None` if there are more.
    #[inline(always)]
    fn two_requesters(&mut self, port: usize) -> Option<(usize, usize)> {
        let (mut found, mut last, mut before, mut from) = (0, 0, 0, 0);
        while let Some((word, mut bits)) = self.waiting.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if self.input(slot).port as usize == port {
                    (found, before, last) = (found + 1, last, slot);
                }
            }
            from = word + 1;
        }
        (found == 2).then_some((before, last))
    }

    /// VC allocation of `port` where these two packets alone want it.
    #[inline(never)]
    fn match_two<const COMMON: bool>(&mut self, me: usize, port: usize, (one, other): (usize, usize), env: &mut Env) {
        let request =
            |slot: usize, usable: M| (VcRequest { slot: slot as u16, port: port as u8, preference: 0, usable }, usable);
        let mut one = request(one, self.usable::<COMMON>(me, one, port, env));
        let mut other = request(other, self.usable::<COMMON>(me, other, port, env));
        if !one.1.is_empty() && !other.1.is_empty() {
            self.grant_to_two(port, &mut one, &mut other);
        }
        for (request, granted) in [one, other] {
            if !granted.is_empty() {
                let out_vc = self.accept(request.slot as usize, port, &granted);
                self.accept_vc(me, request.slot as usize, port, out_vc, env);
            }
        }
    }

    /// Adds the ports of the VCs that may request the switch.
    #[inline(always)]
    fn add_ready(&mut self, use_of_ports: &mut PortUse) {
        let mut from = 0;
        while let Some((word, mut bits)) = self.ready.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                use_of_ports.add(self.ports_between::<true>(slot));
            }
            from = word + 1;
        }
    }

    /// The ports that the front packet of an input VC goes between; without `BYPASS` only its output port.
    #[inline(always)]
    fn ports_between<const BYPASS: bool>(&mut self, slot: usize) -> u64 {
        let port = 1 << (self.input(slot).port & 63);
        if BYPASS && Self::CAN_BYPASS { port << 32 | 1 << (Self::port_and_vc(slot).0 & 31) } else { port }
    }

    /// Whether the front packet of an input VC has one flit, a credit for it, and no competitor for its ports.
    #[inline(always)]
    fn can_bypass(&mut self, slot: usize, port: usize, out_vc: usize, use_of_ports: &PortUse) -> bool {
        use_of_ports.contended & self.ports_between::<true>(slot) == 0
            && self.input(slot).left == 1
            && self.output_of((port, out_vc)).credits > 0
    }

    /// The front packet, of one flit, leaves by output VC `output`.
    #[inline(always)]
    fn bypass<const COMMON: bool>(&mut self, me: usize, slot: usize, output: (usize, usize), env: &mut Env) {
        self.move_vc_pointers(slot, output);
        self.move_switch_pointers(slot, output.0);
        self.waiting.remove(slot);
        self.send_one_flit_packet(me, slot, output, env);
    }

    /// The front packet, of one flit, leaves its buffer by output VC `output`.
    #[inline(always)]
    pub(crate) fn send_one_flit_packet(&mut self, me: usize, slot: usize, output: (usize, usize), env: &mut Env) {
        self.output_of(output).credits -= 1;
        let vc = self.input(slot);
        vc.occupied -= 1;
        let packet = vc.front;
        self.send_on::<false>(me, output, packet, (true, true), env.now, env);
        self.return_credit::<false>(me, slot, env);
        self.next_front(me, slot, env);
    }
}
