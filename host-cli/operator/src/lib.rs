//! The operator's own configuration: `servers.local.yaml`.
//!
//! The operator of a machine decides how servers are started, where secrets come from, and which handlers
//! of third parties may run. A repository can't: the file is never looked for in the working folder, and
//! one that another user can write is refused.
//!
//! | item | content |
//! |---|---|
//! | [`Operator`] | the file as a whole |
//! | [`Server`], [`Network`], [`Value`], [`Part`] | how a server is started and what it may reach |
//! | [`Tool`], [`CallTime`] | how long a server may take for a call |
//! | [`Secret`], [`SecretSource`] | a value that nothing shows, and where it comes from |
//! | [`Additions`], [`Added`] | entries that are added to the file, whose other lines stay |
//! | [`Handler`] | a handler of a third party that may run |
//! | [`Agents`], [`ServedAgent`] | the agents that one gateway serves |

mod file;
mod read;
mod read_agents;
mod secret;
mod write;

pub use file::{Unreadable, usual_path};
pub use secret::{SECRET_MIN_BYTES, Secret, SecretSource, SecretUnavailable};
pub use write::{Added, Additions, lines, value_text};

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Longest time of a call whose server reports progress, unless the operator sets another.
const TIMEOUT_MAX: Duration = Duration::from_secs(600);

/// The name of the file in the operator's configuration folder.
pub const FILE_NAME: &str = "servers.local.yaml";

/// `servers.local.yaml`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operator {
    /// `servers`, by id.
    pub servers: BTreeMap<String, Server>,
    /// `secrets`, by name.
    pub secrets: BTreeMap<String, SecretSource>,
    /// `handlers`
    pub handlers: Vec<Handler>,
}

/// How a server is started, and what it may reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Server {
    /// `command`: the program and its arguments. Without one, the package URL decides.
    pub command: Vec<Value>,
    /// `arguments`, behind those of the command or of the package.
    pub arguments: Vec<Value>,
    /// `env`: the whole environment.
    pub env: BTreeMap<String, Value>,
    /// `origin`: of a server over HTTP, such as `https://mcp.acme.example`, or of a package, such as `pkg:npm/acme`.
    /// Nothing else gets what the entry has.
    pub origin: Option<String>,
    /// `headers` of each request to a server over HTTP.
    pub headers: BTreeMap<String, Value>,
    /// `query`: parameters that are added to the URL of a server over HTTP.
    pub query: BTreeMap<String, Value>,
    /// `workdir`, an absolute path.
    pub workdir: Option<PathBuf>,
    /// `read`: absolute paths.
    pub read: Vec<PathBuf>,
    /// `write`: absolute paths.
    pub write: Vec<PathBuf>,
    /// `network`
    pub network: Network,
    /// `sandbox: none`: the server runs without any fence.
    pub unfenced: bool,
    /// `oauth`
    pub oauth: Oauth,
    /// `timeout` of a call, in seconds.
    pub timeout: Option<Duration>,
    /// `timeout_max`: the time of a call whose server reports progress, in seconds.
    pub timeout_max: Option<Duration>,
    /// `tools`, by the names that the server has for them.
    pub tools: BTreeMap<String, Tool>,
    /// `processes`: the sandbox's limit of processes and threads.
    pub processes: Option<u32>,
}

/// What the operator sets for one tool of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tool {
    /// `timeout` of a call, in seconds. It overrides that of the server.
    pub timeout: Option<Duration>,
    /// `patterns: ignore`: the operator agrees to the index that ignores unusable patterns of its schemas.
    pub ignores_patterns: bool,
}

/// How long a server may take for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallTime {
    /// The time until the result, or until the next report of progress.
    pub timeout: Duration,
    /// The time of the whole call, whatever the server reports.
    pub max: Duration,
}

