//! Control groups: exact limits for a whole tree, where this process may make children of its own
//! groups. Elsewhere `meter` watches.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::processes;
use crate::Limits;

/// The beginning of the name of each group made here. The id of this process and a number follow.
const PREFIX: &str = "agent-sandbox-";

/// How often and at what interval to try to remove a group: the kernel may still be counting out the
/// last process.
const REMOVALS: u32 = 100;
const REMOVAL_INTERVAL: Duration = Duration::from_millis(10);

/// The largest limits that groups take: of processes, and of memory in bytes.
const MAX_PROCESSES: u64 = 1 << 22;
const MAX_MEMORY: u64 = i64::MAX as u64;

/// The time after which a group gets its share of processor time again, in microseconds.
const CPU_PERIOD: u64 = 100_000;

/// A resource that a group limits or counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resource {
    Processes,
    Memory,
    Cpu,
    CpuShare,
}

impl Resource {
    const ALL: [Self; 4] = [Self::Processes, Self::Memory, Self::Cpu, Self::CpuShare];

    /// The controller's name in version 1, where `cpuacct` counts time and `cpu` gives it, and in
    /// version 2.
    const fn controller(self, version: Version) -> &'static str {
        match (self, version) {
            (Self::Processes, _) => "pids",
            (Self::Memory, _) => "memory",
            (Self::Cpu, Version::One) => "cpuacct",
            (Self::Cpu, Version::Two) | (Self::CpuShare, _) => "cpu",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// A group of this process, under which groups for commands can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Parent {
    resource: Resource,
    version: Version,
    folder: PathBuf,
}

/// Returns whether groups can limit a resource here.
pub(super) fn has(resource: Resource) -> bool {
    parents().iter().any(|parent| parent.resource == resource)
}

/// Removes the control groups of commands whose process was killed before it could do it.
///
/// Returns whether none is left: a group is there until the last of its processes has ended.
pub fn remove_abandoned_groups() -> bool {
    let removed = parents().iter().map(|it| remove_abandoned(&it.folder));
    removed.fold(true, |all, removed| all & removed)
}

/// The usable groups of this process. Found once.
fn parents() -> &'static [Parent] {
    static PARENTS: OnceLock<Vec<Parent>> = OnceLock::new();
    PARENTS.get_or_init(|| {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let mut parents = find(&read("/proc/self/cgroup"), &read("/proc/self/mountinfo"));
        parents.retain(|parent| {
            remove_abandoned(&parent.folder);
            let probe = parent.folder.join(next_name());
            let usable = fs::create_dir(&probe).is_ok()
                && set_limit(
                    parent.resource,
                    parent.version,
                    &probe,
                    &Limits::default(),
                    0,
                )
                .is_ok();
            let _ = fs::remove_dir(&probe);
            usable
        });
        parents
    })
}

/// Finds the group of this process for each resource, by the texts of `/proc/self/cgroup` and
/// `/proc/self/mountinfo`.
fn find(groups: &str, mounts: &str) -> Vec<Parent> {
    let mut found = Vec::new();
    for resource in Resource::ALL {
        for version in [Version::One, Version::Two] {
            let controller = resource.controller(version);
            let Some(group) = groups.lines().find_map(|line| {
                let (_, rest) = line.split_once(':')?;
                let (controllers, path) = rest.split_once(':')?;
                let ours = match version {
                    Version::One => controllers.split(',').any(|name| name == controller),
                    Version::Two => controllers.is_empty(),
                };
                ours.then_some(path)
            }) else {
                continue;
            };
            let Some(folder) = mounts
                .lines()
                .find_map(|line| folder(line, version, controller, group))
            else {
                continue;
            };
            // A group of version 2 gives its children only the controllers that it names.
            if version == Version::Two {
                let given = fs::read_to_string(folder.join("cgroup.subtree_control"));
                let given = given.unwrap_or_default();
                if !given.split_whitespace().any(|name| name == controller) {
                    continue;
                }
            }
            found.push(Parent {
                resource,
                version,
                folder,
            });
            break;
        }
    }
    found
}

