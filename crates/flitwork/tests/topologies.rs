//! Topologies made of cables, from their specification to an all-to-all on them: hypercube, HyperX, flattened
//! butterfly, circulant, twisted torus, random regular network, Slim Fly and Dragonfly+.

use flitwork::spec::TopologySpec;
use flitwork::topology::Fabric;
use flitwork::{Plan, PlanBound, plan_bound, simulate, spec};
use serde_json::{Value, json};

fn topology(written: &Value) -> TopologySpec {
    serde_json::from_value(written.clone()).unwrap_or_else(|e| panic!("{written}: {e}"))
}

fn fabric(written: &Value) -> Fabric {
    topology(written).fabric().unwrap_or_else(|e| panic!("{written}: {e}"))
}

fn plan(topology: &Value, routing: Option<&str>, vcs: u32) -> flitwork::Result<Plan> {
    let mut network = json!({ "topology": topology, "router": { "vcs": vcs } });
    if let Some(kind) = routing {
        network["routing"] = json!({ "kind": kind });
    }
    let workload = json!({ "kind": "all_to_all", "algorithm": "a2a", "message_flits": 3 });
    Plan::new(&spec::from_json(&json!({ "network": network, "workload": workload }).to_string())?)
}

/// Channels from a router to all others, and itself.
fn distances(fabric: &Fabric, from: u32) -> Vec<u32> {
    let mut hops = vec![u32::MAX; fabric.routers() as usize];
    hops[from as usize] = 0;
    let (mut reached, mut next) = (vec![from], 0);
    while let Some(&at) = reached.get(next) {
        next += 1;
        for (far, _) in (0..fabric.network_ports()).filter_map(|port| fabric.peer(at, port)) {
            if hops[far as usize] == u32::MAX {
                hops[far as usize] = hops[at as usize] + 1;
                reached.push(far);
            }
        }
    }
    hops
}

/// How many routers are how many channels away.
fn distribution(fabric: &Fabric, from: u32) -> Vec<u32> {
    let hops = distances(fabric, from);
    let count = |far: u32| hops.iter().filter(|&&h| h == far).count() as u32;
    (0..=*hops.iter().max().unwrap()).map(count).collect()
}

/// The sum of all distances from router 0, and the longest of them.
fn from_the_first(fabric: &Fabric) -> (u32, u32) {
    let hops = distances(fabric, 0);
    (hops.iter().sum(), *hops.iter().max().unwrap())
}

/// What holds in every network of cables, and the degree of each router.
fn checked(written: &Value) -> (Fabric, Vec<u32>) {
    let fabric = fabric(written);
    let mut degrees = vec![0; fabric.routers() as usize];
    for (router, port) in fabric.channels() {
        let (far, input) = fabric.peer(router, port).unwrap();
        assert_ne!(far, router, "{written}");
        assert_eq!(fabric.feeder(far, input), Some((router, port)), "{written}");
        assert_eq!(fabric.peer(far, input), Some((router, port)), "{written}: the way back");
        assert!(fabric.class_of(router, port) < fabric.classes().len(), "{written}");
        degrees[router as usize] += 1;
    }
    assert!(distances(&fabric, 0).iter().all(|&hops| hops != u32::MAX), "{written} is not connected");
    if let Some(drawing) = fabric.drawing() {
        assert_eq!(drawing.routers.len(), degrees.len());
        let finite = |place: &[f64; 2]| place.iter().all(|x| x.is_finite());
        assert!(drawing.routers.iter().all(finite), "{written}");
        for segment in &drawing.segments {
            assert!(finite(&segment.from) && finite(&segment.to), "{written}");
            assert!(fabric.peer(segment.router, segment.port as usize).is_some(), "{written}");
        }
    }
    (fabric, degrees)
}

/// Checks a network in which all routers are alike.
fn check(written: &Value, routers: u32, terminals: u32, degree: u32) -> Fabric {
    let (fabric, degrees) = checked(written);
    assert_eq!((fabric.routers(), fabric.terminals()), (routers, routers * terminals), "{written}");
    assert!(degrees.iter().all(|&found| found == degree), "{written}: {degree}, {degrees:?}");
    assert_eq!(topology(&serde_json::to_value(topology(written)).unwrap()), topology(written));
    fabric
}

/// Random numbers from a fixed start.
struct Random(u64);

impl Random {
    fn from(&mut self, low: u32, high: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + ((self.0 >> 33) % u64::from(high - low + 1)) as u32
    }

