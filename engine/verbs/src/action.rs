//! The effects that a verb wants of its host, and their outcomes.

use super::failure::Failure;
use super::fs_apply::{Change, Content, Present};
use super::httpcheck::{GatewayAddress, Probe};
use super::language::{Language, Requirement};
use super::policy::ResolvedPackage;
use super::run_start::RunLimit;
use super::task::TaskState;
use agent_record::Secret;
use agent_turns::Effect;
use std::fmt;

/// What is to be done with tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// What is to be done.
    pub order: Order,
    /// The client. The user at the command line may name the task of any client.
    pub client: String,
    /// Whether the client is the user at the command line.
    pub is_user: bool,
    /// All tasks.
    pub tasks: Vec<ListedTask>,
    /// The limits of programs that this machine can't enforce.
    pub unenforceable: Vec<RunLimit>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// A verb by its name, with its input and the task that is named beside it.
    Verb(String, Vec<u8>, Option<String>),
    /// Plan a change of a task's application, by a request with `prompt`.
    PlanChange(String, Vec<u8>),
    /// Take the last batch of changes of a task back, once.
    Revert(String),
    /// End a task.
    End(String),
    /// Take note of what was found of a task's application.
    Note(String, Found),
}

/// A task among all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedTask {
    /// The id.
    pub id: String,
    /// The client that opened it.
    pub client: String,
    /// The state.
    pub state: TaskState,
}

/// What was found of an application that should run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// It runs, and is not ready yet.
    Starting,
    /// It runs, and is ready.
    Ready(App),
    /// It runs, and was not ready in its time.
    Late,
    /// It does not run.
    Over(Ending),
}

/// Why an application does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// What happened, as a clause.
    pub reason: String,
    /// Whether it failed by itself; otherwise somebody or its limit of time ended it.
    pub is_failure: bool,
}

/// A task as it is when it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedTask {
    /// The id.
    pub id: String,
    /// The state.
    pub state: TaskState,
    /// What the application should do.
    pub prompt: String,
    /// The language.
    pub language: Language,
    /// Whether a foreign runner starts the application.
    pub is_foreign: bool,
    /// The packages that the call which opened it may install.
    pub deps_allowlist: Option<Vec<String>>,
    /// The command line of the plan, or of the last start.
    pub start: Option<String>,
    /// The requirements of its plans.
    pub plans: Plans,
    /// The packages of the last start.
    pub locked: Vec<ResolvedPackage>,
    /// The leased port, while the application runs.
    pub port: Option<u16>,
    /// The folder of the task.
    pub artifact_dir: String,
    /// The URL through the gateway; `None` without a gateway.
    pub url: Option<String>,
}

/// The requirements of a task's plans.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plans {
    /// Those of the files as they are.
    pub present: Vec<Requirement>,
    /// Those of a planned change, until its files are applied.
    pub change: Option<Vec<Requirement>>,
    /// Those before the last applied change.
    pub before: Option<Vec<Requirement>>,
}

/// How a task is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Beside other verbs.
    Read,
    /// Alone: once the verb that changes the task has ended.
    Write,
    /// At once. The verb that changes the task is cancelled.
    End,
}

/// A task to create. It is planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTask {
    /// What the application should do.
    pub prompt: String,
    /// The language.
    pub language: Language,
    /// The packages that it may install, of those that the policy allows.
    pub deps_allowlist: Option<Vec<String>>,
    /// The command line of the plan.
    pub start: String,
    /// The requirements of the plan.
    pub requirements: Vec<Requirement>,
}

/// What a task becomes, and what is remembered of it. What is `None` stays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskChange {
    /// Its next state.
    pub transition: Option<Transition>,
    /// The command line.
    pub start: Option<String>,
    /// How its last probes ended, such as `3 of 3 passed`.
    pub probes: Option<String>,
    /// The requirements of its plans.
    pub plans: Option<Plans>,
    /// The packages of its last start.
    pub locked: Option<Vec<ResolvedPackage>>,
}

/// A change of a task's state. If the state is another one than expected, nothing is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// The expected state.
    pub from: TaskState,
    /// The next state.
    pub to: TaskState,
    /// Why its application failed or ended; `None` removes an earlier reason.
    pub reason: Option<String>,
}

/// The policy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFile {
    /// The path, for messages.
    pub path: String,
    /// The bytes; `None` if there is no such file.
    pub text: Option<Vec<u8>>,
    /// Whether it may have come with a copied folder of tasks: it is in the folder, and others can read it.
    pub may_be_copied: bool,
}

