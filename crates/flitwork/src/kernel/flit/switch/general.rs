//! Switch allocation of every kind, on a list of requests: any allocator and arbiter, speed-ups, held paths,
//! speculation.

use crate::compat::BatchStage;
use crate::kernel::flit::router::{ACTIVE, EJECTING};
use crate::kernel::flit::rules::{Hold, Speculation};
use crate::kernel::flit::vc_allocation::GeneralVcAllocation;
use crate::kernel::flit::{Env, Router, VcMask};
use crate::plan::Plan;
use crate::router::{Allocator, Request};
use crate::spec::ArbiterKind;

/// The switch allocator and its working memory.
#[derive(Debug)]
pub(crate) struct GeneralSwitch {
    allocator: Allocator,
    arbiter: ArbiterKind,
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
    /// Cycle in which each output port can put the next flit on its channel, `[router][port]`; empty without speed-up
    /// or batches.
    next_turn: Vec<u64>,
    ports: usize,
    requests: Vec<Request>,
    grants: Vec<(u16, u16)>,
    /// Input VC behind each switch request.
    senders: Vec<u16>,
    /// Input VCs that send in this cycle, by row.
    pub sending: Vec<(u16, u16)>,
}

/// A speculative request is worse than any other.
const SPECULATIVE: u128 = 1 << 127;

impl GeneralSwitch {
    /// For a plan; `holds`: packets hold their path through the switch.
    pub fn new(plan: &Plan, holds: bool) -> Self {
        let (router, p) = (&plan.spec.network.router, &plan.params);
        let switch_stage = BatchStage::new(&router.compat, router.st_delay_cycles, p.routers);
        let turns = if router.output_speedup > 1 || switch_stage.is_some() { p.routers * p.ports } else { 0 };
        let rows = p.ports * router.input_speedup as usize;
        let cols = p.ports * router.output_speedup as usize;
        let speedup = router.input_speedup as usize;
        GeneralSwitch {
            allocator: Allocator::new(&router.sw_allocator, p.routers, rows, cols),
            arbiter: router.sw_allocator.arbiter,
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
            requests: Vec::with_capacity(rows * cols),
            grants: Vec::with_capacity(rows),
            senders: Vec::with_capacity(rows * cols),
            sending: Vec::with_capacity(2 * rows),
        }
    }
}

impl GeneralSwitch {
    /// Whether some path through the switch of `router` is held.
    pub fn holds(&self, router: usize) -> bool {
        self.held_rows.get(router).is_some_and(|&rows| rows != 0)
    }

    /// Whether flits may wait behind the switch for their turn on a channel.
    pub fn queues_outputs(&self) -> bool {
        !self.next_turn.is_empty()
    }

