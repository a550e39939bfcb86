//! A plan, and what can be done with it.

use crate::data::Table;
use crate::detached::{with_signals, without_gil};
use crate::goal::Goal;
use crate::{arrays, errors, tables::json_text, topology, values};
use flitwork::bound::{channel_loads, terminal_loads};
use flitwork::collective::prove;
use flitwork::host::{check_complete, check_exchange};
use flitwork::measure::SimulationResult;
use flitwork::pace::{self, Over, PacingKind, PacingSpec, StepOverlap};
use flitwork::schedule::Schedule;
use flitwork::traffic::Attached;
use flitwork::{Error, Progress, Workload};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A validated simulation.
#[pyclass(frozen, module = "flitwork._core")]
pub struct Plan {
    pub(crate) plan: Arc<flitwork::Plan>,
    tables: Vec<Py<Table>>,
    /// What it says, once somebody has asked for it: to count the messages of a large schedule takes a while.
    contents: OnceLock<Value>,
}

#[pymethods]
impl Plan {
    /// The schedule of its workload as a GOAL program.
    fn goal(&self, py: Python<'_>) -> PyResult<Goal> {
        let plan = Arc::clone(&self.plan);
        let made = without_gil(py, move || match &plan.workload {
            Workload::Schedule { schedule, .. } => {
                let goal = flitwork::schedule::Goal::of_schedule(schedule, &plan.units, plan.spec.host.send_queue)?;
                Ok(Goal::new(goal, schedule.name().to_string()))
            }
            _ => Err(Error::config("workload", "traffic", "a schedule", "such as an all-to-all or another collective")),
        })?;
        made.map_err(|e| errors::to_python(py, &e))
    }

    /// Resolves and validates a specification (JSON); `tables` are those that it names.
    #[new]
    #[pyo3(signature = (spec, tables=Vec::new()))]
    fn new(py: Python<'_>, spec: &str, tables: Vec<Py<Table>>) -> PyResult<Self> {
        let spec = spec.to_string();
        let attached: Vec<Attached> = tables.iter().map(|table| table.get().attached.clone()).collect();
        let plan = without_gil(py, move || {
            let mut spec = flitwork::spec::from_json(&spec)?;
            spec.attach(&attached);
            flitwork::Plan::new(&spec)
        })?;
        Ok(Plan::of(plan.map_err(|e| errors::to_python(py, &e))?, tables))
    }

    /// The tables that the specification names.
    #[getter]
    fn tables(&self, py: Python<'_>) -> Vec<Py<Table>> {
        self.tables.iter().map(|table| table.clone_ref(py)).collect()
    }