/// A request to the planner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planning {
    /// What the application should do.
    pub prompt: String,
    /// The languages that the planner may choose, most wanted first; any, if there are none.
    pub languages: Vec<Language>,
    /// The packages that it may use.
    pub deps_allowlist: Option<Vec<String>>,
    /// The port that the application should listen on.
    pub port_hint: Option<u16>,
    /// The schema of the answer.
    pub schema: String,
    /// A change of an application that exists.
    pub change: Option<PlannedChange>,
}

/// A change to plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedChange {
    /// What to change.
    pub prompt: String,
    /// The texts of the application, by their paths.
    pub present: Vec<(String, String)>,
}

/// A file of an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The path below `source/`.
    pub path: String,
    /// The bytes.
    pub content: Vec<u8>,
}

/// A file that a runner wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StagedFile {
    /// The path below `source/`.
    pub path: String,
    /// The file.
    pub content: Content,
}

/// What a foreign runner answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunnerReply {
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
    /// Its exit code.
    pub exit_code: i32,
}

/// What a runner did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replied<T> {
    /// The result, or why there is none.
    pub result: Result<T, Failure>,
    /// What a foreign runner answered. It says more than the result.
    pub reply: Option<RunnerReply>,
}

/// An artifact of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArtifactFile {
    /// `plan.json`, which is replaced.
    Plan,
    /// `manifest.json`, which is replaced.
    Manifest,
    /// `run.log`, which grows.
    RunLog,
    /// `probes.log`, which grows.
    ProbesLog,
}

/// Packages to resolve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// The language.
    pub language: Language,
    /// The packages, each once.
    pub requirements: Vec<Requirement>,
    /// The lock file of the application.
    pub lock: Option<String>,
    /// The directives by which a module of Go is compiled.
    pub manifest: Option<String>,
}

/// An application to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// The environment, in order.
    pub env: Vec<(String, String)>,
    /// The expression of readiness, in the syntax of the crate `regex`.
    pub ready_regex: Option<String>,
    /// The time that it has to become ready, in seconds.
    pub ready_timeout_sec: u32,
    /// The limits that were asked for.
    pub limits: Vec<(RunLimit, u32)>,
    /// Whether it may only read its files.
    pub is_readonly: bool,
    /// Each `host:port` that it may connect to.
    pub egress: Vec<String>,
    /// Its secrets.
    pub secrets: Vec<Granted>,
    /// The manifest for a foreign runner.
    pub manifest: Option<String>,
}

/// A secret of an application.
#[derive(Clone, PartialEq, Eq)]
pub struct Granted {
    /// The name, which is also that of the variable, and the value.
    pub secret: Secret,
    /// What it may look like in a text.
    pub forms: Vec<String>,
}

impl fmt::Debug for Granted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.secret.fmt(f)
    }
}

/// An application that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct App {
    /// The Unix socket; `None` if it is reached over TCP alone.
    pub socket: Option<String>,
    /// The process; `None` for a component, which is none.
    pub pid: Option<u32>,
    /// The limits that can't be enforced.
    pub unenforced: Vec<RunLimit>,
}

/// Probes to send, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probing {
    /// Where to send them.
    pub to: GatewayAddress,
    /// What precedes each path.
    pub below: String,
    /// The probes.
    pub probes: Vec<Probe>,
}

/// What a probe was answered with; the error says why there is no response.
pub type Probed = Result<ProbeResponse, String>;

/// The response to a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeResponse {
    /// The status.
    pub status: u16,
    /// The first bytes of the body, [`RESPONSE_MAX_BYTES`](super::limits::RESPONSE_MAX_BYTES) at most.
    pub body: Vec<u8>,
    /// The time from the request to the end of the response, in milliseconds.
    pub latency_ms: u32,
}

