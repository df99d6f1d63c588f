//! The commands that act on this machine.

use super::deciding::*;
use super::{INDEX, LOCK};
use agent_host::Zone;
use agent_host::input::Input;
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Performing {
    Init(Init),
    Plan(Box<Plan>),
    Run(Box<Run>),
    RunPlan(Box<RunPlan>),
    Rerun(Box<Rerun>),
    Ask(Box<Ask>),
    Serve(Box<Serve>),
    Status(Status),
    /// Decide on single calls for other programs, over HTTP on a Unix socket
    ///
    /// Starts the program `agent-pdp`, which is installed beside this one, with the arguments. `agent pdp -- --help` shows them.
    Pdp(FleetProgram),
    /// Make, verify and transfer bundles: what a fleet decides by, in one signed file
    ///
    /// Starts `agent-pdp bundle`, which is installed beside this program, with the arguments. `agent bundle -- --help` shows them.
    Bundle(FleetProgram),
    /// Show by what the instances of a fleet decide
    ///
    /// Starts `agent-pdp fleet`, which is installed beside this program, with the arguments. `agent fleet -- --help` shows them.
    Fleet(FleetProgram),
    Clients(Clients),
    Adopt(Box<Adopt>),
    Connect(Connect),
    Disconnect(Disconnect),
    Doctor(Doctor),
    Login(Login),
    Logout(Logout),
    Install(Install),
    #[command(subcommand)]
    Evidence(Evidence),
    Playground(Box<Playground>),
    CheckHandler(CheckHandler),
    TestRunner(TestRunner),
    Sandbox(Sandbox),
    Completions(Completions),
    Man(Man),
    App(Box<agent_app::App>),
    Mcpd(agent_app::Daemon),
}

/// The default path of an audit log.
pub(crate) const AUDIT: &str = "agent.audit.jsonl";

/// Open the playground on this folder's files
///
/// Serves the page that was installed with this program, at a free port of loopback, and opens it in the browser if a
/// terminal shows this. The page gets the files once, with the random token behind `#` of its address. Nothing is
/// written, and nothing leaves this machine. Ends when no page has been open for a while.
#[derive(Args, Debug)]
pub(crate) struct Playground {
    #[command(flatten)]
    pub(crate) folder: FolderDocuments,

    /// Print the address, and open no browser
    #[arg(long)]
    pub(crate) no_browser: bool,

    /// End after this time without an open page
    #[arg(long, value_name = "SECONDS", default_value = "600")]
    pub(crate) idle: u64,

    /// Serve the page of this folder instead of the one in this program
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) page: Option<PathBuf>,
}

/// Make a plan for a goal, or check one
///
/// With `--goal`, a planner makes a plan from the goal, the tools of the pool that the profile allows, and
/// the schema of plans. It makes one attempt, sees no secrets and executes nothing. The plan is decided
/// like any other. Plan and report are written below `--artifacts`, and the folder is printed.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Plan {
    #[command(subcommand)]
    pub(crate) command: Option<PlanCommand>,

    #[command(flatten)]
    pub(crate) goal: GoalOptions,

    #[command(flatten)]
    pub(crate) run: RunOptions,
}

/// Write a first agents.md from an index or the configuration of an MCP client
///
/// The manifest requires as little as is useful, and the command prints each assumption behind it. An
/// existing file without frontmatter gets it at the beginning, and stays the same below.
#[derive(Args, Debug)]
pub(crate) struct Init {
    /// The manifest to write [default: agents.md, or AGENTS.md if only that exists]
    #[arg(
        value_name = "MANIFEST",
        value_hint = ValueHint::FilePath,
        value_parser = PathBufValueParser::new().try_map(file_to_write)
    )]
    pub(crate) manifest: Option<PathBuf>,

    /// The index whose categories and capabilities the agent may need [default: mcp.index.json, if
    /// it exists]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) index: Option<Input>,

    /// The configuration of an MCP client whose servers the agent may need [default: .mcp.json, if
    /// it exists and there is no index]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "index")]
    pub(crate) client: Option<Input>,

    /// Print the manifest, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Write a first policy, with its tests
///
/// Asks about each tool of the index whether the agent may use it: on the terminal, or by a line of standard input
/// for each tool. With an audit log, the tools that its calls were passed on to are allowed, and nothing is asked. Every other
/// tool is denied, also one that a server has later.
#[derive(Args, Debug)]
pub(crate) struct PolicyNew {
    /// The policy to write, with its tests beside it
    #[arg(value_name = "POLICY", default_value = "policy.rego", value_hint = ValueHint::FilePath)]
    pub(crate) policy: PathBuf,

    #[command(flatten)]
    pub(crate) index: IndexOption,

