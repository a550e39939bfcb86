//! What everybody else sees of a topology: routers, the channels between their ports, and the terminals at them.
//!
//! A router has network ports `0, 1, ...`. A channel leads from an output port of one router to an input port of
//! another; there is at most one behind an output port and at most one before an input port. What the figure is that
//! the channels make is the [`Shape`]; only those ask for it that can use it. A router of a graph has as many network
//! ports as its channels need, so routers with terminals need not have room for the ports of those without.
//!
//! The channels of a grid follow from coordinates and are computed, because a table of them would be as large as the
//! largest networks; all other channels are in a table. Terminals are numbered by router, ascending.

use super::{DIMENSION_NAMES, Drawing, Graph, Grid, Shape, Tree};
use crate::error::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// Most network ports of a router.
pub(super) const MOST_PORTS: usize = 64;

/// Most terminals at a router of a grid: the rest of the 64 ports are those of the most dimensions.
const MOST_TERMINALS: u32 = 52;

/// Longest latency of a channel, and longest time that it takes for a flit \[cycles].
pub(super) const MOST_CHANNEL_CYCLES: u32 = 10_000;

/// The far end of no channel.
const NOWHERE: u32 = u32::MAX;

/// A terminal and its router.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// The router.
    pub router: u32,
    /// The terminal.
    pub terminal: u32,
}

/// Routers, channels and terminals.
#[derive(Debug, Clone, PartialEq)]
pub struct Fabric {
    shape: Shape,
    routers: u32,
    network_ports: usize,
    /// Where the channels lead, unless the shape tells.
    table: Option<Arc<Table>>,
    attached: Attached,
    classes: Vec<String>,
    /// Names of the routers, if they have any.
    names: Arc<[String]>,
}

/// The channels of a graph, by `router * ports + port`.
#[derive(Debug, PartialEq)]
struct Table {
    /// Network ports of each router: one more than the highest that has a channel.
    network_ports: Vec<u8>,
    /// Router and input port at the far end of each output port.
    peers: Vec<(u32, u8)>,
    /// Router and output port at the far end of each input port.
    feeders: Vec<(u32, u8)>,
    classes: Vec<u8>,
    latency_cycles: Vec<Option<u32>>,
    cycles_per_flit: Vec<u32>,
    drawing: Option<Drawing>,
}

/// Which terminals are at which router.
#[derive(Debug, Clone, PartialEq)]
enum Attached {
    /// So many at each router.
    Even(u32),
    /// First terminal of each router, and one entry more; the router of each terminal.
    Uneven { first: Arc<[u32]>, router_of: Arc<[u32]> },
}

impl Fabric {
    /// A grid with the same number of terminals at each router.
    ///
    /// # Errors
    /// No terminals, or more than can be numbered.
    pub fn of_grid(grid: Grid, terminals_per_router: u32) -> Result<Fabric> {
        let numbered = grid.routers().checked_mul(terminals_per_router).is_some();
        if !(1..=MOST_TERMINALS).contains(&terminals_per_router) || !numbered {
            let path = "network.topology.terminals_per_router";
            return Err(Error::config(path, terminals_per_router, format!("1 to {MOST_TERMINALS} terminals"), ""));
        }
        let ports = grid.network_ports();
        let class = |port: usize| {
            let sign = if port.is_multiple_of(2) { '+' } else { '-' };
            format!("{sign}{}", DIMENSION_NAMES[port / 2])
        };
        Ok(Fabric {
            routers: grid.routers(),
            network_ports: ports,
            classes: (0..ports).map(class).collect(),
            attached: Attached::Even(terminals_per_router),
            table: None,
            names: [].into(),
            shape: Shape::Grid(grid),
        })
    }

