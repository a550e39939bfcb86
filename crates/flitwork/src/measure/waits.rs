//! Where and why packets wait in the network: for each packet and place the cycles of standing still, by reason.
//!
//! A cycle counts where the flit that decides stands still: until the head of a packet has left its last router that is
//! the head, behind it (`body`) the front flit of each buffer that the rest of the packet is in. What `docs/explain.md`
//! makes of it is summed in Python.

use super::Places;
use super::stalls::{STALL_REASONS, StallReason};

/// Why a packet waits, as it is counted: a [`StallReason`], or [`BEHIND_PACKET`].
pub type WaitReason = u8;

/// The reason of a packet whose head is in a buffer, behind another packet.
pub const BEHIND_PACKET: WaitReason = STALL_REASONS.len() as u8;

const REASONS: usize = STALL_REASONS.len() + 1;
const NONE: u32 = u32::MAX;

/// Cycles that a packet waited at a place for one reason; there may be several of one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitRecord {
    /// Index of the packet in the packet records.
    pub packet: u32,
    /// Buffers that its head had come to until then (of a part that follows: until it left there): 0 at the source, 1
    /// in the first router.
    pub hop: u16,
    /// The router in which it waits, or that its terminal is at.
    pub router: u32,
    /// The output port that it wants; of what waits at the source the input port of the router behind the injection
    /// port.
    pub port: u32,
    /// Why.
    pub reason: WaitReason,
    /// Whether its head had gone on.
    pub body: bool,
    /// How long \[cycles].
    pub cycles: u32,
}

/// All waits of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WaitReport {
    /// In order of packet.
    pub waits: Vec<WaitRecord>,
    /// The cycle in which the head of each packet arrives at its terminal, indexed by packet; `u64::MAX` where it has
    /// not left the last router.
    pub head_arrived: Vec<u64>,
    /// Cycles waited by window of time, of all packets together, in order of window, router, port and reason; none
    /// without windows.
    pub windows: Option<Vec<WaitWindow>>,
}

/// Packet-cycles of standing still at a place for one reason, in one window of time (`record.channel_window_cycles`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitWindow {
    /// The window, the first is 0.
    pub window: u32,
    /// As in a [`WaitRecord`].
    pub router: u32,
    /// As in a [`WaitRecord`].
    pub port: u32,
    /// As in a [`WaitRecord`].
    pub reason: WaitReason,
    /// Heads, and front flits behind heads, that stood still, summed over cycles.
    pub cycles: u32,
}

/// Counts while the simulation runs. A place is whatever has one deciding flit: an input VC, or an injection port.
#[derive(Debug)]
pub(crate) struct WaitLog {
    report: WaitReport,
    /// The row that each place counts on, `[place][reason]`.
    open: Vec<[u32; REASONS]>,
    /// The first place that is an injection port.
    sources: usize,
    /// Routers that the head of each packet has left, and what that was when a head left each input VC last.
    left: Vec<u16>,
    left_from: Vec<u16>,
    /// The row of each packet that waits behind another one, by its number under way.
    behind: Vec<u32>,
    windows: Option<Windows>,
}

/// Sums over the window that has not ended.
#[derive(Debug)]
struct Windows {
    number: u32,
    ports: usize,
    /// By router, port and reason; `counted` has those that are not 0.
    cycles: Vec<u32>,
    counted: Vec<u32>,
    rows: Vec<WaitWindow>,
}

impl Windows {
    fn add(&mut self, wait: &WaitRecord) {
        let at = (wait.router as usize * self.ports + wait.port as usize) * REASONS + usize::from(wait.reason);
        if self.cycles[at] == 0 {
            self.counted.push(at as u32);
        }
        self.cycles[at] = self.cycles[at].saturating_add(wait.cycles);
    }

    fn close(&mut self) {
        self.counted.sort_unstable();
        for at in self.counted.drain(..) {
            let (place, reason) = (at as usize / REASONS, at as usize % REASONS);
            let (router, port) = ((place / self.ports) as u32, (place % self.ports) as u32);
            let cycles = std::mem::take(&mut self.cycles[at as usize]);
            self.rows.push(WaitWindow { window: self.number, router, port, reason: reason as WaitReason, cycles });
        }
        self.number += 1;
    }
}

impl WaitLog {
    /// Nothing counted yet, at so many input VCs and injection ports.
    pub fn new(vcs: usize, ports: usize) -> Self {
        let open = vec![[NONE; REASONS]; vcs + ports];
        let left_from = vec![0; vcs];
        let report = WaitReport::default();
        WaitLog { report, open, sources: vcs, left: Vec::new(), left_from, behind: Vec::new(), windows: None }
    }

    /// Sums by window of time, too: so many routers, each with so many ports at most. [`WaitLog::next_window`] is
    /// called.
    pub fn with_windows(mut self, routers: usize, ports: usize) -> Self {
        let cycles = vec![0; routers * ports * REASONS];
        self.windows = Some(Windows { number: 0, ports, cycles, counted: Vec::new(), rows: Vec::new() });
        self
    }

    /// What follows belongs to the next window.
    pub fn next_window(&mut self) {
        if let Some(windows) = &mut self.windows {
            windows.close();
        }
    }

    /// The next flit of an injection port stood still for `wait.cycles`.
    pub fn count_at_source(&mut self, port: usize, wait: WaitRecord) {
        self.count(self.sources + port, wait);
    }