    /// The resolved specification and what follows from it, as JSON.
    #[getter]
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        serde_json::to_string_pretty(self.value(py)?).map_err(|e| PyValueError::new_err(e.to_string()))
    }

    /// Fingerprint of the resolved specification and the version.
    #[getter]
    fn hash(&self) -> String {
        self.plan.hash()
    }

    /// What [`Plan::json`] says, as a table of its own.
    fn contents<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        values::plain(py, self.value(py)?)
    }

    /// Memory of the run, roughly \[bytes].
    #[getter]
    fn memory_bytes(&self) -> u64 {
        self.plan.memory_bytes()
    }

    /// Memory of the plan itself, roughly, without its tables \[bytes].
    #[getter]
    fn own_bytes(&self) -> u64 {
        self.plan.own_bytes()
    }

    /// Hops of flits that the run takes, roughly, and how long one core takes for it \[s].
    #[getter]
    fn estimated_work(&self, py: Python<'_>) -> PyResult<(f64, f64)> {
        let plan = Arc::clone(&self.plan);
        without_gil(py, move || (plan.estimated_flit_hops(), plan.estimated_seconds()))
    }

    /// Cycles that an open loop with a fixed measurement lasts at least.
    #[getter]
    fn fixed_cycles(&self) -> Option<u64> {
        let run = &self.plan.spec.run;
        Some(run.warmup_cycles? + run.measurement_cycles.filter(|&cycles| cycles > 0)?)
    }

    /// Whether packets are recorded in a file while the run lasts.
    #[getter]
    fn records_to_file(&self) -> bool {
        self.plan.spec.run.record.to_file
    }

    /// What a flit carries and how long a cycle takes, as far as that is known: `flit_bytes`, `cycle_ns`.
    #[getter]
    fn units<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        values::plain(py, &Value::Object(self.plan.stated_units()))
    }

    /// The load of uniform traffic that uses up the middle of the network [flits/cycle/terminal].
    #[getter]
    fn uniform_capacity(&self) -> Option<f64> {
        self.plan.uniform_capacity()
    }

    /// Number of terminals.
    #[getter]
    fn terminals(&self) -> usize {
        self.plan.params.terminals
    }

    /// Ports of a network interface.
    #[getter]
    fn nic_ports(&self) -> usize {
        self.plan.params.nic_ports
    }

    /// The longest packet of a schedule \[flits].
    #[getter]
    fn packet_flits(&self) -> Option<u32> {
        match &self.plan.workload {
            Workload::Schedule { packet_flits, .. } => Some(*packet_flits),
            Workload::OpenLoop(_) | Workload::Finite(_) => None,
        }
    }

    /// The times in ns that were rounded to whole cycles: the field, what was given, what is simulated \[ns], and how
    /// much longer that is, as a share.
    #[getter]
    fn rounded(&self) -> Vec<(String, f64, f64, f64)> {
        let rounded = &self.plan.spec.network.units.rounded;
        rounded.iter().map(|one| (one.field.clone(), one.given_ns, one.value_ns, one.error)).collect()
    }

    /// What no run of this plan can beat: of a schedule its completion time, of traffic the load.
    fn bound<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let plan = Arc::clone(&self.plan);
        let bound = without_gil(py, move || flitwork::plan_bound(&plan))?;
        values::bound(py, &bound.map_err(|e| errors::to_python(py, &e))?)
    }

    /// The same plan on another number of threads.
    fn on_threads(&self, py: Python<'_>, threads: u32) -> PyResult<Plan> {
        let plan = self.plan.on_threads(threads).map_err(|e| errors::to_python(py, &e))?;
        Ok(Plan::of(plan, self.tables(py)))
    }

    /// Checks that the schedule exchanges every pair exactly once, and adds up the loads of its channels by phase;
    /// JSON.
    fn check(&self, py: Python<'_>) -> PyResult<String> {
        let plan = Arc::clone(&self.plan);
        let checked = without_gil(py, move || check(&plan))?;
        json_text(&checked.map_err(|e| errors::to_python(py, &e))?)
    }

    /// How the messages of each step overlap, and the pauses that follow, by MOD and by hops; JSON. `over`: step or
    /// schedule.
    fn overlap(&self, py: Python<'_>, over: &str, aggregate: bool) -> PyResult<String> {
        let over = serde_json::from_value(json!(over)).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let plan = Arc::clone(&self.plan);
        let found = without_gil(py, move || overlap(&plan, over, aggregate))?;
        json_text(&found.map_err(|e| errors::to_python(py, &e))?)
    }

    /// The messages of the schedule in order of (sender, send order): columns `from`, `to`, `flits`, `phase`.
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (schedule, _) = schedule_of(&self.plan).map_err(|e| errors::to_python(py, &e))?;
        let messages: Vec<_> = schedule.messages().collect();
        let column = |of: fn(&flitwork::schedule::Message) -> u32| messages.iter().map(of).collect::<Vec<u32>>();
        let table = PyDict::new(py);
        table.set_item("from", column(|m| m.from).into_pyarray(py))?;
        table.set_item("to", column(|m| m.to).into_pyarray(py))?;
        table.set_item("flits", messages.iter().map(|m| m.size).collect::<Vec<u64>>().into_pyarray(py))?;
        table.set_item("phase", column(|m| m.step).into_pyarray(py))?;
        Ok(table)
    }

    /// The router of each terminal.
    fn router_of_terminal<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        let fabric = &self.plan.fabric;
        (0..fabric.terminals()).map(|terminal| fabric.router_of(terminal)).collect::<Vec<u32>>().into_pyarray(py)
    }

    /// The terminal of each rank.
    fn terminal_of_rank<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        self.plan.placement.terminal_of().to_vec().into_pyarray(py)
    }

    /// The route of a packet between two routers: the routers, the output ports and the sets of virtual channels that
    /// it takes, in order; between the first of their terminals, where routes differ between terminals. Where chance
    /// decides it is the route of all random bits 0 (the plus direction of a tie); where the routing is adaptive, the
    /// lowest of the minimal ports is taken each time.
    #[allow(clippy::type_complexity)]
    fn path<'py>(
        &self,
        py: Python<'py>,
        source: u32,
        destination: u32,
    ) -> PyResult<(Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>)> {
        let (fabric, routing) = (&self.plan.fabric, &self.plan.routing);
        if let Some(bad) = [source, destination].into_iter().find(|&r| r >= fabric.routers()) {
            let error = Error::config("router", bad, format!("0 to {}", fabric.routers() - 1), "");
            return Err(errors::to_python(py, &error));
        }
        if let Some(bare) = [source, destination].into_iter().find(|&r| fabric.terminals_at(r).is_empty()) {
            let error = Error::config("router", bare, "a router with terminals: a route leads from one to another", "");
            return Err(errors::to_python(py, &error));
        }
        let end = |router: u32| fabric.end(fabric.terminals_at(router).start);
        let path = routing.path(fabric, end(source), end(destination), 0);
        let column = |of: fn(&(u32, usize, u8)) -> u32| path.iter().map(of).collect::<Vec<u32>>().into_pyarray(py);
        Ok((column(|hop| hop.0), column(|hop| hop.1 as u32), column(|hop| u32::from(hop.2))))
    }

    /// The threads that share its network among them.
    #[getter]
    fn threads(&self) -> usize {
        self.plan.threads()
    }

    /// As many threads as have enough to do, `most` at most; one where its network may not be cut in parts.
    fn threads_that_pay(&self, most: usize) -> usize {
        self.plan.threads_that_pay(most)
    }

    /// Runs the plan without the GIL. `progress(cycle, done, total)` is called about 20 times a second; where it
    /// returns `False`, or a signal arrives, the run stops with `KeyboardInterrupt`.
    ///
    /// Returns the summary as JSON and the long columns as arrays.
    #[pyo3(signature = (progress=None))]
    fn simulate<'py>(&self, py: Python<'py>, progress: Option<Py<PyAny>>) -> PyResult<(String, Bound<'py, PyDict>)> {
        let mut result = self.run(py, progress)?;
        let columns = arrays::take_columns(py, &mut result)?;
        topology::set_channels(&columns, "channels.", &self.plan.fabric)?;
        Ok((json_text(&result)?, columns))
    }

    fn __repr__(&self) -> String {
        format!("<flitwork plan {}>", &self.plan.hash()[..12])
    }
}

