//! The state of all routers, laid out for the step function.
//!
//! Flits are not objects. A virtual channel's buffer is a count of flits and a list of packets: the packet at the front, with
//! the number of its flits that have yet to leave, and the packets behind it, linked through the packet pool. That is enough,
//! because flits of one packet enter and leave a virtual channel in order and without others between them. A packet waits
//! behind another in at most one buffer (the one its head is in), so one link a packet suffices.
//!
//! What the allocators ask each cycle is kept as bit masks that change only when the answer changes: which input VCs wait
//! for an output VC, which output VCs are free, which input VCs could send a flit to which output port (`sendable`), and
//! which rows ask for which column of the switch (`requests`).

use super::flat::Flat;
use super::mask::VcMask;
use super::shape::Shape;
use super::wheel::NONE;
use crate::plan::Params;
use crate::topology::Grid;

/// The front packet owns an output VC and may request the switch.
pub(crate) const ACTIVE: u8 = 1;
/// The front packet's head has not left yet.
pub(crate) const HEAD: u8 = 2;
/// The front packet waits for an output VC.
pub(crate) const WAITING: u8 = 4;
/// The front packet is at its destination router.
pub(crate) const EJECTING: u8 = 8;
/// The front packet owns an output VC.
pub(crate) const GRANTED: u8 = 16;

/// An input virtual channel.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct InputVc {
    /// Packet at the front, or [`NONE`].
    pub front: u32,
    /// First and last packet behind it, or [`NONE`].
    pub behind_first: u32,
    pub behind_last: u32,
    /// Flits of the front packet that have not left this buffer.
    pub left: u16,
    /// Flits in the buffer, of all packets.
    pub occupied: u16,
    /// Output VC (slot) that the front packet owns.
    pub output: u16,
    /// Output port that the front packet wants or uses.
    pub port: u8,
    /// Dateline class that the front packet needs at `port`.
    pub class: u8,
    pub flags: u8,
}

/// An output virtual channel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputVc {
    /// Input VC (slot) that owns it, or [`FREE`].
    pub owner: u16,
    pub credits: u16,
}

/// No owner.
pub(crate) const FREE: u16 = u16::MAX;

/// Words that the step function looks at first.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Summary {
    /// Input ports with a packet that waits for an output VC.
    pub waiting_ports: u64,
    /// Columns of the switch with a request.
    pub requested_cols: u64,
}

/// All routers. Numbers are those of [`Shape`].
#[derive(Debug)]
pub(crate) struct Routers<M> {
    /// By VC.
    pub inputs: Flat<InputVc>,
    /// By VC.
    pub outputs: Flat<OutputVc>,
    pub summary: Flat<Summary>,
    /// Input VCs of a port that wait for an output VC, by port.
    pub waiting: Flat<M>,
    /// Output VCs of a port without owner, by port.
    pub free: Flat<M>,
    /// Input VCs of a switch row that could send a flit to an output port, by (row, port).
    pub sendable: Flat<M>,
    /// Rows that ask for a column, by column.
    pub requests: Flat<u64>,
    /// First VC at the other end of the channel of a network port, by port; [`NONE`] where there is no channel. The input
    /// port that an output port leads to and the output port that feeds an input port have the same number, so one table
    /// serves both directions.
    pub far_end: Flat<u32>,
    /// Flits sent over each network channel, by port.
    pub link_flits: Flat<u64>,
    /// VCs that a packet of each dateline class may use, `[port][class]`.
    pub allowed: Flat<[M; 2]>,
}

impl<M: VcMask> Routers<M> {
    /// Empty routers.
    pub fn new(p: &Params, shape: &Shape, grid: &Grid) -> Self {
        let input = InputVc {
            front: NONE,
            behind_first: NONE,
            behind_last: NONE,
            left: 0,
            occupied: 0,
            output: FREE,
            port: 0,
            class: 0,
            flags: 0,
        };
        let all = M::range(0, p.vcs);
        let half = p.vcs / 2;
        let allowed = (0..shape.ports()).map(|port| {
            if port < p.network_ports && grid.wraps(port / 2) && grid.size(port / 2) > 1 {
                [M::range(0, p.vcs - half), M::range(p.vcs - half, p.vcs)]
            } else {
                [all, all]
            }
        });
        let far_end = (0..p.routers).flat_map(|r| (0..shape.ports()).map(move |port| (r, port))).map(|(r, port)| {
            let neighbour = (port < p.network_ports).then(|| grid.neighbour(r as u32, port)).flatten();
            neighbour.map_or(NONE, |n| shape.vc(n as usize, shape.slot(port ^ 1, 0)) as u32)
        });
        let output = OutputVc { owner: FREE, credits: p.buffer_flits as u16 };
        Routers {
            inputs: Flat::filled(p.routers * shape.slots(), input),
            outputs: Flat::filled(p.routers * shape.slots(), output),
            summary: Flat::filled(p.routers, Summary::default()),
            waiting: Flat::filled(p.routers * shape.ports(), M::EMPTY),
            free: Flat::filled(p.routers * shape.ports(), all),
            sendable: Flat::filled(p.routers * shape.rows() * shape.ports(), M::EMPTY),
            requests: Flat::filled(p.routers * shape.cols(), 0),
            far_end: far_end.collect(),
            link_flits: Flat::filled(p.routers * shape.ports(), 0),
            allowed: allowed.collect(),
        }
    }
}
