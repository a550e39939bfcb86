//! What the hash of a plan covers.

use super::Plan;
use crate::spec::{SimulationSpec, from_json};
use crate::topology::{Channel, Fabric, Graph};

fn spec() -> SimulationSpec {
    let network = r#"{"topology":{"kind":"mesh","size":[2]},"routing":{"kind":"shortest_path"}}"#;
    let workload = r#"{"kind":"all_to_all","algorithm":"a2a"}"#;
    from_json(&format!(r#"{{"network":{network},"workload":{workload}}}"#)).unwrap()
}

/// Two routers joined by a cable, changed by `change`.
fn cable(change: impl Fn(&mut Channel)) -> Fabric {
    let mut channels = Channel::cable((0, 0), (1, 0), 0);
    channels.iter_mut().for_each(change);
    let graph =
        Graph { terminals: vec![1, 1], channels: channels.into(), classes: vec!["cable".into()], drawing: None };
    Fabric::of_graph(&graph).unwrap()
}

#[test]
fn the_hash_covers_a_network_that_was_made_in_code() {
    let hash = |fabric| Plan::on_fabric(&spec(), fabric).unwrap().hash();
    let networks = [
        cable(|_| {}),
        cable(|channel| channel.latency_cycles = Some(7)),
        cable(|channel| channel.cycles_per_flit = 3),
        cable(|channel| (channel.from.1, channel.to.1) = (1, 1)),
    ];
    let mut hashes: Vec<String> = networks.into_iter().map(hash).collect();
    hashes.push(Plan::new(&spec()).unwrap().hash());
    for (i, one) in hashes.iter().enumerate() {
        assert!(hashes[..i].iter().all(|other| other != one), "{i}: {one}");
    }
}

#[test]
fn the_network_of_the_specification_has_one_hash() {
    let (described, spec) = (Plan::new(&spec()).unwrap(), spec());
    let made = Plan::on_fabric(&spec, described.fabric.clone()).unwrap();
    assert_eq!(made.hash(), described.hash());
}