/// Returns the folder of `group` if `line` of a `mountinfo` mounts its hierarchy.
fn folder(line: &str, version: Version, controller: &str, group: &str) -> Option<PathBuf> {
    let (mount, system) = line.split_once(" - ")?;
    let mut mount = mount.split(' ').skip(3);
    let (root, point) = (mount.next()?, mount.next()?);
    let mut system = system.split(' ');
    let (kind, options) = (system.next()?, system.nth(1)?);
    let ours = match version {
        Version::One => kind == "cgroup" && options.split(',').any(|name| name == controller),
        Version::Two => kind == "cgroup2",
    };
    if !ours {
        return None;
    }
    let inside = Path::new(group).strip_prefix(root).ok()?;
    Some(Path::new(point).join(inside))
}

/// Removes groups of processes that are gone, which were killed before they could do it. Only empty
/// groups can be removed. Returns whether none is left.
fn remove_abandoned(parent: &Path) -> bool {
    let mut is_done = true;
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX))
            .and_then(|rest| rest.split('-').next());
        if let Some(owner) = owner
            && processes::has_ended(owner)
        {
            // Another process may have been faster.
            is_done &= fs::remove_dir(entry.path()).is_ok() || !entry.path().exists();
        }
    }
    is_done
}

fn next_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{PREFIX}{}-{number}", process::id())
}

/// Limits a group. `own` is the number of processes of the sandbox itself.
fn set_limit(
    resource: Resource,
    version: Version,
    group: &Path,
    limits: &Limits,
    own: u32,
) -> io::Result<()> {
    let memory = limits.memory_bytes.min(MAX_MEMORY);
    let set = |file: &str, value: u64| fs::write(group.join(file), value.to_string());
    match (resource, version) {
        (Resource::Processes, _) => {
            let processes = u64::from(limits.processes) + u64::from(own);
            set("pids.max", processes.min(MAX_PROCESSES))
        }
        (Resource::Memory, Version::One) => {
            set("memory.limit_in_bytes", memory)?;
            // Memory with swap; missing where the kernel does not count swap.
            let with_swap = "memory.memsw.limit_in_bytes";
            match group.join(with_swap).exists() {
                true => set(with_swap, memory),
                false => Ok(()),
            }
        }
        (Resource::Memory, Version::Two) => {
            set("memory.max", memory)?;
            match group.join("memory.swap.max").exists() {
                true => set("memory.swap.max", 0),
                false => Ok(()),
            }
        }
        (Resource::Cpu, _) => Ok(()),
        (Resource::CpuShare, version) => {
            let share = |percent: u32| u64::from(percent) * (CPU_PERIOD / 100);
            let share = limits.cpu_percent.map(share);
            match (version, share) {
                (Version::One, share) => {
                    set("cpu.cfs_period_us", CPU_PERIOD)?;
                    let share = share.map_or_else(|| "-1".to_owned(), |share| share.to_string());
                    fs::write(group.join("cpu.cfs_quota_us"), share)
                }
                (Version::Two, share) => {
                    let share = share.map_or_else(|| "max".to_owned(), |share| share.to_string());
                    fs::write(group.join("cpu.max"), format!("{share} {CPU_PERIOD}"))
                }
            }
        }
    }
}

/// The groups of one command: one folder for each hierarchy. They are removed when this is dropped,
/// which waits for the last process.
#[derive(Debug)]
pub(super) struct Cgroup {
    members: Vec<Parent>,
}

impl Cgroup {
    /// Makes the groups that this machine allows.
    pub(super) fn new(limits: &Limits, own: u32) -> io::Result<Self> {
        loop {
            match Self::named(&next_name(), limits, own) {
                // A process of another namespace with the same id has made it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made,
            }
        }
    }

    fn named(name: &str, limits: &Limits, own: u32) -> io::Result<Self> {
        let mut group = Self {
            members: Vec::new(),
        };
        for parent in parents() {
            let folder = parent.folder.join(name);
            // Resources of version 2 share a folder.
            if !group.members.iter().any(|member| member.folder == folder) {
                fs::create_dir(&folder)?;
            }
            let (resource, version) = (parent.resource, parent.version);
            group.members.push(Parent {
                resource,
                version,
                folder: folder.clone(),
            });
            set_limit(resource, version, &folder, limits, own)?;
        }
        Ok(group)
    }

    /// Returns the groups of no machine: nothing is limited here.
    pub(super) const fn none() -> Self {
        Self {
            members: Vec::new(),
        }
    }

