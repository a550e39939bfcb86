//! The long columns of a result as NumPy arrays; what is short stays in the JSON.

use flitwork::measure::{
    OperationRecord, OperationReport, PacketRecord, PacketTable, SimulationResult, WaitRecord, WaitReport, WaitWindow,
};
use numpy::{Element, IntoPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::mem::take;
use std::ops::Range;

/// Moves the long columns out of `result` into a dictionary of arrays.
pub fn take_columns<'py>(py: Python<'py>, result: &mut SimulationResult) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    for (name, column) in [
        ("channel_flits", &mut result.channel_flits),
        ("measured_channel_flits", &mut result.measured_channel_flits),
        ("ejected_flits", &mut result.ejected_flits),
        ("delivered_flits", &mut result.delivered_flits),
        ("packet_latency.value_cycles", &mut result.packet_latency_histogram.value_cycles),
        ("packet_latency.packets", &mut result.packet_latency_histogram.packets),
        ("network_latency.value_cycles", &mut result.network_latency_histogram.value_cycles),
        ("network_latency.packets", &mut result.network_latency_histogram.packets),
    ] {
        columns.set_item(name, take(column).into_pyarray(py))?;
    }
    let background = result.background.as_mut().and_then(|background| background.deliveries.as_mut());
    for (of, windows) in [("", result.deliveries.as_mut()), ("background_", background)] {
        if let Some(windows) = windows {
            columns.set_item(format!("{of}deliveries.packets"), take(&mut windows.packets).into_pyarray(py))?;
            columns.set_item(format!("{of}deliveries.flits"), take(&mut windows.flits).into_pyarray(py))?;
        }
    }
    if let Some(windows) = &mut result.channel_windows {
        columns.set_item("channel_windows", take(&mut windows.flits).into_pyarray(py))?;
    }
    if let Some(stalls) = &mut result.stalls {
        columns.set_item("stall_windows", take(&mut stalls.windows).into_pyarray(py))?;
        columns.set_item("hol_blocked", take(&mut stalls.hol_blocked).into_pyarray(py))?;
    }
    table_columns(&columns, &take(&mut result.packet_records))?;
    if let Some(waits) = result.waits.take() {
        wait_columns(&columns, waits)?;
    }
    if let Some(operations) = result.operations.take() {
        operation_columns(&columns, operations)?;
    }
    Ok(columns)
}

/// Empties the long columns that every result has: they have no place in the JSON.
pub fn drop_columns(result: &mut SimulationResult) {
    for column in [
        &mut result.channel_flits,
        &mut result.measured_channel_flits,
        &mut result.ejected_flits,
        &mut result.delivered_flits,
        &mut result.packet_latency_histogram.value_cycles,
        &mut result.packet_latency_histogram.packets,
        &mut result.network_latency_histogram.value_cycles,
        &mut result.network_latency_histogram.packets,
    ] {
        column.clear();
    }
}

/// A column of a field of rows, on its way to Python.
trait Column<R> {
    /// Makes room for so many rows.
    fn reserve(&mut self, rows: usize);
    /// Adds the field of more rows.
    fn add(&mut self, rows: &[R]);
    /// Moves it into a dictionary.
    fn set(self: Box<Self>, columns: &Bound<'_, PyDict>) -> PyResult<()>;
}

/// The values of one field so far.
struct Field<F, T> {
    name: &'static str,
    /// Each field has a type of its own, so that the compiler inlines it: called by pointer it took longer than all
    /// else.
    of: F,
    values: Vec<T>,
}

impl<R, T: Element, F: Fn(&R) -> T> Column<R> for Field<F, T> {
    fn reserve(&mut self, rows: usize) {
        self.values.reserve_exact(rows);
    }

    fn add(&mut self, rows: &[R]) {
        self.values.extend(rows.iter().map(&self.of));
    }

    fn set(self: Box<Self>, columns: &Bound<'_, PyDict>) -> PyResult<()> {
        columns.set_item(self.name, self.values.into_pyarray(columns.py()))
    }
}

/// Rows that are read at a time: a long table is more than caches hold, and each column reads all of it.
const ROWS: usize = 512;

/// The columns of rows of one kind.
struct Columns<R>(Vec<Box<dyn Column<R>>>);

impl<R> Columns<R> {
    /// None yet.
    fn new() -> Self {
        Columns(Vec::new())
    }

    /// These and one more.
    fn with<T: Element + 'static>(mut self, name: &'static str, of: impl Fn(&R) -> T + 'static) -> Self {
        self.0.push(Box::new(Field { name, of, values: Vec::new() }));
        self
    }

