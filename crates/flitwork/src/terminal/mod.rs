//! The network interfaces (NICs): source queues, the order in which messages are served, and how they become packets.

mod calendar;
mod job;
mod memory_wait;
mod nic;
mod pacing;
mod queue;
mod service;

pub(crate) use nic::{Nics, Outgoing};
pub(crate) use queue::Untaken;
