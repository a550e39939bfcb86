//! Names and summaries as C strings, made by the compiler: texts of Rust have no 0 at their end.

use crate::all_to_all::ALGORITHMS;
use crate::{COLLECTIVES, Operation};
use std::ffi::CStr;

/// Longest text \[bytes], its end included.
const LONGEST: usize = 160;
/// All-to-alls among the collectives.
const ROWS: usize = rows();
/// And those among the orders that are not.
const COUNT: usize = ROWS + orders();

type Text = [u8; LONGEST];

/// Name and summary of every all-to-all, as [`crate::exchanges`] lists them.
static TEXTS: [(Text, Text); COUNT] = texts();

/// Name and summary of all-to-all number `index`.
pub fn of(index: u32) -> Option<(&'static CStr, &'static CStr)> {
    let (name, summary) = TEXTS.get(index as usize)?;
    Some((CStr::from_bytes_until_nul(name).ok()?, CStr::from_bytes_until_nul(summary).ok()?))
}

const fn is_row(index: usize) -> bool {
    matches!(COLLECTIVES[index].operation, Operation::AllToAll)
}

const fn rows() -> usize {
    let (mut count, mut index) = (0, 0);
    while index < COLLECTIVES.len() {
        count += is_row(index) as usize;
        index += 1;
    }
    count
}

/// Whether an order stands among the collectives, too.
const fn is_listed(order: usize) -> bool {
    let mut index = 0;
    while index < COLLECTIVES.len() {
        if is_row(index) && are_equal(COLLECTIVES[index].name.as_bytes(), ALGORITHMS[order].name.as_bytes()) {
            return true;
        }
        index += 1;
    }
    false
}

const fn orders() -> usize {
    let (mut count, mut index) = (0, 0);
    while index < ALGORITHMS.len() {
        count += !is_listed(index) as usize;
        index += 1;
    }
    count
}

const fn texts() -> [(Text, Text); COUNT] {
    let mut made = [([0; LONGEST], [0; LONGEST]); COUNT];
    let (mut at, mut index) = (0, 0);
    while index < COLLECTIVES.len() {
        if is_row(index) {
            made[at] = (text(COLLECTIVES[index].name), text(COLLECTIVES[index].summary));
            at += 1;
        }
        index += 1;
    }
    index = 0;
    while index < ALGORITHMS.len() {
        if !is_listed(index) {
            made[at] = (text(ALGORITHMS[index].name), text(ALGORITHMS[index].summary));
            at += 1;
        }
        index += 1;
    }
    made
}

/// The text with a 0 behind it. One that is too long does not compile.
const fn text(of: &str) -> Text {
    let bytes = of.as_bytes();
    let mut text = [0; LONGEST];
    assert!(bytes.len() < LONGEST);
    let mut index = 0;
    while index < bytes.len() {
        text[index] = bytes[index];
        index += 1;
    }
    text
}

const fn are_equal(a: &[u8], b: &[u8]) -> bool {
    let mut index = 0;
    while index < a.len() && index < b.len() && a[index] == b[index] {
        index += 1;
    }
    index == a.len() && index == b.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_strings_are_the_names_and_summaries_of_the_tables() {
        let exchanges: Vec<_> = (0..).map_while(of).map(|(a, b)| (a.to_str().unwrap(), b.to_str().unwrap())).collect();
        assert_eq!(exchanges, crate::exchanges().collect::<Vec<_>>());
        assert!(exchanges.len() > 10);
    }
}