impl Operator {
    /// Returns the tools whose unusable patterns may be ignored, with the ids of their servers.
    #[must_use]
    pub fn ignoring(&self) -> Vec<(String, String)> {
        let tools = self.servers.iter().flat_map(|(id, server)| {
            let ignoring = server
                .tools
                .iter()
                .filter(|(_, tool)| tool.ignores_patterns);
            ignoring.map(move |(name, _)| (id.clone(), name.clone()))
        });
        tools.collect()
    }
}

impl Server {
    /// Returns the time for a call of a tool, or for another request. `default` holds where the operator sets no
    /// `timeout`.
    #[must_use]
    pub fn call_time(&self, tool: Option<&str>, default: Duration) -> CallTime {
        let of_tool = tool.and_then(|tool| self.tools.get(tool)?.timeout);
        let timeout = of_tool.or(self.timeout).unwrap_or(default);
        let max = self.timeout_max.unwrap_or(TIMEOUT_MAX);
        CallTime {
            timeout,
            max: max.max(timeout),
        }
    }
}

/// How `agent login` gets tokens of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Oauth {
    /// `scopes`: the only ones that are asked for.
    pub scopes: Option<Vec<String>>,
    /// `issuer`: the only authorization server to log in at.
    pub issuer: Option<String>,
    /// `client_id`: a client that the authorization server knows.
    pub client_id: Option<String>,
    /// `client_secret` of that client.
    pub client_secret: Option<Value>,
}

/// A value: the texts of its parts, one behind the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value(pub Vec<Part>);

/// A part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The text itself.
    Literal(String),
    /// The name of a secret that contains it.
    Secret(String),
}

impl Value {
    /// Returns a value without a secret.
    #[must_use]
    pub fn literal(text: impl Into<String>) -> Self {
        Self(vec![Part::Literal(text.into())])
    }

    /// Returns the value of a secret.
    #[must_use]
    pub fn secret(name: impl Into<String>) -> Self {
        Self(vec![Part::Secret(name.into())])
    }

    /// Returns the names of its secrets.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Literal(_) => None,
            Part::Secret(name) => Some(&**name),
        })
    }
}

/// The network of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// None.
    #[default]
    None,
    /// The named hosts and ports, through a proxy of the program.
    Hosts(Vec<(String, u16)>),
    /// The network of the machine, with its loopback services.
    Host,
}

/// A handler of a third party that may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handler {
    /// The digest of its component: `sha256-` and base64.
    pub digest: String,
    /// The kind of its driver, such as `http`.
    pub kind: String,
    /// The file of the component, an absolute path.
    pub path: PathBuf,
}

/// The file of `agent serve --config`: the agents that one gateway serves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agents {
    /// `agents`, by name.
    pub agents: BTreeMap<String, ServedAgent>,
    /// `otlp`: the URL of a collector of spans.
    pub otlp: Option<String>,
}

/// An agent that is served. Its keys are the options of `agent serve`; its paths begin in the folder of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedAgent {
    /// `lock`
    pub lock: Option<PathBuf>,
    /// `index`
    pub index: Option<PathBuf>,
    /// `task`
    pub task: Option<PathBuf>,
    /// `policy`
    pub policy: Option<PathBuf>,
    /// `policy_context`
    pub policy_context: Option<PathBuf>,
    /// `tenant`
    pub tenant: Option<PathBuf>,
    /// `tenant_id`
    pub tenant_id: Option<String>,
    /// `health`
    pub health: Option<PathBuf>,
    /// `audit`
    pub audit: Option<PathBuf>,
    /// `audit_arguments`
    pub audit_arguments: bool,
    /// `expansion`: `stub`, `list` or `none`.
    pub expansion: Option<String>,
    /// `budget`, in tokens.
    pub budget: Option<u64>,
    /// `observe`
    pub observe: bool,
    /// `server`: servers to observe without a lock, as `NAME` or `NAME=ENDPOINT`.
    pub server: Vec<String>,
    /// `approvals`: `host`, `retry` or `elicitation`.
    pub approvals: Option<String>,
    /// `timezone`
    pub timezone: Option<String>,
    /// `tokens`: the files with the bearer tokens of clients, by their names.
    pub tokens: BTreeMap<String, PathBuf>,
}