    /// A network written down channel by channel.
    ///
    /// # Errors
    /// [`Error::Config`] for `network.topology` where the list makes no network.
    pub fn of_graph(graph: &Graph) -> Result<Fabric> {
        let routers = graph.terminals.len() as u32;
        let fault = |value: String, expected: &str| Err(Error::config("network.topology", value, expected, ""));
        if graph.terminals.iter().all(|&n| n == 0) {
            return fault(format!("{routers} routers"), "a network with terminals");
        }
        let ends = graph.channels.iter().flat_map(|channel| [channel.from, channel.to]);
        let ports = ends.map(|(_, port)| port + 1).max().unwrap_or(0);
        if ports > MOST_PORTS {
            return fault(format!("{ports} network ports"), "at most 64 network ports a router");
        }
        if let Some(drawing) = &graph.drawing {
            let terminals: u32 = graph.terminals.iter().sum();
            let all = drawing.terminals.is_empty() || drawing.terminals.len() == terminals as usize;
            if drawing.routers.len() != routers as usize || !all {
                return fault("a drawing".into(), "a place for each router, and for each terminal if any has one");
            }
        }
        let places = routers as usize * ports;
        let mut table = Table {
            network_ports: vec![0; routers as usize],
            peers: vec![(NOWHERE, 0); places],
            feeders: vec![(NOWHERE, 0); places],
            classes: vec![0; places],
            latency_cycles: vec![None; places],
            cycles_per_flit: vec![1; places],
            drawing: graph.drawing.clone(),
        };
        for channel in &graph.channels {
            let latency = channel.latency_cycles.unwrap_or(0);
            if latency > MOST_CHANNEL_CYCLES || !(1..=MOST_CHANNEL_CYCLES).contains(&channel.cycles_per_flit) {
                return fault(format!("{channel:?}"), "a latency of 0 to 10000 cycles, and 1 to 10000 cycles a flit");
            }
            let inside = [channel.from, channel.to].iter().all(|&(router, _)| router < routers);
            if !inside || channel.class >= graph.classes.len() {
                return fault(format!("{channel:?}"), "routers and a class that exist");
            }
            let at = |(router, port): (u32, usize)| router as usize * ports + port;
            let (from, to) = (at(channel.from), at(channel.to));
            if table.peers[from].0 != NOWHERE || table.feeders[to].0 != NOWHERE {
                return fault(format!("{channel:?}"), "one channel at each output port and each input port");
            }
            for (router, port) in [channel.from, channel.to] {
                let ports = &mut table.network_ports[router as usize];
                *ports = (*ports).max(port as u8 + 1);
            }
            table.peers[from] = (channel.to.0, channel.to.1 as u8);
            table.feeders[to] = (channel.from.0, channel.from.1 as u8);
            table.classes[from] = channel.class as u8;
            table.latency_cycles[from] = channel.latency_cycles;
            table.cycles_per_flit[from] = channel.cycles_per_flit;
        }
        Ok(Fabric {
            shape: Shape::Graph,
            routers,
            network_ports: ports,
            table: Some(Arc::new(table)),
            attached: Attached::of(&graph.terminals),
            classes: graph.classes.clone(),
            names: [].into(),
        })
    }

    /// This network with a name for each router, or with none.
    pub(super) fn with_names(self, names: &[String]) -> Fabric {
        Fabric { names: names.into(), ..self }
    }

    /// A fat tree.
    ///
    /// # Errors
    /// As of any graph; none where the tree was checked.
    pub fn of_tree(tree: Tree) -> Result<Fabric> {
        tree.fabric()
    }

    /// A fat tree, given its channels.
    pub(super) fn of_tree_of(tree: Tree, graph: &Graph) -> Result<Fabric> {
        Ok(Fabric { shape: Shape::Tree(tree), ..Fabric::of_graph(graph)? })
    }

    /// Groups of so many routers each, given their channels.
    ///
    /// # Errors
    /// As of any graph.
    pub(super) fn of_groups(size: u32, graph: &Graph) -> Result<Fabric> {
        Ok(Fabric { shape: Shape::Groups(size), ..Fabric::of_graph(graph)? })
    }

    /// Number of routers.
    pub fn routers(&self) -> u32 {
        self.routers
    }

