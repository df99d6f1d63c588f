//! The log of a gateway: the session's records, one line each.

use agent_host::Failure;
use agent_host::contract::session::AuditRecord;
use agent_mcp_protocol::Json;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::{spawn_blocking, spawn_local, yield_now};

/// Maximum size of the first line of a log that is read for its number, in bytes.
const LINE_BYTES: u64 = 1 << 20;

/// Maximum size of the last line of a log, in bytes. No record is larger.
const LAST_LINE_BYTES: u64 = 64 << 20;

/// The size of the parts in which the end of a log is read, in bytes.
const PART_BYTES: u64 = 64 << 10;

/// Maximum number of records that wait for a disk to have room again. Then no call passes until the gateway is
/// started again.
const WAITING_MAX: usize = 10_000;

/// Time of the last sync up to which the only open call, or many, make the next one on the gateway's own thread. Handing a sync to
/// another thread and back takes as long as some disks need for it. A slower disk would hold up all other clients.
const QUICK: Duration = Duration::from_micros(500);

/// Time of the last sync up to which every next one is made on the gateway's own thread.
const NO_TIME: Duration = Duration::from_micros(50);

/// Number of writings from which a sync is for many. A few calls are faster if others are decided during their sync.
const MANY: u64 = 16;

/// Maximum number of logs of gateways that run at the same time and were given one name.
const LOGS_MAX: u32 = 64;

/// A file to which records are appended. From a size on, another one is begun, and the chain goes on there.
///
/// A record is handed to the system before its decision has an effect, so that it outlives the gateway. The
/// records of calls that pass are on disk before, so that they outlive a loss of power.
#[derive(Debug)]
pub struct AuditLog {
    path: PathBuf,
    /// Whether another gateway writes the log of the given name.
    is_beside: bool,
    file: Arc<File>,
    /// The size of the file, in bytes.
    size: u64,
    max_bytes: u64,
    /// The number of the first record in the file.
    first: Option<u64>,
    /// Records that could not be written. They come before others, so that the chain has no gap.
    waiting: VecDeque<AuditRecord>,
    syncs: Rc<Syncs>,
}

/// Brings a file to disk, once for all records that were appended in the meantime.
#[derive(Debug)]
pub(crate) struct Syncs {
    file: RefCell<Arc<File>>,
    /// How many times records were appended.
    appended: Cell<u64>,
    /// How many of them are on disk, or why no more will be: after a failure, the state of the file is unknown.
    synced: watch::Sender<Result<u64, String>>,
    is_running: Cell<bool>,
    /// The time that the last sync took.
    last: Cell<Duration>,
}

impl AuditLog {
    /// Opens a log, whose earlier records stay. A file is followed by another one before it is larger than
    /// `max_bytes`. While another gateway writes the log, one beside it is opened: `audit-2.jsonl` for
    /// `audit.jsonl`, and so on.
    ///
    /// # Errors
    ///
    /// When the file can't be opened for appending, or 64 gateways write such logs.
    pub fn open(path: &Path, max_bytes: u64) -> Result<Self, Failure> {
        for number in 1..=LOGS_MAX {
            let path = match number {
                1 => path.to_owned(),
                _ => beside(path, &format!("-{number}")),
            };
            if let Some(log) = Self::free(&path, max_bytes)? {
                let is_beside = number > 1;
                return Ok(Self { is_beside, ..log });
            }
        }
        Err(Failure::new(format_args!(
            "{LOGS_MAX} gateways write the audit log `{}` and those beside it",
            path.display()
        ))
        .help("name another file with `--audit`"))
    }

