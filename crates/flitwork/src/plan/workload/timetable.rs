//! A timetable as a workload: whether it is one, and whether this network is the one that it is for.

use super::super::fixed_routes::FixedRoutes;
use super::super::recent::Recent;
use super::super::timetable_search::{Machine, check_cables, check_routes, hop_cycles};
use super::super::units::{MESSAGE_FLITS, message_flits};
use super::{Context, MOST_FLITS, Params, Workload};
use crate::collective::{AllToAllOptions, Sync};
use crate::error::{Error, Result};
use crate::routing::{RoutingSpec, Tie};
use crate::schedule::{Placement, Schedule};
use crate::spec::{NetworkSpec, TimetableSearch, WorkloadSpec};
use crate::timetable::{PairTimetable, Timetable};
use crate::topology::Grid;
use crate::traffic::{Attached, no_file};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const PATH: &str = "workload.timetable";
/// Latest start of a block \[cycles].
const MOST_CYCLES: u128 = 1 << 60;
/// The largest timetable that is kept for the next plan of the same network \[bytes].
const MOST_KEPT_BYTES: u64 = 4 << 20;

impl Context<'_> {
    /// The schedule of a timetable. The longest packet is by default a block.
    pub(super) fn timetable(&self, spec: &mut WorkloadSpec) -> Result<Workload> {
        let WorkloadSpec::Timetable {
            timetable,
            file,
            search,
            message_flits: flits,
            message_bytes,
            packet_flits,
            begin_cycles: begin,
        } = spec
        else {
            return Err(Error::config(self.path("kind"), "another one", "timetable", ""));
        };
        no_file(self.at, file, "timetable")?;
        let message = message_flits(*flits, *message_bytes, self.units)?;
        if message_bytes.is_none() {
            flits.get_or_insert(MESSAGE_FLITS);
        }
        if message == 0 {
            return Err(Error::config(self.path("message_flits"), 0, "at least 1 flit", ""));
        }
        if timetable.table().is_none() && (timetable.is_empty() || search.is_some()) {
            let found = self.searched(search.get_or_insert_default(), message, *packet_flits)?;
            if !timetable.is_empty() && *timetable != found {
                let expected = format!("{}, which the search finds", found.sha256);
                return Err(Error::config(PATH, &timetable.sha256, expected, "leave it out"));
            }
            *timetable = found;
        }
        if let Some(timetable) = timetable.pair_timetable() {
            let routes = self.routes_of(timetable)?;
            self.check_lengths(packet_flits, (timetable.block_flits, timetable.period_cycles, *begin), message)?;
            let schedule = timetable.schedule(&routes, message, *begin);
            return Ok(Workload::Schedule { schedule, packet_flits: *packet_flits });
        }
        let timetable = timetable.timetable(PATH)?;
        self.check_place(timetable)?;
        if let Err(fault) = timetable.check() {
            return Err(Error::config(PATH, "given", "no port and no channel used twice", fault.describe(timetable)));
        }
        self.check_lengths(packet_flits, (timetable.block_flits, timetable.period_cycles, *begin), message)?;
        Ok(Workload::Schedule { schedule: timetable.schedule(message, *begin), packet_flits: *packet_flits })
    }

    /// The timetable that a search finds for this network.
    fn searched(&self, search: &TimetableSearch, message: u64, packet_flits: u32) -> Result<Attached> {
        self.check_placement()?;
        let Context { network, fabric, routing, params, .. } = *self;
        let machine = Machine { network, fabric, routing, params };
        let target = machine.target(message, packet_flits)?;
        let even = target.sizes.iter().flatten().any(|size| size % 2 == 0);
        if even && tie(network) != Tie::ByMessage {
            return Err(needs_direction(network));
        }
        let key = format!("{target:?} {search:?} {:?} {}", network.routing, fabric.fingerprint());
        if let Some(found) = kept().get(&key) {
            return Ok(found.clone());
        }
        let found = machine.find(&target, (search.seed, search.budget_steps), &mut |_, _| true)?;
        let found = Attached::new(found.table);
        if found.memory_bytes() <= MOST_KEPT_BYTES {
            kept().push(key, found.clone());
        }
        Ok(found)
    }

    /// Fills in the longest packet of blocks of this length, and checks that it fits into one; and whether messages of
    /// so many flits can be sent in periods of this length from `begin` on.
    fn check_lengths(
        &self,
        packet_flits: &mut u32,
        (block, period, begin): (u32, u64, u64),
        message: u64,
    ) -> Result<()> {
        match *packet_flits {
            0 => *packet_flits = block,
            longer if longer > block => {
                let expected = format!("at most {block} flits, a block of the timetable");
                return Err(Error::config(self.path("packet_flits"), longer, expected, ""));
            }
            _ => {}
        }
        self.check_packet(&self.path("packet_flits"), *packet_flits)?;
        let blocks = message.div_ceil(u64::from(block));
        let nodes = u128::from(self.fabric.terminals());
        if nodes * nodes * u128::from(message) > MOST_FLITS || blocks > u64::from(u32::MAX) {
            let expected = format!("at most {MOST_FLITS} flits in all messages, and fewer than 2^32 blocks in each");
            return Err(Error::config(self.path("message_flits"), message, expected, "use shorter messages"));
        }
        if u128::from(begin) > MOST_CYCLES {
            let expected = format!("at most {MOST_CYCLES} cycles");
            return Err(Error::config(self.path("begin_cycles"), begin, expected, ""));
        }
        if u128::from(blocks) * u128::from(period) > MOST_CYCLES {
            let expected = format!("periods that end within {MOST_CYCLES} cycles, all together");
            return Err(Error::config(format!("{PATH}.period_cycles"), period, expected, ""));
        }
        Ok(())
    }

    /// The routes that a timetable by pairs is one for.
    fn routes_of(&self, timetable: &PairTimetable) -> Result<FixedRoutes<'_>> {
        if timetable.terminals != self.fabric.terminals() {
            let expected = format!("{}, the terminals of this network", self.fabric.terminals());
            let hint = "find another timetable for this network";
            return Err(Error::config(format!("{PATH}.terminals"), timetable.terminals, expected, hint));
        }
        self.check_placement()?;
        let routes = FixedRoutes::of(self.network, self.fabric, self.routing, self.params)?;
        timetable.check(&routes).map_err(|fault| {
            let expected = "no port and no channel used twice on the routes of this network";
            Error::config(PATH, "given", expected, fault.to_string())
        })?;
        Ok(routes)
    }

    /// Whether the nodes are those of the network, and ranks are where nodes are.
    fn check_place(&self, timetable: &Timetable) -> Result<()> {
        let sizes = &timetable.sizes;
        let same = self.fabric.grid().is_some_and(|grid| *grid == timetable.grid());
        check_cables(self.fabric.grid())?;
        if !same || !self.fabric.has_one_terminal_each() {
            let network =
                self.fabric.grid().map_or("no grid".to_string(), |grid| format!("of size {:?}", grid.sizes()));
            let expected = format!("one for this network, which is {network}");
            let hint = format!("use a torus of size {sizes:?} with one terminal a router, or find another timetable");
            return Err(Error::config(format!("{PATH}.sizes"), format!("{sizes:?}"), expected, hint));
        }
        self.check_placement()
    }

    fn check_placement(&self) -> Result<()> {
        if self.host.ranks_per_terminal != 1 || self.placement()? != Placement::one_each(self.fabric.terminals()) {
            let expected = "rank r on terminal r: a timetable says what each terminal sends";
            return Err(Error::config("host.placement", "given", expected, "leave it out"));
        }
        Ok(())
    }
}