    /// The most network ports of any router; not each of them need have a channel.
    pub fn network_ports(&self) -> usize {
        self.network_ports
    }

    /// Network ports of a router: its ports behind them are those of its terminals. Not each of them need have a
    /// channel.
    pub fn network_ports_of(&self, router: u32) -> usize {
        self.table.as_ref().map_or(self.network_ports, |table| usize::from(table.network_ports[router as usize]))
    }

    /// The most ports of any router, if a NIC has so many.
    pub fn most_ports(&self, nic_ports: usize) -> usize {
        let ports = |router: u32| self.network_ports_of(router) + self.terminals_at(router).len() * nic_ports;
        match (&self.table, &self.attached) {
            (None, Attached::Even(each)) => self.network_ports + *each as usize * nic_ports,
            _ => (0..self.routers).map(ports).max().unwrap_or(0),
        }
    }

    /// Router and input port at the other end of the channel behind an output port; `None` where there is no channel.
    pub fn peer(&self, router: u32, port: usize) -> Option<(u32, usize)> {
        match &self.table {
            Some(table) => far_end(table.peers[router as usize * self.network_ports + port]),
            None => self.grid()?.neighbour(router, port).map(|far| (far, port ^ 1)),
        }
    }

    /// Router and output port at the other end of the channel before an input port; `None` where there is no channel.
    pub fn feeder(&self, router: u32, port: usize) -> Option<(u32, usize)> {
        match &self.table {
            Some(table) => far_end(table.feeders[router as usize * self.network_ports + port]),
            None => self.grid()?.neighbour(router, port).map(|far| (far, port ^ 1)),
        }
    }

