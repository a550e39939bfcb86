//! The verdicts of the search for deadlocks: on rings and tori that have deadlocked, and the same on a smaller network
//! that stands for one that is too large.

use super::*;

const TIES: [Tie; 3] = [Tie::Plus, Tie::Parity, Tie::Random];
const BUFFERS: [Buffers; 3] = [Buffers::Shared, Buffers::OnePacket, Buffers::WholePackets];

fn full_lane() -> bool {
    std::env::var("FLITWORK_FULL").is_ok_and(|v| v == "1")
}

/// Even rings with the default tie have deadlocked under wormhole switching with buffers that packets share. Only a
/// ring of four closes no cycle: of its routers only the even ones send two hops to plus.
#[test]
fn a_ring_that_deadlocks_is_refused() {
    for sizes in [&[6][..], &[8], &[10], &[12], &[10, 1], &[1, 10], &[8, 8], &[5], &[7]] {
        let grid = Grid::torus(sizes);
        let cycle = cycle_of(&grid, "duato", Tie::Parity, Buffers::Shared);
        assert!(cycle.is_some(), "{sizes:?}");
        for buffers in [Buffers::OnePacket, Buffers::WholePackets] {
            assert_eq!(cycle_of(&grid, "duato", Tie::Parity, buffers), None, "{sizes:?} {buffers:?}");
        }
    }
    let verdict = |tie| cycle_of(&Grid::torus(&[4]), "duato", tie, Buffers::Shared).is_some();
    assert_eq!(TIES.map(verdict), [true, false, true]);
}

/// Whether the verdicts on a grid and on the one that stands for it are the same, under all buffers.
fn stands_for(grid: &Grid, level: usize, name: &str, tie: Tie) {
    let small = representative(grid, level).unwrap();
    for buffers in BUFFERS {
        let verdict = |grid: &Grid| cycle_of(grid, name, tie, buffers).is_some();
        assert_eq!(verdict(grid), verdict(&small), "{name} {grid:?} {small:?} {tie:?} {buffers:?}");
    }
}

/// A grid, and which of its dimensions wrap as bits.
fn wrapped(sizes: &[u32], wraps: usize) -> Grid {
    let wraps: Vec<bool> = (0..sizes.len()).map(|d| wraps >> d & 1 == 1).collect();
    Grid::new(sizes, &wraps, false)
}

#[test]
fn a_shorter_row_or_ring_has_the_same_verdict() {
    for (size, wraps, tie) in (9..=12).flat_map(|a| [0, 1].map(|w| (a, w))).flat_map(|(a, w)| TIES.map(|t| (a, w, t))) {
        let grid = wrapped(&[size], wraps);
        schemes(&grid, tie).iter().for_each(|(name, _)| stands_for(&grid, 0, name, tie));
    }
}

/// All that a packet may be: the router, what it carries, and the input port and set that it came by.
type Packet = (u32, Head, Option<(u8, u8)>);

fn at((router, _, entered): &Packet) -> At {
    At { router: *router, port: entered.map(|c| c.0), set: entered.map(|c| c.1) }
}

fn without_what_is_forgotten(routing: &dyn HopByHop, packet: &Packet) -> Packet {
    let (mut at, mut head) = (at(packet), packet.1);
    routing.forget(&mut at, &mut head);
    (packet.0, head, at.port.zip(at.set))
}

/// Where a packet may be next, in order: by each port that it may ask for, whatever its random bits.
fn next(fabric: &Fabric, routing: &dyn HopByHop, packet: &Packet, dst: u32) -> Vec<Packet> {
    let choice = routing.choice(&at(packet), &packet.1);
    let mut next = Vec::new();
    for port in 0..fabric.network_ports() {
        let minimal = choice.ports >> port & 1 == 1;
        let set = choice.set_of(port);
        let escape = choice.escape.filter(|&(escape, _)| escape as usize == port).map(|(_, set)| set);
        let adaptive = (minimal || u64::from(choice.sideways) >> port & 1 == 1).then_some(set);
        for (set, detour) in adaptive.map(|set| (set, !minimal)).into_iter().chain(escape.map(|set| (set, false))) {
            let mut head = packet.1;
            head.trip.crossed += (choice.crossing >> port & 1) as u8;
            head.trip.misroutes -= u8::from(detour);
            let Some((router, input)) = fabric.peer(packet.0, port) else { continue };
            next.extend(entered(routing, (router, head, Some((input as u8, set))), dst));
        }
    }
    next
}

