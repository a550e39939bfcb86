//! Fields and words of a specification that were called otherwise before.
//!
//! A specification has the new names only: an old one is an unknown field, and the hint of its error names the new one. Who prepares
//! specifications for users (the Python package) may translate old names by these tables.

/// Fields by their old and new path; of several that fit, the first counts. A field below a table that moved moves with it.
pub const RENAMED_FIELDS: &[(&str, &str)] = &[
    ("network.terminal.controllers", "network.nic.ports"),
    ("network.terminal", "network.nic"),
    ("network.router.shared_middle_vc", "network.router.compat.shared_middle_vc"),
    ("network.router.pipelined_stages", "network.router.compat.pipelined_stages"),
    ("network.routing.productive", "network.router.compat.productive"),
    ("network.routing.adaptive_vcs", "network.router.compat.adaptive_vcs"),
    ("network.routing.adaptive_tie", "network.router.compat.adaptive_tie"),
    ("run.record.link_window_cycles", "run.record.channel_window_cycles"),
    ("workload.process.mean_burst_cycles", "workload.process.mean_on_cycles"),
    ("workload.process.mean_idle_cycles", "workload.process.mean_off_cycles"),
    ("background.process.mean_burst_cycles", "background.process.mean_on_cycles"),
    ("background.process.mean_idle_cycles", "background.process.mean_off_cycles"),
];

/// Words that a field (by its new path) may be, old and new.
pub const RENAMED_WORDS: &[(&str, &str, &str)] = &[("network.nic.ejection_port", "same_controller", "same_port")];

/// What the field at `path` is called now, if it was renamed.
pub(super) fn renamed_field(path: &str) -> Option<String> {
    RENAMED_FIELDS.iter().find_map(|(old, new)| {
        let below = path.strip_prefix(old)?;
        (below.is_empty() || below.starts_with('.')).then(|| format!("{new}{below}"))
    })
}

/// What the word of the field at `path` is now, if it was renamed.
pub(super) fn renamed_word(path: &str, word: &str) -> Option<&'static str> {
    RENAMED_WORDS.iter().find(|(at, old, _)| *at == path && *old == word).map(|(_, _, new)| *new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_moves_with_its_table() {
        assert_eq!(renamed_field("network.terminal.controllers").unwrap(), "network.nic.ports");
        assert_eq!(renamed_field("network.terminal.injection_vc").unwrap(), "network.nic.injection_vc");
        assert_eq!(renamed_field("network.terminals"), None);
    }
}
