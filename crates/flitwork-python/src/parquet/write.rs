//! Columns from arrays to a file.

use super::{kinds, os_error, raised};
use ::parquet::basic::{Compression, Encoding, ZstdLevel};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use ::parquet::errors::Result;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::types::Type;
use numpy::{Element, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Name, kind of the values, whether they may be missing, whether each row has a list of them.
type Column = (String, String, bool, bool);
/// Values, which of them are there (nothing: all), and of lists how many each row has.
type Given<'py> = (Bound<'py, PyAny>, Option<PyReadonlyArray1<'py, bool>>, Option<PyReadonlyArray1<'py, i64>>);

/// A table as the bytes of a Parquet file: `metadata` are pairs of key and value.
#[pyfunction]
pub fn parquet_bytes<'py>(
    py: Python<'py>,
    columns: Vec<Column>,
    values: Vec<Given<'py>>,
    metadata: Vec<(String, String)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let values = given(&columns, values)?;
    let bytes = py.detach(|| -> Result<Vec<u8>> {
        let mut writer = Writer::new(Vec::new(), columns, metadata, packed())?;
        writer.write(values)?;
        writer.file.into_inner()
    });
    Ok(PyBytes::new(py, &bytes.map_err(|error| raised(py, error, None))?))
}

/// A Parquet file that grows by groups of rows: whole numbers as differences, without compression.
#[pyclass(frozen, module = "flitwork._core")]
pub struct ParquetWriter {
    writer: Mutex<Option<Writer<File>>>,
}

#[pymethods]
impl ParquetWriter {
    /// Begins the file `path`; what is there is replaced.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, columns: Vec<Column>, metadata: Vec<(String, String)>) -> PyResult<Self> {
        let file = File::create(path).map_err(|error| os_error(py, &error))?;
        let properties = differences(&columns);
        let writer = Writer::new(file, columns, metadata, properties).map_err(|error| raised(py, error, None))?;
        Ok(ParquetWriter { writer: Mutex::new(Some(writer)) })
    }

    /// Adds a group of rows.
    fn write(&self, py: Python<'_>, values: Vec<Given<'_>>) -> PyResult<()> {
        let columns = match &*self.locked() {
            Some(writer) => writer.columns.clone(),
            None => return Err(PyValueError::new_err("the file is closed")),
        };
        let values = given(&columns, values)?;
        let written = py.detach(|| self.locked().as_mut().map_or(Ok(()), |writer| writer.write(values)));
        written.map_err(|error| raised(py, error, None))
    }

    /// Ends the file, which can be read then.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let closed = py.detach(|| self.locked().take().map_or(Ok(()), |writer| writer.file.close().map(drop)));
        closed.map_err(|error| raised(py, error, None))
    }
}

impl ParquetWriter {
    fn locked(&self) -> std::sync::MutexGuard<'_, Option<Writer<File>>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Writer<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<Column>,
}

impl<W: Write + Send> Writer<W> {
    fn new(
        to: W,
        columns: Vec<Column>,
        metadata: Vec<(String, String)>,
        properties: parquet::file::properties::WriterPropertiesBuilder,
    ) -> Result<Self> {
        let fields = columns.iter().map(|(name, kind, optional, listed)| kinds::column(name, kind, *optional, *listed));
        let schema = Type::group_type_builder("schema").with_fields(fields.collect::<Result<_>>()?).build()?;
        let pairs = metadata.into_iter().map(|(key, value)| KeyValue::new(key, value)).collect();
        let properties = properties.set_key_value_metadata(Some(pairs)).build();
        Ok(Writer { file: SerializedFileWriter::new(to, Arc::new(schema), Arc::new(properties))?, columns })
    }

    /// Adds a group of rows; those without rows add none.
    fn write(&mut self, values: Vec<Values>) -> Result<()> {
        let mut group = self.file.next_row_group()?;
        for values in values {
            let Some(mut column) = group.next_column()? else { break };
            values.write(&mut column)?;
            column.close()?;
        }
        group.close().map(drop)
    }
}

/// Small files: texts and numbers that repeat once, and compressed.
fn packed() -> parquet::file::properties::WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
}

fn differences(columns: &[Column]) -> parquet::file::properties::WriterPropertiesBuilder {
    let whole = columns.iter().filter(|(_, kind, ..)| kind.contains("int"));
    let builder = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true);
    whole.fold(builder, |builder, (name, ..)| {
        builder.set_column_encoding(vec![name.clone()].into(), Encoding::DELTA_BINARY_PACKED)
    })
}

