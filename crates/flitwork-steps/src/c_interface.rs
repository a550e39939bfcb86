//! The C interface of the all-to-alls, `mpi/steps.h`. It keeps nothing but what a handle points to, and no panic leaves
//! it.
//!
//! Its symbols have their names only with the feature `c`, in the static library: nothing else should export them.
#![allow(unsafe_code, non_camel_case_types)]

mod texts;

use crate::exchange::Exchange;
use crate::{BitOrder, Error, MAX_DIMS, Operation, RankGrid, Result, Servers, Transfer, World, find};
use std::ffi::{CStr, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::slice;

/// Nothing is sent, or received.
const NOBODY: u32 = u32::MAX;
/// Most ranks: what is kept of each stays far below any memory.
const MOST_RANKS: u32 = 1 << 24;

/// `flitwork_world` of the header.
#[repr(C)]
pub struct flitwork_world {
    ranks: u32,
    server_of: *const u32,
    dims: u32,
    sizes: *const u32,
    wraps: *const u8,
    radix: u32,
    leaders: u32,
    descending: u32,
}

/// `flitwork_step` of the header.
#[repr(C)]
pub struct flitwork_step {
    to: u32,
    from: u32,
    send_count: u64,
    receive_count: u64,
    send: *const u64,
    receive: *const u64,
    waits: u32,
}

/// An algorithm, and the blocks of the step that was asked for last.
pub struct flitwork_steps {
    exchange: Exchange,
    sent: Vec<u64>,
    received: Vec<u64>,
}

/// Makes the algorithm, or says in `error` why not.
///
/// # Safety
/// As the header says: strings end in 0, arrays are as long as said, `error` has `error_size` bytes. Each of them may
/// be null.
#[cfg_attr(feature = "c", unsafe(no_mangle))]
pub unsafe extern "C" fn flitwork_steps_new(
    algorithm: *const c_char,
    world: *const flitwork_world,
    error: *mut c_char,
    error_size: usize,
) -> *mut flitwork_steps {
    // SAFETY: what the caller promises.
    let made = catch_unwind(|| unsafe { new(algorithm, world) });
    let fault = match made {
        Ok(Ok(steps)) => return Box::into_raw(Box::new(steps)),
        Ok(Err(fault)) => fault.to_string(),
        Err(_) => "the algorithm cannot be made for this world: a number in it is too large".to_string(),
    };
    // SAFETY: the caller has `error_size` bytes there.
    unsafe { say(fault.strip_prefix("workload.").unwrap_or(&fault), error, error_size) };
    ptr::null_mut()
}

/// # Safety
/// `steps` is null, or was made by [`flitwork_steps_new`] and not freed since.
#[cfg_attr(feature = "c", unsafe(no_mangle))]
pub unsafe extern "C" fn flitwork_steps_free(steps: *mut flitwork_steps) {
    if !steps.is_null() {
        // SAFETY: it came from a box, and the caller gives it back.
        drop(unsafe { Box::from_raw(steps) });
    }
}

/// Number of steps; 0 for no algorithm.
///
/// # Safety
/// `steps` is null or a live handle.
#[cfg_attr(feature = "c", unsafe(no_mangle))]
pub unsafe extern "C" fn flitwork_steps_count(steps: *const flitwork_steps) -> u32 {
    // SAFETY: what the caller promises.
    unsafe { steps.as_ref() }.map_or(0, |steps| steps.exchange.steps())
}

/// What a rank does in a step; -1 where there is no such rank or step.
///
/// # Safety
/// `steps` is null or a live handle that no other thread uses; `out` is null or may be written to.
#[cfg_attr(feature = "c", unsafe(no_mangle))]
pub unsafe extern "C" fn flitwork_steps_at(
    steps: *mut flitwork_steps,
    rank: u32,
    step: u32,
    out: *mut flitwork_step,
) -> c_int {
    // SAFETY: what the caller promises.
    let (Some(steps), false) = (unsafe { steps.as_mut() }, out.is_null()) else { return -1 };
    if rank >= steps.exchange.ranks() || step >= steps.exchange.steps() {
        return -1;
    }
    let Ok(found) = catch_unwind(AssertUnwindSafe(|| steps.at(rank, step))) else { return -1 };
    // SAFETY: it is not null; the caller may have left it uninitialised, so it is written, not assigned.
    unsafe { out.write(found) };
    0
}

/// Whether each block goes as a message of its own; 0 for no algorithm.
///
/// # Safety
/// `steps` is null or a live handle.
#[cfg_attr(feature = "c", unsafe(no_mangle))]
pub unsafe extern "C" fn flitwork_steps_are_direct(steps: *const flitwork_steps) -> c_int {
    // SAFETY: what the caller promises.
    unsafe { steps.as_ref() }.map_or(0, |steps| c_int::from(steps.exchange.is_direct()))
}

/// The name of algorithm number `index`; null past the last.
#[cfg_attr(feature = "c", unsafe(no_mangle))]
pub extern "C" fn flitwork_steps_name(index: u32) -> *const c_char {
    texts::of(index).map_or(ptr::null(), |(name, _)| name.as_ptr())
}

/// The summary of algorithm number `index`; null past the last.
#[cfg_attr(feature = "c", unsafe(no_mangle))]
pub extern "C" fn flitwork_steps_summary(index: u32) -> *const c_char {
    texts::of(index).map_or(ptr::null(), |(_, summary)| summary.as_ptr())
}

/// Whether an algorithm has a parameter, such as `radix`; 0 for one that is not known.
///
/// # Safety
/// Both are null or end in 0.
#[cfg_attr(feature = "c", unsafe(no_mangle))]
pub unsafe extern "C" fn flitwork_steps_has(algorithm: *const c_char, parameter: *const c_char) -> c_int {
    if algorithm.is_null() || parameter.is_null() {
        return 0;
    }
    // SAFETY: not null, so they end in 0.
    let (algorithm, parameter) = unsafe { (CStr::from_ptr(algorithm), CStr::from_ptr(parameter)) };
    let row = find(Operation::AllToAll, &algorithm.to_string_lossy());
    c_int::from(row.is_ok_and(|row| row.parameters.contains(&&*parameter.to_string_lossy())))
}

/// The version of flitwork.
#[cfg_attr(feature = "c", unsafe(no_mangle))]
pub extern "C" fn flitwork_steps_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

impl flitwork_steps {
    fn at(&mut self, rank: u32, step: u32) -> flitwork_step {
        let at_step = self.exchange.step(rank, step);
        self.sent = listed(at_step.send.as_ref());
        self.received = listed(at_step.receive.as_ref());
        flitwork_step {
            to: at_step.send.map_or(NOBODY, |send| send.peer),
            from: at_step.receive.map_or(NOBODY, |receive| receive.peer),
            send_count: self.sent.len() as u64,
            receive_count: self.received.len() as u64,
            send: self.sent.as_ptr(),
            receive: self.received.as_ptr(),
            waits: u32::from(at_step.waits),
        }
    }
}

fn listed(transfer: Option<&Transfer>) -> Vec<u64> {
    transfer.map_or_else(Vec::new, |transfer| transfer.blocks.list())
}

/// # Safety
/// As [`flitwork_steps_new`].
unsafe fn new(algorithm: *const c_char, world: *const flitwork_world) -> Result<flitwork_steps> {
    if algorithm.is_null() {
        return Err(Error::config("algorithm", "NULL", "the name of an all-to-all", ""));
    }
    // SAFETY: not null, so it ends in 0.
    let name = unsafe { CStr::from_ptr(algorithm) }.to_string_lossy();
    // SAFETY: null, or a world.
    let Some(given) = (unsafe { world.as_ref() }) else {
        return Err(Error::config("world", "NULL", "what is known of the communicator", ""));
    };
    if !(2..=MOST_RANKS).contains(&given.ranks) {
        return Err(Error::config("ranks", given.ranks, format!("2 to {MOST_RANKS}"), ""));
    }
    let servers = match given.server_of.is_null() {
        true => Servers::one_each(given.ranks),
        // SAFETY: not null, so it has a number for each rank.
        false => Servers::of_terminals(unsafe { slice::from_raw_parts(given.server_of, given.ranks as usize) }),
    };
    // SAFETY: as the caller of this function.
    let grid = unsafe { grid(given) }?;
    let default = World::on(servers);
    let world = World {
        radix: if given.radix == 0 { default.radix } else { given.radix },
        leaders: if given.leaders == 0 { default.leaders } else { given.leaders },
        order: if given.descending == 0 { BitOrder::Ascending } else { BitOrder::Descending },
        ..default
    };
    let exchange = Exchange::new(&name, world, grid.as_ref())?;
    Ok(flitwork_steps { exchange, sent: Vec::new(), received: Vec::new() })
}

/// # Safety
/// `sizes` and `wraps` are null or have `dims` entries.
unsafe fn grid(given: &flitwork_world) -> Result<Option<RankGrid>> {
    let dims = given.dims as usize;
    if dims == 0 {
        return Ok(None);
    }
    if dims > MAX_DIMS {
        return Err(Error::config("dims", dims, format!("0 to {MAX_DIMS} dimensions"), ""));
    }
    if given.sizes.is_null() || given.wraps.is_null() {
        let field = if given.sizes.is_null() { "sizes" } else { "wraps" };
        return Err(Error::config(field, "NULL", format!("a number for each of {dims} dimensions"), ""));
    }
    // SAFETY: not null, so they have `dims` entries.
    let (sizes, wraps) =
        unsafe { (slice::from_raw_parts(given.sizes, dims), slice::from_raw_parts(given.wraps, dims)) };
    let routers = sizes.iter().try_fold(1u32, |product, &size| product.checked_mul(size));
    if routers != Some(given.ranks) {
        let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
        let expected = format!("a router for each of {} ranks", given.ranks);
        return Err(Error::config("sizes", sizes.join("x"), expected, "leave the grid out where it has others"));
    }
    let wraps: Vec<bool> = wraps.iter().map(|&wraps| wraps != 0).collect();
    Ok(Some(RankGrid::new(sizes, &wraps)))
}

/// Writes as much of a text as there is room for, and a 0.
///
/// # Safety
/// `to` is null or has `size` bytes.
unsafe fn say(text: &str, to: *mut c_char, size: usize) {
    if to.is_null() || size == 0 {
        return;
    }
    let length = (0..size.min(text.len() + 1)).rfind(|&end| text.is_char_boundary(end)).unwrap_or(0);
    // SAFETY: `length` is below `size`.
    unsafe {
        ptr::copy_nonoverlapping(text.as_ptr().cast(), to, length);
        to.add(length).write(0);
    }
}
