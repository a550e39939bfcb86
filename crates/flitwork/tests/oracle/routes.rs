//! The routes of routings that go by tables, on any network: "lash", "hop_classes", "up_down", "table",
//! "graph_valiant" and "ecmp" of "Routing hop by hop" in docs/model.md, found the slow way.

use flitwork::spec::RoutingSpec;
use flitwork::topology::Fabric;
use std::collections::{HashMap, HashSet};

/// Router and output port.
type Step = (u32, usize);
type Dependencies = HashSet<(Step, Step)>;

/// Tables of routes.
#[derive(Default)]
pub struct Routes {
    /// The port of a router for a destination router.
    first: HashMap<(u32, u32), usize>,
    /// up_down: the same of packets that have gone down.
    then: HashMap<(u32, u32), usize>,
    /// up_down: router and input port behind channels that lead down.
    from_above: HashSet<Step>,
    /// lash: the layer of source and destination.
    layer: HashMap<(u32, u32), usize>,
    /// Sets of VCs; of two walks those of one.
    pub sets: usize,
    /// graph_valiant: a set for each channel walked.
    pub by_hops: bool,
}

/// Terminals that each port was given so far.
#[derive(Default)]
struct Dealt(HashMap<Step, usize>);

impl Dealt {
    fn deal(&mut self, router: u32, ports: Vec<usize>, terminals: usize) -> Option<usize> {
        let so_far = |port: &usize| self.0.get(&(router, *port)).copied().unwrap_or(0);
        let port = ports.into_iter().min_by_key(|port| (so_far(port), *port))?;
        *self.0.entry((router, port)).or_default() += terminals;
        Some(port)
    }
}

impl Routes {
    /// Of a routing that needs them.
    pub fn of(routing: &RoutingSpec, fabric: &Fabric) -> Option<Self> {
        match routing {
            _ if fabric.routers() == 1 => None,
            RoutingSpec::Lash(_) => Some(lash(fabric)),
            RoutingSpec::HopClasses(_) => Some(Routes { first: balanced(fabric), sets: 1, ..Routes::default() }),
            RoutingSpec::UpDown(options) => Some(up_down(fabric, options.root.expect("it was resolved"))),
            RoutingSpec::Table(options) => Some(table(fabric, &options.next)),
            RoutingSpec::GraphValiant(_) | RoutingSpec::GraphUgal(_) => Some(two_walks(fabric)),
            RoutingSpec::Ecmp(_) | RoutingSpec::Spray(_) => {
                Some(Routes { sets: sets_of_equal_paths(fabric), ..Routes::default() })
            }
            _ => None,
        }
    }

    /// The output port of a packet at `here` that came by an input port of the network, or by none.
    pub fn port(&self, here: u32, came_by: Option<usize>, to: u32) -> usize {
        let down = came_by.is_some_and(|port| self.from_above.contains(&(here, port)));
        if down { self.then[&(here, to)] } else { self.first[&(here, to)] }
    }

    /// Channels from one router with terminals to another.
    pub fn channels(&self, fabric: &Fabric, from: u32, to: u32) -> u32 {
        let (mut at, mut channels) = (from, 0);
        while at != to {
            at = fabric.peer(at, self.first[&(at, to)]).expect("it is on the way").0;
            channels += 1;
        }
        channels
    }

    /// The set of VCs of a packet.
    pub fn set(&self, src: u32, to: u32) -> usize {
        self.layer.get(&(src, to)).copied().unwrap_or(0)
    }
}

fn ends(fabric: &Fabric) -> Vec<u32> {
    (0..fabric.routers()).filter(|&router| !fabric.terminals_at(router).is_empty()).collect()
}

/// The fewest channels from each router to `to`, of those that count.
fn distances(fabric: &Fabric, to: u32, counts: &dyn Fn(Step) -> bool) -> HashMap<u32, usize> {
    let mut found = HashMap::from([(to, 0)]);
    for hops in 1..=fabric.routers() as usize {
        let before = found.clone();
        for step in fabric.channels().filter(|&step| counts(step)) {
            let (far, _) = fabric.peer(step.0, step.1).expect("it exists");
            if before.get(&far) == Some(&(hops - 1)) {
                found.entry(step.0).or_insert(hops);
            }
        }
    }
    found
}

/// The output ports of a router whose far end does.
fn ports_to(fabric: &Fabric, router: u32, leads: impl Fn(usize, u32) -> bool) -> Vec<usize> {
    let far = |port: usize| fabric.peer(router, port).map(|(far, _)| far);
    (0..fabric.network_ports()).filter(|&port| far(port).is_some_and(|far| leads(port, far))).collect()
}

