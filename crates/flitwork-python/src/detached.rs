//! Long work while Python runs on: signals are seen, and progress told, while a thread of its own does the work.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Time between two looks at Python's signals and the caller's progress function.
const LOOK: Duration = Duration::from_millis(50);
/// How long work that is given up may take to notice it; after that its thread ends by itself, unattended.
const GRACE: Duration = Duration::from_millis(200);
/// Stack of the thread: the largest routers are megabytes, and are made there \[bytes].
const STACK: usize = 64 << 20;

/// Does `work` without the GIL and returns what it returns. Meanwhile Python sees its signals, and `look` is called,
/// every 50 ms; where either raises, `on_interrupt` is called and the exception is returned at once.
///
/// `work` must not touch Python: when it has been given up, the interpreter may end before it does.
pub fn with_signals<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
    mut look: impl FnMut(Python<'_>) -> PyResult<()> + Send,
    on_interrupt: impl FnOnce() + Send,
) -> PyResult<T> {
    py.detach(move || {
        let (done, result) = channel();
        // Where nobody listens any more the work was given up.
        let worker = thread::Builder::new().stack_size(STACK).spawn(move || drop(done.send(work())))?;
        loop {
            match result.recv_timeout(LOOK) {
                Ok(value) => return Ok(value),
                Err(RecvTimeoutError::Disconnected) => {
                    // It ended without a result: it panicked.
                    std::panic::resume_unwind(worker.join().err().unwrap_or_else(|| Box::new("no result")))
                }
                Err(RecvTimeoutError::Timeout) => {
                    let looked = Python::attach(|py| py.check_signals().and_then(|()| look(py)));
                    if let Err(raised) = looked {
                        on_interrupt();
                        let _ = result.recv_timeout(GRACE);
                        return Err(raised);
                    }
                }
            }
        }
    })
}

/// Does `work` without the GIL, for work that reports nothing and cannot be stopped; otherwise as [`with_signals`].
pub fn without_gil<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    with_signals(py, work, |_| Ok(()), || ())
}

/// [`with_signals`] for work that returns what it has when it is told to `stop`: where Python raises, that comes beside
/// the result. A signal after that gives the work up.
pub fn until_stopped<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
    mut look: impl FnMut(Python<'_>) -> PyResult<()> + Send,
    stop: impl Fn() + Send,
) -> PyResult<(T, Option<PyErr>)> {
    py.detach(move || {
        let worker = thread::Builder::new().stack_size(STACK).spawn(work)?;
        let mut raised = None;
        while !worker.is_finished() {
            thread::sleep(LOOK / 10);
            if raised.is_some() {
                Python::attach(|py| py.check_signals())?;
            } else if let Err(first) = Python::attach(|py| py.check_signals().and_then(|()| look(py))) {
                raised = Some(first);
                stop();
            }
        }
        match worker.join() {
            Ok(value) => Ok((value, raised)),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// What a search returned, and why it ended early, if it did.
pub struct Searched<T> {
    /// The result: the best so far where it was stopped.
    pub found: T,
    /// Python saw Ctrl-C.
    pub interrupted: bool,
    /// It was told to stop: by Ctrl-C, or by `progress`.
    pub stopped: bool,
}

/// [`until_stopped`] for a search that notes how far it is, in a form that becomes the arguments of `progress`: that is
/// called with the latest many times a second, and returns whether to go on. The search gets the function to note it
/// with, which returns the same.
pub fn search<T, S>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&mut dyn FnMut(S) -> bool) -> T + Send + 'static,
) -> PyResult<Searched<T>>
where
    T: Send + 'static,
    S: for<'py> IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
    S: Copy + Send + 'static,
{
    let stop = Arc::new(AtomicBool::new(false));
    let latest: Arc<Mutex<Option<S>>> = Arc::default();
    let (told, noted) = (stop.clone(), latest.clone());
    let work = move || {
        work(&mut |now| {
            *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
            !told.load(Ordering::Relaxed)
        })
    };
    let asked = stop.clone();
    let look = move |py: Python<'_>| {
        let now = *latest.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((progress, now)) = progress.as_ref().zip(now) else { return Ok(()) };
        if !progress.call1(py, now.into_pyobject(py)?)?.is_truthy(py)? {
            asked.store(true, Ordering::Relaxed);
        }
        Ok(())
    };
    let (found, raised) = until_stopped(py, work, look, || stop.store(true, Ordering::Relaxed))?;
    let interrupted = raised.is_some();
    match raised.filter(|raised| !raised.is_instance_of::<PyKeyboardInterrupt>(py)) {
        Some(other) => Err(other),
        None => Ok(Searched { found, interrupted, stopped: stop.load(Ordering::Relaxed) }),
    }
}
