//! The ends of channels: flits and credits that arrive, injection from terminals and ejection to them.

mod deliver;
mod ejection;
mod injection;
mod injection_created;

pub(crate) use injection::Injection;
