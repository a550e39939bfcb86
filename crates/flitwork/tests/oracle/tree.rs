//! Routings of fat trees: up to a nearest common ancestor and down, after docs/model.md.

use super::machine::{Machine, Packet};
use super::random::{below, mix};
use super::router::{Router, VcId};
use flitwork::routing::RoutingSpec;

/// By which of the up ports packets go.
pub enum TreeRule {
    /// By the digits of a number.
    Number(fn(&Packet) -> u32),
    Random,
    /// Any of them.
    Any,
}

impl Machine {
    /// The rule of a routing of trees, if it is one.
    pub fn tree_rule(&self) -> Option<TreeRule> {
        match self.routing_spec {
            RoutingSpec::DModK(_) => Some(TreeRule::Number(|packet| packet.dst)),
            RoutingSpec::SModK(_) => Some(TreeRule::Number(|packet| packet.src)),
            RoutingSpec::RandomUp(_) => Some(TreeRule::Random),
            RoutingSpec::AdaptiveUp(_) => Some(TreeRule::Any),
            _ => None,
        }
    }

    /// The ports that a packet may take at router `here`, ascending, under a routing of trees.
    pub fn tree_ports(&self, here: u32, packet: &Packet) -> Option<Vec<usize>> {
        let rule = self.tree_rule()?;
        let tree = self.fabric.tree().expect("a routing of trees");
        // w_(l+1), and the numbers of the routers of each level.
        let (mut first, mut m_below, mut w) = (0, 1, 1);
        for level in 1..=tree.levels() {
            let (children, parents) = (tree.children(level), tree.parents(level));
            let m = m_below * children;
            let routers = self.fabric.terminals() / m * w;
            if here < first + routers {
                let position = (here - first) / w;
                if packet.dst / m == position {
                    return Some(vec![(parents + packet.dst / m_below % children) as usize]);
                }
                return Some(match rule {
                    TreeRule::Number(of) => vec![(of(packet) / w % parents) as usize],
                    TreeRule::Random => vec![below(self.tree_draw(here, packet, 0), u64::from(parents)) as usize],
                    TreeRule::Any => (0..parents as usize).collect(),
                });
            }
            (first, m_below, w) = (first + routers, m, w * parents);
        }
        panic!("router {here} is on no level")
    }

    /// `x_i`.
    fn tree_draw(&self, here: u32, packet: &Packet, i: u64) -> u64 {
        mix(self.bits(packet) ^ mix((u64::from(here) << 32) + i))
    }
}

impl Router<'_> {
    /// Deciding: the packet of `vc` keeps one of its ports.
    pub(super) fn decide(&mut self, vc: VcId) {
        let RoutingSpec::AdaptiveUp(options) = &self.machine.routing_spec else { return };
        let front = self.front(vc);
        let Some(choice) = front.choice.clone().filter(|choice| choice.minimal.len() > 1) else { return };
        let k = choice.minimal.len();
        let drawn = |i: u64| below(self.machine.tree_draw(self.id, &front.packet, i), k as u64) as usize;
        let compared: Vec<usize> = match options.candidates {
            0 => (0..k).map(|i| (drawn(0) + i) % k).collect(),
            c => (0..u64::from(c)).map(drawn).collect(),
        };
        let behind = |i: &&usize| self.places[choice.minimal[**i].port].sent();
        let best = *compared.iter().min_by_key(behind).expect("some are compared");
        let kept = vec![choice.minimal[best].clone()];
        self.front_mut(vc).choice.as_mut().expect("it chose").minimal = kept;
    }
}
