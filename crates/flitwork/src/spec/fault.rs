//! Why a value is not what a type of the specification wants, as data: serde reports it to an error type, and this one
//! keeps the parts.

use serde::de::{Error, Expected, Unexpected};
use serde_json::Value;
use std::fmt::{Display, Formatter, Result as Written};

/// What serde reports.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fault {
    /// A field that a table does not have, and those that it has.
    UnknownField { field: String, fields: &'static [&'static str] },
    /// A word that is none of those known.
    UnknownVariant { variant: String, variants: &'static [&'static str] },
    /// A table lacks a field.
    MissingField(&'static str),
    /// Another type or value than expected; the value where it is no table and no list.
    Unfit { found: Option<Value>, expected: String },
    /// Anything else, in words.
    Other(String),
}

impl Fault {
    fn unfit(found: Unexpected, expected: &dyn Expected) -> Self {
        let found = match found {
            Unexpected::Bool(value) => Some(value.into()),
            Unexpected::Unsigned(value) => Some(value.into()),
            Unexpected::Signed(value) => Some(value.into()),
            Unexpected::Float(value) => Some(value.into()),
            Unexpected::Str(value) => Some(value.into()),
            _ => None,
        };
        Fault::Unfit { found, expected: expected.to_string() }
    }
}

impl Error for Fault {
    fn custom<T: Display>(message: T) -> Self {
        Fault::Other(message.to_string())
    }

    fn invalid_type(found: Unexpected, expected: &dyn Expected) -> Self {
        Fault::unfit(found, expected)
    }

    fn invalid_value(found: Unexpected, expected: &dyn Expected) -> Self {
        Fault::unfit(found, expected)
    }

    fn invalid_length(_length: usize, expected: &dyn Expected) -> Self {
        Fault::Unfit { found: None, expected: expected.to_string() }
    }

    fn unknown_variant(variant: &str, variants: &'static [&'static str]) -> Self {
        Fault::UnknownVariant { variant: variant.to_string(), variants }
    }

    fn unknown_field(field: &str, fields: &'static [&'static str]) -> Self {
        Fault::UnknownField { field: field.to_string(), fields }
    }

    fn missing_field(field: &'static str) -> Self {
        Fault::MissingField(field)
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter) -> Written {
        match self {
            Fault::UnknownField { field, .. } => write!(f, "unknown field {field}"),
            Fault::UnknownVariant { variant, .. } => write!(f, "unknown word {variant}"),
            Fault::MissingField(field) => write!(f, "missing field {field}"),
            Fault::Unfit { expected, .. } => write!(f, "expected {expected}"),
            Fault::Other(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Fault {}
