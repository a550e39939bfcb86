//! Operations that programs supply to ranks, as plain tuples: this is called millions of times.

use crate::errors;
use flitwork::host::{Completion, Envelope, Task, TaskKind};
use flitwork::schedule::{ANY, OpKind, Units};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A rank, and what it does next.
pub type Answer = (u32, Vec<Supplied>);
/// Kind ([`SEND`] and so on), other rank, bytes or cycles, tag, context, operations that it waits for. No other rank,
/// or tag: any.
pub type Supplied = (u8, Option<u32>, u64, Option<u32>, u32, Vec<u32>);
/// Rank, operation, cycle; of a receive the rank that sent its message, and the send operation.
pub type Completed = (u32, u32, u64, Option<u32>, u32);

const SEND: u8 = 0;
const RECEIVE: u8 = 1;
const COMPUTE: u8 = 2;
const WAIT: u8 = 3;
const WAIT_ANY: u8 = 4;
const PROBE: u8 = 5;
const POLL: u8 = 6;
const SEND_SYNCHRONOUSLY: u8 = 7;

/// Supplies a rank that requests operations.
pub fn supply(simulation: &mut flitwork::Simulation, (rank, supplied): Answer, units: &Units) -> PyResult<()> {
    let tasks = supplied.into_iter().map(|operation| task(operation, units)).collect::<PyResult<Vec<_>>>()?;
    simulation.supply(rank, tasks).map_err(|error| Python::attach(|py| errors::to_python(py, &error)))
}

fn task((kind, other, amount, tag, context, after): Supplied, units: &Units) -> PyResult<Task> {
    let from = other.unwrap_or(ANY);
    let of_any = tag.unwrap_or(ANY);
    let synchronous = kind == SEND_SYNCHRONOUSLY;
    let kind = match kind {
        SEND | SEND_SYNCHRONOUSLY => {
            let size = units.flits(amount).ok_or_else(no_flit_bytes)?;
            TaskKind::Operation(OpKind::Send { to: from, size, tag: of_any })
        }
        // The program knows how long a message is, to the byte.
        RECEIVE => TaskKind::Operation(OpKind::Receive { from, size: u64::MAX, tag: of_any }),
        COMPUTE => TaskKind::Operation(OpKind::Compute { time: amount }),
        WAIT => TaskKind::Operation(OpKind::Wait),
        WAIT_ANY => TaskKind::WaitAny,
        PROBE => TaskKind::Probe { from, tag: of_any },
        POLL => TaskKind::Poll { cycles: amount },
        _ => return Err(PyValueError::new_err(format!("{kind} is no kind of operation"))),
    };
    Ok(Task { kind, envelope: Envelope { context, synchronous, ..Envelope::default() }, after })
}

/// Lengths in bytes, and nobody knows what a flit carries.
pub fn no_flit_bytes() -> PyErr {
    PyValueError::new_err("the network has no flit_bytes")
}

pub fn completed(Completion { rank, op, cycle, message }: Completion) -> Completed {
    let (sender, send) = message.map_or((None, 0), |(sender, send)| (Some(sender), send));
    (rank, op, cycle, sender, send)
}
