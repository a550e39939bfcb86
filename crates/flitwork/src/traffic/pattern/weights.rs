//! Traffic by a matrix of weights, such as one that was measured.

use super::Destinations;
use super::rule::{Context, Rule};
use crate::error::{Error, Result};
use crate::traffic::{Attached, no_file};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A destination drawn for each packet by the weights of its source's row.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// The weights, at least 0: a row for each source, a column for each destination. Written as a list of rows; in a
    /// plan they are a digest. Default: those of `file`.
    #[serde(default)]
    #[schemars(extend("x-numbers" = "matrix"))]
    pub weights: Attached,
    /// A file with the matrix, a row for each source: CSV or NumPy (.npy).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
}

impl Rule for Weights {
    fn destinations(&self, on: &Context<'_>) -> Result<Destinations> {
        no_file("workload.pattern", &self.file, "weights")?;
        let (path, n) = ("workload.pattern.weights", on.terminals());
        let matrix = self.weights.matrix(path)?;
        if matrix.size() != n as usize {
            let value = format!("{0} rows and columns", matrix.size());
            return Err(Error::config(path, value, format!("{n} rows and columns, one for each terminal"), ""));
        }
        if matrix.is_zero() {
            return Err(Error::config(path, "a sum of 0", "weights with a sum above 0", "all of them are 0"));
        }
        Ok(Destinations::Matrix(Arc::clone(matrix)))
    }

    fn attached(&self) -> Option<&Attached> {
        Some(&self.weights)
    }

    fn attached_mut(&mut self) -> Option<&mut Attached> {
        Some(&mut self.weights)
    }

    #[cfg(test)]
    fn example(terminals: u32) -> Self {
        use crate::traffic::{Matrix, Table};
        let n = terminals as usize;
        let weights: Vec<f64> = (0..n * n).map(|i| (i % 7) as f64 + 0.5).collect();
        let table = Matrix::dense(&weights, n).map(|matrix| Table::Matrix(Arc::new(matrix)));
        Weights { weights: table.map(Attached::new).unwrap_or_default(), file: String::new() }
    }
}
