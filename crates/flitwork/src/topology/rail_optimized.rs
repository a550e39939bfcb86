//! A rail-optimised cluster: servers of GPUs behind a switch of their own, and a leaf switch for each rail, which joins
//! the GPUs with the same number in their servers.
//!
//! W. Wang, M. Ghobadi, K. Shakeri, Y. Zhang and N. Hasani, "Rail-only: a low-cost high-performance network for
//! training LLMs with trillion parameters", IEEE HOTI 2024, describe it, and the variant without spine switches, in
//! which rails meet in the servers alone.
//!
//! A GPU is a router with one terminal: packets of others may pass it on their way between its server's switch and its
//! rail. A *unit* is `servers_per_leaf` servers with a leaf switch for each rail. In a *pod* each leaf of each unit has
//! a cable to each spine switch, and each spine has a cable to each core switch. Routers are numbered by kind: GPUs by
//! pod, unit, server and rail, then server switches, leaves by pod, unit and rail, spines by pod, cores.

use super::cables::{Cables, MOST_PORTS, drawing, most_routers, refuse};
use super::kind::{Topology, one};
use super::{Channel, Fabric, Graph};
use crate::error::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Classes of channels: within servers, between GPUs and leaves, leaves and spines, spines and cores.
const CLASSES: [&str; 5] = ["server", "rail", "up", "down", "core"];
const SERVER: usize = 0;
const RAIL: usize = 1;
const UP: usize = 2;
const DOWN: usize = 3;
const CORE: usize = 4;
/// How far apart the rows of a drawing are.
const ROW: f64 = 3.0;

/// A rail-optimised cluster: servers of GPUs, a leaf switch for each rail, spine and core switches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RailOptimized {
    /// Servers below each leaf switch: 1 to 64. They are a unit, with a leaf for each rail.
    #[schemars(range(min = 1, max = MOST_PORTS))]
    pub servers_per_leaf: u32,
    /// GPUs in each server, each a terminal with a cable to its server's switch and to the leaf of its rail: 1 to 64.
    /// Default: 8.
    #[serde(default = "eight")]
    #[schemars(range(min = 1, max = MOST_PORTS))]
    pub gpus_per_server: u32,
    /// Leaf switches of each rail in each pod, which is the number of units in it. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub leaves_per_rail: u32,
    /// Spine switches in each pod, each with a cable to each leaf of the pod. Default: 0, rails that meet in the
    /// servers alone; then there is one unit.
    #[serde(default)]
    pub spines: u32,
    /// Pods. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub pods: u32,
    /// Core switches, each with a cable to each spine. Default: 0; then there is one pod.
    #[serde(default)]
    pub cores: u32,
    /// Cycles that a flit takes on each cable outside the servers: how many times slower these are than the ones
    /// inside. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub network_cycles_per_flit: u32,
    /// Latency of the cables outside the servers \[cycles]. Default: that of all channels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    pub network_latency_cycles: Option<u32>,
}

fn eight() -> u32 {
    8
}

impl Topology for RailOptimized {
    fn fabric(&self) -> Result<Fabric> {
        let size = self.checked()?;
        let channels = self.cabled(&size);
        let note = "GPUs and the switches of servers below, leaves, spines and cores above";
        Fabric::of_graph(&Graph {
            terminals: (0..size.routers).map(|router| u32::from(router < size.gpus)).collect(),
            classes: CLASSES.map(str::to_string).to_vec(),
            drawing: drawing(size.routers, |router| self.place(&size, router), &channels, note),
            channels,
        })
    }
}

/// How many routers there are, and the first of each kind.
struct Size {
    gpus: u32,
    /// First of the leaves; the server switches come before them.
    leaves: u32,
    spines: u32,
    cores: u32,
    routers: u32,
}