    /// An audit log of `agent serve` (repeatable, in the order of writing)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) log: Vec<Input>,
}

/// Add a live server to the index
///
/// Starts the server in the sandbox, or connects to its URL, and writes its capture into the index:
/// its version and its tools. A live server can't say how others rate it: without options, it gets its name as
/// category, no scopes and no residency, the sensitivity `public`, and counts as unsigned. A server that the
/// index has already is refused.
#[derive(Args, Debug)]
pub(crate) struct IndexAdd {
    /// The id of the server in the index
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// The URL of a server over HTTP
    #[arg(value_name = "URL", value_hint = ValueHint::Url, conflicts_with = "command")]
    pub(crate) url: Option<String>,

    /// The command that starts the server, after `--` [default: that of the operator's configuration]
    #[arg(value_name = "COMMAND", last = true, value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<String>,

    #[command(flatten)]
    pub(crate) rating: Rating,

    #[command(flatten)]
    pub(crate) fence: Fence,

    #[command(flatten)]
    pub(crate) capture: CaptureOptions,

    /// Write nothing, and print the entry
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) output: Output,
}

/// What a live server can't say of itself.
#[derive(Args, Debug)]
#[command(next_help_heading = "Entry")]
pub(crate) struct Rating {
    /// A category; may be repeated [default: the name]
    #[arg(long = "category", value_name = "CATEGORY")]
    pub(crate) categories: Vec<String>,

    /// A scope that the server supports; may be repeated
    #[arg(long = "scope", value_name = "SCOPE")]
    pub(crate) scopes: Vec<String>,

    /// Where the server keeps data: `any`, `eu-only` or `us-only`; may be repeated
    #[arg(long = "residency", value_name = "RESIDENCY")]
    pub(crate) residency: Vec<String>,

    /// The most sensitive data that the server may get [default: public]
    #[arg(long, value_name = "SENSITIVITY")]
    pub(crate) max_sensitivity: Option<String>,

    /// The server is signed
    #[arg(long)]
    pub(crate) signed: bool,

    /// The publisher [default: unknown]
    #[arg(long, value_name = "NAME")]
    pub(crate) publisher: Option<String>,

    /// What a tool can do, instead of what the server says: `TOOL=VERB:RESOURCE`, with constraints
    /// `TOOL=VERB:RESOURCE+readonly`; may be repeated
    #[arg(long = "capability", value_name = "TOOL=CAPABILITY")]
    pub(crate) capabilities: Vec<String>,

    /// The version, instead of the one that the server reports
    #[arg(long, value_name = "VERSION")]
    pub(crate) server_version: Option<String>,

    /// The same in a file (YAML or JSON), as `agent index import` reads it
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        conflicts_with_all = ["categories", "scopes", "residency", "max_sensitivity", "signed", "publisher", "capabilities"]
    )]
    pub(crate) overlay: Option<Input>,
}

/// What a command may reach while it is captured.
#[derive(Args, Debug)]
#[command(next_help_heading = "Sandbox")]
pub(crate) struct Fence {
    /// A path that the command may read; may be repeated
    #[arg(long = "read", value_name = "PATH", requires = "command", value_hint = ValueHint::AnyPath)]
    pub(crate) read: Vec<PathBuf>,

    /// A destination that the command may reach; may be repeated [default: no network]
    #[arg(long = "network", value_name = "HOST:PORT", requires = "command", value_parser = destination)]
    pub(crate) network: Vec<(String, u16)>,
}

/// Returns the host and the port of a destination.
fn destination(text: &str) -> Result<(String, u16), &'static str> {
    let (host, port) = text.rsplit_once(':').ok_or("the port is missing")?;
    let port = port.parse().map_err(|_| "the port is not a number")?;
    match host {
        "" => Err("the host is missing"),
        _ => Ok((host.to_owned(), port)),
    }
}

/// How live servers are captured.
#[derive(Args, Debug)]
#[command(next_help_heading = None::<&str>)]
pub(crate) struct CaptureOptions {
    /// The index to write
    #[arg(
        long,
        value_name = "FILE",
        default_value = INDEX,
        value_hint = ValueHint::FilePath,
        value_parser = PathBufValueParser::new().try_map(file_to_write)
    )]
    pub(crate) index: PathBuf,

    /// The operator's servers and secrets [default: `agent/servers.local.yaml` in the user's configuration
    /// folder, if it exists]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) servers: Option<PathBuf>,

    /// Maximum time of each server until it has listed its tools, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
}

/// Compare the index with what its servers say now
///
/// Connects to the servers, and prints every tool whose definition changed, with the changes and whether they
/// give an agent more access. Exits with 1 if there are differences, or if a server can't be reached.
#[derive(Args, Debug)]
pub(crate) struct IndexRefresh {
    /// The servers, as ID or ID@VERSION [default: all of the index]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    /// Write the newer definitions into the index; exits with 0 if all servers were reached
    #[arg(long)]
    pub(crate) write: bool,

