//! The options of the table `network.router.compat`, and which routings know them.

use super::min_adapt::Narrowed;
use super::shared_middle::SharedMiddle;
use crate::error::{Error, Result};
use crate::routing::{Context, Division, HopByHop, MAX_VCS, Network, OnGrid, Routing, RoutingSpec, Scheme};
use crate::topology::{Fabric, Grid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Rules of BookSim 2 that no hardware has; all are off by default. `flitwork booksim` sets what a configuration file
/// needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CompatSpec {
    /// Where a routing divides an odd number of virtual channels into two halves: the middle one belongs to both.
    /// Default: false.
    #[serde(skip_serializing_if = "is_false")]
    pub shared_middle_vc: bool,
    /// Whether route computation and switch traversal of several cycles take up what comes in each of them. If not, a
    /// router's heads that come while others are being routed wait until those are through, and are then routed
    /// together; flits in the switch likewise. Default: true.
    #[serde(skip_serializing_if = "is_true")]
    pub pipelined_stages: bool,
    /// Plain dimension order where a dimension wraps: towards minus the dateline class of a packet is the opposite one,
    /// 0 where its route crosses the dateline and 1 where it does not. Default: false.
    #[serde(skip_serializing_if = "is_false")]
    pub opposite_minus_class: bool,
    /// Schedules: a receive is complete one cycle after its message has come, so that what waited for it starts a cycle
    /// later. Default: false.
    #[serde(skip_serializing_if = "is_false")]
    pub late_receives: bool,
    /// Which productive ports `min_adapt` offers; first: the dimension-order one alone. Default: all.
    #[serde(skip_serializing_if = "Productive::is_all")]
    pub productive: Productive,
    /// Adaptive virtual channels of `min_adapt`, numbers that follow each other, above the escape channels; those that
    /// are neither are used at injection and ejection only. Default (empty): all but the escape channels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub adaptive_vcs: Vec<u32>,
    /// Speculation of `min_adapt` where it asks for all its ports at once: a speculative grant of the switch is wasted
    /// unless each of these ports has a virtual channel that the packet could be given. Default: false.
    #[serde(skip_serializing_if = "is_false")]
    pub speculation_needs_all_sets: bool,
    /// Where the adaptive channels of `min_adapt` lead if both directions round a ring are equally long. Default: same.
    #[serde(skip_serializing_if = "AdaptiveTie::is_same")]
    pub adaptive_tie: AdaptiveTie,
}

impl Default for CompatSpec {
    fn default() -> Self {
        CompatSpec {
            shared_middle_vc: false,
            pipelined_stages: true,
            opposite_minus_class: false,
            late_receives: false,
            productive: Productive::All,
            adaptive_vcs: Vec::new(),
            speculation_needs_all_sets: false,
            adaptive_tie: AdaptiveTie::Same,
        }
    }
}

/// Which of the productive ports minimal adaptive routing offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Productive {
    /// All of them.
    #[default]
    All,
    /// The one that dimension order would take. What BookSim 2's `min_adapt` comes to: its set of offers keeps one for
    /// each priority.
    First,
}

impl Productive {
    fn is_all(&self) -> bool {
        *self == Productive::All
    }
}

/// Where the adaptive channels lead if the two directions round a ring are equally long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AdaptiveTie {
    /// As the escape channel, by the rule for ties.
    #[default]
    Same,
    /// Always the plus direction.
    Plus,
    /// Always the minus direction, as in BookSim 2.
    Minus,
}