    fn list(&mut self, length: u32, low: u32, high: u32) -> Vec<u32> {
        (0..length).map(|_| self.from(low, high)).collect()
    }
}

#[test]
fn hypercubes() {
    for n in 1..=6 {
        let written = json!({ "kind": "hypercube", "dimensions": n, "terminals_per_router": 2 });
        let fabric = check(&written, 1 << n, 2, n);
        let hamming: Vec<u32> = (0..1u32 << n).map(|to| (to ^ 1).count_ones()).collect();
        assert_eq!(distances(&fabric, 1), hamming);
    }
    // Dimension order is e-cube routing, and needs one virtual channel.
    let plan = plan(&json!({ "kind": "hypercube", "dimensions": 5 }), Some("dimension_order"), 1).unwrap();
    let path = plan.routing.path(&plan.fabric, plan.fabric.end(0b00110), plan.fabric.end(0b10101), 0);
    assert_eq!(path.iter().map(|&(_, port, _)| port / 2).collect::<Vec<_>>(), [0, 1, 4]);
    // As HyperX it is the same network.
    let hyperx = fabric(&json!({ "kind": "hyperx", "size": [2, 2, 2, 2, 2] }));
    for router in 0..32 {
        assert_eq!(distances(&plan.fabric, router), distances(&hyperx, router));
    }
}

#[test]
fn hyperx_of_any_size_and_width() {
    let mut random = Random(1);
    for _ in 0..30 {
        let dims = random.from(1, 4);
        let (size, width, terminals) = (random.list(dims, 2, 5), random.list(dims, 1, 3), random.from(1, 8));
        let degree = size.iter().zip(&width).map(|(s, k)| (s - 1) * k).sum();
        let written = json!({ "kind": "hyperx", "size": size, "width": width, "terminals_per_router": terminals });
        let fabric = check(&written, size.iter().product(), terminals, degree);
        // As many channels as coordinates differ.
        let digits = |router: u32| {
            size.iter().scan(router, |rest, s| {
                let digit = *rest % s;
                *rest /= s;
                Some(digit)
            })
        };
        let from = random.from(0, fabric.routers() - 1);
        for (to, hops) in (0..).zip(distances(&fabric, from)) {
            assert_eq!(hops as usize, digits(from).zip(digits(to)).filter(|(a, b)| a != b).count(), "{written}");
        }
    }
    check(&json!({ "kind": "hyperx", "size": [64] }), 64, 1, 63);
}

/// The lowest port on a shortest path is that of the first dimension that differs: one virtual channel is enough.
#[test]
fn hyperx_has_dimension_order_in_shortest_paths() {
    let plan = plan(&json!({ "kind": "hyperx", "size": [3, 2, 4], "width": [1, 2, 1] }), Some("shortest_path"), 1);
    let plan = plan.unwrap();
    for (src, dst) in (0..24).flat_map(|src| (0..24).map(move |dst| (src, dst))) {
        let path = plan.routing.path(&plan.fabric, plan.fabric.end(src), plan.fabric.end(dst), 0);
        let dims: Vec<usize> = path.iter().map(|&(router, port, _)| plan.fabric.class_of(router, port)).collect();
        assert!(dims.windows(2).all(|pair| pair[0] < pair[1]), "{src} to {dst}: {dims:?}");
    }
}

#[test]
fn flattened_butterflies() {
    for (k, n) in [(2u32, 2u32), (4, 2), (8, 2), (2, 5), (3, 4), (4, 3), (16, 3), (32, 2)] {
        let written = json!({ "kind": "flattened_butterfly", "k": k, "n": n });
        let fabric = check(&written, k.pow(n - 1), k, (n - 1) * (k - 1));
        assert_eq!(from_the_first(&fabric).1, n - 1);
        let same = json!({ "kind": "hyperx", "size": vec![k; n as usize - 1], "terminals_per_router": k });
        assert_eq!(fabric, self::fabric(&same));
    }
    check(&json!({ "kind": "flattened_butterfly", "k": 4, "n": 3, "terminals_per_router": 1 }), 16, 1, 6);
}

