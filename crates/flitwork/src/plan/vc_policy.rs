//! The checks of the VC policy: enough virtual channels, and one for each service level.

use super::{Params, needs_dateline};
use crate::error::{Error, Result};
use crate::routing::{MAX_VCS, Routing};
use crate::spec::{NetworkSpec, RouterSpec, ServiceLevel, VcPolicy};
use crate::topology::Fabric;

/// Whether there are as many VCs as the policy needs, and each service level has one.
pub(super) fn check(network: &NetworkSpec, fabric: &Fabric, routing: &Routing, params: &Params) -> Result<()> {
    let (router, wraps) = (&network.router, needs_dateline(fabric));
    let policy = router.vc_policy;
    check_service_levels(network)?;
    if policy == VcPolicy::Dateline {
        if wraps && router.vcs < 2 && routing.at_source().is_some() {
            return Err(Error::config(
                "network.router.vcs",
                router.vcs,
                "at least 2: the dateline of a wrapped dimension needs two classes",
                "use vcs = 2, or a mesh",
            ));
        }
        return Ok(());
    }
    let needed = router.private_vcs(params.terminals, params.ports) * if wraps { 2 } else { 1 };
    if params.vcs >= needed {
        return Ok(());
    }
    let each = match policy {
        VcPolicy::Destination => "destination",
        VcPolicy::ServiceLevel => "entry of sl_to_vl up to the largest",
        VcPolicy::VirtualOutputQueues | VcPolicy::Dateline => "port of a router",
    };
    let class = if wraps { " and dateline class" } else { "" };
    let hint = format!("set vcs = {needed} (at most {MAX_VCS}), or vc_policy = \"dateline\"");
    let expected = format!("at least {needed}: one VC for each {each}{class}");
    Err(Error::config("network.router.vcs", router.vcs, expected, hint))
}

/// A map of service levels where the policy needs it, and nowhere else.
fn check_service_levels(network: &NetworkSpec) -> Result<()> {
    let RouterSpec { vc_policy, sl_to_vl, vcs, .. } = &network.router;
    if *vc_policy == VcPolicy::ServiceLevel {
        let path = "network.router.sl_to_vl";
        if sl_to_vl.is_empty() {
            let expected = "the virtual channel of each service level: vc_policy = \"service_level\" needs it";
            return Err(Error::config(path, "nothing", expected, "for example sl_to_vl = [0, 1, 2, 3]"));
        }
        if let Some(at) = sl_to_vl.iter().position(|vl| vl >= vcs) {
            let expected = format!("a virtual channel below vcs = {vcs}");
            return Err(Error::config(format!("{path}[{at}]"), sl_to_vl[at], expected, "they count from 0"));
        }
        return Ok(());
    }
    let hint = "set vc_policy = \"service_level\", or leave it out";
    let expected = format!("nothing: under vc_policy = \"{}\" packets have no service level", vc_policy.name());
    if !sl_to_vl.is_empty() {
        return Err(Error::config("network.router.sl_to_vl", format!("{sl_to_vl:?}"), expected, hint));
    }
    if network.nic.service_level != ServiceLevel::default() {
        let value = format!("{:?}", network.nic.service_level).to_lowercase();
        return Err(Error::config("network.nic.service_level", value, expected, hint));
    }
    Ok(())
}