impl AdaptiveTie {
    /// Whether it is the rule for ties of the escape channels.
    pub(super) fn is_same(&self) -> bool {
        *self == AdaptiveTie::Same
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_true(value: &bool) -> bool {
    *value
}

impl CompatSpec {
    /// Whether no rule is in force.
    pub fn is_default(&self) -> bool {
        *self == CompatSpec::default()
    }

    /// Refuses rules that a routing does not know. Whether it has two halves that could share a channel is asked
    /// elsewhere.
    ///
    /// # Errors
    /// [`Error::Config`] with the path of the field.
    pub fn check(&self, spec: &RoutingSpec, network: &Network) -> Result<()> {
        if let (RoutingSpec::MinAdapt(options), Some(grid)) = (spec, network.fabric.grid()) {
            return check_adaptive_vcs(&self.adaptive_vcs, options.escapes(grid));
        }
        let default = CompatSpec::default();
        let given = [
            ("productive", self.productive != default.productive, format!("{:?}", self.productive).to_lowercase()),
            ("adaptive_vcs", self.adaptive_vcs != default.adaptive_vcs, format!("{:?}", self.adaptive_vcs)),
            (
                "adaptive_tie",
                self.adaptive_tie != default.adaptive_tie,
                format!("{:?}", self.adaptive_tie).to_lowercase(),
            ),
            ("speculation_needs_all_sets", self.speculation_needs_all_sets, "true".to_string()),
        ];
        let Some((field, _, value)) = given.into_iter().find(|(_, given, _)| *given) else { return Ok(()) };
        let expected = format!("nothing: {} has no adaptive channels that it could concern", spec.kind());
        Err(Error::config(format!("network.router.compat.{field}"), value, expected, "only min_adapt knows this rule"))
    }

    /// The routing of a resolved specification under these rules.
    ///
    /// # Errors
    /// As of [`RoutingSpec::routing`].
    pub fn routing(&self, spec: &RoutingSpec, network: &Network) -> Result<Routing> {
        let changed = network.fabric.grid().and_then(|grid| Some(Routing::on_grid(grid, self.scheme(spec, grid)?)));
        let routing = changed.map_or_else(|| spec.routing(network), Ok)?;
        Ok(match routing {
            Routing::AtSource(plain) if self.opposite_minus_class => {
                Routing::AtSource(plain.with_opposite_minus_classes())
            }
            routing => routing,
        })
    }

    /// A smaller network with the same verdict of the search for deadlocks, and the routing on it; see
    /// [`RoutingSpec::representative`].
    pub fn representative(
        &self,
        spec: &RoutingSpec,
        network: &Network,
        level: usize,
    ) -> Option<(Fabric, Arc<dyn HopByHop>)> {
        let (small, plain) = spec.representative(network, level)?;
        let changed: Option<Arc<dyn HopByHop>> =
            small.grid().and_then(|grid| Some(Arc::new(OnGrid::new(grid, self.scheme(spec, grid)?)) as _));
        Some((small, changed.unwrap_or(plain)))
    }

    /// The scheme that a resolved specification has under these rules; `None`: the routing is what it is without them.
    pub fn scheme(&self, spec: &RoutingSpec, grid: &Grid) -> Option<Arc<dyn Scheme>> {
        let plain = || spec.scheme(&Context { grid });
        let halves = || plain().filter(|scheme| self.shared_middle_vc && scheme.division() == Division::Equal(2));
        match spec {
            RoutingSpec::Valiant(_) | RoutingSpec::Romm(_) => Some(Arc::new(SharedMiddle::new(halves()?, false))),
            RoutingSpec::O1Turn(_) => Some(Arc::new(SharedMiddle::new(halves()?, true))),
            RoutingSpec::MinAdapt(options) if self.narrows() => {
                Some(Arc::new(Narrowed::new(options.min_adapt(grid), self)))
            }
            _ => None,
        }
    }

    /// Whether minimal adaptive routing is another one.
    fn narrows(&self) -> bool {
        !(self.productive.is_all() && self.adaptive_vcs.is_empty() && self.adaptive_tie.is_same())
    }

    /// Whether a stage of so many cycles takes a batch at a time.
    pub fn has_batches(&self, stage_cycles: u32) -> bool {
        stage_cycles > 1 && !self.pipelined_stages
    }
}

/// They are a range above the escape channels. Whether a port has so many is a question of the number of VCs.
fn check_adaptive_vcs(vcs: &[u32], escapes: u32) -> Result<()> {
    let follow = vcs.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
    if follow && vcs.iter().all(|v| (escapes..MAX_VCS).contains(v)) {
        return Ok(());
    }
    let expected = format!("numbers from {escapes} to {} that follow each other", MAX_VCS - 1);
    let hint = "the escape channels have the lowest numbers";
    Err(Error::config("network.router.compat.adaptive_vcs", format!("{vcs:?}"), expected, hint))
}
