//! A bus beside the network: times worked out by hand, and what is refused.

use flitwork::measure::SimulationResult;
use flitwork::schedule::{OpKind, Schedule, ScheduleBuilder, Via};
use flitwork::traffic::{Attached, Table};
use flitwork::{Error, Plan, PlanBound, plan_bound, simulate, spec};
use serde_json::{Value, json};

/// Four terminals, a bus of two flits a cycle.
fn machine(bus: &Value, workload: &Value) -> Value {
    let network = json!({ "topology": { "kind": "torus", "size": [4] }, "bus": bus });
    json!({ "network": network, "workload": workload, "run": { "record": { "packets": true } } })
}

fn plan(spec: &Value) -> Result<Plan, Error> {
    Plan::new(&spec::from_json(&spec.to_string())?)
}

fn run(spec: &Value) -> SimulationResult {
    simulate(&plan(spec).unwrap(), &mut |_| true).unwrap()
}

fn collective(operation: &str, root: u32) -> Value {
    json!({ "kind": "collective", "operation": operation, "algorithm": "linear", "message_flits": 10, "root": root })
}

fn with_schedule(spec: &Value, schedule: &Schedule) -> Result<Plan, Error> {
    let table = Attached::new(Table::Schedule(schedule.clone()));
    let mut spec = spec.clone();
    spec["workload"] = json!({ "kind": "schedule", "schedule": table });
    let mut spec = spec::from_json(&spec.to_string())?;
    spec.attach(std::slice::from_ref(&table));
    Plan::new(&spec)
}

/// Three cycles of arbitration, then 10 flits in 5 cycles: all have them 2 cycles later.
#[test]
fn a_broadcast_takes_the_bus_once() {
    let bus =
        json!({ "flits_per_cycle": 2, "arbitration_cycles": 3, "latency_cycles": 2, "operations": ["broadcast"] });
    let result = run(&machine(&bus, &collective("broadcast", 1)));
    assert_eq!(result.completion_cycles, 3 + 5 + 2);
    let report = result.bus.unwrap();
    assert_eq!((report.transfers, report.messages, report.flits, report.busy_cycles), (1, 3, 10, 8));
    assert!(result.packet_records.iter().all(|p| (p.injection_port, p.injected, p.arrived) == (1, 3, 10)));
    assert_eq!((result.packets, result.flit_hops), (3, 0));
}

/// A scatter is one transfer, its messages one behind the other; of a gather each rank has one of its own, in turn.
#[test]
fn a_scatter_is_one_transfer_and_a_gather_is_one_of_each_rank() {
    let bus = json!({ "flits_per_cycle": 4, "arbitration_cycles": 3, "operations": ["scatter", "gather"] });
    let arrivals = |operation, root| {
        let result = run(&machine(&bus, &collective(operation, root)));
        let mut arrived: Vec<(u64, u32)> = result.packet_records.iter().map(|p| (p.arrived, p.src)).collect();
        arrived.sort_unstable();
        (arrived, result.bus.unwrap().transfers)
    };
    // 10 flits take 2.5 cycles; a message has arrived in the first cycle that begins when its last flit has been sent.
    assert_eq!(arrivals("scatter", 0), (vec![(6, 0), (8, 0), (11, 0)], 1));
    assert_eq!(arrivals("gather", 2), (vec![(6, 0), (11, 1), (17, 3)], 3));
}

/// What goes over the bus is called once in software, and loads no channel.
#[test]
fn software_is_called_once_for_a_transfer() {
    let bus = json!({ "flits_per_cycle": 2, "operations": ["scatter", "gather"] });
    let time = |operation: &str, bus: &Value| {
        let mut spec = machine(bus, &collective(operation, 0));
        spec["host"] = json!({ "send_overhead_cycles": 100, "receive_overhead_cycles": 50 });
        let PlanBound::Completion(bound) = plan_bound(&plan(&spec).unwrap()).unwrap() else { panic!("a collective") };
        (run(&spec).completion_cycles, bound.tightest_cycles, bound.operation.is_some())
    };
    // The last of three messages arrives after 15 cycles.
    assert_eq!(time("scatter", &bus), (100 + 15 + 50, 0.0, false));
    assert_eq!(time("gather", &bus), (100 + 15 + 50, 0.0, false));
    let (by_network, bound, has_operation) = time("scatter", &json!({ "flits_per_cycle": 2 }));
    assert!(by_network > 3 * 100 && bound >= 30.0 && has_operation);
}

/// A rank sends by both networks at once; neither waits for the other.
#[test]
fn both_networks_work_at_the_same_time() {
    let mut b = ScheduleBuilder::new("both");
    b.op(OpKind::Send { to: 1, size: 40, tag: 0 }, 0, &[]);
    b.op_via(OpKind::Send { to: 1, size: 40, tag: 1 }, Via::Bus, 0, &[]);
    b.end_rank();
    for tag in [0, 1] {
        b.op(OpKind::Receive { from: 0, size: 40, tag }, 0, &[]);
    }
    b.end_rank();
    let spec = machine(&json!({ "flits_per_cycle": 2 }), &json!({}));
    let result = simulate(&with_schedule(&spec, &b.build()).unwrap(), &mut |_| true).unwrap();
    let arrived = |port| result.packet_records.iter().find(|p| p.injection_port == port).unwrap().arrived;
    assert_eq!((arrived(0), arrived(1)), (1 + 2 + 39, 20));
}

