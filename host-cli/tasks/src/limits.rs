//! The limits of tasks, each with its unit.

use std::time::Duration;

/// Maximum length of a path below `source/`, in bytes.
pub const MAX_PATH_BYTES: usize = 1024;

/// Maximum length of one part of a path, in bytes: that of Linux.
pub const MAX_NAME_BYTES: usize = 255;

/// Maximum number of folders in folders below `source/`.
pub const MAX_DEPTH: usize = 32;

/// Maximum size of a file that is written, and of one that a change replaces, in bytes.
pub const MAX_FILE_BYTES: u64 = 16 << 20;

/// Maximum size of all new and old content of a batch, in bytes.
pub const MAX_BATCH_BYTES: u64 = 64 << 20;

/// Maximum number of changes in a batch.
pub const MAX_BATCH_CHANGES: usize = 10_000;

/// Maximum number of batches of a task, which the names of records have room for.
pub const MAX_BATCHES: u32 = 9999;

/// Maximum size of the record of a batch, in bytes. Escaped text takes up to six times its size.
pub const MAX_RECORD_BYTES: u64 = 8 * MAX_BATCH_BYTES;

/// Maximum size of what is remembered of a task, in bytes.
pub const MAX_MEMORY_BYTES: u64 = 4 << 20;

/// Maximum size of an artifact that is written or read as a whole, in bytes.
pub const MAX_ARTIFACT_BYTES: u64 = 64 << 20;

/// Maximum number of files and folders of an export.
pub const MAX_EXPORT_ENTRIES: usize = 100_000;

/// Maximum size of all files of an export, in bytes.
pub const MAX_EXPORT_BYTES: u64 = 1 << 30;

/// Maximum size of `run.log` and of `probes.log`, in bytes. The rest is dropped.
pub const MAX_LOG_BYTES: u64 = 16 << 20;

/// Maximum length of a line that `ready.regex` is matched with, in bytes. A longer line is cut.
pub const MAX_LINE_BYTES: usize = 64 << 10;

/// Maximum size of a compiled `ready.regex`, in bytes. The engine's largest expressions fit.
pub const MAX_REGEX_BYTES: usize = 1 << 20;

/// Maximum number of connections to a task at a time. Others wait.
pub const MAX_CONNECTIONS: usize = 1024;

/// Maximum size of a description of a run, in bytes. Each secret is in it in about 12 forms.
pub const MAX_SPEC_BYTES: u64 = 16 << 20;

/// Memory of a run that asks for no limit, in MiB.
pub const DEFAULT_MEM_MB: u64 = 512;

/// Number of processes and threads of a run that asks for no limit.
pub const DEFAULT_PIDS: u32 = 128;

/// Share of processor time of a run that asks for no limit, in percent of one processor.
pub const DEFAULT_CPU_PCT: u32 = 100;

/// Wall time of a run that asks for no limit, in seconds.
pub const DEFAULT_WALL_SEC: u64 = 3600;

/// Size of all files of the app in a run that asks for no limit, in MiB: as much as an export has room for. It
/// is measured about once a second, and more often while the free space falls.
pub const DEFAULT_DISK_MB: u64 = MAX_EXPORT_BYTES >> 20;

/// Number of files and folders of the app in a run that asks for no limit. The descriptors of its processes
/// count, too.
pub const DEFAULT_FILES: u64 = MAX_EXPORT_ENTRIES as u64;

/// Size of the largest file that a run may write, in bytes; also of each private folder.
pub const RUN_FILE_BYTES: u64 = 256 << 20;

/// Number of open files of each process of a run.
pub const RUN_OPEN_FILES: u32 = 4096;

/// Time for which a connection waits for the first byte of its app before gateways close their idle connections.
pub const HAND_OVER_TIME: Duration = Duration::from_millis(20);

/// How long a supervisor may take from its start until its first report.
pub const SUPERVISOR_START: Duration = Duration::from_secs(60);

/// How long a supervisor may take to end after the grace time of its run.
pub const SUPERVISOR_END: Duration = Duration::from_secs(15);