impl RailOptimized {
    /// The numbers of routers, of numbers that make sense.
    fn checked(&self) -> Result<Size> {
        let &RailOptimized { servers_per_leaf, gpus_per_server, leaves_per_rail: units, spines, pods, cores, .. } =
            self;
        let ports = |field: &str, value: u32, least: u32, taken: u32, of: &str| {
            let most = MOST_PORTS.saturating_sub(taken);
            if (least..=most).contains(&value) {
                return Ok(());
            }
            refuse(field, value, format!("{least} to {most}: a router has at most {MOST_PORTS} ports{of}"), "")
        };
        ports("gpus_per_server", gpus_per_server, 1, 0, "")?;
        ports("servers_per_leaf", servers_per_leaf, 1, 0, "")?;
        let of = format!(", {servers_per_leaf} of a leaf to servers");
        ports("spines", spines, u32::from(units > 1 || pods > 1), servers_per_leaf, &of)?;
        if units == 0 || spines > 0 && u64::from(units) * u64::from(gpus_per_server) > u64::from(MOST_PORTS) {
            let most = MOST_PORTS / gpus_per_server;
            let expected = format!("1 to {most}: a spine has at most {MOST_PORTS} ports, {gpus_per_server} a unit");
            return refuse("leaves_per_rail", units, expected, "");
        }
        let leaves = units * gpus_per_server;
        let of = format!(", {leaves} of a spine to leaves");
        ports("cores", cores, u32::from(pods > 1), leaves * u32::from(spines > 0), &of)?;
        if pods == 0 || cores > 0 && u64::from(pods) * u64::from(spines) > u64::from(MOST_PORTS) {
            let most = MOST_PORTS / spines.max(1);
            let expected = format!("1 to {most}: a core switch has at most {MOST_PORTS} ports, {spines} a pod");
            return refuse("pods", pods, expected, "");
        }
        if cores > 0 && spines == 0 {
            return refuse("cores", cores, "0 without spine switches", "set spines");
        }
        if self.network_cycles_per_flit == 0 {
            return refuse("network_cycles_per_flit", 0, "a whole number of at least 1", "");
        }
        let servers = u64::from(pods) * u64::from(units) * u64::from(servers_per_leaf);
        let routers =
            servers * u64::from(gpus_per_server + 1) + u64::from(pods) * u64::from(leaves + spines) + u64::from(cores);
        let most = u64::from(most_routers(MOST_PORTS));
        if routers > most {
            return refuse("pods", pods, format!("at most {most} routers; these are {routers}"), "use fewer pods");
        }
        let gpus = servers as u32 * gpus_per_server;
        let first_leaf = gpus + servers as u32;
        let first_spine = first_leaf + pods * leaves;
        let first_core = first_spine + pods * spines;
        Ok(Size { gpus, leaves: first_leaf, spines: first_spine, cores: first_core, routers: first_core + cores })
    }

    /// The channels: servers first, then rails, spines and cores.
    fn cabled(&self, size: &Size) -> Vec<Channel> {
        let (gpus, spines) = (self.gpus_per_server, self.spines);
        let leaves = self.leaves_per_rail * gpus;
        let mut cables = Cables::new(size.routers);
        (0..size.gpus).for_each(|gpu| cables.lay(gpu, size.gpus + gpu / gpus, SERVER));
        for gpu in 0..size.gpus {
            let unit = gpu / gpus / self.servers_per_leaf;
            cables.lay(gpu, size.leaves + unit * gpus + gpu % gpus, RAIL);
        }
        for (pod, leaf) in (0..self.pods).flat_map(|pod| (0..leaves).map(move |leaf| (pod, leaf))) {
            for spine in 0..spines {
                let (leaf, spine) = (size.leaves + pod * leaves + leaf, size.spines + pod * spines + spine);
                cables.lay_of(leaf, spine, [UP, DOWN]);
            }
        }
        for spine in size.spines..size.cores {
            (size.cores..size.routers).for_each(|core| cables.lay(spine, core, CORE));
        }
        let outside = |channel: Channel| match channel.class {
            SERVER => channel,
            _ => Channel {
                latency_cycles: self.network_latency_cycles,
                cycles_per_flit: self.network_cycles_per_flit,
                ..channel
            },
        };
        cables.channels().into_iter().map(outside).collect()
    }

