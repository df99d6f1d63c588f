//! What a command uses of the limits of its whole tree: counted by control groups where there are
//! any, else read off the process table.

use std::time::Duration;

use rustix::param::clock_ticks_per_second;

use super::cgroup::Cgroup;
use super::processes;
use super::tree::Tree;
use crate::{Limit, Limits};

/// The use of one command.
pub(super) struct Meter<'a> {
    limits: &'a Limits,
    group: &'a Cgroup,
    tree: &'a Tree,
    /// The most processor time that was ever seen: ended processes leave the table.
    cpu_time: Duration,
}

impl<'a> Meter<'a> {
    pub(super) const fn new(limits: &'a Limits, group: &'a Cgroup, tree: &'a Tree) -> Self {
        Self {
            limits,
            group,
            tree,
            cpu_time: Duration::ZERO,
        }
    }

    /// Returns a limit that the command has exceeded.
    pub(super) fn exceeded(&mut self) -> Option<Limit> {
        let memory = self.group.memory_exceeded();
        let processes = self.group.processes_exceeded();
        let cpu_time = self.group.cpu_time();
        if processes == Some(true) {
            return Some(Limit::Processes);
        }
        if memory == Some(true) {
            return Some(Limit::Memory);
        }
        let seen = match (memory, processes, cpu_time) {
            (Some(_), Some(_), Some(_)) => Seen::default(),
            _ => Seen::now(self.tree, memory.is_none()),
        };
        self.cpu_time = self.cpu_time.max(cpu_time.unwrap_or(seen.cpu_time));
        // Many processes also use much memory: their number is the reason.
        if processes.is_none() && seen.processes > u64::from(self.limits.processes) {
            Some(Limit::Processes)
        } else if memory.is_none() && seen.memory > self.limits.memory_bytes {
            Some(Limit::Memory)
        } else if self
            .limits
            .cpu_time
            .is_some_and(|limit| self.cpu_time >= limit)
        {
            Some(Limit::CpuTime)
        } else {
            None
        }
    }
}

/// What the process table says about a tree.
#[derive(Default)]
struct Seen {
    memory: u64,
    processes: u64,
    cpu_time: Duration,
}

impl Seen {
    fn now(tree: &Tree, with_memory: bool) -> Self {
        let (members, own) = tree.members(&processes::table());
        let threads: u64 = members.iter().map(|process| process.threads).sum();
        let ticks: u64 = members.iter().map(|process| process.cpu_ticks).sum();
        let memory = match with_memory {
            true => members
                .iter()
                .map(|process| processes::memory(process.id))
                .sum(),
            false => 0,
        };
        Self {
            memory,
            processes: threads.saturating_sub(own),
            cpu_time: Duration::from_secs(ticks)
                / u32::try_from(clock_ticks_per_second()).unwrap_or(1),
        }
    }
}
