//! The command line.

use agent_host::Zone;
use agent_host::session_files::{INDEX, LOCK};
use clap::{Parser, ValueHint};
use std::path::PathBuf;

/// Maximum number of worker threads.
pub(crate) const THREADS_MAX: u16 = 64;

/// Decides on single calls of locked tools, over HTTP on a Unix socket
///
/// Enforcement points such as a proxy ask it before they pass a call on. It keeps no state: a call that needs a quota, an
/// approval or the calls before it is refused with STATE_REQUIRED.
#[derive(Debug, Parser)]
#[command(
    name = "agent-pdp",
    version,
    max_term_width = 100,
    after_long_help = "\
Exit codes:
  0  Ended by a signal
  1  The documents can't be obeyed
  2  No answer: wrong usage, an unreadable file, no socket"
)]
pub(crate) struct Arguments {
    /// The Unix socket, which only this user can connect to [default: agent/pdp.sock in the user's folder of state]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) socket: Option<PathBuf>,

    /// The number of worker threads [1 to 64; default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(THREADS_MAX)))]
    pub(crate) threads: Option<u16>,

    /// The lock. `agents.definitions.json` is read beside it
    #[arg(long, value_name = "FILE", default_value = LOCK, value_hint = ValueHint::FilePath)]
    pub(crate) lock: PathBuf,

    /// The index that the lock was made of
    #[arg(long, value_name = "FILE", default_value = INDEX, value_hint = ValueHint::FilePath)]
    pub(crate) index: PathBuf,

    /// The policy that the lock was made under [default: the tenant's]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) policy: Option<PathBuf>,

    /// The policy's context, but for the time
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) policy_context: Option<PathBuf>,

    /// The configuration of tenants
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tenant: Option<PathBuf>,

    /// The tenant, if the configuration has several
    #[arg(long, value_name = "ID", requires = "tenant")]
    pub(crate) tenant_id: Option<String>,

    /// The task
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) task: Option<PathBuf>,

    /// A snapshot of server health. Without one, servers count as healthy, and fallbacks need state
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) health: Option<PathBuf>,

    /// The time zone of `time`, `hour` and `weekday` in the policy's context: `UTC`, an offset such as
    /// `+02:00`, or a name such as `Europe/Berlin`
    #[arg(long, value_name = "ZONE", default_value = "UTC", value_parser = Zone::parse)]
    pub(crate) timezone: Zone,
}