    #[command(flatten)]
    pub(crate) capture: CaptureOptions,

    #[command(flatten)]
    pub(crate) output: Output,
}

/// The goal, and what to plan with. The parser requires the first three, unless a subcommand is given.
#[derive(Args, Debug)]
#[command(next_help_heading = None::<&str>)]
pub(crate) struct GoalOptions {
    /// The goal
    #[arg(long, value_name = "TEXT", required = true)]
    pub(crate) goal: Option<String>,

    /// The tools that the plan may name (`ds.mova_agent_tool_pool_v1`)
    #[arg(long, value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) tool_pool: Option<Input>,

    /// The allowed tools and their limits (`ds.instruction_profile_core_v1` with `caps`)
    #[arg(long, value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) profile: Option<Input>,

    /// Facts for the planner beside the goal (a JSON object)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) context: Option<Input>,

    #[command(flatten)]
    pub(crate) planner: PlannerOptions,
}

/// The choice of a planner.
#[derive(Args, Debug)]
#[command(next_help_heading = "Planner")]
pub(crate) struct PlannerOptions {
    /// Who makes the plan
    #[arg(long, value_name = "KIND", default_value = "template")]
    pub(crate) planner: PlannerKind,

    /// The program of `--planner command`: it reads the request from standard input and writes the plan
    /// to standard output
    #[arg(long, value_name = "PROGRAM", required_if_eq("planner", "command"), value_hint = ValueHint::CommandName)]
    pub(crate) planner_command: Option<String>,

    /// An argument of that program; may be repeated
    #[arg(
        long = "planner-argument",
        value_name = "ARG",
        requires = "planner_command",
        allow_hyphen_values = true
    )]
    pub(crate) planner_arguments: Vec<String>,

    /// The base URL of `--planner openai`, such as `http://127.0.0.1:11434/v1`
    #[arg(long, value_name = "URL", required_if_eq("planner", "openai"), value_hint = ValueHint::Url)]
    pub(crate) planner_url: Option<String>,

    /// The model of `--planner openai`
    #[arg(long, value_name = "NAME", required_if_eq("planner", "openai"))]
    pub(crate) planner_model: Option<String>,

    /// The secret of the operator that contains the key of `--planner openai`
    #[arg(long, value_name = "SECRET", requires = "planner_url")]
    pub(crate) planner_key: Option<String>,
}

/// The planners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlannerKind {
    /// Needs no model: a call for each tool that has a word of the goal, with the smallest input
    Template,
    /// A program of the operator
    Command,
    /// A model behind an OpenAI-compatible server
    Openai,
}

/// Run a plan, step by step, and write the evidence of the run
///
/// The pool, the profile and the request are taken from the options, or else from beside the plan:
/// `tool_pool.json`, `instruction_profile.json` and `request.envelope.json`, as evidence names them,
/// or `tool-pool.json`, `profile.json` and `request.json`. Every document is checked before the first
/// step, and every step before its effect. Steps run in sandboxes, in order, until one fails. No
/// model is asked.
#[derive(Args, Debug)]
pub(crate) struct RunPlan {
    /// The plan (`env.mova_agent_plan_v1`)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) plan: Input,

    /// The tools that plans may name [default: beside the plan]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tool_pool: Option<Input>,

    /// The allowed tools and their limits [default: beside the plan]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) profile: Option<Input>,

    /// The request that the plan answers [default: beside the plan, if it exists]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) request: Option<Input>,

    /// Describe the effects of each step, and stop there
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) run: RunOptions,
}

/// The options of every run.
#[derive(Args, Debug)]
#[command(next_help_heading = None::<&str>)]
pub(crate) struct RunOptions {
    /// The lock; without one no tool of an MCP server may be called
    #[arg(long, value_name = "FILE", default_value = LOCK, value_hint = ValueHint::FilePath)]
    pub(crate) lock: Input,

    /// Approve the plan, the call or the step with this digest; may be repeated
    #[arg(long = "approve", value_name = "DIGEST")]
    pub(crate) approvals: Vec<String>,

    /// The operator's servers, secrets and handlers [default: `agent/servers.local.yaml` in the user's
    /// configuration folder, if it exists]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) servers: Option<PathBuf>,

    /// The folder below which evidence is written
    #[arg(long, value_name = "DIR", default_value = "artifacts", value_hint = ValueHint::DirPath)]
    pub(crate) artifacts: PathBuf,

    /// The time zone of `time`, `hour` and `weekday` in the policy's context: `UTC`, an offset such as
    /// `+02:00`, or a name such as `Europe/Berlin`
    #[arg(long, value_name = "ZONE", default_value = "UTC", value_parser = Zone::parse)]
    pub(crate) timezone: Zone,

