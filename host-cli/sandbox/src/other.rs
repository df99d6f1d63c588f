//! Systems without a sandbox of ours: every tier is refused, and nothing is started.

use std::convert::Infallible;
use std::env::consts::{ARCH, OS};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{ChildStderr, ChildStdin, ChildStdout};

use tokio::sync::oneshot;

use crate::child::EndOnDrop;
use crate::sandbox::Place;
use crate::{
    Command, ControlGroups, Exit, Limit, Limits, Obstacle, Report, Tier, Unavailable, Weakness,
};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Cause {
    #[expect(dead_code, reason = "nothing runs here")]
    WallTime,
    Limit(Limit),
    Cancelled,
}

#[derive(Debug)]
#[expect(dead_code, reason = "nothing runs here")]
pub(crate) enum Ended {
    Exited(Exit),
    Stopped(Cause),
    NotStarted,
}

pub(crate) struct Started {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
    pub(crate) proxy: Option<TcpListener>,
    pub(crate) inside: Option<NetworkNamespace>,
    pub(crate) end: EndOnDrop,
    pub(crate) ended: oneshot::Receiver<Ended>,
}

#[derive(Clone, Debug)]
pub(crate) struct Stopper(Infallible);

impl Stopper {
    pub(crate) fn stop(&self, _: Cause) {
        match self.0 {}
    }

    pub(crate) fn terminate(&self) {
        match self.0 {}
    }

    pub(crate) fn first(&self) -> Option<i32> {
        match self.0 {}
    }
}

#[derive(Debug)]
pub(crate) struct NetworkNamespace(Infallible);

impl NetworkNamespace {
    pub(crate) fn listening(&self) -> io::Result<Vec<SocketAddr>> {
        match self.0 {}
    }

    pub(crate) fn unconnected(&self, _: usize) -> io::Result<Vec<TcpStream>> {
        match self.0 {}
    }
}

pub(crate) fn control_groups() -> ControlGroups {
    ControlGroups::default()
}

/// Removes a folder with everything in it.
///
/// # Errors
///
/// The first thing that can't be removed.
pub fn remove_folder(folder: &std::path::Path) -> io::Result<()> {
    std::fs::remove_dir_all(folder)
}

/// Removes no control groups: there are none.
pub fn remove_abandoned_groups() -> bool {
    true
}

pub(crate) async fn start(_: Option<Place>, _: Command, _: Limits) -> Result<Started, String> {
    Err(Obstacle::System.to_string())
}

pub(crate) async fn trial(place: Place) -> Result<(), Unavailable> {
    Err(Unavailable {
        tier: place.tier,
        obstacle: Obstacle::System,
        detail: format!("this is {OS} on {ARCH}"),
    })
}

pub(crate) fn message_of(_: &[u8]) -> String {
    Obstacle::System.to_string()
}

pub(crate) fn machine() -> Report {
    Report {
        kernel: OS.to_owned(),
        bubblewrap: None,
        landlock: None,
        seccomp: false,
        control_groups: control_groups(),
        tiers: Vec::new(),
    }
}

pub(crate) fn weaknesses(_: Tier, _: ControlGroups) -> Vec<Weakness> {
    Vec::new()
}
