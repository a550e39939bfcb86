//! Allocation of every kind, on lists of requests: any allocator and arbiter, speed-ups, held switches, speculation.
//!
//! Rows and columns of the VC allocator are the model's (`port * vcs + vc`), which a wavefront depends on; the state's slots
//! leave gaps between ports.

use super::env::Env;
use super::mask::VcMask;
use super::requests::Ask;
use super::state::{ACTIVE, EJECTING, GRANTED, Router};
use crate::compat::BatchStage;
use crate::measure::Origin;
use crate::plan::Plan;
use crate::router::{Allocator, Priority, Request, Waiting, YIELDS};
use crate::spec::ArbiterKind;

/// Allocators and their working memory.
#[derive(Debug)]
pub(super) struct GeneralAllocators<M> {
    vc_allocator: Allocator,
    sw_allocator: Allocator,
    vc_arbiter: ArbiterKind,
    sw_arbiter: ArbiterKind,
    rows: usize,
    vcs: usize,
    /// Flits that an input port may send, and an output port accept, in a cycle.
    input_speedup: usize,
    output_speedup: usize,
    /// VC that a row sends first, `[router][row]`.
    sw_vc: Vec<u16>,
    /// Held paths through the switch: the rows of each router, and the input VC (slot) of each row, `[router][row]`.
    held_rows: Vec<u64>,
    held_slot: Vec<u16>,
    /// Columns that take no part in switch allocation in this cycle, a bit each.
    busy_cols: Vec<u64>,
    /// Switch traversal, if it takes a batch at a time.
    switch_stage: Option<BatchStage>,
    /// Cycle in which each output port can put the next flit on its channel, `[router][port]`; empty without speed-up or batches.
    next_turn: Vec<u64>,
    ports: usize,
    asks: Vec<Ask<M>>,
    requests: Vec<Request>,
    grants: Vec<(u16, u16)>,
    /// Input VC behind each switch request.
    senders: Vec<u16>,
    /// Packets that wait for a VC and may ask for the switch in the same cycle: (input, port).
    speculative: Vec<(u16, u8)>,
    /// Input VCs that were granted an output VC in this cycle.
    fresh: Vec<u16>,
    /// Input VCs that send in this cycle, by row.
    sending: Vec<(u16, u16)>,
}

/// A speculative request is worse than any other.
const SPECULATIVE: u128 = 1 << 127;

impl<M> GeneralAllocators<M> {
    /// Of a plan; `holds`: packets hold their path through the switch.
    pub fn new(plan: &Plan, holds: bool) -> Self {
        let (router, p) = (&plan.spec.network.router, &plan.params);
        let switch_stage = BatchStage::new(&router.compat, router.st_delay_cycles, p.routers);
        let turns = if router.output_speedup > 1 || switch_stage.is_some() { p.routers * p.ports } else { 0 };
        let vcs_of_router = p.ports * p.vcs;
        let rows = p.ports * router.input_speedup as usize;
        let cols = p.ports * router.output_speedup as usize;
        let speedup = router.input_speedup as usize;
        GeneralAllocators {
            vc_allocator: Allocator::new(&router.vc_allocator, p.routers, vcs_of_router, vcs_of_router),
            sw_allocator: Allocator::new(&router.sw_allocator, p.routers, rows, cols),
            vc_arbiter: router.vc_allocator.arbiter,
            sw_arbiter: router.sw_allocator.arbiter,
            rows,
            vcs: p.vcs,
            input_speedup: speedup,
            output_speedup: router.output_speedup as usize,
            sw_vc: (0..p.routers * rows).map(|row| (row % rows % speedup) as u16).collect(),
            held_rows: vec![0; if holds { p.routers } else { 0 }],
            held_slot: vec![0; if holds { p.routers * rows } else { 0 }],
            busy_cols: vec![0; cols.div_ceil(64)],
            switch_stage,
            next_turn: vec![0; turns],
            ports: p.ports,
            asks: Vec::with_capacity(vcs_of_router),
            requests: Vec::with_capacity(vcs_of_router * p.vcs.min(64)),
            grants: Vec::with_capacity(vcs_of_router),
            senders: Vec::with_capacity(rows * cols),
            speculative: Vec::with_capacity(vcs_of_router),
            fresh: Vec::with_capacity(vcs_of_router),
            sending: Vec::with_capacity(2 * rows),
        }
    }
}

