//! The threads that advance the parts of a network, one cycle at a time.
//!
//! The thread that runs the simulation advances the first part; each of the others has a seat, where it finds its part at the beginning of a
//! cycle and leaves it at the end. The gate says that a new cycle has begun. Cycles are short, so whoever waits spins
//! first; then it lets others go first, and a thread that has waited long sleeps until the gate opens.

use super::pace::Pace;
use super::{EPOCH, exchange};
use crate::kernel::simulation::{Attached, Simulation};
use crate::measure::Arrival;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often a thread looks before it lets others go first, and before it sleeps.
const SPINS: u32 = 1000;
const YIELDS: u32 = 100;

/// A part that is to be advanced by cycle `now`; the workload starts in cycle `start`.
struct Work {
    part: Attached,
    now: u64,
    start: u64,
}

/// Where a thread finds its work and leaves it.
#[derive(Default)]
struct Seat {
    work: Mutex<Option<Work>>,
    asleep: AtomicBool,
}

/// What all threads see.
struct Table {
    /// Cycles begun.
    gate: AtomicU64,
    /// Threads that have come to the end of theirs.
    done: AtomicUsize,
    closing: AtomicBool,
    seats: Vec<Seat>,
}

impl Table {
    /// Waits until more than `seen` cycles have begun. How many have.
    fn wait(&self, seat: &Seat, seen: u64) -> u64 {
        for turn in 0u32.. {
            let gate = self.gate.load(Ordering::SeqCst);
            if gate != seen {
                return gate;
            }
            if turn < SPINS {
                std::hint::spin_loop();
            } else if turn < SPINS + YIELDS {
                std::thread::yield_now();
            } else {
                break;
            }
        }
        loop {
            // Said before the last look: whoever opens the gate after that look wakes this thread.
            seat.asleep.store(true, Ordering::SeqCst);
            let gate = self.gate.load(Ordering::SeqCst);
            if gate != seen {
                seat.asleep.store(false, Ordering::SeqCst);
                return gate;
            }
            std::thread::park();
        }
    }

    /// What the thread at a seat does until the team is closed.
    fn serve(&self, seat: &Seat) {
        let (mut seen, mut arrived) = (0, Vec::new());
        loop {
            seen = self.wait(seat, seen);
            if self.closing.load(Ordering::SeqCst) {
                return;
            }
            // Counted even if it panics, so that nobody waits for ever; the lock is poisoned then.
            let _counted = Counted(&self.done);
            if let Ok(mut work) = seat.work.lock() {
                if let Some(Work { part, now, start }) = work.as_mut() {
                    part.cycle(*now, *start, &mut arrived);
                }
            }
        }
    }
}

/// Adds one when it goes.
struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// The threads of a run.
pub(in crate::kernel) struct Team {
    table: Arc<Table>,
    threads: Vec<JoinHandle<()>>,
    pace: Pace,
    arrived: Vec<Arrival>,
}

impl Team {
    /// So many threads, the calling one among them; `epoch`: see [`EPOCH`].
    pub fn new(threads: usize, epoch: Duration) -> Self {
        debug_assert!(epoch <= EPOCH);
        let table = Arc::new(Table {
            gate: AtomicU64::new(0),
            done: AtomicUsize::new(0),
            closing: AtomicBool::new(false),
            seats: (1..threads).map(|_| Seat::default()).collect(),
        });
        let thread = |number: usize| {
            let table = Arc::clone(&table);
            std::thread::spawn(move || table.serve(&table.seats[number]))
        };
        let threads = (0..threads - 1).map(thread).collect();
        Team { table, threads, pace: Pace::new(epoch), arrived: Vec::new() }
    }

    /// One cycle of all parts; `flit_hops` before it.
    fn cycle(&mut self, parts: &mut Vec<Attached>, (now, start): (u64, u64), flit_hops: u64) {
        if self.pace.together(flit_hops) {
            self.side_by_side(parts, now, start);
        } else {
            parts.iter_mut().for_each(|part| part.cycle(now, start, &mut self.arrived));
        }
        exchange(parts);
    }

    fn side_by_side(&mut self, parts: &mut Vec<Attached>, now: u64, start: u64) {
        for (part, seat) in parts.drain(1..).zip(&self.table.seats) {
            if let Ok(mut work) = seat.work.lock() {
                *work = Some(Work { part, now, start });
            }
        }
        self.table.done.store(0, Ordering::SeqCst);
        self.open();
        parts[0].cycle(now, start, &mut self.arrived);
        for turn in 0u32.. {
            if self.table.done.load(Ordering::SeqCst) == self.threads.len() {
                break;
            }
            if turn < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
        for number in 0..self.threads.len() {
            let work = self.table.seats[number].work.lock().map(|mut work| work.take()).ok();
            match work {
                Some(work) => parts.extend(work.map(|work| work.part)),
                None => self.panic_as(number),
            }
        }
    }

    /// Opens the gate, and wakes who sleeps.
    fn open(&self) {
        self.table.gate.fetch_add(1, Ordering::SeqCst);
        for (seat, thread) in self.table.seats.iter().zip(&self.threads) {
            if seat.asleep.swap(false, Ordering::SeqCst) {
                thread.thread().unpark();
            }
        }
    }

    /// A thread has panicked: so does this one, with the same words.
    fn panic_as(&mut self, number: usize) -> ! {
        match self.threads.remove(number).join() {
            Err(payload) => std::panic::resume_unwind(payload),
            Ok(()) => unreachable!("a thread that leaves a poisoned lock has panicked"),
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.table.closing.store(true, Ordering::SeqCst);
        self.open();
        // A thread that has panicked has said so.
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

impl Simulation {
    /// One cycle of a network in parts.
    pub(in crate::kernel) fn cycle_of_parts(&mut self) {
        let Simulation { now, networks, team, limits, .. } = self;
        let flit_hops = networks.iter().map(|part| part.network.flit_hops()).sum();
        if let Some(team) = team {
            team.cycle(networks, (*now, limits.start), flit_hops);
        }
    }
}
