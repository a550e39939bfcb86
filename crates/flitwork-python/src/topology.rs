//! What a topology is, without a plan: its channels, where they are on a page, what uniform traffic it carries.

use crate::errors;
use flitwork::ChannelTable;
use flitwork::spec::{RoutingSpec, fabric_from_json};
use flitwork::topology::Fabric;
use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

fn fabric(py: Python<'_>, topology: &str) -> PyResult<Fabric> {
    fabric_from_json(topology).map_err(|e| errors::to_python(py, &e))
}

/// Sets the columns of the channels in `columns`, each name with `prefix` before it.
pub fn set_channels(columns: &Bound<'_, PyDict>, prefix: &str, fabric: &Fabric) -> PyResult<()> {
    let table = ChannelTable::of(fabric);
    for (name, column) in [
        ("router", table.router),
        ("port", table.port),
        ("to_router", table.to_router),
        ("to_port", table.to_port),
        ("class", table.class),
    ] {
        columns.set_item(format!("{prefix}{name}"), column.into_pyarray(columns.py()))?;
    }
    Ok(())
}

/// The channels of a topology (JSON), ascending by router and output port: columns `router`, `port`, `to_router`,
/// `to_port`, `class` (an index of the classes of a plan), `latency_cycles` (-1 where a channel has none of its own)
/// and `cycles_per_flit`.
#[pyfunction]
pub fn channels<'py>(py: Python<'py>, topology: &str) -> PyResult<Bound<'py, PyDict>> {
    let (columns, fabric) = (PyDict::new(py), fabric(py, topology)?);
    set_channels(&columns, "", &fabric)?;
    let latency = |(router, port)| fabric.latency_cycles(router, port).map_or(-1, i64::from);
    let latencies: Vec<i64> = fabric.channels().map(latency).collect();
    let cycles: Vec<u32> = fabric.channels().map(|(router, port)| fabric.cycles_per_flit(router, port)).collect();
    columns.set_item("latency_cycles", latencies.into_pyarray(py))?;
    columns.set_item("cycles_per_flit", cycles.into_pyarray(py))?;
    Ok(columns)
}

/// Where routers and channels of a topology (JSON) lie on a page: `routers` (x, y), `segments` (x, y from, x, y to)
/// with the `channel` that each belongs to, `terminals` (x, y; none where they are not drawn) with the router of each
/// in `router_of_terminal`, the labels of both `axes` and a `note`; `None` where it cannot be drawn.
#[pyfunction]
pub fn drawing<'py>(py: Python<'py>, topology: &str) -> PyResult<Option<Bound<'py, PyDict>>> {
    let fabric = fabric(py, topology)?;
    let Some(drawing) = fabric.drawing() else { return Ok(None) };
    let places: Vec<(u32, usize)> = fabric.channels().collect();
    let channel = |router: u32, port: u32| places.binary_search(&(router, port as usize)).unwrap_or(usize::MAX) as u64;
    let channels: Vec<u64> = drawing.segments.iter().map(|s| channel(s.router, s.port)).collect();
    let segments: Vec<f64> = drawing.segments.iter().flat_map(|s| [s.from, s.to].concat()).collect();
    let (routers, terminals) = (drawing.routers.concat(), drawing.terminals.concat());
    let at: Vec<u32> = (0..drawing.terminals.len() as u32).map(|terminal| fabric.router_of(terminal)).collect();
    let found = PyDict::new(py);
    found.set_item("routers", routers.into_pyarray(py).reshape([drawing.routers.len(), 2])?)?;
    found.set_item("terminals", terminals.into_pyarray(py).reshape([drawing.terminals.len(), 2])?)?;
    found.set_item("router_of_terminal", at.into_pyarray(py))?;
    found.set_item("segments", segments.into_pyarray(py).reshape([drawing.segments.len(), 2, 2])?)?;
    found.set_item("channel", channels.into_pyarray(py))?;
    found.set_item("axes", drawing.axes.to_vec())?;
    found.set_item("note", drawing.note)?;
    Ok(Some(found))
}

/// Where the terminals of a topology (JSON) are: the `router` of each, and the `network_ports` of each router, which
/// come before those of its terminals; the `size` in each dimension if it is a grid, else nothing.
#[pyfunction]
pub fn terminals<'py>(py: Python<'py>, topology: &str) -> PyResult<Bound<'py, PyDict>> {
    let fabric = fabric(py, topology)?;
    let router: Vec<u32> = (0..fabric.terminals()).map(|terminal| fabric.router_of(terminal)).collect();
    let ports: Vec<u32> = (0..fabric.routers()).map(|router| fabric.network_ports_of(router) as u32).collect();
    let found = PyDict::new(py);
    found.set_item("router", router.into_pyarray(py))?;
    found.set_item("network_ports", ports.into_pyarray(py))?;
    let size = fabric.grid().map_or(Vec::new(), |grid| grid.sizes().to_vec());
    found.set_item("size", size.into_pyarray(py))?;
    Ok(found)
}

/// The load of uniform traffic that uses up the middle of a topology (JSON) [flits/cycle/terminal]; infinite where no
/// channel limits it, `None` where it is not known.
#[pyfunction]
pub fn uniform_capacity(py: Python<'_>, topology: &str) -> PyResult<Option<f64>> {
    Ok(fabric(py, topology)?.uniform_capacity())
}

/// The kind of the routing that a topology (JSON) has where its user names none.
#[pyfunction]
pub fn default_routing(py: Python<'_>, topology: &str) -> PyResult<&'static str> {
    Ok(RoutingSpec::default_of(&fabric(py, topology)?).kind())
}
