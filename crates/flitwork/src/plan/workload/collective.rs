//! Collectives: which algorithm, what it knows, and the schedule that it makes.

use super::{Context, MOST_FLITS, Workload};
use crate::collective::{self, Between, BlockReading, Collective, Length, Operation, RankGrid, Servers, World};
use crate::error::{Error, Result};
use crate::plan::units::{MESSAGE_FLITS, message_flits};
use crate::schedule::{Placement, Repeats, Units, Via};
use crate::spec::{MAX_MESSAGE_BYTES, WorkloadSpec};
use crate::topology::Fabric;
use crate::traffic::{Attached, no_file};

/// The algorithm of a collective of ranks that are placed so, and what it knows; `None` for other workloads.
///
/// # Errors
/// [`Error::Config`] names an algorithm that there is not, a parameter that it does not take, or ranks for which it is
/// not defined.
pub(in crate::plan) fn chosen(
    spec: &WorkloadSpec,
    placement: &Placement,
    fabric: &Fabric,
) -> Option<Result<(&'static Collective, World)>> {
    let WorkloadSpec::Collective { operation, algorithm, root, radix, blocks, order, leaders, sizes, .. } = spec else {
        return None;
    };
    let found = collective::find(*operation, algorithm).and_then(|row| {
        let given = [
            ("root", root.map(|root| root.to_string())),
            ("radix", radix.map(|radix| radix.to_string())),
            ("blocks", blocks.map(|blocks| format!("{blocks:?}").to_lowercase())),
            ("sizes", (!sizes.is_empty()).then(|| "a matrix".to_string())),
            ("leaders", leaders.map(|leaders| leaders.to_string())),
            ("order", order.map(|order| format!("{order:?}").to_lowercase())),
        ];
        for (name, value) in given {
            if let Some(value) = value.filter(|_| !row.parameters.contains(&name)) {
                let expected = format!("nothing: {} {algorithm} has no {name}", operation.name());
                return Err(Error::config(format!("workload.{name}"), value, expected, "leave it out"));
            }
        }
        let grid = fabric.grid_of_ranks(placement.terminal_of().len() as u32).map(RankGrid::from);
        let default = World::on(Servers::of_terminals(placement.terminal_of()));
        let world = World {
            root: root.unwrap_or(default.root),
            radix: radix.unwrap_or(default.radix),
            blocks: blocks.unwrap_or(default.blocks),
            order: order.unwrap_or(default.order),
            leaders: leaders.unwrap_or(default.leaders),
            destinations: row.destinations(grid.as_ref())?,
            ..default
        };
        row.check(&world)?;
        Ok((row, world))
    });
    Some(found)
}

/// The length of a block, or of the vector, of a resolved collective, of all its repeats together; `None` where each
/// block has its own \[flits].
pub(in crate::plan) fn collective_flits(spec: &WorkloadSpec, units: &Units) -> Option<f64> {
    match *spec {
        WorkloadSpec::Collective { ref sizes, .. } if !sizes.is_empty() => None,
        WorkloadSpec::Collective { message_bytes, message_flits, repeats, .. } => {
            let of_bytes = |bytes| bytes as f64 / f64::from(units.flit_bytes().unwrap_or(1));
            Some(message_bytes.map_or(f64::from(message_flits.unwrap_or(1)), of_bytes) * f64::from(repeats))
        }
        _ => None,
    }
}

