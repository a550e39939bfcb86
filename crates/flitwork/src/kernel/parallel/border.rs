//! What leaves a part of the network for another, and what comes from there.

use super::Part;
use crate::measure::Origin;
use crate::transit::{FlitArrival, NONE, Packet, PacketPool, Wheel};

/// What one part has sent to another in one cycle. VCs are numbered as in the whole network.
#[derive(Debug, Default)]
pub(crate) struct Mail {
    sent: u64,
    /// Input VCs that get a flit which is no head.
    flits: Vec<u32>,
    /// Input VCs that get a head, and the packets.
    heads: Vec<u32>,
    packets: Vec<(Packet, Origin)>,
    /// Output VCs that get a credit.
    credits: Vec<u32>,
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
    /// The first VC of the part, in the numbers of the whole network.
    first: u32,
    /// VCs of the part.
    vcs: u32,
    /// First VCs of all parts.
    firsts: Vec<u32>,
    /// Cycles from sending to arrival: of a flit, and of a credit.
    cycles: (u64, u64),
    /// For each part what goes there.
    pub out: Vec<Mail>,
    /// From each part what has come.
    pub arrived: Vec<Mail>,
}

impl Border {
    /// Of a part of a network of so many routers with so many VCs each; `cycles`: from sending to arrival, of a flit and of a credit.
    pub fn new(part: Part, routers: usize, slots: usize, cycles: (u64, u64)) -> Self {
        let own = part.routers(routers);
        let mails = || (0..part.of).map(|_| Mail::default()).collect();
        Border {
            first: (own.start * slots) as u32,
            vcs: (own.len() * slots) as u32,
            firsts: part.firsts(routers).map(|first| (first * slots) as u32).collect(),
            cycles,
            out: mails(),
            arrived: mails(),
        }
    }

    /// Of a VC of another part its number in the whole network, and the mail to that part.
    fn elsewhere(&mut self, vc: u32) -> (u32, &mut Mail) {
        let vc = vc.wrapping_add(self.first);
        let part = self.firsts.partition_point(|&first| first <= vc) - 1;
        (vc, &mut self.out[part])
    }

    /// Of what was sent in cycle `now`, takes out what goes to other parts; the packets whose heads go leave with them. Few do, and the
    /// order of the others does not matter.
    pub fn send(&mut self, now: u64, flits: &mut Vec<FlitArrival>, credits: &mut Vec<u32>, pool: &mut PacketPool) {
        self.out.iter_mut().for_each(|mail| mail.sent = now);
        let vcs = self.vcs;
        swap_out(
            flits,
            |flit| flit.vc >= vcs,
            |flit| {
                let (vc, mail) = self.elsewhere(flit.vc);
                if flit.packet == NONE {
                    mail.flits.push(vc);
                } else {
                    mail.heads.push(vc);
                    mail.packets.push((pool[flit.packet], *pool.origin(flit.packet)));
                    pool.remove(flit.packet);
                }
            },
        );
        swap_out(
            credits,
            |&vc| vc >= vcs,
            |vc| {
                let (vc, mail) = self.elsewhere(vc);
                mail.credits.push(vc);
            },
        );
    }

    /// What has come is on its way from now on, before anything of this cycle.
    pub fn receive(&mut self, wheel: &mut Wheel, pool: &mut PacketPool) {
        let first = self.first;
        let own = |vc: u32| vc.wrapping_sub(first);
        for mail in &mut self.arrived {
            let flits = &mut wheel.at(mail.sent + self.cycles.0).flits;
            flits.extend(mail.flits.drain(..).map(|vc| FlitArrival { vc: own(vc), packet: NONE }));
            let heads = mail.heads.drain(..).zip(mail.packets.drain(..));
            flits.extend(
                heads.map(|(vc, (packet, origin))| FlitArrival { vc: own(vc), packet: pool.insert(packet, origin) }),
            );
            wheel.at(mail.sent + self.cycles.1).credits.extend(mail.credits.drain(..).map(own));
        }
    }
}