/// One effect that a verb wants, or its end. Every effect of a task is one of the opened or created task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Read the policy. Outcome: `Policy`.
    ReadPolicy,
    /// Open a task until the end. Outcome: `Opened`.
    OpenTask(String, Access),
    /// Create a task, and open it. Outcome: `Created`.
    CreateTask(NewTask),
    /// Change what a task is and remember it on disk. Outcome: `Done`, or `Superseded`.
    Remember(TaskChange),
    /// List the files of the application with the contents of the named ones. Outcome: `Files`.
    ReadFiles(Vec<String>),
    /// Read all small files of the application. Outcome: `Sources`.
    ReadSources,
    /// List the files of the application, or of the whole task. Outcome: `Paths`.
    ListFiles {
        /// Whether to list the whole task.
        of_task: bool,
    },
    /// Have the runner write files into a folder of their own. Outcome: `Staged`.
    Stage(Vec<StagedFile>),
    /// Change files of the application, all or none. Outcome: `Done`.
    Commit(Vec<Change>),
    /// Take the last batch of changes back. Outcome: `Reverted`.
    Revert,
    /// Write an artifact, or its end. Outcome: `Done`.
    Write(ArtifactFile, String),
    /// Ask the planner, once. Outcome: `Bytes`, its answer as received.
    Plan(Planning),
    /// Reveal secrets by their names. Outcome: `Secrets`.
    Reveal(Vec<String>),
    /// Resolve packages. Outcome: `Closure`.
    Resolve(Resolution),
    /// Install what was resolved. Outcome: `Done`.
    Install,
    /// Build the component of an application by its command line. Whether the build may write files of the
    /// application comes second. Outcome: `Done`.
    Build(Vec<String>, bool),
    /// Start the application with what was installed and built. Outcome: `Started`.
    Start(Box<Start>),
    /// End the application, and release its port. Outcome: `Done`.
    Stop,
    /// Lease a port of loopback. Outcome: `Leased`.
    Lease,
    /// Send probes. Outcome: `Probed`.
    Probe(Probing),
    /// The verb has ended with its response as JSON that ends with a newline, or failed.
    Finished(Result<String, Failure>),
}

/// The outcome of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is done.
    Done,
    /// It failed.
    Failed(Failure),
    /// The policy file.
    Policy(PolicyFile),
    /// The opened task.
    Opened(Box<OpenedTask>),
    /// The id of the created task.
    Created(String),
    /// The state is this one, and not the expected one.
    Superseded(TaskState),
    /// Files with the contents of the named ones.
    Files(Vec<Present>),
    /// The small files of the application.
    Sources(Vec<SourceFile>),
    /// Paths.
    Paths(Vec<String>),
    /// What the runner wrote.
    Staged(Replied<Vec<StagedFile>>),
    /// Why nothing was taken back; `None` if it was.
    Reverted(Option<String>),
    /// The answer of the planner.
    Bytes(Vec<u8>),
    /// Secrets with their names.
    Secrets(Vec<Secret>),
    /// The resolved packages.
    Closure(Vec<ResolvedPackage>),
    /// The application is ready.
    Started(Replied<App>),
    /// The leased port.
    Leased(GatewayAddress),
    /// What each probe was answered with.
    Probed(Vec<Probed>),
}

impl Effect for Action {
    type Outcome = Outcome;
    type Stop = Failure;

    fn accepts(&self, outcome: &Outcome) -> bool {
        match (self, outcome) {
            (Self::Finished(_), _) => false,
            (_, Outcome::Failed(_))
            | (Self::ReadPolicy, Outcome::Policy(_))
            | (Self::OpenTask(..), Outcome::Opened(_))
            | (Self::CreateTask(_), Outcome::Created(_))
            | (Self::Remember(_), Outcome::Done | Outcome::Superseded(_))
            | (Self::ReadFiles(_), Outcome::Files(_))
            | (Self::ReadSources, Outcome::Sources(_))
            | (Self::ListFiles { .. }, Outcome::Paths(_))
            | (Self::Stage(_), Outcome::Staged(_))
            | (Self::Revert, Outcome::Reverted(_))
            | (Self::Plan(_), Outcome::Bytes(_))
            | (Self::Reveal(_), Outcome::Secrets(_))
            | (Self::Resolve(_), Outcome::Closure(_))
            | (Self::Start(_), Outcome::Started(_))
            | (Self::Lease, Outcome::Leased(_))
            | (Self::Probe(_), Outcome::Probed(_))
            | (
                Self::Commit(_) | Self::Write(..) | Self::Install | Self::Build(..) | Self::Stop,
                Outcome::Done,
            ) => true,
            _ => false,
        }
    }

    /// An application that was started is ended, and its task fails.
    fn outlasts(&self) -> bool {
        matches!(self, Self::Stop | Self::Remember(_))
    }

    fn out_of_turn() -> Failure {
        use super::failure::ErrorCode;
        Failure::new(ErrorCode::Runtime, "the host answered out of turn")
            .hint("report this as a defect of the host")
    }
}
