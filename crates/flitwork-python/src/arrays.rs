//! The long columns of a result as NumPy arrays; what is short stays in the JSON.

use flitwork::measure::{OperationRecord, OperationReport, PacketRecord, SimulationResult, WaitReport};
use numpy::{Element, IntoPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::mem::take;

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
    packet_columns(&columns, &take(&mut result.packet_records))?;
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

/// Sets a column of a field of each of `rows`.
fn set<R, T: Element>(columns: &Bound<'_, PyDict>, name: &str, rows: &[R], field: impl Fn(&R) -> T) -> PyResult<()> {
    let column: Vec<T> = rows.iter().map(field).collect();
    columns.set_item(name, column.into_pyarray(columns.py()))
}

fn wait_columns(columns: &Bound<'_, PyDict>, report: WaitReport) -> PyResult<()> {
    let WaitReport { waits, head_arrived, windows } = report;
    set(columns, "waits.packet", &waits, |w| w.packet)?;
    set(columns, "waits.hop", &waits, |w| w.hop)?;
    set(columns, "waits.router", &waits, |w| w.router)?;
    set(columns, "waits.port", &waits, |w| w.port)?;
    set(columns, "waits.reason", &waits, |w| w.reason)?;
    set(columns, "waits.body", &waits, |w| w.body)?;
    set(columns, "waits.cycles", &waits, |w| w.cycles)?;
    if let Some(windows) = windows {
        set(columns, "wait_windows.window", &windows, |w| w.window)?;
        set(columns, "wait_windows.router", &windows, |w| w.router)?;
        set(columns, "wait_windows.port", &windows, |w| w.port)?;
        set(columns, "wait_windows.reason", &windows, |w| w.reason)?;
        set(columns, "wait_windows.cycles", &windows, |w| w.cycles)?;
    }
    if !head_arrived.is_empty() {
        columns.set_item("packets.head_arrived_cycle", head_arrived.into_pyarray(columns.py()))?;
    }
    Ok(())
}

fn operation_columns(columns: &Bound<'_, PyDict>, report: OperationReport) -> PyResult<()> {
    let OperationReport { operations, waits_for, senders } = report;
    let set_of = |name: &str, field: fn(&OperationRecord) -> u64| {
        set(columns, &format!("operations.{name}"), &operations, field)
    };
    set(columns, "operations.rank", &operations, |o| o.rank)?;
    set(columns, "operations.operation", &operations, |o| o.operation)?;
    set(columns, "operations.kind", &operations, |o| o.kind as u8)?;
    set(columns, "operations.peer", &operations, |o| o.peer)?;
    set(columns, "operations.tag", &operations, |o| o.tag)?;
    set(columns, "operations.step", &operations, |o| o.step)?;
    set(columns, "operations.from_operation", &operations, |o| o.from_operation)?;
    set(columns, "operations.waits_for", &operations, |o| o.waits_for)?;
    set_of("amount", |o| o.amount)?;
    set_of("passed_cycle", |o| o.passed)?;
    set_of("began_cycle", |o| o.began)?;
    set_of("ended_cycle", |o| o.ended)?;
    set_of("arrived_cycle", |o| o.arrived)?;
    columns.set_item("waits_for", waits_for.into_pyarray(columns.py()))?;
    if !senders.is_empty() {
        set(columns, "packets.rank", &senders, |s| s.0)?;
        set(columns, "packets.operation", &senders, |s| s.1)?;
    }
    Ok(())
}

/// What is known of packets, a column a field; nothing of none.
pub fn packet_columns(columns: &Bound<'_, PyDict>, packets: &[PacketRecord]) -> PyResult<()> {
    if packets.is_empty() {
        return Ok(());
    }
    set(columns, "packets.src", packets, |p| p.src)?;
    set(columns, "packets.sequence", packets, |p| p.sequence)?;
    set(columns, "packets.dst", packets, |p| p.dst)?;
    set(columns, "packets.flits", packets, |p| p.flits)?;
    set(columns, "packets.message", packets, |p| p.message)?;
    set(columns, "packets.injection_port", packets, |p| p.injection_port)?;
    set(columns, "packets.minus", packets, |p| p.minus)?;
    set(columns, "packets.wraps", packets, |p| p.wraps)?;
    set(columns, "packets.hops", packets, |p| p.hops)?;
    set(columns, "packets.created_cycle", packets, |p| p.created)?;
    set(columns, "packets.injected_cycle", packets, |p| p.injected)?;
    set(columns, "packets.arrived_cycle", packets, |p| p.arrived)?;
    set(columns, "packets.background", packets, |p| p.background)
}
