//! What the oracle knows of the machine: the specification, the network and the delays, and what flows through it.

use super::routes::Routes;
use super::trip::Trip;
use flitwork::routing::{DatelineClasses, DimensionOrder, Selection, Tie};
use flitwork::spec::{BusSpec, NetworkSpec, NicSpec, Pipeline, RouterSpec, RoutingSpec, TopologySpec};
use flitwork::topology::{Fabric, Grid};
use serde::de::DeserializeOwned;
use std::rc::Rc;

/// The immutable part: sizes, delays, rules.
pub struct Machine {
    pub fabric: Fabric,
    /// The order of dimensions and the tie rule.
    pub routing: DimensionOrder,
    pub routing_spec: RoutingSpec,
    /// Tables of routes, of routings that go by them.
    pub routes: Option<Routes>,
    /// Routers of a group of a dragonfly.
    pub group: u32,
    pub seed: u64,
    pub router: RouterSpec,
    pub nic: NicSpec,
    pub bus: Option<BusSpec>,
    /// Cycles of a hop of the barrier tree, if there is one.
    pub tree_cycles: Option<u64>,
    /// Whether packets change their dateline class at the dateline.
    changes_at_datelines: bool,
    /// `C`, injection ports of a terminal.
    pub nic_ports: usize,
    /// `V`, virtual channels of a port.
    pub vcs: usize,
    /// `B`, buffer of a virtual channel.
    pub buffer: u64,
    /// `S`, places that the VCs of a port share besides.
    pub shared_buffer: u64,
    /// `I`.
    pub inject_cycles: u64,
    /// `D` of a network channel but for the latency.
    through_cycles: u64,
    /// Latency of channels that have none of their own.
    wire: u64,
    /// Delay of a credit beyond the wire.
    credit_delay: u64,
    /// `D` of an ejection channel.
    pub eject_cycles: u64,
    /// Flit left the buffer to credit usable: at an injection port.
    pub inject_credit_cycles: u64,
    /// Flit arrived at a terminal to credit usable at its router.
    pub eject_credit_cycles: u64,
}

/// An option of a routing, if it is one of its options.
fn option<T: DeserializeOwned>(routing: &RoutingSpec, name: &str) -> Option<T> {
    let table = serde_json::to_value(routing).expect("a table");
    table.get(name).map(|value| serde_json::from_value(value.clone()).expect("what was written can be read"))
}

impl Machine {
    /// Cycles from the turn of a flit to when it leaves the switch, where that takes a batch at a time; else that is
    /// part of `D`.
    pub fn batch_cycles(&self) -> u64 {
        let router = &self.router;
        if router.compat.pipelined_stages || router.st_delay_cycles <= 1 { 0 } else { router.st_delay_cycles.into() }
    }

    pub fn new(spec: &NetworkSpec, fabric: &Fabric, seed: u64) -> Self {
        let routing_spec = spec.routing.clone().unwrap_or_else(|| RoutingSpec::default_of(fabric));
        let group = if let TopologySpec::Dragonfly(topology) = &spec.topology { topology.routers_per_group } else { 1 };
        let order: Vec<usize> = option(&routing_spec, "order").unwrap_or_default();
        let dims = fabric.grid().map_or(0, |grid| grid.dims());
        let order = if order.is_empty() { (0..dims).collect() } else { order };
        let tie = option(&routing_spec, "tie").unwrap_or(Tie::Parity);
        let (wire, local) = (u64::from(spec.channel.latency_cycles), u64::from(spec.channel.local_latency_cycles));
        let credit = u64::from(spec.channel.credit_delay_cycles);
        let changes_at_datelines = matches!(&routing_spec, RoutingSpec::DimensionOrder(options)
            if options.classes == DatelineClasses::AtDateline);
        let router = spec.router.clone();
        // A switch that takes a batch at a time keeps the flits itself.
        let batches = router.st_delay_cycles > 1 && !router.compat.pipelined_stages;
        let st = if batches { 0 } else { router.st_delay_cycles };
        let through = u64::from(router.sw_alloc_delay_cycles) + u64::from(st);
        Machine {
            fabric: fabric.clone(),
            routing: DimensionOrder { order, tie },
            routes: Routes::of(&routing_spec, fabric),
            routing_spec,
            changes_at_datelines,
            group,
            seed,
            nic: spec.nic.clone(),
            bus: spec.bus.clone(),
            tree_cycles: spec.barrier_tree.as_ref().map(|tree| u64::from(tree.hop_cycles)),
            nic_ports: spec.nic.ports as usize,
            vcs: router.vcs as usize,
            buffer: u64::from(router.buffer_flits),
            shared_buffer: u64::from(router.shared_buffer_flits),
            inject_cycles: local + 1,
            through_cycles: through,
            wire,
            credit_delay: credit,
            eject_cycles: through + local,
            inject_credit_cycles: local + 1,
            eject_credit_cycles: local + 1 + credit,
            router,
        }
    }

