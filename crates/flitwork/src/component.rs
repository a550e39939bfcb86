//! What a list says of something that a user can choose.

use serde::Serialize;

/// One component.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Component {
    /// Name in a specification.
    pub name: &'static str,
    /// What the component is, in one line.
    pub summary: &'static str,
    /// Fields of its table in the configuration, or where it is defined.
    pub parameters: &'static str,
    /// Where the component was published; empty for common knowledge.
    pub paper: &'static str,
}

impl Component {
    /// A row of a table.
    pub const fn new(
        name: &'static str,
        summary: &'static str,
        parameters: &'static str,
        paper: &'static str,
    ) -> Component {
        Component { name, summary, parameters, paper }
    }
}
