use super::*;
use crate::timetable::Walks;

/// Routers in a row, a terminal each; routes go straight.
fn line(n: u32) -> impl Routes {
    let walk = move |from: u32, to: u32| {
        let hops = from.abs_diff(to);
        let channel = |hop| if to > from { 2 * n + from + hop } else { 3 * n + from - hop };
        let channels = (0..hops).map(|hop| (channel(hop), 2 * hop));
        std::iter::once((from, 0)).chain(channels).chain([(n + to, 2 * hops)]).collect()
    };
    Walks { terminals: n, parts: 4 * n, walk }
}

/// A crossbar: ports alone, with ways of different lengths.
fn crossbar(n: u32) -> impl Routes {
    Walks { terminals: n, parts: 2 * n, walk: move |from, to| vec![(from, 0), (n + to, (to + n - from) % n / 2)] }
}

fn found(routes: &dyn Routes, block_flits: u32, radices: &[Vec<u32>], budget_steps: u64) -> (u64, PairTimetable) {
    let order = PairOrder { routes, block_flits, radices: radices.to_vec(), seed: 1, budget_steps };
    let (found, bound) = synthesise_pairs(&order, &mut |_| true).unwrap();
    assert_eq!(found.check(routes), Ok(()));
    assert_eq!((found.clone(), bound), synthesise_pairs(&order, &mut |_| true).unwrap());
    assert_eq!(bound, pair_bound_cycles(&order).unwrap());
    (bound, found)
}

#[test]
fn lines_come_to_their_bound() {
    for k in [2, 3, 4, 5, 8] {
        let (bound, timetable) = found(&line(k), 1, &[], 200_000);
        assert!(timetable.period_cycles <= bound + bound / 8 + 1, "{k}: {} of {bound}", timetable.period_cycles);
        let (bound, timetable) = found(&line(k), 50, &[], 200_000);
        let guard = u64::from(k - 2) * 2;
        assert_eq!(timetable.period_cycles, bound / 50 * (50 + guard), "{k}");
    }
}

#[test]
fn where_all_terminals_are_alike_differences_are_placed() {
    for n in [2, 5, 8, 16] {
        let (bound, timetable) = found(&crossbar(n), 1, &[vec![n]], 100_000);
        assert!(timetable.period_cycles <= bound + 1, "{n}: {} of {bound}", timetable.period_cycles);
        let starts = (0..n).map(|from| timetable.start(from, (from + 1) % n));
        assert!(starts.clone().all(|start| start == timetable.start(0, 1)));
    }
    // Digits of a line do not make it alike.
    let order = PairOrder { routes: &line(4), block_flits: 1, radices: vec![], seed: 1, budget_steps: 1 };
    assert!(Units::alike(&order, &[2, 2]).is_none());
    assert!(Units::alike(&order, &[3]).is_none());
}

/// A network of a few routers in a ring with chords, drawn, with `n` terminals on it; routes are shortest paths, of
/// several the first.
fn ring_with_chords(routers: u32, n: u32, seed: u64) -> impl Routes {
    let mut random = Random::new(seed, u64::from(n));
    let mut next_to: Vec<Vec<u32>> =
        (0..routers).map(|r| vec![(r + 1) % routers, (r + routers - 1) % routers]).collect();
    for _ in 0..routers {
        let [a, b] = [0; 2].map(|_| random.below(routers as usize));
        next_to[a].push(b as u32);
    }
    let at: Vec<u32> = (0..n).map(|_| random.below(routers as usize) as u32).collect();
    let channels = 2 * n;
    let walk = move |from: u32, to: u32| {
        let distance = |start: u32, end: u32| {
            let (mut reached, mut hops) = (vec![start], 0);
            while !reached.contains(&end) {
                reached = reached.iter().flat_map(|&r| next_to[r as usize].clone()).collect();
                reached.sort_unstable();
                reached.dedup();
                hops += 1;
            }
            hops
        };
        let (mut here, end, mut after) = (at[from as usize], at[to as usize], 0);
        let mut uses = vec![(from, 0)];
        while here != end {
            let left = distance(here, end);
            let next = next_to[here as usize].iter().copied().find(|&next| distance(next, end) < left).unwrap();
            after += 3;
            uses.push((channels + here * routers + next, after));
            here = next;
        }
        uses.push((n + to, after + 3));
        uses
    };
    Walks { terminals: n, parts: channels + routers * routers, walk }
}

#[test]
fn without_a_search_the_period_is_near_the_bound() {
    for seed in 0..20 {
        let network = ring_with_chords(4 + seed as u32 % 5, 12 + seed as u32, seed);
        for block_flits in [1, 7] {
            let order = PairOrder { routes: &network, block_flits, radices: vec![], seed, budget_steps: 0 };
            let demand = check(&order).unwrap();
            let Best { length, found } = at_once(&Units::single(&order), &mut Meter::new(1, 1, &mut |_| true));
            let (place, least) = (demand.place_cycles(block_flits), demand.least(network.terminals(), block_flits));
            let starts = found.into_iter().map(|at| at * place).collect();
            let timetable =
                PairTimetable { terminals: network.terminals(), period_cycles: length * place, block_flits, starts };
            assert_eq!(timetable.check(&network), Ok(()));
            assert!(length <= least + least / 4, "{seed}: {length} of {least}");
        }
    }
}

#[test]
fn a_stopped_search_has_something() {
    fn order(routes: &dyn Routes) -> PairOrder<'_> {
        PairOrder { routes, block_flits: 1, radices: vec![], seed: 1, budget_steps: 1 << 40 }
    }
    // With 80 terminals it is stopped before all messages have a first place.
    for network in [8, 80].map(line) {
        let (timetable, _) = synthesise_pairs(&order(&network), &mut |_| false).unwrap();
        assert_eq!(timetable.check(&network), Ok(()));
    }
    assert!(synthesise_pairs(&order(&line(1)), &mut |_| true).is_err());
}