    fn latency(&self, (router, port): (u32, usize)) -> u64 {
        self.fabric.latency_cycles(router, port).map_or(self.wire, u64::from)
    }

    /// `D` of the channel behind an output port.
    pub fn hop_cycles(&self, router: usize, port: usize) -> u64 {
        self.through_cycles + self.latency((router as u32, port))
    }

    /// Flit left the buffer of an input port to credit usable at the router upstream.
    pub fn credit_cycles(&self, router: usize, port: usize) -> u64 {
        let feeder = self.fabric.feeder(router as u32, port).expect("the channel exists");
        self.latency(feeder) + 1 + self.credit_delay
    }

    /// `c`, cycles between grants of an output port.
    pub fn cycles_per_flit(&self, router: u32, port: usize) -> u64 {
        if port < self.fabric.network_ports_of(router) {
            u64::from(self.fabric.cycles_per_flit(router, port))
        } else {
            1
        }
    }

    /// `R`.
    pub fn routing_cycles(&self) -> u64 {
        u64::from(self.router.routing_delay_cycles)
    }

    /// Whether `R` and `A` count from the arrival of a head.
    pub fn pipelined(&self) -> bool {
        self.router.pipeline == Pipeline::Pipelined
    }

    /// Whether the routing decides hop by hop.
    pub fn hop_by_hop(&self) -> bool {
        match &self.routing_spec {
            RoutingSpec::DimensionOrder(options) => options.classes == DatelineClasses::Crossed,
            RoutingSpec::ShortestPath(_) | RoutingSpec::HopClasses(_) => self.routers() > 1,
            RoutingSpec::Lash(_) | RoutingSpec::UpDown(_) | RoutingSpec::Table(_) => self.routers() > 1,
            RoutingSpec::GraphValiant(_) | RoutingSpec::GraphUgal(_) => self.routers() > 1,
            RoutingSpec::Ecmp(_) | RoutingSpec::Spray(_) | RoutingSpec::Relation(_) => self.routers() > 1,
            _ => true,
        }
    }

    /// UGAL: what the longer route must be better by \[flits]; `None` where queues are not compared.
    pub fn bias(&self) -> Option<u64> {
        let compares = matches!(self.routing_spec, RoutingSpec::DragonflyUgal(_) | RoutingSpec::GraphUgal(_));
        option(&self.routing_spec, "bias_flits").filter(|_| compares)
    }

    /// Which of several ports a packet asks for. Routings without that option never have several.
    pub fn selection(&self) -> Selection {
        option(&self.routing_spec, "selection").unwrap_or(Selection::MostCredits)
    }

    /// Cycles that a packet waits before it takes a port that leads away.
    pub fn patience(&self) -> u64 {
        option(&self.routing_spec, "patience_cycles").unwrap_or(0)
    }

    /// The grid, for rules of grids.
    pub fn grid(&self) -> &Grid {
        self.fabric.grid().expect("a rule of grids")
    }

    pub fn routers(&self) -> usize {
        self.fabric.routers() as usize
    }

    pub fn terminals(&self) -> usize {
        self.fabric.terminals() as usize
    }

    /// All ports of the router that has the most.
    pub fn ports(&self) -> usize {
        let terminals = |router: u32| self.fabric.terminals_at(router).len();
        let ports = |router: u32| self.fabric.network_ports_of(router) + terminals(router) * self.nic_ports;
        (0..self.fabric.routers()).map(ports).max().expect("a router")
    }

    /// The number of `terminal` among those of its router.
    fn place(&self, terminal: u32) -> usize {
        (terminal - self.fabric.terminals_at(self.router_of(terminal)).start) as usize
    }

    /// The port of injection port `k` of `terminal` at its router.
    pub fn local_port(&self, terminal: u32, k: usize) -> usize {
        self.fabric.network_ports_of(self.router_of(terminal)) + self.place(terminal) * self.nic_ports + k
    }

