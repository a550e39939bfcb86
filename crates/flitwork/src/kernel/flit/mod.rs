//! The flit kernel: cycle accurate, for everything the model has.
//!
//! A cycle is: deliver, inject, then for each router that has something to do: allocate VCs, allocate the switch,
//! traverse; then observe. Routers hear of each other only through the timing wheel, at least one cycle later, so they
//! may be visited in any order. A router is visited only while a packet waits for a VC or a flit could be sent (the
//! active set); a flit blocked for want of credit costs nothing until the credit arrives.
//!
//! The rooms are the stages of the pipeline, and what the stages work on:
//!
//! | room | what it decides | what it changes |
//! |---|---|---|
//! | `router` | nothing: it is the state | ports, VCs, sets of VCs, shared buffers |
//! | `ports` | when flits enter and leave the network | buffers, credits, packets, injection ports |
//! | `route` | which output port a front packet requests | port and flags of the front packet |
//! | `vc_allocation` | which waiting packet is given which output VC | owners of output VCs, the set `waiting` |
//! | `switch` | which flits cross the switch | buffers, credits, the set `ready`, the wheel |
//! | `observe` | nothing: it counts | counters, which no other room reads |
//! | `packets` | the same for whole packets | what packets do later ([`packets`]) |
//!
//! `step.rs` is one cycle of one router: it calls the rooms in the order of the pipeline. `kernel.rs` visits the
//! routers of a network, `env.rs` is what routers share, `rules.rs` the modes of the network.

mod compiled;
mod env;
mod kernel;
mod observe;
mod packets;
mod ports;
mod prefetch;
mod route;
mod router;
mod rules;
mod step;
mod switch;
mod vc_allocation;

pub(crate) use compiled::{Variation, network, simulate};

// What all rooms share.
use env::Env;
use kernel::Kernel;
use router::{Router, VcMask};
use rules::Rules;

#[cfg(test)]
mod scheme_tests;
#[cfg(test)]
mod tests;
