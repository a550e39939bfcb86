//! What a torus demands of any timetable: its vectors, and how long they keep the ports and channels busy.

use crate::timetable::gcd;
use crate::topology::MAX_DIMS;

/// Channels along each dimension, negative towards minus.
pub(super) type Vector = [i32; MAX_DIMS];

/// All vectors other than 0, each by a shortest path; components of half a ring lead towards plus.
pub(super) fn vectors(sizes: &[u32]) -> Vec<Vector> {
    let mut all = vec![[0; MAX_DIMS]];
    for (dim, &size) in sizes.iter().enumerate() {
        let size = size as i32;
        let with = |&v: &Vector| {
            (0..size).map(move |x| {
                let mut v = v;
                v[dim] = if 2 * x <= size { x } else { x - size };
                v
            })
        };
        all = all.iter().flat_map(with).collect();
    }
    all.remove(0);
    all
}

/// Channels of the path of a vector.
pub(super) fn hops(vector: &Vector) -> u32 {
    vector.iter().map(|d| d.unsigned_abs()).sum()
}

/// Nodes of the torus.
pub(super) fn nodes(sizes: &[u32]) -> u64 {
    sizes.iter().map(|&k| u64::from(k)).product()
}

/// Blocks that the busiest channel carries when every node sends one to every other node. Vectors of half a ring are
/// shared out as evenly as whole vectors can be.
pub(super) fn channel_blocks(sizes: &[u32]) -> u64 {
    let of_ring = |&size: &u32| {
        let (size, rings) = (u64::from(size), nodes(sizes) / u64::from(size));
        let short = (size - 1) / 2;
        let halves = if size.is_multiple_of(2) { rings.div_ceil(2) * (size / 2) } else { 0 };
        rings * short * (short + 1) / 2 + halves
    };
    sizes.iter().map(of_ring).max().unwrap_or(0)
}

/// Blocks that the busiest port or channel carries.
pub(super) fn busiest_blocks(sizes: &[u32]) -> u64 {
    channel_blocks(sizes).max(nodes(sizes) - 1)
}

/// Channels of all paths together.
pub(super) fn total_hops(sizes: &[u32]) -> u64 {
    let of_ring = |&size: &u32| {
        let size = u64::from(size);
        nodes(sizes) / size * (size * size / 4)
    };
    sizes.iter().map(of_ring).sum()
}

/// Slots that a frame needs at least.
///
/// If a frame has one slot less than the torus has nodes, all slots are starts and all are ends, so that the lengths of
/// all paths add up to a multiple of its slots. Where they do not, a frame needs one slot more (the *sum rule*).
pub(super) fn frame_bound(sizes: &[u32]) -> u64 {
    let (bound, ports) = (busiest_blocks(sizes), nodes(sizes) - 1);
    if bound == ports && !total_hops(sizes).is_multiple_of(ports) { bound + 1 } else { bound }
}

/// Rows after which all rings close: their least common multiple.
pub(super) fn rows(sizes: &[u32]) -> u64 {
    sizes.iter().fold(1, |all, &k| all / gcd(all, u64::from(k)) * u64::from(k))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_frames_are_those_known() {
        for (sizes, bound) in [
            (&[5, 5][..], 25),
            (&[6, 6], 36),
            (&[7, 7], 49),
            (&[8, 8], 64),
            (&[9, 9], 90),
            (&[16, 16], 512),
            (&[8, 4], 32),
            (&[6, 5, 4], 120),
            (&[4, 4, 4], 64),
            (&[8, 8, 8], 512),
            (&[2], 1),
            (&[8], 10),
        ] {
            assert_eq!(frame_bound(sizes), bound, "{sizes:?}");
            let all = vectors(sizes);
            assert_eq!(all.len() as u64, nodes(sizes) - 1);
            assert_eq!(all.iter().map(|v| u64::from(hops(v))).sum::<u64>(), total_hops(sizes), "{sizes:?}");
        }
    }
}
