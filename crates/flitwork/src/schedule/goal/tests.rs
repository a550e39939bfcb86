use super::*;
use crate::error::Error;
use proptest::prelude::*;

fn read(text: &str) -> Result<Goal> {
    Goal::read(text.as_bytes(), "x.goal")
}

/// Where, what, what instead, hint.
fn fault(text: &str) -> (String, String, String, String) {
    match read(text) {
        Err(Error::Config { path, value, expected, hint }) => (path, value, expected, hint),
        other => panic!("{text}: {other:?}"),
    }
}

const PAIR: &str = "num_ranks 2\nrank 0 {\na: send 8b to 1 tag 3 cpu 1 nic 2\nb: calc 5 cpu 2\nb requires a\n}\nrank 1 {\nrecv 8b from -1 tag -1\n}\n";

#[test]
fn operations_and_dependencies_are_read() {
    let goal = read(PAIR).unwrap();
    assert_eq!((goal.ranks(), goal.operations(), goal.dependencies()), (2, 3, 1));
    let send = GoalOp { kind: GoalKind::Send, cpu: 1, nic: 2, peer: 1, tag: 3, size: 8 };
    let calc = GoalOp { kind: GoalKind::Calc, cpu: 2, nic: 0, peer: 0, tag: 0, size: 5 };
    assert_eq!(goal.of_rank(0), [send, calc]);
    assert_eq!(goal.of_rank(1), [GoalOp { kind: GoalKind::Receive, cpu: 0, nic: 0, peer: ANY, tag: ANY, size: 8 }]);
    assert_eq!((goal.waiting_for(0, Until::Finished), goal.waiting_for(0, Until::Started)), (&[1][..], &[][..]));
    assert_eq!(goal.needs(), [0, 1, 0]);
}

#[test]
fn a_mark_of_byte_order_is_no_word() {
    assert_eq!(read(&format!("\u{feff}{PAIR}")).unwrap().ops(), read(PAIR).unwrap().ops());
}

#[test]
fn comments_blanks_and_order_of_lines_are_free() {
    let text = "// first\r\n/* two\nlines */ num_ranks 1 // one\n\n rank 0 { // here\nb irequires a\nb\t: calc 1 /* ns */\na:calc 2\n\n} // end";
    let goal = read(text).unwrap();
    assert_eq!(goal.waiting_for(1, Until::Started), [0]);
    assert_eq!(goal.ops()[0].size, 1);
    // The widest numbers.
    let wide = format!(
        "num_ranks 1\nrank 0 {{\ncalc {}\nrecv {}b from -1 tag 4294967294 cpu 255 nic 255\n}}",
        u64::MAX,
        u64::MAX
    );
    assert_eq!(read(&wide).unwrap().ops()[1].size, u64::MAX);
}

#[test]
fn what_is_wrong_is_named_with_line_and_column() {
    let of = |line: &str| fault(&format!("num_ranks 2\nrank 0 {{\n  {line}\n}}\nrank 1 {{\n}}\n"));
    let said = |at: &str, value: &str, expected: &str, hint: &str| {
        (format!("x.goal:{at}"), value.to_string(), expected.to_string(), hint.to_string())
    };
    assert_eq!(of("l1: sned 8b to 1"), said("3:7", "sned", "send, recv or calc", "did you mean send?"));
    assert_eq!(of("send 8 to 1"), said("3:10", "to", "b", ""));
    assert_eq!(of("send 8b from 1"), said("3:11", "from", "to", ""));
    assert_eq!(of("send 8b to 2"), said("3:14", "2", "a rank, 0 to 1", ""));
    assert_eq!(of("send 8b to -1").0, "x.goal:3:14");
    assert_eq!(of("recv 8b from 9").2, "a rank or -1, 0 to 1");
    assert_eq!(of("send 8b to 1 cpu 256").2, "the number of a CPU, 0 to 255");
    assert_eq!(of("send 8b to 1 tag 4294967295").2, "a tag or -1, 0 to 4294967294");
    assert_eq!(of("send 8b to 1 nic 0 cpu 1"), said("3:22", "cpu", "the end of the line", ""));
    assert_eq!(of("calc 5 nic 1"), said("3:10", "nic", "cpu", ""));
    assert_eq!(of("calc 99999999999999999999").2, "a time in ns, 0 to 2^64 - 1");
    assert_eq!(of("calc 5 }"), said("3:10", "}", "the end of the line", "one operation a line"));
    assert_eq!(of("a require b"), said("3:5", "require", "requires, irequires or :", "did you mean requires?"));
    assert_eq!(of("a: calc 1\na: calc 2"), said("4:1", "a", "a new label", "line 3 has it already"));
    assert_eq!(of("first: calc 1\nfirst requires fist").3, "did you mean first?");
    assert_eq!(of("a: calc 1\na requires b"), said("4:12", "b", "a label of an operation of rank 0", ""));
    assert_eq!(of("a: calc 1\na requires a").1, "a waits for a");
    assert_eq!(of("a: calc 1\nb: calc 1\na requires b\nb irequires a").1, "a waits for b waits for a");
    assert_eq!(of("é: calc 1"), said("3:3", "é:", "an operation, a label or }", ""));
    assert_eq!(of("/* open").2, "*/ that ends the comment");
}

