//! Names of units: what each is, and what was meant by those that nobody can read safely.
//!
//! Upper and lower case matter as in SI: `Gb/s` are bits and `GB/s` bytes, `ms` are thousandths. A name whose case is
//! wrong is never taken as it seems: the error offers the name that was meant, or both where `b` may be a bit or a
//! byte.

use super::exact::{Exact, divided, multiplied};

const BYTES: i128 = 8;

/// Prefixes: name, in words, and factor.
const PREFIXES: [(&str, &str, i128); 11] = [
    ("", "", 1),
    ("k", "kilo", 1_000),
    ("M", "mega", 1_000_000),
    ("G", "giga", 1_000_000_000),
    ("T", "tera", 1_000_000_000_000),
    ("P", "peta", 1_000_000_000_000_000),
    ("Ki", "kibi", 1 << 10),
    ("Mi", "mebi", 1 << 20),
    ("Gi", "gibi", 1 << 30),
    ("Ti", "tebi", 1 << 40),
    ("Pi", "pebi", 1 << 50),
];

/// Times: names of which the first is offered, and how many ps each is.
const TIMES: [(&[&str], i128); 5] = [
    (&["ps", "psec", "picosecond", "picoseconds"], 1),
    (&["ns", "nsec", "nanosecond", "nanoseconds"], 1_000),
    // The micro sign and the Greek letter look alike.
    (&["us", "\u{b5}s", "\u{3bc}s", "usec", "microsecond", "microseconds"], 1_000_000),
    (&["ms", "msec", "millisecond", "milliseconds"], 1_000_000_000),
    (&["s", "sec", "second", "seconds"], 1_000_000_000_000),
];
const PS_PER_NS: i128 = 1_000;
const NS_PER_S: i128 = 1_000_000_000;

/// What a name is, or may be.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct UnitMeaning {
    /// How many ns, bytes or bytes/s; `None` where the name is not safe.
    pub(super) factor: Option<Exact>,
    /// What it is called; several where bits cannot be told from bytes.
    pub(super) names: Vec<String>,
}

impl UnitMeaning {
    fn unsafe_as(names: impl IntoIterator<Item = String>) -> UnitMeaning {
        UnitMeaning { factor: None, names: names.into_iter().collect() }
    }

    /// The same by other names.
    fn called(self, name: impl Fn(&str) -> String) -> UnitMeaning {
        UnitMeaning { names: self.names.iter().map(|one| name(one)).collect(), ..self }
    }

    fn not_safe(self) -> UnitMeaning {
        UnitMeaning { factor: None, ..self }
    }
}

/// A duration \[ns].
pub(super) fn time(name: &str) -> Option<UnitMeaning> {
    let lower = name.to_lowercase();
    let (names, ps) = TIMES.iter().find(|(names, _)| names.contains(&lower.as_str()))?;
    let factor = names.contains(&name).then(|| Exact::new(*ps, PS_PER_NS));
    Some(UnitMeaning { factor, names: vec![names[0].to_string()] })
}

/// A size \[bytes]. Sizes of messages and buffers are in bytes, so a lone `b` may be either.
pub(super) fn size(name: &str) -> Option<UnitMeaning> {
    amount(name, false)
}

/// A rate [bytes/s]: a size a time, `Gbps`, or transfers and their width, `3200 MT/s x 64 bit`.
pub(super) fn rate(name: &str) -> Option<UnitMeaning> {
    if let Some(found) = transfers(name) {
        return Some(found);
    }
    if let Some((size, time_name)) = name.split_once('/') {
        let (size, time) = (amount(size.trim(), true)?, time(time_name.trim())?);
        let factor = size.factor.zip(time.factor).and_then(|(bytes, ns)| per(bytes, ns));
        return Some(UnitMeaning { factor, ..size.called(|one| format!("{one}/{}", time.names[0])) });
    }
    let per_second = |unit_meaning: UnitMeaning| unit_meaning.called(|one| format!("{one}/s"));
    if let Some(size) = name.strip_suffix("ps") {
        return amount(size, true).map(per_second);
    }
    let lower = name.to_ascii_lowercase();
    if lower.ends_with("ps") && name.is_ascii() {
        // Of "GBPS" the B says nothing.
        let size = lower.strip_suffix("ps").unwrap_or_default();
        return amount(size, false).map(|found| per_second(found.not_safe()));
    }
    let bare = amount(name, true).or_else(|| amount(name.strip_suffix(['s', 'S'])?, true))?;
    Some(per_second(bare.not_safe()))
}