#[test]
fn circulants() {
    let mut random = Random(2);
    for _ in 0..30 {
        let (routers, count) = (random.from(5, 60), random.from(0, 4));
        let mut strides = vec![1];
        for stride in random.list(count, 2, routers / 2) {
            if !strides.contains(&stride) {
                strides.push(stride);
            }
        }
        let half = |&&stride: &&u32| 2 * stride == routers;
        let degree = 2 * strides.len() - strides.iter().filter(half).count();
        let written = json!({ "kind": "circulant", "routers": routers, "strides": strides });
        let fabric = check(&written, routers, 1, degree as u32);
        let first = distances(&fabric, 0);
        let from = random.from(1, routers - 1);
        for (to, hops) in (0..).zip(distances(&fabric, from)) {
            assert_eq!(hops, first[((to + routers - from) % routers) as usize], "{written}");
        }
    }
    let ring = fabric(&json!({ "kind": "circulant", "routers": 10, "strides": [1] }));
    assert_eq!(distances(&ring, 0), [0, 1, 2, 3, 4, 5, 4, 3, 2, 1]);
    check(&json!({ "kind": "circulant", "routers": 2, "strides": [1], "terminals_per_router": 63 }), 2, 63, 1);
}

/// The default twist: diameters as published, shorter ways on average than in the torus, and all routers alike.
#[test]
fn twisted_tori_have_shorter_ways() {
    for (k, short, long) in
        [(2, 1, 1), (3, 1, 1), (4, 1, 1), (6, 1, 1), (2, 2, 1), (3, 2, 1), (4, 2, 1), (2, 1, 2), (3, 1, 2), (4, 1, 2)]
    {
        let size = [vec![k; short], vec![2 * k; long]].concat();
        let twisted = json!({ "kind": "twisted_torus", "size": size });
        let dims = size.len() as u32;
        let twisted = check(&twisted, size.iter().product(), 1, 2 * dims);
        let torus = fabric(&json!({ "kind": "torus", "size": size }));
        let (sum, diameter) = from_the_first(&twisted);
        let (torus_sum, torus_diameter) = from_the_first(&torus);
        assert_eq!(diameter, if dims == 2 { k } else { 3 * k / 2 }, "{size:?}");
        assert!(sum < torus_sum && diameter < torus_diameter, "{size:?}: {sum} {torus_sum}");
        let first = distribution(&twisted, 0);
        assert!((1..twisted.routers()).all(|router| distribution(&twisted, router) == first), "{size:?}");
    }
    // The order of the dimensions does not matter.
    let of = |size: [u32; 3]| distribution(&fabric(&json!({ "kind": "twisted_torus", "size": size })), 0);
    assert_eq!(of([4, 4, 8]), of([8, 4, 4]));
    assert_eq!(of([4, 8, 8]), of([8, 4, 8]));
}

/// Uniform traffic over all shortest paths alike loads all dimensions alike, and the busiest one less than in the
/// torus, where the long dimension carries the most.
#[test]
fn twisted_tori_load_all_dimensions_alike() {
    for size in [vec![3, 6], vec![4, 8], vec![2, 2, 4], vec![4, 4, 8], vec![3, 6, 6], vec![4, 8, 8]] {
        let loads = |kind: &str| {
            let by_port = loads_by_port(&fabric(&json!({ "kind": kind, "size": size })));
            by_port.chunks(2).map(|pair| pair[0] + pair[1]).collect::<Vec<f64>>()
        };
        let (twisted, torus) = (loads("twisted_torus"), loads("torus"));
        assert!(twisted.iter().all(|load| (load - twisted[0]).abs() < 1e-9), "{size:?}: {twisted:?}");
        assert!(twisted[0] < 0.9 * torus[size.len() - 1], "{size:?}: {twisted:?} {torus:?}");
    }
}

/// What packets from router 0 to every other, over all shortest paths alike, add up to by the port that they take: in a
/// network that is the same from all routers, that is the load of the channels.
fn loads_by_port(fabric: &Fabric) -> Vec<f64> {
    let hops = &distances(fabric, 0);
    let mut order: Vec<u32> = (0..fabric.routers()).collect();
    order.sort_by_key(|&router| hops[router as usize]);
    let onward = |router: u32| {
        let peers = (0..fabric.network_ports()).map(move |port| (port, fabric.peer(router, port).unwrap().0));
        peers.filter(move |&(_, far)| hops[far as usize] == hops[router as usize] + 1)
    };
    // Shortest paths to each router, then the share of the packets to and through it that come from each before it.
    let mut paths = vec![0.0; order.len()];
    paths[0] = 1.0;
    for &router in &order {
        onward(router).for_each(|(_, far)| paths[far as usize] += paths[router as usize]);
    }
    let (mut through, mut loads) = (vec![1.0; order.len()], vec![0.0; fabric.network_ports()]);
    for &router in order.iter().rev() {
        for (port, far) in onward(router) {
            let share = through[far as usize] * paths[router as usize] / paths[far as usize];
            through[router as usize] += share;
            loads[port] += share;
        }
    }
    loads
}

