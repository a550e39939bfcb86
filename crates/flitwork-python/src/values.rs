//! What a plan says, as plain values of Python.

use flitwork::PlanBound;
use flitwork::bound::{Bound as Times, ChannelClassLoad, OperationBound, Saturation};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::{Value, json};

/// A value as tables, lists, text and numbers.
pub fn plain<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(truth) => truth.into_pyobject(py)?.to_owned().into_any(),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => number.into_pyobject(py)?.into_any(),
            (None, Some(number)) => number.into_pyobject(py)?.into_any(),
            (None, None) => number.as_f64().into_pyobject(py)?.into_any(),
        },
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::Array(values) => {
            let list = PyList::empty(py);
            values.iter().try_for_each(|value| list.append(plain(py, value)?))?;
            list.into_any()
        }
        Value::Object(fields) => {
            let table = PyDict::new(py);
            fields.iter().try_for_each(|(name, value)| table.set_item(name, plain(py, value)?))?;
            table.into_any()
        }
    })
}

/// A table in the order in which its fields are given.
fn table<'py, const N: usize>(py: Python<'py>, fields: [(&str, Value); N]) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    fields.iter().try_for_each(|(name, value)| table.set_item(name, plain(py, value)?))?;
    Ok(table)
}

/// What no run can beat, as a table: its `kind`, then the fields of [`PlanBound`] in their order. What is infinite is
/// nothing.
pub fn bound<'py>(py: Python<'py>, bound: &PlanBound) -> PyResult<Bound<'py, PyDict>> {
    match bound {
        PlanBound::Completion(times) => {
            let Times {
                bisection_cycles,
                channel_load_cycles,
                injection_cycles,
                ejection_cycles,
                tightest_cycles,
                tightest,
                phase_model_cycles,
                operation,
            } = times;
            let found = table(
                py,
                [
                    ("kind", "completion".into()),
                    ("bisection_cycles", json!(bisection_cycles)),
                    ("channel_load_cycles", json!(channel_load_cycles)),
                    ("injection_cycles", json!(injection_cycles)),
                    ("ejection_cycles", json!(ejection_cycles)),
                    ("tightest_cycles", json!(tightest_cycles)),
                    ("tightest", json!(tightest)),
                    ("phase_model_cycles", json!(phase_model_cycles)),
                ],
            )?;
            if let Some(operation) = operation {
                found.set_item("operation", of_operation(py, operation)?)?;
            }
            Ok(found)
        }
        PlanBound::Saturation {
            channels: Saturation { load_flits_per_cycle, classes },
            terminal_load_flits_per_cycle,
            saturation_load_flits_per_cycle,
            accepted_load_flits_per_cycle,
        } => {
            let channels = table(py, [("load_flits_per_cycle", json!(load_flits_per_cycle))])?;
            let classes = classes.iter().map(|ChannelClassLoad { class, max_flits }| {
                table(py, [("class", json!(class)), ("max_flits", json!(max_flits))])
            });
            channels.set_item("classes", classes.collect::<PyResult<Vec<_>>>()?)?;
            let found = table(py, [("kind", "saturation".into())])?;
            found.set_item("channels", channels)?;
            let loads = table(
                py,
                [
                    ("terminal_load_flits_per_cycle", json!(terminal_load_flits_per_cycle)),
                    ("saturation_load_flits_per_cycle", json!(saturation_load_flits_per_cycle)),
                    ("accepted_load_flits_per_cycle", json!(accepted_load_flits_per_cycle)),
                ],
            )?;
            found.update(loads.as_mapping())?;
            Ok(found)
        }
    }
}

fn of_operation<'py>(py: Python<'py>, operation: &OperationBound) -> PyResult<Bound<'py, PyDict>> {
    let OperationBound { injection_cycles, ejection_cycles, bisection_cycles, cycles, rounds } = operation;
    table(
        py,
        [
            ("injection_cycles", json!(injection_cycles)),
            ("ejection_cycles", json!(ejection_cycles)),
            ("bisection_cycles", json!(bisection_cycles)),
            ("cycles", json!(cycles)),
            ("rounds", json!(rounds)),
        ],
    )
}