impl Context<'_> {
    /// Resolves a collective; what it leaves open is filled in.
    pub(super) fn collective(&self, spec: &mut WorkloadSpec) -> Result<Workload> {
        let placement = self.placement()?;
        let expected = || Error::config(self.path("kind"), "another", "collective", "");
        let (row, world) = chosen(spec, &placement, self.fabric).unwrap_or_else(|| Err(expected()))?;
        let WorkloadSpec::Collective {
            message_flits,
            message_bytes,
            packet_flits,
            root,
            radix,
            blocks,
            order,
            leaders,
            sizes,
            file,
            step_barriers,
            repeats,
            compute_cycles,
            ..
        } = spec
        else {
            return Err(expected());
        };
        no_file(self.at, file, "sizes")?;
        let length = if sizes.is_empty() {
            self.length(row.operation, message_flits, *message_bytes, &world)?
        } else {
            self.pairs(sizes, *message_flits, *message_bytes, &world)?
        };
        if *packet_flits == 0 {
            *packet_flits = self.longest_packet().0;
        } else {
            self.check_packet(&self.path("packet_flits"), *packet_flits)?;
        }
        let takes = |name| row.parameters.contains(&name);
        *root = takes("root").then_some(world.root);
        *radix = takes("radix").then_some(world.radix);
        *blocks = takes("blocks").then_some(world.blocks);
        *leaders = takes("leaders").then_some(world.leaders);
        *order = takes("order").then_some(world.order);
        let between = Between {
            reduce_cycles_per_flit: self.reduce_cycles_per_flit,
            barriers: *step_barriers,
            over: if self.bus_operations.contains(&row.operation) {
                Via::Bus
            } else if self.has_tree && !row.operation.has_data() {
                Via::Tree
            } else {
                Via::Network
            },
        };
        let repeats = Repeats { times: *repeats, compute: *compute_cycles, steps: (row.steps)(&world) };
        let schedule = collective::schedule(row, &world, length, between)?.repeated(repeats);
        Ok(Workload::Schedule { schedule, packet_flits: *packet_flits })
    }

    /// The lengths of all blocks of an all-to-all.
    fn pairs(&self, sizes: &Attached, flits: Option<u32>, bytes: Option<u64>, world: &World) -> Result<Length> {
        let path = self.path("sizes");
        let refused = |value: String, expected: &str, hint: &str| Err(Error::config(&path, value, expected, hint));
        if flits.is_some() || bytes.is_some() {
            return refused("given".into(), "nothing beside a length", "take one of the two out");
        }
        if world.blocks == BlockReading::Doubling {
            return refused("given".into(), "nothing where blocks = \"doubling\"", "that is no all-to-all");
        }
        if self.units.flit_bytes().is_none() {
            let hint = "say how many bytes a flit carries, for example flit_bytes = 16";
            let expected = "a value, as workload.sizes are in bytes";
            return Err(Error::config("network.units.flit_bytes", "nothing", expected, hint));
        }
        let (matrix, ranks) = (sizes.matrix(&path)?, world.ranks as usize);
        if matrix.size() != ranks {
            let value = format!("{0} rows and columns", matrix.size());
            return refused(value, &format!("{ranks} rows and columns, one for each rank"), "");
        }
        let mut bytes = vec![0; ranks * ranks];
        for from in 0..world.ranks {
            for (to, size) in matrix.weights(from) {
                if size.fract() != 0.0 || size > MAX_MESSAGE_BYTES as f64 {
                    let at = format!("{path}[{from}][{to}]");
                    return Err(Error::config(at, size, "a whole number of bytes, 0 to 2^40", ""));
                }
                bytes[from as usize * ranks + to as usize] = size as u64;
            }
        }
        let all: u128 = bytes.iter().map(|&bytes| u128::from(bytes)).sum();
        if all * u128::from(world.bits() + 2) > MOST_FLITS {
            return refused(format!("{all} bytes"), &format!("at most {MOST_FLITS} bytes in all messages"), "");
        }
        Ok(Length::Pairs { bytes: bytes.into(), units: *self.units })
    }

    /// The length of a block, or of the vector.
    fn length(
        &self,
        operation: Operation,
        flits: &mut Option<u32>,
        bytes: Option<u64>,
        world: &World,
    ) -> Result<Length> {
        if !operation.has_data() {
            let given = [("message_flits", flits.map(u64::from)), ("message_bytes", bytes)];
            if let Some((name, value)) = given.into_iter().find_map(|(name, value)| Some((name, value?))) {
                let hint = "its messages are 1 flit";
                return Err(Error::config(self.path(name), value, "nothing: a barrier has no data", hint));
            }
            return Ok(Length::Flits(0));
        }
        let all_flits = message_flits(*flits, bytes, self.units)?;
        if all_flits == 0 {
            return Err(Error::config(self.path("message_flits"), 0, "at least 1 flit", ""));
        }
        // No block moves more often than there are bits, or twice.
        let blocks = u128::from(world.ranks).pow(2) * u128::from(world.bits() + 2);
        if blocks * u128::from(all_flits) > MOST_FLITS {
            let (name, value) = bytes.map_or(("message_flits", all_flits), |bytes| ("message_bytes", bytes));
            let expected = format!("at most {MOST_FLITS} flits in all messages");
            return Err(Error::config(self.path(name), value, expected, "use shorter messages"));
        }
        match bytes {
            None => Ok(Length::Flits(u64::from(*flits.get_or_insert(MESSAGE_FLITS)))),
            Some(bytes) => Ok(Length::Bytes { bytes, units: *self.units }),
        }
    }
}
