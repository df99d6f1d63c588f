//! The limits that the kernel keeps for each process.

use rustix::io;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, getuid, prlimit, setrlimit};

use crate::Limits;

/// Seconds of processor time between the signal that a process may ignore and the one that it can't.
const CPU_GRACE: u64 = 1;

/// Returns the limits for each process of a command. `memory` is whether the memory of a process is
/// limited here, as no group does it for all of them; `processes` is the number of processes that
/// its user may have in its user namespace before the command exceeds its own.
pub(super) fn list(
    limits: &Limits,
    memory: bool,
    processes: Option<u64>,
) -> Vec<(Resource, Rlimit)> {
    let mut list = vec![
        (Resource::Core, 0, 0),
        (Resource::Fsize, limits.file_bytes, limits.file_bytes),
        (
            Resource::Nofile,
            u64::from(limits.open_files),
            u64::from(limits.open_files),
        ),
    ];
    if let Some(time) = limits.cpu_time {
        let seconds = time
            .as_secs()
            .saturating_add(u64::from(time.subsec_nanos() > 0));
        list.push((Resource::Cpu, seconds, seconds.saturating_add(CPU_GRACE)));
    }
    if memory {
        // Not the address space: runtimes reserve much more of it than they use.
        list.push((Resource::Data, limits.memory_bytes, limits.memory_bytes));
    }
    if let Some(processes) = processes {
        // One more, as the command is ended when it is seen to exceed its number.
        let seen = processes.saturating_add(1);
        list.push((Resource::Nproc, seen, seen));
    }
    list.into_iter()
        .map(|(resource, current, maximum)| {
            // Inherited limits can't be raised.
            let inherited = getrlimit(resource).maximum.unwrap_or(u64::MAX);
            let limit = Rlimit {
                current: Some(current.min(inherited)),
                maximum: Some(maximum.min(inherited)),
            };
            (resource, limit)
        })
        .collect()
}

/// Limits another process.
pub(super) fn apply_to(process: Pid, list: &[(Resource, Rlimit)]) -> io::Result<()> {
    list.iter()
        .try_for_each(|(resource, limit)| prlimit(Some(process), *resource, *limit).map(|_| ()))
}

/// Limits this process. Makes system calls only, for use between `fork` and `exec`.
pub(super) fn apply(list: &[(Resource, Rlimit)]) -> io::Result<()> {
    list.iter()
        .try_for_each(|(resource, limit)| setrlimit(*resource, *limit))
}

/// Returns whether the kernel counts this user's processes at all: it does not count those of root.
pub(super) fn counts_processes() -> bool {
    !getuid().is_root()
}
