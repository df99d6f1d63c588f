//! A command that has just been started.

use std::fs::File;
use std::io::{self, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process_group};

use super::cgroup::Cgroup;
use super::guard::Guarded;
use super::network_namespace::NetworkNamespace;
use super::private::PrivateFolder;
use super::tree::Tree;
use super::{bubblewrap, listener, unnamespaced, unsandboxed};
use crate::sandbox::Place;
use crate::{Command, Limits, Network, Tier};

/// A started command with what has to outlive it.
pub(super) struct Launched {
    pub(super) child: Child,
    pub(super) tree: Tree,
    pub(super) group: Cgroup,
    /// What ends it if this process is killed.
    pub(super) guarded: Option<Guarded>,
    /// The status of bubblewrap.
    pub(super) status: Option<BufReader<File>>,
    /// The folder for the files of a command that has no folders in memory.
    pub(super) private: Option<PrivateFolder>,
    /// The socket of a proxy.
    pub(super) proxy: Option<TcpListener>,
    /// The network of a command that can be connected to.
    pub(super) inside: Option<NetworkNamespace>,
}

impl Launched {
    /// Starts a command. The thread that calls this has to outlive it.
    pub(super) fn new(
        place: Option<Place>,
        command: &Command,
        limits: &Limits,
    ) -> Result<Self, String> {
        let Some(Place { tier, use_groups }) = place else {
            return unsandboxed::launch(command);
        };
        match tier {
            Tier::Bubblewrap => bubblewrap::launch(command, limits, use_groups),
            Tier::Landlock => unnamespaced::launch(command, limits, use_groups),
        }
    }

    /// Makes what the caller needs of the network of a command, whose first process is `first`.
    pub(super) fn reach_network(&mut self, network: Network, first: Pid) -> io::Result<()> {
        if network.has_proxy() {
            self.proxy = Some(listener::listener(&NetworkNamespace::of(first)?)?);
        }
        if network.is_inbound() {
            self.inside = Some(NetworkNamespace::of(first)?);
        }
        Ok(())
    }

    /// Ends a command before its result is wanted.
    pub(super) fn abandon(mut self) {
        self.tree.kill();
        self.tree.wait_for_all();
        let _ = self.child.wait();
    }
}

/// Words the failure to start a program.
pub(super) fn spawn_error(program: &Path, error: &io::Error) -> String {
    format!("{} can't be started: {error}", program.display())
}

/// Ends the process group of a child that leads it, and waits for the child.
pub(super) fn end_group(child: &mut Child) {
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.wait();
}

/// Ends a process for which no handle can be had, and words the reason.
pub(super) fn give_up(mut child: Child, error: &io::Error) -> String {
    end_group(&mut child);
    format!("no handle of the process can be had: {error}")
}
