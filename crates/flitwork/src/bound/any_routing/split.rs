//! A split: the ways by which each block of sources sends what it has to send.

use super::search::Smooth;
use super::shortest::Shortest;
use super::{Channels, Demands};

/// Loads of a way of each block, by channel: 32 MB. Larger networks have larger blocks.
const MOST_LOADS: usize = 2 << 20;
/// Moves of a block in a step.
const MOVES: usize = 3;
/// A way that is longer by less than this share is as short.
const AS_SHORT: f64 = 1e-9;
/// Halvings of the interval in which the best part of a move is looked for.
const HALVINGS: usize = 20;

/// Routes for all demands: each block sends by several ways at once.
pub(super) struct Split<'a> {
    channels: &'a Channels,
    demands: &'a Demands,
    /// The sources, and how many of them are a block.
    sources: Vec<u32>,
    block: usize,
    /// The ways of each block.
    ways: Vec<Vec<Way>>,
    /// What each channel carries of all.
    pub flits: Vec<f64>,
    shortest: Shortest,
}

/// All that a block sends, by routes that were the shortest at some time.
struct Way {
    /// The part of the block that goes this way.
    part: f64,
    /// Channels, and what each carries if all goes this way.
    flits: Vec<(u32, f64)>,
}

impl Way {
    /// The lengths of all its routes together.
    fn length(&self, lengths: &[u64]) -> f64 {
        self.flits.iter().map(|&(channel, flits)| flits * lengths[channel as usize] as f64).sum()
    }
}

impl<'a> Split<'a> {
    pub fn new(channels: &'a Channels, demands: &'a Demands) -> Self {
        let sends = |router: &u32| !demands.to[*router as usize].is_empty();
        let sources: Vec<u32> = (0..demands.to.len() as u32).filter(sends).collect();
        let block = (sources.len() * channels.len()).div_ceil(MOST_LOADS).max(1);
        let (flits, shortest) = (vec![0.0; channels.len()], Shortest::new(channels));
        Split { channels, demands, sources, block, ways: Vec::new(), flits, shortest }
    }

    /// Sends everything by the shortest routes: the time that these weights prove.
    pub fn begin(&mut self, weights: &[u32]) -> f64 {
        let lengths = self.channels.lengths(weights);
        let mut sum = 0;
        for block in self.sources.chunks(self.block) {
            sum += self.shortest.route(self.channels, &lengths, block, self.demands);
            self.ways.push(vec![Way { part: 1.0, flits: self.shortest.loaded() }]);
        }
        self.add_up();
        self.channels.proved(sum, weights)
    }

    /// The loads of all ways together: steps change them by differences, whose rounding adds up.
    fn add_up(&mut self) {
        self.flits.fill(0.0);
        for way in self.ways.iter().flatten() {
            way.flits.iter().for_each(|&(channel, flits)| self.flits[channel as usize] += way.part * flits);
        }
    }

    /// Moves flow of each block to shorter ways, by weights that follow the loads; false if it was told to stop.
    pub fn improve(&mut self, smooth: &Smooth, go_on: &mut dyn FnMut() -> bool) -> bool {
        let Split { channels, demands, sources, block, ways, flits, shortest } = self;
        let mut weights = vec![0; channels.len()];
        smooth.weigh(channels, flits, &mut weights);
        let changes = vec![0.0; channels.len()];
        let mut moves = Moves { channels, smooth, flits, lengths: channels.lengths(&weights), changes };
        for (block, ways) in sources.chunks(*block).zip(ways) {
            if !go_on() {
                return false;
            }
            shortest.route(channels, &moves.lengths, block, demands);
            ways.push(Way { part: 0.0, flits: shortest.loaded() });
            for _ in 0..MOVES {
                if !moves.move_to_shortest(ways) {
                    break;
                }
            }
            ways.retain(|way| way.part > 0.0);
        }
        self.add_up();
        true
    }
}

/// Moves of flow between the ways of a block; loads and lengths follow.
struct Moves<'a> {
    channels: &'a Channels,
    smooth: &'a Smooth,
    flits: &'a mut [f64],
    lengths: Vec<u64>,
    /// What a move adds to each channel; 0 between moves.
    changes: Vec<f64>,
}

impl Moves<'_> {
    /// Moves what lowers the smooth maximum most; false if no way is longer than the shortest.
    fn move_to_shortest(&mut self, ways: &mut [Way]) -> bool {
        let lengths: Vec<f64> = ways.iter().map(|way| way.length(&self.lengths)).collect();
        let by_length = |a: &usize, b: &usize| lengths[*a].total_cmp(&lengths[*b]);
        let used = (0..ways.len()).filter(|&way| ways[way].part > 0.0);
        let (Some(from), Some(to)) = (used.max_by(by_length), (0..ways.len()).min_by(by_length)) else { return false };
        if lengths[from] <= lengths[to] * (1.0 + AS_SHORT) {
            return false;
        }
        let most = ways[from].part;
        let changed = self.changed(&ways[from], &ways[to], most);
        let part = self.best_part(&changed);
        ways[from].part -= part * most;
        ways[to].part += part * most;
        for (channel, change) in changed {
            self.flits[channel] += part * change;
            let weight = self.smooth.weight(self.channels.time(channel, self.flits[channel]));
            self.lengths[channel] = u64::from(weight) * u64::from(self.channels.cycles_per_flit[channel]);
        }
        true
    }

    /// The channels whose loads change where this part of a block goes another way, and by how much.
    fn changed(&mut self, from: &Way, to: &Way, part: f64) -> Vec<(usize, f64)> {
        from.flits.iter().for_each(|&(channel, flits)| self.changes[channel as usize] -= part * flits);
        to.flits.iter().for_each(|&(channel, flits)| self.changes[channel as usize] += part * flits);
        let channels = from.flits.iter().chain(&to.flits).map(|&(channel, _)| channel as usize);
        let taken = channels.map(|channel| (channel, std::mem::take(&mut self.changes[channel])));
        taken.filter(|&(_, change)| change != 0.0).collect()
    }

    /// The part of some changes with which the smooth maximum is smallest.
    fn best_part(&self, changed: &[(usize, f64)]) -> f64 {
        let time = |&(channel, change): &(usize, f64)| {
            let cycles = f64::from(self.channels.cycles_per_flit[channel]);
            (self.channels.time(channel, self.flits[channel]), change * cycles)
        };
        let times: Vec<(f64, f64)> = changed.iter().map(time).collect();
        let rises_at = |part: f64| {
            let at = |&(time, change): &(f64, f64)| time + part * change;
            let most = times.iter().map(at).fold(f64::NEG_INFINITY, f64::max);
            times.iter().map(|time| (self.smooth.sharpness * (at(time) - most)).exp() * time.1).sum::<f64>() > 0.0
        };
        if !rises_at(1.0) {
            return 1.0;
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = (low + high) / 2.0;
            if rises_at(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        low
    }
}
