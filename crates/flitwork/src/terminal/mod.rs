//! The network interfaces: controllers that take messages from source queues, cut them into packets, choose a virtual channel
//! and send a flit a cycle each.

mod calendar;
mod controller;
mod interface;
mod queue;

pub(crate) use interface::{Injector, Terminals};