#[test]
fn any_twist_makes_a_network_that_is_the_same_from_all_routers() {
    let mut random = Random(3);
    for _ in 0..30 {
        let dims = random.from(2, 4) as usize;
        let size = random.list(dims as u32, 2, if dims == 4 { 4 } else { 6 });
        // Each dimension moves those behind it.
        let row = |random: &mut Random, d: usize| -> Vec<u32> {
            (0..dims).map(|e| if e > d { random.from(0, size[e] - 1) } else { 0 }).collect()
        };
        let twist: Vec<Vec<u32>> = (0..dims).map(|d| row(&mut random, d)).collect();
        let written = json!({ "kind": "twisted_torus", "size": size, "twist": twist });
        let fabric = check(&written, size.iter().product(), 1, 2 * dims as u32);
        let first = distribution(&fabric, 0);
        assert!((1..fabric.routers()).all(|router| distribution(&fabric, router) == first), "{written}");
    }
}

#[test]
fn random_regular_networks() {
    let mut random = Random(4);
    for seed in 0..30u64 {
        let (routers, degree) = (2 * random.from(2, 50), random.from(3, 12));
        let degree = degree.min(routers - 1);
        let written = json!({ "kind": "random_regular", "routers": routers, "degree": degree, "seed": seed });
        let fabric = check(&written, routers, 1, degree);
        for router in 0..routers {
            let mut peers: Vec<u32> = (0..degree as usize).map(|port| fabric.peer(router, port).unwrap().0).collect();
            peers.sort_unstable();
            assert!(peers.windows(2).all(|pair| pair[0] != pair[1]), "{written}: parallel cables");
        }
    }
    let of = |network: Value| fabric(&network);
    let network = json!({ "kind": "random_regular", "routers": 20, "degree": 5 });
    let mut first = network.clone();
    first["seed"] = json!(1);
    assert_eq!(of(network.clone()), of(first.clone()));
    first["seed"] = json!(u64::MAX);
    assert_ne!(of(network), of(first));
}

/// Paths are at most 15 % longer than in any network with as many routers and cables.
#[test]
fn ways_in_a_random_network_are_short() {
    let fabric = fabric(&json!({ "kind": "random_regular", "routers": 512, "degree": 8, "seed": 7 }));
    let (sum, diameter) = from_the_first(&fabric);
    // At the least 8 at one channel, 56 at two, 392 at three and 55 at four.
    let least = 8 + 2 * 56 + 3 * 392 + 4 * 55;
    assert!(diameter <= 5 && f64::from(sum) < 1.15 * f64::from(least), "{sum}, at least {least}; {diameter}");
}

#[test]
fn slim_flies() {
    for (q, degree) in [(3, 5), (4, 6), (5, 7), (7, 11), (8, 12), (9, 13), (11, 17), (13, 19)] {
        let fabric = check(&json!({ "kind": "slim_fly", "q": q }), 2 * q * q, u32::div_ceil(degree, 2), degree);
        for router in (0..fabric.routers()).step_by(q as usize) {
            let reached = distribution(&fabric, router);
            assert_eq!(reached, [1, degree, 2 * q * q - degree - 1], "q = {q}, router {router}");
        }
    }
    // The Hoffman-Singleton graph: 50 routers are the most that degree 7 and diameter 2 allow.
    check(&json!({ "kind": "slim_fly", "q": 5, "terminals_per_router": 57 }), 50, 57, 7);
}

