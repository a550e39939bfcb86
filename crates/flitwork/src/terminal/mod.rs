//! The network interfaces: controllers that take messages, cut them into packets, choose a virtual channel and send a flit a
//! cycle each.

mod calendar;
mod interface;
mod program;

pub(crate) use interface::{Injector, Terminals};
pub(crate) use program::Program;
