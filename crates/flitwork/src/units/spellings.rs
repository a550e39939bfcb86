//! Every spelling of a unit against a table that shares nothing with the parser: what is accepted has its value, and
//! what is refused offers a spelling that is accepted and has the value that was meant.

use super::{Dimension, Exact, shown};
use serde_json::json;

/// Prefixes and their factors, as powers.
const PREFIXES: [(&str, u32, u32); 10] = [
    ("", 10, 0),
    ("k", 10, 3),
    ("M", 10, 6),
    ("G", 10, 9),
    ("T", 10, 12),
    ("Ki", 2, 10),
    ("Mi", 2, 20),
    ("Gi", 2, 30),
    ("Ti", 2, 40),
    ("P", 10, 15),
];

fn read(what: Dimension, text: &str) -> Result<Exact, String> {
    what.read("at", &json!(text)).map_err(|fault| fault.to_string())
}

/// What stands in quotes behind "write".
fn offered(fault: &str) -> Vec<String> {
    let Some((_, hint)) = fault.split_once("; write ") else { return Vec::new() };
    hint.split(": ").next().unwrap().split('"').skip(1).step_by(2).map(str::to_string).collect()
}

/// Refused, or one of these values; what is offered instead is accepted, and its values are these.
fn never_misread(what: Dimension, text: &str, meant: &[Exact]) {
    match read(what, text) {
        Ok(found) => assert_eq!(vec![found], meant, "{text} is {}", shown(found)),
        Err(fault) => {
            let mut values: Vec<Exact> = offered(&fault).iter().map(|hint| read(what, hint).unwrap()).collect();
            let mut meant = meant.to_vec();
            values.sort();
            meant.sort();
            assert_eq!(values, meant, "{text}: {fault}");
        }
    }
}

#[test]
fn every_rate_that_people_write_has_its_value() {
    for (prefix, base, power) in PREFIXES {
        let bytes = Exact::from_integer(400 * i128::from(base).pow(power));
        let bits = bytes / Exact::from_integer(8);
        for unit in ["B/s", "Bps", "B / s", "byte/s", "bytes/s", "Byte/s", "B/sec"] {
            assert_eq!(read(Dimension::Rate, &format!("400 {prefix}{unit}")), Ok(bytes), "{prefix}{unit}");
        }
        for unit in ["bit/s", "bits/s", "Bit/s", "bit/sec", "bitps"] {
            assert_eq!(read(Dimension::Rate, &format!("400{prefix}{unit}")), Ok(bits), "{prefix}{unit}");
        }
        for unit in ["b/s", "bps"] {
            let text = format!("400 {prefix}{unit}");
            let may_be = if base == 2 { vec![bits, bytes] } else { vec![bits] };
            never_misread(Dimension::Rate, &text, &may_be);
            assert_eq!(read(Dimension::Rate, &text).is_ok(), base == 10, "{text}");
        }
        assert_eq!(read(Dimension::Rate, &format!("400 {prefix}B/us")), Ok(bytes * Exact::from_integer(1_000_000)));
        // The time is missing, or its stroke; or all is in capitals.
        never_misread(Dimension::Rate, &format!("400 {prefix}B"), &[bytes]);
        never_misread(Dimension::Rate, &format!("400 {prefix}Bs"), &[bytes]);
        never_misread(Dimension::Rate, &format!("400 {prefix}bit"), &[bits]);
        let loud = format!("400 {}BPS", prefix.to_uppercase());
        never_misread(Dimension::Rate, &loud, &[bits, bytes]);
        if !prefix.is_empty() {
            never_misread(Dimension::Rate, &format!("400{prefix}"), &[bits, bytes]);
        }
    }
}

#[test]
fn no_case_of_a_letter_is_taken_for_another() {
    for (prefix, base, power) in PREFIXES.into_iter().filter(|prefix| !prefix.0.is_empty()) {
        let bytes = Exact::from_integer(400 * i128::from(base).pow(power));
        let bits = bytes / Exact::from_integer(8);
        for turned in [prefix.to_lowercase(), prefix.to_uppercase()] {
            let is_right = turned == prefix || turned == "K";
            for word in ["bit", "BIT"] {
                never_misread(Dimension::Rate, &format!("400 {turned}{word}/s"), &[bits]);
                never_misread(Dimension::Size, &format!("400 {turned}{word}"), &[bits]);
                assert_eq!(read(Dimension::Rate, &format!("400 {turned}{word}/s")).is_ok(), is_right, "{turned}{word}");
            }
            never_misread(Dimension::Rate, &format!("400 {turned}B/s"), &[bytes]);
            never_misread(Dimension::Size, &format!("400 {turned}B"), &[bytes]);
            never_misread(Dimension::Size, &format!("400 {turned}b"), &[bits, bytes]);
            let may_be = if is_right && base == 10 { vec![bits] } else { vec![bits, bytes] };
            never_misread(Dimension::Rate, &format!("400 {turned}b/s"), &may_be);
        }
    }
}

#[test]
fn every_duration_that_people_write_has_its_value() {
    let times: [(&[&str], i128, i128); 5] = [
        (&["ps", "picoseconds"], 1, 1000),
        (&["ns", "nsec"], 1, 1),
        (&["us", "µs", "μs", "usec", "microseconds"], 1000, 1),
        (&["ms", "msec"], 1_000_000, 1),
        (&["s", "sec", "seconds"], 1_000_000_000, 1),
    ];
    for (names, numerator, denominator) in times {
        let value = Exact::new(25 * numerator, 10 * denominator);
        for name in names {
            assert_eq!(read(Dimension::Time, &format!("2.5 {name}")), Ok(value), "{name}");
            never_misread(Dimension::Time, &format!("2.5 {}", name.to_uppercase()), &[value]);
        }
    }
    assert!(offered(&read(Dimension::Time, "2.5 min").unwrap_err()).is_empty());
}

#[test]
fn transfers_need_their_width() {
    let value = Exact::from_integer(25_600_000_000);
    for text in ["3200 MT/s x 64 bit", "3200MT/s*64bit", "3.2 GT/s × 8 B", "3200 MT/s x 64-bit", "3200 MT/s x 8 bytes"]
    {
        assert_eq!(read(Dimension::Rate, text), Ok(value), "{text}");
    }
    for text in ["3200 MT/s", "3200 mt/s", "3200 MT/s x64", "3200 MT/S x 64 bit"] {
        never_misread(Dimension::Rate, text, &[value]);
        assert!(read(Dimension::Rate, text).is_err(), "{text}");
    }
    for text in ["3200 MT/s x", "3200 MT/s x 64 ns", "3200 MT/s y 64 bit", "3200 MT/s x -4 bit"] {
        assert!(read(Dimension::Rate, text).is_err(), "{text}");
    }
}

#[test]
fn hints_are_never_off_by_8_or_1000() {
    let hint = |what: Dimension, text: &str| offered(&read(what, text).unwrap_err());
    assert_eq!(hint(Dimension::Rate, "200 gbit/s"), ["200 Gbit/s"]);
    assert_eq!(hint(Dimension::Rate, "400 gb/s"), ["400 Gbit/s", "400 GB/s"]);
    assert_eq!(hint(Dimension::Rate, "100 gigabit/s"), ["100 Gbit/s"]);
    assert_eq!(hint(Dimension::Size, "64K"), ["64 KiB", "64 kB"]);
    assert_eq!(read(Dimension::Rate, "400 Gb/s"), Ok(Exact::from_integer(50_000_000_000)));
}
