//! In which order operations are taken that become ready at once: by kind, sends first, calcs last.
//!
//! Among those of one kind the definition of the machine is LogGOPSim, which sorts with the `std::sort` of GNU's C++
//! library and compares kinds only. Up to 16 operations that keeps their order. More of them it permutes, always in the
//! same manner, and finish times depend on it; so the same algorithm is done here: introsort with the median of three
//! to the front, down to parts of 16, and one insertion sort over all of it.

/// Parts up to this length are left to the insertion sort.
const SHORT: usize = 16;

/// Sorts as described; `kind` is all that is compared.
pub(super) fn sort<T, K: Ord + Copy>(items: &mut [T], kind: impl Fn(&T) -> K) {
    if items.len() > SHORT {
        let splits = 2 * items.len().ilog2();
        split(items, &kind, splits);
    }
    // A stable sort does what an insertion sort does.
    items.sort_by_key(kind);
}

fn split<T, K: Ord + Copy>(mut items: &mut [T], kind: &impl Fn(&T) -> K, mut splits: u32) {
    // There are three kinds, and parts of one kind are halved: the number of splits is never used up in practice.
    while items.len() > SHORT && splits > 0 {
        splits -= 1;
        let cut = partition(items, kind);
        let (low, high) = items.split_at_mut(cut);
        split(high, kind, splits);
        items = low;
    }
}

/// Splits at the median of the second, middle and last item; the length of the lower part.
fn partition<T, K: Ord + Copy>(items: &mut [T], kind: &impl Fn(&T) -> K) -> usize {
    let (a, b, c) = (1, items.len() / 2, items.len() - 1);
    let [of_a, of_b, of_c] = [a, b, c].map(|at| kind(&items[at]));
    let median = if of_a < of_b {
        if of_b < of_c {
            b
        } else if of_a < of_c {
            c
        } else {
            a
        }
    } else if of_a < of_c {
        a
    } else if of_b < of_c {
        c
    } else {
        b
    };
    items.swap(0, median);
    let pivot = kind(&items[0]);
    let (mut low, mut high) = (1, items.len());
    loop {
        while kind(&items[low]) < pivot {
            low += 1;
        }
        high -= 1;
        while pivot < kind(&items[high]) {
            high -= 1;
        }
        if low >= high {
            return low;
        }
        items.swap(low, high);
        low += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `std::sort` of GNU's C++ library makes of items whose kinds are (i² + i / 3) mod 3.
    #[test]
    fn items_of_one_kind_are_permuted_as_by_the_sort_of_the_c_library() {
        let sorted = |count: u32| {
            let mut items: Vec<u32> = (0..count).collect();
            sort(&mut items, |i| (i * i + i / 3) % 3);
            items
        };
        assert_eq!(sorted(16), [0, 7, 8, 9, 1, 2, 3, 10, 11, 12, 4, 5, 6, 13, 14, 15]);
        assert_eq!(sorted(17), [8, 16, 9, 0, 7, 3, 2, 10, 11, 12, 1, 5, 6, 4, 13, 14, 15]);
        let forty = [
            0, 18, 36, 35, 34, 7, 8, 9, 17, 16, 25, 27, 26, 30, 21, 28, 29, 20, 37, 38, 39, 10, 1, 2, 3, 19, 11, 12,
            13, 14, 15, 31, 32, 33, 6, 5, 4, 24, 23, 22,
        ];
        assert_eq!(sorted(40), forty);
        let front = [36, 80, 79, 26, 27, 72, 71, 70, 34, 35, 25, 63, 62, 61, 43, 44, 45, 54, 53, 52, 90, 0, 99, 98];
        assert_eq!(sorted(100)[..24], front);
    }
}
