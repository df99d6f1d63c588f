//! The decisions about the five verbs of the daemon \[2\], from the bytes of requests.
//!
//! Nothing here reads a clock, a file or a network. [`VerbRun`] is a verb from its request to its response: it returns
//! an [`Action`], one effect, and takes its [`Outcome`]. A host can leave out no check and reorder none.
//!
//! | module | content |
//! |---|---|
//! | `lifecycle` | the order of each verb, as straight code |
//! | `opened` | the host and an opened task, as that order asks them |
//! | `action`, `verb_run` | the effects, their outcomes, and the machine that a host drives |
//! | `grants`, `staged` | what the policy gives an application, and files as runners write them |
//! | `failure` | failures with their codes, and the problems that become one |
//! | `verb` | the verbs, their versions, and the discovery object |
//! | `envelope` | responses |
//! | `schemas`, `document` | the schemas of documents, and documents that are read strictly and checked |
//! | `task` | ids and states of tasks, and which task a request is for |
//! | `plan_create`, `file_plan` | the input of `plan.create`, and what planners answer with |
//! | `path` | which paths are sound, and which files collide |
//! | `words`, `steps` | command lines, and their dependency steps |
//! | `declared`, `toml` | files of an application that declare its dependencies |
//! | `language`, `resolution` | names and versions of packages, and what they were resolved to |
//! | `fs_apply`, `diff` | changes of files, and exact diffs |
//! | `run_start`, `readiness` | the start of an application, and when it is ready |
//! | `httpcheck`, `report` | probes, and the report of a task |
//! | `policy` | the policy file, and which packages may be installed |
//! | `scan`, `scan_rules` | secrets and dangerous calls in files |
//! | `manifest` | manifests of tasks, and the protocol of foreign runners |
//! | `limits` | every limit |

#![forbid(unsafe_code)]

mod action;
mod declared;
mod diff;
mod document;
pub mod envelope;
mod failure;
mod file_plan;
#[cfg(test)]
mod flow;
mod fs_apply;
mod grants;
mod httpcheck;
mod language;
mod lifecycle;
pub mod limits;
mod manifest;
mod opened;
#[cfg(test)]
mod orders;
mod path;
mod plan_create;
mod policy;
mod readiness;
mod report;
mod resolution;
mod run_start;
mod scan;
mod scan_rules;
mod schemas;
mod staged;
mod steps;
mod task;
mod verb;
mod verb_run;
mod words;

pub use action::{
    Access, Action, App, ArtifactFile, Call, Ending, Found, Granted, ListedTask, NewTask,
    OpenedTask, Order, Outcome, PlannedChange, Planning, Plans, PolicyFile, ProbeResponse, Probed,
    Probing, Replied, Resolution, RunnerReply, SourceFile, StagedFile, Start, TaskChange,
    Transition,
};
pub use agent_record::Secret;
/// Returns what a secret may look like in a text.
pub use agent_record::forms_of;
pub use agent_turns::OutOfTurn;
pub use declared::{Declaration, Declared, DeclaringFile};
pub use failure::{ErrorCode, Failure};
pub use file_plan::{FilePlan, Write, file_plan};
pub use fs_apply::{Change, Content, FsApply, Patch, Present};
pub use httpcheck::{GatewayAddress, HttpcheckAssert, Probe, ProbeOutcome};
pub use language::{Language, Requirement};
pub use manifest::{Manifest, runner_answer};
pub use path::path_fault;
pub use plan_create::PlanCreate;
pub use policy::{FilesystemPolicy, Policy, ResolvedPackage, Transport};
pub use report::{ReportFinish, ReportPlace, Verdict};
pub use resolution::{check_resolution, merge, pinned};
pub use run_start::{RunLimit, RunStart, Running};
pub use scan::{FindingSeverity, Scan, ScanFinding, scan};
pub use schemas::SchemaOf;
pub use steps::{DependencyStep, Steps};
pub use task::{
    Addressed, Task, TaskState, addressed_beside, addressed_by_argument, choose_task, is_task_id,
};
pub use verb::{DaemonVerb, VersionedVerb, discovery};
pub use verb_run::VerbRun;
