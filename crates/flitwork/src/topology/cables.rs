//! What topologies of cables share: ports in the order in which cables are laid, limits of size, and the drawing.

use super::{Channel, Drawing, Segment, fabric};
use crate::error::{Error, Result};
use std::collections::HashMap;
use std::f64::consts::TAU;

/// Most ports of a router, with those of its terminals.
pub(super) const MOST_PORTS: u32 = fabric::MOST_PORTS as u32;
/// Most routers of a network.
pub(super) const MOST_ROUTERS: u32 = 1_000_000;
/// Most channels of a network.
const MOST_CHANNELS: u32 = 1 << 22;
/// Most routers that are drawn.
const MOST_DRAWN: u32 = 4096;
/// Distance between parallel cables in a drawing.
const PARALLEL: f64 = 0.16;

/// The cables of a network. Each takes the lowest free port at both of its ends.
pub(super) struct Cables {
    /// The next free port of each router.
    free: Vec<usize>,
    channels: Vec<Channel>,
}

impl Cables {
    /// No cables yet between so many routers.
    pub fn new(routers: u32) -> Self {
        Cables { free: vec![0; routers as usize], channels: Vec::new() }
    }

    /// Lays a cable whose two directions have the same class.
    pub fn lay(&mut self, one: u32, other: u32, class: usize) {
        self.lay_of(one, other, [class, class]);
    }

    /// Lays a cable. Its classes are that from the first router to the second, and that of the way back.
    pub fn lay_of(&mut self, one: u32, other: u32, classes: [usize; 2]) {
        let mut end = |router: u32| {
            let free = &mut self.free[router as usize];
            *free += 1;
            (router, *free - 1)
        };
        let channels = Channel::cable(end(one), end(other), 0);
        self.channels.extend(channels.into_iter().zip(classes).map(|(channel, class)| Channel { class, ..channel }));
    }

    /// The channels, the two directions of a cable one after the other.
    pub fn channels(self) -> Vec<Channel> {
        self.channels
    }
}

/// The error for a field of the topology.
pub(super) fn refuse<T>(field: &str, value: impl ToString, expected: impl Into<String>, hint: &str) -> Result<T> {
    Err(Error::config(format!("network.topology.{field}"), value, expected, hint))
}

/// Refuses a number of terminals for which a router with so many other ports, at most 63, has no room.
pub(super) fn check_terminals(field: &str, terminals: u32, ports: u32) -> Result<()> {
    let most = MOST_PORTS - ports;
    if (1..=most).contains(&terminals) {
        return Ok(());
    }
    let expected = format!("1 to {most}: a router has at most {MOST_PORTS} ports, {ports} of them to other routers");
    refuse(field, terminals, expected, "")
}

/// Most routers with so many channels each.
pub(super) fn most_routers(ports: u32) -> u32 {
    MOST_ROUTERS.min(MOST_CHANNELS / ports.max(1))
}

/// The number of routers, of a network that is not too large; `None` stands for a number beyond all bounds.
pub(super) fn checked_routers(field: &str, value: impl ToString, routers: Option<u64>, ports: u32) -> Result<u32> {
    let most = most_routers(ports);
    match routers {
        Some(routers) if routers <= u64::from(most) => Ok(routers as u32),
        _ => {
            refuse(field, value, format!("at most {most} routers with {ports} channels each"), "use a smaller network")
        }
    }
}

/// Routers at these places with straight cables between them, parallel cables side by side. `None` if there are too
/// many routers to draw.
pub(super) fn drawing(
    routers: u32,
    place: impl Fn(u32) -> [f64; 2],
    channels: &[Channel],
    note: &str,
) -> Option<Drawing> {
    if routers > MOST_DRAWN {
        return None;
    }
    let routers: Vec<[f64; 2]> = (0..routers).map(place).collect();
    let mut cables = HashMap::new();
    let segments = channels.iter().map(|channel| {
        let ends = (channel.from.0, channel.to.0);
        let before = cables.entry(ends).or_insert(0u32);
        let aside = beside(*before, ends, &routers);
        *before += 1;
        let place = |router: u32| [0, 1].map(|axis| routers[router as usize][axis] + aside[axis]);
        Segment::of_cable((ends.0, channel.from.1 as u32), place(ends.0), place(ends.1))
    });
    let segments = segments.collect();
    Some(Drawing { segments, routers, note: note.to_string(), ..Drawing::default() })
}

/// How far a cable is moved if so many others join the same two routers: in turn to both sides, in both directions by
/// the same.
fn beside(before: u32, (from, to): (u32, u32), routers: &[[f64; 2]]) -> [f64; 2] {
    if before == 0 {
        return [0.0, 0.0];
    }
    let [low, high] = [from.min(to), from.max(to)].map(|router| routers[router as usize]);
    let (dx, dy) = (high[0] - low[0], high[1] - low[1]);
    let side = if before.is_multiple_of(2) { -1.0 } else { 1.0 };
    let by = side * PARALLEL * f64::from(before.div_ceil(2)) / dx.hypot(dy).max(f64::MIN_POSITIVE);
    [by * dy, -by * dx]
}

/// A place in one of several groups on a circle, `apart` from each other: so far away from the middle of the group and
/// out of the circle, and so far along it.
pub(super) fn in_group(group: u32, groups: u32, apart: f64, [out, along]: [f64; 2]) -> [f64; 2] {
    let angle = TAU / f64::from(groups);
    let radius = if groups == 1 { 0.0 } else { apart / 2.0 / (angle / 2.0).sin() };
    let (sin, cos) = (angle * f64::from(group)).sin_cos();
    [(radius + out) * cos - along * sin, (radius + out) * sin + along * cos]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cables_take_the_next_port_at_both_ends() {
        let mut cables = Cables::new(3);
        cables.lay(0, 1, 0);
        cables.lay_of(2, 1, [1, 2]);
        let found: Vec<_> = cables.channels().iter().map(|c| (c.from, c.to, c.class)).collect();
        assert_eq!(found, [((0, 0), (1, 0), 0), ((1, 0), (0, 0), 0), ((2, 0), (1, 1), 1), ((1, 1), (2, 0), 2)]);
    }

    #[test]
    fn parallel_cables_lie_side_by_side() {
        let mut cables = Cables::new(2);
        (0..3).for_each(|_| cables.lay(0, 1, 0));
        let drawing = drawing(2, |router| [f64::from(router), 0.0], &cables.channels(), "").unwrap();
        let heights: Vec<f64> = drawing.segments.iter().map(|segment| (segment.from[1] * 100.0).round()).collect();
        assert_eq!(heights, [-4.0, 4.0, -20.0, -12.0, 12.0, 20.0]);
        assert!(super::drawing(MOST_DRAWN + 1, |_| [0.0, 0.0], &[], "").is_none());
    }

    #[test]
    fn groups_are_apart() {
        let places: Vec<[f64; 2]> = (0..5).map(|group| in_group(group, 5, 3.0, [0.0, 0.0])).collect();
        for (one, other) in places.iter().zip(&places[1..]) {
            assert!(((one[0] - other[0]).hypot(one[1] - other[1]) - 3.0).abs() < 1e-9);
        }
        assert_eq!(in_group(0, 1, 3.0, [1.0, 2.0]), [1.0, 2.0]);
    }
}
