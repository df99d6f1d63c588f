//! The commands that answer from documents alone, and the options of all commands about documents.

use super::{INDEX, LOCK};
#[cfg(not(target_family = "wasm"))]
use super::{IndexAdd, IndexRefresh, PolicyNew};
use agent_host::input::Input;
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Deciding {
    Validate(Validate),
    Discover(Discover),
    Resolve(Resolve),
    Match(Match),
    Tools(Tools),
    Expand(Expand),
    Ground(Ground),
    Why(Why),
    Diff(Diff),
    Verify(Verify),
    #[command(subcommand)]
    Schema(Schema),
    #[command(subcommand)]
    Policy(Policy),
    #[command(subcommand)]
    Index(Index),
    Audit(Audit),
    Replay(Box<Replay>),
    Share(Box<Share>),
    Explain(Explain),
}

/// The option of every command that prints an answer.
#[derive(Args, Debug)]
#[command(next_help_heading = None::<&str>)]
pub(crate) struct Output {
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

impl Output {
    /// The output of a command that is for people alone.
    pub(crate) const TEXT: Self = Self {
        format: Format::Text,
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people: the answer on standard output, problems on standard error
    Text,
    /// As JSON: the answer or, if an input is invalid, the problems
    Json,
    /// The problems as SARIF 2.1.0
    Sarif,
    /// The problems as workflow commands of GitHub Actions
    Github,
}

/// The options of every command that reads documents with suggested fixes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Fixes")]
pub(crate) struct Fixes {
    /// Apply safe fixes to the files, then answer
    ///
    /// A safe fix repairs syntax or a type, or takes the only known name that resembles a misspelt
    /// one. It never gives the agent more access and never drops what a document asks for. No fix
    /// changes a lock, a policy or an imported document.
    #[arg(long)]
    pub(crate) fix: bool,

    /// Also apply unsafe fixes, which give the agent more access or remove something
    ///
    /// Implies `--fix`, unless `--diff` is given.
    #[arg(long)]
    pub(crate) unsafe_fixes: bool,

    /// Print what the fixes would change as a unified diff, and write nothing
    ///
    /// The exit code is that of the fixed files.
    #[arg(long = "diff", id = "fixes_diff", conflicts_with = "format")]
    pub(crate) diff: bool,
}

/// The options of every command that reports on documents.
#[derive(Args, Debug)]
pub(crate) struct Report {
    #[command(flatten)]
    pub(crate) output: Output,

    #[command(flatten)]
    pub(crate) fixes: Fixes,
}

/// The manifest, as a positional argument.
#[derive(Args, Debug)]
pub(crate) struct ManifestArgument {
    /// The manifest, or `-` for standard input [default: agents.md, else AGENTS.md]
    #[arg(value_name = "MANIFEST", value_hint = ValueHint::FilePath)]
    pub(crate) manifest: Option<Input>,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None::<&str>)]
pub(crate) struct IndexOption {
    /// The index of MCP servers, or `-` for standard input
    #[arg(long, value_name = "FILE", default_value = INDEX, value_hint = ValueHint::FilePath)]
    pub(crate) index: Input,
}

/// The policy and its inputs.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Evaluation context")]
pub(crate) struct PolicyOptions {
    /// The configuration of the tenant: priorities, tier, policy, token budget (YAML or JSON)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tenant: Option<Input>,

    /// The tenant, if the configuration lists several
    #[arg(long, value_name = "ID", requires = "tenant")]
    pub(crate) tenant_id: Option<String>,

    /// The policy in Rego, instead of the tenant's own
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) policy: Option<Input>,

    /// The value of the policy's `input.context`, such as the time (YAML or JSON)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) policy_context: Option<Input>,
}

/// The inputs to decisions about capabilities.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Evaluation context")]
pub(crate) struct EvaluationContext {
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,

    /// Server health snapshot; unlisted servers count as unhealthy (YAML or JSON)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) health: Option<Input>,
}

