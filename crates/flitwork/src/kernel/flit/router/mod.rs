//! The state of a router: ports, virtual channels, sets of them, shared buffers, and how long channels take. It knows
//! packets by their numbers (and, for shared buffers, their lengths), and other routers by the numbers of the VCs at
//! the other ends of its channels.

mod channel_timing;
mod masks;
mod memory;
mod shared_buffer;
mod slots;
mod stages;
mod state;

pub(crate) use channel_timing::ChannelTiming;
pub(crate) use masks::{ClassMasks, SlotNumber, VcMask};
pub(crate) use memory::{Counted, Memory, Within};
pub(crate) use shared_buffer::SharedBuffers;
pub(crate) use slots::SlotSet;
pub(crate) use state::{
    ACTIVE, EJECTING, GRANTED, HEAD, InputVc, OutputVc, Port, Router, UNDECIDED, UPPER_CLASS, WAITING,
};
