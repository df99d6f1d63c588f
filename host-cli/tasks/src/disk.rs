//! What an app holds on the disk: the files that it works on, and open files without a name.
//!
//! No quota is available to a user without rights, so it is measured. A measurement stops at the limit, so
//! its work is bounded. Between two of them the free space of the whole file system is observed, which costs one
//! system call: when it falls, the next measurement begins early.
//!
//! Not seen are files without a name that only a mapping, or a message between two sockets, still holds.

use crate::run::RunLimits;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, StatVfs, chmod, fchmod, fstat, openat, stat,
    statat, statvfs,
};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs::{read_dir, read_link};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// The names of the limits.
const DISK: &str = "disk";
const FILES: &str = "files";

/// How often the free space is observed.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// How often the app is measured at most, unless the free space falls.
const MEASURE_INTERVAL: Duration = Duration::from_secs(1);
/// The part of the time that may be spent on measuring: one in so many, and more while the free space falls.
const REGULAR_PAUSE: u32 = 20;
const EARLY_PAUSE: u32 = 3;

/// The part of what is left to an app. The app is measured early once the free space has fallen by it: one
/// in so many.
const NOTICED_PART: u64 = 4;
/// The least fall of the free space, in bytes and in files, that is noticed.
const NOTICED_BYTES: u64 = 8 << 20;
const NOTICED_FILES: u64 = 1000;

/// Maximum number of folders that are open at a time. A chain of folders with one folder each needs one.
const MAX_OPEN_FOLDERS: usize = 256;

/// The unit of the kernel's count of blocks, in bytes.
const BLOCK_BYTES: u64 = 512;

const AS_FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// What an app may hold.
#[derive(Clone, Copy, Debug)]
pub struct Quota {
    /// Size of all files, in bytes.
    pub bytes: u64,
    /// Number of files and folders, with the descriptors of the app's processes.
    pub files: u64,
}

impl Quota {
    pub(crate) fn of(limits: RunLimits) -> Self {
        Self {
            bytes: limits.disk_mb.saturating_mul(1 << 20),
            files: limits.files,
        }
    }
}

/// Waits until a folder, with what an app holds, has more than it may. `app` returns the id of the first process.
/// Returns the name of the limit: `disk` or `files`. Needs a tokio runtime with time.
pub async fn exceeded(work: PathBuf, app: impl Fn() -> Option<i32>, quota: Quota) -> &'static str {
    loop {
        let before = statvfs(&work).ok();
        let began = Instant::now();
        let (folder, id) = (work.clone(), app());
        let measured = spawn_blocking(move || Usage::measured(&folder, id, quota)).await;
        let left = match measured {
            Ok(Ok(usage)) => Quota {
                bytes: quota.bytes.saturating_sub(usage.bytes),
                files: quota.files.saturating_sub(usage.files),
            },
            Ok(Err(limit)) => return limit,
            // The runtime ends.
            Err(_) => return std::future::pending().await,
        };
        let took = began.elapsed();
        loop {
            sleep(LOOK_INTERVAL).await;
            let since = began.elapsed();
            let is_early = since >= took * EARLY_PAUSE
                && before
                    .as_ref()
                    .zip(statvfs(&work).ok())
                    .is_some_and(|(before, now)| has_fallen(before, &now, left));
            if is_early || since >= MEASURE_INTERVAL.max(took * REGULAR_PAUSE) {
                break;
            }
        }
    }
}

/// Returns whether so much space is used since `before` that the app may soon be at its limit. Any process
/// may have used it.
fn has_fallen(before: &StatVfs, now: &StatVfs, left: Quota) -> bool {
    let blocks = before.f_bfree.saturating_sub(now.f_bfree);
    let files = before.f_ffree.saturating_sub(now.f_ffree);
    blocks.saturating_mul(now.f_frsize) >= (left.bytes / NOTICED_PART).max(NOTICED_BYTES)
        || files >= (left.files / NOTICED_PART).max(NOTICED_FILES)
}

/// A measurement.
struct Usage {
    bytes: u64,
    files: u64,
    quota: Quota,
    /// The files that have several names or none, which count once.
    counted: BTreeSet<u64>,
}

/// A folder whose inner folders are measured.
struct Level {
    folder: OwnedFd,
    inner: Vec<CString>,
}

