use super::*;

fn run_with(text: &str, spec: &LogGopsSpec) -> IdealResult {
    let goal = Goal::read(text.as_bytes(), "test").unwrap();
    run_goal(&goal, spec, "test", &mut |_| true).unwrap()
}

fn run(text: &str) -> Vec<u64> {
    run_with(text, &LogGopsSpec::default()).finish_ns
}

fn program(ranks: &[&str]) -> String {
    let body = |(rank, lines): (usize, &&str)| format!("rank {rank} {{\n{}\n}}\n", lines.replace("; ", "\n"));
    format!("num_ranks {}\n{}", ranks.len(), ranks.iter().enumerate().map(body).collect::<String>())
}

#[test]
fn a_message_takes_what_the_formula_says() {
    // o, then L, then o + (s - 1) G.
    let one = program(&["send 101b to 1", "recv 101b from 0"]);
    assert_eq!(run(&one), [1500, 1500 + 2500 + 1500 + 600]);
    // The CPU has its own price for a byte; a fraction is rounded to the nearest ns.
    let spec = LogGopsSpec { O: 8.0, G: 0.125, ..LogGopsSpec::default() };
    assert_eq!(run_with(&one, &spec).finish_ns, [1500 + 800, 1500 + 2500 + 1500 + 800]);
    let spec = LogGopsSpec { O: 0.0, G: 0.126, ..LogGopsSpec::default() };
    assert_eq!(run_with(&one, &spec).finish_ns, [1500, 5500 + 13]);
}

#[test]
fn a_nic_is_busy_for_the_gap_and_the_bytes() {
    let two = program(&["send 1001b to 1; send 1001b to 1 tag 1 nic 1", "recv 1001b from 0; recv 1001b from 0 tag 1"]);
    // Two NICs: the second send begins when the CPU is free. Both arrive at the CPU of the receiver.
    assert_eq!(run(&two), [3000, 4000 + 2 * (1500 + 6000)]);
    let one = two.replace(" nic 1", "");
    assert_eq!(run(&one), [7000 + 1500, 4000 + 2 * (1500 + 6000)]);
}

#[test]
fn a_long_message_waits_for_its_receive() {
    let text = program(&[
        "a: send 100000b to 1; b: calc 10; b requires a",
        "a: calc 50000; b: recv 100000b from 0; b requires a",
    ]);
    // The receive is posted when the calc is over; the message was there: the send ends then.
    let spec = LogGopsSpec { G: 0.0, ..LogGopsSpec::default() };
    assert_eq!(run_with(&text, &spec).finish_ns, [50_010, 51_500]);
    let eager = LogGopsSpec { S: 100_000, ..spec };
    assert_eq!(run_with(&text, &eager).finish_ns, [1510, 51_500]);
}

#[test]
fn what_requires_and_irequires_wait_for() {
    let after = |word: &str| program(&[&format!("a: calc 100; b: calc 7 cpu 1; b {word} a"), "calc 1 cpu 1"]);
    // A CPU of its own is free: the machine has no time for each operation.
    assert_eq!(run(&after("requires")), [100, 1]);
    let other =
        program(&["a: send 70000b to 1; b: calc 7; b WORD a", "a: calc 9000; b: recv 70000b from 0; b requires a"]);
    let spec = LogGopsSpec { G: 0.0, ..LogGopsSpec::default() };
    assert_eq!(run_with(&other.replace("WORD", "irequires"), &spec).finish_ns[0], 9000);
    assert_eq!(run_with(&other.replace("WORD", "requires"), &spec).finish_ns[0], 9007);
}

#[test]
fn an_empty_message_is_one_byte_less_than_none() {
    let text = program(&["send 0b to 1", "recv 0b from 0"]);
    assert_eq!(run(&text), [1500, 5500 - 6]);
    // Gaps below zero set NICs back, but nothing begins before 0.
    let spec = LogGopsSpec { g: 0, o: 0, L: 0, O: 1.0, ..LogGopsSpec::default() };
    let many = program(&["send 0b to 1; send 0b to 1; send 5b to 1", "recv 0b from 0; recv 0b from 0; recv 5b from 0"]);
    assert_eq!(run_with(&many, &spec).finish_ns, [4, 24]);
}

#[test]
fn programs_that_cannot_end_say_who_waits() {
    let fault = |text: &str| {
        let goal = Goal::read(text.as_bytes(), "test").unwrap();
        run_goal(&goal, &LogGopsSpec::default(), "test", &mut |_| true).unwrap_err().to_string()
    };
    let alone = fault(&program(&["recv 8b from 1 tag 4", "calc 1"]));
    assert_eq!(alone, "schedule test: cannot end: rank 0: operation 1 (recv 8b from 1 tag 4) gets no message");
    let lost = fault(&program(&["calc 1; send 8b to 1", "calc 1"]));
    assert_eq!(lost, "schedule test: cannot end: rank 0: operation 2 (send 8b to 1 tag 0) is never received");
    let ring = ["a: recv 8b from 1; b: send 8b to 1; b requires a", "a: recv 8b from 0; b: send 8b to 0; b requires a"];
    let both = fault(&program(&ring));
    assert!(both.contains("rank 0: operation 1 ") && both.contains("rank 1: operation 1 "), "{both}");
}

/// More than 16 receives become ready at once, all alike: LogGOPSim permutes them, and its messages find the wrong
/// ones.
#[test]
fn a_legal_program_ends_also_where_the_order_of_loggopsim_would_not_let_it() {
    let ring = |rank: usize| -> String {
        let step = |k: usize| {
            let wait = if k > 0 { format!("; s{k} requires r{}", k - 1) } else { String::new() };
            format!("s{k}: send 8b to {}{wait}; r{k}: recv 8b from {}", (rank + 1) % 4, (rank + 3) % 4)
        };
        (0..30).map(step).collect::<Vec<_>>().join("; ")
    };
    let text = program(&[&ring(0), &ring(1), &ring(2), &ring(3)]);
    let result = run_with(&text, &LogGopsSpec::default());
    assert_eq!((result.rules, result.messages), (Rules::Plain, 120));
    assert_eq!(run_with(&program(&["calc 1"]), &LogGopsSpec::default()).rules, Rules::LogGopSim);
}

#[test]
fn times_beyond_all_reason_are_an_error_and_a_run_can_be_stopped() {
    let goal = Goal::read(format!("num_ranks 1\nrank 0 {{\ncalc {}\n}}", u64::MAX).as_bytes(), "long").unwrap();
    let error = run_goal(&goal, &LogGopsSpec::default(), "long", &mut |_| true).unwrap_err();
    assert!(error.to_string().contains("it takes longer than"), "{error}");
    let many = format!("num_ranks 1\nrank 0 {{\n{}}}", "calc 1\n".repeat(70_000));
    let goal = Goal::read(many.as_bytes(), "many").unwrap();
    let error = run_goal(&goal, &LogGopsSpec::default(), "many", &mut |_| false).unwrap_err();
    assert!(matches!(error, Error::Interrupted { .. }), "{error}");
}
