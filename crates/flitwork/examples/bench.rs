//! Runs one specification (JSON in a file) for `benches/run.py` and prints what it compares, as one line of JSON.

/// Peak memory of this process [bytes]; `None` where the system does not tell.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: bench SPEC.json")?;
    let text = std::fs::read_to_string(path)?;
    let before = peak_memory();
    let plan = flitwork::Plan::new(&flitwork::spec::from_json(&text)?)?;
    let result = flitwork::simulate(&plan, &mut |_| true)?;
    let peak = peak_memory();
    let report = serde_json::json!({
        "status": format!("{:?}", result.status),
        "digest": result.digest,
        "flit_hops": result.flit_hops,
        "cycles": result.completion_cycles,
        "offered_load": result.offered_load,
        "accepted_load": result.accepted_load,
        "peak_bytes": peak,
        "network_bytes": peak.zip(before).map(|(peak, before)| peak - before),
    });
    println!("{report}");
    Ok(())
}