/// The shortest paths over the least used channels, each destination looked at twice.
fn balanced(fabric: &Fabric) -> HashMap<(u32, u32), usize> {
    let mut first: HashMap<(u32, u32), usize> = HashMap::new();
    for _ in 0..2 {
        for to in ends(fabric) {
            first.retain(|&(_, dst), _| dst != to);
            let loads = cycles(fabric, &first);
            let hops = distances(fabric, to, &|_| true);
            let mut order: Vec<u32> = hops.keys().copied().filter(|&router| router != to).collect();
            order.sort_by_key(|router| hops[router]);
            let mut cost = HashMap::from([(to, 0u128)]);
            for router in order {
                let ports = ports_to(fabric, router, |_, far| hops.get(&far).is_some_and(|h| h + 1 == hops[&router]));
                let of = |port: usize| {
                    let far = fabric.peer(router, port).expect("it exists").0;
                    cost[&far] + loads.get(&(router, port)).copied().unwrap_or(0).pow(4)
                };
                let port = ports.into_iter().min_by_key(|&port| (of(port), port)).expect("a way");
                cost.insert(router, of(port));
                first.insert((router, to), port);
            }
        }
    }
    first
}

/// The cycles that each channel takes for a flit from each terminal to each other one, by the routes that there are.
fn cycles(fabric: &Fabric, first: &HashMap<(u32, u32), usize>) -> HashMap<Step, u128> {
    let mut found = HashMap::new();
    for (src, to) in ends(fabric).into_iter().flat_map(|src| ends(fabric).into_iter().map(move |to| (src, to))) {
        let mut at = src;
        while let Some(&port) = first.get(&(at, to)) {
            let pairs = fabric.terminals_at(src).len() * fabric.terminals_at(to).len();
            *found.entry((at, port)).or_insert(0) += pairs as u128 * u128::from(fabric.cycles_per_flit(at, port));
            at = fabric.peer(at, port).expect("it exists").0;
        }
    }
    found
}

fn lash(fabric: &Fabric) -> Routes {
    let mut routes = Routes { first: balanced(fabric), ..Routes::default() };
    let mut layers: Vec<Dependencies> = Vec::new();
    for to in ends(fabric) {
        for src in ends(fabric).into_iter().filter(|&src| src != to) {
            let mut path = Vec::new();
            let mut at = src;
            while at != to {
                let port = routes.first[&(at, to)];
                path.push((at, port));
                at = fabric.peer(at, port).expect("it exists").0;
            }
            let more = |layer: &Dependencies| -> Dependencies {
                layer.iter().copied().chain(path.windows(2).map(|pair| (pair[0], pair[1]))).collect()
            };
            let fits = layers.iter().position(|layer| !has_cycle(more(layer)));
            let number = fits.unwrap_or_else(|| {
                layers.push(Dependencies::new());
                layers.len() - 1
            });
            layers[number] = more(&layers[number]);
            routes.layer.insert((src, to), number);
        }
    }
    routes.sets = layers.len().max(1);
    balance(fabric, &mut routes, &mut layers);
    routes
}

/// Pairs move to the layer with the least load that takes them, if it has less load then than theirs had.
fn balance(fabric: &Fabric, routes: &mut Routes, layers: &mut [Dependencies]) {
    let mut loads = vec![0; layers.len()];
    let path = |routes: &Routes, (src, to): (u32, u32)| {
        let (mut path, mut at) = (Vec::new(), src);
        while at != to {
            let port = routes.first[&(at, to)];
            path.push((at, port));
            at = fabric.peer(at, port).expect("it exists").0;
        }
        path
    };
    let load = |(src, to): (u32, u32), channels: usize| {
        channels * fabric.terminals_at(src).len() * fabric.terminals_at(to).len()
    };
    for (&pair, &layer) in &routes.layer {
        loads[layer] += load(pair, path(routes, pair).len());
    }
    for to in ends(fabric) {
        for src in ends(fabric).into_iter().filter(|&src| src != to) {
            let (path, own) = (path(routes, (src, to)), routes.layer[&(src, to)]);
            let more = load((src, to), path.len());
            let mut lighter: Vec<usize> = (0..layers.len()).filter(|&l| loads[l] + more < loads[own]).collect();
            lighter.sort_by_key(|&layer| (loads[layer], layer));
            for layer in lighter {
                let mut all = layers[layer].clone();
                all.extend(path.windows(2).map(|pair| (pair[0], pair[1])));
                if !has_cycle(all.clone()) {
                    layers[layer] = all;
                    loads[own] -= more;
                    loads[layer] += more;
                    routes.layer.insert((src, to), layer);
                    break;
                }
            }
        }
    }
}

