//! The most that sources can send together through what they share: a linear program, bounded from above.
//!
//! Maximise the sum of `x_s` with `0 <= x_s <= u_s` and `sum of w_rs x_s <= b_r` for every row `r`. Any prices
//! `y_r >= 0` of the rows bound it:
//!
//! ```text
//! sum of x_s <= D(y) = sum of b_r y_r + sum over s of u_s max(0, 1 - sum of w_rs y_r)
//! ```
//!
//! So what is returned is an upper bound whatever the prices, and rounding cannot make it less: small programs get
//! their prices from the simplex method, which is exact, large ones from a descent that stops early.

/// Multiplications that the simplex method may take for one part of a program.
const SIMPLEX_WORK: usize = 100_000_000;
/// Multiplications of the descent, and the steps in which it takes them.
const DESCENT_WORK: usize = 100_000_000;
const STEPS: std::ops::RangeInclusive<usize> = 8..=120;

/// What sources share.
#[derive(Debug, Clone, Default)]
pub(super) struct Packing {
    /// Most that each source sends.
    most: Vec<f64>,
    rows: Vec<Row>,
}

/// A thing that is shared.
#[derive(Debug, Clone)]
struct Row {
    /// (source, what of it one unit of the source takes), ascending.
    weights: Vec<(u32, f64)>,
    /// How much of it there is.
    room: f64,
}

impl Packing {
    /// The linear program of sources that share nothing yet.
    pub fn new(most: Vec<f64>) -> Self {
        Packing { most, rows: Vec::new() }
    }

    /// Adds a resource of size `room` that these sources share by their weights; each stands in the list once.
    pub fn share(&mut self, weights: Vec<(u32, f64)>, room: f64) {
        // What cannot be used up limits nobody.
        if weights.iter().map(|&(source, weight)| self.most[source as usize] * weight).sum::<f64>() > room {
            self.rows.push(Row { weights, room });
        }
    }

    /// No less than the largest sum of what the sources send.
    pub fn most_in_all(&self) -> f64 {
        let mut part_of: Vec<u32> = (0..self.most.len() as u32).collect();
        for row in &self.rows {
            let first = root(&mut part_of, row.weights[0].0);
            for &(source, _) in &row.weights {
                let other = root(&mut part_of, source);
                part_of[other as usize] = first;
            }
        }
        let mut rows: Vec<(u32, &Row)> =
            self.rows.iter().map(|row| (root(&mut part_of, row.weights[0].0), row)).collect();
        rows.sort_by_key(|row| row.0);
        let mut bounded = vec![false; self.most.len()];
        let mut sum = 0.0;
        for part in rows.chunk_by(|a, b| a.0 == b.0) {
            let part: Vec<&Row> = part.iter().map(|row| row.1).collect();
            let program = Program::new(&part, &self.most);
            program.sources.iter().for_each(|&source| bounded[source as usize] = true);
            sum += program.bound();
        }
        let free = bounded.iter().zip(&self.most).filter(|(bounded, _)| !**bounded);
        sum + free.map(|(_, most)| most).sum::<f64>()
    }
}

/// Who stands for the part of a source.
fn root(part_of: &mut [u32], mut source: u32) -> u32 {
    while part_of[source as usize] != source {
        let next = part_of[part_of[source as usize] as usize];
        part_of[source as usize] = next;
        source = next;
    }
    source
}

/// A part whose sources share nothing with others.
struct Program {
    /// The sources that have a place in it, ascending, and the most of each.
    sources: Vec<u32>,
    most: Vec<f64>,
    /// With places in the stead of sources.
    rows: Vec<Row>,
}

impl Program {
    fn new(rows: &[&Row], most: &[f64]) -> Self {
        let mut sources: Vec<u32> = rows.iter().flat_map(|row| row.weights.iter().map(|w| w.0)).collect();
        sources.sort_unstable();
        sources.dedup();
        let place = |source: u32| sources.partition_point(|&other| other < source) as u32;
        let mut rows: Vec<Row> = rows
            .iter()
            .map(|row| Row {
                weights: row.weights.iter().map(|&(source, weight)| (place(source), weight / row.room)).collect(),
                room: 1.0,
            })
            .collect();
        // Of rows that are alike one is enough.
        rows.sort_by(|a, b| a.weights.partial_cmp(&b.weights).expect("weights are numbers"));
        rows.dedup_by(|a, b| a.weights == b.weights);
        Program { most: sources.iter().map(|&source| most[source as usize]).collect(), sources, rows }
    }

