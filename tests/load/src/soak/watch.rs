//! Memory, descriptors and children of the gateways.

use crate::gateways::Gateways;
use crate::tally::Tally;
use agent_load::process::{Process, descendants, descriptors, memory};
use std::collections::BTreeMap;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The pause between two looks.
pub(crate) const PAUSE: Duration = Duration::from_millis(250);

/// The growth of a gateway's memory, after the first third of the time, up to which nothing leaks, in bytes.
const GROWTH_BYTES: u64 = 32 << 20;

/// The number of descriptors that a gateway may have more than before the test: connections to servers that it keeps.
const MORE_DESCRIPTORS: usize = 80;

/// The time until every server runs, and every descriptor of a client is closed.
const SETTLE: Duration = Duration::from_secs(150);

/// Looks in a row at which a server may run twice: the earlier one is ending.
const TWICE: u32 = 8;

pub(crate) struct Watch {
    /// The names of the servers that each gateway starts.
    started: Vec<String>,
    program: String,
    watched: Vec<Watched>,
}

/// A gateway.
struct Watched {
    name: String,
    pid: u32,
    descriptors: usize,
    most_descriptors: usize,
    /// The most memory in the first third of the time, and in the last one.
    memory: (u64, u64),
    /// For each server, at how many looks in a row it ran twice.
    twice: BTreeMap<String, u32>,
}

impl Watch {
    pub(crate) fn new(gateways: &Gateways, started: Vec<String>, program: &Path) -> Self {
        let watched = gateways.processes().into_iter().map(|(name, pid)| Watched {
            name,
            pid,
            descriptors: 0,
            most_descriptors: 0,
            memory: (0, 0),
            twice: BTreeMap::new(),
        });
        Self {
            started,
            program: program.display().to_string(),
            watched: watched.collect(),
        }
    }

    /// Remembers the descriptors before the test.
    pub(crate) fn begin(&mut self) {
        for watched in &mut self.watched {
            watched.descriptors = descriptors(watched.pid).unwrap_or(0);
        }
    }

    /// Returns all processes below the gateways.
    pub(crate) fn processes(&self) -> Vec<Process> {
        self.watched
            .iter()
            .flat_map(|it| descendants(it.pid))
            .collect()
    }

    /// Returns the servers that gateways started.
    pub(crate) fn servers(&self) -> Vec<Process> {
        let servers = self.processes().into_iter();
        servers.filter(|it| self.server(it).is_some()).collect()
    }

    /// Returns the name of the server that a process is.
    fn server(&self, process: &Process) -> Option<String> {
        match &process.arguments[..] {
            [program, transport, name, ..] if *program == self.program && transport == "stdio" => {
                Some(name.clone())
            }
            _ => None,
        }
    }

    /// Returns how often each server of a gateway runs.
    fn running(&self, pid: u32) -> BTreeMap<String, u32> {
        let mut running = BTreeMap::new();
        for process in descendants(pid) {
            if let Some(name) = self.server(&process) {
                *running.entry(name).or_default() += 1;
            }
        }
        running
    }

    /// Looks at memory and servers. `left` is what is left of the `time` of the test.
    pub(crate) fn look(&mut self, tally: &Tally, left: Duration, time: Duration) {
        let running: Vec<_> = self.watched.iter().map(|it| self.running(it.pid)).collect();
        for (watched, running) in self.watched.iter_mut().zip(running) {
            let used = memory(watched.pid).unwrap_or(0);
            if left >= time * 2 / 3 {
                watched.memory.0 = watched.memory.0.max(used);
            } else if left <= time / 3 {
                watched.memory.1 = watched.memory.1.max(used);
            }
            let open = descriptors(watched.pid).unwrap_or(0);
            watched.most_descriptors = watched.most_descriptors.max(open);
            for name in &self.started {
                let looks = watched.twice.entry(name.clone()).or_default();
                match running.get(name) {
                    Some(2..) => *looks += 1,
                    _ => *looks = 0,
                }
                if *looks == TWICE {
                    tally.fail(format!("{}: {name} runs twice", watched.name));
                }
            }
        }
    }

    /// Waits until every gateway has each of its servers once, and has as many descriptors as before.
    pub(crate) fn settle(&self, tally: &Tally) {
        let end = Instant::now() + SETTLE;
        for watched in &self.watched {
            while let Some(why) = self.unsettled(watched) {
                if Instant::now() > end {
                    tally.fail(format!("{}: {why}", watched.name));
                    break;
                }
                sleep(PAUSE);
            }
        }
    }

    fn unsettled(&self, watched: &Watched) -> Option<String> {
        let running = self.running(watched.pid);
        if running.len() != self.started.len() || running.values().any(|number| *number != 1) {
            return Some(format!("its servers run {running:?} times"));
        }
        let open = descriptors(watched.pid)?;
        let most = watched.descriptors + MORE_DESCRIPTORS;
        (watched.descriptors > 0 && open > most).then(|| {
            format!(
                "{open} descriptors are open, {} before",
                watched.descriptors
            )
        })
    }

    /// Judges the memory.
    pub(crate) fn judge(&self, tally: &Tally) {
        for watched in &self.watched {
            let (first, last) = watched.memory;
            if last > first + GROWTH_BYTES {
                let (first, last) = (first >> 20, last >> 20);
                let name = &watched.name;
                tally.fail(format!("{name}: memory grew from {first} to {last} MiB"));
            }
        }
    }

    /// Returns a line for each gateway.
    pub(crate) fn report(&self) -> String {
        let lines = self.watched.iter().map(|it| {
            format!(
                "{}: memory {} MiB in the first third, {} MiB in the last; descriptors {} before, at most {}",
                it.name,
                it.memory.0 >> 20,
                it.memory.1 >> 20,
                it.descriptors,
                it.most_descriptors,
            )
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::{GROWTH_BYTES, Watch, Watched};
    use crate::tally::Tally;
    use std::collections::BTreeMap;

    fn judged(memory: (u64, u64)) -> Vec<String> {
        let watched = Watched {
            name: "it".to_owned(),
            pid: 0,
            descriptors: 0,
            most_descriptors: 0,
            memory,
            twice: BTreeMap::new(),
        };
        let watch = Watch {
            started: Vec::new(),
            program: String::new(),
            watched: vec![watched],
        };
        let tally = Tally::default();
        watch.judge(&tally);
        tally.failures()
    }

    #[test]
    fn memory_that_grows_is_a_failure() {
        let first = 50 << 20;
        assert_eq!(judged((first, first + GROWTH_BYTES)), [""; 0]);
        let failures = judged((first, first + GROWTH_BYTES + 1));
        assert_eq!(failures, ["it: memory grew from 50 to 82 MiB"]);
    }
}