    #[command(flatten)]
    pub(crate) mova: MovaOption,

    #[command(flatten)]
    pub(crate) policy: PolicyOptions,

    #[command(flatten)]
    pub(crate) index: IndexOption,

    #[command(flatten)]
    pub(crate) output: Output,
}

/// Plan for a goal and carry the plan out
///
/// A planner makes one plan, as with `agent plan --goal`. If it may run, its steps run in order, until one
/// fails. The folder of the evidence is printed.
#[derive(Args, Debug)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) goal: GoalOptions,

    /// Print an explanation of the run from its evidence, as `agent evidence explain` does
    #[arg(long)]
    pub(crate) explain: bool,

    #[command(flatten)]
    pub(crate) run: RunOptions,
}

/// Carry out the plan of an earlier run again
///
/// The evidence of the earlier run must verify. Its plan, tool pool, profile and request are decided by today's
/// lock, index and policy. No planner is asked. The new run has evidence of its own.
#[derive(Args, Debug)]
pub(crate) struct Rerun {
    /// The folder of the run's evidence
    #[arg(long, value_name = "DIR", required_unless_present = "request_id", value_hint = ValueHint::DirPath)]
    pub(crate) evidence: Option<PathBuf>,

    /// The request, below `--artifacts`
    #[arg(long, value_name = "ID", conflicts_with = "evidence")]
    pub(crate) request_id: Option<String>,

    /// The run of that request [default: its latest]
    #[arg(long, value_name = "ID", requires = "request_id")]
    pub(crate) run_id: Option<String>,

    /// Go on although the evidence does not verify; the new evidence says so
    #[arg(long)]
    pub(crate) unverified: bool,

    #[command(flatten)]
    pub(crate) run: RunOptions,
}

/// Answer a query with one call of one locked tool
///
/// The locked servers list their tools, a planner chooses one, and the engine decides on the call. Only tools
/// that read may be called, and only as the lock has them. The answer is the tool's result, word for word, or a
/// summary in which every claim has evidence.
#[derive(Args, Debug)]
pub(crate) struct Ask {
    /// The query
    #[arg(value_name = "QUERY")]
    pub(crate) query: String,

    /// The instruction profile: its `input_policy` decides on the query, its caps limit the call
    /// [default: a built-in one]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) profile: Option<Input>,

    /// A summary of the result; without evidence for every claim it is dropped
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) summary: Option<Input>,

    /// Ask the planner for a summary of the result
    #[arg(long, conflicts_with = "summary")]
    pub(crate) summarize: bool,

    #[command(flatten)]
    pub(crate) planner: PlannerOptions,

    #[command(flatten)]
    pub(crate) run: RunOptions,
}

/// Stand between MCP clients and the servers of a lock
///
/// Speaks MCP over standard input and output, or over HTTP on loopback, of both generations. Clients see the locked
/// tools with their locked definitions, and nothing else: a tool that its server changed, a call that the lock, the
/// policy or a schema refuses, and a result of another form are withheld, with the reason and what may be called
/// instead. Every decision and its effect is a record of the audit log. Changed files and SIGHUP load the documents
/// again.
#[derive(Args, Debug)]
pub(crate) struct Serve {
    /// Serve clients over HTTP at this address of loopback [default: a free port of 127.0.0.1]
    #[arg(
        help_heading = "Clients",
        long,
        value_name = "ADDRESS:PORT",
        num_args = 0..=1,
        default_missing_value = FREE_PORT,
        value_parser = loopback
    )]
    pub(crate) http: Option<SocketAddr>,

    /// The bearer token of the client over HTTP, in a file that only its owner may read [default: one that is
    /// made once, below `agent/serve` in the user's state folder]
    #[arg(help_heading = "Clients", long, value_name = "FILE", requires = "http", value_hint = ValueHint::FilePath)]
    pub(crate) token_file: Option<PathBuf>,

    /// Serve the agents of this file over HTTP, each with its own lock (YAML or JSON)
    #[arg(
        help_heading = "Clients",
        long,
        value_name = "FILE",
        requires = "http",
        conflicts_with_all = [
            "lock", "index", "task", "audit", "audit_arguments", "expansion", "budget", "observe", "server",
            "approvals", "timezone", "tenant", "tenant_id", "policy", "policy_context", "health", "token_file",
        ],
        value_hint = ValueHint::FilePath
    )]
    pub(crate) config: Option<PathBuf>,

    /// Show servers, tools and calls that wait for approval on a local page [default: a free port of 127.0.0.1]
    #[arg(
        help_heading = "Records",
        long,
        value_name = "ADDRESS:PORT",
        num_args = 0..=1,
        default_missing_value = FREE_PORT,
        value_parser = loopback
    )]
    pub(crate) ui: Option<SocketAddr>,

    /// The operator's servers and secrets [default: `agent/servers.local.yaml` in the user's configuration
    /// folder, if it exists]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) servers: Option<PathBuf>,

    /// Warn once of tools that a client, or the interface of a model, refuses: anthropic, cursor, gemini, openai, vscode
    #[arg(
        help_heading = "Clients",
        long = "for",
        value_name = "CLIENT",
        conflicts_with = "config"
    )]
    pub(crate) client: Option<String>,

    /// Send spans of requests and calls to the OpenTelemetry collector at this URL, by OTLP over HTTP in JSON
    #[arg(help_heading = "Records", long, value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) otlp: Option<String>,

    /// The size from which the audit log is continued in a new file, in bytes
    #[arg(
        help_heading = "Records",
        long,
        value_name = "BYTES",
        default_value_t = 64 << 20,
        value_parser = clap::value_parser!(u64).range(1024..)
    )]
    pub(crate) audit_size: u64,

    #[command(flatten)]
    pub(crate) agent: ServedAgent,
}

