//! Which packets stood still in a cycle, where, and why.

use crate::kernel::flit::env::Measured;
use crate::kernel::flit::router::{HEAD, Memory};
use crate::kernel::flit::{Env, Kernel, VcMask};
use crate::measure::{BEHIND_PACKET, StallReason, WaitRecord};
use crate::transit::NONE;

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Kernel<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Which packets stood still, and why: the front packet of each VC, unless it moved, and those whose heads are
    /// behind it.
    pub(super) fn count_waits(&mut self) {
        let Env { pool, measured, now, transit, .. } = &mut self.env;
        let Measured { observer, waits: Some(waits), .. } = measured else { return };
        for (r, router) in self.routers.iter().enumerate() {
            for (slot, vc) in router.memory.inputs() {
                if vc.front == NONE {
                    continue;
                }
                let (head, moved) = (vc.flags & HEAD != 0, observer.moved[router.number(r, slot)] == *now + 1);
                let wait = |reason, id, body| WaitRecord {
                    packet: pool.origin(id).record,
                    hop: 0,
                    router: r as u32,
                    port: u32::from(vc.port),
                    reason,
                    body,
                    cycles: 1,
                };
                if moved && head {
                    // What moved was the tail before it.
                    waits.count_behind(vc.front, wait(BEHIND_PACKET, vc.front, false));
                } else if !moved && vc.occupied > 0 {
                    let reason = router.stall_reason(r, slot, observer, *now);
                    let slow =
                        !head && transit.timing.as_ref().is_some_and(|timing| timing.is_busy(r, vc.port.into(), *now));
                    if reason != StallReason::Pipeline && !slow {
                        waits.count_in_router(router.number(r, slot), wait(reason as u8, vc.front, !head));
                    }
                }
                let mut behind = vc.behind_last;
                while behind != NONE {
                    behind = pool[behind].next;
                    waits.count_behind(behind, wait(BEHIND_PACKET, behind, false));
                    behind = if behind == vc.behind_last { NONE } else { behind };
                }
            }
        }
    }
}

impl Env {
    /// A flit leaves input VC `vc` from one port of the network to another, `ports`. If it is the `head` of a packet:
    /// whether it `leaves` the network; the turn of its port is in cycle `turn`.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_move(&mut self, vc: usize, ports: (usize, usize), head: Option<u32>, leaves: bool, turn: u64) {
        self.measured.observer.moved(vc, ports.0, ports.1, self.now);
        if let (Some(waits), Some(packet)) = (&mut self.measured.waits, head) {
            let record = self.pool.origin(packet).record;
            waits.head_leaves(vc, record);
            if leaves {
                waits.head_arrives(record, turn + u64::from(self.p.eject_cycles));
            }
        }
    }

    /// The next flit of the packet at port `k` of a terminal has no credit.
    #[cold]
    #[inline(never)]
    pub(crate) fn wait_at_source(&mut self, terminal: usize, k: usize, packet: u32, body: bool) {
        let router = self.router_of(terminal);
        let local = self.network_ports(router) + (terminal - self.first_terminal(router)) * self.p.nic_ports;
        let Env { p, pool, measured, .. } = self;
        if let Some(waits) = &mut measured.waits {
            let port = (local + k) as u32;
            let of = WaitRecord {
                packet: pool.origin(packet).record,
                router: router as u32,
                port,
                body,
                ..StallReason::SourceNoCredit.into()
            };
            waits.count_at_source(terminal * p.nic_ports + k, of);
        }
    }
}
