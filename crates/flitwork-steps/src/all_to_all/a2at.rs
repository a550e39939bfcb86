//! A2AT: vectors that belong together load all channels equally.
//!
//! Send the vector `r` from every node of a torus: every channel of dimension `d` and sign `s = sign(r_d)` carries
//! `|r_d|` messages (half of that in each sign at a tie, `|r_d| = a_d / 2`). On a mesh, where destinations are taken
//! modulo the size as well, the channels in the middle carry `min(|r_d|, a_d - |r_d|)` in both signs. So a set of
//! vectors that is closed under exchanging coordinates and signs loads all dimensions and signs equally, and sent
//! together it wastes no channel.
//!
//! * [`square`]: the algorithm as published for odd squares, Takaue et al. 2010, section 2.3.
//! * [`general`]: any sizes, rectangles, 1 to 6 dimensions, any mixture of wraps. The principle, a set of relative
//!   coordinates symmetric about the origin and sent at the same time, is also that of US patent 10,430,375 B2.
//!
//! On odd squares the two differ only in the order of vectors and have the same loads, group by group (tested).

use super::Offset;
use crate::{MAX_DIMS, RankGrid};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

/// Relative coordinates in order: the published order on odd squares, the general one elsewhere.
pub fn order(grid: &RankGrid) -> Vec<Offset> {
    // Dimensions of a single router have nothing to say.
    let dims: Vec<usize> = (0..grid.dims()).filter(|&d| grid.size(d) > 1).collect();
    let sizes: Vec<u32> = dims.iter().map(|&d| grid.size(d)).collect();
    let wraps = dims.iter().any(|&d| grid.wraps(d));
    let vectors = match sizes[..] {
        [a, b] if a == b && a % 2 == 1 => square(a),
        _ => general(&sizes, wraps),
    };
    let spread = |v: Offset| {
        let mut offset = [0; MAX_DIMS];
        for (i, &d) in dims.iter().enumerate() {
            offset[d] = v[i];
        }
        offset
    };
    vectors.into_iter().map(spread).collect()
}

/// The published order for an N x N network of odd N. Each line of two vectors loads x and y equally; on a mesh two
/// consecutive vectors, on a torus four, load all channels equally.
///
/// The paper prints the inner loop of step 2 as `j = 1..i`, which would send every diagonal destination three times; it
/// must end at `i - 1`.
pub fn square(n: u32) -> Vec<Offset> {
    let h = (n as i32 - 1) / 2;
    let mut order = Vec::new();
    let mut send = |x, y| order.push([x, y, 0, 0, 0, 0]);
    // Step 1: the axes (load i) and the diagonals (load 2 i).
    for i in 1..=h {
        send(i, 0);
        send(0, i);
        send(-i, 0);
        send(0, -i);
        send(i, i);
        send(-i, -i);
        send(i, -i);
        send(-i, i);
    }
    // Step 2: the rest (load i + j).
    for i in 1..=h {
        for j in 1..i {
            send(i, j);
            send(-j, -i);
            send(j, i);
            send(-i, -j);
            send(i, -j);
            send(-j, i);
            send(j, -i);
            send(-i, j);
        }
    }
    order
}

/// The order for any sizes (all at least 2).
///
/// Vectors have coordinates in `(-a_d / 2, a_d / 2]`. Those with the same magnitudes in any arrangement form a group; a
/// group as a whole loads the limiting dimension most. Inside a group, one orbit after the other under cyclic shifts of
/// the coordinates and negation; a shift that does not fit into a rectangle is left out. With wraps, a vector is
/// followed by its opposite (they share no channel), without by its shifts (opposite vectors load the same channels of
/// a mesh).
///
/// Groups go by the sum of their magnitudes, near ones first. Groups that would not fill whole sets of vectors that all
/// channels share (2 a dimension with wraps, 1 without) come after the others, lest they shift all that follows out of
/// step with the injection ports.
pub fn general(sizes: &[u32], wraps: bool) -> Vec<Offset> {
    let width = sizes.len() * if wraps { 2 } else { 1 };
    let mut groups: Vec<_> = groups(sizes).into_iter().collect();
    groups
        .sort_by_key(|(magnitudes, vectors)| (vectors.len() % width != 0, magnitudes.iter().sum::<u32>(), *magnitudes));
    let mut order = Vec::new();
    let mut sent = HashSet::new();
    for (_, mut vectors) in groups {
        vectors.sort_by_key(|v| Reverse((v.map(i32::abs), *v)));
        for v in vectors {
            for member in orbit(&v, sizes, wraps) {
                if sent.insert(member) {
                    order.push(member);
                }
            }
        }
    }
    order
}

/// All vectors but 0, by their sorted magnitudes.
fn groups(sizes: &[u32]) -> BTreeMap<[u32; MAX_DIMS], Vec<Offset>> {
    let mut groups: BTreeMap<_, Vec<Offset>> = BTreeMap::new();
    for counted in super::a2and::order(sizes) {
        let v = centred(&counted, sizes);
        let mut magnitudes = v.map(i32::unsigned_abs);
        magnitudes.sort_unstable();
        groups.entry(magnitudes).or_default().push(v);
    }
    groups
}

/// What [`general`] sends after `v`, beginning with `v` itself. A vector that ties may occur twice, in both its signs.
fn orbit(v: &Offset, sizes: &[u32], wraps: bool) -> Vec<Offset> {
    let n = sizes.len();
    let fits = |v: &Offset| (0..n).all(|d| 2 * v[d].unsigned_abs() <= sizes[d]);
    let shifts = (0..n)
        .map(|k| {
            let mut shifted = *v;
            shifted[..n].rotate_right(k);
            shifted
        })
        .filter(fits);
    let opposite = |v: Offset| v.map(|c| -c);
    let members: Vec<Offset> = if wraps {
        shifts.flat_map(|v| [v, opposite(v)]).collect()
    } else {
        let shifts: Vec<Offset> = shifts.collect();
        shifts.iter().copied().chain(shifts.iter().map(|&v| opposite(v))).collect()
    };
    members.into_iter().map(|v| centred(&v, sizes)).collect()
}

/// The same destination with every coordinate in `(-a / 2, a / 2]`.
fn centred(v: &Offset, sizes: &[u32]) -> Offset {
    let mut v = *v;
    for (c, &a) in v.iter_mut().zip(sizes) {
        let a = a as i32;
        *c = c.rem_euclid(a);
        if 2 * *c > a {
            *c -= a;
        }
    }
    v
}

#[cfg(test)]
mod tests;
