//! Where routers, channels and terminals lie on a page.

use super::Grid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Distance of the two directions of a cable from its middle \[routers]: on a grid, and where cables lie at any angle.
const APART: f64 = 0.09;
const APART_IN_CABLE: f64 = 0.04;
/// Length of what is shown of a channel that wraps, at each end \[routers].
const STUB: f64 = 0.42;
/// Space between the planes of three dimensions \[routers].
const GAP: f64 = 1.6;
/// Most dimensions that can be drawn.
const MOST_DIMENSIONS: usize = 3;

/// The piece of a channel that is drawn as one straight line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Segment {
    /// Router that the channel leaves.
    pub router: u32,
    /// Output port that it leaves by.
    pub port: u32,
    /// Where the line begins, x and y.
    pub from: [f64; 2],
    /// Where the line ends, x and y.
    pub to: [f64; 2],
}

impl Segment {
    /// One direction of a cable between two places, so far to its right that the other one is seen beside it.
    pub(super) fn of_cable((router, port): (u32, u32), from: [f64; 2], to: [f64; 2]) -> Segment {
        let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
        let length = dx.hypot(dy).max(f64::MIN_POSITIVE);
        let move_by = |[x, y]: [f64; 2]| [x + APART_IN_CABLE * dy / length, y - APART_IN_CABLE * dx / length];
        Segment { router, port, from: move_by(from), to: move_by(to) }
    }
}

/// A network on a page. Lengths are in units of the distance between neighbouring routers of a grid.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drawing {
    /// Place of each router, x and y.
    pub routers: Vec<[f64; 2]>,
    /// Place of each terminal, x and y; empty where they are not drawn apart from their routers.
    pub terminals: Vec<[f64; 2]>,
    /// The channels; one that wraps has two segments, a stub at each end.
    pub segments: Vec<Segment>,
    /// What the two axes show; empty where it is nothing that one counts.
    pub axes: [String; 2],
    /// What a reader has to know about channels that are not drawn, or empty.
    pub note: String,
}

impl Drawing {
    /// The drawing of a grid: planes of three dimensions side by side, the two directions of a cable side by side,
    /// traffic keeps right. `None` in more than three dimensions.
    pub(super) fn of_grid(grid: &Grid) -> Option<Drawing> {
        let dims = grid.dims();
        if dims > MOST_DIMENSIONS {
            return None;
        }
        let plane = f64::from(grid.size(0)) - 1.0 + GAP;
        let routers: Vec<[f64; 2]> = (0..grid.routers())
            .map(|router| {
                let at = grid.coords(router).map(f64::from);
                [at[0] + at[2] * plane, at[1]]
            })
            .collect();
        let mut segments = Vec::new();
        for port in 0..grid.network_ports().min(4) {
            for router in 0..grid.routers() {
                add_channel(grid, &routers, router, port, &mut segments);
            }
        }
        let axis = |d: usize| if d < dims { format!("{} [router]", super::DIMENSION_NAMES[d]) } else { String::new() };
        let note = if dims < 3 { "" } else { "planes of z side by side, channels in z are not drawn" };
        Some(Drawing { routers, terminals: Vec::new(), segments, axes: [axis(0), axis(1)], note: note.to_string() })
    }
}

/// The place of one of `of` points on a circle around the origin, neighbours about one unit apart.
pub(super) fn on_circle(i: u32, of: u32) -> [f64; 2] {
    let radius = (f64::from(of) / std::f64::consts::TAU).max(if of == 1 { 0.0 } else { 1.0 });
    let (y, x) = (std::f64::consts::TAU * f64::from(i) / f64::from(of)).sin_cos();
    [radius * x, radius * y]
}

/// Adds the segments of a channel in a plane, if it exists.
fn add_channel(grid: &Grid, routers: &[[f64; 2]], router: u32, port: usize, segments: &mut Vec<Segment>) {
    let Some(far) = grid.neighbour(router, port) else { return };
    let (d, sign) = (port / 2, if port.is_multiple_of(2) { 1.0 } else { -1.0 });
    let step = if d == 0 { [1.0, 0.0] } else { [0.0, 1.0] };
    let move_by = |[x, y]: [f64; 2], along: f64| {
        [x + APART * step[1] * sign + along * step[0], y - APART * step[0] * sign + along * step[1]]
    };
    let mut add = |from: [f64; 2], to: [f64; 2]| segments.push(Segment { router, port: port as u32, from, to });
    let (here, there) = (routers[router as usize], routers[far as usize]);
    let last = if port.is_multiple_of(2) { grid.size(d) - 1 } else { 0 };
    if grid.coords(router)[d] == last {
        add(move_by(here, 0.0), move_by(here, sign * STUB));
        add(move_by(there, -sign * STUB), move_by(there, 0.0));
    } else {
        add(move_by(here, 0.0), move_by(here, sign));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_that_wraps_has_a_stub_at_each_end() {
        let drawing = Drawing::of_grid(&Grid::torus(&[4, 3])).unwrap();
        assert_eq!(drawing.routers[5], [1.0, 1.0]);
        let of = |router, port| drawing.segments.iter().filter(move |s| (s.router, s.port) == (router, port));
        assert_eq!(of(1, 0).map(|s| (s.from, s.to)).collect::<Vec<_>>(), [([1.0, -APART], [2.0, -APART])]);
        let wrap: Vec<_> = of(3, 0).map(|s| (s.from, s.to)).collect();
        assert_eq!(wrap, [([3.0, -APART], [3.0 + STUB, -APART]), ([-STUB, -APART], [0.0, -APART])]);
        assert_eq!(drawing.segments.len(), 4 * 12 + 2 * (3 + 4));
    }

    #[test]
    fn planes_lie_side_by_side_and_four_dimensions_do_not_fit() {
        let drawing = Drawing::of_grid(&Grid::mesh(&[3, 2, 2])).unwrap();
        assert_eq!(drawing.routers[6], [2.0 + GAP, 0.0]);
        assert_eq!(drawing.axes, ["x [router]", "y [router]"]);
        assert!(Drawing::of_grid(&Grid::mesh(&[2, 2, 2, 2])).is_none());
    }
}