    /// From now on these of the first 64 columns take no part, and no others.
    pub fn set_busy_cols(&mut self, cols: u64) {
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
    /// The row and column that an input VC uses to `port`.
    fn row_and_col(switch: &GeneralSwitch, slot: usize, port: usize) -> (usize, usize) {
        let (in_port, vc) = Self::port_and_vc(slot);
        switch.row_and_col(in_port, vc, port)
    }

    /// Sends the next flit of each held path, or gives the path up; returns the rows that take no part in switch
    /// allocation in this cycle, and notes the columns. A path to one of the `busy` ports waits.
    pub(crate) fn serve_held_paths(&mut self, me: usize, switch: &mut GeneralSwitch, busy: u64, env: &Env) -> u64 {
        let held = switch.held_rows[me];
        let mut left = held;
        while left != 0 {
            let row = left.trailing_zeros() as usize;
            left &= left - 1;
            let slot = switch.held_slot[me * switch.rows + row];
            let vc = *self.input(slot as usize);
            let col = Self::row_and_col(switch, slot as usize, vc.port as usize).1;
            switch.busy_cols[col / 64] |= 1 << (col % 64);
            if busy != 0 && busy >> col & 1 == 1 {
                continue;
            }
            let can_send = vc.occupied > 0 && self.output(vc.output as usize).credits > 0;
            if can_send {
                switch.sending.push((row as u16, slot));
            }
            let stalls = env.rules.switch.hold != Hold::UntilTail && (!can_send || vc.occupied == 1);
            if stalls || can_send && vc.left == 1 {
                switch.held_rows[me] &= !(1 << row);
            }
        }
        held
    }

    /// The VC that a row sends for a column, of those in `candidates`: the best priority, then the first in turn.
    fn pick_vc(&self, me: usize, row: usize, candidates: &M, switch: &GeneralSwitch, env: &Env) -> usize {
        let pointer = switch.sw_vc[me * switch.rows + row] as usize;
        if !switch.arbiter.has_priority() || candidates.count() == 1 {
            return candidates.first_from(pointer);
        }
        let in_port = row / switch.input_speedup;
        let mut best = (u128::MAX, usize::MAX, 0);
        candidates.for_each(|v| {
            let priority = self.priority(me, Self::slot(in_port, v), switch.arbiter, env);
            best = best.min((priority, (v + switch.vcs - pointer) % switch.vcs, v));
        });
        best.2
    }

    pub(crate) fn allocate_switch_general(
        &mut self,
        me: usize,
        switch: &mut GeneralSwitch,
        vcs: &GeneralVcAllocation<M>,
        busy_rows: u64,
        env: &Env,
    ) {
        if env.rules.switch.speculation == Speculation::Never
            && self.ready.has_few()
            && self.switch_at_most_one(me, switch, busy_rows)
        {
            return;
        }
        switch.requests.clear();
        switch.senders.clear();
        if !self.ready.is_empty() {
            let mut rows_of = [0u64; PORTS];
            let ports = self.switch_requests(&mut rows_of);
            ports.for_each(|port| {
                if switch.output_speedup == 1 && switch.is_busy(port) {
                    return;
                }
                let idle = if switch.input_speedup == 1 { !busy_rows } else { !0 };
                (rows_of[port] & idle).for_each(|in_port| {
                    let sendable = self.sendable(in_port, port);
                    self.request_switch(me, in_port, port, sendable, switch, busy_rows, env);
                });
            });
        }
        if env.rules.switch.speculation != Speculation::Never {
            self.add_speculative(me, switch, vcs, busy_rows, env);
        }
        if switch.requests.is_empty() {
            return;
        }
        switch.grants.clear();
        switch.allocator.allocate(me, &switch.requests, &mut switch.grants);
        for i in 0..switch.grants.len() {
            let (row, col) = switch.grants[i];
            let Some(at) = switch.requests.iter().position(|r| (r.row, r.col) == (row, col)) else { continue };
            let slot = switch.senders[at];
            let certain = switch.requests[at].priority & SPECULATIVE == 0;
            if !certain
                && env.rules.switch.speculation == Speculation::WithAllSets
                && self.speculates_in_vain(me, slot, vcs, env)
            {
                continue;
            }
            let (_, vc) = Self::port_and_vc(slot as usize);
            switch.serve_vc(me, row as usize, vc);
            if certain || self.speculation_came_true(slot, col, switch, vcs) {
                switch.sending.push((row, slot));
            }
        }
    }

    /// Where no more than one ready VC has its row and column free: sends it, without lists of requests. False where
    /// there are several.
    fn switch_at_most_one(&mut self, me: usize, switch: &mut GeneralSwitch, busy_rows: u64) -> bool {
        let (mut found, mut from) = (None, 0);
        while let Some((word, mut bits)) = self.ready.word_from(from) {
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let port = self.input(slot).port as usize;
                let (row, col) = Self::row_and_col(switch, slot, port);
                if busy_rows >> row & 1 == 1 || switch.is_busy(col) {
                    continue;
                }
                if found.replace((slot, row, col)).is_some() {
                    return false;
                }
            }
            from = word + 1;
        }
        if let Some((slot, row, col)) = found {
            switch.allocator.serve(me, row as u16, col as u16);
            switch.serve_vc(me, row, Self::port_and_vc(slot).1);
            switch.sending.push((row as u16, slot as u16));
        }
        true
    }

    /// The requests of an input port for an output port: one for each of its rows that has a flit for it. `busy_rows`
    /// take no part.
    #[expect(clippy::too_many_arguments)]
    fn request_switch(
        &mut self,
        me: usize,
        in_port: usize,
        port: usize,
        sendable: M,
        switch: &mut GeneralSwitch,
        busy_rows: u64,
        env: &Env,
    ) {
        for subset in 0..switch.input_speedup {
            let (row, col) = switch.row_and_col(in_port, subset, port);
            let mut candidates = sendable;
            if switch.input_speedup > 1 {
                sendable.for_each(|v| {
                    if v % switch.input_speedup != subset {
                        candidates.remove(v);
                    }
                });
            }
            if candidates.is_empty() || busy_rows >> row & 1 == 1 || switch.is_busy(col) {
                continue;
            }
            let slot = Self::slot(in_port, self.pick_vc(me, row, &candidates, switch, env));
            let priority = self.priority(me, slot, switch.arbiter, env);
            switch.requests.push(Request { row: row as u16, col: col as u16, priority, preference: 0 });
            switch.senders.push(slot as u16);
        }
    }