    /// The best bound that was found.
    fn bound(&self) -> f64 {
        let (rows, sources) = (self.rows.len(), self.sources.len());
        // A simplex takes about twice as many turns as there are rows or sources, whichever is fewer.
        let turns = 2 * rows.min(sources);
        if rows.saturating_mul(sources).saturating_mul(turns) <= SIMPLEX_WORK {
            let bound = self.of_prices(&Simplex::new(self).prices());
            return bound.min(self.most.iter().sum());
        }
        self.descend()
    }

    /// `1 -` what a unit of each source costs.
    fn gains(&self, prices: &[f64]) -> Vec<f64> {
        let mut gains = vec![1.0; self.most.len()];
        for (row, price) in self.rows.iter().zip(prices) {
            row.weights.iter().for_each(|&(source, weight)| gains[source as usize] -= weight * price);
        }
        gains
    }

    /// The bound that follows from prices.
    fn of_prices(&self, prices: &[f64]) -> f64 {
        let gains = self.gains(prices);
        prices.iter().sum::<f64>() + gains.iter().zip(&self.most).map(|(gain, most)| gain.max(0.0) * most).sum::<f64>()
    }

    /// The best bound of all multiples of some prices.
    fn of_scaled(&self, prices: &[f64]) -> f64 {
        let all: f64 = prices.iter().sum();
        // From multiple 1 / cost on a source pays nothing more.
        let mut costs: Vec<(f64, f64)> =
            self.gains(prices).iter().zip(&self.most).map(|(gain, &most)| (1.0 - gain, most)).collect();
        costs.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (mut left, mut spared) = costs.iter().fold((0.0, 0.0), |sum, c| (sum.0 + c.1, sum.1 + c.1 * c.0));
        let mut best: f64 = left;
        for (cost, most) in costs.into_iter().filter(|cost| cost.0 > 0.0) {
            let multiple = 1.0 / cost;
            best = best.min(multiple * all + left - multiple * spared);
            (left, spared) = (left - most, spared - most * cost);
        }
        best
    }

    /// Prices rise where sources that still gain would use up more than there is, and fall elsewhere.
    fn descend(&self) -> f64 {
        let mut prices = vec![1.0; self.rows.len()];
        let mut best: f64 = self.most.iter().sum();
        let weights: usize = self.rows.iter().map(|row| row.weights.len()).sum();
        let steps = (DESCENT_WORK / (4 * weights).max(1)).clamp(*STEPS.start(), *STEPS.end());
        for step in 0..steps {
            best = best.min(self.of_scaled(&prices)).min(self.of_prices(&prices));
            let gains = self.gains(&prices);
            let sharp = 4.0 + step as f64;
            let sends = |source: u32| {
                let at = source as usize;
                self.most[at] / (1.0 + (-sharp * gains[at]).clamp(-50.0, 50.0).exp())
            };
            let rate = 1.0 / (1.0 + step as f64 / 8.0);
            for (row, price) in self.rows.iter().zip(&mut prices) {
                let used: f64 = row.weights.iter().map(|&(source, weight)| weight * sends(source)).sum();
                *price *= (rate * (used - 1.0).clamp(-2.0, 2.0)).exp();
            }
        }
        best
    }
}

/// A tableau of the bounded simplex method: all that is not in the basis is 0, counted from the bound where it stands.
struct Simplex {
    /// `[row][column]`, what each basic variable falls by when the variable of the column rises by 1.
    table: Vec<f64>,
    columns: usize,
    /// Value of each basic variable, and what a unit of the variable of each column gains.
    values: Vec<f64>,
    gains: Vec<f64>,
    /// Variables: sources first, then what is left of each row.
    basic: Vec<usize>,
    outside: Vec<usize>,
    /// Most of each variable.
    most: Vec<f64>,
    /// Whether it is counted from its most downwards.
    turned: Vec<bool>,
}

