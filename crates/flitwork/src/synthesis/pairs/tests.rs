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

#[test]
fn a_stopped_search_has_something() {
    let order = PairOrder { routes: &line(8), block_flits: 1, radices: vec![], seed: 1, budget_steps: 1 << 40 };
    let (timetable, _) = synthesise_pairs(&order, &mut |_| false).unwrap();
    assert_eq!(timetable.check(&line(8)), Ok(()));
    let nothing = PairOrder { routes: &line(1), ..order };
    assert!(synthesise_pairs(&nothing, &mut |_| true).is_err());
}