/// The address at which a free port is chosen.
const FREE_PORT: &str = "127.0.0.1:0";

/// Reads an address of loopback.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address = text.parse::<SocketAddr>();
    let address = address.map_err(|_| format!("`{text}` is not of the form `127.0.0.1:8080`"))?;
    match address.ip().is_loopback() {
        true => Ok(address),
        false => Err(format!(
            "`{text}` can be reached from other machines; use 127.0.0.1 or [::1]"
        )),
    }
}

/// An agent that is served.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None::<&str>)]
pub(crate) struct ServedAgent {
    /// The lock [default: `agents.lock`]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) lock: Option<Input>,

    /// The task that the lock was made with (YAML or JSON)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) task: Option<Input>,

    /// The index of MCP servers [default: `mcp.index.json` beside the lock]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) index: Option<Input>,

    /// The audit log, to which records are appended [default: `agent.audit.jsonl` beside the lock]
    #[arg(help_heading = "Records", long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) audit: Option<PathBuf>,

    /// Keep the arguments of calls in the audit log, and not their digests only
    #[arg(help_heading = "Records", long)]
    pub(crate) audit_arguments: bool,

    /// What the client sees of tools that are locked on demand
    #[arg(long, value_name = "HOW", default_value = "stub")]
    pub(crate) expansion: ExpansionMode,

    /// The maximum number of tokens of definitions, instead of the tenant's budget
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u64>,

    /// Refuse nothing that the servers themselves allow, and record what would be refused; in a folder without
    /// a lock, serve the servers that the operator's file starts
    #[arg(long)]
    pub(crate) observe: bool,

    /// Observe this server without a lock, instead of all that the operator's file starts; may be repeated. The
    /// endpoint is a URL or a package URL
    #[arg(
        long,
        value_name = "NAME[=ENDPOINT]",
        requires = "observe",
        value_parser = NamedServer::parse,
        conflicts_with_all = [
            "lock", "index", "task", "tenant", "tenant_id", "policy", "policy_context",
        ],
    )]
    pub(crate) server: Vec<NamedServer>,

    /// Who asks a human to approve a call
    #[arg(long, value_name = "HOW", default_value = "host")]
    pub(crate) approvals: ApprovalsMode,

    /// The time zone of `time`, `hour` and `weekday` in the policy's context: `UTC`, an offset such as
    /// `+02:00`, or a name such as `Europe/Berlin`
    #[arg(long, value_name = "ZONE", default_value = "UTC", value_parser = Zone::parse)]
    pub(crate) timezone: Zone,

    #[command(flatten)]
    pub(crate) context: EvaluationContext,
}

/// A server to observe without a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedServer {
    pub(crate) name: String,
    /// A URL, or a package URL; `None` for the command of the operator's file.
    pub(crate) endpoint: Option<String>,
}

impl NamedServer {
    /// Reads `NAME` or `NAME=ENDPOINT`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (name, endpoint) = match text.split_once('=') {
            Some((name, endpoint)) => (name, Some(endpoint)),
            None => (text, None),
        };
        match (name, endpoint) {
            ("", _) | (_, Some("")) => {
                Err(format!("`{text}` is neither `NAME` nor `NAME=ENDPOINT`"))
            }
            _ => Ok(Self {
                name: name.to_owned(),
                endpoint: endpoint.map(str::to_owned),
            }),
        }
    }
}

/// Show the running gateways of this user
///
/// For each agent that `agent serve` serves: its servers with their health and their exceptions from the sandbox,
/// its tools that are exposed, withheld or quarantined, with reasons, the calls that wait for approval, and what is
/// never passed on. The exit code is 1 if no gateway runs.
#[derive(Args, Debug)]
pub(crate) struct Status {
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: DataFormat,
}