/// graph_valiant: the lowest ports on shortest paths, unless they close a cycle; then the paths of LASH, or of
/// hop_classes if LASH needs more layers than the longest path has channels.
fn two_walks(fabric: &Fabric) -> Routes {
    let mut routes = Routes { sets: 1, ..Routes::default() };
    let mut dependencies = Dependencies::new();
    for to in ends(fabric) {
        let hops = distances(fabric, to, &|_| true);
        for router in (0..fabric.routers()).filter(|router| *router != to && hops.contains_key(router)) {
            let ports = ports_to(fabric, router, |_, far| hops.get(&far).is_some_and(|h| h + 1 == hops[&router]));
            routes.first.insert((router, to), ports[0]);
        }
        for src in ends(fabric).into_iter().filter(|&src| src != to) {
            let mut at = (src, routes.first[&(src, to)]);
            while let Some((next, _)) = fabric.peer(at.0, at.1).filter(|&(next, _)| next != to) {
                let after = (next, routes.first[&(next, to)]);
                dependencies.insert((at, after));
                at = after;
            }
        }
    }
    if !has_cycle(dependencies) {
        return routes;
    }
    let hops = |to: u32| ends(fabric).into_iter().map(move |src| distances(fabric, to, &|_| true)[&src]);
    let longest = ends(fabric).into_iter().flat_map(hops).max().unwrap_or(0);
    let layers = lash(fabric);
    if layers.sets <= longest {
        return layers;
    }
    Routes { first: layers.first, sets: longest, by_hops: true, ..Routes::default() }
}

/// ecmp, spray: one set, unless the shortest paths close a cycle; then one for each channel of the longest.
fn sets_of_equal_paths(fabric: &Fabric) -> usize {
    let (mut dependencies, mut longest) = (Dependencies::new(), 1);
    for to in ends(fabric) {
        let hops = distances(fabric, to, &|_| true);
        let nearer = |router: u32| -> Vec<Step> {
            let leads = |_, far: u32| hops.get(&far).is_some_and(|h| h + 1 == hops[&router]);
            ports_to(fabric, router, leads).into_iter().map(|port| (router, port)).collect()
        };
        let sources = || ends(fabric).into_iter().filter(|&src| src != to);
        longest = longest.max(sources().map(|src| hops[&src]).max().unwrap_or(0));
        let mut left: Vec<Step> = sources().flat_map(nearer).collect();
        let mut walked = HashSet::new();
        while let Some(step) = left.pop() {
            let next = fabric.peer(step.0, step.1).expect("it exists").0;
            if walked.insert(step) && next != to {
                dependencies.extend(nearer(next).into_iter().map(|after| (step, after)));
                left.extend(nearer(next));
            }
        }
    }
    if has_cycle(dependencies) { longest } else { 1 }
}

/// Takes out channels that nothing depends on until none is left.
fn has_cycle(mut left: Dependencies) -> bool {
    loop {
        let waited_for: HashSet<Step> = left.iter().map(|&(_, after)| after).collect();
        let before = left.len();
        left.retain(|(channel, _)| waited_for.contains(channel));
        if left.len() == before {
            return before > 0;
        }
    }
}

fn up_down(fabric: &Fabric, root: u32) -> Routes {
    let (mut routes, mut dealt) = (Routes { sets: 1, ..Routes::default() }, Dealt::default());
    let level = distances(fabric, root, &|_| true);
    let rank = |router: u32| (level.get(&router).copied().unwrap_or(usize::MAX), router);
    let far = |(router, port): Step| fabric.peer(router, port).expect("it exists");
    let down = |step: Step| rank(far(step).0) > rank(step.0);
    routes.from_above = fabric.channels().filter(|&step| down(step)).map(far).collect();
    for to in ends(fabric) {
        let terminals = fabric.terminals_at(to).len();
        let below = distances(fabric, to, &down);
        // Up to any router, and down from there.
        let mut any = below.clone();
        for _ in 0..fabric.routers() {
            let before = any.clone();
            for step in fabric.channels().filter(|&step| !down(step)) {
                if let Some(&hops) = before.get(&far(step).0) {
                    let known = any.entry(step.0).or_insert(usize::MAX);
                    *known = (*known).min(hops + 1);
                }
            }
        }
        let one_less =
            |hops: &HashMap<u32, usize>, far: u32, than: usize| hops.get(&far).is_some_and(|h| h + 1 == than);
        for router in (0..fabric.routers()).filter(|&router| router != to) {
            if let Some(&here) = any.get(&router) {
                let leads = |port: usize, far: u32| match down((router, port)) {
                    true => one_less(&below, far, here),
                    false => one_less(&any, far, here),
                };
                let port = dealt.deal(router, ports_to(fabric, router, leads), terminals);
                routes.first.insert((router, to), port.expect("a way"));
            }
            if let Some(&here) = below.get(&router) {
                let leads = |port: usize, far: u32| down((router, port)) && one_less(&below, far, here);
                let port = dealt.deal(router, ports_to(fabric, router, leads), terminals);
                routes.then.insert((router, to), port.expect("a way"));
            }
        }
    }
    routes
}

fn table(fabric: &Fabric, next: &[Vec<u32>]) -> Routes {
    let mut routes = Routes { sets: 1, ..Routes::default() };
    for (router, row) in (0..).zip(next) {
        for (to, &chosen) in (0..).zip(row).filter(|&(to, _)| to != router) {
            let ports = ports_to(fabric, router, |_, far| far == chosen);
            if !ports.is_empty() {
                routes.first.insert((router, to), ports[to as usize % ports.len()]);
            }
        }
    }
    routes
}
