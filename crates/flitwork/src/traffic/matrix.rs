//! Traffic matrices: how much each terminal sends to each other.

use crate::error::{Error, Result};

/// Rows are sources, columns destinations; only weights above 0 are kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// Where each row begins in the lists below, and where the last one ends.
    starts: Vec<usize>,
    /// Destinations of each row, ascending.
    destinations: Vec<u32>,
    weights: Vec<f64>,
    /// Sum of the shares of a row up to each entry; the last of a row is 1.
    cumulative: Vec<f64>,
    /// Sum of each row's weights.
    sums: Vec<f64>,
    /// Sum of all weights.
    total: f64,
}

impl Matrix {
    /// A matrix of `columns` columns, row after row.
    ///
    /// # Errors
    /// [`Error::Config`] where it is not square, or a number is negative or not finite. Paths begin with `weights`.
    pub fn dense(weights: &[f64], columns: usize) -> Result<Matrix> {
        let rows = weights.len().checked_div(columns).unwrap_or(0);
        if rows == 0 || rows != columns || rows * columns != weights.len() {
            let hint = "rows are sources, columns destinations";
            return Err(Error::config("weights", format!("{rows} rows of {columns} numbers"), "a square matrix", hint));
        }
        let entries = weights.iter().enumerate().map(|(i, &weight)| (i / columns, i % columns, weight));
        Matrix::of_entries(rows, entries)
    }

    /// A matrix of `size` rows from its entries (row, column, weight) in ascending order of row and column.
    fn of_entries(size: usize, entries: impl Iterator<Item = (usize, usize, f64)>) -> Result<Matrix> {
        let mut matrix = Matrix {
            starts: vec![0; size + 1],
            destinations: Vec::new(),
            weights: Vec::new(),
            cumulative: Vec::new(),
            sums: vec![0.0; size],
            total: 0.0,
        };
        for (row, column, weight) in entries {
            if !(weight.is_finite() && weight >= 0.0) {
                let expected = "a finite number, at least 0";
                return Err(Error::config(format!("weights[{row}][{column}]"), weight, expected, ""));
            }
            if weight > 0.0 {
                matrix.starts[row + 1] += 1;
                matrix.destinations.push(column as u32);
                matrix.weights.push(weight);
                matrix.sums[row] += weight;
            }
        }
        (0..size).for_each(|row| matrix.starts[row + 1] += matrix.starts[row]);
        matrix.total = matrix.sums.iter().sum();
        if !matrix.total.is_finite() {
            let expected = "numbers with a sum below 10^308";
            return Err(Error::config("weights", format!("a sum of {}", matrix.total), expected, ""));
        }
        matrix.cumulative =
            (0..size).flat_map(|row| super::cumulative(&matrix.weights[matrix.entries(row as u32)])).collect();
        Ok(matrix)
    }

    /// Whether all numbers are 0.
    pub fn is_zero(&self) -> bool {
        self.weights.is_empty()
    }

    /// Rows, which are as many as columns.
    pub fn size(&self) -> usize {
        self.sums.len()
    }

    fn entries(&self, row: u32) -> std::ops::Range<usize> {
        self.starts[row as usize]..self.starts[row as usize + 1]
    }

    /// The destinations of a row, ascending, with their weights.
    pub fn weights(&self, row: u32) -> impl Iterator<Item = (u32, f64)> {
        let entries = self.entries(row);
        self.destinations[entries.clone()].iter().copied().zip(self.weights[entries].iter().copied())
    }

    /// The destinations of a row and how much of its traffic each of them gets.
    pub fn shares(&self, row: u32) -> impl Iterator<Item = (u32, f64)> {
        let sum = self.sums[row as usize];
        self.weights(row).map(move |(to, weight)| (to, weight / sum))
    }

    /// How much a terminal sends, the mean over all terminals being 1: in proportion to the sum of its row.
    pub fn relative_load(&self, row: u32) -> f64 {
        self.sums[row as usize] / (self.total / self.size() as f64)
    }

    /// Whether a terminal sends nothing, or (`but_to_itself`) nothing to others.
    pub fn is_silent(&self, row: u32, but_to_itself: bool) -> bool {
        match &self.destinations[self.entries(row)] {
            [] => true,
            [to] => but_to_itself && *to == row,
            _ => false,
        }
    }