/// What is less counts as nothing.
const TINY: f64 = 1e-9;

impl Simplex {
    fn new(program: &Program) -> Self {
        let (rows, columns) = (program.rows.len(), program.sources.len());
        let mut table = vec![0.0; rows * columns];
        for (r, row) in program.rows.iter().enumerate() {
            row.weights.iter().for_each(|&(source, weight)| table[r * columns + source as usize] = weight);
        }
        let most = program.most.iter().copied().chain(std::iter::repeat_n(f64::INFINITY, rows)).collect();
        Simplex {
            table,
            columns,
            values: vec![1.0; rows],
            gains: vec![1.0; columns],
            basic: (columns..columns + rows).collect(),
            outside: (0..columns).collect(),
            most,
            turned: vec![false; rows + columns],
        }
    }

    /// The prices of the rows when nothing gains any more, or after more turns than it should take.
    fn prices(mut self) -> Vec<f64> {
        let rows = self.basic.len();
        for turn in 0..20 * (rows + self.columns) {
            // The best gain first; should it turn in circles, the first.
            let gaining = (0..self.columns).filter(|&column| self.gains[column] > TINY);
            let entering = if turn < 10 * (rows + self.columns) {
                gaining.max_by(|&a, &b| self.gains[a].total_cmp(&self.gains[b]))
            } else {
                gaining.min_by_key(|&column| self.outside[column])
            };
            let Some(column) = entering else { break };
            self.enter(column);
        }
        let mut prices = vec![0.0; rows];
        for (column, &variable) in self.outside.iter().enumerate().filter(|(_, variable)| **variable >= self.columns) {
            prices[variable - self.columns] = (-self.gains[column]).max(0.0);
        }
        prices
    }

    /// The variable of a column rises until it, or another, is at a bound.
    fn enter(&mut self, column: usize) {
        let mut step = self.most[self.outside[column]];
        let mut leaving = None;
        for (row, &value) in self.values.iter().enumerate() {
            let falls = self.table[row * self.columns + column];
            let room = if falls > TINY {
                value / falls
            } else if falls < -TINY {
                (self.most[self.basic[row]] - value) / -falls
            } else {
                continue;
            };
            let earlier =
                leaving.is_some_and(|(other, _): (usize, bool)| room == step && self.basic[row] < self.basic[other]);
            if room < step || earlier {
                (step, leaving) = (room.max(0.0), Some((row, falls < 0.0)));
            }
        }
        if !step.is_finite() {
            self.gains[column] = 0.0; // What nothing limits does not exist here.
            return;
        }
        for row in 0..self.values.len() {
            self.values[row] -= step * self.table[row * self.columns + column];
        }
        let Some((row, at_most)) = leaving else {
            self.turn(column);
            return;
        };
        if at_most {
            self.turn_basic(row);
        }
        self.exchange(row, column, step);
    }

    /// The variable of a column is counted from its other bound.
    fn turn(&mut self, column: usize) {
        (0..self.values.len()).for_each(|row| self.table[row * self.columns + column] *= -1.0);
        self.gains[column] *= -1.0;
        self.turned[self.outside[column]] ^= true;
    }

    /// The same of a basic variable.
    fn turn_basic(&mut self, row: usize) {
        let variable = self.basic[row];
        self.table[row * self.columns..][..self.columns].iter_mut().for_each(|entry| *entry *= -1.0);
        self.values[row] = self.most[variable] - self.values[row];
        self.turned[variable] ^= true;
    }