    /// Opens a log, unless another gateway writes it.
    fn free(path: &Path, max_bytes: u64) -> Result<Option<Self>, Failure> {
        let failed = |error: io::Error| unwritable(path, &error);
        let (file, size) = append_to(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let first = match size {
            0 => None,
            _ => Some(first_number(path).map_err(failed)?.unwrap_or(1)),
        };
        let syncs = Syncs {
            file: RefCell::new(Arc::clone(&file)),
            appended: Cell::new(0),
            synced: watch::channel(Ok(0)).0,
            is_running: Cell::new(false),
            last: Cell::new(Duration::MAX),
        };
        Ok(Some(Self {
            path: path.to_owned(),
            is_beside: false,
            file,
            size,
            max_bytes,
            first,
            waiting: VecDeque::new(),
            syncs: Rc::new(syncs),
        }))
    }

    /// Returns where the records are written.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether another gateway writes the log of the given name.
    pub(crate) fn is_beside(&self) -> bool {
        self.is_beside
    }

    /// Returns the files of the log, the one that was written first at the beginning.
    ///
    /// # Errors
    ///
    /// When its folder can't be read.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>, Failure> {
        let failed = |error: io::Error| unwritable(&self.path, &error);
        let own = |path: &Path| {
            let number = first_number(path).ok().flatten()?;
            let stem = self.path.file_stem()?.to_str()?;
            let name = path.file_name()?.to_str()?;
            let rest = name.strip_prefix(stem)?.strip_prefix('.')?;
            let is_numbered = rest.starts_with(|it: char| it.is_ascii_digit());
            is_numbered.then_some(number)
        };
        let folder = self.path.parent().filter(|it| !it.as_os_str().is_empty());
        let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).map_err(failed)?;
        let mut files = Vec::new();
        for entry in entries {
            let path = entry.map_err(failed)?.path();
            if let Some(number) = own(&path) {
                // A log that was begun anew has the numbers of the earlier one.
                let modified = fs::metadata(&path).and_then(|it| it.modified());
                files.push((modified.map_err(failed)?, number, path));
            }
        }
        files.sort();
        let files = files.into_iter().map(|(_, _, path)| path);
        Ok(files.chain([self.path.clone()]).collect())
    }

    /// Passes on the whole lines of files of the log, in parts.
    ///
    /// # Errors
    ///
    /// When a file can't be read, and what `take` returns.
    pub(crate) fn read(
        &self,
        files: &[PathBuf],
        mut take: impl FnMut(Vec<u8>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let failed = |error: io::Error| unwritable(&self.path, &error);
        for path in files {
            let mut lines = BufReader::new(File::open(path).map_err(failed)?);
            let mut part = Vec::new();
            loop {
                let before = part.len();
                let mut line = (&mut lines).take(LAST_LINE_BYTES);
                let read = line.read_until(b'\n', &mut part).map_err(failed)?;
                // A line that was cut off is no record.
                if !part.ends_with(b"\n") {
                    part.truncate(before);
                }
                if read == 0 || part.len() as u64 >= LINE_BYTES {
                    take(std::mem::take(&mut part))?;
                }
                if read == 0 {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Returns the last line of the log, whose chain goes on. A line that was cut off stays at the end of a file of
    /// its own.
    ///
    /// # Errors
    ///
    /// When the log can't be read, or its last line is larger than any record.
    pub(crate) fn last_record(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        let failed = |error: io::Error| unwritable(&self.path, &error);
        let (line, is_cut) = last_line(&self.path, self.size).map_err(failed)?;
        if is_cut {
            self.rotate()
                .map_err(|error| unwritable(&self.path, &error))?;
        }
        Ok(line)
    }

    /// Appends records.
    ///
    /// # Errors
    ///
    /// When they can't be written. What they decide about must not happen then.
    pub(crate) fn append(&mut self, records: &[AuditRecord]) -> Result<(), Failure> {
        if records.is_empty() {
            return Ok(());
        }
        // Too many are lost with the gateway: its log then ends before them.
        let has_room = self.waiting.len() < WAITING_MAX;
        self.waiting
            .extend(records.iter().filter(|_| has_room).cloned());
        let appended = match has_room {
            true => self.write_waiting(),
            false => Err(io::Error::other("too many records wait to be written")),
        };
        self.syncs.appended.set(self.syncs.appended.get() + 1);
        appended.map_err(|error| unwritable(&self.path, &error))
    }

    fn write_waiting(&mut self) -> io::Result<()> {
        while let Some(record) = self.waiting.pop_front() {
            if let Err(error) = self.add(&record) {
                self.waiting.push_front(record);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Returns what brings the appended records to disk.
    pub(crate) fn syncs(&self) -> Rc<Syncs> {
        Rc::clone(&self.syncs)
    }

    fn add(&mut self, record: &AuditRecord) -> io::Result<()> {
        let line = format!("{}\n", record.line);
        let bytes = line.len() as u64;
        if self.size > 0 && self.size + bytes > self.max_bytes {
            self.rotate()?;
        }
        if let Err(error) = (&*self.file).write_all(line.as_bytes()) {
            // A part of a line is no record. A full disk gives back what it took.
            self.file.set_len(self.size)?;
            return Err(error);
        }
        self.first.get_or_insert(record.sequence);
        self.size += bytes;
        Ok(())
    }

    /// Gives the file the name of its first record, and begins another one.
    fn rotate(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        // Another program may have moved the file.
        if is_at(&self.file, &self.path)? {
            fs::rename(&self.path, self.free_name())?;
        }
        (self.file, self.size) = append_to(&self.path)?;
        self.file.try_lock().map_err(io::Error::from)?;
        self.first = None;
        self.syncs.file.replace(Arc::clone(&self.file));
        Ok(())
    }

    /// Returns `audit.<number>.jsonl` for `audit.jsonl`. A log that somebody began anew may have records of the
    /// same numbers.
    fn free_name(&self) -> PathBuf {
        let first = self.first.unwrap_or(1);
        let mut free = beside(&self.path, &format!(".{first}"));
        let mut copy = 2_u32;
        while free.exists() {
            free = beside(&self.path, &format!(".{first}-{copy}"));
            copy += 1;
        }
        free
    }
}

impl Syncs {
    /// Waits until every record that was appended so far is on disk. `is_alone` says that no other call is open.
    ///
    /// # Errors
    ///
    /// When the system can't say so. What the records decide about must not happen then.
    pub(crate) async fn synced(self: &Rc<Self>, is_alone: bool) -> Result<(), Failure> {
        let wanted = self.appended.get();
        let mut synced = self.synced.subscribe();
        if is_alone && self.last.get() <= QUICK && !self.is_running.get() {
            if let Some(appended) = self.unsynced() {
                self.done(appended, sync(&self.file.borrow()));
            }
        } else if !self.is_running.replace(true) {
            spawn_local(Rc::clone(self).run());
        }
        let done = synced.wait_for(|it| !matches!(it, Ok(synced) if *synced < wanted));
        match done.await.as_deref() {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(Failure::new(format_args!(
                "the audit log can't be brought to disk: {error}"
            ))),
            Err(error) => Err(Failure::internal(error)),
        }
    }

    async fn run(self: Rc<Self>) {
        while self.unsynced().is_some() {
            // What is ready is decided first: one sync is for all of it.
            yield_now().await;
            let appended = self.appended.get();
            let file = Arc::clone(&self.file.borrow());
            let synced = match self.is_here(appended) {
                true => sync(&file),
                false => {
                    let synced = spawn_blocking(move || sync(&file)).await;
                    synced.unwrap_or_else(|error| (Err(error.into()), Duration::MAX))
                }
            };
            self.done(appended, synced);
        }
        self.is_running.set(false);
    }

    /// Returns whether the next sync is made on the gateway's own thread: one that takes no time, or that many wait for.
    fn is_here(&self, appended: u64) -> bool {
        let synced = self.synced.borrow().as_ref().copied().unwrap_or(appended);
        let last = self.last.get();
        last <= NO_TIME || last <= QUICK && appended - synced >= MANY
    }

    /// Returns how many times records were appended, if some of them are not on disk and may still get there.
    fn unsynced(&self) -> Option<u64> {
        let appended = self.appended.get();
        matches!(&*self.synced.borrow(), Ok(synced) if *synced < appended).then_some(appended)
    }

    fn done(&self, appended: u64, (result, time): (io::Result<()>, Duration)) {
        self.last.set(time);
        let result = result.map(|()| appended).map_err(|error| error.to_string());
        let _ = self.synced.send_replace(result);
    }
}

/// Brings a file to disk. Returns the time that it took, too.
fn sync(file: &File) -> (io::Result<()>, Duration) {
    let began = Instant::now();
    (file.sync_data(), began.elapsed())
}

/// Returns a path with more at the end of its stem.
fn beside(path: &Path, more: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let end = path.extension().map(|it| it.to_string_lossy());
    let end = end.map_or_else(String::new, |end| format!(".{end}"));
    path.with_file_name(format!("{stem}{more}{end}"))
}

/// Returns the last line of a file of a size that ends, without its end, and whether another begins behind it.
fn last_line(path: &Path, size: u64) -> io::Result<(Option<Vec<u8>>, bool)> {
    let mut file = File::open(path)?;
    let mut tail = Vec::new();
    let mut from = size;
    loop {
        let ends = tail.iter().rposition(|byte| *byte == b'\n');
        let starts = ends.and_then(|end| tail[..end].iter().rposition(|byte| *byte == b'\n'));
        let is_whole = from == 0 || starts.is_some();
        if let (Some(end), true) = (ends, is_whole) {
            let start = starts.map_or(0, |start| start + 1);
            return Ok((Some(tail[start..end].to_vec()), end + 1 < tail.len()));
        }
        if from == 0 {
            return Ok((None, !tail.is_empty()));
        }
        if size - from >= LAST_LINE_BYTES {
            let text = format!("its last line has more than {LAST_LINE_BYTES} bytes");
            return Err(io::Error::other(text));
        }
        let part = from.min(PART_BYTES.max(size - from));
        from -= part;
        file.seek(SeekFrom::Start(from))?;
        let mut read = Vec::new();
        (&mut file).take(part).read_to_end(&mut read)?;
        read.extend_from_slice(&tail);
        tail = read;
    }
}

fn append_to(path: &Path) -> io::Result<(Arc<File>, u64)> {
    // A cloned repository may have a link instead of the log, or a pipe, which would be waited for.
    if fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink()) {
        return Err(io::Error::other("it is a link"));
    }
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok((Arc::new(file), metadata.len()))
}

/// Returns the number of the first record of a log.
fn first_number(path: &Path) -> io::Result<Option<u64>> {
    let mut line = Vec::new();
    let file = BufReader::new(File::open(path)?);
    file.take(LINE_BYTES).read_until(b'\n', &mut line)?;
    let record = Json::new(line).ok();
    let number = record.and_then(|it| it.member("sequence"));
    Ok(number.and_then(|it| it.as_str().parse().ok()))
}

/// Returns whether an open file is the one at a path.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let (open, named) = (file.metadata()?, fs::metadata(path)?);
    Ok((open.dev(), open.ino()) == (named.dev(), named.ino()))
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format_args!(
        "the audit log `{}` can't be written: {error}",
        path.display()
    ))
    .help("name a writable file with `--audit`")
}

#[cfg(test)]
mod tests {
    use super::{AuditLog, MANY, NO_TIME, QUICK};
    use agent_host::contract::session::AuditRecord;
    use std::fs::{self, File};
    use std::future::poll_fn;
    use std::pin::pin;
    use std::task::Poll;
    use std::time::Duration;
    use tokio::runtime::Builder;
    use tokio::task::LocalSet;

    fn record(sequence: u64) -> AuditRecord {
        AuditRecord {
            sequence,
            line: format!(r#"{{"sequence":{sequence}}}"#),
        }
    }

    #[test]
    fn files_follow_each_other_without_a_gap() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let mut log = AuditLog::open(&path, 40).unwrap();
        for sequence in 1..=4 {
            log.append(&[record(sequence)]).unwrap();
        }
        drop(log);
        // A gateway that starts again goes on in the same file.
        let mut log = AuditLog::open(&path, 40).unwrap();
        assert_eq!(
            log.last_record().unwrap().unwrap(),
            record(4).line.as_bytes()
        );
        log.append(&[record(5), record(6), record(7)]).unwrap();
        let read = |name: &str| {
            let text = fs::read_to_string(folder.path().join(name)).unwrap();
            text.replace(r#"{"sequence":"#, "").replace("}\n", " ")
        };
        assert_eq!(read("audit.1.jsonl"), "1 2 ");
        assert_eq!(read("audit.3.jsonl"), "3 4 ");
        assert_eq!(read("audit.5.jsonl"), "5 6 ");
        assert_eq!(read("audit.jsonl"), "7 ");
    }

    #[test]
    fn the_files_of_a_log_are_read_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let mut log = AuditLog::open(&path, 40).unwrap();
        for sequence in 1..=25 {
            log.append(&[record(sequence)]).unwrap();
        }
        assert!(!log.is_beside());
        // Other files beside them, of which one only looks like a part.
        for name in [
            "audit-2.jsonl",
            "audit-2.1.jsonl",
            "audit.old.jsonl",
            "audit.jsonl.1",
            "b.1.jsonl",
        ] {
            fs::write(folder.path().join(name), "{\"sequence\":7}\n").unwrap();
        }
        let files = log.files().unwrap();
        assert_eq!(files.last(), Some(&path));
        let mut read = Vec::new();
        let mut parts = 0;
        let mut take = |part: Vec<u8>| {
            parts += 1;
            read.extend(part);
            Ok(())
        };
        log.read(&files, &mut take).unwrap();
        assert!(parts >= files.len());
        let lines: String = (1..=25).map(|it| record(it).line + "\n").collect();
        assert_eq!(String::from_utf8(read).unwrap(), lines);
        // A line that was cut off is not passed on.
        fs::write(&files[0], "{\"sequence\":1}\n{\"sequ").unwrap();
        let mut read = Vec::new();
        log.read(&files[..1], |part| {
            read.extend(part);
            Ok(())
        })
        .unwrap();
        assert_eq!(read, b"{\"sequence\":1}\n");
        assert!(AuditLog::open(&path, 40).unwrap().is_beside());
    }

    #[test]
    fn a_log_is_no_link_and_its_users_own() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (
            folder.path().join("audit.jsonl"),
            folder.path().join("other"),
        );
        fs::write(&other, "text").unwrap();
        symlink(&other, &path).unwrap();
        AuditLog::open(&path, 40).unwrap_err();
        assert_eq!(fs::read_to_string(&other).unwrap(), "text");
        fs::remove_file(&path).unwrap();
        AuditLog::open(&path, 40).unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }

    #[test]
    fn a_log_is_a_regular_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        AuditLog::open(&path, 40).unwrap_err();
    }

    #[test]
    fn a_record_that_could_not_be_written_comes_before_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let mut log = AuditLog::open(&path, 1000).unwrap();
        log.append(&[record(1)]).unwrap();
        // A file to which nothing can be written, as on a full disk.
        let writable = std::mem::replace(&mut log.file, File::open(&path).unwrap().into());
        log.append(&[record(2), record(3)]).unwrap_err();
        log.append(&[record(4)]).unwrap_err();
        log.file = writable;
        log.append(&[record(5)]).unwrap();
        let lines: String = (1..=5).map(|it| record(it).line + "\n").collect();
        assert_eq!(fs::read_to_string(&path).unwrap(), lines);
    }

    #[test]
    fn a_log_that_somebody_writes_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let first = AuditLog::open(&path, 40).unwrap();
        let second = AuditLog::open(&path, 40).unwrap();
        assert_eq!(first.path(), path);
        assert_eq!(second.path(), folder.path().join("audit-2.jsonl"));
        drop(first);
        assert_eq!(AuditLog::open(&path, 40).unwrap().path(), path);
    }

    #[test]
    fn a_line_that_was_cut_off_is_kept_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let long = format!(r#"{{"sequence":2,"x":"{}"}}"#, "x".repeat(200_000));
        for (text, last) in [
            ("", None),
            ("{\"sequence\":1", None),
            ("{\"sequence\":1}\n{\"seq", Some("{\"sequence\":1}")),
            (&*format!("{{\"sequence\":1}}\n{long}\n"), Some(&*long)),
            (&*format!("{long}\n{long}"), Some(&*long)),
        ] {
            fs::write(&path, text).unwrap();
            let mut log = AuditLog::open(&path, 1 << 20).unwrap();
            let found = log.last_record().unwrap();
            assert_eq!(found.as_deref(), last.map(str::as_bytes));
            let is_cut = !text.is_empty() && !text.ends_with('\n');
            let kept = fs::read_to_string(&path).unwrap();
            assert_eq!(kept, if is_cut { "" } else { text });
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    }

    #[test]
    fn many_records_share_one_sync() {
        for last in [Duration::MAX, Duration::ZERO] {
            let folder = tempfile::tempdir().unwrap();
            let mut log = AuditLog::open(&folder.path().join("audit.jsonl"), 1 << 20).unwrap();
            let runtime = Builder::new_current_thread().build().unwrap();
            let syncs = log.syncs();
            syncs.last.set(last);
            let mut changes = syncs.synced.subscribe();
            let number = LocalSet::new().block_on(&runtime, async {
                let waits = (1..=50).map(|sequence| {
                    log.append(&[record(sequence)]).unwrap();
                    let syncs = log.syncs();
                    tokio::task::spawn_local(async move { syncs.synced(false).await })
                });
                let waits: Vec<_> = waits.collect();
                let mut number = 0;
                while changes.changed().await.is_ok() {
                    number += 1;
                    if *changes.borrow_and_update() == Ok(50) {
                        break;
                    }
                }
                for wait in waits {
                    assert_eq!(wait.await.unwrap(), Ok(()));
                }
                number
            });
            assert_eq!(number, 1);
            assert_eq!(*syncs.synced.borrow(), Ok(50));
        }
    }

    #[test]
    fn a_sync_is_left_to_another_thread_where_that_is_faster() {
        let folder = tempfile::tempdir().unwrap();
        let log = AuditLog::open(&folder.path().join("audit.jsonl"), 1 << 20).unwrap();
        let syncs = log.syncs();
        for (last, appended, is_here) in [
            (NO_TIME, 1, true),
            (QUICK, MANY - 1, false),
            (QUICK, MANY, true),
            (2 * QUICK, 100 * MANY, false),
        ] {
            syncs.last.set(last);
            assert_eq!(syncs.is_here(appended), is_here);
        }
    }

    #[test]
    fn the_only_call_syncs_at_once_where_that_is_quick() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = AuditLog::open(&folder.path().join("audit.jsonl"), 1 << 20).unwrap();
        let runtime = Builder::new_current_thread().build().unwrap();
        let syncs = log.syncs();
        LocalSet::new().block_on(&runtime, async {
            let mut sequence = 0;
            for (is_alone, last, is_at_once) in [
                (true, Duration::MAX, false),
                (true, QUICK, true),
                (false, Duration::ZERO, false),
                (true, Duration::ZERO, true),
            ] {
                sequence += 1;
                log.append(&[record(sequence)]).unwrap();
                syncs.last.set(last);
                let mut synced = pin!(syncs.synced(is_alone));
                let first = poll_fn(|context| Poll::Ready(synced.as_mut().poll(context)));
                match first.await {
                    Poll::Ready(done) => assert!(is_at_once && done.is_ok()),
                    Poll::Pending => {
                        assert!(!is_at_once);
                        synced.await.unwrap();
                    }
                }
                assert_eq!(*syncs.synced.borrow(), Ok(sequence));
                assert_ne!(syncs.last.get(), last);
                // The task that made it ends.
                tokio::task::yield_now().await;
            }
        });
    }
}