/// Arguments for the program `agent-pdp`.
#[derive(Args, Debug)]
pub(crate) struct FleetProgram {
    /// The arguments for it
    #[arg(
        value_name = "ARGUMENT",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) arguments: Vec<OsString>,
}

/// Show the MCP clients of this user, with their servers
///
/// Reads the configurations of known clients, those of the user and of the working folder, and lists the servers: what
/// is started or where it is, the package, and whether the gateway governs it. Values of environments and headers
/// are not shown. Starts nothing. The exit code is 1 if a configuration can't be read.
#[derive(Args, Debug)]
pub(crate) struct Clients {
    /// A client, or the file of one; may be repeated [default: all that are found]
    #[arg(long = "client", value_name = "NAME|FILE", value_hint = ValueHint::FilePath)]
    pub(crate) clients: Vec<String>,

    #[command(flatten)]
    pub(crate) output: Output,
}

/// Let the gateway stand in for the servers of MCP clients
///
/// Lists the servers of the clients' configurations, with their packages, and starts nothing before a yes. Then installs
/// the packages, lists the tools of each server in the sandbox, moves secrets out of the configuration, writes
/// an index, a manifest and a lock, and changes the configuration: the client starts `agent serve` instead of the servers. What can't
/// run in the sandbox stays as it is. The exit code is 1 if a server stays ungoverned.
///
/// A configuration of the working folder may be a stranger's: name its file, and approve the digest of what was
/// listed.
#[derive(Args, Debug)]
pub(crate) struct Adopt {
    /// A client, or the file of one; may be repeated [default: all of this user]
    #[arg(long = "client", value_name = "NAME|FILE", value_hint = ValueHint::FilePath)]
    pub(crate) clients: Vec<String>,

    /// Adopt what is listed of this user's own configurations, without a question
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) yes: bool,

    /// Adopt what is listed of a stranger's configurations, by the digest of the list
    #[arg(
        long,
        value_name = "DIGEST",
        requires = "clients",
        conflicts_with = "dry_run"
    )]
    pub(crate) approve: Option<String>,

    /// Change nothing, and show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Give the configurations their servers back
    #[arg(long, conflicts_with_all = ["yes", "approve", "dry_run", "forget"])]
    pub(crate) undo: bool,

    /// Remove the backups, so that nothing can be undone any more
    #[arg(long, conflicts_with_all = ["yes", "approve", "dry_run"])]
    pub(crate) forget: bool,

    /// What a client would ask its user for, from a file; may be repeated
    #[arg(long = "input", value_name = "ID=FILE", value_parser = input)]
    pub(crate) inputs: Vec<(String, PathBuf)>,

    /// A destination that a server may reach, by its name; may be repeated [default: no network]
    #[arg(long = "reach", value_name = "SERVER=HOST:PORT", value_parser = reach)]
    pub(crate) reach: Vec<(String, (String, u16))>,

    #[command(flatten)]
    pub(crate) registries: Registries,

    /// The operator's servers and secrets [default: `agent/servers.local.yaml` in the user's configuration folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) servers: Option<PathBuf>,

    /// Maximum time of each server until it has listed its tools, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
}

/// Returns the id and the file of an answer.
fn input(text: &str) -> Result<(String, PathBuf), &'static str> {
    let (id, file) = text.split_once('=').ok_or("the file is missing")?;
    Ok((id.to_owned(), file.into()))
}

/// Returns the name of a server with a destination.
fn reach(text: &str) -> Result<(String, (String, u16)), &'static str> {
    let (name, host) = text.rsplit_once('=').ok_or("the server is missing")?;
    Ok((name.to_owned(), destination(host)?))
}

/// Let an MCP client start the gateway, too
///
/// Adds `agent serve` with a lock to the configuration of a client, whose other lines stay. `agent adopt` does the same and
/// takes the client's servers over.
#[derive(Args, Debug)]
pub(crate) struct Connect {
    /// The client, or the file of one [default: the only one that is found]
    #[arg(value_name = "NAME|FILE", value_hint = ValueHint::FilePath)]
    pub(crate) client: Option<String>,

    /// The lock to serve
    #[arg(long, value_name = "FILE", default_value = LOCK, value_hint = ValueHint::FilePath)]
    pub(crate) lock: PathBuf,

    #[command(flatten)]
    pub(crate) index: IndexOption,

    /// The operator's servers and secrets [default: `agent/servers.local.yaml` in the user's configuration folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) servers: Option<PathBuf>,