#[test]
fn what_makes_no_sense_is_named() {
    let fault = |spec: &Value| plan(spec).unwrap_err().to_string();
    let broadcast = collective("broadcast", 0);
    let of_rate = |rate: f64| fault(&machine(&json!({ "flits_per_cycle": rate }), &broadcast));
    assert!(of_rate(0.0).starts_with("network.bus.flits_per_cycle = 0: expected 1e-6 to 1e6"), "{}", of_rate(0.0));
    let late = fault(&machine(&json!({ "latency_cycles": 20_000 }), &broadcast));
    assert!(late.starts_with("network.bus.latency_cycles = 20000: expected a whole number, 0 to 10000"), "{late}");
    let operation = fault(&machine(&json!({ "operations": ["broadcasts"] }), &broadcast));
    assert!(operation.contains("network.bus.operations[0]"), "{operation}");
    let mut alone = machine(&json!({}), &json!({ "kind": "uniform", "offered_load": 0.1, "include_self": true }));
    alone["network"]["topology"] = json!({ "kind": "torus", "size": [1] });
    assert!(fault(&alone).starts_with("network.bus = 1 terminal: expected 2 terminals or more"), "{}", fault(&alone));
    let orders = json!({ "kind": "all_to_all", "algorithm": "a2a" });
    let orders = fault(&machine(&json!({ "operations": ["all_to_all"] }), &orders));
    assert!(orders.starts_with("workload.kind = all_to_all: expected collective"), "{orders}");
}

#[test]
fn a_message_by_a_bus_that_is_not_there_is_refused() {
    let mut b = ScheduleBuilder::new("by bus");
    b.op_via(OpKind::Send { to: 1, size: 4, tag: 0 }, Via::Bus, 0, &[]);
    b.end_rank();
    b.op(OpKind::Receive { from: 0, size: 4, tag: 0 }, 0, &[]);
    b.end_rank();
    let schedule = b.build();
    let mut spec = machine(&json!({}), &json!({}));
    assert!(with_schedule(&spec, &schedule).is_ok());
    spec["network"].as_object_mut().unwrap().remove("bus");
    let fault = with_schedule(&spec, &schedule).unwrap_err().to_string();
    assert!(fault.contains("rank 0 operation 0 (send to rank 1, tag 0) by the bus"), "{fault}");
    assert!(fault.contains("it has no bus") && fault.contains("set network.bus"), "{fault}");
}

/// Up a binomial tree of four ranks and down again, four hops, whatever software and channels cost.
#[test]
fn a_barrier_takes_the_hops_of_its_tree() {
    let barrier = |algorithm: &str, tree: &Value| {
        let workload = json!({ "kind": "collective", "operation": "barrier", "algorithm": algorithm });
        let mut spec = machine(&json!({}), &workload);
        spec["host"] = json!({ "send_overhead_cycles": 100, "receive_overhead_cycles": 50 });
        if !tree.is_null() {
            spec["network"]["barrier_tree"] = tree.clone();
        }
        spec
    };
    let result = run(&barrier("tree", &json!({ "hop_cycles": 3 })));
    assert_eq!((result.completion_cycles, result.packets, result.flit_hops), (4 * 3, 6, 0));
    assert!(result.packet_records.iter().all(|p| p.injection_port == 2));
    // Two rounds.
    assert_eq!(run(&barrier("dissemination", &json!({ "hop_cycles": 3 }))).completion_cycles, 2 * 3);
    assert!(run(&barrier("tree", &Value::Null)).completion_cycles > 4 * 100);
    let fault = |spec: &Value| plan(spec).unwrap_err().to_string();
    let still = fault(&barrier("tree", &json!({ "hop_cycles": 0 })));
    assert!(still.starts_with("network.barrier_tree.hop_cycles = 0: expected a whole number, 1 to 10000"), "{still}");
    let mut both = barrier("tree", &json!({}));
    both["network"]["bus"]["operations"] = json!(["barrier"]);
    assert!(fault(&both).starts_with("network.bus.operations = barrier: expected what goes by one network"));
}

#[test]
fn a_barrier_tree_carries_news_alone() {
    let by_tree = |size| {
        let mut b = ScheduleBuilder::new("by tree");
        b.op_via(OpKind::Send { to: 1, size, tag: 0 }, Via::Tree, 0, &[]);
        b.end_rank();
        b.op(OpKind::Receive { from: 0, size, tag: 0 }, 0, &[]);
        b.end_rank();
        b.build()
    };
    let mut spec = machine(&json!({}), &json!({}));
    let fault = with_schedule(&spec, &by_tree(1)).unwrap_err().to_string();
    assert!(fault.contains("by the barrier tree: expected messages by a network that the machine has"), "{fault}");
    spec["network"]["barrier_tree"] = json!({});
    assert!(with_schedule(&spec, &by_tree(1)).is_ok());
    let long = flitwork::schedule::check_form(&by_tree(2)).unwrap_err().to_string();
    assert!(long.contains("sends more than 1 flit, or byte, by the barrier tree"), "{long}");
}
