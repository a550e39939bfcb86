//! VC allocation: which waiting packet is given which output VC. It reads the port and flags that routing has set for
//! each front packet, and hands VCs over; it touches the switch only where a packet of one flit passes both in one
//! cycle.

mod bypass;
mod general;
mod islip;
mod private_vc;
mod requests;
mod single_flit;

pub(crate) use general::GeneralVcAllocation;
pub(crate) use islip::Scratch;
pub(crate) use private_vc::{ANY_VC, PrivateVcs};
pub(crate) use requests::VcRequest;