impl<M> GeneralAllocators<M> {
    /// Whether some path through the switch of `router` is held.
    pub fn holds(&self, router: usize) -> bool {
        self.held_rows.get(router).is_some_and(|&rows| rows != 0)
    }

    /// From now on these of the first 64 columns take no part, and no others.
    fn set_busy_cols(&mut self, cols: u64) {
        match &mut self.busy_cols[..] {
            [all] => *all = cols, // As nearly always: a store, not a call.
            several => {
                several.fill(0);
                several[0] = cols;
            }
        }
    }

    fn is_busy(&self, col: usize) -> bool {
        self.busy_cols[col / 64] >> (col % 64) & 1 == 1
    }

    /// A row sends a flit of `vc`: the next time it looks behind it first.
    fn serve_vc(&mut self, me: usize, row: usize, vc: usize) {
        self.sw_vc[me * self.rows + row] = ((vc + self.input_speedup) % self.vcs) as u16;
    }

    /// Row and column of the switch for a flit of `vc` of `in_port` to `port`.
    fn row_and_col(&self, in_port: usize, vc: usize, port: usize) -> (usize, usize) {
        let row = in_port * self.input_speedup + vc % self.input_speedup;
        (row, port * self.output_speedup + in_port % self.output_speedup)
    }
}

