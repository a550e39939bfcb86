//! The long columns of a result as NumPy arrays; what is short stays in the JSON.

use flitwork::measure::{PacketRecord, SimulationResult};
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
    }
    packet_columns(&columns, &take(&mut result.packet_records))?;
    Ok(columns)
}

fn packet_columns(columns: &Bound<'_, PyDict>, packets: &[PacketRecord]) -> PyResult<()> {
    if packets.is_empty() {
        return Ok(());
    }
    fn set<T: Element>(
        columns: &Bound<'_, PyDict>,
        name: &str,
        packets: &[PacketRecord],
        field: impl Fn(&PacketRecord) -> T,
    ) -> PyResult<()> {
        let column: Vec<T> = packets.iter().map(field).collect();
        columns.set_item(format!("packets.{name}"), column.into_pyarray(columns.py()))
    }
    set(columns, "src", packets, |p| p.src)?;
    set(columns, "sequence", packets, |p| p.sequence)?;
    set(columns, "dst", packets, |p| p.dst)?;
    set(columns, "flits", packets, |p| p.flits)?;
    set(columns, "message", packets, |p| p.message)?;
    set(columns, "injection_port", packets, |p| p.injection_port)?;
    set(columns, "minus", packets, |p| p.minus)?;
    set(columns, "wraps", packets, |p| p.wraps)?;
    set(columns, "hops", packets, |p| p.hops)?;
    set(columns, "created_cycle", packets, |p| p.created)?;
    set(columns, "injected_cycle", packets, |p| p.injected)?;
    set(columns, "arrived_cycle", packets, |p| p.arrived)?;
    set(columns, "background", packets, |p| p.background)
}
