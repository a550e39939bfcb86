//! Operations between Python and simulations: as rows where ranks are told a few at a time, as columns where a schedule
//! has all of them. Both have the same fields, and kinds have the same numbers in both.
//!
//! Python writes a row of 6 in a fraction of a microsecond, and that millions of times; a column is an array, which
//! crosses at once.

use crate::errors;
use flitwork::Error;
use flitwork::host::{Completion, Envelope, Task, TaskKind};
use flitwork::measure::{OPERATION_KINDS, OperationKind};
use flitwork::schedule::{ANY, OpKind, ScheduleColumns, Units, Via};
use numpy::{Element, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::Arc;

/// The numbers of kinds: places in [`operation_kinds`].
#[pyclass(frozen, module = "flitwork._core")]
pub struct Kind;

#[pymethods]
impl Kind {
    #[classattr]
    const SEND: u8 = OperationKind::Send as u8;
    #[classattr]
    const RECEIVE: u8 = OperationKind::Receive as u8;
    #[classattr]
    const COMPUTE: u8 = OperationKind::Compute as u8;
    #[classattr]
    const WAIT: u8 = OperationKind::Wait as u8;
    #[classattr]
    const TASK: u8 = OperationKind::Task as u8;
    #[classattr]
    const STARTED: u8 = OperationKind::Started as u8;
    #[classattr]
    const WAIT_ANY: u8 = OperationKind::WaitAny as u8;
    #[classattr]
    const PROBE: u8 = OperationKind::Probe as u8;
    #[classattr]
    const POLL: u8 = OperationKind::Poll as u8;
    /// In records of runs only.
    #[classattr]
    const LATE_START: u8 = OperationKind::LateStart as u8;
    #[classattr]
    const WAIT_UNTIL: u8 = OperationKind::WaitUntil as u8;
    /// In rows only: records count it as a send.
    #[classattr]
    const SEND_SYNCHRONOUSLY: u8 = OPERATION_KINDS.len() as u8;
    /// The time of a poll without an end.
    #[classattr]
    const FOREVER: u64 = u64::MAX;
}

/// Names of kinds, in the order of their numbers.
#[pyfunction]
pub fn operation_kinds() -> Vec<&'static str> {
    [&OPERATION_KINDS[..], &["send_synchronously"]].concat()
}

/// Networks of a machine that a message may go by, in the order of their numbers.
#[pyfunction]
pub fn message_networks() -> Vec<&'static str> {
    Via::NAMES.to_vec()
}

/// A rank, and what it does next.
pub type Answer = (u32, Vec<Row>);
/// Rank, operation, cycle; of a receive the rank that sent its message, and the send operation.
pub type Completed = (u32, u32, u64, Option<u32>, u32);

/// An operation that a rank is told: kind, other rank, size or time, tag, context, operations that it waits for; no
/// other rank, or tag: any. Behind them whether the amount is in bytes or ns, and the number of the network. Without
/// these two sends are in bytes, times in cycles, and a receive takes a message of any length.
pub struct Row {
    kind: u8,
    peer: Option<u32>,
    amount: u64,
    tag: Option<u32>,
    context: u32,
    after: Vec<u32>,
    more: Option<(bool, u8)>,
}

type ShortRow = (u8, Option<u32>, u64, Option<u32>, u32, Vec<u32>);
type LongRow = (u8, Option<u32>, u64, Option<u32>, u32, Vec<u32>, bool, u8);

impl<'a, 'py> FromPyObject<'a, 'py> for Row {
    type Error = PyErr;

    fn extract(row: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let long = row.cast::<PyTuple>().is_ok_and(|row| row.len() > 6);
        let ((kind, peer, amount, tag, context, after), more) = if long {
            let (kind, peer, amount, tag, context, after, in_units, via): LongRow = row.extract()?;
            ((kind, peer, amount, tag, context, after), Some((in_units, via)))
        } else {
            (row.extract::<ShortRow>()?, None)
        };
        Ok(Row { kind, peer, amount, tag, context, after, more })
    }
}

impl Row {
    /// As the simulator takes it.
    pub fn task(self, units: &Units) -> PyResult<Task> {
        let amount = self.amount_in_cycles_and_flits(units)?;
        let Row { kind, peer, tag, context, after, more, .. } = self;
        let synchronous = kind == Kind::SEND_SYNCHRONOUSLY;
        let (from, tag) = (peer.unwrap_or(ANY), tag.unwrap_or(ANY));
        let kind = match kind {
            Kind::SEND_SYNCHRONOUSLY => TaskKind::Operation(OpKind::Send { to: from, size: amount, tag }),
            Kind::WAIT_ANY => TaskKind::WaitAny,
            Kind::PROBE => TaskKind::Probe { from, tag },
            Kind::POLL => TaskKind::Poll { cycles: amount },
            _ => match OpKind::of_numbers(kind, from, amount, tag) {
                Some(operation) if kind <= Kind::WAIT => TaskKind::Operation(operation),
                _ => return Err(PyValueError::new_err(format!("{kind} is no kind of operation"))),
            },
        };
        let via = Via::of_code(more.map_or(0, |more| more.1));
        let via = via.ok_or_else(|| PyValueError::new_err("no network has this number"))?;
        Ok(Task { kind, envelope: Envelope { context, synchronous, via }, after })
    }

