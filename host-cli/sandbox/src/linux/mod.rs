//! Sandboxes of Linux.

mod bubblewrap;
mod cgroup;
mod child_setup;
mod guard;
mod landlock;
mod launch;
mod listener;
mod meter;
mod network_namespace;
mod private;
mod processes;
mod readable;
mod rlimits;
mod seccomp;
mod supervisor;
mod tree;
mod trial;
mod unnamespaced;
mod unsandboxed;

use std::fs;
use std::process::{self, Stdio};

pub(crate) use bubblewrap::message_of;
pub use cgroup::remove_abandoned_groups;
pub(crate) use network_namespace::NetworkNamespace;
pub use private::remove_folder;
pub(crate) use supervisor::{Cause, Ended, Started, Stopper, start};

use crate::sandbox::Place;
use crate::{ControlGroups, Obstacle, Report, Tier, Unavailable, Weakness};
use trial::Failure;

/// Settings that switch user namespaces off, with the value that does.
const NAMESPACE_SETTINGS: [(&str, &str); 2] = [
    ("/proc/sys/kernel/unprivileged_userns_clone", "0"),
    ("/proc/sys/user/max_user_namespaces", "0"),
];
/// The setting of Ubuntu's AppArmor that takes the rights of new user namespaces away.
const APPARMOR_SETTING: (&str, &str) = (
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    "1",
);

/// Runs the trial of a tier.
pub(crate) async fn trial(place: Place) -> Result<(), Unavailable> {
    let tier = place.tier;
    let unavailable = |obstacle, detail: String| Unavailable {
        tier,
        obstacle,
        detail,
    };
    let missing = match tier {
        _ if !child_setup::is_supported() => Some(Obstacle::Kernel),
        _ if !has_seccomp() => Some(Obstacle::Seccomp),
        Tier::Bubblewrap if bubblewrap::program().is_none() => Some(Obstacle::BubblewrapMissing),
        Tier::Landlock if landlock::version().is_none() => Some(Obstacle::Landlock),
        _ => None,
    };
    if let Some(obstacle) = missing {
        return Err(unavailable(obstacle, String::new()));
    }
    trial::run(place).await.map_err(|failure| match failure {
        Failure::NoShell => unavailable(Obstacle::BashMissing, String::new()),
        Failure::OpenFence(which) => unavailable(Obstacle::OpenFence, which),
        Failure::NotRun(reason) => {
            let is_set = |(file, value): &(&str, &str)| {
                fs::read_to_string(file).is_ok_and(|text| text.trim() == *value)
            };
            let obstacle = match tier {
                Tier::Landlock => Obstacle::Trial,
                Tier::Bubblewrap if NAMESPACE_SETTINGS.iter().any(is_set) => {
                    Obstacle::UserNamespaces
                }
                Tier::Bubblewrap if is_set(&APPARMOR_SETTING) => Obstacle::AppArmor,
                Tier::Bubblewrap if is_about_namespaces(&reason) => Obstacle::UserNamespaces,
                Tier::Bubblewrap => Obstacle::Trial,
            };
            unavailable(obstacle, reason)
        }
    })
}

/// Returns whether a message of bubblewrap is about the namespaces that it was refused.
fn is_about_namespaces(message: &str) -> bool {
    let words = ["namespace", "uid map", "RTM_NEWADDR"];
    words.iter().any(|word| message.contains(word))
}

/// Returns what is known of the machine without a trial.
pub(crate) fn machine() -> Report {
    let kernel = ["ostype", "osrelease"].map(|name| {
        let text = fs::read_to_string(format!("/proc/sys/kernel/{name}"));
        text.unwrap_or_default().trim().to_owned()
    });
    Report {
        kernel: kernel.join(" "),
        bubblewrap: bubblewrap_version(),
        landlock: landlock::version(),
        seccomp: has_seccomp(),
        control_groups: control_groups(),
        tiers: Vec::new(),
    }
}

/// Returns the usable control groups.
pub(crate) fn control_groups() -> ControlGroups {
    ControlGroups {
        processes: cgroup::has(cgroup::Resource::Processes),
        memory: cgroup::has(cgroup::Resource::Memory),
        cpu_time: cgroup::has(cgroup::Resource::Cpu),
        cpu_percent: cgroup::has(cgroup::Resource::CpuShare),
    }
}

fn bubblewrap_version() -> Option<String> {
    let mut version = process::Command::new(bubblewrap::program()?);
    let version = version.env_clear().arg("--version").stdin(Stdio::null());
    let output = version.output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns whether the kernel has filters of system calls.
fn has_seccomp() -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| status.contains("\nSeccomp:"))
}

/// Lists what a tier leaves open on this machine.
pub(crate) fn weaknesses(tier: Tier, groups: ControlGroups) -> Vec<Weakness> {
    let in_landlock = tier == Tier::Landlock;
    let before = |version| in_landlock && landlock::version() < Some(version);
    let counted = rlimits::counts_processes();
    let candidates = [
        (!groups.memory, Weakness::MemoryOfTreeWatched),
        (!groups.processes && !counted, Weakness::ProcessesWatched),
        (
            !groups.processes && counted && in_landlock,
            Weakness::ProcessesOfUser,
        ),
        (!groups.cpu_time, Weakness::CpuTimeOfTreeWatched),
        (true, Weakness::GrantedFoldersUnlimited),
        (
            in_landlock || !bubblewrap::sizes_folders(),
            Weakness::PrivateFoldersUnlimited,
        ),
        (in_landlock, Weakness::FilesSeen),
        (in_landlock, Weakness::ProcessesSeen),
        (in_landlock, Weakness::UsersSeen),
        (in_landlock, Weakness::NoPrivateSystemFolders),
        (in_landlock, Weakness::FewerCalls),
        (in_landlock, Weakness::SurvivorsOfKill),
        (before(landlock::VERSION_WITH_SCOPES), Weakness::Signals),
        (
            before(landlock::VERSION_WITH_DEVICES),
            Weakness::DeviceRequests,
        ),
    ];
    let present = candidates.into_iter().filter(|(present, _)| *present);
    present.map(|(_, weakness)| weakness).collect()
}

#[cfg(test)]
mod tests {
    use super::is_about_namespaces;

    #[test]
    fn refusals_of_namespaces_are_recognised() {
        for message in [
            "setting up uid map: Permission denied",
            "No permissions to create new namespace, likely because the kernel does not allow it",
            "Creating new namespace failed: No space left on device",
            "loopback: Failed RTM_NEWADDR: Operation not permitted",
        ] {
            assert!(is_about_namespaces(message));
        }
        assert!(!is_about_namespaces("execvp /x: No such file or directory"));
    }
}
