//! The process table, as far as limits need it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A process of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) id: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    /// It has ended and waits for its parent to notice.
    pub(super) ended: bool,
    pub(super) threads: u64,
    /// Processor time of it and of its ended children, in clock ticks.
    pub(super) cpu_ticks: u64,
}

/// Reads the table. Processes that end meanwhile are left out.
pub(super) fn table() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter_map(|id| fs::read(format!("/proc/{id}/stat")).ok())
        .filter_map(|stat| parse(&String::from_utf8_lossy(&stat)))
        .collect()
}

/// Counts the processes and threads of a user, as the kernel does for a limit of their number.
pub(super) fn count_of_user(user: u32) -> u64 {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter_map(|id| fs::read_to_string(format!("/proc/{id}/status")).ok())
        .filter_map(|status| {
            let number = |name: &str| -> Option<u32> {
                let line = status.lines().find_map(|line| line.strip_prefix(name))?;
                line.split_whitespace().next()?.parse().ok()
            };
            // An ended process has no line for its threads.
            (number("Uid:")? == user).then(|| u64::from(number("Threads:").unwrap_or(1)))
        })
        .sum()
}

/// Returns whether a process has ended. One whose parent does not notice, as the first process of many containers, stays in
/// the table of processes as a zombie.
pub(super) fn has_ended(id: &str) -> bool {
    let stat = fs::read(Path::new("/proc").join(id).join("stat"));
    stat.map_or(true, |stat| {
        parse(&String::from_utf8_lossy(&stat)).is_some_and(|process| process.ended)
    })
}

/// Parses a line of `/proc/PID/stat`. The name, in parentheses, may contain anything.
fn parse(stat: &str) -> Option<Process> {
    let (id, _) = stat.split_once(' ')?;
    let (_, rest) = stat.rsplit_once(')')?;
    // The first of these is field 3 in proc(5).
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3).copied();
    let number = |at: usize| field(at)?.parse::<i64>().ok();
    let time = |at: usize| number(at).map(|ticks| u64::try_from(ticks).unwrap_or(0));
    let threads = time(20)?;
    Some(Process {
        id: id.parse().ok()?,
        parent: field(4)?.parse().ok()?,
        group: field(5)?.parse().ok()?,
        // The state is the first thread's, which may end long before the others.
        ended: matches!(field(3)?, "Z" | "X") && threads <= 1,
        threads,
        cpu_ticks: time(14)? + time(15)? + time(16)? + time(17)?,
    })
}

/// Returns `root` and everything below it.
pub(super) fn descendants(table: &[Process], root: i32) -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    for process in table {
        children.entry(process.parent).or_default().push(*process);
    }
    let mut found: Vec<Process> = Vec::new();
    found.extend(table.iter().find(|process| process.id == root));
    let mut next = 0;
    while let Some(parent) = found.get(next).map(|process| process.id) {
        // Taken out: a table is not read at one instant, so a reused id could make a circle.
        let children = children.remove(&parent).unwrap_or_default();
        found.extend(children.iter().filter(|child| child.id != root));
        next += 1;
    }
    found
}

/// Returns a process group, without those who only wait for a parent outside of it to notice their
/// end: whether that ever happens is not the group's affair.
pub(super) fn group(table: &[Process], group: i32) -> Vec<Process> {
    let members = || table.iter().filter(|process| process.group == group);
    let ids: BTreeSet<i32> = members().map(|process| process.id).collect();
    members()
        .filter(|process| !process.ended || ids.contains(&process.parent))
        .copied()
        .collect()
}

/// Returns the bytes of memory that a process uses: its own pages and its shared memory, not the
/// files that it has mapped. Pages that it shares with its parent until one changes them count
/// twice.
pub(super) fn memory(id: i32) -> u64 {
    let of_thread = |thread: &Path| {
        let status = fs::read_to_string(thread.join("status")).ok()?;
        let kibibytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()
        };
        Some((kibibytes("RssAnon:")? + kibibytes("RssShmem:")?) << 10)
    };
    let process = Path::new("/proc").join(id.to_string());
    // A first thread that has ended uses none, while others may use the process's.
    of_thread(&process)
        .or_else(|| {
            let threads = fs::read_dir(process.join("task")).into_iter().flatten();
            threads.flatten().find_map(|it| of_thread(&it.path()))
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Process, count_of_user, descendants, group, has_ended, memory, parse, table};
    use std::process::{self, Command, Stdio};
    use std::time::Duration;
    use std::{fs, thread};

    #[test]
    fn names_with_parentheses_and_spaces_are_read() {
        let stat = "7 (a) (b c) S 3 5 5 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 6 0 99 1 2";
        let expected = Process {
            id: 7,
            parent: 3,
            group: 5,
            ended: false,
            threads: 6,
            cpu_ticks: 100,
        };
        assert_eq!(parse(stat), Some(expected));
        let zombie = stat.replace(" S ", " Z ");
        assert!(!parse(&zombie).unwrap().ended, "5 threads of it live");
        assert!(
            parse(&zombie.replace(" 20 0 6 ", " 20 0 1 "))
                .unwrap()
                .ended
        );
        assert_eq!(parse("7 (a"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn descendants_are_found_without_going_in_circles() {
        let process = |id, parent| Process {
            id,
            parent,
            group: 0,
            ended: false,
            threads: 1,
            cpu_ticks: 0,
        };
        let table = [process(2, 3), process(3, 2), process(4, 3), process(5, 1)];
        let ids = |root| -> Vec<i32> {
            let found = descendants(&table, root);
            found.iter().map(|process| process.id).collect()
        };
        assert_eq!(ids(2), [2, 3, 4]);
        assert_eq!(ids(5), [5]);
        assert_eq!(ids(9), []);
    }

    #[test]
    fn ended_members_of_a_group_count_if_their_parent_is_in_it() {
        let process = |id, parent, ended| Process {
            id,
            parent,
            group: 7,
            ended,
            threads: 1,
            cpu_ticks: 0,
        };
        let table = [
            process(7, 2, false),
            process(8, 7, true),
            process(9, 1, true),
            process(10, 1, false),
        ];
        let ids: Vec<i32> = group(&table, 7).iter().map(|process| process.id).collect();
        assert_eq!(ids, [7, 8, 10]);
        assert_eq!(group(&table, 8), []);
    }

    #[test]
    fn this_process_is_in_the_table_and_uses_memory() {
        let id = i32::try_from(process::id()).unwrap();
        assert!(table().iter().any(|process| process.id == id));
        let user = rustix::process::getuid().as_raw();
        assert!(count_of_user(user) >= 1);
        assert_eq!(count_of_user(u32::MAX), 0);
        assert!(memory(id) > 0);
        assert_eq!(memory(-1), 0);
    }

    /// A program whose first thread ends, and whose second one waits for its input to end.
    const SECOND_THREAD: &str = "import ctypes, sys, threading
threading.Thread(target=sys.stdin.read).start()
ctypes.CDLL(None).pthread_exit(None)";

    #[test]
    fn a_process_whose_first_thread_has_ended_lives_and_uses_memory() {
        let mut child = Command::new("/usr/bin/python3")
            .args(["-c", SECOND_THREAD])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let id = child.id().to_string();
        let is_zombie = || {
            let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
            stat.contains(") Z ")
        };
        while !is_zombie() {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(!has_ended(&id));
        assert!(memory(id.parse().unwrap()) > 1 << 20);
        drop(child.stdin.take());
        while !has_ended(&id) {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(is_zombie());
        child.wait().unwrap();
        assert!(has_ended(&id));
    }
}