    fn amount_in_cycles_and_flits(&self, units: &Units) -> PyResult<u64> {
        let amount = self.amount;
        match (self.kind, self.more) {
            // The program knows how long a message is, to the byte.
            (Kind::RECEIVE, None) => Ok(u64::MAX),
            (Kind::SEND | Kind::SEND_SYNCHRONOUSLY, None) => units.flits(amount).ok_or_else(no_flit_bytes),
            (_, None | Some((false, _))) => Ok(amount),
            (Kind::COMPUTE, Some((true, _))) => units.cycles(amount).ok_or_else(|| not_stated("cycle_ns", "ns")),
            (_, Some((true, _))) => units.flits(amount).ok_or_else(|| not_stated("flit_bytes", "bytes")),
        }
    }
}

/// Supplies a rank that requests operations.
pub fn supply(simulation: &mut flitwork::Simulation, (rank, rows): Answer, units: &Units) -> PyResult<()> {
    let tasks = rows.into_iter().map(|row| row.task(units)).collect::<PyResult<Vec<_>>>()?;
    simulation.supply(rank, tasks).map_err(|error| Python::attach(|py| errors::to_python(py, &error)))
}

/// An amount in a unit that the network does not state.
fn not_stated(field: &str, what: &str) -> PyErr {
    let hint = format!("an operation is in {what}");
    let error = Error::config(format!("network.units.{field}"), "nothing", "a value", hint);
    Python::attach(|py| errors::to_python(py, &error))
}

/// Lengths in bytes, and nobody knows what a flit carries.
pub fn no_flit_bytes() -> PyErr {
    PyValueError::new_err("the network has no flit_bytes")
}

/// What has completed, on its way to Python.
pub fn completed(Completion { rank, op, cycle, message }: Completion) -> Completed {
    let (sender, send) = message.map_or((None, 0), |(sender, send)| (Some(sender), send));
    (rank, op, cycle, sender, send)
}

/// The operations of a schedule as columns: those of rank 0, then those of rank 1.
#[pyclass(frozen, module = "flitwork._core")]
pub struct Operations {
    pub columns: Arc<ScheduleColumns>,
}

fn column<T: Element + Copy>(values: &PyReadonlyArray1<'_, T>) -> Vec<T> {
    values.as_array().to_vec()
}

#[pymethods]
impl Operations {
    /// From columns: `operations` of each rank; `kind` ([`Kind`]), `peer`, `amount`, `tag`, `step` and `via` of each
    /// operation (2^32 - 1 is any rank, or any tag; `via` its network); `dependencies` of each, and all of them in
    /// `after`.
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        operations: PyReadonlyArray1<'_, u64>,
        kind: PyReadonlyArray1<'_, u8>,
        peer: PyReadonlyArray1<'_, u32>,
        amount: PyReadonlyArray1<'_, u64>,
        tag: PyReadonlyArray1<'_, u32>,
        step: PyReadonlyArray1<'_, u32>,
        via: PyReadonlyArray1<'_, u8>,
        dependencies: PyReadonlyArray1<'_, u32>,
        after: PyReadonlyArray1<'_, u32>,
    ) -> Self {
        let columns = ScheduleColumns {
            operations: column(&operations),
            kind: column(&kind),
            peer: column(&peer),
            amount: column(&amount),
            tag: column(&tag),
            step: column(&step),
            via: column(&via),
            dependencies: column(&dependencies),
            after: column(&after),
        };
        Operations { columns: Arc::new(columns) }
    }

    #[getter]
    fn operations<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_slice(py, &self.columns.operations)
    }

    #[getter]
    fn kind<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u8>> {
        PyArray1::from_slice(py, &self.columns.kind)
    }

    #[getter]
    fn peer<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, &self.columns.peer)
    }

    #[getter]
    fn amount<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_slice(py, &self.columns.amount)
    }

    #[getter]
    fn tag<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, &self.columns.tag)
    }

    #[getter]
    fn step<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, &self.columns.step)
    }

    #[getter]
    fn via<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u8>> {
        PyArray1::from_slice(py, &self.columns.via)
    }

    #[getter]
    fn dependencies<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, &self.columns.dependencies)
    }

    #[getter]
    fn after<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, &self.columns.after)
    }

    fn __len__(&self) -> usize {
        self.columns.kind.len()
    }

    fn __repr__(&self) -> String {
        format!("<{} operations of {} ranks>", self.columns.kind.len(), self.columns.operations.len())
    }
}