impl Usage {
    /// Measures a folder, and what the processes around `app` hold. The error is the name of a limit
    /// that is exceeded.
    fn measured(folder: &Path, app: Option<i32>, quota: Quota) -> Result<Self, &'static str> {
        let mut usage = Self {
            bytes: 0,
            files: 0,
            quota,
            counted: BTreeSet::new(),
        };
        let Some(root) = opened(CWD, folder)? else {
            return Ok(usage);
        };
        let device = fstat(&root).map(|it| it.st_dev).ok();
        usage.folders(root)?;
        if let Some((app, device)) = app.zip(device) {
            usage.held(app, device)?;
        }
        Ok(usage)
    }

    fn folders(&mut self, root: OwnedFd) -> Result<(), &'static str> {
        let mut levels = vec![self.level(root)?];
        while let Some(level) = levels.last_mut() {
            let Some(name) = level.inner.pop() else {
                levels.pop();
                continue;
            };
            let inner = opened(&level.folder, &*name)?;
            if level.inner.is_empty() {
                levels.pop();
            }
            if let Some(inner) = inner {
                levels.push(self.level(inner)?);
            }
            if levels.len() > MAX_OPEN_FOLDERS {
                return Err(FILES);
            }
        }
        Ok(())
    }

    /// Counts the entries of a folder.
    fn level(&mut self, folder: OwnedFd) -> Result<Level, &'static str> {
        let mut inner = Vec::new();
        let entries = match entered(&folder, || Dir::read_from(&folder)) {
            Err(Errno::ACCESS) => return Err(DISK),
            entries => entries,
        };
        // One that is removed meanwhile has no entries.
        for entry in entries.into_iter().flatten() {
            let Ok(entry) = entry else { break };
            let name = entry.file_name();
            if [c".", c".."].contains(&name) {
                continue;
            }
            let found = entered(&folder, || statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW));
            let found = match found {
                Err(Errno::ACCESS) => return Err(DISK),
                Err(_) => continue,
                Ok(found) => found,
            };
            if FileType::from_raw_mode(found.st_mode) == FileType::Directory {
                inner.push(name.to_owned());
                self.add(&found)?;
            } else if found.st_nlink == 1 || self.counted.insert(found.st_ino) {
                self.add(&found)?;
            } else {
                self.count()?;
            }
        }
        Ok(Level { folder, inner })
    }

    /// Adds the files without a name that processes hold: those in the namespace of `app`.
    fn held(&mut self, app: i32, device: u64) -> Result<(), &'static str> {
        let namespace = |id: i32| read_link(format!("/proc/{id}/ns/pid")).ok();
        let Some(own) = namespace(app) else {
            return Ok(());
        };
        let entries = read_dir("/proc").into_iter().flatten().flatten();
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        for id in ids.filter(|id| namespace(*id).as_ref() == Some(&own)) {
            let descriptors = read_dir(format!("/proc/{id}/fd"));
            for descriptor in descriptors.into_iter().flatten().flatten() {
                self.count()?;
                let Ok(found) = stat(descriptor.path()) else {
                    continue;
                };
                let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
                if is_file
                    && found.st_nlink == 0
                    && found.st_dev == device
                    && self.counted.insert(found.st_ino)
                {
                    self.add(&found)?;
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, found: &Stat) -> Result<(), &'static str> {
        self.bytes += u64::try_from(found.st_blocks).unwrap_or(0) * BLOCK_BYTES;
        if self.bytes > self.quota.bytes {
            return Err(DISK);
        }
        self.count()
    }

    fn count(&mut self) -> Result<(), &'static str> {
        self.files += 1;
        if self.files > self.quota.files {
            return Err(FILES);
        }
        Ok(())
    }
}

/// Opens a folder; `None` if it no longer exists. An app can't hide what is in a folder by closing it.
fn opened(
    above: impl AsFd,
    name: impl rustix::path::Arg + Copy,
) -> Result<Option<OwnedFd>, &'static str> {
    let open = || openat(&above, name, AS_FOLDER, Mode::empty());
    let opened = match open() {
        Err(Errno::ACCESS) => unlocked(&above, name).and_then(|()| open()),
        opened => opened,
    };
    match opened {
        Ok(folder) => Ok(Some(folder)),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        Err(_) => Err(DISK),
    }
}

