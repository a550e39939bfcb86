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
    /// Each field has a type of its own, so that the compiler inlines it: called by pointer it took longer than all else.
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

/// A column, of no rows yet.
fn column<R, T: Element + 'static>(name: &'static str, of: impl Fn(&R) -> T + 'static) -> Box<dyn Column<R>> {
    Box::new(Field { name, of, values: Vec::new() })
}

/// Rows that are read at a time: a long table is more than caches hold, and each column reads all of it.
const ROWS: usize = 512;

/// Sets columns of all of `rows`.
fn set_columns<R>(columns: &Bound<'_, PyDict>, rows: &[R], fields: Vec<Box<dyn Column<R>>>) -> PyResult<()> {
    set_by_pieces(columns, rows.len(), fields, |places, add| add(&rows[places]))
}

/// Sets columns of so many rows; `read` is given places, and hands over the rows there.
fn set_by_pieces<R>(
    columns: &Bound<'_, PyDict>,
    rows: usize,
    mut fields: Vec<Box<dyn Column<R>>>,
    mut read: impl FnMut(Range<usize>, &mut dyn FnMut(&[R])),
) -> PyResult<()> {
    fields.iter_mut().for_each(|field| field.reserve(rows));
    for from in (0..rows).step_by(ROWS) {
        read(from..rows.min(from + ROWS), &mut |some| fields.iter_mut().for_each(|field| field.add(some)));
    }
    fields.into_iter().try_for_each(|field| field.set(columns))
}

fn wait_columns(columns: &Bound<'_, PyDict>, report: WaitReport) -> PyResult<()> {
    let WaitReport { waits, head_arrived, windows } = report;
    let fields = vec![
        column("waits.packet", |w: &WaitRecord| w.packet),
        column("waits.hop", |w: &WaitRecord| w.hop),
        column("waits.router", |w: &WaitRecord| w.router),
        column("waits.port", |w: &WaitRecord| w.port),
        column("waits.reason", |w: &WaitRecord| w.reason),
        column("waits.body", |w: &WaitRecord| w.body),
        column("waits.cycles", |w: &WaitRecord| w.cycles),
    ];
    set_columns(columns, &waits, fields)?;
    if let Some(windows) = windows {
        let fields = vec![
            column("wait_windows.window", |w: &WaitWindow| w.window),
            column("wait_windows.router", |w: &WaitWindow| w.router),
            column("wait_windows.port", |w: &WaitWindow| w.port),
            column("wait_windows.reason", |w: &WaitWindow| w.reason),
            column("wait_windows.cycles", |w: &WaitWindow| w.cycles),
        ];
        set_columns(columns, &windows, fields)?;
    }
    if !head_arrived.is_empty() {
        columns.set_item("packets.head_arrived_cycle", head_arrived.into_pyarray(columns.py()))?;
    }
    Ok(())
}

fn operation_columns(columns: &Bound<'_, PyDict>, report: OperationReport) -> PyResult<()> {
    let OperationReport { operations, waits_for, senders } = report;
    let fields = vec![
        column("operations.rank", |o: &OperationRecord| o.rank),
        column("operations.operation", |o: &OperationRecord| o.operation),
        column("operations.kind", |o: &OperationRecord| o.kind as u8),
        column("operations.peer", |o: &OperationRecord| o.peer),
        column("operations.tag", |o: &OperationRecord| o.tag),
        column("operations.step", |o: &OperationRecord| o.step),
        column("operations.from_operation", |o: &OperationRecord| o.from_operation),
        column("operations.waits_for", |o: &OperationRecord| o.waits_for),
        column("operations.amount", |o: &OperationRecord| o.amount),
        column("operations.passed_cycle", |o: &OperationRecord| o.passed),
        column("operations.began_cycle", |o: &OperationRecord| o.began),
        column("operations.ended_cycle", |o: &OperationRecord| o.ended),
        column("operations.arrived_cycle", |o: &OperationRecord| o.arrived),
    ];
    set_columns(columns, &operations, fields)?;
    columns.set_item("waits_for", waits_for.into_pyarray(columns.py()))?;
    if !senders.is_empty() {
        let fields =
            vec![column("packets.rank", |s: &(u32, u32)| s.0), column("packets.operation", |s: &(u32, u32)| s.1)];
        set_columns(columns, &senders, fields)?;
    }
    Ok(())
}

/// What is known of packets, a column a field; nothing of none.
pub fn packet_columns(columns: &Bound<'_, PyDict>, packets: &[PacketRecord]) -> PyResult<()> {
    if packets.is_empty() {
        return Ok(());
    }
    set_columns(columns, packets, packet_fields())
}

/// The same of a table, whose records are copied once, some at a time, for all columns.
fn table_columns(columns: &Bound<'_, PyDict>, packets: &PacketTable) -> PyResult<()> {
    if packets.is_empty() {
        return Ok(());
    }
    let mut some = Vec::with_capacity(ROWS);
    set_by_pieces(columns, packets.len(), packet_fields(), |places, add| {
        packets.read(places, &mut some);
        add(&some);
    })
}

fn packet_fields() -> Vec<Box<dyn Column<PacketRecord>>> {
    vec![
        column("packets.src", |p: &PacketRecord| p.src),
        column("packets.sequence", |p: &PacketRecord| p.sequence),
        column("packets.dst", |p: &PacketRecord| p.dst),
        column("packets.flits", |p: &PacketRecord| p.flits),
        column("packets.message", |p: &PacketRecord| p.message),
        column("packets.injection_port", |p: &PacketRecord| p.injection_port),
        column("packets.minus", |p: &PacketRecord| p.minus),
        column("packets.wraps", |p: &PacketRecord| p.wraps),
        column("packets.hops", |p: &PacketRecord| p.hops),
        column("packets.created_cycle", |p: &PacketRecord| p.created),
        column("packets.injected_cycle", |p: &PacketRecord| p.injected),
        column("packets.arrived_cycle", |p: &PacketRecord| p.arrived),
        column("packets.background", |p: &PacketRecord| p.background),
    ]
}