impl<M: VcMask, const PORTS: usize, const VCS: usize, const WORDS: usize, const PACKETS: bool>
    Router<M, PORTS, VCS, WORDS, PACKETS>
{
    /// One cycle.
    pub(super) fn step_general(&mut self, me: usize, general: &mut GeneralAllocators<M>, env: &mut Env) {
        general.fresh.clear();
        general.speculative.clear();
        general.sending.clear();
        if env.rules.decides {
            self.decide_due(me, env);
        }
        if !self.waiting.is_empty() {
            self.allocate_vcs(me, general, env);
        }
        // Without output speed-up, which slow channels exclude, a column is a port.
        let busy = env.own_times.as_ref().map_or(0, |own| own.busy_ports(me, env.now));
        general.set_busy_cols(if PACKETS { env.streams.busy[me].cols } else { busy });
        let rows = if PACKETS {
            env.streams.busy[me].rows
        } else if env.rules.hold {
            self.serve_held(me, general, busy, env)
        } else {
            0
        };
        self.allocate_switch(me, general, rows, env);
        self.send(me, general, env);
        if PACKETS {
            env.streams.again |= self.may_send(me, env);
        }
        // What won its VC but not the switch asks without speculation from the next cycle on.
        for &slot in &general.fresh {
            let flags = self.input(slot as usize).flags;
            if flags & GRANTED != 0 && flags & ACTIVE == 0 {
                self.activate(slot as usize);
            }
        }
    }

    /// The number of a slot in the model.
    fn model_number(slot: usize, vcs: usize) -> u16 {
        let (port, vc) = Self::port_and_vc(slot);
        (port * vcs + vc) as u16
    }

    /// The slot of a number in the model.
    fn slot_of(number: u16, vcs: usize) -> usize {
        Self::slot(number as usize / vcs, number as usize % vcs)
    }

    /// The row and column that an input VC uses to `port`.
    fn row_and_col(general: &GeneralAllocators<M>, slot: usize, port: usize) -> (usize, usize) {
        let (in_port, vc) = Self::port_and_vc(slot);
        general.row_and_col(in_port, vc, port)
    }

    /// The priority of the front packet of input VC `slot` under an arbiter; the smaller, the better.
    fn priority(&self, me: usize, slot: usize, arbiter: ArbiterKind, env: &Env) -> u128 {
        let yields = env.rules.injection_last && Self::port_and_vc(slot).0 >= env.network_ports(me);
        let class = if yields { YIELDS } else { 0 };
        let (Priority::OfPacket(priority) | Priority::OfArrival(priority)) = arbiter.priority() else { return class };
        let Origin { created, src, sequence, .. } = *env.pool.origin(self.input_at(slot).front);
        let arrived = env.arrivals.get(self.number(me, slot)).copied().unwrap_or(0);
        class | priority(&Waiting { created, src, sequence, arrived, slot: slot as u32 })
    }

    fn allocate_vcs(&mut self, me: usize, general: &mut GeneralAllocators<M>, env: &mut Env) {
        // What nothing has changed for would find as little as before.
        let by_port = PACKETS && !env.rules.chooses_port;
        let look = if by_port { self.ports_to_look_at(me, env) } else { !0 };
        if look == 0 {
            return;
        }
        let mut asks = std::mem::take(&mut general.asks);
        self.collect_asks(me, look, &mut asks, env);
        general.requests.clear();
        // Nobody compares the only one.
        let rivals = asks.len() > 1;
        for ask in &asks {
            let slot = ask.slot as usize;
            let priority = if rivals { self.priority(me, slot, general.vc_arbiter, env) } else { 0 };
            let row = Self::model_number(ask.slot as usize, general.vcs);
            let mut credit = false;
            ask.usable.for_each(|v| {
                let output = Self::slot(ask.port as usize, v);
                let col = Self::model_number(output, general.vcs);
                general.requests.push(Request { row, col, priority, preference: ask.preference });
                credit |= self.output(output).credits > 0;
            });
            if env.rules.speculative && credit {
                general.speculative.push((ask.slot, ask.port));
            }
        }
        general.asks = asks;
        general.grants.clear();
        general.vc_allocator.allocate(me, &general.requests, &mut general.grants);
        if by_port && general.grants.is_empty() {
            return; // Those who wait want what they wanted before.
        }
        if env.pools.is_some() {
            // Who comes first takes places of the pool.
            general.grants.sort_unstable();
        }
        for &(row, col) in &general.grants {
            let output = Self::slot_of(col, general.vcs);
            let (port, out_vc) = Self::port_and_vc(output);
            let slot = Self::slot_of(row, general.vcs);
            if !self.has_places(slot, output, env) {
                continue;
            }
            self.grant_vc(slot, port, out_vc);
            self.reserve_places(me, slot, output, env);
            if PACKETS {
                env.streams.granted_vc(env.rules.chooses_ejection_port);
            }
            self.leave_by(me, slot, port, env);
            if env.rules.speculative {
                general.fresh.push(slot as u16);
            } else {
                self.activate_after_delay(me, slot, (port, out_vc), env);
            }
        }
        if PACKETS {
            self.renew_wanted_ports();
        }
    }

    /// Sends the next flit of each held path, or gives the path up; returns the rows that take no part in switch allocation in this
    /// cycle, and notes the columns. A path to one of the `busy` ports waits.
    fn serve_held(&mut self, me: usize, general: &mut GeneralAllocators<M>, busy: u64, env: &Env) -> u64 {
        let held = general.held_rows[me];
        let mut left = held;
        while left != 0 {
            let row = left.trailing_zeros() as usize;
            left &= left - 1;
            let slot = general.held_slot[me * general.rows + row];
            let vc = *self.input(slot as usize);
            let col = Self::row_and_col(general, slot as usize, vc.port as usize).1;
            general.busy_cols[col / 64] |= 1 << (col % 64);
            if busy != 0 && busy >> col & 1 == 1 {
                continue;
            }
            let can_send = vc.occupied > 0 && self.output(vc.output as usize).credits > 0;
            if can_send {
                general.sending.push((row as u16, slot));
            }
            let stalls = !env.rules.until_tail && (!can_send || vc.occupied == 1);
            if stalls || can_send && vc.left == 1 {
                general.held_rows[me] &= !(1 << row);
            }
        }
        held
    }

    /// The VC that a row sends for a column, of those in `candidates`: the best priority, then the first in turn.
    fn pick_vc(&self, me: usize, row: usize, candidates: &M, general: &GeneralAllocators<M>, env: &Env) -> usize {
        let pointer = general.sw_vc[me * general.rows + row] as usize;
        if !general.sw_arbiter.has_priority() || candidates.count() == 1 {
            return candidates.first_from(pointer);
        }
        let in_port = row / general.input_speedup;
        let mut best = (u128::MAX, usize::MAX, 0);
        candidates.for_each(|v| {
            let priority = self.priority(me, Self::slot(in_port, v), general.sw_arbiter, env);
            best = best.min((priority, (v + general.vcs - pointer) % general.vcs, v));
        });
        best.2
    }

    fn allocate_switch(&mut self, me: usize, general: &mut GeneralAllocators<M>, busy_rows: u64, env: &Env) {
        if !env.rules.speculative && self.ready.has_few() && self.switch_at_most_one(me, general, busy_rows) {
            return;
        }
        general.requests.clear();
        general.senders.clear();
        if !self.ready.is_empty() {
            let mut rows_of = [0u64; PORTS];
            let ports = self.switch_asks(&mut rows_of);
            ports.for_each(|port| {
                if general.output_speedup == 1 && general.is_busy(port) {
                    return;
                }
                let idle = if general.input_speedup == 1 { !busy_rows } else { !0 };
                (rows_of[port] & idle).for_each(|in_port| {
                    let sendable = self.sendable(in_port, port);
                    self.request_switch(me, in_port, port, sendable, general, busy_rows, env);
                });
            });
        }
        if env.rules.speculative {
            self.add_speculative(me, general, busy_rows, env);
        }
        if general.requests.is_empty() {
            return;
        }
        general.grants.clear();
        general.sw_allocator.allocate(me, &general.requests, &mut general.grants);
        for i in 0..general.grants.len() {
            let (row, col) = general.grants[i];
            let Some(at) = general.requests.iter().position(|r| (r.row, r.col) == (row, col)) else { continue };
            let slot = general.senders[at];
            let certain = general.requests[at].priority & SPECULATIVE == 0;
            if !certain && env.rules.speculation_needs_all_sets && self.speculates_in_vain(me, slot, general, env) {
                continue;
            }
            let (_, vc) = Self::port_and_vc(slot as usize);
            general.serve_vc(me, row as usize, vc);
            if certain || self.speculation_came_true(slot, col, general) {
                general.sending.push((row, slot));
            }
        }
    }

    /// Where no more than one ready VC has its row and column free: sends it, without lists of requests. False where there are several.
    fn switch_at_most_one(&mut self, me: usize, general: &mut GeneralAllocators<M>, busy_rows: u64) -> bool {
        let (mut found, mut from) = (None, 0);
        while let Some((word, mut bits)) = self.ready.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let port = self.input(slot).port as usize;
                let (row, col) = Self::row_and_col(general, slot, port);
                if busy_rows >> row & 1 == 1 || general.is_busy(col) {
                    continue;
                }
                if found.replace((slot, row, col)).is_some() {
                    return false;
                }
            }
            from = word + 1;
        }
        if let Some((slot, row, col)) = found {
            general.sw_allocator.serve(me, row as u16, col as u16);
            general.serve_vc(me, row, Self::port_and_vc(slot).1);
            general.sending.push((row as u16, slot as u16));
        }
        true
    }

    /// The requests of an input port for an output port: one for each of its rows that has a flit for it. `busy_rows` take
    /// no part.
    #[expect(clippy::too_many_arguments)]
    fn request_switch(
        &mut self,
        me: usize,
        in_port: usize,
        port: usize,
        sendable: M,
        general: &mut GeneralAllocators<M>,
        busy_rows: u64,
        env: &Env,
    ) {
        for subset in 0..general.input_speedup {
            let (row, col) = general.row_and_col(in_port, subset, port);
            let mut candidates = sendable;
            if general.input_speedup > 1 {
                sendable.for_each(|v| {
                    if v % general.input_speedup != subset {
                        candidates.remove(v);
                    }
                });
            }
            if candidates.is_empty() || busy_rows >> row & 1 == 1 || general.is_busy(col) {
                continue;
            }
            let slot = Self::slot(in_port, self.pick_vc(me, row, &candidates, general, env));
            let priority = self.priority(me, slot, general.sw_arbiter, env);
            general.requests.push(Request { row: row as u16, col: col as u16, priority, preference: 0 });
            general.senders.push(slot as u16);
        }
    }

    /// Adds the requests of packets that wait for a VC, where no other VC of the row asks for the column.
    fn add_speculative(&mut self, me: usize, general: &mut GeneralAllocators<M>, busy_rows: u64, env: &Env) {
        let certain = general.requests.len();
        for i in 0..general.speculative.len() {
            let (slot, port) = general.speculative[i];
            let (row, col) = Self::row_and_col(general, slot as usize, port as usize);
            if busy_rows >> row & 1 == 1 || general.is_busy(col) {
                continue;
            }
            let priority = SPECULATIVE | self.priority(me, slot as usize, general.sw_arbiter, env);
            let request = Request { row: row as u16, col: col as u16, priority, preference: 0 };
            match general.requests.iter().position(|r| (r.row, r.col) == (request.row, request.col)) {
                None => {
                    general.requests.push(request);
                    general.senders.push(slot);
                }
                Some(at) if at >= certain => {
                    let pointer = general.sw_vc[me * general.rows + row] as usize;
                    let vc = |slot: u16| Self::port_and_vc(slot as usize).1;
                    let turn = |slot: u16| (vc(slot) + general.vcs - pointer) % general.vcs;
                    let (old, old_slot) = (general.requests[at].priority, general.senders[at]);
                    if (priority, turn(slot)) < (old, turn(old_slot)) {
                        general.requests[at] = request;
                        general.senders[at] = slot;
                    }
                }
                Some(_) => {}
            }
        }
    }

    /// Whether a packet asked for more sets of VCs in this cycle than had one with a credit.
    fn speculates_in_vain(&mut self, me: usize, slot: u16, general: &GeneralAllocators<M>, env: &Env) -> bool {
        let ejects = self.input(slot as usize).flags & EJECTING != 0;
        let sets = env.choices.as_ref().map_or(0, |choices| choices.candidates(self.number(me, slot as usize)).count());
        let open = general.speculative.iter().filter(|(other, _)| *other == slot).count();
        !ejects && open < sets
    }

    /// Whether a packet that was granted the switch on speculation has won a VC with a credit at that port as well.
    fn speculation_came_true(&mut self, slot: u16, col: u16, general: &GeneralAllocators<M>) -> bool {
        let vc = *self.input(slot as usize);
        general.fresh.contains(&slot)
            && Self::row_and_col(general, slot as usize, vc.port as usize).1 == col as usize
            && self.output(vc.output as usize).credits > 0
    }

    /// Moves this cycle's flits, in ascending order of rows, and notes which paths stay held.
    fn send(&mut self, me: usize, general: &mut GeneralAllocators<M>, env: &mut Env) {
        general.sending.sort_unstable();
        for i in 0..general.sending.len() {
            let (row, slot) = general.sending[i];
            let vc = *self.input(slot as usize);
            if env.pools.is_some() && self.output(vc.output as usize).credits == 0 {
                // A row before it has taken the last place of the pool: the flit stays, and lets go of its path.
                general.held_rows.get_mut(me).into_iter().for_each(|held| *held &= !(1 << row));
                continue;
            }
            let hold = env.rules.hold && vc.left > 1 && (env.rules.until_tail || vc.occupied > 1);
            if vc.flags & ACTIVE == 0 {
                // Sent on speculation: the request masks learn of it now.
                self.activate(slot as usize);
            }
            // A flit granted now enters the switch in the next cycle, unless a batch is in it.
            let through = general.switch_stage.as_mut().map_or(env.now, |stage| stage.enter(me, env.now + 1) - 1);
            let turn = match general.next_turn.get_mut(me * general.ports + vc.port as usize) {
                Some(next) => {
                    let turn = (*next).max(through);
                    *next = turn + 1;
                    turn
                }
                None => env.now,
            };
            self.traverse::<true, false>(me, slot as usize, turn, env);
            if hold {
                general.held_rows[me] |= 1 << row;
                general.held_slot[me * general.rows + row as usize] = slot;
            }
        }
    }
}
