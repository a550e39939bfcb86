//! Hands values to threads and takes them back, again and again.
//!
//! Each thread has a seat, where it finds its value at the beginning of a round and leaves it at the end. The gate says
//! that a new round has begun. Rounds are short, so whoever waits spins first; then it lets others go first, and a
//! thread that has waited long sleeps until the gate opens. The value is behind a lock, so two threads never have it at
//! once; what the orderings below have to see to is that no thread misses the opening of the gate, or its last one.
//! `tests/handoff` explores all orders of these steps.

use super::sync::{
    Arc, AtomicBool, AtomicU64, AtomicUsize, JoinHandle, Mutex, Ordering, SPINS, YIELDS, fence, park, spawn, spin_loop,
    yield_now,
};

/// Where a thread finds its value and leaves it.
struct Seat<T> {
    value: Mutex<Option<T>>,
    asleep: AtomicBool,
}

/// What all threads see.
struct Table<T> {
    /// Rounds begun.
    gate: AtomicU64,
    /// Threads that have come to the end of this one.
    done: AtomicUsize,
    closing: AtomicBool,
    seats: Vec<Seat<T>>,
}

impl<T> Table<T> {
    /// Waits until more than `seen` rounds have begun. How many have.
    fn wait(&self, seat: &Seat<T>, seen: u64) -> u64 {
        for turn in 0..SPINS + YIELDS {
            let gate = self.gate.load(Ordering::Acquire);
            if gate != seen {
                return gate;
            }
            if turn < SPINS { spin_loop() } else { yield_now() }
        }
        loop {
            // Said before the last look: whoever opens the gate after that look wakes this thread. The fence between
            // the two, and the one in `open`, are why one of the two threads sees what the other one has written.
            seat.asleep.store(true, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            let gate = self.gate.load(Ordering::Acquire);
            if gate != seen {
                seat.asleep.store(false, Ordering::Relaxed);
                return gate;
            }
            park();
        }
    }

    /// What the thread at a seat does until the table is closed.
    fn serve(&self, seat: &Seat<T>, mut work: impl FnMut(&mut T)) {
        let mut seen = 0;
        loop {
            seen = self.wait(seat, seen);
            if self.closing.load(Ordering::Relaxed) {
                return;
            }
            // Counted even if it panics, so that nobody waits for ever; the lock is poisoned then.
            let _counted = Counted(&self.done);
            if let Ok(mut place) = seat.value.lock() {
                if let Some(value) = place.as_mut() {
                    work(value);
                }
            }
        }
    }
}

/// Adds one when it goes.
struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// Threads, and the table where they get their values.
pub struct Handoff<T> {
    table: Arc<Table<T>>,
    /// By seat; `None` once it has panicked.
    threads: Vec<Option<JoinHandle<()>>>,
}

impl<T: Send + 'static> Handoff<T> {
    /// A thread for each of these, that does it with every value it is handed.
    pub fn new<W: FnMut(&mut T) + Send + 'static>(works: impl IntoIterator<Item = W>) -> Self {
        let works: Vec<W> = works.into_iter().collect();
        let seat = || Seat { value: Mutex::new(None), asleep: AtomicBool::new(false) };
        let table = Arc::new(Table {
            gate: AtomicU64::new(0),
            done: AtomicUsize::new(0),
            closing: AtomicBool::new(false),
            seats: works.iter().map(|_| seat()).collect(),
        });
        let thread = |(number, work)| {
            let table = Arc::clone(&table);
            Some(spawn(move || table.serve(&table.seats[number], work)))
        };
        let threads = works.into_iter().enumerate().map(thread).collect();
        Handoff { table, threads }
    }

    /// Begins a round: each thread gets one of `values`; there are as many.
    pub fn begin(&mut self, values: impl Iterator<Item = T>) {
        for (value, seat) in values.zip(&self.table.seats) {
            if let Ok(mut place) = seat.value.lock() {
                *place = Some(value);
            }
        }
        self.table.done.store(0, Ordering::Relaxed);
        self.open();
    }

    /// Waits until all threads have done, and hands the values to `back`, in order.
    pub fn end(&mut self, mut back: impl FnMut(T)) {
        for turn in 0u32.. {
            if self.table.done.load(Ordering::Acquire) == self.threads.len() {
                break;
            }
            if turn < SPINS { spin_loop() } else { yield_now() }
        }
        for number in 0..self.threads.len() {
            let value = self.table.seats[number].value.lock().map(|mut place| place.take()).ok();
            match value {
                Some(value) => value.into_iter().for_each(&mut back),
                None => self.panic_as(number),
            }
        }
    }

    /// A thread has panicked: so does this one, with the same words.
    fn panic_as(&mut self, number: usize) -> ! {
        match self.threads[number].take().map(JoinHandle::join) {
            Some(Err(payload)) => std::panic::resume_unwind(payload),
            _ => unreachable!("a thread that leaves a poisoned lock has panicked"),
        }
    }
}

impl<T> Handoff<T> {
    /// Opens the gate, and wakes who sleeps.
    fn open(&self) {
        self.table.gate.fetch_add(1, Ordering::Release);
        fence(Ordering::SeqCst);
        for (seat, thread) in self.table.seats.iter().zip(&self.threads) {
            if let Some(thread) = thread.as_ref().filter(|_| seat.asleep.load(Ordering::Relaxed)) {
                thread.thread().unpark();
            }
        }
    }
}

impl<T> Drop for Handoff<T> {
    fn drop(&mut self) {
        self.table.closing.store(true, Ordering::Relaxed);
        self.open();
        // A thread that has panicked has said so.
        self.threads.drain(..).flatten().for_each(|thread| drop(thread.join()));
    }
}
