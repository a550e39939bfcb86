//! After warm-up the kernel allocates nothing: counted by an allocator of its own.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

struct Counting;

static COUNTING: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if COUNTING.load(Ordering::Relaxed) {
            ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        }
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if COUNTING.load(Ordering::Relaxed) {
            ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        }
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Simulates and returns (allocations between cycle `from` and cycle `to`, calls of the progress callback in between).
fn allocations(spec: &str, from: u64, to: u64) -> (usize, usize) {
    let plan = flitwork::Plan::new(&flitwork::spec::from_json(spec).unwrap()).unwrap();
    ALLOCATIONS.store(0, Ordering::Relaxed);
    let mut calls = 0;
    flitwork::simulate(&plan, &mut |progress| {
        let counting = (from..to).contains(&progress.cycle);
        calls += usize::from(counting);
        COUNTING.store(counting, Ordering::Relaxed);
        true
    })
    .unwrap();
    COUNTING.store(false, Ordering::Relaxed);
    (ALLOCATIONS.load(Ordering::Relaxed), calls)
}

/// One test function: the counter is global. Deadlocks are looked for every 1,000 cycles.
#[test]
fn nothing_is_allocated_after_warm_up() {
    let fixed = r#"{"network": {"topology": {"kind": "torus", "size": [8, 8]}, "router": {"vcs": 8}},
        "workload": {"kind": "uniform", "offered_load": 0.4, "packet_flits": 4},
        "run": {"watchdog_cycles": 1000, "warmup_cycles": 5000, "measurement_cycles": 40000}}"#;
    let general = fixed.replace("\"vcs\": 8", "\"vcs\": 8, \"speculative\": true, \"input_speedup\": 2");
    // The end of the warm-up, the checks of the measurement and its batches are among the cycles that are counted.
    let window = "\"warmup_cycles\": 5000, \"measurement_cycles\": 40000";
    let steady = fixed
        .replace(window, "\"steady\": {\"min_warmup_cycles\": 12000, \"relative_ci\": 0.0001, \"max_cycles\": 50000}");
    assert_ne!(fixed, steady);
    for spec in [fixed, &general, &steady] {
        let (allocations, calls) = allocations(spec, 10_000, 40_000);
        assert!(calls >= 5, "{calls} reports are too few to prove anything");
        assert_eq!(allocations, 0, "{spec}");
    }
    let all_to_all = r#"{"network": {"topology": {"kind": "torus", "size": [9, 9]}},
        "workload": {"kind": "all_to_all", "algorithm": "a2at", "message_flits": 100, "sync": "local"}}"#;
    let (allocations, calls) = allocations(all_to_all, 5_000, 9_000);
    assert!(calls >= 1);
    assert_eq!(allocations, 0, "all-to-all");
}
