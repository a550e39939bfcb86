//! Columns of a file as arrays.

use super::claims::{self, guarded};
use super::kinds::{Field, fields};
use super::{os_error, raised};
use ::parquet::basic::{Compression, Type as Physical};
use ::parquet::column::reader::{ColumnReader, get_column_reader, get_typed_column_reader};
use ::parquet::data_type::{
    AsBytes, BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type,
    Int96, Int96Type,
};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use ::parquet::file::serialized_reader::SerializedPageReader;
use ::parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};
use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};
use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

/// Rows that are decoded at a time: memory follows what is there, whatever a file claims.
const ROWS: usize = 1 << 16;
/// Rows of texts: each may be long.
const TEXTS: usize = 1 << 10;
/// What a value takes, about \[bytes].
const PLACE: u64 = 8;
/// Most texts of a column that are kept once, however often they stand there.
const DIFFERENT: usize = 1 << 16;

/// A Parquet file that is open: its columns are read one by one.
#[pyclass(frozen, module = "flitwork._core")]
pub struct ParquetFile {
    file: Arc<File>,
    size: u64,
    metadata: ParquetMetaData,
    fields: Vec<Field>,
}

#[pymethods]
impl ParquetFile {
    /// Reads the metadata of the file `path`.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let file = File::open(path).map_err(|error| os_error(py, &error))?;
        let size = file.metadata().map_err(|error| os_error(py, &error))?.len();
        let metadata = py
            .detach(|| {
                guarded(|| {
                    let metadata = ParquetMetaDataReader::decode_metadata(&claims::metadata(&file, size)?)?;
                    rows_add_up(&metadata)?;
                    Ok(metadata)
                })
            })
            .map_err(|error| raised(py, error, None))?;
        let fields = fields(metadata.file_metadata().schema());
        Ok(ParquetFile { file: Arc::new(file), size, metadata, fields })
    }

    /// Rows of the table.
    #[getter]
    fn rows(&self) -> i64 {
        self.metadata.file_metadata().num_rows()
    }

    /// Groups of rows that are stored one after the other.
    #[getter]
    fn row_groups(&self) -> usize {
        self.metadata.num_row_groups()
    }

    /// What the columns take when they are unpacked, as the file says \[bytes].
    #[getter]
    fn unpacked_bytes(&self) -> i128 {
        let chunks = self.metadata.row_groups().iter().flat_map(RowGroupMetaData::columns);
        chunks.map(|chunk| i128::from(chunk.uncompressed_size()).abs()).sum()
    }

    /// Name of each column, the kind of its values, and whether each row has a list of them; no kind of what no table
    /// has.
    #[getter]
    fn columns(&self) -> Vec<(&str, Option<&str>, bool)> {
        self.fields.iter().map(|field| (field.name.as_str(), field.kind.as_deref(), field.listed)).collect()
    }

    /// Keys and values of the metadata.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for pair in self.metadata.file_metadata().key_value_metadata().into_iter().flatten() {
            found.set_item(&pair.key, pair.value.as_deref().unwrap_or_default())?;
        }
        Ok(found)
    }

    /// Values of a column, which of the rows have one (nothing: all), and of lists how many each row has.
    ///
    /// Values, their texts and what is unpacked together take `most_bytes` at most, each.
    fn read<'py>(&self, py: Python<'py>, column: usize, most_bytes: u64) -> PyResult<Read<'py>> {
        let field = self.fields.get(column).ok_or_else(|| PyIndexError::new_err(column))?;
        guarded(|| self.values(py, field, most_bytes)).map_err(|error| raised(py, error, Some(&field.name)))
    }
}

type Valid<'py> = Option<Bound<'py, PyArray1<bool>>>;
type Lengths<'py> = Option<Bound<'py, PyArray1<i64>>>;
type Read<'py> = (Bound<'py, PyAny>, Valid<'py>, Lengths<'py>);

