//! Long work while Python runs on: signals are seen, and progress told, while a thread of its own does the work.

use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
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