    /// Rows from below: server switches, GPUs, leaves, spines, cores; each row as wide as that of the GPUs.
    fn place(&self, size: &Size, router: u32) -> [f64; 2] {
        let width = f64::from(size.gpus);
        let (first, end, row) = if router < size.gpus {
            (0, size.gpus, 1.0)
        } else if router < size.leaves {
            (size.gpus, size.leaves, 0.0)
        } else if router < size.spines {
            (size.leaves, size.spines, 2.0)
        } else if router < size.cores {
            (size.spines, size.cores, 3.0)
        } else {
            (size.cores, size.routers, 4.0)
        };
        let step = width / f64::from(end - first);
        [(f64::from(router - first) + 0.5) * step, row * ROW]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster(change: impl FnOnce(&mut RailOptimized)) -> Result<Fabric> {
        let mut topology = RailOptimized {
            servers_per_leaf: 3,
            gpus_per_server: 4,
            leaves_per_rail: 2,
            spines: 2,
            pods: 2,
            cores: 3,
            network_cycles_per_flit: 9,
            network_latency_cycles: Some(50),
        };
        change(&mut topology);
        topology.fabric()
    }

    /// 2 pods of 2 units of 3 servers of 4 GPUs.
    #[test]
    fn gpus_of_a_rail_meet_at_their_leaf() {
        let fabric = cluster(|_| {}).unwrap();
        assert_eq!((fabric.terminals(), fabric.routers()), (48, 48 + 12 + 16 + 4 + 3));
        for gpu in 0..48 {
            let far = |port: usize| fabric.peer(gpu, port).unwrap().0;
            let unit = gpu / 12;
            assert_eq!((far(0), far(1)), (48 + gpu / 4, 60 + unit * 4 + gpu % 4));
            assert_eq!([0, 1].map(|port| fabric.cycles_per_flit(gpu, port)), [1, 9]);
            assert_eq!([0, 1].map(|port| fabric.latency_cycles(gpu, port)), [None, Some(50)]);
            assert_eq!(fabric.terminals_at(gpu).len(), 1);
        }
        let of_class = |class: &str| {
            fabric.channels().filter(|&(router, port)| fabric.classes()[fabric.class_of(router, port)] == class).count()
        };
        let counted = ["server", "rail", "up", "down", "core"].map(of_class);
        assert_eq!(counted, [2 * 48, 2 * 48, 16 * 2, 16 * 2, 2 * 4 * 3]);
        assert_eq!(fabric.drawing().unwrap().segments.len(), fabric.channels().count());
    }

    #[test]
    fn numbers_that_make_no_network_are_named() {
        let refused = |change: fn(&mut RailOptimized)| cluster(change).unwrap_err().to_string();
        for (error, expected) in [
            (refused(|c| c.gpus_per_server = 65), "gpus_per_server = 65: expected 1 to 64"),
            (refused(|c| c.servers_per_leaf = 0), "servers_per_leaf = 0: expected 1 to 64"),
            (refused(|c| c.spines = 62), "spines = 62: expected 1 to 61: a router has at most 64 ports, 3 of a leaf"),
            (refused(|c| c.spines = 0), "spines = 0: expected 1 to 61"),
            (refused(|c| c.leaves_per_rail = 17), "leaves_per_rail = 17: expected 1 to 16"),
            (refused(|c| c.leaves_per_rail = 0), "leaves_per_rail = 0: expected 1 to 16"),
            (refused(|c| c.cores = 57), "cores = 57: expected 1 to 56"),
            (refused(|c| c.cores = 0), "cores = 0: expected 1 to 56"),
            (refused(|c| c.pods = 33), "pods = 33: expected 1 to 32"),
            (
                refused(|c| (c.leaves_per_rail, c.pods, c.spines) = (1, 1, 0)),
                "cores = 3: expected 0 without spine switches",
            ),
            (refused(|c| c.network_cycles_per_flit = 0), "network_cycles_per_flit = 0: expected a whole number"),
        ] {
            assert!(error.starts_with(&format!("network.topology.{expected}")), "{error}");
        }
        // Rails that meet in the servers alone.
        let rails = cluster(|c| (c.leaves_per_rail, c.pods, c.spines, c.cores) = (1, 1, 0, 0)).unwrap();
        assert_eq!((rails.terminals(), rails.routers()), (12, 12 + 3 + 4));
    }
}
