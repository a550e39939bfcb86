//! How the state of routers is numbered. Every stride is a power of two, so that a number takes a shift, not a division, to
//! take apart; the order of numbers is the order of the model (port first, then VC), which is all that round robin needs.

use crate::plan::Params;

/// Strides of the state arrays.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    vc_bits: u32,
    port_bits: u32,
    row_bits: u32,
    col_bits: u32,
}

fn bits(n: usize) -> u32 {
    n.next_power_of_two().trailing_zeros()
}

impl Shape {
    pub fn new(p: &Params, input_speedup: usize, output_speedup: usize) -> Self {
        Shape {
            vc_bits: bits(p.vcs),
            port_bits: bits(p.ports),
            row_bits: bits(p.ports * input_speedup),
            col_bits: bits(p.ports * output_speedup),
        }
    }

    /// Number of a VC within its router.
    #[inline(always)]
    pub fn slot(&self, port: usize, vc: usize) -> usize {
        port << self.vc_bits | vc
    }

    /// Port and VC of a slot.
    #[inline(always)]
    pub fn port_and_vc(&self, slot: usize) -> (usize, usize) {
        (slot >> self.vc_bits, slot & ((1 << self.vc_bits) - 1))
    }

    /// Slots of a router, used or not.
    #[inline(always)]
    pub fn slots(&self) -> usize {
        1 << (self.port_bits + self.vc_bits)
    }

    /// Number of a VC in the network.
    #[inline(always)]
    pub fn vc(&self, router: usize, slot: usize) -> usize {
        router << (self.port_bits + self.vc_bits) | slot
    }

    /// Router and slot of a VC.
    #[inline(always)]
    pub fn router_and_slot(&self, vc: usize) -> (usize, usize) {
        let bits = self.port_bits + self.vc_bits;
        (vc >> bits, vc & ((1 << bits) - 1))
    }

    /// Ports of a router, used or not.
    #[inline(always)]
    pub fn ports(&self) -> usize {
        1 << self.port_bits
    }

    /// Number of a port in the network.
    #[inline(always)]
    pub fn port(&self, router: usize, port: usize) -> usize {
        router << self.port_bits | port
    }

    /// Rows of a router's switch, used or not.
    #[inline(always)]
    pub fn rows(&self) -> usize {
        1 << self.row_bits
    }

    /// Number of a switch row in the network.
    #[inline(always)]
    pub fn row(&self, router: usize, row: usize) -> usize {
        router << self.row_bits | row
    }

    /// Columns of a router's switch, used or not.
    #[inline(always)]
    pub fn cols(&self) -> usize {
        1 << self.col_bits
    }

    /// Number of a switch column in the network.
    #[inline(always)]
    pub fn col(&self, router: usize, col: usize) -> usize {
        router << self.col_bits | col
    }

    /// Number of a pair of switch row and output port in the network.
    #[inline(always)]
    pub fn row_port(&self, router: usize, row: usize, port: usize) -> usize {
        self.row(router, row) << self.port_bits | port
    }

    /// Bytes of one router's state in the arrays that are numbered so, given the bytes of a VC mask.
    pub fn router_bytes(&self, mask: usize) -> usize {
        let vc = size_of::<super::state::InputVc>() + size_of::<super::state::OutputVc>() + 2 * size_of::<u16>();
        self.slots() * vc
            + self.rows() * self.ports() * mask
            + self.ports() * (2 * mask + size_of::<u32>() + size_of::<u64>() + 4)
            + self.cols() * size_of::<u64>()
            + size_of::<super::state::Summary>()
            + size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_can_be_taken_apart() {
        let shape = Shape { vc_bits: 3, port_bits: 3, row_bits: 3, col_bits: 3 };
        for (router, port, vc) in [(0, 0, 0), (5, 4, 7), (1000, 6, 1)] {
            let n = shape.vc(router, shape.slot(port, vc));
            let (r, slot) = shape.router_and_slot(n);
            assert_eq!((r, shape.port_and_vc(slot)), (router, (port, vc)));
        }
    }
}
