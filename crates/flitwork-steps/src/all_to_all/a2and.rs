//! A2AND: count the relative coordinates up, the last dimension fastest.
//!
//! Takaue et al. 2010, section 2.2, for two dimensions:
//!
//! ```text
//! for x = 0..Nx-1: for y = 0..Ny-1:
//!     if x != 0 or y != 0: send((me_x + x) mod Nx, (me_y + y) mod Ny)
//! ```
//!
//! The paper prints the guard with "and", which would leave out every destination on the axes. More dimensions: as many
//! loops, dimension 0 outermost. It does not say which loop is the inner one; [`inside_out`] is the other reading.

use super::Offset;
use crate::MAX_DIMS;

/// Relative coordinates in order, each from 0 to size - 1.
pub fn order(sizes: &[u32]) -> Vec<Offset> {
    let mut offsets = Vec::new();
    let mut at: Offset = [0; MAX_DIMS];
    // Count up like an odometer whose last digit is the fastest, until it is back at zero.
    loop {
        let Some(d) = (0..sizes.len()).rev().find(|&d| at[d] + 1 < sizes[d] as i32) else {
            return offsets;
        };
        at[d] += 1;
        at[d + 1..].fill(0);
        offsets.push(at);
    }
}

/// The offsets of A2AnD with the loops inside out: the first dimension is the fastest.
pub fn inside_out(sizes: &[u32]) -> Vec<Offset> {
    let dims = sizes.len();
    let turned: Vec<u32> = sizes.iter().rev().copied().collect();
    let mut offsets = order(&turned);
    offsets.iter_mut().for_each(|offset| offset[..dims].reverse());
    offsets
}

#[cfg(test)]
mod tests {
    #[test]
    fn inside_out_y_is_outer_and_x_is_inner() {
        let order: Vec<_> = super::inside_out(&[3, 2]).iter().map(|v| (v[0], v[1])).collect();
        assert_eq!(order, [(1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]);
    }

    #[test]
    fn x_is_outer_and_y_is_inner() {
        let order: Vec<_> = super::order(&[2, 3]).iter().map(|v| (v[0], v[1])).collect();
        assert_eq!(order, [(0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
    }

    #[test]
    fn dimensions_of_size_one_do_not_matter() {
        assert_eq!(super::order(&[1, 3, 1]).len(), 2);
        assert!(super::order(&[1]).is_empty());
    }
}