    /// Change nothing, and show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Remove the gateway from the configuration of an MCP client
///
/// Only the entry of `agent serve` goes. `agent adopt --undo` brings the servers back that an adoption took over.
#[derive(Args, Debug)]
pub(crate) struct Disconnect {
    /// The client, or the file of one [default: the only one that is found]
    #[arg(value_name = "NAME|FILE", value_hint = ValueHint::FilePath)]
    pub(crate) client: Option<String>,

    /// Change nothing, and show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Check what the gateways of this user need
///
/// The sandbox, the clients of registries, the operator's servers and secrets, the lock, the index and the packages of each
/// gateway, logins, backups of adoptions and processes that were left. Each problem comes with what to do. The exit code is
/// 1 if there is one. Starts no server.
#[derive(Args, Debug)]
pub(crate) struct Doctor {
    /// The operator's servers and secrets [default: `agent/servers.local.yaml` in the user's configuration folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) servers: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) output: Output,
}

/// Who asks a human to approve a call.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ApprovalsMode {
    /// The gateway, while the call waits
    Host,
    /// The gateway, after whose answer a client of 2026-07-28 repeats the call
    Retry,
    /// The client, by a form. It can answer without a human
    Elicitation,
}

/// What a client sees of tools on demand.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ExpansionMode {
    /// A stub for each server, which lists, expands and calls them
    Stub,
    /// The same, and a session of 2025-11-25 gets expanded definitions in its list
    List,
    /// Every tool with its definition
    None,
}

/// Log in to a remote server
///
/// Asks the server's authorization server for a token, by OAuth 2.1. The user agrees in a browser, whose answer comes to a
/// port of loopback. The token is kept in a file that only this user can read, and sent to that server alone.
#[derive(Args, Debug)]
pub(crate) struct Login {
    /// The server in the index, as ID or ID@VERSION, or its URL
    #[arg(value_name = "SERVER")]
    pub(crate) server: String,

    /// A scope to ask for, instead of those that the server asks for; may be repeated
    #[arg(long = "scope", value_name = "SCOPE")]
    pub(crate) scopes: Vec<String>,

    /// A scope to ask for, together with those of the kept login; may be repeated
    #[arg(long = "add-scope", value_name = "SCOPE", conflicts_with = "scopes")]
    pub(crate) more_scopes: Vec<String>,

    /// The id of a client that the authorization server knows [default: a client is registered]
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,

    /// The URL of a Client ID Metadata Document, for an authorization server that accepts one
    #[arg(long, value_name = "URL", conflicts_with = "client_id", value_hint = ValueHint::Url)]
    pub(crate) client_metadata: Option<String>,

    /// The operator's servers and secrets [default: `agent/servers.local.yaml` in the user's configuration
    /// folder, if it exists]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) servers: Option<PathBuf>,

    /// Maximum time until the user has agreed, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,

    #[command(flatten)]
    pub(crate) index: IndexOption,
}

/// Forget the token of a remote server
///
/// Deletes what `agent login` keeps of a server, or of all servers. The authorization server may accept the token until it
/// expires. The exit code is 1 if no token is kept.
#[derive(Args, Debug)]
pub(crate) struct Logout {
    /// The server in the index, as ID or ID@VERSION, or its URL
    #[arg(
        value_name = "SERVER",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    pub(crate) server: Option<String>,

    /// Forget the tokens of all servers
    #[arg(long)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) index: IndexOption,
}

/// Verify the evidence of a run, or export it for others
#[derive(Debug, Subcommand)]
pub(crate) enum Evidence {
    /// Verify the evidence of a run
    ///
    /// Checks the chain of episodes and the digests of all files, the schemas, MOVA's catalogues, the
    /// redaction of secrets, and that the records agree with each other. Reports every problem with its file
    /// and line.
    Verify(RunFolder),
    Export(EvidenceExport),
    /// Explain a run from its evidence
    ///
    /// Prints Markdown for people, or with `--format json` the same as `ds.ui_text_bundle_core_v1`. Exits
    /// with 1 if the evidence does not verify; the explanation then says so.
    Explain(RunFolder),
    Open(OpenEvidence),
}

/// A run, by its evidence.
#[derive(Args, Debug)]
pub(crate) struct RunFolder {
    /// The folder of the run
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,

    #[command(flatten)]
    pub(crate) mova: MovaOption,

    #[command(flatten)]
    pub(crate) output: Output,
}

/// Export the evidence of a run as an in-toto statement
///
/// The statement names every file with its SHA-256, and has facts of the summary. With a key, it is in a
/// DSSE envelope with an Ed25519 signature. Evidence with problems is not exported.
#[derive(Args, Debug)]
pub(crate) struct EvidenceExport {
    /// Export an in-toto Statement v1
    #[arg(long, required = true)]
    pub(crate) in_toto: bool,

