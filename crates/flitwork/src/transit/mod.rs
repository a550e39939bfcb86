//! What is in transit between terminals and routers: flits and credits on channels, and the packets they belong to.
//! Terminals and routers both write here, and know each other no further.

mod layout;
mod packet;
mod wheel;

pub(crate) use layout::{CompiledSize, Layout};
pub(crate) use packet::{Packet, PacketPool};
pub(crate) use wheel::{Due, FlitArrival, NONE, Slot, Wheel};