    /// The router of `terminal`.
    pub fn router_of(&self, terminal: u32) -> u32 {
        self.fabric.router_of(terminal)
    }

    /// The terminal and the injection port behind local port `port` of `router`.
    pub fn behind(&self, router: usize, port: usize) -> (u32, usize) {
        let local = port - self.fabric.network_ports_of(router as u32);
        (self.fabric.terminals_at(router as u32).start + (local / self.nic_ports) as u32, local % self.nic_ports)
    }

    /// What errors call an input VC: (router, port, VC).
    pub fn name_of_vc(&self, (router, port, vc): (usize, usize, usize)) -> String {
        let (router, fabric) = (router as u32, &self.fabric);
        let local = port.checked_sub(fabric.network_ports_of(router));
        let side = local.map_or_else(|| fabric.input_name(router, port), |local| format!("injection port {local}"));
        format!("{} {side} VC {vc}", fabric.router_name(router))
    }

    /// The first dimension, in the order of walking, in which `from` and `to` (routers) differ.
    pub fn next_dimension(&self, from: u32, to: u32) -> Option<usize> {
        let grid = self.fabric.grid()?;
        let (from, to) = (grid.coords(from), grid.coords(to));
        self.routing.order.iter().copied().find(|&d| from[d] != to[d])
    }

    /// The dateline class of a packet on the channel by which it leaves `router` in dimension `d`.
    pub fn class(&self, packet: &Packet, d: usize, router: u32) -> usize {
        if self.changes_at_datelines {
            // From its first router in this dimension on, coordinates rise towards plus and fall towards minus but at
            // the wrap channel.
            let (start, size) = (self.grid().coords(self.router_of(packet.src))[d], self.grid().size(d));
            let (here, minus) = (self.grid().coords(router)[d], packet.minus >> d & 1 == 1);
            let next = if minus { (here + size - 1) % size } else { (here + 1) % size };
            return usize::from(if minus { next > start } else { next < start });
        }
        let opposite = self.router.compat.opposite_minus_class && self.grid().wraps(d) && packet.minus >> d & 1 == 1;
        usize::from(packet.crosses(d) != opposite)
    }

    /// Channels between routers on the route of a packet that walks the dimensions of `minus` in the minus direction.
    pub fn hops(&self, src: u32, dst: u32, minus: u8) -> u32 {
        let Some(grid) = self.fabric.grid() else { return 0 };
        let (s, t) = (grid.coords(self.router_of(src)), grid.coords(self.router_of(dst)));
        (0..grid.dims())
            .map(|d| grid.distance(d, s[d], t[d], minus >> d & 1 == 0).expect("the direction can be walked"))
            .sum()
    }
}

/// A packet under way.
#[derive(Debug)]
pub struct Packet {
    pub src: u32,
    pub dst: u32,
    /// Number at its source.
    pub sequence: u32,
    pub flits: u32,
    pub message: u32,
    pub injection_port: usize,
    pub minus: u8,
    pub wraps: u8,
    pub created: u64,
    /// The send operation it belongs to, with a schedule.
    pub send: Option<super::program::Send>,
    pub background: bool,
}

impl Packet {
    /// Whether it crosses the dateline of dimension `d`.
    fn crosses(&self, d: usize) -> bool {
        self.wraps >> d & 1 == 1
    }
}

/// One flit.
#[derive(Debug, Clone)]
pub struct Flit {
    pub packet: Rc<Packet>,
    pub head: bool,
    pub tail: bool,
    /// Of a head under a routing that decides hop by hop.
    pub trip: Option<Trip>,
}

/// A flit or a credit on a channel.
pub struct InFlight {
    /// The cycle it arrives in.
    pub due: u64,
    pub what: Event,
}

/// What arrives.
pub enum Event {
    /// A flit at an input VC.
    FlitAtRouter { router: usize, port: usize, vc: usize, flit: Flit },
    /// A flit at the terminal behind an ejection port of `router`.
    FlitAtTerminal { router: usize, port: usize, vc: usize, flit: Flit },
    /// A credit at an output VC.
    CreditAtRouter { router: usize, port: usize, vc: usize },
    /// A credit at an injection port.
    CreditAtInjectionPort { terminal: u32, injection_port: usize, vc: usize },
}