    /// Sets them, of all of `rows`.
    fn set(self, columns: &Bound<'_, PyDict>, rows: &[R]) -> PyResult<()> {
        self.set_by_pieces(columns, rows.len(), |places, add| add(&rows[places]))
    }

    /// Sets them, of so many rows; `read` is given places, and hands over the rows there.
    fn set_by_pieces(
        mut self,
        columns: &Bound<'_, PyDict>,
        rows: usize,
        mut read: impl FnMut(Range<usize>, &mut dyn FnMut(&[R])),
    ) -> PyResult<()> {
        self.0.iter_mut().for_each(|column| column.reserve(rows));
        for from in (0..rows).step_by(ROWS) {
            read(from..rows.min(from + ROWS), &mut |some| self.0.iter_mut().for_each(|column| column.add(some)));
        }
        self.0.into_iter().try_for_each(|column| column.set(columns))
    }
}

fn wait_columns(columns: &Bound<'_, PyDict>, report: WaitReport) -> PyResult<()> {
    let WaitReport { waits, head_arrived, windows } = report;
    Columns::<WaitRecord>::new()
        .with("waits.packet", |w| w.packet)
        .with("waits.hop", |w| w.hop)
        .with("waits.router", |w| w.router)
        .with("waits.port", |w| w.port)
        .with("waits.reason", |w| w.reason)
        .with("waits.body", |w| w.body)
        .with("waits.cycles", |w| w.cycles)
        .set(columns, &waits)?;
    if let Some(windows) = windows {
        Columns::<WaitWindow>::new()
            .with("wait_windows.window", |w| w.window)
            .with("wait_windows.router", |w| w.router)
            .with("wait_windows.port", |w| w.port)
            .with("wait_windows.reason", |w| w.reason)
            .with("wait_windows.cycles", |w| w.cycles)
            .set(columns, &windows)?;
    }
    if !head_arrived.is_empty() {
        columns.set_item("packets.head_arrived_cycle", head_arrived.into_pyarray(columns.py()))?;
    }
    Ok(())
}

fn operation_columns(columns: &Bound<'_, PyDict>, report: OperationReport) -> PyResult<()> {
    let OperationReport { operations, waits_for, senders } = report;
    Columns::<OperationRecord>::new()
        .with("operations.rank", |o| o.rank)
        .with("operations.operation", |o| o.operation)
        .with("operations.kind", |o| o.kind as u8)
        .with("operations.peer", |o| o.peer)
        .with("operations.tag", |o| o.tag)
        .with("operations.step", |o| o.step)
        .with("operations.from_operation", |o| o.from_operation)
        .with("operations.waits_for", |o| o.waits_for)
        .with("operations.amount", |o| o.amount)
        .with("operations.passed_cycle", |o| o.passed)
        .with("operations.began_cycle", |o| o.began)
        .with("operations.ended_cycle", |o| o.ended)
        .with("operations.arrived_cycle", |o| o.arrived)
        .set(columns, &operations)?;
    columns.set_item("waits_for", waits_for.into_pyarray(columns.py()))?;
    if !senders.is_empty() {
        Columns::<(u32, u32)>::new()
            .with("packets.rank", |s| s.0)
            .with("packets.operation", |s| s.1)
            .set(columns, &senders)?;
    }
    Ok(())
}

/// What is known of packets, a column a field; nothing of none.
pub fn packet_columns(columns: &Bound<'_, PyDict>, packets: &[PacketRecord]) -> PyResult<()> {
    if packets.is_empty() {
        return Ok(());
    }
    packets_by_column().set(columns, packets)
}

/// The same of a table, whose records are copied once, some at a time, for all columns.
fn table_columns(columns: &Bound<'_, PyDict>, packets: &PacketTable) -> PyResult<()> {
    if packets.is_empty() {
        return Ok(());
    }
    let mut some = Vec::with_capacity(ROWS);
    packets_by_column().set_by_pieces(columns, packets.len(), |places, add| {
        packets.read(places, &mut some);
        add(&some);
    })
}

fn packets_by_column() -> Columns<PacketRecord> {
    Columns::<PacketRecord>::new()
        .with("packets.src", |p| p.src)
        .with("packets.sequence", |p| p.sequence)
        .with("packets.dst", |p| p.dst)
        .with("packets.flits", |p| p.flits)
        .with("packets.message", |p| p.message)
        .with("packets.injection_port", |p| p.injection_port)
        .with("packets.minus", |p| p.minus)
        .with("packets.wraps", |p| p.wraps)
        .with("packets.hops", |p| p.hops)
        .with("packets.created_cycle", |p| p.created)
        .with("packets.injected_cycle", |p| p.injected)
        .with("packets.arrived_cycle", |p| p.arrived)
        .with("packets.background", |p| p.background)
}