impl ParquetFile {
    fn values<'py>(&self, py: Python<'py>, field: &Field, most_bytes: u64) -> Result<Read<'py>> {
        match self.metadata.file_metadata().schema_descr().column(field.leaf).physical_type() {
            Physical::BOOLEAN => self.numbers::<BoolType, _>(py, field, most_bytes, |&value| value),
            Physical::INT32 => self.numbers::<Int32Type, _>(py, field, most_bytes, |&value| value),
            Physical::INT64 => self.numbers::<Int64Type, _>(py, field, most_bytes, |&value| value),
            Physical::INT96 => self.numbers::<Int96Type, _>(py, field, most_bytes, Int96::to_nanos),
            Physical::FLOAT => self.numbers::<FloatType, _>(py, field, most_bytes, |&value| value),
            Physical::DOUBLE => self.numbers::<DoubleType, _>(py, field, most_bytes, |&value| value),
            Physical::BYTE_ARRAY => self.texts::<ByteArrayType>(py, field, most_bytes),
            Physical::FIXED_LEN_BYTE_ARRAY => self.texts::<FixedLenByteArrayType>(py, field, most_bytes),
        }
    }

    fn numbers<'py, T: DataType, N: Element + Default + Copy + Send>(
        &self,
        py: Python<'py>,
        field: &Field,
        most_bytes: u64,
        number: impl Fn(&T::T) -> N + Send + Sync,
    ) -> Result<Read<'py>> {
        let (values, shape) = py.detach(|| {
            let mut values: Vec<N> = Vec::new();
            let mut shape = Shape::of(&self.descriptor(field), field.listed);
            self.each_batch::<T>(field, ROWS, most_bytes, |found, definitions, repetitions| {
                let mut found = found.iter().map(&number);
                shape.add(definitions, repetitions, found.len(), |is_there| {
                    values.push(if is_there { found.next().unwrap_or_default() } else { N::default() });
                })
            })?;
            Ok::<_, ParquetError>((values, shape))
        })?;
        let (valid, lengths) = shape.arrays(py);
        Ok((values.into_pyarray(py).into_any(), valid, lengths))
    }

    fn texts<'py, T: DataType>(&self, py: Python<'py>, field: &Field, most_bytes: u64) -> Result<Read<'py>> {
        if field.listed {
            return Err(ParquetError::General("lists of texts are not read".to_owned()));
        }
        let mut texts =
            Texts { is_text: field.kind.as_deref() == Some("string"), left: most_bytes, known: HashMap::new() };
        let mut values: Vec<Py<PyAny>> = Vec::new();
        let mut shape = Shape::of(&self.descriptor(field), false);
        self.each_batch::<T>(field, TEXTS, most_bytes, |found, definitions, repetitions| {
            let objects = found.iter().map(|value| texts.object(py, value.as_bytes()));
            let mut objects = objects.collect::<Result<Vec<_>>>()?.into_iter();
            shape.add(definitions, repetitions, objects.len(), |is_there| {
                values.push(if is_there { objects.next().unwrap_or_else(|| py.None()) } else { py.None() });
            })
        })?;
        let (valid, _) = shape.arrays(py);
        Ok((values.into_pyarray(py).into_any(), valid, None))
    }

    fn descriptor(&self, field: &Field) -> ColumnDescPtr {
        self.metadata.file_metadata().schema_descr().column(field.leaf)
    }

    /// Gives `add` the values of a column, and their definition and repetition levels, some rows at a time.
    fn each_batch<T: DataType>(
        &self,
        field: &Field,
        most_rows: usize,
        most_bytes: u64,
        mut add: impl FnMut(&[T::T], &[i16], &[i16]) -> Result<()>,
    ) -> Result<()> {
        let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
        let mut places = 0;
        for (number, group) in self.metadata.row_groups().iter().enumerate() {
            let rows = usize::try_from(group.num_rows())?;
            let mut reader =
                get_typed_column_reader::<T>(self.reader(field, group.column(field.leaf), rows, most_bytes)?);
            let mut read = 0;
            while read < rows {
                values.clear();
                definitions.clear();
                repetitions.clear();
                let most = most_rows.min(rows - read);
                let (records, ..) =
                    reader.read_records(most, Some(&mut definitions), Some(&mut repetitions), &mut values)?;
                if records == 0 {
                    return Err(ParquetError::General(format!("row group {number} has {read} of its {rows} rows")));
                }
                read += records;
                places += definitions.len().max(values.len()) as u64;
                if places.saturating_mul(PLACE) > most_bytes {
                    return Err(ParquetError::General("its values need more memory than there is".to_owned()));
                }
                add(&values, &definitions, &repetitions)?;
            }
        }
        Ok(())
    }

    fn reader(&self, field: &Field, chunk: &ColumnChunkMetaData, rows: usize, most_bytes: u64) -> Result<ColumnReader> {
        let (from, end) = self.place(chunk)?;
        let are_texts = matches!(chunk.column_type(), Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY);
        claims::check_pages(&self.file, from, end, most_bytes, are_texts)?;
        let known = !matches!(chunk.compression(), Compression::BROTLI(_) | Compression::LZO);
        if !known {
            let name = chunk.compression().to_string();
            let name = name.split('(').next().unwrap_or_default();
            let expected = "snappy, gzip, zstd, lz4 or no compression";
            return Err(ParquetError::General(format!("compressed with {name}: expected {expected}")));
        }
        let pages = SerializedPageReader::new(Arc::clone(&self.file), chunk, rows, None)?;
        Ok(get_column_reader(self.descriptor(field), Box::new(pages)))
    }

    /// Where the pages of a column begin and end, which must be in the file.
    fn place(&self, chunk: &ColumnChunkMetaData) -> Result<(u64, u64)> {
        let from = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
        let (from, length) = (u64::try_from(from), u64::try_from(chunk.compressed_size()));
        match (from, length) {
            (Ok(from), Ok(length)) if from.checked_add(length).is_some_and(|end| end <= self.size) => {
                Ok((from, from + length))
            }
            _ => Err(ParquetError::General("its place is not in the file".to_owned())),
        }
    }
}

