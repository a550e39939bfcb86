//! What every algorithm must do.

use super::*;
use crate::host::check_exchange;
use crate::schedule::{OpKind, Operation};

fn options(sync: Sync, nic_ports: u32) -> AllToAllOptions {
    AllToAllOptions { message_flits: 100, sync, nic_ports }
}

fn grids(sizes: &[u32]) -> Vec<Grid> {
    let mixed: Vec<bool> = (0..sizes.len()).map(|d| d % 2 == 0).collect();
    vec![Grid::torus(sizes), Grid::mesh(sizes), Grid::new(sizes, &mixed, true)]
}

#[test]
fn every_pair_once_on_grids_of_one_to_six_dimensions() {
    #[rustfmt::skip]
    let sizes: [&[u32]; 14] = [
        &[7], &[8], &[5, 5], &[4, 4], &[6, 5], &[3, 1, 3], &[3, 3, 3], &[4, 4, 4], &[5, 4, 3], &[5, 3, 3], &[2, 2, 2],
        &[3, 3, 3, 3], &[2, 3, 2, 3, 2], &[2, 2, 3, 2, 2, 3],
    ];
    for sizes in sizes {
        for grid in grids(sizes) {
            for algorithm in ALGORITHMS {
                for (sync, nic_ports) in
                    [(Sync::Async, 1), (Sync::Local, 1), (Sync::Local, 4), (Sync::Local, 7), (Sync::LocalSliding, 4)]
                {
                    let s = all_to_all(algorithm.name, &grid, &options(sync, nic_ports)).unwrap();
                    let report = check_exchange(&s).unwrap();
                    let ranks = u64::from(grid.routers());
                    assert_eq!(report.messages, ranks * (ranks - 1));
                    assert_eq!(u64::from(report.phases), ranks - 1);
                }
            }
        }
    }
}

fn operations(s: &Schedule, rank: u32) -> Vec<Operation<'_>> {
    s.operations(rank).collect()
}

/// The steps of the receives that each wait of a rank waits for, and how many sends stand before it.
fn waits(s: &Schedule, rank: u32) -> Vec<(u32, Vec<u32>)> {
    let ops = operations(s, rank);
    let mut sends = 0;
    let mut waits = Vec::new();
    for op in &ops {
        match op.kind {
            OpKind::Send { .. } => sends += 1,
            OpKind::Wait => {
                let awaited: Vec<_> = op.after.iter().map(|dep| &ops[dep as usize]).collect();
                assert!(awaited.iter().all(|dep| matches!(dep.kind, OpKind::Receive { .. })));
                waits.push((sends, awaited.iter().map(|dep| dep.step).collect()));
            }
            OpKind::Receive { .. }
            | OpKind::Compute { .. }
            | OpKind::WaitUntil { .. }
            | OpKind::Task { .. }
            | OpKind::Started => {}
        }
    }
    waits
}

#[test]
fn local_sync_waits_for_the_group_before() {
    let s = all_to_all("a2at", &Grid::torus(&[5, 5]), &options(Sync::Local, 4)).unwrap();
    for rank in 0..25 {
        let expected: Vec<_> = (1..6).map(|g| (4 * g, (4 * g - 4..4 * g).collect::<Vec<_>>())).collect();
        assert_eq!(waits(&s, rank), expected);
    }
}

#[test]
fn sliding_sync_waits_for_the_message_a_window_before() {
    let s = all_to_all("a2at", &Grid::torus(&[5, 5]), &options(Sync::LocalSliding, 4)).unwrap();
    let expected: Vec<_> = (4..24).map(|m| (m, vec![m - 4])).collect();
    assert_eq!(waits(&s, 7), expected);
}

#[test]
fn with_one_controller_sliding_sync_is_local_sync() {
    let grid = Grid::mesh(&[5, 4]);
    let [local, sliding] =
        [Sync::Local, Sync::LocalSliding].map(|sync| all_to_all("a2at", &grid, &options(sync, 1)).unwrap());
    for rank in 0..20 {
        assert_eq!(operations(&local, rank), operations(&sliding, rank));
        assert_eq!(waits(&local, rank).len(), 18);
    }
}

#[test]
fn a_receive_has_the_step_of_its_send_and_stands_before_the_send_of_that_step() {
    for algorithm in ALGORITHMS {
        let s = all_to_all(algorithm.name, &Grid::mesh(&[4, 3]), &options(Sync::Async, 1)).unwrap();
        let step = |rank, op: u32| operations(&s, rank)[op as usize].step;
        for m in crate::schedule::match_messages(&s).unwrap().unwrap() {
            assert_eq!(step(m.from, m.send), step(m.to, m.receive));
        }
        let steps: Vec<u32> = s.operations(5).map(|op| op.step).collect();
        assert_eq!(steps, (0..11).flat_map(|step| [step, step]).collect::<Vec<_>>());
    }
}

#[test]
fn faults_are_named() {
    let grid = Grid::torus(&[5, 5]);
    let fault = |name, o| all_to_all(name, &grid, &o).unwrap_err().to_string();
    let good = options(Sync::Async, 1);
    let names = ALGORITHMS.iter().map(|a| a.name).collect::<Vec<_>>().join(", ");
    let expected = format!("workload.algorithm = a2ta: expected one of {names}; did you mean a2at?");
    assert_eq!(fault("a2ta", good), expected);
    assert!(!fault("bruck", good).contains("did you mean"));
    assert!(fault("a2at", AllToAllOptions { message_flits: 0, ..good }).contains("workload.message_flits = 0"));
    assert!(fault("a2at", AllToAllOptions { nic_ports: 0, ..good }).contains("network.nic.ports = 0"));
    let alone = all_to_all("a2at", &Grid::torus(&[1, 1]), &good).unwrap_err().to_string();
    assert!(alone.contains("network.topology.size = 1x1: expected any grid of at least 2 routers"), "{alone}");
}

#[test]
fn a_square_of_33_is_checked_in_little_time() {
    let s = all_to_all("a2at", &Grid::torus(&[33, 33]), &options(Sync::Local, 4)).unwrap();
    assert_eq!(check_exchange(&s).unwrap().messages, 1089 * 1088);
}
