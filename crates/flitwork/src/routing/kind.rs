//! The routings that users can name. A routing is a file with its options, its checks and its scheme, and a row below.

use super::scheme::MOST_SETS;
use super::{
    AdaptiveUpOptions, AtSource, CrossLineOptions, DModKOptions, DimensionOrderOptions, DuatoMisroutingOptions,
    DuatoOptions, HopByHop, HopClassesOptions, MinAdaptOptions, O1TurnOptions, OnGrid, PortTable, RandomUpOptions,
    RommOptions, Routing, SModKOptions, Scheme, ShortestPathOptions, StructuredPoolOptions, Tie, ValiantOptions,
    port_table, representative,
};
use crate::component::Component;
use crate::error::{Error, Result};
use crate::topology::{Fabric, Grid, Shape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The network that a routing is made for.
#[derive(Debug, Clone, Copy)]
pub struct Network<'a> {
    /// The routers and channels.
    pub fabric: &'a Fabric,
}

/// What a routing of a grid is made for.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The routers and channels.
    pub grid: &'a Grid,
}

/// What users write of a routing: its options, on any network.
pub(super) trait AnyOptions {
    /// Whether it is for grids alone.
    fn goes_by_grid(&self) -> bool {
        false
    }

    /// The scheme of options that are resolved, if it goes by the coordinates of a grid.
    fn scheme_on(&self, _context: &Context) -> Option<Arc<dyn Scheme>> {
        None
    }

    /// Fills in what was left open, and checks every field.
    ///
    /// # Errors
    /// [`crate::Error::Config`] with the path of a field that makes no sense, or where the routing is not for this
    /// network.
    fn resolve(&mut self, network: &Network) -> Result<()>;

    /// The routing of options that are resolved.
    ///
    /// # Errors
    /// [`crate::Error::Config`] where only the making of its tables shows that it is not for this network.
    fn routing(&self, network: &Network) -> Result<Routing>;

    /// A smaller network with the same verdict, and the routing on it, if it decides hop by hop: for networks whose own
    /// dependencies are too many to be followed. Each level is smaller than the one before, from 0; `None`: there is
    /// none.
    fn representative(&self, _network: &Network, _level: usize) -> Option<(Fabric, Arc<dyn HopByHop>)> {
        None
    }
}

/// What users write of a routing that goes by the coordinates of a grid.
pub(super) trait Options {
    /// Fills in what was left open, and checks every field.
    ///
    /// # Errors
    /// [`crate::Error::Config`] with the path of a field that makes no sense.
    fn resolve(&mut self, context: &Context) -> Result<()>;

    /// The scheme of options that are resolved, or on a smaller network of as many dimensions.
    fn scheme(&self, context: &Context) -> Arc<dyn Scheme>;

    /// The routing, if everything is decided at the source; then nobody asks for a scheme.
    fn plain(&self, _context: &Context) -> Option<AtSource> {
        None
    }
}

impl<T: Options> AnyOptions for T {
    fn goes_by_grid(&self) -> bool {
        true
    }

    fn scheme_on(&self, context: &Context) -> Option<Arc<dyn Scheme>> {
        Some(self.scheme(context))
    }

    fn resolve(&mut self, network: &Network) -> Result<()> {
        match context(network) {
            Some(context) => Options::resolve(self, &context),
            None => Ok(()),
        }
    }

    fn routing(&self, network: &Network) -> Result<Routing> {
        // Planning has refused it where there is no grid.
        let Some(context) = context(network) else { return Ok(Routing::AtSource(AtSource::one_router())) };
        Ok(match self.plain(&context) {
            Some(plain) => Routing::AtSource(plain),
            None => Routing::on_grid(context.grid, self.scheme(&context)),
        })
    }

    fn representative(&self, network: &Network, level: usize) -> Option<(Fabric, Arc<dyn HopByHop>)> {
        let small = representative(network.fabric.grid()?, level)?;
        let scheme = self.scheme(&Context { grid: &small });
        let routing: Arc<dyn HopByHop> = Arc::new(OnGrid::new(&small, scheme));
        Some((Fabric::of_grid(small, 1).ok()?, routing))
    }
}

/// What a routing of a grid is made for, if the network is one.
fn context<'a>(network: &Network<'a>) -> Option<Context<'a>> {
    Some(Context { grid: network.fabric.grid()? })
}

