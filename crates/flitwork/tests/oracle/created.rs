//! What terminals create: the section of that name in docs/model.md.

use super::random::{Stream, mix, pick};
use flitwork::Plan;
use flitwork::spec::{ProcessSpec, WorkloadSpec};
use flitwork::traffic::pattern::{Hotspot, Permutation, Uniform, Weights};
use flitwork::traffic::{
    Created, Destinations, Drawn, Matrix, PacketFlits, Packets, Pattern, Table, Trace, TracePacket, Traffic,
};

/// Where the packets of one terminal go.
enum Where<'a> {
    Anywhere { include_self: bool },
    Always(u32),
    ByShare { terminals: Vec<u32>, shares: Vec<f64> },
    Silent,
    Fixed(&'a [u32]),
}

/// When they are created.
enum When {
    AtOnce,
    Bernoulli(f64),
    OnOff { in_bursts: f64, burst: f64, idle: f64 },
}

/// The traffic of a specification.
struct Said<'a> {
    pattern: &'a Pattern,
    packet_flits: &'a PacketFlits,
    process: ProcessSpec,
    /// Flits a cycle and terminal; 0: all at once.
    load: f64,
    /// Packets of a terminal, if they end.
    limit: Option<u32>,
}

/// The packets that a terminal creates up to cycle `end`, those of the background or of the workload.
pub fn created(plan: &Plan, background: bool, terminal: u32, end: u64) -> Vec<Created> {
    let (seed, start) = (plan.spec.run.seed, plan.start_cycle);
    match (background, &plan.spec.background) {
        (false, _) => of(plan, &plan.spec.workload, (seed, start), terminal, end),
        (true, None) => Vec::new(),
        (true, Some(beside)) => of(plan, beside, (mix(seed ^ 0x6261_636b_6772_6e64), 0), terminal, end),
    }
}

fn of(plan: &Plan, spec: &WorkloadSpec, (seed, start): (u64, u64), terminal: u32, end: u64) -> Vec<Created> {
    let n = plan.params.terminals as u32;
    let uniform;
    let said = match spec {
        WorkloadSpec::Uniform { packet_flits, offered_load, include_self, process } => {
            uniform = Pattern::Uniform(Uniform { include_self: *include_self });
            Said { pattern: &uniform, packet_flits, process: *process, load: *offered_load, limit: None }
        }
        WorkloadSpec::Traffic { pattern, packet_flits, offered_load, process } => {
            Said { pattern, packet_flits, process: *process, load: *offered_load, limit: None }
        }
        WorkloadSpec::Burst { pattern, packets, packet_flits, rate } => {
            let process = ProcessSpec::Bernoulli;
            Said { pattern, packet_flits, process, load: *rate, limit: Some(*packets) }
        }
        WorkloadSpec::Trace { packets, .. } => {
            let Some(Table::Trace(trace)) = packets.table() else { panic!("a valid plan has its trace") };
            return given(trace, (seed, start), terminal, end);
        }
        WorkloadSpec::AllToAll { .. }
        | WorkloadSpec::Collective { .. }
        | WorkloadSpec::Schedule { .. }
        | WorkloadSpec::Timetable { .. }
        | WorkloadSpec::Programs { .. } => return Vec::new(),
    };
    let lengths: Vec<(u32, f64)> = match said.packet_flits {
        PacketFlits::Fixed(flits) => vec![(*flits, 1.0)],
        PacketFlits::Mix(shares) => shares.iter().map(|s| (s.flits, s.share)).collect(),
    };
    let place = destinations(plan, spec, said.pattern, terminal);
    let to_itself = match &place {
        Where::Silent => return Vec::new(),
        Where::Always(to) => *to == terminal,
        Where::ByShare { terminals, .. } => matches!(said.pattern, Pattern::Matrix(_)) && *terminals == [terminal],
        Where::Fixed(to) => to[terminal as usize] == terminal,
        Where::Anywhere { .. } => false,
    };
    if said.limit.is_some() && to_itself {
        return Vec::new();
    }
    let relative = if said.limit.is_none() { relative_load(said.pattern, terminal) } else { 1.0 };
    let when = when(&said, &lengths, relative);
    let mut stream = Stream::new(seed, u64::from(terminal));
    let mut cycle = start + when.first(&mut stream);
    let mut packets = Vec::new();
    while cycle <= end && said.limit.is_none_or(|limit| packets.len() < limit as usize) {
        let number = stream.number();
        let dst = place.draw(terminal, n, number);
        let flits = match &lengths[..] {
            [(flits, _)] if matches!(said.packet_flits, PacketFlits::Fixed(_)) => *flits,
            mix => mix[pick(&mix.iter().map(|l| l.1).collect::<Vec<_>>(), stream.number())].0,
        };
        packets.push(Created { cycle, dst, flits, tie_bits: number as u8 });
        cycle += when.gap(&mut stream);
    }
    packets
}

/// The packets of a trace; all that is drawn for each are its tie bits.
fn given(trace: &Trace, (seed, start): (u64, u64), terminal: u32, end: u64) -> Vec<Created> {
    let mut stream = Stream::new(seed, u64::from(terminal));
    let packet = |p: TracePacket| Created {
        cycle: start + p.cycle,
        dst: p.dst,
        flits: p.flits,
        tie_bits: stream.number() as u8,
    };
    trace.of(terminal).map(packet).take_while(|p| p.cycle <= end).collect()
}

fn matrix_of(pattern: &Pattern) -> Option<&Matrix> {
    let Pattern::Matrix(Weights { weights, .. }) = pattern else { return None };
    match weights.table() {
        Some(Table::Matrix(matrix)) => Some(matrix),
        _ => None,
    }
}