/// The rows of the groups are those of the table.
fn rows_add_up(metadata: &ParquetMetaData) -> Result<()> {
    let groups = metadata.row_groups().iter().map(RowGroupMetaData::num_rows);
    let sum = groups.into_iter().try_fold(0i64, |sum, rows| sum.checked_add(rows).filter(|_| rows >= 0));
    if sum == Some(metadata.file_metadata().num_rows()) {
        return Ok(());
    }
    Err(ParquetError::General("the rows of its groups are not those of the table".to_owned()))
}

/// Which rows have a value, or how many.
struct Shape {
    /// Definition level of a value.
    of_value: i16,
    /// Definition level of an element of a list, also where it is null; nothing without lists.
    of_element: Option<i16>,
    valid: Vec<bool>,
    lengths: Vec<i64>,
    is_whole: bool,
}

impl Shape {
    fn of(column: &ColumnDescriptor, listed: bool) -> Self {
        let of_value = column.max_def_level();
        let of_element = listed.then(|| of_value - i16::from(column.self_type().is_optional()));
        Shape { of_value, of_element, valid: Vec::new(), lengths: Vec::new(), is_whole: true }
    }

    /// Adds rows by their levels, and calls `push` for each value, also for those that are missing; there are `values`.
    fn add(
        &mut self,
        definitions: &[i16],
        repetitions: &[i16],
        values: usize,
        mut push: impl FnMut(bool),
    ) -> Result<()> {
        let Some(of_element) = self.of_element else {
            if self.of_value == 0 {
                (0..values).for_each(|_| push(true));
                return Ok(());
            }
            for &level in definitions {
                let is_there = level == self.of_value;
                self.is_whole &= is_there;
                self.valid.push(is_there);
                push(is_there);
            }
            return Ok(());
        };
        for (&definition, &repetition) in definitions.iter().zip(repetitions) {
            if repetition == 0 {
                let is_there = definition >= of_element - 1;
                self.is_whole &= is_there;
                self.valid.push(is_there);
                self.lengths.push(0);
            }
            if definition >= of_element {
                if definition < self.of_value {
                    return Err(ParquetError::General("nulls within lists are not read".to_owned()));
                }
                let Some(length) = self.lengths.last_mut() else {
                    return Err(ParquetError::General("its first list has no beginning".to_owned()));
                };
                *length += 1;
                push(true);
            }
        }
        Ok(())
    }

    fn arrays<'py>(self, py: Python<'py>) -> (Valid<'py>, Lengths<'py>) {
        let valid = (!self.is_whole).then(|| self.valid.into_pyarray(py));
        (valid, self.of_element.map(|_| self.lengths.into_pyarray(py)))
    }
}

/// Texts as Python has them: those that stand there often are one object.
struct Texts {
    /// Bytes otherwise.
    is_text: bool,
    /// Bytes that more of them may have.
    left: u64,
    known: HashMap<Vec<u8>, Py<PyAny>>,
}

impl Texts {
    fn object(&mut self, py: Python<'_>, bytes: &[u8]) -> Result<Py<PyAny>> {
        if let Some(known) = self.known.get(bytes) {
            return Ok(known.clone_ref(py));
        }
        let Some(left) = self.left.checked_sub(bytes.len() as u64) else {
            return Err(ParquetError::General("its texts need more memory than there is".to_owned()));
        };
        self.left = left;
        let object = if self.is_text {
            let text = std::str::from_utf8(bytes).map_err(|error| ParquetError::General(error.to_string()))?;
            PyString::new(py, text).into_any().unbind()
        } else {
            PyBytes::new(py, bytes).into_any().unbind()
        };
        if self.known.len() < DIFFERENT {
            self.known.insert(bytes.to_vec(), object.clone_ref(py));
        }
        Ok(object)
    }
}