/// Rows: the line for the reference page, variant, name, options, the line and the fields for lists, and the paper.
macro_rules! routings {
    ($($(#[doc = $about:literal])* $Kind:ident = $name:literal: $Options:ty, $summary:literal, $fields:literal, $paper:literal;)*) => {
        /// Which route packets take.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        #[non_exhaustive]
        pub enum RoutingSpec {
            $($(#[doc = $about])* #[serde(rename = $name)] $Kind($Options),)*
        }

        impl RoutingSpec {
            /// The names of all routings.
            pub const KINDS: &[&str] = &[$($name),*];

            /// The name of the routing in a specification.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(RoutingSpec::$Kind(_) => $name,)*
                }
            }

            fn options(&self) -> &dyn AnyOptions {
                match self {
                    $(RoutingSpec::$Kind(options) => options,)*
                }
            }

            fn options_mut(&mut self) -> &mut dyn AnyOptions {
                match self {
                    $(RoutingSpec::$Kind(options) => options,)*
                }
            }
        }

        /// All routings, for lists.
        pub(crate) const ROUTINGS: &[Component] =
            &[$(Component { name: $name, summary: $summary, parameters: $fields, paper: $paper }),*];
    };
}

routings! {
    /// Finish one dimension before the next, always along a shortest route.
    DimensionOrder = "dimension_order": DimensionOrderOptions,
        "one dimension after the other, shortest route; classes by whether the route crosses the ring's dateline, changed at the dateline, or by datelines crossed",
        "order, tie, classes", "Dally and Seitz, IEEE Trans. Computers C-36(5), 1987";
    /// Duato's protocol, minimal: adaptive virtual channels, and an escape network of dimension order.
    Duato = "duato": DuatoOptions, "minimal adaptive, with an escape network of dimension order",
        "order, tie, selection", "Duato, IEEE Trans. Parallel and Distributed Systems 4(12), 1993";
    /// Duato's protocol with detours: if no minimal and no escape channel can be had, an adaptive one away from the
    /// destination.
    DuatoMisrouting = "duato_misrouting": DuatoMisroutingOptions, "the same with a budget of detours",
        "order, tie, selection, misroutes, patience_cycles", "Duato, IEEE Trans. Parallel and Distributed Systems 4(12), 1993";
    /// Cross-Line: minimal adaptive, by the queues along the row and the column.
    CrossLine = "cross_line": CrossLineOptions, "minimal adaptive, by the queues along the row and the column",
        "tie, information, news_delay_cycles",
        "after Yokota, Ootsu and Baba; Linder and Harden, IEEE Trans. Computers 40(1), 1991";
    /// Valiant's routing: dimension order to a random router, and on from there.
    Valiant = "valiant": ValiantOptions, "dimension order to a random router, and on from there",
        "order, tie", "Valiant, SIAM J. Computing 11(2), 1982";
    /// ROMM: dimension order to a random router on a shortest route, and on from there.
    Romm = "romm": RommOptions, "dimension order to a random router on a shortest route, and on from there",
        "order, tie", "Nesson and Johnsson, SPAA 1995";
    /// Minimal adaptive, with an escape network of dimension order that is not left again.
    MinAdapt = "min_adapt": MinAdaptOptions, "minimal adaptive, with an escape network that is not left again",
        "order, tie, selection", "Dally and Towles 2004, section 14.2";
    /// O1TURN: dimension order, forwards or backwards, by a random bit for each packet.
    O1Turn = "o1turn": O1TurnOptions, "dimension order forwards or backwards, by a random bit for each packet",
        "order, tie", "Seo, Ali, Lim, Rafique and Thottethodi, ISCA 2005";
    /// Dimension order with a structured buffer pool: a set of virtual channels for each channel walked; in both
    /// directions, or in one.
    StructuredPool = "structured_pool": StructuredPoolOptions,
        "dimension order, a set of buffers for each channel walked; rings in both directions or towards plus alone",
        "order, tie, ways", "Merlin and Schweitzer, IEEE Trans. Communications 28(3), 1980";
    /// On any network: the lowest port on a shortest path, from a table. The default where the network is neither a
    /// grid nor a tree.
    ShortestPath = "shortest_path": ShortestPathOptions, "on any network: the lowest port on a shortest path", "", "";
    /// On any network: a shortest path, and the pairs of routers in layers of virtual channels that close no cycle,
    /// each with about the same load. The default where shortest_path can deadlock and hop_classes does not need fewer.
    Lash = "lash": super::LashOptions, "on any network: a shortest path, pairs of routers in layers of virtual channels", "",
        "Skeie, Lysne and Theiss, IPDPS 2002 workshops";
    /// On any network: up towards a root, then down, with one virtual channel.
    UpDown = "up_down": super::UpDownOptions, "on any network: up towards a root, then down; needs one virtual channel", "root",
        "Schroeder et al., IEEE J. Selected Areas in Communications 9(8), 1991";
    /// On any network: by a table of next routers.
    Table = "table": super::TableOptions, "on any network: the next router from a table, by router and destination", "next, ports, file", "";
    /// On any network: by a list of the channels that packets may take in each place.
    Relation = "relation": super::RelationOptions,
        "on any network: the channels that you list for each router, input and destination", "sets, rows, selection",
        "Dally and Towles 2004, section 8.3";
    /// On any network: the lowest port on a shortest path, with a set of virtual channels for each channel walked.
    HopClasses = "hop_classes": HopClassesOptions,
        "on any network: a shortest path, a set of virtual channels for each channel walked", "",
        "Merlin and Schweitzer, IEEE Trans. Communications 28(3), 1980";
    /// On any network: a shortest path to a random router, and one on from there.
    GraphValiant = "graph_valiant": super::GraphValiantOptions,
        "on any network: a shortest path to a random router, and one on from there", "",
        "Valiant, SIAM J. Computing 11(2), 1982";
    /// On any network: by a shortest path, or by a random router where the queue is shorter there.
    GraphUgal = "graph_ugal": super::GraphUgalOptions,
        "on any network: by a shortest path, or by a random router where the queue is shorter there (UGAL-L)",
        "bias_flits", "Singh, PhD thesis, Stanford 2005";
    /// On any network: a shortest path for each pair of terminals, by a hash.
    Ecmp = "ecmp": super::EcmpOptions, "on any network: one of the shortest paths for each pair of terminals, by a hash", "seed",
        "Hopps, RFC 2992, 2000";
    /// On any network: a random shortest path for each packet.
    Spray = "spray": super::SprayOptions, "on any network: one of the shortest paths for each packet, at random", "",
        "Dixit, Prakash, Hu and Kompella, IEEE INFOCOM 2013";
    /// On a dragonfly: by one global channel at most. The default of dragonflies.
    DragonflyMinimal = "dragonfly_minimal": super::DragonflyMinimalOptions,
        "on a dragonfly: by one global channel at most, and the fewest local ones", "",
        "Kim, Dally, Scott and Abts, ISCA 2008";
    /// On a dragonfly: minimally to a random other group, and minimally on from there.
    DragonflyValiant = "dragonfly_valiant": super::DragonflyValiantOptions,
        "on a dragonfly: minimally to a random other group, and minimally on from there", "",
        "Valiant, SIAM J. Computing 11(2), 1982; Kim, Dally, Scott and Abts, ISCA 2008";
    /// On a dragonfly: minimally, or by a random other group where the queue is shorter there.
    DragonflyUgal = "dragonfly_ugal": super::DragonflyUgalOptions,
        "on a dragonfly: minimally, or by a random other group where the queue is shorter there (UGAL-L, UGAL-G, PAR)",
        "bias_flits, progressive, global_queues",
        "Singh, PhD thesis, Stanford 2005; Kim, Dally, Scott and Abts, ISCA 2008; Jiang, Kim and Dally, ISCA 2009";
    /// On a fat tree: up by the destination's number, down on the one path that there is. The default of trees.
    DModK = "d_mod_k": DModKOptions, "on a fat tree: up by the number of the destination, then down", "",
        "Zahavi, Johnson, Kerbyson and Lang, Concurrency and Computation 22(2), 2010";
    /// On a fat tree: up by the source's number, down on the one path that there is.
    SModK = "s_mod_k": SModKOptions, "on a fat tree: up by the number of the source, then down", "",
        "Rodriguez, Minkenberg, Beivide, Luijten, Labarta and Valero, CLUSTER 2009";
    /// On a fat tree: up by random ports to a nearest common ancestor, then down.
    RandomUp = "random_up": RandomUpOptions, "on a fat tree: up by random ports to a nearest common ancestor, then down", "",
        "Rodriguez, Minkenberg, Beivide, Luijten, Labarta and Valero, CLUSTER 2009";
    /// On a fat tree: up by the least loaded ports to a nearest common ancestor, then down.
    AdaptiveUp = "adaptive_up": AdaptiveUpOptions, "on a fat tree: up by the least loaded ports to a nearest common ancestor, then down",
        "candidates", "Petrini and Vanneschi, IPPS 1997";
}

impl Default for RoutingSpec {
    fn default() -> Self {
        RoutingSpec::DimensionOrder(DimensionOrderOptions::default())
    }
}

impl RoutingSpec {
    /// The routing of a network whose user has not named one.
    pub fn default_of(fabric: &Fabric) -> Self {
        match fabric.shape() {
            Shape::Grid(_) => RoutingSpec::default(),
            Shape::Tree(_) => RoutingSpec::DModK(DModKOptions::default()),
            Shape::Groups(_) => RoutingSpec::DragonflyMinimal(super::DragonflyMinimalOptions::default()),
            Shape::Graph => default_of_graph(fabric),
        }
    }

    /// Fills in what was left open, and checks every field.
    ///
    /// # Errors
    /// [`crate::Error::Config`] with the path of a field that makes no sense, or where the routing is not for this
    /// network.
    pub fn resolve(&mut self, network: &Network) -> Result<()> {
        if self.options().goes_by_grid() {
            network.fabric.needs_grid("network.routing.kind", self.kind())?;
        }
        self.options_mut().resolve(network)
    }

    /// The routing of a specification that is resolved.
    ///
    /// # Errors
    /// [`crate::Error::Config`] where only the making of its tables shows that it is not for this network.
    pub fn routing(&self, network: &Network) -> Result<Routing> {
        self.options().routing(network)
    }

    /// The scheme of a routing of grids that is resolved, which decides hop by hop; `None` of any other routing. Plain
    /// dimension order needs none; for it, this is the one with classes by datelines crossed.
    pub fn scheme(&self, context: &Context) -> Option<Arc<dyn Scheme>> {
        self.options().scheme_on(context)
    }

    /// A smaller network with the same verdict, and the routing on it, if it decides hop by hop: for networks whose own
    /// dependencies are too many to be followed. Each level is smaller than the one before, from 0; `None`: there is
    /// none.
    pub fn representative(&self, network: &Network, level: usize) -> Option<(Fabric, Arc<dyn HopByHop>)> {
        self.options().representative(network, level)
    }
}

/// Shortest paths; where these can deadlock, in layers or with a set of virtual channels for each channel walked,
/// whichever needs fewer sets.
fn default_of_graph(fabric: &Fabric) -> RoutingSpec {
    let shortest = RoutingSpec::ShortestPath(ShortestPathOptions::default());
    // A network without such paths is refused later.
    if fabric.routers() == 1 || port_table::check(fabric).is_err() {
        return shortest;
    }
    let table = PortTable::shortest(fabric);
    if !matches!(super::find_cycle(fabric, &table, super::Buffers::Shared, false), super::Finding::Cycle(_)) {
        return shortest;
    }
    match super::Lash::fits(fabric, port_table::longest_path(fabric).min(MOST_SETS)) {
        true => RoutingSpec::Lash(super::LashOptions::default()),
        false => RoutingSpec::HopClasses(HopClassesOptions::default()),
    }
}

/// Fills in and checks the order of dimensions.
pub(super) fn resolve_order(order: &mut Vec<usize>, grid: &Grid) -> Result<()> {
    if order.is_empty() {
        *order = (0..grid.dims()).collect();
    }
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if sorted != (0..grid.dims()).collect::<Vec<_>>() {
        let expected = format!("each of 0 to {} once", grid.dims() - 1);
        return Err(Error::config("network.routing.order", format!("{order:?}"), expected, ""));
    }
    Ok(())
}

/// Refuses the rules for ties that cut packets in two, or go by the message.
pub(super) fn check_tie(tie: Tie) -> Result<()> {
    let hint = match tie {
        Tie::Split => {
            "use dimension_order with classes = \"entered\" or \"at_dateline\": only these cut packets in two"
        }
        Tie::ByMessage => {
            "use dimension_order with classes = \"entered\" or \"at_dateline\": only with these messages name it"
        }
        Tie::Plus | Tie::Parity | Tie::Random => return Ok(()),
    };
    Err(Error::config("network.routing.tie", tie.name(), "plus, parity or random", hint))
}

/// The default of `tie`.
pub(super) fn parity() -> Tie {
    Tie::Parity
}

/// The default of times of one cycle.
pub(super) fn one() -> u32 {
    1
}
