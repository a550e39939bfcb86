//! flitwork simulates interconnection networks flit by flit, bounds what they can do, and builds the schedules of
//! collective communication that come near the bound.
//!
//! A network and a workload are plain values ([`spec`]). [`Plan::new`] resolves and validates them; [`simulate`] runs
//! the plan; [`plan_bound`] says what no schedule can beat.
//!
//! ```
//! let spec = flitwork::spec::from_json(
//!     r#"{"network": {"topology": {"kind": "torus", "size": [5, 5]}},
//!         "workload": {"kind": "all_to_all", "algorithm": "a2at"}}"#,
//! )?;
//! let plan = flitwork::Plan::new(&spec)?;
//! let result = flitwork::simulate(&plan, &mut |_| true)?;
//! let flitwork::PlanBound::Completion(bound) = flitwork::plan_bound(&plan)? else { unreachable!() };
//! assert!(result.completion_cycles as f64 >= bound.tightest_cycles);
//! # Ok::<(), flitwork::Error>(())
//! ```

pub mod bound;
pub mod collective;
pub mod compat;
mod component;
mod components;
mod error;
pub mod host;
mod kernel;
pub mod measure;
mod mix;
pub mod pace;
mod plan;
mod router;
pub mod routing;
mod run;
pub mod schedule;
pub mod spec;
pub mod synthesis;
mod terminal;
mod timers;
pub mod timetable;
pub mod topology;
pub mod traffic;
mod transit;
mod unchecked;
pub mod units;

pub use components::components_json;
pub use error::{Error, Result};
pub use kernel::{IdealResult, Pause, Rules, Simulation, run_goal};
pub use plan::{ChannelTable, FixedRoutes, FoundTimetable, Params, Plan, SynthesisTarget, Usable, Workload, usable};
pub use run::{PlanBound, Progress, loads_are_known, plan_any_routing, plan_bound, simulate};