/// The input for detailed drifts.
#[derive(Args, Debug)]
#[command(next_help_heading = None::<&str>)]
pub(crate) struct Before {
    /// The index of the older lock: with it, drifts name the changes in a tool's definition
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) old_index: Option<Input>,
}

/// The evaluation context with an optional task.
#[derive(Args, Debug)]
#[command(next_help_heading = "Evaluation context")]
pub(crate) struct TaskContext {
    /// A task; its requirements follow those of the manifest (YAML or JSON)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) task: Option<Input>,

    #[command(flatten)]
    pub(crate) others: EvaluationContext,
}

/// Check the manifest and the index
///
/// Reports every problem of both. The index is checked if it exists.
#[derive(Args, Debug)]
pub(crate) struct Validate {
    #[command(flatten)]
    pub(crate) manifest: ManifestArgument,

    /// The index of MCP servers, or `-` for standard input [default: mcp.index.json, if it exists]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) index: Option<Input>,

    #[command(flatten)]
    pub(crate) report: Report,
}

/// List the servers by category, or all tools with their capabilities
#[derive(Args, Debug)]
pub(crate) struct Discover {
    /// List the tools of each server with their capabilities
    #[arg(long)]
    pub(crate) tools: bool,

    #[command(flatten)]
    pub(crate) index: IndexOption,

    #[command(flatten)]
    pub(crate) report: Report,
}

/// Select servers and tools for the agent, and write agents.lock
///
/// If a requirement is unsatisfied, an existing lock stays unchanged.
#[derive(Args, Debug)]
pub(crate) struct Resolve {
    #[command(flatten)]
    pub(crate) manifest: ManifestArgument,

    #[command(flatten)]
    pub(crate) index: IndexOption,

    /// The lock to write; the explanation is written beside it
    #[arg(
        long,
        value_name = "FILE",
        default_value = LOCK,
        value_hint = ValueHint::FilePath,
        value_parser = PathBufValueParser::new().try_map(file_to_write)
    )]
    pub(crate) lock: PathBuf,

    /// Also write the explanation of every decision, even if resolution fails
    ///
    /// The full form is agents.resolution.json. The compact form, agents.resolution.compact.json,
    /// contains the same in a fraction of the size.
    #[arg(
        long,
        value_name = "FORM",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "full"
    )]
    pub(crate) explain: Option<Explanation>,

    /// Write no lock, and fail if the lock would change
    #[arg(long)]
    pub(crate) locked: bool,

    /// Write nothing
    #[arg(long, conflicts_with_all = ["fix", "unsafe_fixes"])]
    pub(crate) dry_run: bool,

    /// Then open the playground on these files, as `agent playground` does
    #[arg(long)]
    pub(crate) open: bool,

    #[command(flatten)]
    pub(crate) before: Before,

    #[command(flatten)]
    pub(crate) context: TaskContext,

    #[command(flatten)]
    pub(crate) report: Report,
}

/// Select a tool for each capability that a task requires
///
/// Writes nothing. With a manifest, its constraints apply and its own capabilities are required
/// too.
#[derive(Args, Debug)]
pub(crate) struct Match {
    /// The task, or `-` for standard input (YAML or JSON)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) task: Input,

    /// The manifest whose constraints apply
    #[arg(value_name = "MANIFEST", value_hint = ValueHint::FilePath)]
    pub(crate) manifest: Option<Input>,

    #[command(flatten)]
    pub(crate) index: IndexOption,

    #[command(flatten)]
    pub(crate) evaluation_context: EvaluationContext,

    #[command(flatten)]
    pub(crate) report: Report,
}

/// Refuses `-`, which names a standard stream everywhere else.
pub(super) fn file_to_write(path: PathBuf) -> Result<PathBuf, &'static str> {
    if path.as_os_str() == "-" {
        return Err("the output must be a file");
    }
    Ok(path)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Explanation {
    Full,
    Compact,
}

