//! Hosts: what ranks do. A rank executes its operations, and hands messages to the NIC of its terminal (`terminal/`).

mod ranks;

pub(crate) use ranks::Hosts;
