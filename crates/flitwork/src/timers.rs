//! Timers of hosts and NICs: numbers, of terminals or messages, each with the cycle in which it is due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Numbers with the cycles in which they are due; those of one cycle come in ascending order.
#[derive(Debug, Default)]
pub struct Timers(BinaryHeap<Reverse<(u64, u32)>>);

impl Timers {
    /// Whether nothing is due any more.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A number is due in a cycle.
    pub fn push(&mut self, cycle: u64, number: u32) {
        self.0.push(Reverse((cycle, number)));
    }

    /// The next cycle in which one is due.
    pub fn next(&self) -> Option<u64> {
        self.0.peek().map(|Reverse((cycle, _))| *cycle)
    }

    /// Takes the first that is due by cycle `now`, if there is one.
    pub fn pop(&mut self, now: u64) -> Option<u32> {
        let Reverse((_, number)) = self.next().filter(|cycle| *cycle <= now).and_then(|_| self.0.pop())?;
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::Timers;

    #[test]
    fn what_is_due_comes_in_the_order_of_cycles_and_numbers() {
        let mut due = Timers::default();
        [(7, 1), (3, 9), (3, 2)].into_iter().for_each(|(cycle, number)| due.push(cycle, number));
        assert_eq!((due.next(), due.pop(2)), (Some(3), None));
        assert_eq!([due.pop(3), due.pop(3), due.pop(6), due.pop(8)], [Some(2), Some(9), None, Some(1)]);
        assert!(due.is_empty());
    }
}