/// List the tools that the agent sees, in the form of MCP's tools/list
///
/// Essential tools appear with their full definition, all other tools of a server as one stub.
/// Token counts are estimates: the bytes of a definition in RFC 8785 form, divided by four.
#[derive(Args, Debug)]
pub(crate) struct Tools {
    /// A client, or the interface of a model, whose limits are compared: anthropic, cursor, gemini, openai, vscode
    #[arg(long = "for", value_name = "CLIENT")]
    pub(crate) client: Option<String>,

    /// The lock, or `-` for standard input
    #[arg(long, value_name = "FILE", default_value = LOCK, value_hint = ValueHint::FilePath)]
    pub(crate) lock: Input,

    #[command(flatten)]
    pub(crate) index: IndexOption,

    #[command(flatten)]
    pub(crate) report: Report,
}

/// Expand tools that are locked as on demand, or list them
///
/// Prints what the agent gets when it calls a stub. All or nothing: the policy must allow every
/// tool, and their definitions must fit into the token budget.
#[derive(Args, Debug)]
pub(crate) struct Expand {
    /// The server, as ID or ID@VERSION
    #[arg(value_name = "SERVER")]
    pub(crate) server: String,

    /// The tools [default: list the tools on demand]
    #[arg(value_name = "TOOL")]
    pub(crate) tools: Vec<String>,

    /// Tokens already used [default: those of `agent tools`]
    #[arg(long, value_name = "TOKENS")]
    pub(crate) used: Option<u64>,

    /// The token budget [default: `token_budget` of the tenant]
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u64>,

    /// The lock, or `-` for standard input
    #[arg(long, value_name = "FILE", default_value = LOCK, value_hint = ValueHint::FilePath)]
    pub(crate) lock: Input,

    #[command(flatten)]
    pub(crate) index: IndexOption,

    #[command(flatten)]
    pub(crate) context: TaskContext,

    #[command(flatten)]
    pub(crate) report: Report,
}

/// Find evidence for a summary's claims in a payload
///
/// A summary is a list of claims, each with evidence: a text that the payload, the result of a
/// tool, contains character for character. For missing evidence, reports the reason and the nearest
/// text.
#[derive(Args, Debug)]
pub(crate) struct Ground {
    /// The summary, or `-` for standard input (JSON)
    #[arg(value_name = "SUMMARY", value_hint = ValueHint::FilePath)]
    pub(crate) summary: Input,

    /// The summarised payload, or `-` for standard input (JSON)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) payload: Input,

    #[command(flatten)]
    pub(crate) report: Report,
}

/// Check policies in Rego
#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    Check(PolicyCheck),
    Diff(PolicyDiff),
    Explain(PolicyExplain),
    #[cfg(not(target_family = "wasm"))]
    New(PolicyNew),
}

/// Explain why a policy allows or denies a call
///
/// Shows every rule with its value, whether it holds and decides, and the comparisons that decided against the call.
#[derive(Args, Debug)]
pub(crate) struct PolicyExplain {
    /// The tool: SERVER/TOOL, or SERVER@VERSION/TOOL
    #[arg(value_name = "CALL")]
    pub(crate) call: String,

    /// The policy
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) policy: Input,

    #[command(flatten)]
    pub(crate) index: IndexOption,

    /// The arguments of the call, or `-` for standard input (JSON) [default: {}]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) arguments: Option<Input>,

    /// The calls before, as the policy sees them in `input.history` (JSON)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) history: Option<Input>,

    /// The configuration of the tenant
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tenant: Option<Input>,

    /// The tenant, if the configuration lists several
    #[arg(long, value_name = "ID", requires = "tenant")]
    pub(crate) tenant_id: Option<String>,

    /// The value of `input.context`, such as the time (YAML or JSON)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) policy_context: Option<Input>,

    #[command(flatten)]
    pub(crate) report: Report,
}

