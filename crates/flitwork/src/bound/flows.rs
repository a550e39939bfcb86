//! The load at which traffic of fixed flows saturates a channel. And how long a burst of traffic takes at least.

use super::stretches::Stretches;
use super::{Bound, ClassLoad, Limits, Saturation};
use crate::routing::{DimensionOrder, Tie};
use crate::topology::Grid;

/// The saturation bound of traffic that consists of flows (source terminal, destination terminal, share of the source's
/// traffic), and the largest sum of shares that one terminal receives. Where ties go either way, half a flow goes each way.
pub fn flow_saturation(
    grid: &Grid,
    routing: &DimensionOrder,
    terminals_per_router: u32,
    flows: &[(u32, u32, f64)],
) -> (Saturation, f64) {
    let ports = grid.network_ports();
    let mut load = vec![0.0; grid.routers() as usize * ports];
    let stretches = Stretches::new(grid);
    let mut received = vec![0.0; (grid.routers() * terminals_per_router) as usize];
    let coins: &[u8] = if matches!(routing.tie, Tie::Random | Tie::Split) { &[0, !0] } else { &[0] };
    for &(from, to, share) in flows {
        received[to as usize] += share;
        let (src, dst) = (grid.coords(from / terminals_per_router), grid.coords(to / terminals_per_router));
        for &coin in coins {
            let header = routing.header(grid, &src, &dst, coin);
            let mut at = from / terminals_per_router;
            for &d in &routing.order {
                let way = (d, header.minus >> d & 1 == 1);
                at = stretches.add(&mut load, at, way, (src[d], dst[d]), share / coins.len() as f64);
            }
        }
    }
    stretches.add_up(&mut load);
    let of_port = |port: usize| load.iter().skip(port).step_by(ports).copied().fold(0.0, f64::max);
    let classes: Vec<ClassLoad> = (0..ports)
        .map(|port| ClassLoad {
            dimension: port / 2,
            sign: if port.is_multiple_of(2) { 1 } else { -1 },
            max_flits: of_port(port),
        })
        .collect();
    let largest = classes.iter().map(|c| c.max_flits).fold(0.0, f64::max);
    (Saturation { load_flits_per_cycle: 1.0 / largest, classes }, received.into_iter().fold(0.0, f64::max))
}

/// What every terminal sends in a burst.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrafficNeeds {
    /// Flits of a terminal that sends.
    pub flits: f64,
    /// Largest sum of shares of the terminals' flits that one terminal receives.
    pub largest_received_share: f64,
    /// Cycle in which the last packet of a terminal is created [cycles].
    pub last_creation_cycles: f64,
}

/// Lower bounds on the time of a burst, given the loads of the channels at 1 flit/cycle/terminal. A burst is one phase.
pub fn traffic_bound(channels: &Saturation, needs: &TrafficNeeds, controllers: u32) -> Bound {
    let width = f64::from(controllers);
    let link_load_cycles = needs.flits * channels.classes.iter().map(|c| c.max_flits).fold(0.0, f64::max);
    let limits = Limits {
        ejection_cycles: needs.flits * needs.largest_received_share / width,
        injection_cycles: (needs.flits / width).max(needs.last_creation_cycles),
        link_load_cycles,
        bisection_cycles: None,
    };
    limits.bound(link_load_cycles)
}

#[cfg(test)]
mod tests {
    use super::super::Limit;
    use super::*;

    fn limit(grid: &Grid, to: impl Fn(u32) -> u32) -> f64 {
        let routing = DimensionOrder { order: (0..grid.dims()).collect(), tie: Tie::Parity };
        let flows: Vec<_> = (0..grid.routers()).map(|from| (from, to(from), 1.0)).collect();
        flow_saturation(grid, &routing, 1, &flows).0.load_flits_per_cycle
    }