/// Looks at something in a folder, which may be open for reading, and closed for entering.
fn entered<T>(folder: &OwnedFd, look: impl Fn() -> Result<T, Errno>) -> Result<T, Errno> {
    match look() {
        Err(Errno::ACCESS) => fchmod(folder, Mode::RWXU).and_then(|()| look()),
        looked => looked,
    }
}

/// Lets this user read and enter a folder of theirs. A link in its place is not followed.
pub(crate) fn unlocked(above: impl AsFd, name: impl rustix::path::Arg) -> Result<(), Errno> {
    let handle = openat(above, name, AS_FOLDER | OFlags::PATH, Mode::empty())?;
    // A handle that can't be read can't be used to change the mode, but its path can.
    let path = format!("/proc/self/fd/{}", handle.as_raw_fd());
    chmod(&*path, Mode::RWXU)
}

#[cfg(test)]
mod tests {
    use super::{BLOCK_BYTES, DISK, FILES, Quota, Usage};
    use std::fs::{self, File, Permissions};
    use std::io::Write as _;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
    use std::path::Path;

    const ANY: Quota = Quota {
        bytes: u64::MAX,
        files: u64::MAX,
    };

    fn measured(folder: &Path, quota: Quota) -> Result<(u64, u64), &'static str> {
        Usage::measured(folder, None, quota).map(|usage| (usage.bytes, usage.files))
    }

    #[test]
    fn every_file_counts_once_and_no_link_is_followed() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        fs::create_dir_all(root.join("a/b/c")).unwrap();
        fs::create_dir(root.join("a/d")).unwrap();
        let names = ["one", "a/two", "a/b/three", "a/b/c/four", "a/d/five"];
        let mut blocks = 0;
        for name in names {
            fs::write(root.join(name), vec![b'x'; 10_000]).unwrap();
            blocks += root.join(name).metadata().unwrap().blocks();
        }
        for folder in ["a", "a/b", "a/b/c", "a/d"] {
            blocks += root.join(folder).metadata().unwrap().blocks();
        }
        fs::hard_link(root.join("one"), root.join("a/d/again")).unwrap();
        symlink("/usr", root.join("link")).unwrap();
        blocks += root.join("link").symlink_metadata().unwrap().blocks();
        assert_eq!(measured(root, ANY), Ok((blocks * BLOCK_BYTES, 11)));
        let less = |bytes, files| measured(root, Quota { bytes, files });
        assert_eq!(less(blocks * BLOCK_BYTES, 11), measured(root, ANY));
        assert_eq!(less(blocks * BLOCK_BYTES - 1, 11), Err(DISK));
        assert_eq!(less(u64::MAX, 10), Err(FILES));
        assert_eq!(measured(&root.join("none"), ANY), Ok((0, 0)));
    }

    #[test]
    fn deep_wide_and_closed_folders_are_measured() {
        let place = tempfile::tempdir().unwrap();
        let mut folder = place.path().to_owned();
        for _ in 0..600 {
            folder.push("d");
        }
        fs::create_dir_all(&folder).unwrap();
        assert_eq!(measured(place.path(), ANY).map(|it| it.1), Ok(600));
        let closed = place.path().join("closed");
        fs::create_dir(&closed).unwrap();
        fs::write(closed.join("hidden"), "x").unwrap();
        fs::set_permissions(&closed, Permissions::from_mode(0o000)).unwrap();
        assert_eq!(measured(place.path(), ANY).map(|it| it.1), Ok(602));
        let mut folder = place.path().join("e");
        for _ in 0..super::MAX_OPEN_FOLDERS {
            fs::create_dir_all(folder.join("other")).unwrap();
            folder.push("e");
        }
        fs::create_dir_all(folder.join("other")).unwrap();
        assert_eq!(measured(place.path(), ANY), Err(FILES));
    }

    #[test]
    fn an_open_file_without_a_name_counts() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("gone");
        let mut file = File::create(&path).unwrap();
        file.write_all(&vec![b'x'; 1 << 20]).unwrap();
        fs::remove_file(path).unwrap();
        let own = i32::try_from(std::process::id()).unwrap();
        let held = |app| Usage::measured(place.path(), app, ANY).unwrap().bytes;
        assert_eq!(held(None), 0);
        assert!(held(Some(own)) >= 1 << 20);
        drop(file);
    }
}