/// The values of a column that are there, and the levels that say where.
struct Values {
    of: Stored,
    definitions: Option<Vec<i16>>,
    repetitions: Option<Vec<i16>>,
}

enum Stored {
    Bool(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Text(Vec<ByteArray>),
}

impl Values {
    fn write(&self, column: &mut SerializedColumnWriter<'_>) -> Result<()> {
        match &self.of {
            Stored::Bool(values) => self.typed::<BoolType>(column, values),
            Stored::Int32(values) => self.typed::<Int32Type>(column, values),
            Stored::Int64(values) => self.typed::<Int64Type>(column, values),
            Stored::Float(values) => self.typed::<FloatType>(column, values),
            Stored::Double(values) => self.typed::<DoubleType>(column, values),
            Stored::Text(values) => self.typed::<ByteArrayType>(column, values),
        }
    }

    fn typed<T: DataType>(&self, column: &mut SerializedColumnWriter<'_>, values: &[T::T]) -> Result<()> {
        let written = column.typed::<T>().write_batch(values, self.definitions.as_deref(), self.repetitions.as_deref());
        written.map(drop)
    }
}

/// The columns with levels, copied from Python.
fn given(columns: &[Column], values: Vec<Given<'_>>) -> PyResult<Vec<Values>> {
    if columns.len() != values.len() {
        return Err(PyValueError::new_err(format!("{} columns of {}", values.len(), columns.len())));
    }
    columns.iter().zip(values).map(|(column, values)| one(column, &values)).collect()
}

fn one((name, kind, optional, listed): &Column, (values, valid, lengths): &Given<'_>) -> PyResult<Values> {
    let valid = valid.as_ref().map(PyReadonlyArray1::as_slice).transpose()?;
    let of = stored(kind, values, valid)?;
    let places = values.len()?;
    if valid.is_some_and(|valid| valid.len() != places || !optional || *listed) || lengths.is_some() != *listed {
        return Err(PyValueError::new_err(format!("column {name}: values that are not of this column")));
    }
    let Some(lengths) = lengths else {
        let definitions = optional.then(|| match valid {
            Some(valid) => valid.iter().map(|&is_there| i16::from(is_there)).collect(),
            None => vec![1; places],
        });
        return Ok(Values { of, definitions, repetitions: None });
    };
    let lengths = lengths.as_slice()?;
    if lengths.iter().try_fold(0i64, |sum, &length| sum.checked_add(length).filter(|_| length >= 0))
        != Some(places as i64)
    {
        return Err(PyValueError::new_err(format!("column {name}: lengths that are not those of its lists")));
    }
    let (mut definitions, mut repetitions) = (Vec::with_capacity(places), Vec::with_capacity(places));
    for &length in lengths {
        if length == 0 {
            definitions.push(1);
            repetitions.push(0);
        }
        for element in 0..length {
            definitions.push(3);
            repetitions.push(i16::from(element > 0));
        }
    }
    Ok(Values { of, definitions: Some(definitions), repetitions: Some(repetitions) })
}

fn stored(kind: &str, values: &Bound<'_, PyAny>, valid: Option<&[bool]>) -> PyResult<Stored> {
    Ok(match kind {
        "bool" => Stored::Bool(present(values, valid)?),
        "int8" | "int16" | "int32" | "uint8" | "uint16" | "uint32" | "null" => Stored::Int32(present(values, valid)?),
        "int64" | "uint64" => Stored::Int64(present(values, valid)?),
        "float" => Stored::Float(present(values, valid)?),
        "double" => Stored::Double(present(values, valid)?),
        _ => {
            let texts: Vec<Option<String>> = values.extract()?;
            Stored::Text(texts.into_iter().flatten().map(|text| ByteArray::from(text.into_bytes())).collect())
        }
    })
}

/// The values that are there.
fn present<T: Element + Copy>(values: &Bound<'_, PyAny>, valid: Option<&[bool]>) -> PyResult<Vec<T>> {
    let values: PyReadonlyArray1<'_, T> = values.extract()?;
    let values = values.as_slice()?;
    Ok(match valid {
        Some(valid) => values.iter().zip(valid).filter(|&(_, &is_there)| is_there).map(|(&value, _)| value).collect(),
        None => values.to_vec(),
    })
}
