//! The decisions about the five verbs of the daemon \[2\]. Nothing here reads a clock or a file.

#![forbid(unsafe_code)]

mod diff;
mod document;
pub mod envelope;
mod failure;
mod file_plan;
#[cfg(test)]
mod flow;
mod fs_apply;
mod httpcheck;
mod language;
pub mod limits;
mod manifest;
mod path;
mod plan_create;
mod policy;
mod readiness;
mod record;
mod report;
mod run_start;
mod scan;
mod scan_rules;
mod schemas;
mod steps;
mod task;
mod verb;
mod words;

pub use failure::{ErrorCode, Failure};
pub use file_plan::{FilePlan, Write, file_plan};
pub use fs_apply::{Change, Content, FsApply, Patch, Present};
pub use httpcheck::{GatewayAddress, HttpcheckAssert, Probe, ProbeOutcome};
pub use language::{Language, Requirement};
pub use manifest::{Manifest, runner_answer};
pub use path::path_fault;
pub use plan_create::PlanCreate;
pub use policy::{FilesystemPolicy, Policy, ResolvedPackage};
pub use readiness::Readiness;
pub use record::{Record, record};
pub use report::{ReportFinish, ReportPlace, Verdict};
pub use run_start::{RunLimit, RunStart, Running};
pub use scan::{FindingSeverity, Scan, ScanFinding, scan};
pub use schemas::SchemaOf;
pub use steps::{DependencyStep, Steps};
pub use task::{
    Addressed, Task, TaskState, addressed_beside, addressed_by_argument, choose_task, is_task_id,
};
pub use verb::{DaemonVerb, VersionedVerb, discovery};