/// Compile a policy, find conditions that never hold, and run its tests
///
/// The tests are the rules named `test_...` in the file beside the policy whose name ends in
/// `_test.rego`.
#[derive(Args, Debug)]
pub(crate) struct PolicyCheck {
    /// The policy, or `-` for standard input
    #[arg(value_name = "POLICY", value_hint = ValueHint::FilePath)]
    pub(crate) policy: Input,

    /// The tests [default: the file beside the policy, if it exists]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) test: Option<Input>,

    /// The index whose values can occur in the policy's input [default: mcp.index.json, if it
    /// exists]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) index: Option<Input>,

    /// The configuration of the tenant whose tier can occur in the policy's input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tenant: Option<Input>,

    /// The tenant, if the configuration lists several
    #[arg(long, value_name = "ID", requires = "tenant")]
    pub(crate) tenant_id: Option<String>,

    #[command(flatten)]
    pub(crate) report: Report,
}

/// Show what another policy would allow and deny
///
/// Asks both policies about every tool and requirement of the index, in every phase, and shows what they answer
/// otherwise: what is newly allowed first. Arguments of calls are samples, made from the schemas of the tools and the
/// values in the policies. With an audit log, both also decide its calls, each after the calls that it would have allowed.
#[derive(Args, Debug)]
pub(crate) struct PolicyDiff {
    /// The older policy
    #[arg(value_name = "OLD", value_hint = ValueHint::FilePath)]
    pub(crate) old: Input,

    /// The newer policy, or `-` for standard input
    #[arg(value_name = "NEW", value_hint = ValueHint::FilePath)]
    pub(crate) new: Input,

    #[command(flatten)]
    pub(crate) index: IndexOption,

    /// The configuration of the tenant that both policies decide for
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tenant: Option<Input>,

    /// The tenant, if the configuration lists several
    #[arg(long, value_name = "ID", requires = "tenant")]
    pub(crate) tenant_id: Option<String>,

    /// The configuration of the same tenant that the older policy decided for
    #[arg(long, value_name = "FILE", requires = "tenant", value_hint = ValueHint::FilePath)]
    pub(crate) old_tenant: Option<Input>,

    /// The value of `input.context`, such as the time (YAML or JSON)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) policy_context: Option<Input>,

    /// An audit log of `agent serve` whose calls both policies decide (repeatable, in the order of writing)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) log: Vec<Input>,

    /// The lock that the calls of the log are held to
    #[arg(long, value_name = "FILE", default_value = LOCK, requires = "log", value_hint = ValueHint::FilePath)]
    pub(crate) lock: Input,

    #[command(flatten)]
    pub(crate) output: DiffOutput,
}

/// Edit the index of MCP servers
#[derive(Debug, Subcommand)]
pub(crate) enum Index {
    Import(IndexImport),
    #[cfg(not(target_family = "wasm"))]
    Add(Box<IndexAdd>),
    #[cfg(not(target_family = "wasm"))]
    Refresh(IndexRefresh),
}

/// Import servers into the index
///
/// Reads a registry's server.json, a captured `initialize` and `tools/list`, or the configuration
/// of an MCP client (.mcp.json, .vscode/mcp.json). An overlay adds the fields that these forms
/// lack. Missing fields are reported and never guessed; nothing is written then. Importing a
/// document again leaves the index unchanged.
#[derive(Args, Debug)]
pub(crate) struct IndexImport {
    /// The documents, merged into the index in this order
    #[arg(value_name = "DOCUMENT", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) documents: Vec<Input>,

    /// Additions to the documents: categories, scopes, residency, capabilities (YAML or JSON)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) overlay: Option<Input>,

    /// The index to write; the documents are merged into an existing one
    #[arg(
        long,
        value_name = "FILE",
        default_value = INDEX,
        value_hint = ValueHint::FilePath,
        value_parser = PathBufValueParser::new().try_map(file_to_write)
    )]
    pub(crate) index: PathBuf,

    /// Write nothing
    #[arg(long, conflicts_with_all = ["fix", "unsafe_fixes"])]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) report: Report,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    Check(PlanCheck),
}