/// Whether the routing and the delays of a network are those that a timetable counts on.
pub(in super::super) fn check(network: &NetworkSpec, workload: &WorkloadSpec, params: &Params) -> Result<()> {
    let tie = tie(network);
    let WorkloadSpec::Timetable { timetable, .. } = workload else {
        if tie == Tie::ByMessage {
            let hint = "set network.routing.tie to plus, parity, random or split";
            let expected = "another rule: only the messages of a timetable name a direction";
            return Err(Error::config("network.routing.tie", "by_message", expected, hint));
        }
        return Ok(());
    };
    if timetable.pair_timetable().is_some() {
        return Ok(());
    }
    let timetable = timetable.timetable(PATH)?;
    check_routes(network)?;
    if timetable.has_ties() && tie != Tie::ByMessage {
        return Err(needs_direction(network));
    }
    let hop = hop_cycles(network, params);
    if timetable.hop_cycles != hop {
        let expected = format!("{hop} cycles, as a hop of this network takes");
        let hint = "find a timetable for this network, or change the delays of its routers and channels";
        return Err(Error::config(format!("{PATH}.hop_cycles"), timetable.hop_cycles, expected, hint));
    }
    Ok(())
}

/// The rule of dimension order for the direction at half a ring.
fn tie(network: &NetworkSpec) -> Tie {
    match &network.routing {
        Some(RoutingSpec::DimensionOrder(options)) => options.tie,
        _ => Tie::Parity,
    }
}

fn needs_direction(network: &NetworkSpec) -> Error {
    let expected = "by_message: the timetable says which way its blocks go at half a ring";
    Error::config("network.routing.tie", tie(network).name(), expected, "set network.routing.tie = \"by_message\"")
}

/// What was found for which search.
fn kept() -> MutexGuard<'static, Recent<Attached>> {
    static KEPT: Mutex<Recent<Attached>> = Mutex::new(Recent::new(32));
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

impl super::super::Plan {
    /// The timetable that it runs, if its workload is one.
    pub fn timetable(&self) -> Option<&Arc<Timetable>> {
        match &self.spec.workload {
            WorkloadSpec::Timetable { timetable, .. } => timetable.timetable(PATH).ok(),
            _ => None,
        }
    }

    /// The messages of its timetable whole, as one block each: what bounds need to know of them.
    pub(crate) fn whole_messages(&self) -> Option<Schedule> {
        let WorkloadSpec::Timetable { message_flits: flits, message_bytes, .. } = &self.spec.workload else {
            return None;
        };
        let message_flits = message_flits(*flits, *message_bytes, &self.units).ok()?;
        let options = AllToAllOptions { message_flits, sync: Sync::Async, nic_ports: 1 };
        crate::collective::all_to_all("a2a", &Grid::mesh(&[self.fabric.terminals()]), &options).ok()
    }
}
