//! A fixed array of the kernel's state.

use std::ops::{Index, IndexMut};

/// A boxed slice.
#[derive(Debug, Clone)]
pub(crate) struct Flat<T>(Box<[T]>);

impl<T: Clone> Flat<T> {
    /// `n` copies of `value`.
    pub fn filled(n: usize, value: T) -> Self {
        Flat(vec![value; n].into_boxed_slice())
    }
}

impl<T> Flat<T> {
    /// All elements.
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }
}

impl<T> FromIterator<T> for Flat<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Flat(items.into_iter().collect())
    }
}

impl<T> Index<usize> for Flat<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, i: usize) -> &T {
        &self.0[i]
    }
}

impl<T> IndexMut<usize> for Flat<T> {
    #[inline(always)]
    fn index_mut(&mut self, i: usize) -> &mut T {
        &mut self.0[i]
    }
}