/// Check whether a plan may run, and list every reason against it
///
/// A plan is a list of steps, each a call of one tool of the pool (`env.mova_agent_plan_v1`). The
/// profile must allow every step within its caps. Each step must match the destinations and schemas
/// of its tool, and a tool of an MCP server must be in the lock. With `--call` the plan is a
/// one-call plan: a planner's answer as one JSON object, which calls one read-only tool. Nothing
/// runs.
#[derive(Args, Debug)]
pub(crate) struct PlanCheck {
    /// The plan, or `-` for standard input
    #[arg(value_name = "PLAN", value_hint = ValueHint::FilePath)]
    pub(crate) plan: Input,

    /// The plan is a one-call plan
    #[arg(long, conflicts_with_all = ["tool_pool", "profile", "request", "mova"])]
    pub(crate) call: bool,

    /// The tools that plans may name (`ds.mova_agent_tool_pool_v1`)
    #[arg(long, value_name = "FILE", required_unless_present = "call", value_hint = ValueHint::FilePath)]
    pub(crate) tool_pool: Option<Input>,

    /// The allowed tools and their limits (`ds.instruction_profile_core_v1` with `caps`)
    #[arg(long, value_name = "FILE", required_unless_present = "call", value_hint = ValueHint::FilePath)]
    pub(crate) profile: Option<Input>,

    /// The request that the plan answers; the two are compared (`env.mova_agent_request_v1`)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) request: Option<Input>,

    /// The lock, or `-` for standard input; without one no tool of an MCP server may be called
    #[arg(long, value_name = "FILE", default_value = LOCK, value_hint = ValueHint::FilePath)]
    pub(crate) lock: Input,

    /// The servers' present tools: each server's id with the result of its `tools/list` (JSON)
    /// [default: the tools of the index]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) catalog: Option<Input>,

    /// Then open the playground on these files, as `agent playground` does
    #[arg(long)]
    pub(crate) open: bool,

    #[command(flatten)]
    pub(crate) mova: MovaOption,

    #[command(flatten)]
    pub(crate) policy: PolicyOptions,

    #[command(flatten)]
    pub(crate) index: IndexOption,

    #[command(flatten)]
    pub(crate) report: Report,
}

#[derive(Args, Debug)]
#[command(next_help_heading = None::<&str>)]
pub(crate) struct MovaOption {
    /// A copy of MOVA whose core schemas replace the project's equivalents [default: `vendor/MOVA`,
    /// if it exists]
    #[arg(id = "mova", long = "mova", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: Option<PathBuf>,
}

/// Print the JSON Schemas of the project, or check a document against one
#[derive(Debug, Subcommand)]
pub(crate) enum Schema {
    List(SchemaList),
    Show(SchemaShow),
    Check(SchemaCheck),
}

/// List the schemas
#[derive(Args, Debug)]
pub(crate) struct SchemaList {
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Print a schema
#[derive(Args, Debug)]
pub(crate) struct SchemaShow {
    /// The name of the schema, such as `env.mova_agent_plan_v1`
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) output: Output,
}

/// Check a document against a schema
#[derive(Args, Debug)]
pub(crate) struct SchemaCheck {
    /// The name of the schema, such as `env.mova_agent_plan_v1`
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// The document, or `-` for standard input (JSON)
    #[arg(value_name = "DOCUMENT", value_hint = ValueHint::FilePath)]
    pub(crate) document: Input,

    #[command(flatten)]
    pub(crate) mova: MovaOption,

    #[command(flatten)]
    pub(crate) report: Report,
}

