//! GOAL programs and the ideal machine against LogGOPSim: the samples and more programs, to the nanosecond.

use flitwork::schedule::Goal;
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