    /// The channels that exist: router and output port, ascending.
    pub fn channels(&self) -> impl Iterator<Item = (u32, usize)> + '_ {
        let ports = (0..self.routers).flat_map(|router| (0..self.network_ports).map(move |port| (router, port)));
        ports.filter(|&(router, port)| self.peer(router, port).is_some())
    }

    /// Two routers with terminals without a path from the first to the second; `None` if there are no such routers.
    pub(crate) fn without_path(&self) -> Option<(u32, u32)> {
        let ends = || (0..self.routers).filter(|&router| !self.terminals_at(router).is_empty());
        // Where all reach the first and the first reaches all, each reaches each.
        let first = ends().next()?;
        let reaching = self.reached(first, Fabric::feeder);
        if let Some(from) = ends().find(|&router| !reaching[router as usize]) {
            return Some((from, first));
        }
        let reached = self.reached(first, Fabric::peer);
        ends().find(|&router| !reached[router as usize]).map(|to| (first, to))
    }

    /// The routers that a walk from one of them comes to, by the channels at each port.
    pub(super) fn reached(&self, first: u32, next: impl Fn(&Fabric, u32, usize) -> Option<(u32, usize)>) -> Vec<bool> {
        let mut reached = vec![false; self.routers as usize];
        reached[first as usize] = true;
        let mut open = vec![first];
        while let Some(at) = open.pop() {
            for (far, _) in (0..self.network_ports).filter_map(|port| next(self, at, port)) {
                if !std::mem::replace(&mut reached[far as usize], true) {
                    open.push(far);
                }
            }
        }
        reached
    }

    /// Number of terminals.
    pub fn terminals(&self) -> u32 {
        match &self.attached {
            Attached::Even(each) => self.routers * each,
            Attached::Uneven { router_of, .. } => router_of.len() as u32,
        }
    }

    /// The router of a terminal.
    #[inline]
    pub fn router_of(&self, terminal: u32) -> u32 {
        match &self.attached {
            Attached::Even(each) => terminal / each,
            Attached::Uneven { router_of, .. } => router_of[terminal as usize],
        }
    }

    /// A terminal with its router.
    pub fn end(&self, terminal: u32) -> End {
        End { router: self.router_of(terminal), terminal }
    }

    /// The terminals at a router.
    #[inline]
    pub fn terminals_at(&self, router: u32) -> Range<u32> {
        match &self.attached {
            Attached::Even(each) => router * each..(router + 1) * each,
            Attached::Uneven { first, .. } => first[router as usize]..first[router as usize + 1],
        }
    }

    /// The most terminals of any router.
    pub fn most_terminals(&self) -> u32 {
        match &self.attached {
            Attached::Even(each) => *each,
            Attached::Uneven { first, .. } => first.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0),
        }
    }

    /// Whether rank, terminal and router are the same number: one terminal at each router.
    pub fn has_one_terminal_each(&self) -> bool {
        self.terminals() == self.routers && self.most_terminals() == 1
    }

    /// Time on a channel \[cycles], where it has one of its own; else it is that of `network.channel.latency_cycles`.
    pub fn latency_cycles(&self, router: u32, port: usize) -> Option<u32> {
        self.table.as_ref()?.latency_cycles[router as usize * self.network_ports + port]
    }

    /// Time that a channel takes for a flit \[cycles], at least 1; its width is 1 over that [flits/cycle].
    pub fn cycles_per_flit(&self, router: u32, port: usize) -> u32 {
        match &self.table {
            Some(table) => table.cycles_per_flit[router as usize * self.network_ports + port],
            None => 1,
        }
    }

    /// Whether some channel has a latency of its own or takes more than a cycle for a flit.
    pub fn channels_differ(&self) -> bool {
        let has_latencies = |table: &Table| table.latency_cycles.iter().any(Option::is_some);
        self.table.as_ref().is_some_and(|table| has_latencies(table)) || self.slow_channel().is_some()
    }

    /// The first channel that takes more than a cycle for a flit: router and output port.
    pub fn slow_channel(&self) -> Option<(u32, usize)> {
        let place = self.table.as_ref()?.cycles_per_flit.iter().position(|&cycles| cycles > 1)?;
        Some(((place / self.network_ports) as u32, place % self.network_ports))
    }

    /// The longest latency of a channel, where `common` is that of those that have none of their own \[cycles].
    pub fn longest_latency(&self, common: u32) -> u32 {
        let latencies = self.table.iter().flat_map(|table| table.latency_cycles.iter().flatten());
        latencies.copied().max().map_or(common, |longest| longest.max(common))
    }

    /// What shape it is.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The grid, if it is one.
    pub fn grid(&self) -> Option<&Grid> {
        match &self.shape {
            Shape::Grid(grid) => Some(grid),
            Shape::Tree(_) | Shape::Groups(_) | Shape::Graph => None,
        }
    }

    /// The tree, if it is one.
    pub fn tree(&self) -> Option<&Tree> {
        match &self.shape {
            Shape::Tree(tree) => Some(tree),
            Shape::Grid(_) | Shape::Groups(_) | Shape::Graph => None,
        }
    }

    /// Routers of a group, for what is defined on dragonflies alone.
    ///
    /// # Errors
    /// [`Error::Config`] for the field at `path` with this value, if there are no groups.
    pub fn needs_groups(&self, path: &str, value: &str) -> Result<u32> {
        match self.shape {
            Shape::Groups(size) => Ok(size),
            Shape::Grid(_) | Shape::Tree(_) | Shape::Graph => {
                let hint = "use the topology dragonfly, or another choice here";
                Err(Error::config(path, value, "a network that is a dragonfly: it goes by groups", hint))
            }
        }
    }

    /// The tree, for what is defined on fat trees alone.
    ///
    /// # Errors
    /// [`Error::Config`] for the field at `path` with this value, if it is none.
    pub fn needs_tree(&self, path: &str, value: &str) -> Result<&Tree> {
        let hint = "use the topology k_ary_n_tree or xgft, or another choice here";
        self.tree().ok_or_else(|| Error::config(path, value, "a network that is a fat tree: it goes by levels", hint))
    }

    /// The grid, for what is defined on grids alone.
    ///
    /// # Errors
    /// [`Error::Config`] for the field at `path` with this value, if it is none.
    pub fn needs_grid(&self, path: &str, value: &str) -> Result<&Grid> {
        let hint = "use a torus, a mesh or a grid, or another choice here";
        self.grid().ok_or_else(|| Error::config(path, value, "a network that is a grid: it goes by coordinates", hint))
    }

    /// The grid that so many ranks are on, one at each router in their order, if they are.
    pub fn grid_of_ranks(&self, ranks: u32) -> Option<&Grid> {
        self.grid().filter(|grid| self.has_one_terminal_each() && grid.routers() == ranks)
    }

    /// Names of the classes of channels; on a grid the dimensions and directions, `+x`, `-x`, `+y`, ...
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The class of a channel, an index of [`Fabric::classes`].
    #[inline]
    pub fn class_of(&self, router: u32, port: usize) -> usize {
        match &self.table {
            Some(table) => usize::from(table.classes[router as usize * self.network_ports + port]),
            None => port,
        }
    }

    /// What a router is called in messages: its coordinates on a grid, its number and level in a tree, else its number.
    pub fn router_name(&self, router: u32) -> String {
        match &self.shape {
            Shape::Grid(grid) => format!("router {:?}", &grid.coords(router)[..grid.dims()]),
            Shape::Tree(tree) => format!("router {router} (level {})", tree.place(router).level),
            Shape::Groups(size) => format!("router {router} (group {})", router / size),
            Shape::Graph => match self.names.get(router as usize) {
                Some(name) => format!("router {router} \"{name}\""),
                None => format!("router {router}"),
            },
        }
    }

    /// Names of the routers as the user wrote them; empty where they have none.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What a channel is called in messages, by its output port.
    pub fn channel_name(&self, router: u32, port: usize) -> String {
        let here = self.router_name(router);
        match (self.grid(), self.peer(router, port)) {
            (None, Some((far, _))) => match self.names.get(far as usize) {
                Some(name) => format!("{here} port {port} to router {far} \"{name}\""),
                None => format!("{here} port {port} to router {far}"),
            },
            _ => format!("{here} {}", self.classes[self.class_of(router, port)]),
        }
    }

    /// What an input port is called in messages, after its router.
    pub fn input_name(&self, router: u32, port: usize) -> String {
        match (self.grid(), self.feeder(router, port)) {
            (None, Some((far, _))) => format!("input from router {far}"),
            _ => format!("{} input", self.classes.get(port).map_or("", String::as_str)),
        }
    }

    /// How the network is drawn on a page; `None` where the specification does not say.
    pub fn drawing(&self) -> Option<Drawing> {
        match &self.shape {
            Shape::Grid(grid) => Drawing::of_grid(grid),
            Shape::Tree(tree) => tree.drawing(),
            Shape::Groups(_) | Shape::Graph => self.table.as_ref().and_then(|table| table.drawing.clone()),
        }
    }

    /// Everything that a simulation depends on, as text: shape, terminals of each router, channels and the names of
    /// their classes.
    pub(crate) fn fingerprint(&self) -> String {
        let terminals: Vec<usize> = (0..self.routers).map(|router| self.terminals_at(router).len()).collect();
        let channel = |(router, port)| {
            let times = (self.latency_cycles(router, port), self.cycles_per_flit(router, port));
            (router, port, self.peer(router, port), self.class_of(router, port), times)
        };
        let channels: Vec<_> = self.channels().map(channel).collect();
        format!("{:?} {terminals:?} {channels:?} {:?}", self.shape, self.classes)
    }

    /// The error for a network that is too large for something.
    pub fn too_large(&self, expected: impl std::fmt::Display, hint: &str) -> Error {
        match self.grid() {
            Some(grid) => {
                Error::config("network.topology.size", format!("{:?}", grid.sizes()), expected.to_string(), hint)
            }
            None => {
                let value = format!("{} routers, {} terminals", self.routers, self.terminals());
                Error::config("network.topology", value, expected.to_string(), hint)
            }
        }
    }
}