/// Explain every decision about a server, a tool, a category or a capability
///
/// For each requirement: whether the server or the tool is selected, eligible or rejected, all
/// reasons, and the smallest change that would make it eligible.
#[derive(Args, Debug)]
pub(crate) struct Why {
    /// A server, as ID or ID@VERSION; a tool, by its name or as a server followed by /TOOL; a
    /// category; or a capability, as VERB:RESOURCE
    #[arg(value_name = "SUBJECT")]
    pub(crate) subject: String,

    #[command(flatten)]
    pub(crate) manifest: ManifestArgument,

    #[command(flatten)]
    pub(crate) index: IndexOption,

    #[command(flatten)]
    pub(crate) context: TaskContext,

    #[command(flatten)]
    pub(crate) report: Report,
}

/// List the differences between two locks, or between a lock and a new resolution
///
/// Exits with 1 if there are differences.
#[derive(Args, Debug)]
pub(crate) struct Diff {
    /// The older lock [default: agents.lock]
    #[arg(value_name = "OLD", value_hint = ValueHint::FilePath)]
    pub(crate) old: Option<Input>,

    /// The newer lock [default: a new resolution]
    #[arg(value_name = "NEW", value_hint = ValueHint::FilePath, conflicts_with_all = ["manifest", "index", "task", "tenant", "policy", "policy_context", "health"])]
    pub(crate) new: Option<Input>,

    /// The manifest to resolve, or `-` for standard input [default: agents.md, else AGENTS.md]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) manifest: Option<Input>,

    #[command(flatten)]
    pub(crate) index: IndexOption,

    #[command(flatten)]
    pub(crate) before: Before,

    #[command(flatten)]
    pub(crate) context: TaskContext,

    #[command(flatten)]
    pub(crate) output: DiffOutput,

    /// Also print a link to the review of both locks in the playground at this address; the link holds them
    #[arg(help_heading = None::<&str>, long, value_name = "URL", value_hint = ValueHint::Url, requires = "new")]
    pub(crate) share: Option<String>,
}

/// How differences are shown, and which of them are refused.
#[derive(Args, Debug)]
pub(crate) struct DiffOutput {
    /// Accept differences but those that give the agent more access
    #[arg(help_heading = None::<&str>, long)]
    pub(crate) deny_widening: bool,

    /// Output format
    #[arg(help_heading = None::<&str>, long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: DiffFormat,

    #[command(flatten)]
    pub(crate) fixes: Fixes,
}

/// The format of differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// For people: the answer on standard output, problems on standard error
    Text,
    /// As JSON: the answer or, if an input is invalid, the problems
    Json,
    /// As Markdown for a review, more access first; problems on standard error
    Markdown,
    /// The problems as SARIF 2.1.0
    Sarif,
    /// The problems as workflow commands of GitHub Actions
    Github,
}

impl DiffFormat {
    /// Returns whether programs read the output.
    pub(crate) fn is_for_programs(self) -> bool {
        !matches!(self, Self::Text | Self::Markdown)
    }
}

impl DiffOutput {
    /// Returns the options that every command with documents has.
    pub(crate) fn report(&self) -> Report {
        let format = match self.format {
            DiffFormat::Text | DiffFormat::Markdown => Format::Text,
            DiffFormat::Json => Format::Json,
            DiffFormat::Sarif => Format::Sarif,
            DiffFormat::Github => Format::Github,
        };
        Report {
            output: Output { format },
            fixes: self.fixes.clone(),
        }
    }
}

/// Check that the index still matches the lock
///
/// Compares the hash and the integrity of every selection, and its grant with the server's offer.
#[derive(Args, Debug)]
pub(crate) struct Verify {
    /// The lock, or `-` for standard input
    #[arg(long, value_name = "FILE", default_value = LOCK, value_hint = ValueHint::FilePath)]
    pub(crate) lock: Input,

    /// The policy in Rego, to compare with that of the lock
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) policy: Option<Input>,

    #[command(flatten)]
    pub(crate) index: IndexOption,

    #[command(flatten)]
    pub(crate) before: Before,

    #[command(flatten)]
    pub(crate) report: Report,
}

