use super::*;
use serde_json::Value;

/// A frame of a ring of 3.
fn small() -> Timetable {
    let text = r#"{"sizes": [3], "period_cycles": 2, "hop_cycles": 1, "block_flits": 1, "shifts": [[0]],
        "entries": [[1, 0, 0], [-1, 1, 0]]}"#;
    Timetable::from_json(text, "timetable").unwrap()
}

#[test]
fn a_ring_of_three_is_full() {
    let ring = small();
    assert_eq!(ring.check(), Ok(()));
    assert_eq!(ring.length_cycles(1), 3);
    assert_eq!(Timetable::from_json(&ring.to_json(), "timetable").unwrap(), ring);
    let text = |schedule: &crate::schedule::Schedule, rank| {
        schedule.operations(rank).map(|op| op.kind.describe()).collect::<Vec<_>>()
    };
    let schedule = std::sync::Arc::new(ring).schedule(2, 0);
    // The block from rank 2 arrives in cycle 1, that from rank 1 in cycle 2.
    let first = [
        "wait until 0",
        "send to rank 1, tag 0",
        "receive from rank 2, tag 0",
        "wait until 1",
        "send to rank 2, tag 0",
    ];
    assert_eq!(text(&schedule, 0)[..5], first);
    assert_eq!(text(&schedule, 0)[5..7], ["receive from rank 1, tag 0", "wait until 2"]);
    assert_eq!(text(&schedule, 0)[10..], ["send to rank 2, tag 1", "receive from rank 1, tag 1"]);
}

#[test]
fn what_is_used_twice_or_missing_is_named() {
    let ring = small();
    let mut both = ring.clone();
    both.entries[1].start = 0;
    let fault = both.check().unwrap_err();
    assert_eq!(fault, Fault::Collision { resource: Resource::Injection, cycle: 0, entries: (0, 1) });
    assert!(fault.describe(&both).contains("the injection port both in cycle 0"), "{}", fault.describe(&both));
    let mut one = ring.clone();
    one.entries.pop();
    assert_eq!(one.check(), Err(Fault::Count { vector: vec![2], entries: 0 }));
    let mut open = ring.clone();
    open.shifts = vec![vec![1]];
    assert!(open.check().unwrap_err().describe(&open).starts_with("shifts[0] = [1]"));
}

/// Independent of [`Timetable::check`]: every flit of every node of the whole network, channel by channel.
pub(crate) fn uses_twice(timetable: &Timetable) -> bool {
    let grid = timetable.grid();
    let period = timetable.period_cycles;
    let mut used = std::collections::HashSet::new();
    let mut twice = false;
    for node in 0..grid.routers() {
        for entry in &timetable.entries {
            let mut coords = grid.coords(node);
            let mut at = timetable.start_at(entry, &coords);
            let mut take = |what: (u32, i32), at: u64| {
                for flit in 0..u64::from(timetable.block_flits) {
                    twice |= !used.insert((what, (at + flit) % period));
                }
            };
            take((node, -1), at);
            for d in 0..grid.dims() {
                let k = grid.size(d) as i32;
                for _ in 0..entry.vector[d].abs() {
                    let port = 2 * d as i32 + i32::from(entry.vector[d] < 0);
                    take((grid.id(&coords), port), at);
                    coords[d] = (coords[d] as i32 + entry.vector[d].signum()).rem_euclid(k) as u32;
                    at += u64::from(timetable.hop_cycles);
                }
            }
            take((grid.id(&coords), -2), at);
        }
    }
    twice
}

#[test]
fn check_agrees_with_a_count_over_the_whole_network() {
    let mut random = 1u64;
    let mut draw = move |n: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) % n
    };
    let (mut free, mut not) = (0, 0);
    for round in 0..400 {
        let sizes = vec![2 + draw(3) as u32, 2 + draw(2) as u32];
        // Wide enough that some are free of collisions.
        let base = (sizes[0] * sizes[1]) as u64;
        let period = base * (1 + draw(6)) * 4;
        let closing = |k: u32, times: u64| (period / u64::from(k) * times) as i64;
        let shifts = vec![vec![0, 0], vec![closing(sizes[0], draw(2)), closing(sizes[1], draw(2))]];
        let mut entries = Vec::new();
        for x in 0..sizes[0] {
            for y in 0..sizes[1] {
                let short = |a: u32, k: u32| if 2 * a > k { a as i32 - k as i32 } else { a as i32 };
                let mut vector = [0; MAX_DIMS];
                (vector[0], vector[1]) = (short(x, sizes[0]), short(y, sizes[1]));
                if x + y > 0 && (round % 3 > 0 || entries.len() < 3) {
                    entries.push(Entry { vector, start: draw(period), shift: draw(2) as u32 });
                }
            }
        }
        let hop_cycles = 1 + draw(3) as u32;
        let timetable =
            Timetable { sizes, period_cycles: period, hop_cycles, block_flits: 1 + draw(2) as u32, shifts, entries };
        assert_eq!(timetable.check_fields(), Ok(()));
        let collides = timetable.check_uses().is_err();
        assert_eq!(collides, uses_twice(&timetable), "{}", timetable.to_json());
        if collides { not += 1 } else { free += 1 }
    }
    assert!(free > 30 && not > 30, "{free} free, {not} not");
}

#[test]
fn bad_files_say_what_is_wrong() {
    let good: Value = serde_json::from_str(&small().to_json()).unwrap();
    let with = |field: &str, value: Value| {
        let mut changed = good.clone();
        changed[field] = value;
        Timetable::from_json(&changed.to_string(), "workload.timetable").unwrap_err().to_string()
    };
    assert!(with("sizes", serde_json::json!([])).starts_with("workload.timetable.sizes"));
    assert!(with("period_cycles", serde_json::json!(0)).starts_with("workload.timetable.period_cycles = 0"));
    assert!(with("hop_cycles", serde_json::json!(0)).starts_with("workload.timetable.hop_cycles = 0"));
    assert!(Timetable::from_json("null", "file").unwrap_err().to_string().contains("expected a table of sizes"));
    assert!(with("entries", serde_json::json!([[1, 0]])).starts_with("workload.timetable.entries[0]"));
    assert!(with("entries", serde_json::json!([[2, 0, 0]])).contains("half around each ring"));
    assert!(with("entries", serde_json::json!([[1, 9, 0]])).contains("start 9"));
    assert!(with("other", serde_json::json!(1)).contains("unknown field"));
    assert!(Timetable::from_json("{", "file").unwrap_err().to_string().starts_with("file = line 1"));
}
