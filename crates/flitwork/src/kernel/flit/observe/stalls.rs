//! Why flits stand still.

use crate::kernel::flit::env::Measured;
use crate::kernel::flit::router::{ACTIVE, EJECTING, GRANTED, Memory, WAITING};
use crate::kernel::flit::{Env, Kernel, Router, VcMask};
use crate::measure::StallReason;
use crate::transit::NONE;

/// When each VC and port was last active, to find why others stalled; empty unless stalls or waits are recorded.
#[derive(Debug)]
pub(crate) struct Observer {
    /// Cycle + 1 in which an input VC sent a flit, by VC.
    pub(crate) moved: Vec<u64>,
    /// Cycle + 1 in which an input VC requested a free output VC.
    requested: Vec<u64>,
    /// Cycle + 1 in which an output port, and an input port, sent a flit, by port.
    port_out: Vec<u64>,
    port_in: Vec<u64>,
}

impl Observer {
    pub fn new(routers: usize, ports: usize, slots: usize) -> Self {
        Observer {
            moved: vec![0; routers * slots],
            requested: vec![0; routers * slots],
            port_out: vec![0; routers * ports],
            port_in: vec![0; routers * ports],
        }
    }

    pub fn moved(&mut self, input: usize, out_port: usize, in_port: usize, now: u64) {
        self.moved[input] = now + 1;
        self.port_out[out_port] = now + 1;
        self.port_in[in_port] = now + 1;
    }

    /// Whether an input port sent a flit in this cycle.
    pub fn sent(&self, in_port: usize, now: u64) -> bool {
        self.port_in[in_port] == now + 1
    }

    /// Whether an output port sent no flit in this cycle.
    pub fn is_idle(&self, out_port: usize, now: u64) -> bool {
        self.port_out[out_port] != now + 1
    }

    pub fn requested(&mut self, input: usize, for_something_free: bool, now: u64) {
        if for_something_free {
            self.requested[input] = now + 1;
        }
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Kernel<M, PORTS, VCS, WORDS, PACKETS>
{
    pub(super) fn count_stalls(&mut self) {
        let Env { p, measured, now, layout, .. } = &mut self.env;
        let Measured { observer, stalls: Some(stalls), .. } = measured else { return };
        for (r, router) in self.routers.iter().enumerate() {
            for (slot, vc) in router.memory.inputs() {
                if vc.front == NONE || vc.occupied == 0 || observer.moved[router.number(r, slot)] == *now + 1 {
                    continue;
                }
                let idle_ejection = vc.flags & EJECTING != 0 && {
                    let network_ports = usize::from(layout.network_ports_of[r]);
                    let local = (vc.port as usize - network_ports) / p.nic_ports * p.nic_ports;
                    let first = router.port_number(r, network_ports + local);
                    (first..first + p.nic_ports).any(|q| observer.port_out[q] != *now + 1)
                };
                stalls.count(router.stall_reason(r, slot, observer, *now), vc.left == 1, idle_ejection);
            }
        }
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Why the front flit of an input VC did not move in this cycle.
    pub(super) fn stall_reason(&self, me: usize, slot: usize, observer: &Observer, now: u64) -> StallReason {
        let vc = &self.input_at(slot);
        let ejecting = vc.flags & EJECTING != 0;
        if vc.flags & GRANTED == 0 {
            if vc.flags & WAITING == 0 {
                return StallReason::Pipeline;
            }
            let requested = observer.requested[self.number(me, slot)] == now + 1;
            return match (ejecting, requested) {
                (true, _) => StallReason::NoEjectionVc,
                (false, true) => StallReason::LostVcAllocation,
                (false, false) => StallReason::NoVc,
            };
        }
        if vc.flags & ACTIVE == 0 {
            return StallReason::Pipeline;
        }
        if self.output_at(vc.output as usize).credits == 0 {
            return StallReason::NoCredit;
        }
        let (in_port, _) = Self::port_and_vc(slot);
        if observer.port_in[self.port_number(me, in_port)] == now + 1 {
            return StallReason::InputPortBusy;
        }
        let port_used = observer.port_out[self.port_number(me, vc.port as usize)] == now + 1;
        if ejecting && port_used { StallReason::EjectionPortBusy } else { StallReason::LostSwitch }
    }
}
