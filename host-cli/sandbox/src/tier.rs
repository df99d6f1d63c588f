//! The kinds of sandbox, and why one can't be had.

use std::error::Error;
use std::fmt;

/// A kind of sandbox, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Namespaces of its own for users, processes, mounts, network, IPC and host name, made by
    /// bubblewrap, and a filter of system calls.
    Bubblewrap,
    /// Landlock rules for files and a stricter filter of system calls, in the machine's namespaces.
    Landlock,
}

impl Tier {
    /// All tiers, the strongest first.
    pub const ALL: [Self; 2] = [Self::Bubblewrap, Self::Landlock];

    /// Returns the tier's name in evidence and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "landlock",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A tier that can't be had on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// The tier.
    pub tier: Tier,
    /// The obstacle.
    pub obstacle: Obstacle,
    /// What the system reported; may be empty.
    pub detail: String,
}

/// The obstacle to a tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Obstacle {
    /// The kernel is older than Linux 5.11.
    Kernel,
    /// The program `bwrap` is not installed.
    BubblewrapMissing,
    /// AppArmor takes the rights of new user namespaces away, as in Ubuntu 24.04.
    AppArmor,
    /// User namespaces are switched off.
    UserNamespaces,
    /// The kernel has no filter of system calls.
    Seccomp,
    /// The kernel has no Landlock, or it is switched off.
    Landlock,
    /// The program `bash` for the trial run is not installed.
    BashMissing,
    /// The trial run did not start or end properly.
    Trial,
    /// The trial run found a fence open.
    OpenFence,
}

impl Obstacle {
    /// Returns what the person in charge of the machine can do; `None` if nothing is known.
    #[must_use]
    pub const fn remedy(self) -> Option<&'static str> {
        match self {
            Self::BubblewrapMissing => {
                Some("install bubblewrap: `apt install bubblewrap`, `dnf install bubblewrap`")
            }
            Self::AppArmor => Some(
                "give bwrap an AppArmor profile that contains `userns,` (`apt install \
                 apparmor-profiles`, then link bwrap-userns-restrict into /etc/apparmor.d and reload), \
                 or run `sysctl kernel.apparmor_restrict_unprivileged_userns=0`",
            ),
            Self::UserNamespaces => Some(
                "run `sysctl user.max_user_namespaces=10000` and, where it exists, `sysctl \
                 kernel.unprivileged_userns_clone=1`; in a container, allow user namespaces",
            ),
            Self::Kernel => Some("use Linux 5.11 or later"),
            Self::Seccomp => Some("use a kernel with CONFIG_SECCOMP_FILTER"),
            Self::Landlock => Some(
                "use Linux 5.13 or later with CONFIG_SECURITY_LANDLOCK, and `landlock` in the kernel \
                 parameter `lsm`",
            ),
            Self::BashMissing => Some("install bash"),
            Self::Trial | Self::OpenFence => None,
        }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kernel => "the kernel is older than Linux 5.11",
            Self::BubblewrapMissing => "bubblewrap is not installed",
            Self::AppArmor => "AppArmor restricts user namespaces",
            Self::UserNamespaces => "user namespaces are switched off",
            Self::Seccomp => "the kernel has no filter of system calls",
            Self::Landlock => "the kernel has no Landlock",
            Self::BashMissing => "bash, which the trial run needs, is not installed",
            Self::Trial => "the trial run failed",
            Self::OpenFence => "the trial run found an open fence",
        })
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no {} sandbox: {}", self.tier, self.obstacle)?;
        if !self.detail.is_empty() {
            write!(f, " ({})", self.detail)?;
        }
        Ok(())
    }
}

impl Error for Unavailable {}
