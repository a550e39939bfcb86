use super::*;
use std::sync::Arc;

/// Routes by a function: the parts of a pair, and how many cycles after its start each is used.
pub(crate) struct Walks<F> {
    pub terminals: u32,
    pub parts: u32,
    pub walk: F,
}

impl<F: Fn(u32, u32) -> Vec<(u32, u32)> + Sync> Routes for Walks<F> {
    fn terminals(&self) -> u32 {
        self.terminals
    }

    fn parts(&self) -> u32 {
        self.parts
    }

    fn visit(&self, from: u32, to: u32, visit: &mut dyn FnMut(u32, u32)) {
        (self.walk)(from, to).into_iter().for_each(|(part, after)| visit(part, after));
    }

    fn name(&self, part: u32) -> String {
        format!("part {part}")
    }
}

/// A star: every pair uses two ports and nothing else.
fn star(n: u32) -> impl Routes {
    Walks { terminals: n, parts: 2 * n, walk: move |from, to| vec![(from, 0), (n + to, 0)] }
}

fn shifts(terminals: u32) -> PairTimetable {
    let start = |n: u32| (n % terminals + terminals - n / terminals + terminals - 1) % terminals;
    let starts = (0..terminals * terminals).map(|n| u64::from(start(n)) % u64::from(terminals - 1)).collect();
    PairTimetable { terminals, period_cycles: u64::from(terminals - 1), block_flits: 1, starts }
}

#[test]
fn shifts_fill_the_ports_of_a_star() {
    let timetable = shifts(5);
    assert_eq!(timetable.check(&star(5)), Ok(()));
    assert_eq!(timetable.length_cycles(&star(5), 1), 4);
    assert_eq!(timetable.length_cycles(&star(5), 3), 12);
    let text = timetable.to_json();
    assert_eq!(PairTimetable::from_json(&text, "timetable").unwrap().to_json(), text);
    let schedule = Arc::new(timetable).schedule(&star(5), 2, 0);
    let sent: Vec<_> = schedule.operations(1).map(|op| op.kind.describe()).collect();
    assert!(sent.iter().any(|op| op == "wait until 3"), "{sent:?}");
    assert_eq!(sent.iter().filter(|op| op.starts_with("receive")).count(), 8);
}

#[test]
fn what_is_used_twice_is_named() {
    let mut timetable = shifts(4);
    timetable.starts[1] = timetable.start(0, 2);
    let fault = timetable.check(&star(4)).unwrap_err().to_string();
    assert!(fault.contains("from 0 to 1 and from 0 to 2 use part 0 both in cycle 1"), "{fault}");
    let fault = shifts(4).check(&star(5)).unwrap_err().to_string();
    assert!(fault.contains("terminals = 4: expected 5"), "{fault}");
    let text = shifts(3).to_json();
    for (old, new) in [("null", "1"), ("[0", "[0,0"), ("\"terminals\":3", "\"terminals\":4"), ("2", "0"), (",", "")] {
        assert!(PairTimetable::from_json(&text.replacen(old, new, 1), "timetable").is_err(), "{old} {new}");
    }
}
