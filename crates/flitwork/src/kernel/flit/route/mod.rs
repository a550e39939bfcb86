//! Routing: which output port the packet at the front of an input VC requests. It reads packets and the tables of the
//! routing, and writes the port and the flags of the front packet; what routers know of each other's queues is kept
//! here.

mod congestion;
mod fat_tree;
mod front;
mod hop_by_hop;
mod next_output;
mod queue_board;
mod table;

pub(crate) use congestion::CongestionBoard;
pub(crate) use fat_tree::FatTreeRoutes;
pub(crate) use hop_by_hop::HopByHopRoutes;
pub(crate) use next_output::NextOutputs;
pub(crate) use queue_board::QueueBoard;
pub(crate) use table::RouteTable;
