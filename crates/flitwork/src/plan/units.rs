//! How many flits a message has.

use crate::error::{Error, Result};
use crate::schedule::Units;
use crate::spec::{MAX_MESSAGE_BYTES, SimulationSpec, WorkloadSpec};

/// Length of a message that says none \[flits].
pub(super) const MESSAGE_FLITS: u32 = 100;

/// The units of a plan: where packets have headers, messages in bytes have one for each of their packets.
pub(super) fn with_headers(spec: &SimulationSpec, units: Units) -> Result<Units> {
    let header = spec.network.units.header_bytes;
    let longest = match spec.workload {
        WorkloadSpec::AllToAll { packet_flits, .. }
        | WorkloadSpec::Collective { packet_flits, .. }
        | WorkloadSpec::Schedule { packet_flits, .. }
        | WorkloadSpec::Timetable { packet_flits, .. }
        | WorkloadSpec::Programs { packet_flits, .. } => packet_flits,
        _ => return Ok(units),
    };
    if header == 0 {
        return Ok(units);
    }
    let Some(flit_bytes) = units.flit_bytes() else {
        let expected = "a value, as network.units.header_bytes is in bytes";
        return Err(Error::config("network.units.flit_bytes", "nothing", expected, "for example flit_bytes = 16"));
    };
    if longest == 0 {
        let expected = format!("a longest packet, as each begins with a header of {header} bytes");
        return Err(Error::config("workload.packet_flits", "nothing", expected, "or packet_bytes, with the header"));
    }
    units.with_headers(longest, header).ok_or_else(|| {
        let most = u64::from(longest) * u64::from(flit_bytes);
        let expected = format!("less than the longest packet, {most} bytes");
        Error::config("network.units.header_bytes", header, expected, "use longer packets")
    })
}

/// The flits of a message whose length is said in flits, in bytes or not at all.
pub(super) fn message_flits(flits: Option<u32>, bytes: Option<u64>, units: &Units) -> Result<u64> {
    let Some(bytes) = bytes else { return Ok(u64::from(flits.unwrap_or(MESSAGE_FLITS))) };
    let path = "workload.message_bytes";
    if flits.is_some() {
        let expected = "nothing beside workload.message_flits";
        return Err(Error::config(path, bytes, expected, "say the length once: take one of the two out"));
    }
    if !(1..=MAX_MESSAGE_BYTES).contains(&bytes) {
        return Err(Error::config(path, bytes, "1 to 2^40 bytes", ""));
    }
    units.flits(bytes).ok_or_else(|| {
        let hint = "say how many bytes a flit carries, for example flit_bytes = 16; or give message_flits";
        Error::config("network.units.flit_bytes", "nothing", "a value, as workload.message_bytes is in bytes", hint)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(flit_bytes: Option<u32>) -> Units {
        Units::new(flit_bytes, None).unwrap()
    }

    #[test]
    fn a_message_is_as_many_flits_as_it_needs() {
        let flits = |bytes| message_flits(None, Some(bytes), &units(Some(16))).unwrap();
        assert_eq!([1, 16, 17, 1 << 40].map(flits), [1, 1, 2, 1 << 36]);
        assert_eq!(message_flits(Some(7), None, &units(None)).unwrap(), 7);
        assert_eq!(message_flits(None, None, &units(None)).unwrap(), 100);
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let fault =
            |flits, bytes, flit_bytes| message_flits(flits, Some(bytes), &units(flit_bytes)).unwrap_err().to_string();
        assert!(fault(Some(7), 5, Some(16)).starts_with("workload.message_bytes = 5: expected nothing beside"));
        assert!(fault(None, 0, Some(16)).starts_with("workload.message_bytes = 0: expected 1 to 2^40"));
        assert!(fault(None, 5, None).starts_with("network.units.flit_bytes = nothing"));
    }
}
