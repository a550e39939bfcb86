//! A measurement that is prolonged while it runs gives what the longer one gives from the start.

use flitwork::measure::{KernelName, SimulationResult};
use flitwork::{Pause, Plan, Simulation};
use serde_json::{Value, json};

const WARM_UP: u64 = 40;

fn plan(spec: &Value, measured: u64, drain: bool) -> Plan {
    let mut spec = spec.clone();
    spec["run"] = json!({"warmup_cycles": WARM_UP, "measurement_cycles": measured, "seed": 5});
    if !drain {
        spec["run"]["max_cycles"] = json!(WARM_UP + measured);
    }
    Plan::new(&flitwork::spec::from_json(&spec.to_string()).unwrap()).unwrap()
}

/// In steps of `step` cycles, `steps` of them.
fn in_steps(spec: &Value, step: u64, steps: u64, drain: bool) -> SimulationResult {
    let mut simulation = Simulation::new(&plan(spec, step, drain)).unwrap();
    simulation.keep_tally();
    simulation.keep_flit_times();
    for i in 1..=steps {
        if i > 1 {
            simulation.extend(&plan(spec, i * step, drain)).unwrap();
        }
        simulation.advance(WARM_UP + i * step, &mut |_| true).unwrap();
    }
    assert_eq!(simulation.advance(u64::MAX, &mut |_| true).unwrap(), Pause::Ended);
    simulation.into_result()
}

#[test]
fn steps_of_any_length_give_what_one_measurement_gives() {
    let torus = |flits: u32, load: f64, router: Value| {
        json!({"network": {"topology": {"kind": "torus", "size": [4, 4]}, "router": router},
               "workload": {"kind": "uniform", "offered_load": load, "packet_flits": flits}})
    };
    let slow = json!({"vcs": 4, "buffer_flits": 8, "st_delay_cycles": 4});
    let whole =
        json!({"vcs": 2, "buffer_flits": 16, "switching": "virtual_cut_through", "hold_switch_until_tail": true});
    let (mut kernels, mut cases) = (Vec::new(), 0);
    for router in [json!({"vcs": 4, "buffer_flits": 8}), slow, whole] {
        for (flits, load) in [(1, 0.3), (5, 0.3), (8, 0.002), (3, 0.9)] {
            let spec = torus(flits, load, router.clone());
            for (step, steps) in [(1, 60), (3, 40), (50, 4), (300, 2)] {
                for drain in [true, false] {
                    let expected = flitwork::simulate(&plan(&spec, step * steps, drain), &mut |_| true).unwrap();
                    assert_eq!(in_steps(&spec, step, steps, drain), expected, "{spec} {step} {steps} {drain}");
                    kernels.push(expected.kernel);
                    cases += 1;
                }
            }
        }
    }
    assert_eq!(cases, 96);
    assert!(kernels.contains(&KernelName::Flit) && kernels.contains(&KernelName::Packet));
}

#[test]
fn parts_pause_count_and_go_on_as_the_whole_does() {
    for (channel, steps) in [(0, 30), (3, 30), (20, 12)] {
        let plan = |measured: u64, threads: u32| {
            let spec = json!({"network": {"topology": {"kind": "torus", "size": [4, 4]}, "router": {"vcs": 4},
                                          "channel": {"latency_cycles": channel}},
                              "workload": {"kind": "uniform", "offered_load": 0.3, "packet_flits": 2},
                              "run": {"warmup_cycles": WARM_UP, "measurement_cycles": measured, "threads": threads}});
            Plan::new(&flitwork::spec::from_json(&spec.to_string()).unwrap()).unwrap()
        };
        // Steps that windows do not divide, and pauses between them.
        let step = 37;
        let mut both = [1, 3].map(|threads| Simulation::new(&plan(step, threads)).unwrap());
        both.iter_mut().for_each(Simulation::keep_tally);
        both.iter_mut().for_each(Simulation::keep_flit_times);
        for i in 1..=steps {
            for until in [WARM_UP + i * step - 11, WARM_UP + i * step] {
                let seen = both.each_mut().map(|simulation| {
                    assert_eq!(simulation.advance(until, &mut |_| true).unwrap(), Pause::Reached);
                    (simulation.now(), simulation.tally().unwrap())
                });
                assert_eq!(seen[0], seen[1], "channels of {channel} cycles, cycle {until}");
            }
            for (simulation, threads) in both.iter_mut().zip([1, 3]) {
                simulation.extend(&plan((i + 1) * step, threads)).unwrap();
            }
        }
        let [one, three] = both.map(|mut simulation| {
            assert_eq!(simulation.advance(u64::MAX, &mut |_| true).unwrap(), Pause::Ended);
            simulation.into_result()
        });
        assert_eq!((one.threads, three.threads), (1, 3));
        assert!(one.packets > 1000);
        assert_eq!(SimulationResult { threads: 1, ..three }, one);
    }
}

#[test]
fn what_cannot_be_prolonged_is_refused() {
    let spec = json!({"network": {"topology": {"kind": "mesh", "size": [3, 3]}},
                      "workload": {"kind": "uniform", "offered_load": 0.2, "packet_flits": 2}});
    let mut simulation = Simulation::new(&plan(&spec, 100, true)).unwrap();
    let said = |simulation: &mut Simulation, plan: &Plan| simulation.extend(plan).unwrap_err().to_string();
    assert!(said(&mut simulation, &plan(&spec, 100, true)).contains("a longer measurement"));
    simulation.advance(u64::MAX, &mut |_| true).unwrap();
    assert!(said(&mut simulation, &plan(&spec, 200, true)).contains("at the end of its measurement"));
    let mut steady = spec.clone();
    steady["run"] = json!({"steady": {}});
    let steady = Plan::new(&flitwork::spec::from_json(&steady.to_string()).unwrap()).unwrap();
    let mut simulation = Simulation::new(&steady).unwrap();
    assert!(said(&mut simulation, &steady).contains("a fixed measurement of traffic"));
}
