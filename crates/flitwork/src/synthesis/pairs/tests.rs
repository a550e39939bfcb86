use super::*;

/// Routers in a row, a terminal each; routes go straight.
struct Line(u32);

impl Routes for Line {
    fn terminals(&self) -> u32 {
        self.0
    }

    fn parts(&self) -> u32 {
        4 * self.0
    }

    fn visit(&self, from: u32, to: u32, visit: &mut dyn FnMut(u32, u32)) {
        visit(from, 0);
        let hops = from.abs_diff(to);
        for hop in 0..hops {
            let (at, side) = if to > from { (from + hop, 2) } else { (from - hop, 3) };
            visit(side * self.0 + at, 2 * hop);
        }
        visit(self.0 + to, 2 * hops);
    }

    fn name(&self, part: u32) -> String {
        format!("part {part}")
    }
}

/// A crossbar: ports alone, with ways of different lengths.
struct Crossbar(u32);

impl Routes for Crossbar {
    fn terminals(&self) -> u32 {
        self.0
    }

    fn parts(&self) -> u32 {
        2 * self.0
    }

    fn visit(&self, from: u32, to: u32, visit: &mut dyn FnMut(u32, u32)) {
        visit(from, 0);
        visit(self.0 + to, (to + self.0 - from) % self.0 / 2);
    }

    fn name(&self, part: u32) -> String {
        format!("part {part}")
    }
}

fn found(routes: &dyn Routes, block_flits: u32, radices: &[Vec<u32>], budget_steps: u64) -> (u64, PairTimetable) {
    let order = PairOrder { routes, block_flits, radices: radices.to_vec(), seed: 1, budget_steps };
    let found = synthesise_pairs(&order, &mut |_| true).unwrap();
    assert_eq!(found.check(routes), Ok(()));
    assert_eq!(found, synthesise_pairs(&order, &mut |_| true).unwrap());
    (pair_bound_cycles(&order).unwrap(), found)
}

#[test]
fn lines_come_to_their_bound() {
    for k in [2, 3, 4, 5, 8] {
        let (bound, timetable) = found(&Line(k), 1, &[], 200_000);
        assert!(timetable.period_cycles <= bound + bound / 8 + 1, "{k}: {} of {bound}", timetable.period_cycles);
        let (bound, timetable) = found(&Line(k), 50, &[], 200_000);
        let guard = u64::from(k - 2) * 2;
        assert_eq!(timetable.period_cycles, bound / 50 * (50 + guard), "{k}");
    }
}

#[test]
fn where_all_terminals_are_alike_differences_are_placed() {
    for n in [2, 5, 8, 16] {
        let (bound, timetable) = found(&Crossbar(n), 1, &[vec![n]], 100_000);
        assert!(timetable.period_cycles <= bound + 1, "{n}: {} of {bound}", timetable.period_cycles);
        let starts = (0..n).map(|from| timetable.start(from, (from + 1) % n));
        assert!(starts.clone().all(|start| start == timetable.start(0, 1)));
    }
    // Digits of a line do not make it alike.
    let order = PairOrder { routes: &Line(4), block_flits: 1, radices: vec![], seed: 1, budget_steps: 1 };
    assert!(Units::alike(&order, &[2, 2]).is_none());
    assert!(Units::alike(&order, &[3]).is_none());
}

#[test]
fn a_stopped_search_has_something() {
    let order = PairOrder { routes: &Line(8), block_flits: 1, radices: vec![], seed: 1, budget_steps: 1 << 40 };
    let timetable = synthesise_pairs(&order, &mut |_| false).unwrap();
    assert_eq!(timetable.check(&Line(8)), Ok(()));
    let nothing = PairOrder { routes: &Line(1), ..order };
    assert!(synthesise_pairs(&nothing, &mut |_| true).is_err());
}
