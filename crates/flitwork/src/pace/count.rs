//! How the messages of each step overlap: on channels, in hops, and at terminals.

use super::{Over, Paced, PacingKind};
use crate::bound::LoadAccumulator;
use crate::schedule::Message;
use crate::topology::End;
use serde::Serialize;

/// One step of a schedule; messages between ranks of one router cross no channel and are left out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StepOverlap {
    /// Number of the step; 0 where all are counted together.
    pub step: u32,
    /// Messages between routers.
    pub messages: u64,
    /// The most of them that one terminal sends.
    pub most_of_a_terminal: u32,
    /// Flits of the longest of them.
    pub longest_flits: u64,
    /// The most of them that cross one channel: the message-overlap degree. One that goes either way round a ring
    /// counts half in each; on a slow channel each counts as the cycles that a flit takes.
    pub overlap: f64,
    /// The most hops of one of them.
    pub hops: u32,
}

impl StepOverlap {
    /// Packets' worth of pause. `aggregate`: shared by the messages of a NIC with so many ports.
    pub fn gap_packets(&self, kind: PacingKind, aggregate: Option<u32>) -> u32 {
        let degree = match kind {
            PacingKind::None | PacingKind::Fixed => return 0,
            PacingKind::Mod => self.overlap,
            PacingKind::Hops => f64::from(self.hops),
        };
        let shared = aggregate.map_or(1.0, |ports| {
            let messages = self.most_of_a_terminal.max(1);
            f64::from(ports.min(messages)) / f64::from(messages)
        });
        // Half a message is exact in f64, and so is what is shared evenly.
        ((degree * shared).ceil() as u32).saturating_sub(1)
    }
}

/// Counts the steps of a schedule, ascending; those in which nothing crosses a channel are left out.
pub fn steps(on: &Paced, over: Over) -> Vec<StepOverlap> {
    let Some(schedule) = on.schedule else { return Vec::new() };
    let end_of = |rank: u32| on.fabric.end(on.placement.terminal_of()[rank as usize]);
    let between_routers = |m: &Message| end_of(m.from).router != end_of(m.to).router;
    let mut messages: Vec<Message> = schedule.messages_over_network().filter(between_routers).collect();
    if over == Over::Schedule {
        messages.iter_mut().for_each(|message| message.step = 0);
    }
    messages.sort_by_key(|message| message.step);
    let mut loads = LoadAccumulator::new(on.fabric, on.routing);
    let mut sent = vec![0u32; on.placement.terminals() as usize];
    let of_step = |chunk: &[Message]| {
        let mut counted = StepOverlap {
            step: chunk[0].step,
            messages: chunk.len() as u64,
            most_of_a_terminal: 0,
            longest_flits: 0,
            overlap: 0.0,
            hops: 0,
        };
        for message in chunk {
            let (src, dst) = (end_of(message.from), end_of(message.to));
            // Ties by a random bit, and split packets, go half in each direction.
            loads.add(src, dst, [0.5, 0.5]);
            counted.hops = counted.hops.max(hops(on, src, dst));
            counted.longest_flits = counted.longest_flits.max(message.size);
            let sent = &mut sent[on.placement.terminal_of()[message.from as usize] as usize];
            *sent += 1;
            counted.most_of_a_terminal = counted.most_of_a_terminal.max(*sent);
        }
        for message in chunk {
            sent[on.placement.terminal_of()[message.from as usize] as usize] = 0;
        }
        counted.overlap = loads.end_phase().into_iter().fold(0.0, f64::max);
        counted
    };
    messages.chunk_by(|a, b| a.step == b.step).map(of_step).collect()
}

/// Hops between two terminals.
fn hops(on: &Paced, src: End, dst: End) -> u32 {
    match on.routing.start(src, dst, 0, || 0) {
        (_, 0) => on.routing.path(on.fabric, src, dst, 0).len() as u32,
        (_, hops) => hops,
    }
}