fn destinations<'a>(plan: &'a Plan, spec: &WorkloadSpec, pattern: &Pattern, terminal: u32) -> Where<'a> {
    match pattern {
        Pattern::Uniform(Uniform { include_self }) => Where::Anywhere { include_self: *include_self },
        Pattern::Hotspot(Hotspot { terminals, shares }) => {
            let shares = if shares.is_empty() { vec![1.0; terminals.len()] } else { shares.clone() };
            Where::ByShare { terminals: terminals.clone(), shares }
        }
        Pattern::Permutation(Permutation { destinations, .. }) => Where::Always(destinations[terminal as usize]),
        Pattern::Matrix(_) => {
            let row = matrix_of(pattern).expect("a valid plan has its matrix").weights(terminal);
            let (terminals, shares): (Vec<u32>, Vec<f64>) = row.unzip();
            if terminals.is_empty() { Where::Silent } else { Where::ByShare { terminals, shares } }
        }
        // What a pattern means, and what is drawn once for the run, is for the tests of the patterns.
        _ => match &traffic_of(plan, spec).packets {
            Packets::Drawn(Drawn { destinations, .. }) => destination_rule(destinations, terminal),
            Packets::Given(_) => unreachable!("a pattern is no trace"),
        },
    }
}

/// Where the packets of a terminal go, by what a pattern was resolved to.
fn destination_rule(destinations: &Destinations, terminal: u32) -> Where<'_> {
    match destinations {
        Destinations::Fixed(to) => Where::Fixed(to),
        Destinations::Uniform { include_self } => Where::Anywhere { include_self: *include_self },
        Destinations::Weighted { terminals, cumulative } => {
            let before = std::iter::once(&0.0).chain(cumulative);
            let shares = cumulative.iter().zip(before).map(|(sum, before)| sum - before).collect();
            Where::ByShare { terminals: terminals.clone(), shares }
        }
        Destinations::Matrix(matrix) => {
            let (terminals, shares): (Vec<u32>, Vec<f64>) = matrix.weights(terminal).unzip();
            if terminals.is_empty() { Where::Silent } else { Where::ByShare { terminals, shares } }
        }
    }
}

fn traffic_of<'a>(plan: &'a Plan, spec: &WorkloadSpec) -> &'a Traffic {
    match &plan.workload {
        flitwork::Workload::OpenLoop(traffic) | flitwork::Workload::Finite(traffic) if *spec == plan.spec.workload => {
            traffic
        }
        _ => plan.background.as_ref().expect("traffic"),
    }
}

/// What a terminal sends of the offered load: by the sum of its row.
fn relative_load(pattern: &Pattern, terminal: u32) -> f64 {
    let Some(matrix) = matrix_of(pattern) else { return 1.0 };
    let sum = |row: u32| matrix.weights(row).map(|(_, weight)| weight).sum::<f64>();
    let all: f64 = (0..matrix.size() as u32).map(sum).sum();
    sum(terminal) * matrix.size() as f64 / all
}

fn when(said: &Said, lengths: &[(u32, f64)], relative: f64) -> When {
    if said.load == 0.0 {
        return When::AtOnce;
    }
    let total: f64 = lengths.iter().map(|l| l.1).sum();
    let mean: f64 = lengths.iter().map(|l| f64::from(l.0) * l.1 / total).sum();
    let rate = said.load * relative / mean;
    match said.process {
        ProcessSpec::Bernoulli => When::Bernoulli(rate),
        ProcessSpec::OnOff { mean_on_cycles: burst, mean_off_cycles: idle } => {
            When::OnOff { in_bursts: rate * (burst + idle) / burst, burst, idle }
        }
    }
}

impl Where<'_> {
    fn draw(&self, terminal: u32, terminals: u32, number: u64) -> u32 {
        match self {
            Where::Anywhere { include_self } => {
                let possible = u128::from(terminals - u32::from(!include_self));
                let drawn = ((u128::from(number >> 8) * possible) >> 56) as u32;
                drawn + u32::from(!include_self && drawn >= terminal)
            }
            Where::Always(to) => *to,
            Where::ByShare { terminals, shares } => terminals[pick(shares, number)],
            Where::Fixed(to) => to[terminal as usize],
            Where::Silent => unreachable!("it sends nothing"),
        }
    }
}

impl When {
    /// Cycles from the start to the first packet.
    fn first(&self, stream: &mut Stream) -> u64 {
        match *self {
            When::AtOnce => 0,
            When::Bernoulli(rate) => stream.trials(rate) - 1,
            When::OnOff { burst, idle, .. } => {
                let on = (burst / (burst + idle) * u64::MAX as f64) as u64;
                let before = if stream.number() < on { 0 } else { stream.trials(1.0 / idle) };
                let length = stream.trials(1.0 / burst);
                self.on_off(stream, before, length) - 1
            }
        }
    }

    /// Cycles from one packet to the next.
    fn gap(&self, stream: &mut Stream) -> u64 {
        match *self {
            When::AtOnce => 0,
            When::Bernoulli(rate) => stream.trials(rate),
            When::OnOff { burst, .. } => {
                let rest = stream.trials(1.0 / burst) - 1;
                self.on_off(stream, 0, rest)
            }
        }
    }

    /// `before` cycles are over, and the burst at hand has `left` more.
    fn on_off(&self, stream: &mut Stream, mut before: u64, mut left: u64) -> u64 {
        let When::OnOff { in_bursts, burst, idle } = *self else { unreachable!("only of bursts") };
        loop {
            let gap = stream.trials(in_bursts);
            if gap <= left {
                return before + gap;
            }
            before += left + stream.trials(1.0 / idle);
            left = stream.trials(1.0 / burst);
        }
    }
}
