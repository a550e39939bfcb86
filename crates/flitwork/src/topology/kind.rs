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
    /// A single crossbar: one router with all terminals at it.
    Crossbar = "crossbar": super::Crossbar, "one router with all terminals at it", "terminals";
    /// A dragonfly: groups of routers that are joined each to each, and groups that are joined each to each.
    Dragonfly = "dragonfly": super::Dragonfly, "groups joined each to each, of routers joined each to each",
        "routers_per_group, global_channels_per_router, groups, terminals_per_router, global_latency_cycles",
        "Kim, Dally, Scott and Abts, ISCA 2008";
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
