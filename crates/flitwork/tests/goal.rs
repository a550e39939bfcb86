//! GOAL programs and the ideal machine against LogGOPSim: the samples and more programs, to the nanosecond.

use flitwork::host::check_complete_under;
use flitwork::schedule::{Goal, SendQueue};
use flitwork::spec::LogGopsSpec;
use flitwork::{Rules, run_goal};
use std::fs;
use std::path::PathBuf;

fn data(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/goal").join(name);
    fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Each row of a table: the program, the parameters, the finish times.
fn rows(name: &str) -> Vec<(String, LogGopsSpec, Vec<u64>)> {
    let text = String::from_utf8(data(name)).unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let [file, l, o, g, gap, overhead, s, times] = cells[..] else { panic!("{line}") };
        let json = format!(r#"{{"L": {l}, "o": {o}, "g": {g}, "G": {gap}, "O": {overhead}, "S": {s}}}"#);
        let times = times.split(' ').map(|time| time.parse().unwrap()).collect();
        (file.to_string(), LogGopsSpec::from_json(&json).unwrap(), times)
    };
    text.lines().skip(1).map(row).collect()
}

fn check(table: &str) {
    for (file, spec, times) in rows(table) {
        let goal = Goal::read(&data(&format!("{file}.goal")), &file).unwrap();
        let result = run_goal(&goal, &spec, &file, &mut |_| true).unwrap();
        assert_eq!(result.finish_ns, times, "{file} {spec:?}");
        assert_eq!(result.rules, Rules::LogGopSim, "{file} {spec:?}");
    }
}

#[test]
fn the_samples_finish_when_loggopsim_says() {
    check("loggopsim.csv");
}

/// CPUs, NICs, `irequires`, wildcards, empty and long messages, and many operations that are ready at once.
#[test]
fn more_programs_finish_when_loggopsim_says() {
    check("more.csv");
}

#[test]
fn the_binary_sample_is_the_text_sample() {
    let (text, binary) = (data("a2a_8.goal"), data("a2a_8.bin"));
    let goal = Goal::read(&text, "text").unwrap();
    assert_eq!(Goal::read(&binary, "binary").unwrap(), goal);
    assert_eq!(goal.to_binary(), binary);
}

#[test]
fn samples_are_written_as_they_are_read() {
    for (file, ..) in rows("loggopsim.csv") {
        let text = data(&format!("{file}.goal"));
        assert_eq!(Goal::read(&text, &file).unwrap().to_text().as_bytes(), text, "{file}");
    }
}

/// As schedules, in a network that takes no time. Programs with wildcards may end or not, as their messages come.
#[test]
fn programs_end_as_schedules_too() {
    let mut ended = 0;
    for (file, ..) in rows("loggopsim.csv").into_iter().step_by(5).chain(rows("more.csv").into_iter().step_by(5)) {
        let goal = Goal::read(&data(&format!("{file}.goal")), &file).unwrap();
        if goal.to_text().contains("-1") {
            continue;
        }
        check_complete_under(&goal.to_schedule(&file).unwrap(), SendQueue::AsReady).unwrap();
        ended += 1;
    }
    assert!(ended > 7, "{ended}");
}

/// A program whose operations stand in the wrong order, with receives that must not be posted before their turn, and
/// starts.
#[test]
fn order_in_the_file_is_no_order_of_execution() {
    let text = "num_ranks 2\nrank 0 {\n\
        last: recv 8b from 1 tag 0\nmiddle: recv 8b from 1 tag 1\nfirst: recv 8b from 1 tag 0\nanswer: send 8b to 1 tag 0\n\
        answer requires first\nlast requires middle\nother: calc 900000 cpu 1\n}\n\
        rank 1 {\na: send 8b to 0 tag 0\nb: recv 8b from 0 tag 0\nc: send 8b to 0 tag 1\nd: send 8b to 0 tag 0\n\
        c requires b\nd irequires c\nw: calc 5\nw irequires d\n}\n";
    let schedule = Goal::read(text.as_bytes(), "order").unwrap().to_schedule("order").unwrap();
    check_complete_under(&schedule, SendQueue::AsReady).unwrap();
}