/// Verify the audit log of `agent serve`
///
/// Checks that every line is a record, that records follow each other without a gap, and that each holds the digest
/// of the one before. Reports every problem with its file and line. Nothing follows the last record: note its
/// digest, which the command prints, and pass it with `--head` later.
#[derive(Args, Debug)]
pub(crate) struct Audit {
    /// The files of the log, in their order, or `-` for standard input
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<Input>,

    /// The digest of the record before the first one, if earlier parts of the log are elsewhere
    #[arg(long, value_name = "DIGEST")]
    pub(crate) after: Option<String>,

    /// The digest of the record that the log must end with
    #[arg(long, value_name = "DIGEST")]
    pub(crate) head: Option<String>,

    #[command(flatten)]
    pub(crate) output: Output,
}

/// Decide a recorded run, or the calls of an audit log, again
///
/// A folder is the evidence of a run. Every decision is made again, offline, with the recorded effects, and compared with
/// the recorded one. With other rules, this shows what they would have changed. A lock, an index and a policy are not
/// part of the evidence: pass those of the run.
///
/// Files are an audit log of `agent serve`. Every call is decided again under the given lock, index and policy, with the
/// recorded client and time. What depends on the state of the session is kept as recorded.
///
/// Exits with 1 at a difference, and with 2 if a decision can't be made again, or the evidence or the log does not
/// verify.
#[derive(Args, Debug)]
pub(crate) struct Replay {
    /// The folder of a run, or the files of an audit log in their order, or `-` for standard input
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<Input>,

    /// The lock [default: agents.lock, if it exists]
    #[arg(long, value_name = "FILE", default_value = LOCK, value_hint = ValueHint::FilePath)]
    pub(crate) lock: Input,

    /// The task that the lock was made with, for an audit log (YAML or JSON)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) task: Option<Input>,

    /// An instruction profile instead of the recorded one
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) profile: Option<Input>,

    /// A tool pool instead of the recorded one
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tool_pool: Option<Input>,

    /// Then open the playground on these files (of an audit log), as `agent playground` does
    #[arg(long)]
    pub(crate) open: bool,

    #[command(flatten)]
    pub(crate) mova: MovaOption,

    #[command(flatten)]
    pub(crate) context: EvaluationContext,

    #[command(flatten)]
    pub(crate) index: IndexOption,

    #[command(flatten)]
    pub(crate) output: Output,
}

/// Print a link to the playground that holds this folder's files
///
/// The link is the one that the page makes with "Share". It holds the files themselves behind `#`, which browsers send
/// to no server. Nothing is sent anywhere. Texts that look like secrets are refused.
#[derive(Args, Debug)]
pub(crate) struct Share {
    #[command(flatten)]
    pub(crate) folder: FolderDocuments,

    /// The address of a playground, which stands before the link [default: print what is behind it]
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) base: Option<String>,

    /// Replace texts that look like secrets by `REDACTED`
    #[arg(long)]
    pub(crate) redact: bool,
}

/// The documents of a folder that the playground shows.
#[derive(Args, Debug)]
#[command(next_help_heading = None::<&str>)]
pub(crate) struct FolderDocuments {
    #[command(flatten)]
    pub(crate) manifest: ManifestArgument,

    #[command(flatten)]
    pub(crate) index: IndexOption,

    /// The lock to compare with [default: agents.lock, if it exists]
    #[arg(long, value_name = "FILE", default_value = LOCK, value_hint = ValueHint::FilePath)]
    pub(crate) lock: Input,

    #[command(flatten)]
    pub(crate) context: TaskContext,
}

/// Print the page of a code, or list all codes
#[derive(Args, Debug)]
pub(crate) struct Explain {
    /// A code, such as MISSING_SCOPE
    #[arg(value_name = "CODE")]
    pub(crate) code: Option<String>,
}
