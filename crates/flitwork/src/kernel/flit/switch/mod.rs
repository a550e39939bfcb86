//! The switch: which flits cross it in a cycle, and what happens when they do. It reads which VCs are ready, moves
//! flits and credits, and frees VCs behind tails.

mod general;
mod islip;
mod single_flit;
mod traverse;

pub(crate) use general::GeneralSwitch;