    /// Opens the files through which a process joins, by writing `0`.
    pub(super) fn doors(&self) -> io::Result<Vec<File>> {
        let mut doors = Vec::new();
        for (index, member) in self.members.iter().enumerate() {
            let before = &self.members[..index];
            if before.iter().any(|other| other.folder == member.folder) {
                continue;
            }
            let door = member.folder.join("cgroup.procs");
            doors.push(OpenOptions::new().write(true).open(door)?);
        }
        Ok(doors)
    }

    fn member(&self, resource: Resource) -> Option<&Parent> {
        self.members
            .iter()
            .find(|member| member.resource == resource)
    }

    /// Returns whether the kernel ended a process for want of memory; `None` if memory is not
    /// limited here.
    pub(super) fn memory_exceeded(&self) -> Option<bool> {
        let member = self.member(Resource::Memory)?;
        let file = match member.version {
            Version::One => "memory.oom_control",
            Version::Two => "memory.events",
        };
        Some(count(&member.folder.join(file), "oom_kill") > 0)
    }

    /// Returns whether the kernel refused a process; `None` if their number is not limited here.
    pub(super) fn processes_exceeded(&self) -> Option<bool> {
        let member = self.member(Resource::Processes)?;
        Some(count(&member.folder.join("pids.events"), "max") > 0)
    }

    /// Returns the processor time of all processes until now; `None` if it is not counted here.
    pub(super) fn cpu_time(&self) -> Option<Duration> {
        let member = self.member(Resource::Cpu)?;
        Some(match member.version {
            Version::One => {
                let text = fs::read_to_string(member.folder.join("cpuacct.usage"));
                Duration::from_nanos(text.ok()?.trim().parse().ok()?)
            }
            Version::Two => {
                Duration::from_micros(count(&member.folder.join("cpu.stat"), "usage_usec"))
            }
        })
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        for member in &self.members {
            for _ in 0..REMOVALS {
                match fs::remove_dir(&member.folder) {
                    Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                        thread::sleep(REMOVAL_INTERVAL);
                    }
                    // A folder that several resources share is gone after the first.
                    _ => break,
                }
            }
        }
    }
}

/// Reads a number from a file of lines with a name and a number; 0 if it is not there.
fn count(file: &Path, name: &str) -> u64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(key, _)| *key == name)
        .and_then(|(_, value)| value.trim().parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Parent, Resource, Version, find};
    use std::path::Path;

    #[test]
    fn groups_of_version_1_are_found_by_their_controllers() {
        let groups = "8:pids:/a/b\n4:memory:/a\n2:cpu,cpuacct:/\n0::/\n";
        let mounts = "\
            30 25 0:27 / /sys/fs/cgroup/pids rw,relatime shared:9 - cgroup cgroup rw,pids\n\
            31 25 0:28 /a /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
            32 25 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
            33 25 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup rw\n";
        let parent = |resource, folder: &str| Parent {
            resource,
            version: Version::One,
            folder: Path::new(folder).into(),
        };
        assert_eq!(
            find(groups, mounts),
            [
                parent(Resource::Processes, "/sys/fs/cgroup/pids/a/b"),
                parent(Resource::Memory, "/sys/fs/cgroup/memory"),
                parent(Resource::Cpu, "/sys/fs/cgroup/cpu,cpuacct"),
                parent(Resource::CpuShare, "/sys/fs/cgroup/cpu,cpuacct"),
            ]
        );
    }

    #[test]
    fn groups_of_version_2_are_found_by_what_they_give_their_children() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("user.slice");
        std::fs::create_dir(&folder).unwrap();
        let mounts = format!(
            "33 25 0:30 / {} rw,nosuid - cgroup2 cgroup2 rw\n",
            root.path().display()
        );
        let find = || find("0::/user.slice\n", &mounts);
        assert_eq!(find(), []);
        std::fs::write(folder.join("cgroup.subtree_control"), "memory pids\n").unwrap();
        let found: Vec<_> = find().iter().map(|parent| parent.resource).collect();
        assert_eq!(found, [Resource::Processes, Resource::Memory]);
        assert!(find().iter().all(|parent| parent.folder == folder));
    }

    #[test]
    fn a_group_outside_of_its_mount_is_not_used() {
        let mounts = "31 25 0:28 /elsewhere /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        assert_eq!(find("4:memory:/a\n", mounts), []);
    }
}
