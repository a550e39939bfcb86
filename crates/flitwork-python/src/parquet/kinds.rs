//! The kinds of columns, under the names that Apache Arrow gives them.

use ::parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

/// A column of a table as its file states it.
pub struct Field {
    pub name: String,
    /// What its values are; of a list, what the elements are. Nothing where no table has such columns.
    pub kind: Option<String>,
    /// Whether each row has a list.
    pub listed: bool,
    /// Its place among the columns that are stored.
    pub leaf: usize,
}

/// The columns of the table that `root` describes.
pub fn fields(root: &Type) -> Vec<Field> {
    let mut leaf = 0;
    let mut found = Vec::new();
    for field in root.get_fields() {
        let listed = element(field);
        let of = listed.unwrap_or(field);
        found.push(Field { name: field.name().to_owned(), kind: kind(of), listed: listed.is_some(), leaf });
        leaf += leaves(field);
    }
    found
}

fn leaves(field: &Type) -> usize {
    if field.is_primitive() { 1 } else { field.get_fields().iter().map(|inner| leaves(inner)).sum() }
}

/// The elements of a list: a group that has one repeated group, which has one value.
fn element(field: &Type) -> Option<&Type> {
    let [repeated] = fields_of(field)? else { return None };
    let [element] = fields_of(repeated)? else { return None };
    let is_list = field.get_basic_info().converted_type() == ConvertedType::LIST;
    (is_list && is_repeated(repeated) && !is_repeated(field) && element.is_primitive()).then_some(element)
}

fn fields_of(field: &Type) -> Option<&[TypePtr]> {
    field.is_group().then(|| field.get_fields())
}

fn is_repeated(field: &Type) -> bool {
    let about = field.get_basic_info();
    about.has_repetition() && about.repetition() == Repetition::REPEATED
}

/// What the values of a column are; nothing for those that no table has.
fn kind(field: &Type) -> Option<String> {
    let Type::PrimitiveType { basic_info, physical_type, scale, precision, .. } = field else { return None };
    if is_repeated(field) {
        return None;
    }
    let physical = *physical_type;
    if let Some(logical) = basic_info.logical_type_ref() {
        return match (logical, physical) {
            (LogicalType::Integer(of), Physical::INT32 | Physical::INT64) => {
                Some(format!("{}int{}", if of.is_signed { "" } else { "u" }, of.bit_width))
            }
            (LogicalType::String | LogicalType::Enum | LogicalType::Json, Physical::BYTE_ARRAY) => {
                Some("string".to_owned())
            }
            (LogicalType::Date, Physical::INT32) => Some("date32[day]".to_owned()),
            (LogicalType::Timestamp(of), Physical::INT64) => {
                let zone = if of.is_adjusted_to_u_t_c { ", tz=UTC" } else { "" };
                Some(format!("timestamp[{}{zone}]", unit(of.unit)))
            }
            (LogicalType::Decimal(of), _) => Some(decimal(of.precision, of.scale)),
            (LogicalType::Float16, Physical::FIXED_LEN_BYTE_ARRAY) => Some("halffloat".to_owned()),
            (LogicalType::Bson, Physical::BYTE_ARRAY) | (LogicalType::Uuid, Physical::FIXED_LEN_BYTE_ARRAY) => {
                Some("binary".to_owned())
            }
            (LogicalType::Unknown, _) => Some("null".to_owned()),
            _ => None,
        };
    }
    let name = match (basic_info.converted_type(), physical) {
        (ConvertedType::NONE, _) => plain(physical),
        (ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON, Physical::BYTE_ARRAY) => "string",
        (ConvertedType::INT_8, Physical::INT32) => "int8",
        (ConvertedType::INT_16, Physical::INT32) => "int16",
        (ConvertedType::INT_32, Physical::INT32) => "int32",
        (ConvertedType::INT_64, Physical::INT64) => "int64",
        (ConvertedType::UINT_8, Physical::INT32) => "uint8",
        (ConvertedType::UINT_16, Physical::INT32) => "uint16",
        (ConvertedType::UINT_32, Physical::INT32) => "uint32",
        (ConvertedType::UINT_64, Physical::INT64) => "uint64",
        (ConvertedType::DATE, Physical::INT32) => "date32[day]",
        (ConvertedType::TIMESTAMP_MILLIS, Physical::INT64) => "timestamp[ms]",
        (ConvertedType::TIMESTAMP_MICROS, Physical::INT64) => "timestamp[us]",
        (ConvertedType::BSON, Physical::BYTE_ARRAY) => "binary",
        (ConvertedType::DECIMAL, _) => return Some(decimal(*precision, *scale)),
        _ => return None,
    };
    Some(name.to_owned())
}

fn plain(physical: Physical) -> &'static str {
    match physical {
        Physical::BOOLEAN => "bool",
        Physical::INT32 => "int32",
        Physical::INT64 => "int64",
        Physical::INT96 => "timestamp[ns]",
        Physical::FLOAT => "float",
        Physical::DOUBLE => "double",
        Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY => "binary",
    }
}

fn decimal(precision: i32, scale: i32) -> String {
    format!("decimal128({precision}, {scale})")
}

fn unit(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::MILLIS => "ms",
        TimeUnit::MICROS => "us",
        TimeUnit::NANOS => "ns",
    }
}

/// A column that is written: of values that may be missing (`optional`), or of lists of them.
pub fn column(name: &str, kind: &str, optional: bool, listed: bool) -> Result<TypePtr> {
    if !listed {
        let repetition = if optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        return values(name, kind, repetition);
    }
    let repeated = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![values("element", kind, Repetition::OPTIONAL)?])
        .build()?;
    let list = Type::group_type_builder(name)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(Some(LogicalType::List))
        .with_fields(vec![Arc::new(repeated)])
        .build()?;
    Ok(Arc::new(list))
}

fn values(name: &str, kind: &str, repetition: Repetition) -> Result<TypePtr> {
    let (physical, logical) = match kind {
        "bool" => (Physical::BOOLEAN, None),
        "int8" => (Physical::INT32, Some(LogicalType::integer(8, true))),
        "int16" => (Physical::INT32, Some(LogicalType::integer(16, true))),
        "int32" => (Physical::INT32, None),
        "int64" => (Physical::INT64, None),
        "uint8" => (Physical::INT32, Some(LogicalType::integer(8, false))),
        "uint16" => (Physical::INT32, Some(LogicalType::integer(16, false))),
        "uint32" => (Physical::INT32, Some(LogicalType::integer(32, false))),
        "uint64" => (Physical::INT64, Some(LogicalType::integer(64, false))),
        "float" => (Physical::FLOAT, None),
        "double" => (Physical::DOUBLE, None),
        "string" => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        "null" => (Physical::INT32, Some(LogicalType::Unknown)),
        _ => return Err(ParquetError::General(format!("values of kind {kind} cannot be written"))),
    };
    let field =
        Type::primitive_type_builder(name, physical).with_repetition(repetition).with_logical_type(logical).build()?;
    Ok(Arc::new(field))
}
