//! Errors as data: which field is at fault, what was found, what was expected, what to do.

use std::fmt;

/// An algorithm, a parameter or a world that cannot be used as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The field at fault, as specifications name it: `workload.radix`.
    pub field: String,
    /// What was found.
    pub value: String,
    /// What would have been accepted.
    pub expected: String,
    /// What to do about it; empty when there is nothing more to say.
    pub hint: String,
    /// The names that there are, where one was expected that there is not.
    pub names: Vec<&'static str>,
}

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error without ceremony.
    pub fn config(
        field: impl Into<String>,
        value: impl ToString,
        expected: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        let (field, value, expected, hint) = (field.into(), value.to_string(), expected.into(), hint.into());
        Error { field, value, expected, hint, names: Vec::new() }
    }

    /// A name that is none of `names`.
    pub(crate) fn unknown(value: &str, expected: String, names: Vec<&'static str>) -> Self {
        Error { names, ..Error::config("workload.algorithm", value, expected, "") }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Error { field, value, expected, hint, .. } = self;
        write!(f, "{field} = {value}: expected {expected}")?;
        if hint.is_empty() { Ok(()) } else { write!(f, "; {hint}") }
    }
}

impl std::error::Error for Error {}