    /// The folder of the run
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,

    /// An Ed25519 private key in PKCS#8 (PEM or DER), which only its owner may read
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) key: Option<PathBuf>,

    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) mova: MovaOption,
}

/// Check a handler of a third party before the operator admits it
///
/// Compiles the component, checks that it imports no more than its kind, and prints its digest. The code is kept in the
/// user's cache folder: the first call of the handler does not compile it again.
#[derive(Args, Debug)]
pub(crate) struct CheckHandler {
    /// The component
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// The kind of drivers that it handles
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: HandlerKind,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: DataFormat,
}

/// Test a runner for the apps of a language
///
/// Checks that it keeps the protocol: its answers, its exit codes, and what it starts. The runner is called in the
/// sandbox, for a small app in a language. The exit code is 1 if a check fails.
#[derive(Args, Debug)]
pub(crate) struct TestRunner {
    /// The runner, an executable
    #[arg(value_name = "PROGRAM", value_hint = ValueHint::ExecutablePath, required_unless_present = "built_in")]
    pub(crate) program: Option<PathBuf>,

    /// Test the built-in runner of the language instead
    #[arg(long, conflicts_with = "program")]
    pub(crate) built_in: bool,

    /// The language of the app
    #[arg(long, value_name = "LANGUAGE", default_value = "python")]
    pub(crate) lang: RunnerLanguage,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: DataFormat,
}

/// A language of apps for the test of a runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunnerLanguage {
    /// Python 3, a server of its standard library
    Python,
    /// JavaScript under Node.js
    Node,
    /// Go, a server of its standard library
    Go,
}

/// A kind of drivers, as bindings name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum HandlerKind {
    /// No effect
    Noop,
    /// One HTTP request
    Http,
    /// One call of a tool of an MCP server
    McpProxy,
    /// One program
    RestrictedShell,
}

/// Report the sandboxes of this machine
///
/// Tries each, and reports what is missing and how to get it.
#[derive(Args, Debug)]
pub(crate) struct Sandbox {
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: DataFormat,
}

/// Install the packages of locked servers
///
/// npm and pip run in the sandbox, reach only the registries of their configuration, and run no code of a package. The exact version of the
/// lock is installed, and everything that came with it is recorded with its digest.
#[derive(Args, Debug)]
pub(crate) struct Install {
    /// The ids of the servers, or package URLs [default: all locked ones with a package of npm or PyPI]
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,

    /// The lock
    #[arg(long, value_name = "FILE", default_value = LOCK, value_hint = ValueHint::FilePath)]
    pub(crate) lock: Input,

    #[command(flatten)]
    pub(crate) registries: Registries,

    #[command(flatten)]
    pub(crate) output: Output,
}

/// What npm and pip reach.
#[derive(Args, Debug)]
#[command(next_help_heading = None::<&str>)]
pub(crate) struct Registries {
    /// Another destination of npm and pip; an address that is not public needs an entry of its own
    #[arg(long = "allow-host", value_name = "HOST:PORT")]
    pub(crate) allowed_hosts: Vec<String>,

    /// The network of npm and pip
    #[arg(long, value_enum, default_value_t = ClientNetwork::Registries)]
    pub(crate) network: ClientNetwork,
}

/// The network of the registries' clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClientNetwork {
    /// The configured registries, through a proxy of the program
    Registries,
    /// The network of the machine, which is weaker
    Host,
}

/// The format of an answer that has no diagnostics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DataFormat {
    /// For people
    Text,
    /// As JSON
    Json,
}

/// Print the folder of a run
#[derive(Args, Debug)]
pub(crate) struct OpenEvidence {
    /// The request of the run
    #[arg(long, value_name = "ID", required_unless_present = "evidence")]
    pub(crate) request_id: Option<String>,

    /// The run [default: the newest one of the request]
    #[arg(long, value_name = "ID", requires = "request_id")]
    pub(crate) run_id: Option<String>,

    /// The folder of a run, or that of a request for its newest run
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "request_id")]
    pub(crate) evidence: Option<PathBuf>,

    /// The folder below which evidence is written
    #[arg(long, value_name = "DIR", default_value = "artifacts", value_hint = ValueHint::DirPath)]
    pub(crate) artifacts: PathBuf,
}

/// Print a completion script for a shell
#[derive(Args, Debug)]
pub(crate) struct Completions {
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

/// Print a manual page
///
/// View it with `agent man | man -l -`.
#[derive(Args, Debug)]
pub(crate) struct Man {
    /// The command, such as `policy check` [default: the whole program]
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,

    /// Write the page of every command into this folder instead
    #[arg(long, value_name = "DIR", conflicts_with = "command", value_hint = ValueHint::DirPath)]
    pub(crate) folder: Option<PathBuf>,
}
