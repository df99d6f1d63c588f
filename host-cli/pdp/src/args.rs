//! The command line.

use agent_host::Zone;
use agent_host::session_files::{INDEX, LOCK};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Maximum number of worker threads.
pub(crate) const THREADS_MAX: u16 = 64;

/// Decides on single calls of locked tools, over HTTP on a Unix socket or TLS
///
/// Enforcement points such as a proxy ask it before they pass a call on. It keeps no state itself: without a store, a call
/// that needs a quota, an approval or the calls before it is refused with STATE_REQUIRED.
#[derive(Debug, Parser)]
#[command(
    name = "agent-pdp",
    version,
    max_term_width = 100,
    args_conflicts_with_subcommands = true,
    after_long_help = "\
Exit codes:
  0  Ended by a signal; the answer is yes
  1  The documents or the bundle can't be obeyed
  2  No answer: wrong usage, an unreadable file, no socket"
)]
pub(crate) struct Program {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    #[command(flatten)]
    pub(crate) serve: Serve,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make, verify and transfer bundles: what a fleet decides by, in one signed file
    #[command(subcommand)]
    Bundle(Bundle),

    /// Show the instances of a fleet
    #[command(subcommand)]
    Fleet(Fleet),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Bundle {
    Make(Box<Make>),
    Verify(Verify),
    Push(Push),
    Pull(Pull),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Fleet {
    Status(FleetStatus),
}

/// Show by what each instance decides, and which digests are live
///
/// The exit code is 1 if an instance does not answer or decides nothing.
#[derive(Debug, Args)]
pub(crate) struct FleetStatus {
    /// The sockets of the instances [default: the usual one]
    #[arg(value_name = "SOCKET", value_hint = ValueHint::FilePath)]
    pub(crate) sockets: Vec<PathBuf>,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// How a status is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

/// What a decision point does.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The Unix socket, which only this user can connect to [default: agent/pdp.sock in the user's folder of state]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) socket: Option<PathBuf>,

    /// Also listen at this address, with TLS, for the callers of `--callers`
    #[arg(
        long,
        value_name = "ADDRESS",
        requires_all = ["certificate", "private_key", "callers"]
    )]
    pub(crate) listen: Option<SocketAddr>,

    /// The certificate of the address, with those that vouch for it: PEM
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "listen")]
    pub(crate) certificate: Option<PathBuf>,

    /// The private key of the certificate: PEM, in a file that only this user can read
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "listen")]
    pub(crate) private_key: Option<PathBuf>,

    /// The authority that vouches for certificates of callers: PEM
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "listen")]
    pub(crate) client_ca: Option<PathBuf>,

    /// Who may ask at the address, and what
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "listen")]
    pub(crate) callers: Option<PathBuf>,

    /// The number of worker threads [1 to 64; default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(THREADS_MAX)))]
    pub(crate) threads: Option<u16>,

    #[command(flatten)]
    pub(crate) files: Files,

    /// A snapshot of server health. Without one, servers count as healthy, and fallbacks need state
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) health: Option<PathBuf>,

    /// The time zone of `time`, `hour` and `weekday` in the policy's context: `UTC`, an offset such as
    /// `+02:00`, or a name such as `Europe/Berlin`
    #[arg(long, value_name = "ZONE", default_value = "UTC", value_parser = Zone::parse)]
    pub(crate) timezone: Zone,

    /// The bundle that decides, in place of documents. It is read again when it changes
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        conflicts_with_all = ["lock", "index", "policy", "policy_context", "tenant", "tenant_id", "task"],
        requires_all = ["name", "keys"]
    )]
    pub(crate) bundle: Option<PathBuf>,

    /// The name of the bundles that decide here
    #[arg(long, value_name = "NAME", requires = "bundle")]
    pub(crate) name: Option<String>,

    /// The keys whose signatures count
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "bundle")]
    pub(crate) keys: Option<PathBuf>,

    /// The file that keeps the highest sequence of each name. Instances on one machine may share it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "bundle")]
    pub(crate) sequences: Option<PathBuf>,

    /// Refuse bundles with a lower sequence
    #[arg(long, value_name = "N", requires = "bundle")]
    pub(crate) min_sequence: Option<u64>,

    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Where calls are counted, and approvals and histories kept.
