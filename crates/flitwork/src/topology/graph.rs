//! A network written down channel by channel: what every topology that is no grid is made from.

use super::Drawing;

/// A channel from an output port of one router to an input port of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channel {
    /// Router and output port that it leaves by.
    pub from: (u32, usize),
    /// Router and input port that it enters by.
    pub to: (u32, usize),
    /// Class of the channel: an index of [`Graph::classes`].
    pub class: usize,
    /// Time on the channel \[cycles]; `None`: that of `network.channel.latency_cycles`.
    pub latency_cycles: Option<u32>,
    /// Time between the starts of two flits \[cycles], at least 1: the width of the channel is 1 over that
    /// [flits/cycle].
    pub cycles_per_flit: u32,
}

impl Channel {
    /// A channel with the latency of all others that takes a flit in every cycle.
    pub fn new(from: (u32, usize), to: (u32, usize), class: usize) -> Self {
        Channel { from, to, class, latency_cycles: None, cycles_per_flit: 1 }
    }

    /// The two channels, one for each direction, of a cable between two ports, of the same class.
    pub fn cable(one: (u32, usize), other: (u32, usize), class: usize) -> [Channel; 2] {
        [Channel::new(one, other, class), Channel::new(other, one, class)]
    }
}

/// A network as a list of channels. Ports count from 0 at each router; an output port and an input port of the same
/// number need not lead to the same router.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    /// Terminals at each router; as many entries as there are routers.
    pub terminals: Vec<u32>,
    /// All channels between routers.
    pub channels: Vec<Channel>,
    /// Names of the classes of channels: what loads are shown by.
    pub classes: Vec<String>,
    /// How the network is drawn on a page, if it can be drawn.
    pub drawing: Option<Drawing>,
}
