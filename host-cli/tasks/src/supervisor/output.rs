//! The output of an app: to `run.log`, and line by line to the expression that says it is ready.

use super::redactor::Redactor;
use crate::limits::{MAX_LINE_BYTES, MAX_LOG_BYTES};
use regex::bytes::Regex;
use std::fs::File;
use std::io::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::oneshot;

/// Size of the buffer, in bytes.
const BUFFER: usize = 16 << 10;

/// What the log ends with when the rest is dropped.
const CUT: &[u8] = b"\n[run.log has reached its limit; the rest is not recorded]\n";

/// A part of the output that a caller waits for.
pub(super) struct Awaited {
    pub(super) regex: Regex,
    pub(super) found: oneshot::Sender<()>,
}

/// `run.log` without secrets, up to its limit.
pub(super) struct RunLog {
    file: File,
    left: u64,
    /// The present line, for the expression.
    line: Vec<u8>,
    redactor: Redactor,
    /// Whether the next byte begins a line.
    is_line_begin: bool,
}

impl RunLog {
    /// Continues a log. One that is half full begins anew, so that each run has a log.
    pub(super) fn new(file: File, redactor: Redactor) -> std::io::Result<Self> {
        let mut size = file.metadata()?.len();
        if size > MAX_LOG_BYTES / 2 {
            file.set_len(0)?;
            size = 0;
        }
        let left = MAX_LOG_BYTES - size;
        Ok(Self {
            file,
            left,
            redactor,
            is_line_begin: true,
            line: Vec::new(),
        })
    }

    /// Writes output, and looks for the line that is awaited: then nothing is any more.
    pub(super) fn take(&mut self, bytes: &[u8], awaited: &mut Option<Awaited>) {
        self.record(bytes);
        if let Some(regex) = awaited.as_ref().map(|awaited| &awaited.regex)
            && is_in(regex, &mut self.line, bytes)
            && let Some(awaited) = awaited.take()
        {
            // The waiting side may have given up.
            let _ = awaited.found.send(());
        }
    }

    /// Writes output of the app. What may be the begin of a secret waits.
    pub(super) fn record(&mut self, bytes: &[u8]) {
        if self.left > 0 {
            let clean = self.redactor.push(bytes);
            self.write(&clean);
        }
    }

    /// Writes what waits at the end of the output.
    pub(super) fn finish(&mut self) {
        let rest = self.redactor.finish();
        self.write(&rest);
    }

    /// Writes a line of our own. The app can choose words of it.
    pub(super) fn note(&mut self, text: &str) {
        let mut redactor = self.redactor.fresh();
        let mut line = match self.is_line_begin {
            true => Vec::new(),
            false => vec![b'\n'],
        };
        line.extend(redactor.push(text.as_bytes()));
        line.extend(redactor.finish());
        line.push(b'\n');
        self.write(&line);
    }

    fn write(&mut self, bytes: &[u8]) {
        let Some(last) = bytes.last().filter(|_| self.left > 0) else {
            return;
        };
        self.is_line_begin = *last == b'\n';
        let kept = bytes
            .len()
            .min(usize::try_from(self.left).unwrap_or(usize::MAX));
        // A log on a full disk doesn't end the app.
        let _ = self.file.write_all(&bytes[..kept]);
        self.left -= kept as u64;
        if kept < bytes.len() || self.left == 0 {
            self.left = 0;
            let _ = self.file.write_all(CUT);
        }
    }
}

/// Reads the output to its end.
pub(super) async fn record(
    mut output: impl AsyncRead + Unpin,
    log: Arc<Mutex<RunLog>>,
    mut awaited: Option<Awaited>,
) {
    let mut buffer = vec![0; BUFFER];
    while let Ok(count @ 1..) = output.read(&mut buffer).await {
        locked(&log).take(&buffer[..count], &mut awaited);
    }
    locked(&log).finish();
}

pub(super) fn locked(log: &Mutex<RunLog>) -> MutexGuard<'_, RunLog> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds bytes to the present line. Returns whether a line of them matches. A line without its end
/// counts too, as a prompt has no line break.
fn is_in(regex: &Regex, line: &mut Vec<u8>, bytes: &[u8]) -> bool {
    for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
        let (text, has_ended) = match piece {
            [text @ .., b'\n'] => (text, true),
            text => (text, false),
        };
        let room = MAX_LINE_BYTES - line.len();
        line.extend_from_slice(&text[..text.len().min(room)]);
        let whole = line.strip_suffix(b"\r").unwrap_or(line);
        if regex.is_match(whole) {
            return true;
        }
        if has_ended {
            line.clear();
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{CUT, Redactor, RunLog, is_in};
    use crate::Secret;
    use crate::limits::{MAX_LINE_BYTES, MAX_LOG_BYTES};
    use regex::bytes::Regex;
    use std::fs::File;

    #[test]
    fn lines_match_across_reads_and_each_by_itself() {
        let regex = Regex::new("^listening on [0-9]+$").unwrap();
        let mut line = Vec::new();
        assert!(!is_in(&regex, &mut line, b"starting\nlisten"));
        assert!(is_in(&regex, &mut line, b"ing on 80\r\nmore"));
        let mut line = Vec::new();
        assert!(!is_in(&regex, &mut line, b"listening\n on 80\n"));
        assert!(is_in(&regex, &mut line, b"listening on 1"));
    }

    #[test]
    fn a_long_line_is_cut() {
        let regex = Regex::new("end").unwrap();
        let mut line = Vec::new();
        let long = vec![b'a'; MAX_LINE_BYTES + 10];
        assert!(!is_in(&regex, &mut line, &long));
        assert!(!is_in(&regex, &mut line, b"end"));
        assert_eq!(line.len(), MAX_LINE_BYTES);
        assert!(is_in(&regex, &mut line, b"\nend"));
    }

    #[test]
    fn a_log_has_a_limit_and_each_run_a_log() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("run.log");
        let open = || {
            File::options()
                .append(true)
                .create(true)
                .open(&path)
                .unwrap()
        };
        let mut log = RunLog::new(open(), Redactor::new([])).unwrap();
        let block = vec![b'x'; 1 << 20];
        for _ in 0..=MAX_LOG_BYTES >> 20 {
            log.write(&block);
        }
        let size = path.metadata().unwrap().len();
        assert_eq!(size, MAX_LOG_BYTES + CUT.len() as u64);
        let mut log = RunLog::new(open(), Redactor::new([])).unwrap();
        log.write(b"new");
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        let mut log = RunLog::new(open(), Redactor::new([])).unwrap();
        log.write(b" more");
        assert_eq!(std::fs::read(&path).unwrap(), b"new more");
    }

    #[test]
    fn our_own_lines_begin_lines_and_hold_no_secret() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("run.log");
        let file = File::options().append(true).create(true).open(&path);
        let secret = Secret {
            value: "open sesame".to_owned(),
            forms: Vec::new(),
        };
        let mut log = RunLog::new(file.unwrap(), Redactor::new([&secret])).unwrap();
        log.record(b"a password: open se");
        log.note("no way to open sesame");
        log.record(b"same, and more\n");
        log.note("end");
        log.finish();
        let text = std::fs::read_to_string(&path).unwrap();
        let hidden = "{present, len: 11}";
        assert_eq!(
            text,
            format!("a password: \nno way to {hidden}\n{hidden}, and more\nend\n")
        );
    }
}
