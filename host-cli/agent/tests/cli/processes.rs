//! Processes of the program under test: signals to it, and what it started.

use std::fs;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

/// The longest time that a test waits for a process to begin or to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sends a signal to a child that was not waited for.
#[expect(
    unsafe_code,
    reason = "the standard library sends no other signal than SIGKILL"
)]
pub(crate) fn send(child: &Child, signal: i32) {
    // SAFETY: `kill` has no memory effects; the number is that of a child that was not waited for.
    let sent = unsafe { libc::kill(child.id().cast_signed(), signal) };
    assert_eq!(sent, 0);
}

/// Returns the command lines that contain an argument with a text. A process that ended has no command line.
fn with(text: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("the processes").flatten();
    let lines = processes.filter_map(|it| fs::read(it.path().join("cmdline")).ok());
    let lines = lines.map(|it| String::from_utf8_lossy(&it).replace('\0', " "));
    lines.filter(|it| it.contains(text)).collect()
}

/// Waits until a program runs with an argument that contains a text.
#[track_caller]
pub(crate) fn await_start(program: &str, text: &str) {
    let began = Instant::now();
    while !with(text).iter().any(|it| it.starts_with(program)) {
        assert!(
            began.elapsed() < PATIENCE,
            "{program} {text} is not started"
        );
        thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until no process has an argument that contains a text. The system may take a moment to end one that
/// was killed.
#[track_caller]
pub(crate) fn assert_gone(text: &str) {
    let began = Instant::now();
    loop {
        let left = with(text);
        if left.is_empty() {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(3), "{left:#?}");
        thread::sleep(Duration::from_millis(20));
    }
}
