//! The tier without namespaces: the start of a command under Landlock and the filter.

use std::process::{self, Stdio};

use rustix::process::getuid;

use super::cgroup::{self, Cgroup, Resource};
use super::child_setup::{ChildSetup, Restrictions};
use super::launch::{Launched, give_up, spawn_error};
use super::private::PrivateFolder;
use super::seccomp::Gaps;
use super::tree::Tree;
use super::{landlock, processes, rlimits, seccomp};
use crate::{Command, Home, Limits, Network, Tier};

/// Processes and threads that the user may start elsewhere while a command runs. Without room for
/// them, they would make a command fail that keeps its limit.
const ROOM_FOR_OTHERS: u64 = 1000;

/// Starts a command.
pub(super) fn launch(
    command: &Command,
    limits: &Limits,
    use_groups: bool,
) -> Result<Launched, String> {
    let missing = match command.network {
        // Landlock knows ports and no addresses: the port of a proxy would be open everywhere.
        Network::Proxy | Network::InboundAndProxy => {
            Some("network of its own, which a proxy needs")
        }
        Network::Inbound => Some("network of its own to connect to"),
        Network::None | Network::Host if !command.mounts.is_empty() => {
            Some("other paths for folders")
        }
        Network::None | Network::Host => limits
            .cpu_percent
            .map(|_| "limit for the share of processor time"),
    };
    if let Some(missing) = missing {
        let tier = Tier::Landlock.name();
        return Err(format!(
            "the tier `{tier}` has no {missing}; install bubblewrap"
        ));
    }
    let private =
        PrivateFolder::new().map_err(|error| format!("no private folder can be made: {error}"))?;
    let rules = landlock::rules(command, &private)?;
    let gaps = Gaps {
        truncation: landlock::version() < Some(landlock::VERSION_WITH_TRUNCATION),
    };
    let group = match use_groups {
        true => Cgroup::new(limits, 0)
            .map_err(|error| format!("no control group can be made: {error}"))?,
        false => Cgroup::none(),
    };

    let private_home = private.home();
    let home = match &command.home {
        Home::Private => &private_home,
        Home::Folder(home) => home,
    };
    let cwd = command.cwd.as_deref().unwrap_or(home);
    let mut run = process::Command::new(&command.program);
    run.args(&command.arguments)
        .env_clear()
        .env("HOME", home)
        .env("TMPDIR", private.temporary())
        .envs(&command.env)
        .env("PWD", cwd)
        .current_dir(cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let memory = !(use_groups && cgroup::has(Resource::Memory));
    let setup = ChildSetup {
        groups: group.doors().map_err(|error| error.to_string())?,
        limits: rlimits::list(limits, memory, processes_of_user(limits)),
        restrictions: Some(Restrictions {
            rules,
            filter: seccomp::filter(Tier::Landlock, command.network, gaps),
        }),
        ..ChildSetup::default()
    };
    setup.prepare(&mut run);
    let child = run
        .spawn()
        .map_err(|error| spawn_error(&command.program, &error))?;
    let tree = match Tree::group(&child) {
        Ok(tree) => tree,
        Err(error) => return Err(give_up(child, &error)),
    };
    Ok(Launched {
        child,
        tree,
        group,
        status: None,
        guarded: None,
        private: Some(private),
        proxy: None,
        inside: None,
    })
}

/// Returns the number of processes that this user may have: the present ones, those of the command,
/// and room for others. Without a user namespace the kernel counts all together.
fn processes_of_user(limits: &Limits) -> Option<u64> {
    let present = || processes::count_of_user(getuid().as_raw());
    rlimits::counts_processes().then(|| present() + u64::from(limits.processes) + ROOM_FOR_OTHERS)
}