/// A packet that came to a router, whatever its random bits; none where it has arrived.
fn entered(routing: &dyn HopByHop, packet: Packet, dst: u32) -> impl Iterator<Item = Packet> + '_ {
    (0..1u64 << routing.bits_on_entering()).filter_map(move |bits| {
        let mut head = packet.1;
        routing.enter(packet.0, dst, &mut head, &|| bits | bits << 8);
        (head.to != packet.0).then_some((packet.0, head, packet.2))
    })
}

/// A packet without what is forgotten has the same choices, and comes to the same places without what is forgotten
/// there: so it has the same choices for the rest of its route.
#[test]
fn what_is_forgotten_matters_to_no_choice() {
    let mut distinguished = 0;
    for (grid, tie) in grids().into_iter().flat_map(|grid| TIES.map(|tie| (grid.clone(), tie))) {
        let fabric = Fabric::of_grid(grid.clone(), 1).unwrap();
        for (name, scheme) in schemes(&grid, tie) {
            let routing = OnGrid::new(&grid, scheme);
            for dst in [0, grid.routers() - 1, grid.routers() / 2] {
                let others = (0..grid.routers()).filter(|&at| at != dst);
                let starts = others.clone().flat_map(|at| routing.starts(at, dst).into_iter().map(move |h| (at, h)));
                let firsts = others.flat_map(|at| {
                    let to = |via| routing.first_walks(at, via).into_iter().map(move |h| (at, h));
                    (0..grid.routers()).filter(move |&via| via != at).flat_map(to).collect::<Vec<_>>()
                });
                let all = starts.chain(firsts).flat_map(|(at, head)| entered(&routing, (at, head, None), dst));
                let mut open: Vec<Packet> = all.collect();
                let mut seen: std::collections::HashSet<Packet> = open.iter().copied().collect();
                while let Some(packet) = open.pop() {
                    let short = without_what_is_forgotten(&routing, &packet);
                    distinguished += u32::from(short != packet);
                    let outcomes = [&packet, &short].map(|packet| routing.choice(&at(packet), &packet.1));
                    assert_eq!(outcomes[0], outcomes[1], "{name} {grid:?} {tie:?} {packet:?}");
                    let [full, brief] = [&packet, &short].map(|packet| next(&fabric, &routing, packet, dst));
                    let [a, b] = [&full, &brief]
                        .map(|next| next.iter().map(|p| without_what_is_forgotten(&routing, p)).collect::<Vec<_>>());
                    assert_eq!(a, b, "{name} {grid:?} {tie:?} {packet:?}");
                    open.extend(full.into_iter().filter(|&packet| seen.insert(packet)));
                }
            }
        }
    }
    assert!(distinguished > 1000, "{distinguished}");
}

/// Numbers that look random, the same each time.
struct Draws(u64);

impl Draws {
    fn below(&mut self, n: usize) -> usize {
        self.0 = crate::mix::mix(self.0);
        crate::mix::draw_below(self.0, n as u64) as usize
    }
}

/// Rectangles of up to 12 routers a dimension, and boxes, of which some dimension is longer than 8; `FLITWORK_FULL=all`
/// compares all rectangles.
#[test]
fn a_smaller_rectangle_or_box_has_the_same_verdict() {
    let all = std::env::var("FLITWORK_FULL").is_ok_and(|v| v == "all");
    let mut draws = Draws(7);
    let mut compare = |sizes: &[u32], level: usize, all: bool| {
        let wraps = draws.below(1 << sizes.len());
        for wraps in if all { 0..1 << sizes.len() } else { wraps..wraps + 1 } {
            let grid = wrapped(sizes, wraps);
            let tie = TIES[draws.below(3)];
            let named = schemes(&grid, tie);
            let one = draws.below(named.len());
            for (_, (name, _)) in named.iter().enumerate().filter(|(i, _)| all || *i == one) {
                for tie in TIES.into_iter().filter(|&t| all || t == tie) {
                    stands_for(&grid, level, name, tie);
                }
            }
        }
    };
    if all {
        let rectangles = (1..=12).flat_map(|a| (1..=12).map(move |b| [a, b])).filter(|r| r.iter().any(|&a| a > 8));
        return rectangles.for_each(|sizes| compare(&sizes, 0, true));
    }
    let (rectangles, boxes) = if full_lane() { (150, 60) } else { (16, 6) };
    let mut sizes = Draws(1);
    for _ in 0..rectangles {
        let mut pair = [9 + sizes.below(4) as u32, 1 + sizes.below(12) as u32];
        pair.rotate_left(sizes.below(2));
        compare(&pair, 0, false);
    }
    for _ in 0..boxes {
        let mut three = [9 + sizes.below(4) as u32, 1 + sizes.below(4) as u32, 1 + sizes.below(4) as u32];
        three.rotate_left(sizes.below(3));
        compare(&three, 0, false);
    }
}
