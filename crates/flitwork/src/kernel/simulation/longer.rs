//! What may be done with a simulation between two cycles: its measurement is made longer, so that nothing is run twice,
//! and the records of packets that have arrived are taken.

use super::Simulation;
use crate::error::{Error, Result};
use crate::measure::{FlitsUnderWay, PacketRecord, Tally};
use crate::plan::{Plan, Workload};

impl Simulation {
    /// Counts traffic terminal by terminal: see [`Simulation::tally`]. Call it before the first cycle.
    pub fn keep_tally(&mut self) {
        let Simulation { networks, parts, limits, .. } = self;
        networks[..*parts].iter_mut().for_each(|part| part.log.keep_tally(limits.terminals));
    }

    /// Lets the caller decide when the simulation ends: it drains all that was measured, as long as that takes. Call it
    /// before the first cycle.
    pub fn leave_end_to_caller(&mut self) {
        self.phases.leave_end_to_caller();
    }

    /// Ends a run before its current cycle, and with it the measurement. `complete`: the caller knows that its workload
    /// is.
    ///
    /// # Errors
    /// Some packets can never move again.
    pub fn stop(&mut self, complete: bool) -> Result<()> {
        let next = self.now + u64::from(self.ended.is_some());
        if self.ended.is_none() {
            self.look_for_knots()?;
            self.ended = Some(complete);
        }
        if next < self.phases.window().end {
            self.phases.cut(next);
            for part in &mut self.networks[..self.parts] {
                part.log.measure(&self.phases.window());
            }
        }
        Ok(())
    }

    /// Besides the tally, counts latencies of flits, and how far the flits of packets come apart, where they move one
    /// by one. It takes some time.
    pub fn keep_flit_times(&mut self) {
        let Simulation { networks, parts, limits, .. } = self;
        let under_way = FlitsUnderWay::new(limits.terminals);
        networks[..*parts].iter_mut().for_each(|part| part.network.keep_flit_times(&under_way));
    }

    /// What has arrived before the current cycle, if [`Simulation::keep_tally`] was called. A run that has ended has
    /// done its last cycle.
    pub fn tally(&self) -> Option<Tally> {
        let before = self.now + u64::from(self.ended.is_some());
        let tallies = self.networks[..self.parts].iter().filter_map(|part| {
            let of_flits = part.network.flit_tally(before);
            part.log.tally().map(|tally| Tally { of_flits, ..tally.clone() })
        });
        tallies.reduce(|mut sum, more| {
            sum.absorb(&more);
            sum
        })
    }

    /// The records of packets that have arrived since the last call, in the order of their arrival, where the plan has
    /// `record.to_file`. Those that nobody has taken are in the result, with those of packets that have not arrived.
    pub fn take_packets(&mut self) -> Vec<PacketRecord> {
        self.networks.iter_mut().flat_map(|attached| attached.log.take_records()).collect()
    }

    /// Goes on as a simulation of `plan`, which differs from this one's in a longer measurement only: from the cycle in
    /// which this one's ends, to which it must have been advanced. What comes out is what a simulation of `plan` gives
    /// from the start.
    ///
    /// # Errors
    /// [`Error::Config`] where the measurement is not fixed, is over, or does not become longer.
    pub fn extend(&mut self, plan: &Plan) -> Result<()> {
        let run = &plan.spec.run;
        let (old, new) = (self.phases.window(), run.fixed_window());
        let refused = |value: String, expected: &str| {
            Error::config("run.measurement_cycles", value, expected, "make a new simulation of it")
        };
        if run.steady.is_some() || !matches!(plan.workload, Workload::OpenLoop(_)) || self.limits.completes {
            return Err(refused("not fixed".into(), "a fixed measurement of traffic"));
        }
        if new.start != old.start || new.end <= old.end {
            let measured = format!("{} cycles from cycle {}", new.end - new.start, new.start);
            return Err(refused(measured, "a longer measurement that begins in the same cycle"));
        }
        // Where everything had arrived, it ended with the last cycle of the measurement.
        let next = self.now + u64::from(self.ended.is_some());
        if next > old.end {
            return Err(refused(format!("cycle {next}"), "a simulation at the end of its measurement"));
        }
        self.ended = None;
        self.limits.max_cycles = run.max_cycles;
        self.phases.extend(new.end);
        for part in &mut self.networks[..self.parts] {
            part.network.measure(next, new.clone());
            part.log.measure(&new);
        }
        Ok(())
    }
}