fn far_end((router, port): (u32, u8)) -> Option<(u32, usize)> {
    (router != NOWHERE).then_some((router, usize::from(port)))
}

impl Attached {
    fn of(terminals: &[u32]) -> Self {
        if terminals.iter().all(|&n| n == terminals[0]) {
            return Attached::Even(terminals[0]);
        }
        let mut first = vec![0];
        let mut router_of = Vec::new();
        for (router, &n) in terminals.iter().enumerate() {
            router_of.extend((0..n).map(|_| router as u32));
            first.push(router_of.len() as u32);
        }
        Attached::Uneven { first: first.into(), router_of: router_of.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Channel;
    use super::*;

    /// A ring of three routers, one direction only, with 2, 0 and 1 terminals.
    fn ring() -> Fabric {
        let channels = (0..3).map(|r| Channel::new((r, 1), ((r + 1) % 3, 0), 0)).collect();
        Fabric::of_graph(&Graph {
            terminals: vec![2, 0, 1],
            channels,
            classes: vec!["round".into()],
            ..Graph::default()
        })
        .unwrap()
    }

    #[test]
    fn peers_and_feeders_are_inverse() {
        let grids = [Grid::torus(&[4, 3]), Grid::mesh(&[2, 3]), Grid::new(&[2, 3], &[true, false], true)];
        for fabric in grids.map(|grid| Fabric::of_grid(grid, 1).unwrap()).into_iter().chain([ring()]) {
            for (router, port) in fabric.channels() {
                let (far, input) = fabric.peer(router, port).unwrap();
                assert_eq!(fabric.feeder(far, input), Some((router, port)));
            }
        }
    }

    #[test]
    fn terminals_are_numbered_by_router() {
        let ring = ring();
        assert_eq!((ring.terminals(), ring.most_terminals()), (3, 2));
        assert_eq!((0..3).map(|t| ring.router_of(t)).collect::<Vec<_>>(), [0, 0, 2]);
        assert_eq!((0..3).map(|r| ring.terminals_at(r)).collect::<Vec<_>>(), [0..2, 2..2, 2..3]);
        let grid = Fabric::of_grid(Grid::torus(&[3]), 2).unwrap();
        assert_eq!((grid.router_of(5), grid.terminals_at(2)), (2, 4..6));
    }

    #[test]
    fn channels_have_names() {
        let grid = Fabric::of_grid(Grid::torus(&[3, 3]), 1).unwrap();
        assert_eq!(grid.channel_name(4, 3), "router [1, 1] -y");
        assert_eq!(grid.input_name(4, 0), "+x input");
        let ring = ring();
        assert_eq!(ring.channel_name(2, 1), "router 2 port 1 to router 0");
        assert_eq!(ring.input_name(0, 0), "input from router 2");
        assert_eq!((0..3).map(|r| ring.network_ports_of(r)).collect::<Vec<_>>(), [2, 2, 2]);
        assert_eq!((ring.most_ports(1), ring.most_ports(3)), (4, 8));
    }

    #[test]
    fn a_list_that_makes_no_network_is_refused() {
        let refused = |graph: Graph| Fabric::of_graph(&graph).unwrap_err().to_string();
        let graph = |channels| Graph { terminals: vec![1, 1], channels, classes: vec!["a".into()], drawing: None };
        let twice = graph(vec![Channel::new((0, 0), (1, 0), 0), Channel::new((0, 0), (1, 1), 0)]);
        assert!(refused(twice).contains("one channel at each output port"));
        assert!(refused(graph(vec![Channel::new((0, 0), (2, 0), 0)])).contains("routers and a class that exist"));
        assert!(refused(graph(vec![Channel::new((0, 64), (1, 0), 0)])).contains("at most 64"));
        assert!(refused(Graph { terminals: vec![0], ..Graph::default() }).contains("with terminals"));
    }
}
