//! The packet kernel: the same routers, moved by whole packets. Its cost is per packet and hop, not per flit and hop.
//!
//! Under the conditions of [`crate::plan::Plan::not_in_whole_packets`] a packet that is granted the switch in cycle `s`
//! sends its `L` flits in the cycles `s .. s + L`, one after another: its path is held, the buffer ahead has room for
//! all of them, and they come in as fast as they go out. So everything that the flits do is known at the grant, and
//! three events say it:
//!
//! * the head arrives at the next buffer (the same event as in the flit kernel);
//! * a *release* in cycle `s + L`: the path and the output VC are free again, and the next packet comes to the front;
//! * the *credits* begin to come back upstream, one a cycle. How many there are now is a subtraction
//!   ([`Streams::credits`]).
//!
//! Routing, allocators, arbiters, NICs and hosts are those of the flit kernel. Types with `PACKETS = true` differ in
//! how packets move and in when a router is visited; `differences.rs` has the functions in which they do. A router is
//! visited when a head comes to the front, a path or VC is released, or credits come back. It is visited again in the
//! next cycle as long as a packet lost that could have been granted something. If a packet waits for more credits than
//! there are yet, the cycle in which there will be enough is known, too.

mod credits;
mod deliver;
mod differences;
mod due;
mod fcfs;
mod inject;
mod islip;
mod send;
mod streams;

pub(crate) use streams::Streams;