#[test]
fn dragonflies_of_leaves_and_spines() {
    let mut random = Random(5);
    for _ in 0..30 {
        let [leaves, spines, h] = [(1, 5), (1, 4), (1, 4)].map(|(low, high)| random.from(low, high));
        let (groups, terminals) = (random.from(2, spines * h + 1), random.from(1, 4));
        let written = json!({ "kind": "dragonfly_plus", "leaves_per_group": leaves, "spines_per_group": spines,
            "global_channels_per_spine": h, "groups": groups, "terminals_per_leaf": terminals });
        let (fabric, degrees) = checked(&written);
        let size = leaves + spines;
        assert_eq!((fabric.routers(), fabric.terminals()), (groups * size, groups * leaves * terminals), "{written}");
        let mut global = 0;
        for (router, degree) in (0..).zip(degrees) {
            let is_leaf = router % size < leaves;
            assert_eq!(fabric.terminals_at(router).len() as u32, if is_leaf { terminals } else { 0 });
            assert!(if is_leaf { degree == spines } else { (leaves..=leaves + h).contains(&degree) }, "{written}");
            global += if is_leaf { 0 } else { degree - leaves };
        }
        assert_eq!(global, groups * (groups - 1) * (spines * h / (groups - 1)), "{written}");
        for (to, hops) in (0..).zip(distances(&fabric, 0)).filter(|(to, _)| to % size < leaves) {
            assert_eq!(
                hops,
                if to == 0 {
                    0
                } else if to < size {
                    2
                } else {
                    3
                },
                "{written}"
            );
        }
    }
}

/// Up, through a global channel and down: one virtual channel is enough.
#[test]
fn dragonfly_plus_is_free_of_deadlock_with_one_virtual_channel() {
    let written = json!({ "kind": "dragonfly_plus", "leaves_per_group": 2, "spines_per_group": 2,
        "global_channels_per_spine": 2, "terminals_per_leaf": 2 });
    let plan = plan(&written, Some("shortest_path"), 1).unwrap();
    let fabric = &plan.fabric;
    for (src, dst) in (0..fabric.terminals()).flat_map(|src| (0..fabric.terminals()).map(move |dst| (src, dst))) {
        let path = plan.routing.path(fabric, fabric.end(src), fabric.end(dst), 0);
        let classes: Vec<&str> =
            path.iter().map(|&(router, port, _)| fabric.classes()[fabric.class_of(router, port)].as_str()).collect();
        let expected: &[&str] = match (src / 2 == dst / 2, src / 4 == dst / 4) {
            (true, _) => &[],
            (_, true) => &["up", "down"],
            _ => &["up", "global", "down"],
        };
        assert_eq!(classes, expected, "{src} to {dst}");
    }
}

/// GPUs of a server meet at its switch, those of a rail at its leaf; others by either in twice as many channels.
#[test]
fn rails_join_gpus_with_the_same_number() {
    let mut random = Random(7);
    for _ in 0..20 {
        let [servers, gpus, units, spines] = [(1, 5), (1, 6), (1, 3), (1, 3)].map(|(low, high)| random.from(low, high));
        let [pods, cores] = [(1, 2), (1, 2)].map(|(low, high)| random.from(low, high));
        let written = json!({ "kind": "rail_optimized", "servers_per_leaf": servers, "gpus_per_server": gpus,
            "leaves_per_rail": units, "spines": spines, "pods": pods, "cores": cores });
        let (fabric, degrees) = checked(&written);
        let all = pods * units * servers;
        assert_eq!(fabric.terminals(), all * gpus, "{written}");
        assert_eq!(fabric.routers(), all * (gpus + 1) + pods * (units * gpus + spines) + cores, "{written}");
        let expected = |router: u32| match router {
            _ if router < all * gpus => 2,
            _ if router < all * (gpus + 1) => gpus,
            _ if router < all * (gpus + 1) + pods * units * gpus => servers + spines,
            _ if router < fabric.routers() - cores => units * gpus + cores,
            _ => pods * spines,
        };
        assert_eq!(degrees, (0..fabric.routers()).map(expected).collect::<Vec<_>>(), "{written}");
        for (gpu, hops) in (0..all * gpus).zip(distances(&fabric, 0)) {
            let (server, unit) = (gpu / gpus, gpu / gpus / servers);
            let near = [server == 0, gpu % gpus == 0 && unit == 0];
            let expected = match near {
                _ if gpu == 0 => 0,
                [false, false] if unit / units > 0 => 6,
                [false, false] => 4,
                _ => 2,
            };
            assert_eq!(hops, expected, "{written}: {gpu}");
        }
    }
}