    /// The destination of a packet from `row`, given 56 random bits.
    #[inline]
    pub(super) fn draw(&self, row: u32, bits: u64) -> u32 {
        let entries = self.entries(row);
        self.destinations[entries.start + super::draw_by_share(&self.cumulative[entries], bits)]
    }

    /// Bytes in memory.
    pub(super) fn memory_bytes(&self) -> u64 {
        (self.weights.len() * 20 + self.size() * 16) as u64
    }

    /// The contents: rows, then of each row the number of its entries, then (destination, weight) of every entry.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 * self.starts.len() + 12 * self.weights.len());
        bytes.extend((self.size() as u64).to_le_bytes());
        self.starts.windows(2).for_each(|pair| bytes.extend(((pair[1] - pair[0]) as u64).to_le_bytes()));
        for (to, weight) in self.destinations.iter().zip(&self.weights) {
            bytes.extend(to.to_le_bytes());
            bytes.extend(weight.to_le_bytes());
        }
        bytes
    }

    /// What [`Matrix::to_bytes`] wrote.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Matrix> {
        let number = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?) as usize);
        let size = number(0).filter(|&size| size < bytes.len() / 8)?;
        let counts: Vec<usize> = (1..=size).map_while(|row| number(8 * row)).collect();
        let mut rows = counts.iter().enumerate().flat_map(|(row, &count)| std::iter::repeat_n(row, count));
        let entries = bytes.get(8 * (size + 1)..)?.chunks_exact(12).map_while(|entry| {
            let (to, weight) = entry.split_at(4);
            let to = u32::from_le_bytes(to.try_into().ok()?) as usize;
            Some((rows.next()?, to, f64::from_le_bytes(weight.try_into().ok()?)))
        });
        let entries: Vec<_> = entries.collect();
        let whole = counts.len() == size && entries.iter().all(|entry| entry.1 < size);
        Matrix::of_entries(size, entries.into_iter()).ok().filter(|matrix| whole && matrix.to_bytes() == bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix() -> Matrix {
        Matrix::dense(&[0.0, 3.0, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0], 3).unwrap()
    }

    #[test]
    fn destinations_come_in_their_shares() {
        let matrix = matrix();
        assert_eq!(matrix.shares(0).collect::<Vec<_>>(), [(1, 0.75), (2, 0.25)]);
        let n = 1 << 12;
        let ones = (0..n).filter(|i| matrix.draw(0, i << 44) == 1).count();
        assert_eq!(ones, 3 * n as usize / 4);
        assert_eq!(matrix.draw(2, u64::MAX >> 8), 0);
    }

    #[test]
    fn terminals_send_in_proportion_to_the_sums_of_their_rows() {
        let loads: Vec<f64> = (0..3).map(|row| matrix().relative_load(row)).collect();
        assert_eq!(loads, [2.0, 0.0, 1.0]);
        assert_eq!((matrix().is_silent(1, false), matrix().is_silent(0, true)), (true, false));
        let to_itself = Matrix::dense(&[1.0], 1).unwrap();
        assert_eq!((to_itself.is_silent(0, false), to_itself.is_silent(0, true)), (false, true));
    }

    #[test]
    fn contents_survive_their_bytes() {
        let bytes = matrix().to_bytes();
        assert_eq!(Matrix::from_bytes(&bytes), Some(matrix()));
        assert!((0..bytes.len()).all(|end| Matrix::from_bytes(&bytes[..end]).is_none()));
    }

    #[test]
    fn what_is_no_matrix_is_refused_with_its_place() {
        let error = |weights: &[f64], columns| Matrix::dense(weights, columns).unwrap_err().to_string();
        assert!(error(&[1.0, 2.0], 2).starts_with("weights = 1 rows of 2 numbers: expected a square matrix"));
        assert!(error(&[], 0).starts_with("weights = 0 rows of 0 numbers"));
        assert!(error(&[0.0, 1.0, -2.0, 0.0], 2).starts_with("weights[1][0] = -2: expected a finite number"));
        assert!(error(&[0.0, f64::NAN, 0.0, 0.0], 2).starts_with("weights[0][1] = NaN"));
        assert!(
            error(&[f64::MAX; 4], 2).starts_with("weights = a sum of inf: expected numbers with a sum below 10^308")
        );
        assert!(Matrix::dense(&[0.0; 4], 2).unwrap().is_zero());
    }
}
