//! Hosts: what ranks do. A rank executes its operations, and hands messages to the NIC of its terminal (`terminal/`).
//!
//! [`Hosts`] is all that the rest of the simulator sees. It reads the operations of each rank one by one from a [`source`], keeps
//! those that are not complete in a [`window`], and lets messages leave by a [`queue`]. A message that has arrived takes its receive
//! by the lists of [`matching`]. Ranks whose operations are made on the way, and that never compute, are read only as far as their
//! next message: so what is in memory does not grow with the schedule. What the operating system takes of a rank's time is in [`noise`], messages
//! that ask before they go in [`rendezvous`], messages that go over a bus in [`bus`], over a barrier tree in [`news`], that stay within a terminal in
//! [`copies`], reading from memory in [`reading`].

mod arrive;
mod asked;
mod bus;
mod check;
mod copies;
mod held;
mod matching;
mod news;
mod noise;
mod queue;
mod ranks;
mod reading;
mod record;
mod rendezvous;
mod source;
mod stuck;
mod under_way;
mod window;

pub use asked::{Completion, Envelope, Task, TaskKind};
pub(crate) use bus::BusMessage;
pub use check::{ExchangeReport, check_complete, check_complete_under, check_exchange};
pub(crate) use ranks::{Hosts, Message};
