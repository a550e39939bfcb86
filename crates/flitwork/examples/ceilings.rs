//! Small loops that each ask one thing of the machine, for `benches/roofline.py`: the ceilings under which the
//! simulator runs.
//!
//! `ceilings instructions STEPS` is integer work on registers. `ceilings chase STEPS BYTES` reads a line of memory
//! whose address the line before it has, so that one miss ends before the next begins; `ceilings gather STEPS BYTES`
//! reads lines whose addresses are known, so that many are on their way. `ceilings guess STEPS MASK` takes one of two
//! ways by a random number, or with a mask of 0 always the same. How many instructions, misses and wrong guesses a step
//! has is counted by whoever runs it.

use std::hint::black_box;

/// A line of a cache.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Line(u64);

/// A linear congruential generator (Knuth's constants): its upper bits are random enough to defeat a prefetcher, and it
/// takes so few instructions that a step waits for memory, not for it.
struct Random(u64);

impl Random {
    #[inline(always)]
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}

/// Eight sums that do not depend on each other.
fn instructions(steps: u64) -> u64 {
    let mut sums: [u64; 8] = black_box([1, 2, 3, 4, 5, 6, 7, 8]);
    for step in 0..steps {
        for sum in &mut sums {
            *sum = sum.rotate_left(7) ^ step;
        }
    }
    sums.iter().fold(0, |all, sum| all ^ sum)
}

/// As many lines as a working set has.
fn lines(bytes: usize) -> Vec<Line> {
    (0..(bytes / 64).next_power_of_two() as u64).map(Line).collect()
}

/// Lines that each have the number of another, in one circle through all of them (Sattolo's algorithm).
fn chase(steps: u64, bytes: usize) -> u64 {
    let (mut lines, mut random) = (lines(bytes), Random(1));
    for last in (1..lines.len()).rev() {
        lines.swap(last, random.next() as usize % last);
    }
    (0..steps).fold(0, |line, _| lines[line as usize].0)
}

fn gather(steps: u64, bytes: usize) -> u64 {
    let (lines, mut random) = (lines(bytes), Random(1));
    let mask = lines.len() - 1;
    (0..steps).fold(0, |sum, _| sum ^ lines[random.next() as usize & mask].0)
}

fn guess(steps: u64, mask: u64) -> u64 {
    let (mut random, mut left, mut right) = (Random(1), 0u64, 0u64);
    for _ in 0..steps {
        // What a compiler may not look into it cannot do without a branch.
        if random.next() & mask == 0 {
            left = black_box(left + 1);
        } else {
            right = black_box(right + 3);
        }
    }
    left ^ right
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let usage = "usage: ceilings instructions|chase|gather|guess STEPS [BYTES|MASK]";
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [name, numbers @ ..] = given.as_slice() else { return Err(usage.into()) };
    let numbers = numbers.iter().map(|number| number.parse()).collect::<Result<Vec<u64>, _>>()?;
    let found = match (name.as_str(), numbers.as_slice()) {
        ("instructions", &[steps]) => instructions(steps),
        ("chase", &[steps, bytes]) => chase(steps, bytes as usize),
        ("gather", &[steps, bytes]) => gather(steps, bytes as usize),
        ("guess", &[steps, mask]) => guess(steps, mask),
        _ => return Err(usage.into()),
    };
    println!("{found}");
    Ok(())
}
