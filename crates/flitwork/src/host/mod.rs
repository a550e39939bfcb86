//! Hosts: what ranks do. A rank executes its operations and hands messages to an outlet: the NIC of its terminal
//! (`terminal/`), the memory of the terminal, the bus or the barrier tree.
//!
//! `Hosts` (`ranks.rs`) is all that the rest of the simulator sees. It reads the operations of each rank in turn from a
//! source (`source.rs`), keeps those that are not complete in a window (`window.rs`) and those that do not start in
//! program order in `pending.rs`, and lets messages leave by an outlet (`outlet/`, a file for each of the four kinds)
//! from a send queue (`queue.rs`). A message in flight (`in_flight.rs`) that has arrived (`arrive.rs`) takes its
//! receive by the lists of `matching.rs`. Ranks whose operations are made on the way, and that never compute, are read
//! only as far as their next message, so memory does not grow with the schedule. What takes effect in a later cycle is
//! in `due.rs`, what the operating system takes of a rank's time in `noise.rs`, control messages in front of long
//! messages in `rendezvous.rs`, reading from memory in `memory_reader.rs`, and what a program that drives ranks may
//! request in `requests.rs`.

mod arrive;
mod check;
mod counts;
mod due;
mod in_flight;
mod matching;
mod memory_reader;
mod noise;
mod outlet;
mod pending;
mod places;
mod queue;
mod ranks;
mod record;
mod rendezvous;
mod requests;
mod source;
mod stuck;
mod window;

pub use check::{ExchangeReport, check_complete, check_complete_under, check_exchange};
pub(crate) use outlet::BusMessage;
pub(crate) use ranks::{Hosts, Message};
pub use requests::{Completion, Envelope, Task, TaskKind};