    /// Adds the requests of packets that wait for a VC, where no other VC of the row requests the column.
    fn add_speculative(
        &mut self,
        me: usize,
        switch: &mut GeneralSwitch,
        vcs: &GeneralVcAllocation<M>,
        busy_rows: u64,
        env: &Env,
    ) {
        let certain = switch.requests.len();
        for i in 0..vcs.speculative.len() {
            let (slot, port) = vcs.speculative[i];
            let (row, col) = Self::row_and_col(switch, slot as usize, port as usize);
            if busy_rows >> row & 1 == 1 || switch.is_busy(col) {
                continue;
            }
            let priority = SPECULATIVE | self.priority(me, slot as usize, switch.arbiter, env);
            let request = Request { row: row as u16, col: col as u16, priority, preference: 0 };
            match switch.requests.iter().position(|r| (r.row, r.col) == (request.row, request.col)) {
                None => {
                    switch.requests.push(request);
                    switch.senders.push(slot);
                }
                Some(at) if at >= certain => {
                    let pointer = switch.sw_vc[me * switch.rows + row] as usize;
                    let vc = |slot: u16| Self::port_and_vc(slot as usize).1;
                    let turn = |slot: u16| (vc(slot) + switch.vcs - pointer) % switch.vcs;
                    let (old, old_slot) = (switch.requests[at].priority, switch.senders[at]);
                    if (priority, turn(slot)) < (old, turn(old_slot)) {
                        switch.requests[at] = request;
                        switch.senders[at] = slot;
                    }
                }
                Some(_) => {}
            }
        }
    }

    /// Whether a packet requested more sets of VCs in this cycle than had one with a credit.
    fn speculates_in_vain(&mut self, me: usize, slot: u16, vcs: &GeneralVcAllocation<M>, env: &Env) -> bool {
        let ejects = self.input(slot as usize).flags & EJECTING != 0;
        let sets = env
            .route
            .hop_by_hop
            .as_ref()
            .map_or(0, |hop_by_hop| hop_by_hop.candidates(self.number(me, slot as usize)).count());
        let open = vcs.speculative.iter().filter(|(other, _)| *other == slot).count();
        !ejects && open < sets
    }

    /// Whether a packet that was granted the switch on speculation has won a VC with a credit at that port as well.
    fn speculation_came_true(
        &mut self,
        slot: u16,
        col: u16,
        switch: &GeneralSwitch,
        vcs: &GeneralVcAllocation<M>,
    ) -> bool {
        let vc = *self.input(slot as usize);
        vcs.fresh.contains(&slot)
            && Self::row_and_col(switch, slot as usize, vc.port as usize).1 == col as usize
            && self.output(vc.output as usize).credits > 0
    }

    /// Moves this cycle's flits, in ascending order of rows, and notes which paths stay held.
    pub(crate) fn send(&mut self, me: usize, switch: &mut GeneralSwitch, env: &mut Env) {
        switch.sending.sort_unstable();
        for i in 0..switch.sending.len() {
            let (row, slot) = switch.sending[i];
            let vc = *self.input(slot as usize);
            if env.allocation.shared_buffers.is_some() && self.output(vc.output as usize).credits == 0 {
                // A row before it has taken the last place of the shared part: the flit stays, and its path is
                // released.
                switch.held_rows.get_mut(me).into_iter().for_each(|held| *held &= !(1 << row));
                continue;
            }
            let hold = env.rules.switch.hold != Hold::Never
                && vc.left > 1
                && (env.rules.switch.hold == Hold::UntilTail || vc.occupied > 1);
            if vc.flags & ACTIVE == 0 {
                // Sent on speculation: the request masks learn of it now.
                self.activate(slot as usize);
            }
            // A flit granted now enters the switch in the next cycle, unless a batch is in it.
            let through = switch.switch_stage.as_mut().map_or(env.now, |stage| stage.enter(me, env.now + 1) - 1);
            let turn = match switch.next_turn.get_mut(me * switch.ports + vc.port as usize) {
                Some(next) => {
                    let turn = (*next).max(through);
                    *next = turn + 1;
                    turn
                }
                None => env.now,
            };
            self.send_front::<true, false>(me, slot as usize, turn, env);
            if hold {
                switch.held_rows[me] |= 1 << row;
                switch.held_slot[me * switch.rows + row as usize] = slot;
            }
        }
    }
}
