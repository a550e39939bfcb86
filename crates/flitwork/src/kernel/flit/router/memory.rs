//! Where a router keeps its ports and virtual channels.
//!
//! Small routers, as most networks have, are compiled for: everything is in one block ([`Within`]), and a port of 8 VCs
//! is one cache line. Larger ones are as large as they need to be ([`Counted`]): compiled for is only how their VCs are
//! numbered, at which distances.

use crate::kernel::flit::VcMask;
use crate::kernel::flit::router::{InputVc, OutputVc, Port};
use crate::unchecked::{at, at_mut};

/// Ports and VCs of a router.
pub(crate) trait Memory<M: VcMask>: Clone + std::fmt::Debug + Send + 'static {
    /// Whether the number of ports, and of places for VCs, is known only when the network is made.
    const COUNTED: bool;

    /// `ports` ports with `vcs` VCs each, all alike.
    fn new(ports: usize, vcs: usize, port: Port<M>, output: OutputVc<M::Slot>) -> Self;

    /// Places for ports.
    fn ports(&self) -> usize;
    fn port_at(&self, port: usize) -> &Port<M>;
    fn port(&mut self, port: usize) -> &mut Port<M>;
    fn output_at(&self, port: usize, vc: usize) -> &OutputVc<M::Slot>;
    fn output(&mut self, port: usize, vc: usize) -> &mut OutputVc<M::Slot>;
    fn input_at(&self, slot: usize) -> &InputVc;
    fn input(&mut self, slot: usize) -> &mut InputVc;
    /// All input VCs, by slot.
    fn inputs(&self) -> impl Iterator<Item = (usize, &InputVc)>;
    /// Bytes besides the block itself.
    #[cfg(test)]
    fn bytes_outside(&self) -> usize;
}

/// A port with its VCs, but for its input VCs.
#[derive(Debug, Clone, Copy)]
struct PortBlock<M: VcMask, const VCS: usize> {
    port: Port<M>,
    outputs: [OutputVc<M::Slot>; VCS],
}

/// In one block, with room for `PORTS` ports of `VCS` VCs: with sizes known an array index needs no multiplication.
#[derive(Debug, Clone)]
#[repr(C)]
pub(crate) struct Within<M: VcMask, const PORTS: usize, const VCS: usize> {
    ports: [PortBlock<M, VCS>; PORTS],
    inputs: [[InputVc; VCS]; PORTS],
}

impl<M: VcMask, const PORTS: usize, const VCS: usize> Memory<M> for Within<M, PORTS, VCS> {
    const COUNTED: bool = false;

    fn new(_: usize, _: usize, port: Port<M>, output: OutputVc<M::Slot>) -> Self {
        let block = PortBlock { port, outputs: [output; VCS] };
        Within { ports: [block; PORTS], inputs: [[InputVc::EMPTY; VCS]; PORTS] }
    }

    #[inline(always)]
    fn ports(&self) -> usize {
        PORTS
    }

    #[inline(always)]
    fn port_at(&self, port: usize) -> &Port<M> {
        &at(&self.ports, port).port
    }

    #[inline(always)]
    fn port(&mut self, port: usize) -> &mut Port<M> {
        &mut at_mut(&mut self.ports, port).port
    }

    #[inline(always)]
    fn output_at(&self, port: usize, vc: usize) -> &OutputVc<M::Slot> {
        at(&at(&self.ports, port).outputs, vc)
    }

    #[inline(always)]
    fn output(&mut self, port: usize, vc: usize) -> &mut OutputVc<M::Slot> {
        at_mut(&mut at_mut(&mut self.ports, port).outputs, vc)
    }

    #[inline(always)]
    fn input_at(&self, slot: usize) -> &InputVc {
        at(self.inputs.as_flattened(), slot)
    }

    #[inline(always)]
    fn input(&mut self, slot: usize) -> &mut InputVc {
        at_mut(self.inputs.as_flattened_mut(), slot)
    }

    #[inline(always)]
    fn inputs(&self) -> impl Iterator<Item = (usize, &InputVc)> {
        self.inputs.as_flattened().iter().enumerate()
    }

    #[cfg(test)]
    fn bytes_outside(&self) -> usize {
        0
    }
}

/// In three separate arrays, as long as the network needs them. `VCS` is the distance of ports in the numbers of VCs,
/// at least `vcs`.
#[derive(Debug, Clone)]
pub(crate) struct Counted<M: VcMask, const VCS: usize> {
    /// VCs of a port.
    vcs: usize,
    ports: Box<[Port<M>]>,
    outputs: Box<[OutputVc<M::Slot>]>,
    inputs: Box<[InputVc]>,
}

impl<M: VcMask, const VCS: usize> Counted<M, VCS> {
    #[inline(always)]
    fn place(&self, slot: usize) -> usize {
        slot / VCS * self.vcs + slot % VCS
    }
}

impl<M: VcMask, const VCS: usize> Memory<M> for Counted<M, VCS> {
    const COUNTED: bool = true;

    fn new(ports: usize, vcs: usize, port: Port<M>, output: OutputVc<M::Slot>) -> Self {
        Counted {
            vcs,
            ports: vec![port; ports].into(),
            outputs: vec![output; ports * vcs].into(),
            inputs: vec![InputVc::EMPTY; ports * vcs].into(),
        }
    }

    #[inline(always)]
    fn ports(&self) -> usize {
        self.ports.len()
    }

    #[inline(always)]
    fn port_at(&self, port: usize) -> &Port<M> {
        at(&self.ports, port)
    }

    #[inline(always)]
    fn port(&mut self, port: usize) -> &mut Port<M> {
        at_mut(&mut self.ports, port)
    }

    #[inline(always)]
    fn output_at(&self, port: usize, vc: usize) -> &OutputVc<M::Slot> {
        at(&self.outputs, port * self.vcs + vc)
    }

    #[inline(always)]
    fn output(&mut self, port: usize, vc: usize) -> &mut OutputVc<M::Slot> {
        at_mut(&mut self.outputs, port * self.vcs + vc)
    }

    #[inline(always)]
    fn input_at(&self, slot: usize) -> &InputVc {
        at(&self.inputs, self.place(slot))
    }

    #[inline(always)]
    fn input(&mut self, slot: usize) -> &mut InputVc {
        let place = self.place(slot);
        at_mut(&mut self.inputs, place)
    }

    #[inline(always)]
    fn inputs(&self) -> impl Iterator<Item = (usize, &InputVc)> {
        let of_port = |(port, vcs)| std::iter::zip(port * VCS.., vcs);
        self.inputs.chunks(self.vcs).enumerate().flat_map(of_port)
    }

    #[cfg(test)]
    fn bytes_outside(&self) -> usize {
        size_of_val(&*self.ports) + size_of_val(&*self.outputs) + size_of_val(&*self.inputs)
    }
}
