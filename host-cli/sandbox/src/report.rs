//! What this machine gives: data for a command that shows it.

use std::fmt;

use crate::{Sandbox, Tier, Unavailable, linux};

/// What this machine gives, what is missing and how to get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Name and version of the kernel, such as `Linux 6.12.1`.
    pub kernel: String,
    /// Version of bubblewrap, such as `bubblewrap 0.8.0`; `None` if it is not installed.
    pub bubblewrap: Option<String>,
    /// Version of Landlock; `None` if the kernel has none or has it switched off.
    pub landlock: Option<u32>,
    /// Whether the kernel has filters of system calls.
    pub seccomp: bool,
    /// The usable control groups.
    pub control_groups: ControlGroups,
    /// Each tier, the strongest first.
    pub tiers: Vec<TierReport>,
}

/// The control groups that this process can make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ControlGroups {
    /// They limit the number of processes.
    pub processes: bool,
    /// They limit memory.
    pub memory: bool,
    /// They count processor time.
    pub cpu_time: bool,
    /// They give a share of processor time.
    pub cpu_percent: bool,
}

/// What one tier gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierReport {
    /// The tier.
    pub tier: Tier,
    /// Whether it passed its trial run; if not, the reason with its remedy.
    pub trial: Result<(), Unavailable>,
    /// What it does not fence off on this machine.
    pub weaknesses: Vec<Weakness>,
}

/// Something that a tier does not fence off or does not do exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Weakness {
    /// Memory is limited for each process; the sum is only watched.
    MemoryOfTreeWatched,
    /// The number of processes is only watched.
    ProcessesWatched,
    /// The number of processes is watched, and limited together with those of the user.
    ProcessesOfUser,
    /// Processor time is limited for each process; the sum is only watched.
    CpuTimeOfTreeWatched,
    /// Granted folders can be filled.
    GrantedFoldersUnlimited,
    /// Private folders can be filled.
    PrivateFoldersUnlimited,
    /// Files elsewhere are seen, though not read.
    FilesSeen,
    /// Ids of processes elsewhere can be found out.
    ProcessesSeen,
    /// Users of the machine are seen.
    UsersSeen,
    /// Programs that need a fixed `/tmp`, `/dev/shm` or `/proc/self` fail.
    NoPrivateSystemFolders,
    /// Changes of modes, owners, attributes and process groups fail, also in granted folders.
    FewerCalls,
    /// If this process is killed, descendants of a command may go on.
    SurvivorsOfKill,
    /// Other processes of the same user can be signalled.
    Signals,
    /// Granted devices take requests.
    DeviceRequests,
}

impl fmt::Display for Weakness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MemoryOfTreeWatched => {
                "without a memory control group, the kernel limits the memory of each process; their sum \
                 is checked 20 times a second"
            }
            Self::ProcessesWatched => {
                "without a pids control group, the number of root's processes is checked 20 times a second"
            }
            Self::ProcessesOfUser => {
                "without a pids control group, the number of processes is checked 20 times a second; the \
                 kernel limits it only together with all others of the user"
            }
            Self::CpuTimeOfTreeWatched => {
                "without a cpuacct control group, the kernel limits the processor time of each process; \
                 their sum is estimated"
            }
            Self::GrantedFoldersUnlimited => {
                "only the size of each file is limited in a folder that a command may change, not their \
                 number"
            }
            Self::PrivateFoldersUnlimited => {
                "only the size of each file is limited in private folders, not their number; bubblewrap 0.7 \
                 or later limits their size"
            }
            Self::FilesSeen => {
                "names, sizes, modes and changes of files outside can be found out by their path, and \
                 times of the user's files changed; their content can't be read or changed"
            }
            Self::ProcessesSeen => {
                "the ids of other processes can be found out; their command lines and environments can't"
            }
            Self::UsersSeen => "the names of the machine's users can be read",
            Self::NoPrivateSystemFolders => {
                "/tmp, /dev/shm and /proc/PID can't be used, only the folder in TMPDIR"
            }
            Self::FewerCalls => {
                "changes of modes, owners, extended attributes and process groups are refused everywhere"
            }
            Self::SurvivorsOfKill => {
                "if the host process is killed, only the first process of a command ends with it"
            }
            Self::Signals => {
                "this Landlock, older than version 6, lets a command signal other processes of the user"
            }
            Self::DeviceRequests => {
                "this Landlock, older than version 5, lets a command send requests to granted devices"
            }
        })
    }
}

impl Report {
    /// Returns the tier that [`Sandbox::best`] takes.
    #[must_use]
    pub fn best(&self) -> Option<Tier> {
        let passed = self.tiers.iter().find(|tier| tier.trial.is_ok());
        passed.map(|tier| tier.tier)
    }
}

/// Returns the usable control groups. They are found once in the life of this process.
#[must_use]
pub fn control_groups() -> ControlGroups {
    linux::control_groups()
}

/// Finds out what this machine gives. The trial run of each tier happens once in the life of this
/// process.
pub async fn check() -> Report {
    let mut report = linux::machine();
    for tier in Tier::ALL {
        let trial = Sandbox::of(tier).await.map(|_| ());
        let weaknesses = match trial {
            Ok(()) => linux::weaknesses(tier, report.control_groups),
            Err(_) => Vec::new(),
        };
        report.tiers.push(TierReport {
            tier,
            trial,
            weaknesses,
        });
    }
    report
}
