//! What was found lately: plans of the points of a sweep ask the same again.

use std::collections::VecDeque;

/// The last few findings by a description of what was asked, the newest at the end.
pub(super) struct Recent<T> {
    found: VecDeque<(String, T)>,
    most: usize,
}

impl<T> Recent<T> {
    /// Keeps at most so many.
    pub const fn new(most: usize) -> Self {
        Recent { found: VecDeque::new(), most }
    }

    pub fn get(&self, asked: &str) -> Option<&T> {
        self.found.iter().find(|(of, _)| of == asked).map(|(_, found)| found)
    }

    pub fn push(&mut self, asked: String, found: T) {
        if self.found.len() == self.most {
            self.found.pop_front();
        }
        self.found.push_back((asked, found));
    }
}