#[test]
fn an_all_to_all_completes_and_not_before_its_bound() {
    for written in [
        json!({ "kind": "hypercube", "dimensions": 4 }),
        json!({ "kind": "hyperx", "size": [3, 2, 2], "width": [2, 1, 1], "terminals_per_router": 2 }),
        json!({ "kind": "hyperx", "size": [2, 2, 2, 2, 2] }),
        json!({ "kind": "flattened_butterfly", "k": 3, "n": 3 }),
        json!({ "kind": "circulant", "routers": 13, "strides": [1, 5], "terminals_per_router": 2 }),
        json!({ "kind": "circulant", "routers": 8, "strides": [4, 1] }),
        json!({ "kind": "twisted_torus", "size": [4, 8] }),
        json!({ "kind": "twisted_torus", "size": [2, 2, 4], "terminals_per_router": 2 }),
        json!({ "kind": "twisted_torus", "size": [3, 4], "twist": [[0, 1], [0, 0]] }),
        json!({ "kind": "random_regular", "routers": 16, "degree": 3, "seed": 3, "terminals_per_router": 2 }),
        json!({ "kind": "slim_fly", "q": 3, "terminals_per_router": 2 }),
        json!({ "kind": "slim_fly", "q": 4, "terminals_per_router": 1 }),
        json!({ "kind": "dragonfly_plus", "leaves_per_group": 2, "spines_per_group": 2,
            "global_channels_per_spine": 1, "terminals_per_leaf": 3 }),
        json!({ "kind": "rail_optimized", "servers_per_leaf": 2, "gpus_per_server": 3, "leaves_per_rail": 2, "spines": 2 }),
        json!({ "kind": "rail_optimized", "servers_per_leaf": 4, "gpus_per_server": 4, "network_cycles_per_flit": 3 }),
        json!({ "kind": "rail_optimized", "servers_per_leaf": 2, "gpus_per_server": 2, "leaves_per_rail": 2, "spines": 2,
            "pods": 2, "cores": 1 }),
    ] {
        let plan = plan(&written, None, 16).unwrap_or_else(|e| panic!("{written}: {e}"));
        let result = simulate(&plan, &mut |_| true).unwrap_or_else(|e| panic!("{written}: {e}"));
        let terminals = u64::from(plan.fabric.terminals());
        assert_eq!(result.packets, terminals * (terminals - 1), "{written}");
        let PlanBound::Completion(bound) = plan_bound(&plan).unwrap() else { panic!("a schedule") };
        let took = result.completion_cycles as f64;
        assert!(took >= bound.tightest_cycles && bound.channel_load_cycles > 0.0, "{written}: {took}");
    }
}

/// The names of the fields as users see them; each topology tests its ranges itself.
#[test]
fn a_field_that_makes_no_sense_is_named() {
    for (written, expected) in [
        (json!({ "kind": "hypercube", "dimensions": 20 }), "dimensions = 20: expected a whole number, 1 to 6"),
        (json!({ "kind": "hyperx", "size": [4, 4], "width": [1, 1, 1] }), "width = [1, 1, 1]: expected 2 entries"),
        (
            json!({ "kind": "hyperx", "size": [4000000000u32, 4000000000u32] }),
            "size[0] = 4000000000: expected a whole number, 2 to 64",
        ),
        (json!({ "kind": "flattened_butterfly", "k": 40, "n": 3 }), "k = 40: expected 2 to 22"),
        (
            json!({ "kind": "circulant", "routers": 4000000000u32, "strides": [1] }),
            "routers = 4000000000: expected a whole number, 2 to 1000000",
        ),
        (json!({ "kind": "circulant", "routers": 9, "strides": [3] }), "strides = [3]: expected strides that reach"),
        (json!({ "kind": "twisted_torus", "size": [4, 6] }), "size = [4, 6] without a twist: expected k x 2k"),
        (json!({ "kind": "random_regular", "routers": 9, "degree": 5 }), "degree = 5: expected an even number"),
        (json!({ "kind": "slim_fly", "q": 6 }), "q = 6: expected a power of a prime from 3 to 41; use 5 or 7"),
        (
            json!({ "kind": "dragonfly_plus", "leaves_per_group": 2, "spines_per_group": 2,
            "global_channels_per_spine": 2, "groups": 6 }),
            "groups = 6: expected 2 to 5",
        ),
        (
            json!({ "kind": "rail_optimized", "servers_per_leaf": 4, "leaves_per_rail": 2 }),
            "spines = 0: expected 1 to 60",
        ),
    ] {
        let error = plan(&written, None, 16).unwrap_err().to_string();
        assert!(error.starts_with(&format!("network.topology.{expected}")), "{error}");
    }
    let error = plan(&json!({ "kind": "slim_fly", "q": 5, "p": 3 }), None, 16).unwrap_err().to_string();
    assert!(error.starts_with("network.topology.p"), "{error}");
}