#[test]
fn ranks_that_are_missing_out_of_order_or_too_many_are_named() {
    assert_eq!(fault("").0, "x.goal:1:1");
    assert_eq!(fault("num_ranks 0\n").2, "a number of ranks, 1 to 4294967294");
    assert_eq!(fault("num_ranks 4000000000\nrank 0 {\n}").3, "num_ranks says 4000000000 ranks, 1 are there");
    assert_eq!(fault("num_ranks 2\nrank 1 {\n}").2, "rank 0 here");
    assert_eq!(fault("num_ranks 1\nrank 0 {\n}\nrank 1 {\n}").2, "the end of the file");
    assert_eq!(fault("num_ranks 1\nrank 0 {\ncalc 1\n").2, "} that ends rank 0");
    assert_eq!(fault("num_ranks 1\nrank 0 calc 1\n").2, "{");
}

#[test]
fn binary_that_lies_is_refused() {
    let good = read(PAIR).unwrap().to_binary();
    assert_eq!(Goal::read(&good, "x").unwrap(), read(PAIR).unwrap());
    let with = |at: usize, bytes: &[u8]| {
        let mut bad = good.clone();
        bad[at..at + bytes.len()].copy_from_slice(bytes);
        match Goal::read(&bad, "x.bin") {
            Err(Error::Config { path, .. }) => path,
            other => panic!("{other:?}"),
        }
    };
    let most = u32::MAX.to_le_bytes();
    // Ranks, start of rank 0, nodes, roots, a root, the needs of a node, its type, its peer, its cpu, its dependants.
    let first = 8 + 6 + 2 * 16;
    for at in [8, 14, first, first + 4, first + 8, first + 12, first + 17, first + 35, first + 51] {
        assert!(with(at, &most).starts_with("x.bin, byte "), "{at}");
    }
    assert_eq!(with(first + 16, &[4]), format!("x.bin, byte {}", first + 16));
    assert_eq!(with(first + 33, &[200]), format!("x.bin, byte {}", first + 33));
    for length in 8..good.len() {
        let error = Goal::read(&good[..length], "x").unwrap_err();
        assert!(error.is_config(), "{length}: {error}");
    }
}

/// Any program: operations and dependencies of each rank, each on an earlier operation.
fn programs() -> impl Strategy<Value = Goal> {
    let op = (0..3_u8, 0..5_u32, prop_oneof![Just(ANY), 0..9_u32], any::<u64>(), 0..4_u8, 0..4_u8);
    let edge = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<bool>());
    let rank = (prop::collection::vec(op, 0..12), prop::collection::vec(edge, 0..20));
    prop::collection::vec(rank, 4).prop_map(|ranks| {
        let mut builder = GoalBuilder::new();
        for (ops, edges) in ranks {
            let count = ops.len();
            for (kind, peer, tag, size, cpu, nic) in ops {
                let kind = [GoalKind::Send, GoalKind::Receive, GoalKind::Calc][usize::from(kind)];
                let peer = if kind == GoalKind::Receive && peer == 4 { ANY } else { peer % 4 };
                builder.op(match kind {
                    GoalKind::Calc => GoalOp { kind, cpu, nic: 0, peer: 0, tag: 0, size },
                    _ => GoalOp { kind, cpu, nic, peer, tag, size },
                });
            }
            for (a, b, started) in edges {
                if count > 1 {
                    let (a, b) = (a.index(count), b.index(count));
                    // Backwards too, in a fixed order of all: there is no ring.
                    let (of, on) = if a % 3 == b % 3 {
                        (a.max(b), a.min(b))
                    } else if a % 3 > b % 3 {
                        (a, b)
                    } else {
                        (b, a)
                    };
                    if of != on {
                        let until = if started { Until::Started } else { Until::Finished };
                        builder.depend(of as u32, on as u32, until);
                    }
                }
            }
            builder.end_rank().unwrap();
        }
        builder.build()
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(goal in programs()) {
        let (text, binary) = (goal.to_text(), goal.to_binary());
        prop_assert_eq!(&Goal::read(text.as_bytes(), "text").unwrap(), &goal);
        prop_assert_eq!(&Goal::read(&binary, "binary").unwrap(), &goal);
        prop_assert_eq!(Goal::read(&binary, "binary").unwrap().to_text(), text);
    }

    #[test]
    fn damaged_binary_is_read_or_refused(goal in programs(), damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in any::<prop::sample::Index>()) {
        let mut bytes = goal.to_binary();
        for (at, byte) in damage {
            let at = 8 + at.index(bytes.len() - 8);
            bytes[at] = byte;
        }
        let _ = Goal::read(&bytes, "damaged");
        bytes.truncate(8 + cut.index(bytes.len() - 8));
        let _ = Goal::read(&bytes, "cut");
    }

    #[test]
    fn damaged_text_is_read_or_refused(goal in programs(), damage in prop::collection::vec((any::<prop::sample::Index>(), "[a-z0-9{}:/* \n-]{0,3}"), 1..6)) {
        let mut text = goal.to_text();
        for (at, other) in damage {
            let at = at.index(text.len());
            text.replace_range(at..text.len().min(at + 2), &other);
        }
        let _ = read(&text);
    }

    #[test]
    fn any_words_are_read_or_refused(words in prop::collection::vec(prop_oneof![
        Just("num_ranks 2\n"), Just("rank 0 {\n"), Just("}\n"), Just("rank"), Just("a"), Just(": "), Just("send 1b to 1"), Just(" requires "),
        Just("calc"), Just(" 7 "), Just("\n"), Just("/*"), Just("*/"), Just("//"), Just("-1"), Just("recv 1b from 0 tag "), Just("cpu")], 0..40)) {
        let _ = read(&words.concat());
    }
}
