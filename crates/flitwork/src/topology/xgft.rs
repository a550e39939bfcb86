//! The extended generalized fat tree of S. R. Öhring, M. Ibel, S. K. Das and M. J. Kumar, "On generalized fat trees",
//! IPPS 1995.

use super::kind::Topology;
use super::tree::MOST_LEVELS;
use super::{Fabric, Tree};
use crate::error::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An extended generalized fat tree, XGFT(h; m_1, ..., m_h; w_1, ..., w_h): any number of children and parents at each
/// level, so any number of ports and any oversubscription.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Xgft {
    /// Children of a router of each level from below, m_1, ..., m_h; the first are terminals.
    #[schemars(length(min = 1, max = MOST_LEVELS), inner(range(min = 1, max = 64)))]
    pub children: Vec<u32>,
    /// Parents of what is below each level, w_1, ..., w_h: the first, those of a terminal, is 1; a router of level l
    /// has the (l+1)-th. A level is oversubscribed where a router has fewer parents than children.
    #[schemars(length(min = 1, max = MOST_LEVELS), inner(range(min = 1, max = 64)))]
    pub parents: Vec<u32>,
}

impl Topology for Xgft {
    fn fabric(&self) -> Result<Fabric> {
        Tree::checked(&self.children, &self.parents)?.fabric()
    }
}
