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

use super::mask::VcMask;
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
    /// Output VC that the front packet owns, `port * vcs + vc`.
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
    /// Input VC that owns it, `port * vcs + vc`, or [`FREE`].
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

/// All routers.
#[derive(Debug)]
pub(crate) struct Routers<M> {
    /// Input VCs, `[router][port * vcs + vc]`.
    pub inputs: Vec<InputVc>,
    /// Output VCs, `[router][port * vcs + vc]`.
    pub outputs: Vec<OutputVc>,
    pub summary: Vec<Summary>,
    /// Input VCs of a port that wait for an output VC, `[router][port]`.
    pub waiting: Vec<M>,
    /// Output VCs of a port without owner, `[router][port]`.
    pub free: Vec<M>,
    /// Input VCs of a row that could send a flit to an output port, `[router][row][port]`.
    pub sendable: Vec<M>,
    /// Rows that ask for a column, `[router][column]`.
    pub requests: Vec<u64>,
    /// Router at the other end of a network port, `[router][port]`, or [`NONE`].
    pub neighbours: Vec<u32>,
    /// Flits sent over each network channel, `[router][port]`.
    pub link_flits: Vec<u64>,
    /// VCs that a packet of each dateline class may use, by port: `[port][class]`.
    pub allowed: Vec<[M; 2]>,
}

impl<M: VcMask> Routers<M> {
    /// Empty routers.
    pub fn new(p: &Params, grid: &Grid, input_speedup: usize, output_speedup: usize) -> Self {
        let vcs_of_router = p.ports * p.vcs;
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
        let allowed = (0..p.ports)
            .map(|port| {
                if port < p.network_ports && grid.wraps(port / 2) && grid.size(port / 2) > 1 {
                    [M::range(0, p.vcs - half), M::range(p.vcs - half, p.vcs)]
                } else {
                    [all, all]
                }
            })
            .collect();
        let neighbours = (0..grid.routers())
            .flat_map(|r| (0..p.network_ports).map(move |port| grid.neighbour(r, port).unwrap_or(NONE)))
            .collect();
        Routers {
            inputs: vec![input; p.routers * vcs_of_router],
            outputs: vec![OutputVc { owner: FREE, credits: p.buffer_flits as u16 }; p.routers * vcs_of_router],
            summary: vec![Summary::default(); p.routers],
            waiting: vec![M::EMPTY; p.routers * p.ports],
            free: vec![all; p.routers * p.ports],
            sendable: vec![M::EMPTY; p.routers * p.ports * input_speedup * p.ports],
            requests: vec![0; p.routers * p.ports * output_speedup],
            neighbours,
            link_flits: vec![0; p.routers * p.network_ports],
            allowed,
        }
    }
}
