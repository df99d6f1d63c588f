//! Runs a command in a sandbox of the operating system, within limits, and ends everything that it
//! started.
//!
//! A command gets what its [`Command`] grants and nothing else of the machine: no environment, no
//! files but those of the system, no network. There are two [`Tier`]s. A tier counts only after a
//! trial run in it; where none can be had, the caller gets the reason and runs nothing.
//!
//! | item | content |
//! |---|---|
//! | [`Sandbox`], [`NoSandbox`] | a tier that passed its trial; it runs a [`Command`] once, or starts it as a [`Child`]; why there is none |
//! | [`spawn_unsandboxed`] | the explicit exception: a command without a sandbox |
//! | [`Handle`], [`ErrorLog`] | ends a command, or asks it to end; its standard error |
//! | [`Inside`] | the network of a command with [`Network::Inbound`]: where it listens, and sockets to connect |
//! | [`Limits`], [`Limit`] | the limits of a command, and the one that ended it |
//! | [`Finished`], [`RunError`] | how a command ended |
//! | [`check`], [`control_groups`], [`Report`] | what this machine gives, what is missing and how to get it |
//! | [`toolchain()`], [`Toolchain`], [`whole`] | a toolchain of this machine, and the folders that a command has to read for it |
//! | [`remove_folder`], [`remove_abandoned_groups`] | clean-up of what commands, or processes that were killed, have left |
//!
//! # Example
//!
//! ```
//! use agent_sandbox::{Command, Exit, Limits, Sandbox};
//! use std::future;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let sandbox = Sandbox::best().await?;
//! let mut command = Command::new("/usr/bin/tr");
//! command.arguments = vec!["a-z".into(), "A-Z".into()];
//! let never = future::pending();
//! let finished = sandbox.run(command, b"hello".to_vec(), Limits::default(), never).await?;
//! assert_eq!(finished.exit, Exit::Code(0));
//! assert_eq!(finished.stdout, b"HELLO");
//! # Ok(())
//! # }
//! ```
//!
//! # Tiers
//!
//! | | bubblewrap | Landlock |
//! |---|---|---|
//! | needs | Linux 5.11, `bwrap`, user namespaces | Linux 5.13 with Landlock |
//! | files | only granted ones and those of the system exist | others exist, and can't be opened |
//! | private folders | home, `/tmp`, `/dev/shm` in memory, of limited size | a folder of the machine, in `HOME` and `TMPDIR` |
//! | network | a namespace of its own: empty, with the socket of a proxy, open to the caller, or both | no sockets |
//! | processes | a namespace of its own | a process group that no process can leave |
//! | user | 1000 in a namespace of its own, without capabilities | the user of the host, without capabilities |
//!
//! Both tiers need bash for the trial run. Both filter system calls, so that a command has no
//! `io_uring`, no `ptrace`, no keys, no mounts, no new namespaces, and no sockets but those of the
//! internet, which have nowhere to go. `AF_UNIX` is limited to pairs of connected sockets without
//! addresses: other ones could reach a service through a granted folder. No file becomes one that
//! others run as its owner. [`Weakness`] lists what remains open.
//!
//! # Limits
//!
//! Control groups limit the memory, the number and the processor time of all processes together,
//! where this process can make children of its own groups. Elsewhere the kernel limits each process,
//! and the sum is checked 20 times a second. A process whose memory is limited by itself sees a
//! failed allocation and may end in its own way.
//!
//! # The end of a command
//!
//! A command ends as a whole: when its first process ends, when a limit is reached, when it is
//! cancelled, and when its [`Child`] or the future that runs it is dropped. In the bubblewrap tier
//! the kernel ends the namespace of processes with its first process. In the Landlock tier the
//! filter of system calls lets no process leave the process group of the command, and one signal
//! ends the group. The signal is `SIGKILL`, without a warning. A caller that wants a server to end by
//! itself closes its input first.
//!
//! # Values in the environment
//!
//! Values of [`Command::env`] are in no command line and in no environment of another process.
//! Arguments are in the command line of the command, where every user of the machine can read them.

mod child;
mod command;
mod inside;
mod limits;
mod linux;
mod outcome;
mod report;
mod sandbox;
mod tier;
mod toolchain;

pub use child::{Child, ErrorLog, Handle};
pub use command::{Command, Home, Mount, Network, PROXY_PORT};
pub use inside::{Inside, MAX_SOCKETS};
pub use limits::{Limit, Limits};
pub use linux::{remove_abandoned_groups, remove_folder};
pub use outcome::{Exit, Finished, Log, RunError};
pub use report::{ControlGroups, Report, TierReport, Weakness, check, control_groups};
pub use sandbox::{NoSandbox, Sandbox, spawn_unsandboxed};
pub use tier::{Obstacle, Tier, Unavailable};
pub use toolchain::{Toolchain, toolchain, whole};