    /// Dimension order on the 32 x 32 torus: transpose saturates at 1 / 15.5 (0.258 of 8 / N), complement at 1 / 8 (Yokota et
    /// al.'s figure 9b shows saturation between 0.2 and 0.5 of 8 / N).
    #[test]
    fn permutations_saturate_where_the_channel_loads_say() {
        let grid = Grid::torus(&[32, 32]);
        assert!((limit(&grid, |i| i % 32 * 32 + i / 32) - 1.0 / 15.5).abs() < 0.003);
        assert!((limit(&grid, |i| 1023 - i) - 1.0 / 8.0).abs() < 0.003);
    }

    /// Loads are added up along rows; here each way is walked channel by channel instead.
    #[test]
    fn stretches_tell_the_same_as_whole_ways() {
        let sizes = [&[7][..], &[2, 3], &[4, 5], &[3, 1, 4], &[2, 2, 3]];
        let ties = [Tie::Plus, Tie::Parity, Tie::Random];
        for (grid, tie) in
            sizes.iter().flat_map(|s| [Grid::mesh(s), Grid::torus(s)]).flat_map(|g| ties.map(|t| (g.clone(), t)))
        {
            let routing = DimensionOrder { order: (0..grid.dims()).rev().collect(), tie };
            let terminals = 2 * grid.routers();
            let flows: Vec<_> =
                (0..terminals).flat_map(|s| [(s, (3 * s + 1) % terminals, 0.7), (s, s / 3, 0.3)]).collect();
            let mut loads = vec![0.0; grid.routers() as usize * grid.network_ports()];
            for &(from, to, share) in &flows {
                let (src, dst) = (grid.coords(from / 2), grid.coords(to / 2));
                for coin in [0, !0] {
                    for (router, port, _) in routing.path(&grid, &src, &dst, routing.header(&grid, &src, &dst, coin)) {
                        loads[router as usize * grid.network_ports() + port] += share / 2.0;
                    }
                }
            }
            for class in flow_saturation(&grid, &routing, 2, &flows).0.classes {
                let port = 2 * class.dimension + usize::from(class.sign < 0);
                let want = loads.iter().skip(port).step_by(grid.network_ports()).copied().fold(0.0, f64::max);
                assert!((class.max_flits - want).abs() < 1e-12, "{grid:?} {tie:?} {class:?}: {want}");
            }
        }
    }

    /// Yokota et al.'s bursts of 10 packets of 8 flits on the 32 x 32 torus: transpose needs 80 * 15.5 cycles for its links,
    /// complement 80 * 8, and both 80 to inject.
    #[test]
    fn a_burst_needs_what_its_busiest_channel_carries() {
        let grid = Grid::torus(&[32, 32]);
        let routing = DimensionOrder { order: vec![0, 1], tie: Tie::Random };
        let bound = |to: &dyn Fn(u32) -> u32, last_creation_cycles: f64| {
            let flows: Vec<_> = (0..1024).map(|from| (from, to(from), 1.0)).filter(|f| f.0 != f.1).collect();
            let (channels, largest_received_share) = flow_saturation(&grid, &routing, 1, &flows);
            traffic_bound(&channels, &TrafficNeeds { flits: 80.0, largest_received_share, last_creation_cycles }, 1)
        };
        let transpose = bound(&|i| i % 32 * 32 + i / 32, 0.0);
        assert_eq!((transpose.link_load_cycles, transpose.injection_cycles), (80.0 * 15.5, 80.0));
        assert_eq!((transpose.tightest, transpose.tightest_cycles), (Limit::LinkLoad, 80.0 * 15.5));
        assert_eq!(bound(&|i| 1023 - i, 0.0).tightest_cycles, 640.0);
        assert_eq!(bound(&|i| 1023 - i, 5000.0).tightest, Limit::Injection);
    }

    #[test]
    fn a_hot_terminal_receives_everything() {
        let grid = Grid::mesh(&[4]);
        let routing = DimensionOrder { order: vec![0], tie: Tie::Plus };
        let flows: Vec<_> = (0..4).map(|from| (from, 0, 1.0)).collect();
        let (saturation, received) = flow_saturation(&grid, &routing, 1, &flows);
        assert_eq!((saturation.load_flits_per_cycle, received), (1.0 / 3.0, 4.0));
    }
}