    /// The variable of a row, which is 0 now, leaves the basis for that of a column, whose value is `value`.
    fn exchange(&mut self, row: usize, column: usize, value: f64) {
        let columns = self.columns;
        let pivot = self.table[row * columns + column];
        let mut entering: Vec<f64> = self.table[row * columns..][..columns].iter().map(|entry| entry / pivot).collect();
        entering[column] = 1.0 / pivot;
        for (_, other) in self.table.chunks_mut(columns).enumerate().filter(|(other, _)| *other != row) {
            let factor = std::mem::take(&mut other[column]);
            if factor != 0.0 {
                other.iter_mut().zip(&entering).for_each(|(entry, e)| *entry -= factor * e);
            }
        }
        let factor = std::mem::take(&mut self.gains[column]);
        self.gains.iter_mut().zip(&entering).for_each(|(gain, e)| *gain -= factor * e);
        self.table[row * columns..][..columns].copy_from_slice(&entering);
        self.values[row] = value;
        std::mem::swap(&mut self.basic[row], &mut self.outside[column]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::mix;

    fn packing(most: &[f64], rows: &[(&[(u32, f64)], f64)]) -> Packing {
        let mut packing = Packing::new(most.to_vec());
        rows.iter().for_each(|&(weights, room)| packing.share(weights.to_vec(), room));
        packing
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn small_programs_by_hand() {
        assert_eq!(packing(&[1.0, 2.0], &[]).most_in_all(), 3.0);
        // Three share one, one is free.
        let all: &[_] = &[(0, 1.0), (1, 1.0), (2, 1.0)];
        assert!(near(packing(&[1.0; 4], &[(all, 1.0)]).most_in_all(), 2.0));
        // The cheapest first: half of what there is goes to source 0, the rest to source 1.
        assert!(near(packing(&[1.0; 2], &[(&[(0, 0.5), (1, 1.0)], 1.0)]).most_in_all(), 1.5));
        // A triangle of three pairs: one half each.
        let pairs: [&[_]; 3] = [&[(0, 1.0), (1, 1.0)], &[(1, 1.0), (2, 1.0)], &[(0, 1.0), (2, 1.0)]];
        assert!(near(packing(&[1.0; 3], &pairs.map(|pair| (pair, 1.0))).most_in_all(), 1.5));
    }

    /// Random programs: no less than what a greedy choice sends, what the descent says no less than the simplex, and
    /// not far from it.
    #[test]
    fn bounds_hold_whatever_the_prices() {
        for seed in 0..400u64 {
            let draw = |i: u64, n: u64| mix(mix(seed) ^ i) % n;
            let (sources, rows) = (1 + draw(0, 12) as u32, 1 + draw(1, 14));
            let most: Vec<f64> = (0..sources).map(|s| 1.0 + draw(2 + u64::from(s), 3) as f64).collect();
            let mut all = Packing::new(most.clone());
            let mut shared = Vec::new();
            for row in 0..rows {
                let weight = |s: u32| draw(100 + row * 50 + u64::from(s), 7).saturating_sub(2) as f64 / 4.0;
                let weights: Vec<_> = (0..sources).map(|s| (s, weight(s))).filter(|w| w.1 > 0.0).collect();
                if !weights.is_empty() {
                    all.share(weights.clone(), 1.0);
                    shared.push(weights);
                }
            }
            let exact = all.most_in_all();
            let mut left = vec![1.0f64; shared.len()];
            let mut greedy = 0.0;
            for s in 0..sources {
                let of = |row: &Vec<(u32, f64)>| row.iter().find(|w| w.0 == s).map_or(0.0, |w| w.1);
                let room = shared.iter().zip(&left).filter(|(row, _)| of(row) > 0.0).map(|(row, left)| left / of(row));
                let sent = room.fold(most[s as usize], f64::min);
                shared.iter().zip(&mut left).for_each(|(row, left)| *left = (*left - sent * of(row)).max(0.0));
                greedy += sent;
            }
            assert!(greedy <= exact + 1e-9, "seed {seed}: {greedy} {exact}");
            let rows: Vec<&Row> = all.rows.iter().collect();
            if rows.is_empty() {
                continue;
            }
            let program = Program::new(&rows, &most);
            let free: f64 = (0..sources).filter(|s| !program.sources.contains(s)).map(|s| most[s as usize]).sum();
            let descended = program.descend() + free;
            assert!(descended >= exact - 1e-9 && descended <= exact * 1.25, "seed {seed}: {descended} {exact}");
        }
    }
}
