//! What is recorded of a cycle: channel use, stalls, waits, head-of-line blocking, deadlocks. It reads everything and
//! changes nothing that a later cycle reads.

#[cfg(feature = "audit")]
mod audit;
mod counts;
mod deadlock;
mod head_of_line;
mod stalls;
mod waits;

pub(crate) use counts::ChannelRecorder;
pub(crate) use head_of_line::HeadOfLine;
pub(crate) use stalls::Observer;
