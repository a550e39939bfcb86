//! What leaves a part of the network for another, and what comes from there.

use super::Part;
use crate::measure::Origin;
use crate::transit::{FlitArrival, NONE, Packet, PacketPool, Wheel};

/// Events from one part to another since the parts exchanged them last: a batch for each cycle.
#[derive(Debug, Default)]
pub(crate) struct CrossEvents {
    batches: Vec<Batch>,
    /// Batches in use; those behind them are empty, and their memory is used again.
    used: usize,
}

/// Events from one part to another in one cycle. VCs are numbered as in the whole network.
#[derive(Debug, Default)]
struct Batch {
    sent: u64,
    /// Input VCs that get a flit which is no head.
    flits: Vec<u32>,
    /// Input VCs that get a head, and the packets.
    heads: Vec<u32>,
    packets: Vec<(Packet, Origin)>,
    /// Output VCs that get a credit.
    credits: Vec<u32>,
}

impl CrossEvents {
    /// Begins the batch of cycle `now`.
    fn begin(&mut self, now: u64) {
        if self.used == self.batches.len() {
            self.batches.push(Batch::default());
        }
        self.batches[self.used].sent = now;
        self.used += 1;
    }

    /// Batches that there is memory for.
    #[cfg(test)]
    pub fn batches(&self) -> usize {
        self.batches.len()
    }

    /// The batch of this cycle.
    fn batch(&mut self) -> &mut Batch {
        &mut self.batches[self.used - 1]
    }
}

/// Takes out the events of which `leaves` holds, one by one; the last event takes the place of each.
fn swap_out<E>(events: &mut Vec<E>, leaves: impl Fn(&E) -> bool, mut take: impl FnMut(E)) {
    let mut from = 0;
    while let Some(next) = events[from..].iter().position(&leaves) {
        from += next;
        take(events.swap_remove(from));
    }
}

/// The border of a part: in its own numbers, VCs beyond the last one are those of other parts.
#[derive(Debug)]
pub(crate) struct Border {
    /// The number of the part.
    part: usize,
    /// The first VC of the part, in the numbers of the whole network.
    first: u32,
    /// VCs of the part.
    vcs: u32,
    /// First VCs of all parts.
    firsts: Vec<u32>,
    /// Cycles from sending to arrival: of a flit, and of a credit.
    cycles: (u64, u64),
    /// Within a window, for each part what goes there, and from each part what has come.
    pub out: Vec<CrossEvents>,
    pub arrived: Vec<CrossEvents>,
}

impl Border {
    /// The border of `part` in a network of `routers` routers with `slots` VCs each; `cycles`: from sending to arrival,
    /// of a flit and of a credit.
    pub fn new(part: Part, routers: usize, slots: usize, cycles: (u64, u64)) -> Self {
        let router_range = part.routers(routers);
        Border {
            part: part.number,
            first: (router_range.start * slots) as u32,
            vcs: (router_range.len() * slots) as u32,
            firsts: part.firsts(routers).map(|first| (first * slots) as u32).collect(),
            cycles,
            out: Vec::new(),
            arrived: Vec::new(),
        }
    }

    /// The number in the whole network of a VC that has this one here.
    pub fn in_all(&self, vc: u32) -> u32 {
        vc.wrapping_add(self.first)
    }

    /// Of a VC of another part its number in the whole network, and the batch to that part.
    fn elsewhere(&mut self, vc: u32) -> (u32, &mut Batch) {
        let vc = self.in_all(vc);
        let part = self.firsts.partition_point(|&first| first <= vc) - 1;
        (vc, self.out[part].batch())
    }

    /// Takes flits and credits sent in cycle `now` that go to other parts out of their lists; the packets whose heads
    /// go leave with them. Few do, and the order of the others does not matter.
    pub fn send(&mut self, now: u64, flits: &mut Vec<FlitArrival>, credits: &mut Vec<u32>, pool: &mut PacketPool) {
        // Nobody reads events of a part to itself.
        let others = self.out.iter_mut().enumerate().filter(|&(to, _)| to != self.part);
        others.for_each(|(_, events)| events.begin(now));
        let vcs = self.vcs;
        swap_out(
            flits,
            |flit| flit.vc >= vcs,
            |flit| {
                let (vc, batch) = self.elsewhere(flit.vc);
                if flit.packet == NONE {
                    batch.flits.push(vc);
                } else {
                    batch.heads.push(vc);
                    batch.packets.push((pool[flit.packet], *pool.origin(flit.packet)));
                    pool.remove(flit.packet);
                }
            },
        );
        swap_out(
            credits,
            |&vc| vc >= vcs,
            |vc| {
                let (vc, batch) = self.elsewhere(vc);
                batch.credits.push(vc);
            },
        );
    }

    /// What has come is on its way from now on, before anything of this cycle.
    pub fn receive(&mut self, wheel: &mut Wheel, pool: &mut PacketPool) {
        let (first, cycles) = (self.first, self.cycles);
        let to_local = |vc: u32| vc.wrapping_sub(first);
        for events in &mut self.arrived {
            for batch in &mut events.batches[..std::mem::take(&mut events.used)] {
                let flits = &mut wheel.at(batch.sent + cycles.0).flits;
                flits.extend(batch.flits.drain(..).map(|vc| FlitArrival { vc: to_local(vc), packet: NONE }));
                let heads = batch.heads.drain(..).zip(batch.packets.drain(..));
                let arrival =
                    |(vc, (packet, origin))| FlitArrival { vc: to_local(vc), packet: pool.insert(packet, origin) };
                flits.extend(heads.map(arrival));
                wheel.at(batch.sent + cycles.1).credits.extend(batch.credits.drain(..).map(to_local));
            }
        }
    }
}
