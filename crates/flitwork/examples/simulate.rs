//! Runs one specification (JSON in a file) and prints its summary:
//! `cargo run --release --example simulate -- spec.json`.

use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: simulate SPEC.json")?;
    let spec = flitwork::spec::from_json(&std::fs::read_to_string(path)?)?;
    let plan = flitwork::Plan::new(&spec)?;
    let start = Instant::now();
    let result = flitwork::simulate(&plan, &mut |_| true)?;
    let seconds = start.elapsed().as_secs_f64();
    println!("status             {:?}", result.status);
    println!("completion_cycles  {}", result.completion_cycles);
    println!("digest             {}", result.digest);
    println!("packets            {}", result.packets);
    println!("offered, accepted  {:.4} {:.4}", result.offered_load, result.accepted_load);
    println!("packet latency     {:?}", result.packet_latency);
    println!("flit_hops          {}", result.flit_hops);
    println!("ns per flit-hop    {:.1}", seconds * 1e9 / result.flit_hops as f64);
    Ok(())
}