    /// The front flit of input VC `vc` stood still for `wait.cycles`.
    pub fn count_in_router(&mut self, vc: usize, wait: WaitRecord) {
        let hop = if wait.body { self.left_from[vc] } else { self.next_hop(wait.packet) };
        self.count(vc, WaitRecord { hop, ..wait });
    }

    /// The buffer that the head of a packet is in.
    fn next_hop(&self, packet: u32) -> u16 {
        self.left.get(packet as usize).map_or(1, |left| left + 1)
    }

    /// The head of a packet leaves input VC `vc`.
    pub fn head_leaves(&mut self, vc: usize, packet: u32) {
        let hop = self.next_hop(packet);
        if self.left.len() <= packet as usize {
            self.left.resize(packet as usize + 1, 0);
        }
        self.left[packet as usize] = hop;
        self.left_from[vc] = hop;
    }

    fn count(&mut self, place: usize, wait: WaitRecord) {
        self.add_to_window(&wait);
        let open = &mut self.open[place][usize::from(wait.reason)];
        *open = Self::add(&mut self.report.waits, *open, wait);
    }

    /// The head of packet number `id` under way stood behind another packet.
    pub fn count_behind(&mut self, id: u32, wait: WaitRecord) {
        let (id, wait) = (id as usize, WaitRecord { hop: self.next_hop(wait.packet), ..wait });
        self.add_to_window(&wait);
        if self.behind.len() <= id {
            self.behind.resize(id + 1, NONE);
        }
        self.behind[id] = Self::add(&mut self.report.waits, self.behind[id], wait);
    }

    fn add_to_window(&mut self, wait: &WaitRecord) {
        if let Some(windows) = &mut self.windows {
            windows.add(wait);
        }
    }

    /// Adds to row `open`, if it is of the same wait, or to a new one; the row.
    fn add(rows: &mut Vec<WaitRecord>, open: u32, wait: WaitRecord) -> u32 {
        let same = |row: &&mut WaitRecord| WaitRecord { cycles: wait.cycles, ..**row } == wait;
        match rows.get_mut(open as usize).filter(same) {
            Some(row) => {
                row.cycles = row.cycles.saturating_add(wait.cycles);
                open
            }
            None => {
                rows.push(wait);
                rows.len() as u32 - 1
            }
        }
    }

    /// The head of a packet leaves its last router and arrives in cycle `cycle`.
    pub fn head_arrives(&mut self, packet: u32, cycle: u64) {
        let arrived = &mut self.report.head_arrived;
        if arrived.len() <= packet as usize {
            arrived.resize(packet as usize + 1, u64::MAX);
        }
        arrived[packet as usize] = cycle;
    }

    /// What was counted.
    pub fn report(mut self) -> WaitReport {
        self.next_window();
        WaitReport { windows: self.windows.map(|windows| windows.rows), ..self.report }
    }
}

impl WaitReport {
    /// The same, each packet numbered by the place of its record.
    pub(crate) fn renumbered(mut self, places: &Places) -> WaitReport {
        for row in &mut self.waits {
            row.packet = places.of(row.packet);
        }
        self.waits.sort_by_key(|row| row.packet);
        let head_arrived = places.put_in_order(&self.head_arrived, u64::MAX);
        WaitReport { waits: self.waits, head_arrived, windows: self.windows }
    }
}

impl From<StallReason> for WaitRecord {
    /// One cycle of standing still, of no packet yet.
    fn from(reason: StallReason) -> Self {
        WaitRecord { packet: NONE, hop: 0, router: NONE, port: NONE, reason: reason as u8, body: false, cycles: 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_of_one_wait_add_up_and_packets_are_renumbered() {
        let mut log = WaitLog::new(1, 1).with_windows(4, 2);
        let wait = WaitRecord { packet: 0, router: 3, port: 1, ..StallReason::NoCredit.into() };
        log.count_in_router(0, wait);
        log.count_in_router(0, WaitRecord { reason: StallReason::LostSwitch as u8, ..wait });
        log.count_in_router(0, wait);
        log.head_leaves(0, 0);
        log.next_window();
        log.next_window();
        log.count_in_router(0, WaitRecord { body: true, ..wait });
        log.count_at_source(0, WaitRecord { packet: 1, ..wait });
        log.count_behind(5, WaitRecord { packet: 1, reason: BEHIND_PACKET, cycles: 4, ..wait });
        log.count_behind(5, WaitRecord { packet: 1, reason: BEHIND_PACKET, cycles: 3, ..wait });
        log.head_arrives(1, 40);
        let report = log.report().renumbered(&Places::new(vec![1, 0]));
        let rows: Vec<_> = report.waits.iter().map(|w| (w.packet, w.hop, w.reason, w.body, w.cycles)).collect();
        let (credit, lost) = (StallReason::NoCredit as u8, StallReason::LostSwitch as u8);
        assert_eq!(rows[..2], [(0, 0, credit, false, 1), (0, 1, BEHIND_PACKET, false, 7)]);
        assert_eq!(rows[2..], [(1, 1, credit, false, 2), (1, 1, lost, false, 1), (1, 1, credit, true, 1)]);
        assert_eq!(report.head_arrived, [40, u64::MAX]);
        let rows: Vec<_> =
            report.windows.iter().flatten().map(|w| (w.window, w.router, w.port, w.reason, w.cycles)).collect();
        assert_eq!(rows[..2], [(0, 3, 1, credit, 2), (0, 3, 1, lost, 1)]);
        assert_eq!(rows[2..], [(2, 3, 1, credit, 2), (2, 3, 1, BEHIND_PACKET, 7)]);
    }
}
