//! Which receive takes which message on the ideal machine: the first in the order in which they came that fits.
//!
//! A short list is searched from its front. A long one is a list for each pair of rank and tag, so that thousands of
//! posted receives or unexpected messages cost no search; then one that names its rank and tag looks at four lists, one
//! with a wildcard at all.

use crate::schedule::ANY;
use std::collections::{HashMap, VecDeque};

/// A receive that waits for its message, or a message that waits for its receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// Sending rank; of a receive it may be [`ANY`].
    pub from: u32,
    /// Tag; [`ANY`] of either side fits every tag.
    pub tag: u32,
    /// The operation.
    pub op: u32,
}

impl Entry {
    fn fits(&self, from: u32, tag: u32) -> bool {
        let alike = |a: u32, b: u32| a == b || a == ANY || b == ANY;
        alike(self.from, from) && alike(self.tag, tag)
    }
}

/// Longer lists are kept by rank and tag.
const SHORT: usize = 24;

/// Entries in the order in which they came.
#[derive(Debug)]
pub(super) enum Mailbox {
    Short(VecDeque<Entry>),
    Long(Box<Long>),
}

/// Entries by rank and tag, with the numbers in which they came.
#[derive(Debug, Default)]
pub(super) struct Long {
    lists: HashMap<(u32, u32), VecDeque<(u64, u32)>>,
    next: u64,
    count: usize,
}

impl Default for Mailbox {
    fn default() -> Self {
        Mailbox::Short(VecDeque::new())
    }
}

impl Mailbox {
    /// Adds an entry behind the others.
    pub fn push(&mut self, entry: Entry) {
        match self {
            Mailbox::Short(list) if list.len() < SHORT => list.push_back(entry),
            Mailbox::Short(list) => {
                let mut long = Long::default();
                list.drain(..).for_each(|one| long.push(one));
                long.push(entry);
                *self = Mailbox::Long(Box::new(long));
            }
            Mailbox::Long(long) => long.push(entry),
        }
    }

    /// Takes out the first entry that fits.
    pub fn take(&mut self, from: u32, tag: u32) -> Option<Entry> {
        match self {
            Mailbox::Short(list) => {
                let at = list.iter().position(|entry| entry.fits(from, tag))?;
                list.remove(at)
            }
            Mailbox::Long(long) => {
                let taken = long.take(from, tag);
                if long.count == 0 {
                    *self = Mailbox::default();
                }
                taken
            }
        }
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        matches!(self, Mailbox::Short(list) if list.is_empty())
    }

    /// The first entries.
    pub fn first(&self, most: usize) -> Vec<Entry> {
        match self {
            Mailbox::Short(list) => list.iter().take(most).copied().collect(),
            Mailbox::Long(long) => long.first(most),
        }
    }
}

impl Long {
    fn push(&mut self, Entry { from, tag, op }: Entry) {
        self.lists.entry((from, tag)).or_default().push_back((self.next, op));
        self.next += 1;
        self.count += 1;
    }

    fn take(&mut self, from: u32, tag: u32) -> Option<Entry> {
        let front = |key: (u32, u32)| self.lists.get(&key).and_then(|list| Some((list.front()?.0, key)));
        let first = if from == ANY || tag == ANY {
            let fits = |key: &(u32, u32)| Entry { from: key.0, tag: key.1, op: 0 }.fits(from, tag);
            self.lists.keys().copied().filter(fits).filter_map(front).min()
        } else {
            [(from, tag), (from, ANY), (ANY, tag), (ANY, ANY)].into_iter().filter_map(front).min()
        };
        let (_, key) = first?;
        let list = self.lists.get_mut(&key)?;
        let (_, op) = list.pop_front()?;
        if list.is_empty() {
            self.lists.remove(&key);
        }
        self.count -= 1;
        Some(Entry { from: key.0, tag: key.1, op })
    }

    fn first(&self, most: usize) -> Vec<Entry> {
        let entries = |(key, list): (&(u32, u32), &VecDeque<(u64, u32)>)| {
            let (from, tag) = *key;
            list.iter().map(|&(number, op)| (number, Entry { from, tag, op })).collect::<Vec<_>>()
        };
        let mut all: Vec<(u64, Entry)> = self.lists.iter().flat_map(entries).collect();
        all.sort_unstable_by_key(|one| one.0);
        all.into_iter().take(most).map(|one| one.1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What is kept by rank and tag is taken as from one list.
        #[test]
        fn a_long_list_is_a_list(steps in prop::collection::vec((0..4_u32, 0..4_u32, any::<bool>()), 0..400)) {
            let mut mailbox = Mailbox::default();
            let mut list: Vec<Entry> = Vec::new();
            let wild = |n: u32| if n == 3 { ANY } else { n };
            for (op, (from, tag, push)) in steps.into_iter().enumerate() {
                let (from, tag) = (wild(from), wild(tag));
                // Until there are many, few are taken.
                if push || list.len() < 2 * SHORT && op % 3 > 0 {
                    let entry = Entry { from, tag, op: op as u32 };
                    mailbox.push(entry);
                    list.push(entry);
                } else {
                    let at = list.iter().position(|entry| entry.fits(from, tag));
                    prop_assert_eq!(mailbox.take(from, tag), at.map(|at| list.remove(at)));
                }
                prop_assert_eq!(mailbox.first(5), list.iter().take(5).copied().collect::<Vec<_>>());
            }
        }
    }
}
