//! The topologies that users can name. A topology is a file with a struct of what users write, and a row below.

use super::{Fabric, Mesh, MixedGrid, Torus};
use crate::component::Component;
use crate::error::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What users write of a topology.
pub(super) trait Topology {
    /// The routers, channels and terminals of the network.
    ///
    /// # Errors
    /// [`crate::Error::Config`] with the path of a field that makes no sense.
    fn fabric(&self) -> Result<Fabric>;
}

/// What users write of a large one is kept apart.
impl<T: Topology> Topology for Box<T> {
    fn fabric(&self) -> Result<Fabric> {
        self.as_ref().fabric()
    }
}

/// Rows: the line for the reference page, variant, name, struct, the line and the fields for lists, and a paper if
/// there is one.
macro_rules! topologies {
    ($($(#[doc = $about:literal])* $Kind:ident = $name:literal: $Struct:ty, $summary:literal, $fields:literal $(, $paper:literal)?;)*) => {
        /// Which routers exist and which channels join them.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        pub enum TopologySpec {
            $($(#[doc = $about])* #[serde(rename = $name)] $Kind($Struct),)*
        }

        impl TopologySpec {
            fn named(&self) -> &dyn Topology {
                match self {
                    $(TopologySpec::$Kind(topology) => topology,)*
                }
            }
        }

        /// All topologies, for lists.
        pub(crate) const TOPOLOGIES: &[Component] =
            &[$(Component { name: $name, summary: $summary, parameters: $fields, paper: concat!($($paper)?) }),*];
    };
}

topologies! {
    /// A torus: every dimension wraps.
    Torus = "torus": Torus, "n-dimensional grid, every dimension wraps", "size, ring2, terminals_per_router";
    /// A mesh: no dimension wraps.
    Mesh = "mesh": Mesh, "n-dimensional grid, no dimension wraps", "size, terminals_per_router";
    /// A grid in which each dimension wraps or does not.
    Grid = "grid": MixedGrid, "n-dimensional grid, each dimension wraps or not", "size, wrap, ring2, terminals_per_router";
    /// Any network, written down cable by cable, or read from a file.
    Graph = "graph": Box<super::ListedGraph>, "any network: routers and the cables between them, listed or from a file",
        "cables, channels, routers, terminals_per_router, terminals, cable_latency_cycles, cable_cycles_per_flit, channel_latency_cycles, channel_cycles_per_flit, file, names, terminal_names, positions";
    /// A single crossbar: one router with all terminals at it.
    Crossbar = "crossbar": super::Crossbar, "one router with all terminals at it", "terminals";
    /// A dragonfly: groups of routers that are joined each to each, and groups that are joined each to each.
    Dragonfly = "dragonfly": super::Dragonfly, "groups joined each to each, of routers joined each to each",
        "routers_per_group, global_channels_per_router, groups, terminals_per_router, global_latency_cycles, arrangement",
        "Kim, Dally, Scott and Abts, ISCA 2008";
    /// A Dragonfly+ (Megafly): groups of leaf and spine routers, the spines joined to other groups.
    DragonflyPlus = "dragonfly_plus": super::DragonflyPlus,
        "groups of leaf and spine routers, spines joined to other groups",
        "leaves_per_group, spines_per_group, global_channels_per_spine, groups, terminals_per_leaf",
        "Shpiner et al., HiPINEB 2017";
    /// A Slim Fly: diameter two with nearly the largest possible number of routers.
    SlimFly = "slim_fly": super::SlimFly, "2 q^2 routers, each at most two channels from every other",
        "q, terminals_per_router", "Besta and Hoefler, SC 2014";
    /// HyperX: routers in rows and columns, each joined to all others of its row in every dimension.
    HyperX = "hyperx": super::HyperX, "n-dimensional array, all routers of a row joined each to each",
        "size, width, terminals_per_router", "Ahn, Binkert, Davis, McLaren and Schreiber, SC 2009";
    /// A k-ary n-flat: a flattened butterfly of `n - 1` dimensions of k routers.
    FlattenedButterfly = "flattened_butterfly": super::FlattenedButterfly,
        "HyperX of n - 1 dimensions of k routers with k terminals each",
        "k, n, terminals_per_router", "Kim, Dally and Abts, ISCA 2007";
    /// A hypercube: routers whose numbers differ in one bit are joined.
    Hypercube = "hypercube": super::Hypercube, "n-dimensional mesh of two routers per dimension",
        "dimensions, terminals_per_router", "Sullivan and Bashkow, ISCA 1977";
    /// A twisted torus: channels that wrap in one dimension lead to other coordinates in the others.
    TwistedTorus = "twisted_torus": super::TwistedTorus, "torus whose wrapping channels lead to shifted coordinates",
        "size, twist, terminals_per_router", "Cámara et al., IEEE TPDS 21(12), 2010";
    /// A circulant network: a ring with chords of the same strides at every router.
    Circulant = "circulant": super::Circulant, "ring with chords of the same strides at every router",
        "routers, strides, terminals_per_router", "Bermond, Comellas and Hsu, J. Parallel Distrib. Comput. 24(1), 1995";
    /// A rail-optimised cluster: servers of GPUs, a leaf switch for each rail, spine and core switches.
    RailOptimized = "rail_optimized": super::RailOptimized,
        "servers of GPUs behind a switch each, a leaf switch for each rail, spines and cores",
        "servers_per_leaf, gpus_per_server, leaves_per_rail, spines, pods, cores, network_cycles_per_flit, network_latency_cycles",
        "Wang, Ghobadi, Shakeri, Zhang and Hasani, HOTI 2024";
    /// A random regular network: every router has the same number of cables, to random other routers.
    RandomRegular = "random_regular": super::RandomRegular,
        "random network with the same number of cables at each router",
        "routers, degree, seed, terminals_per_router", "Singla, Hong, Popa and Godfrey, NSDI 2012";
    /// A k-ary n-tree: a fat tree whose routers have k children and, below the top, k parents.
    KAryNTree = "k_ary_n_tree": super::KAryNTree, "fat tree of n levels, k children and k parents a router", "k, levels",
        "Petrini and Vanneschi, IPPS 1997";
    /// An extended generalized fat tree, XGFT(h; m_1, ..., m_h; w_1, ..., w_h): any children and parents at each level.
    Xgft = "xgft": super::Xgft, "fat tree with any children and parents at each level", "children, parents",
        "Öhring, Ibel, Das and Kumar, IPPS 1995";
}

impl TopologySpec {
    /// The routers, channels and terminals of the network.
    ///
    /// # Errors
    /// [`crate::Error::Config`] with the path of a field that makes no sense.
    pub fn fabric(&self) -> Result<Fabric> {
        self.named().fabric()
    }
}

/// The default of `terminals_per_router`.
pub(super) fn one() -> u32 {
    1
}

#[cfg(test)]
mod tests {
    use super::super::Grid;
    use super::*;

    fn grid(json: &str) -> Result<Grid> {
        let fabric = serde_json::from_str::<TopologySpec>(json).unwrap().fabric()?;
        Ok(fabric.grid().unwrap().clone())
    }

    #[test]
    fn what_is_written_is_what_wraps() {
        let torus = grid(r#"{"kind": "torus", "size": [2, 3]}"#).unwrap();
        assert_eq!(torus, Grid::new(&[2, 3], &[true, true], false));
        let single = grid(r#"{"kind": "torus", "size": [2, 3], "ring2": "single"}"#).unwrap();
        assert_eq!(single, Grid::new(&[2, 3], &[true, true], true));
        assert_eq!(grid(r#"{"kind": "mesh", "size": [2, 3]}"#).unwrap(), Grid::mesh(&[2, 3]));
        let mixed = grid(r#"{"kind": "grid", "size": [2, 3], "wrap": [false, true], "ring2": "single"}"#).unwrap();
        assert_eq!(mixed, Grid::new(&[2, 3], &[false, true], true));
    }

    #[test]
    fn a_list_of_wraps_that_does_not_fit_is_named() {
        let error = grid(r#"{"kind": "grid", "size": [2, 3], "wrap": [true]}"#).unwrap_err().to_string();
        assert!(error.starts_with("network.topology.wrap = [true]: expected 2 entries"), "{error}");
    }

    #[test]
    fn terminals_are_one_unless_said() {
        for (json, terminals) in [
            (r#"{"kind": "torus", "size": [4]}"#, 1),
            (r#"{"kind": "mesh", "size": [4], "terminals_per_router": 3}"#, 3),
            (r#"{"kind": "grid", "size": [4], "wrap": [true], "terminals_per_router": 2}"#, 2),
        ] {
            assert_eq!(
                serde_json::from_str::<TopologySpec>(json).unwrap().fabric().unwrap().most_terminals(),
                terminals
            );
        }
    }
}
