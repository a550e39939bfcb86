//! What hosts do to messages: rates, checked and exact.

use crate::error::{Error, Result};
use crate::schedule::Rate;
use crate::spec::HostSpec;

/// How fast messages are copied within a terminal, if they are.
pub(super) fn copy_rate(host: &HostSpec) -> Result<Option<Rate>> {
    rate("host.copy_flits_per_cycle", host.copy_flits_per_cycle, "leave it out: messages go through the router then")
}

/// How fast messages are read before they are sent, if that takes time.
pub(super) fn read_rate(host: &HostSpec) -> Result<Option<Rate>> {
    rate("host.read_flits_per_cycle", host.read_flits_per_cycle, "leave it out: memory takes no time then")
}

/// How fast a rank copies what it has received, if it does.
pub(super) fn receive_copy_rate(host: &HostSpec) -> Result<Option<Rate>> {
    let hint = "leave it out: nothing is copied then";
    rate("host.receive_copy_flits_per_cycle", host.receive_copy_flits_per_cycle, hint)
}

/// A rate as a fraction.
fn rate(path: &str, flits_per_cycle: Option<f64>, hint: &str) -> Result<Option<Rate>> {
    let Some(given) = flits_per_cycle else { return Ok(None) };
    match Rate::of(given) {
        None => Err(Error::config(path, given, Rate::RANGE, hint)),
        rate => Ok(rate),
    }
}