/// So many bytes in so many ns, in bytes/s.
fn per(bytes: Exact, ns: Exact) -> Option<Exact> {
    divided(multiplied(bytes, Exact::from_integer(NS_PER_S))?, ns)
}

/// What a prefix is: its name, its factor, and whether it is written so.
fn prefix(name: &str) -> Option<(&'static str, i128, bool)> {
    if let Some(found) = PREFIXES.iter().find(|prefix| prefix.0 == name || prefix.0 == "k" && name == "K") {
        return Some((found.0, found.2, true));
    }
    let lower = name.to_lowercase();
    let found = PREFIXES.iter().find(|prefix| prefix.0.to_lowercase() == lower || prefix.1 == lower)?;
    Some((found.0, found.2, false))
}

/// So many bits or bytes. `b` alone is a bit where `has_bits`.
fn amount(name: &str, has_bits: bool) -> Option<UnitMeaning> {
    if !name.is_ascii() || name.is_empty() {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    let bytes = |prefix: &str| format!("{prefix}B");
    let bits = |prefix: &str| format!("{prefix}bit");
    let is_binary = |factor: i128| factor.count_ones() == 1 && factor > 1;
    for (word, parts) in [("bytes", 1), ("byte", 1), ("bits", BYTES), ("bit", BYTES)] {
        let Some(before) = lower.strip_suffix(word) else { continue };
        let (prefix, factor, exact) = prefix(&name[..before.len()])?;
        let canonical = if parts == 1 { bytes(prefix) } else { bits(prefix) };
        return Some(UnitMeaning { factor: exact.then(|| Exact::new(factor, parts)), names: vec![canonical] });
    }
    let (before, last) = name.split_at(name.len() - 1);
    match last {
        "B" => {
            let (prefix, factor, exact) = prefix(before)?;
            Some(UnitMeaning { factor: exact.then(|| Exact::from_integer(factor)), names: vec![bytes(prefix)] })
        }
        "b" => {
            let (prefix, factor, exact) = prefix(before)?;
            if has_bits && exact && !is_binary(factor) {
                return Some(UnitMeaning { factor: Some(Exact::new(factor, BYTES)), names: vec![bits(prefix)] });
            }
            Some(UnitMeaning::unsafe_as([bits(prefix), bytes(prefix)]))
        }
        _ => {
            let (prefix, factor, _) = prefix(name)?;
            // 64K is 64 KiB to some and 64 kB to others; 10G is a rate of bits to most.
            let binary = format!("{}iB", prefix.to_uppercase());
            Some(UnitMeaning::unsafe_as(match (has_bits, is_binary(factor)) {
                (true, _) => vec![bits(prefix), bytes(prefix)],
                (false, true) => vec![bytes(prefix)],
                (false, false) => vec![binary, bytes(prefix)],
            }))
        }
    }
}

/// Transfers of a parallel channel and how wide it is: `MT/s x 64 bit`.
fn transfers(name: &str) -> Option<UnitMeaning> {
    // At most one letter before it: "Kibit/s" are no transfers.
    let at = name.to_ascii_lowercase().find("t/s").filter(|&at| at <= 1)?;
    let (prefix, factor, exact) = prefix(name[..at].trim())?;
    let each = format!("{prefix}T/s");
    let rest = name[at + 3..].trim();
    if rest.is_empty() {
        return Some(UnitMeaning::unsafe_as([format!("{each} x 64 bit")]));
    }
    let width = rest.strip_prefix(['x', 'X', '\u{d7}', '*'])?.trim();
    let digits = width.find(|c: char| !c.is_ascii_digit()).unwrap_or(width.len());
    let (count, unit) = width.split_at(digits);
    let times: i128 = count.parse().ok()?;
    let unit = unit.trim().trim_start_matches('-').trim();
    // "x16" are 16 lanes of a bit.
    let unit = if unit.is_empty() { UnitMeaning::unsafe_as(["bit".to_string()]) } else { size(unit)? };
    let is_safe = exact && name[at..].starts_with("T/s");
    let all = unit
        .factor
        .filter(|_| is_safe)
        .and_then(|bytes| multiplied(multiplied(bytes, Exact::from_integer(times))?, Exact::from_integer(factor)));
    Some(UnitMeaning { factor: all, ..unit.called(|one| format!("{each} x {count} {one}")) })
}