impl Plan {
    fn of(plan: flitwork::Plan, tables: Vec<Py<Table>>) -> Self {
        Plan { plan: Arc::new(plan), tables, contents: OnceLock::new() }
    }

    /// What it says, made once.
    fn value(&self, py: Python<'_>) -> PyResult<&Value> {
        if self.contents.get().is_none() {
            let plan = Arc::clone(&self.plan);
            let _ = self.contents.set(without_gil(py, move || plan.to_value())?);
        }
        Ok(self.contents.get().unwrap_or(&Value::Null))
    }

    /// The plan itself.
    pub fn shared(&self) -> Arc<flitwork::Plan> {
        Arc::clone(&self.plan)
    }

    fn run(&self, py: Python<'_>, progress: Option<Py<PyAny>>) -> PyResult<SimulationResult> {
        let (plan, watch) = (Arc::clone(&self.plan), Arc::new(Watch::default()));
        let watched = Arc::clone(&watch);
        let work = move || flitwork::simulate(&plan, &mut |now| watched.note(now));
        let result = with_signals(py, work, |py| watch.tell(py, progress.as_ref()), || watch.stop())?;
        result.map_err(|e| errors::to_python(py, &e))
    }
}

/// The schedule of a plan and its longest packet \[flits].
fn schedule_of(plan: &flitwork::Plan) -> flitwork::Result<(&Schedule, u32)> {
    match &plan.workload {
        Workload::Schedule { schedule, packet_flits } => Ok((schedule, *packet_flits)),
        Workload::OpenLoop(_) | Workload::Finite(_) => {
            Err(Error::config("workload.kind", "traffic", "a workload that is a schedule, such as all_to_all", ""))
        }
    }
}

/// The steps of a schedule with the pauses of each rule.
fn overlap(plan: &flitwork::Plan, over: Over, aggregate: bool) -> flitwork::Result<Vec<Value>> {
    schedule_of(plan)?;
    let on = plan.paced();
    let spec = PacingSpec { kind: PacingKind::Mod, over, aggregate, ..PacingSpec::default() };
    // What cannot be paced is refused with its reason.
    pace::resolve(&spec, &on)?;
    let shared = aggregate.then_some(on.ports);
    let row = |step: &StepOverlap| {
        let mut row = json!(step);
        row["mod_gap_packets"] = json!(step.gap_packets(PacingKind::Mod, shared));
        row["hops_gap_packets"] = json!(step.gap_packets(PacingKind::Hops, shared));
        row
    };
    Ok(pace::steps(&on, over).iter().map(row).collect())
}

/// What the schedule of a plan exchanges, that the data of a collective ends where it belongs, and the loads of its
/// channels and terminals.
fn check(plan: &flitwork::Plan) -> flitwork::Result<Value> {
    let (schedule, packet_flits) = schedule_of(plan)?;
    let placement = plan.collective().map(|(algorithm, world)| prove(algorithm, &world)).transpose()?;
    let exchange = if placement.is_some() { check_complete(schedule)? } else { check_exchange(schedule)? };
    let group = plan.params.nic_ports as u32;
    let loads = channel_loads(&plan.fabric, &plan.routing, schedule, &plan.placement, packet_flits, Some(group));
    let terminals = terminal_loads(schedule, plan.placement.terminal_of(), group);
    Ok(json!({ "exchange": exchange, "placement": placement, "loads": loads, "terminals": terminals }))
}

/// How far a simulation has come, and whether it shall go on.
#[derive(Default)]
pub struct Watch {
    now: Mutex<Option<Progress>>,
    stopped: AtomicBool,
}

impl Watch {
    /// Takes note of how far it has come; false where it shall stop.
    pub fn note(&self, now: Progress) -> bool {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        !self.stopped.load(Ordering::Relaxed)
    }

    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether nobody has stopped it.
    pub fn goes_on(&self) -> bool {
        !self.stopped.load(Ordering::Relaxed)
    }

    /// Tells the caller, if there is anything new; stops the simulation where the caller says `False`.
    pub fn tell(&self, py: Python<'_>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        let news = self.now.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let (Some(now), Some(progress)) = (news, progress) {
            let answer = progress.call1(py, (now.cycle, now.packets_done, now.packets_total))?;
            if !answer.is_none(py) && !answer.is_truthy(py)? {
                self.stop();
            }
        }
        Ok(())
    }
}