#[derive(Clone, Debug, Args)]
pub(crate) struct StoreArgs {
    /// The server of NATS that keeps what decides beside the documents: `nats://HOST:PORT`. It is asked with TLS, unless it
    /// is on this machine. Without one, such calls are refused
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,

    /// The key-value bucket, which all instances of the fleet share
    #[arg(
        long,
        value_name = "NAME",
        default_value = "agent-pdp",
        requires = "store"
    )]
    pub(crate) store_bucket: String,

    /// The credentials for the server: a file of NATS that only this user can read
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "store")]
    pub(crate) store_credentials: Option<PathBuf>,

    /// An authority that vouches for the server, beside those of this system: PEM
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "store")]
    pub(crate) store_ca: Option<PathBuf>,
}

/// The documents that decide.
#[derive(Debug, Args)]
pub(crate) struct Files {
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
}

/// Make a bundle of documents that a decision point can obey, and sign it
///
/// The same documents, name, sequence and end give the same file. Only the locked entries of the index are in it. Documents
/// have the names of secrets, not their values.
#[derive(Debug, Args)]
pub(crate) struct Make {
    #[command(flatten)]
    pub(crate) files: Files,

    /// The name. Bundles of one name replace each other
    #[arg(long, value_name = "NAME")]
    pub(crate) name: String,

    /// The sequence, which is higher than that of every bundle of the name before
    #[arg(long, value_name = "N")]
    pub(crate) sequence: u64,

    /// The last moment at which it decides, in UTC: such as 2027-01-31T12:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) not_after: String,

    /// The Ed25519 private key, a file in PKCS#8 that only this user can read
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        required_unless_present = "key_command"
    )]
    pub(crate) key: Option<PathBuf>,

    /// A program that prints the key in PEM, with its arguments. It has 10 seconds
    #[arg(
        long,
        value_name = "WORD",
        num_args = 1..,
        conflicts_with = "key",
        value_hint = ValueHint::CommandWithArguments
    )]
    pub(crate) key_command: Vec<String>,

    /// The file to write [default: standard output]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
}

/// Verify a bundle as a decision point would accept it now
///
/// Says its digest, sequence and end. Remembers nothing.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// The bundle
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) bundle: PathBuf,

    /// The name of the bundles that decide
    #[arg(long, value_name = "NAME")]
    pub(crate) name: String,

    /// The keys whose signatures count
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) keys: PathBuf,

    /// Refuse a lower sequence
    #[arg(long, value_name = "N")]
    pub(crate) min_sequence: Option<u64>,
}

/// Send a bundle to a registry of OCI artifacts
///
/// The registry may also have container images. It is asked with TLS, unless it is on this machine.
#[derive(Debug, Args)]
pub(crate) struct Push {
    /// The bundle
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) bundle: PathBuf,

    #[command(flatten)]
    pub(crate) registry: Registry,
}

/// Fetch a bundle of a registry of OCI artifacts
///
/// What comes from a registry decides only once a decision point accepts it.
#[derive(Debug, Args)]
pub(crate) struct Pull {
    #[command(flatten)]
    pub(crate) registry: Registry,

    /// The file to write
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: PathBuf,
}

/// A place in a registry, and who asks.
#[derive(Debug, Args)]
pub(crate) struct Registry {
    /// The place: `REGISTRY/NAME:TAG`, or `REGISTRY/NAME@sha256:…`
    #[arg(value_name = "REFERENCE")]
    pub(crate) reference: String,

    /// The user of the registry
    #[arg(long, value_name = "NAME", requires = "password_file")]
    pub(crate) user: Option<String>,

    /// The file with the password or the token of the user
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "user")]
    pub(crate) password_file: Option<PathBuf>,

    /// An authority that vouches for the registry, beside those of this system: PEM
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) ca: Option<PathBuf>,
}
