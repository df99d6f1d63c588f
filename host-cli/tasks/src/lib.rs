//! Tasks on this machine: their folders, changes of their files, and their processes.
//!
//! Nothing is decided here: callers say what to write and what to run. A task is a folder, a memory beside it, and at
//! most one run at a time. A run has a supervisor, a separate process that outlives the program that started it. \[2,
//! 3, 4, 9\]
//!
//! | item | content |
//! |---|---|
//! | [`Tasks`], [`Task`], [`TaskId`] | the folder of all tasks, the folder of one, its id |
//! | [`Artifact`], [`Memory`], [`Listed`] | the files of a task, what is remembered of it, a row of a list |
//! | [`Source`], [`Change`], [`Record`] | the files of an app, and the copy in which it works; batches that apply whole or not at all; their records |
//! | [`SocketFolder`] | where the sockets of tasks are |
//! | [`Spec`], [`App`], [`Secret`], [`Run`], [`Cause`] | what to run, with which secrets, how far it is, why it ended |
//! | [`ForeignRunner`], [`Reply`] | a runner that starts the app, and what it answered |
//! | [`supervise`] | the whole work of a supervisor |
//! | [`Started`], [`Found`] | answers of [`Task::start`] and [`Task::find`] |
//! | [`limits`] | every limit, with its unit |
//!
//! # A run
//!
//! The app runs in the bubblewrap tier of the sandbox: a separate network with nothing but loopback, a
//! read-only root, a private `/tmp`, and a copy of the task's `source/` at `/app`. Clients reach it at a Unix socket
//! that only this user can open. The supervisor accepts there, connects to the port of the app, and passes
//! bytes on. It is also the proxy of an app that may connect to some hosts, and keeps secrets out of `run.log`. If it is killed, the kernel ends the app and everything that the app has started.
//!
//! An app that is a component needs no separate process: the supervisor runs it, and nothing of the machine is
//! reachable for it.
//!
//! Functions of [`Task`] block; call them on a thread that may wait.

pub mod disk;
mod error;
mod folder;
mod handle;
mod id;
mod identity;
pub mod limits;
mod processes;
mod run;
mod sockets;
mod source;
mod supervisor;

pub use error::{Error, ErrorKind};
pub use folder::{Artifact, Listed, Memory, Task, Tasks};
pub use id::TaskId;
pub use identity::Identity;
pub use processes::{Found, Started};
pub use run::{
    App, AskedLimits, Cause, End, ForeignRunner, Phase, Reply, Run, RunLimits, Secret, Spec,
};
pub use sockets::{AbstractSockets, SocketFolder, is_abstract};
pub use source::{Change, Exported, Record, Recorded, Source, SourcePath, Version};
pub use supervisor::supervise;
