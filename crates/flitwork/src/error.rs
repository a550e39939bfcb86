//! Errors as data: where the fault is, what was found, what was expected, what to do.

use thiserror::Error;

/// Everything that can go wrong in a call of this crate. User input never panics.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// The configuration cannot be used as written.
    #[error("{path} = {value}: expected {expected}{}", hint_suffix(.hint))]
    Config {
        /// Dotted path of the field, for example `network.router.vcs`.
        path: String,
        /// The value that was found, as the user would write it.
        value: String,
        /// What would have been accepted.
        expected: String,
        /// What to do about it; empty when there is nothing more to say.
        hint: String,
    },
    /// Packets wait for each other for ever, in a part of the network or in all of it.
    #[error("deadlock at cycle {cycle}: {waiting}")]
    Deadlock {
        /// Cycle in which that was found \[cycles].
        cycle: u64,
        /// A cycle of virtual channels that wait for each other, and whether the rest of the network still moves, in
        /// words.
        waiting: String,
    },
    /// The run reached its limit of cycles before its workload was complete.
    #[error("not complete after {cycles} cycles: {detail} (raise run.max_cycles)")]
    CycleLimit {
        /// The limit \[cycles].
        cycles: u64,
        /// What was still under way.
        detail: String,
    },
    /// A schedule is not what it claims to be.
    #[error("schedule{}: {fault}", after_schedule(.name))]
    Schedule {
        /// Name of the schedule.
        name: String,
        /// What is wrong with it.
        fault: String,
    },
    /// The caller asked the run to stop.
    #[error("interrupted at cycle {cycle}")]
    Interrupted {
        /// Cycle at which the run stopped \[cycles].
        cycle: u64,
    },
}

fn hint_suffix(hint: &str) -> String {
    if hint.is_empty() { String::new() } else { format!("; {hint}") }
}

/// The name of a schedule after that word, unless it is called so.
fn after_schedule(name: &str) -> String {
    if matches!(name, "" | "schedule") { String::new() } else { format!(" {name}") }
}

impl Error {
    /// A [`Error::Config`] without ceremony.
    pub fn config(
        path: impl Into<String>,
        value: impl ToString,
        expected: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Error::Config { path: path.into(), value: value.to_string(), expected: expected.into(), hint: hint.into() }
    }

    /// The same fault of a configuration, found in table `to` instead of `from`.
    pub(crate) fn moved(self, from: &str, to: &str) -> Self {
        match self {
            Error::Config { path, value, expected, hint } => {
                let path = path.strip_prefix(from).map_or(path.clone(), |rest| format!("{to}{rest}"));
                Error::Config { path, value, expected, hint }
            }
            other => other,
        }
    }

    /// Whether the fault lies in what the user wrote (as opposed to in the run).
    pub fn is_config(&self) -> bool {
        matches!(self, Error::Config { .. })
    }
}

impl From<flitwork_steps::Error> for Error {
    fn from(fault: flitwork_steps::Error) -> Self {
        let flitwork_steps::Error { field, value, expected, hint, names } = fault;
        let hint = if hint.is_empty() { did_you_mean(&value.to_lowercase(), &names) } else { hint };
        Error::Config { path: field, value, expected, hint }
    }
}

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A hint with the candidate most like `word`, or nothing where none is close.
pub(crate) fn did_you_mean<S: AsRef<str>>(word: &str, candidates: &[S]) -> String {
    candidates
        .iter()
        .map(|c| (likeness(word, c.as_ref()), c.as_ref()))
        .filter(|(score, _)| *score > 0.65)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or_else(String::new, |(_, best)| format!("did you mean {best}?"))
}

/// How alike two words are, 0 to 1: few typing errors (swapped letters count as one), or a long common beginning. What
/// both end with behind an underscore is no likeness: `hop_cycles` is not like `max_cycles`.
fn likeness(a: &str, b: &str) -> f64 {
    let alike = |a: &str, b: &str| {
        let typing = strsim::normalized_damerau_levenshtein(a, b);
        if a.len() > 3 && (b.starts_with(a) || a.starts_with(b)) { 0.8 + 0.2 * typing } else { typing }
    };
    let (mut head, mut other) = (a, b);
    while let (Some((one, end)), Some((two, same))) = (head.rsplit_once('_'), other.rsplit_once('_')) {
        if end != same {
            break;
        }
        (head, other) = (one, two);
    }
    alike(a, b).min(alike(head, other))
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn an_equal_unit_is_no_likeness() {
        let fields = ["latency_cycles", "credit_delay_cycles", "max_cycles", "vcs"];
        for other in ["flits_per_cycle", "hop_cycles", "watchdog_cycles", "patience_cycles"] {
            assert_eq!(did_you_mean(other, &fields), "", "{other}");
        }
        for (wrong, right) in [
            ("latncy_cycles", "latency_cycles"),
            ("latency_cycle", "latency_cycles"),
            ("credit_dealy_cycles", "credit_delay_cycles"),
            ("vsc", "vcs"),
        ] {
            assert_eq!(did_you_mean(wrong, &fields), format!("did you mean {right}?"));
        }
    }
}
