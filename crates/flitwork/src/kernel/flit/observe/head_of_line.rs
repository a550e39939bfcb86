//! Head-of-line blocking: input ports that send nothing though a packet behind the first of a queue could go.

use crate::kernel::flit::route::NextOutputs;
use crate::kernel::flit::router::{InputVc, Memory};
use crate::kernel::flit::{Env, Kernel, Router, VcMask};
use crate::plan::Plan;
use crate::transit::NONE;

/// Counts while the simulation runs.
#[derive(Debug)]
pub(crate) struct HeadOfLine {
    next: NextOutputs,
    /// Cycles in which each input port was blocked, `[router][port]`.
    pub blocked: Vec<u64>,
}

impl HeadOfLine {
    /// Nothing counted yet; `None` where the next output port of a packet is not known beforehand.
    pub fn new(plan: &Plan) -> Option<Self> {
        let ports = plan.params.routers * plan.params.ports;
        NextOutputs::of(plan).map(|next| HeadOfLine { next, blocked: vec![0; ports] })
    }

    /// Whether a packet behind the first one of input VC `vc` goes to an output port that has sent nothing in this
    /// cycle.
    fn blocks_another(&self, router: usize, entered: Option<u8>, vc: &InputVc, ports: usize, env: &Env) -> bool {
        let last = vc.behind_last;
        if last == NONE {
            return false;
        }
        let mut behind = last;
        loop {
            behind = env.pool[behind].next;
            let first = self.next.port(router, entered, behind, env) as usize;
            let any = env.rules.ports.selects_ejection && first >= env.network_ports(router);
            let mut wanted = first..first + if any { env.p.nic_ports } else { 1 };
            if wanted.any(|port| env.measured.observer.is_idle(router * ports + port, env.now)) {
                return true;
            }
            if behind == last {
                return false;
            }
        }
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Kernel<M, PORTS, VCS, WORDS, PACKETS>
{
    /// Which input ports were blocked in the cycle that has just been simulated.
    pub(super) fn count_head_of_line(&mut self) {
        let Some(mut head_of_line) = self.env.measured.head_of_line.take() else { return };
        let env = &self.env;
        for (r, router) in self.routers.iter().enumerate() {
            for in_port in 0..env.p.ports {
                if env.measured.observer.sent(router.port_number(r, in_port), env.now) {
                    continue;
                }
                let entered = (in_port < env.network_ports(r)).then_some(in_port as u8);
                let vcs = (0..env.p.vcs)
                    .map(|vc| router.input_at(Router::<M, PORTS, VCS, WORDS, PACKETS>::slot(in_port, vc)));
                let ports = router.memory.ports();
                let blocked = vcs.into_iter().any(|vc| head_of_line.blocks_another(r, entered, vc, ports, env));
                head_of_line.blocked[r * env.p.ports + in_port] += u64::from(blocked);
            }
        }
        self.env.measured.head_of_line = Some(head_of_line);
    }
}
