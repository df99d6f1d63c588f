//! Conversions for the verbs of the daemon.

use super::all;
use crate::bindings::exports::agent::engine::daemon;

same! {
    agent_verbs::DaemonVerb = daemon::Verb { PlanCreate FsApply RunStart HttpcheckAssert ReportFinish }
    agent_verbs::ErrorCode = daemon::ErrorCode { Plan Fs Policy Build Runtime Timeout Network Port }
    agent_verbs::FilesystemPolicy = daemon::FilesystemPolicy { Task Readonly }
    agent_verbs::FindingSeverity = daemon::FindingSeverity { Blocks Warns }
    agent_verbs::Language = daemon::Language { Python Node Go Rust }
    agent_verbs::RunLimit = daemon::RunLimit { CpuPct MemMb WallSec }
    agent_verbs::TaskState = daemon::TaskState {
        Planned Applied Installing Starting Ready Failed Ended
    }
}

alike! {
    agent_verbs::Addressed = daemon::Addressed { input, task_id; ; }
    agent_verbs::Content = daemon::FileContent { bytes, mode; ; }
    agent_verbs::Declaration = daemon::Declaration { lock, manifest; ; requirements }
    agent_verbs::Declared = daemon::DeclaredDependencies { locked, files; language; }
    agent_verbs::DeclaringFile = daemon::DeclaringFile { path, content; ; }
    agent_verbs::Failure = daemon::Failure { message, hints, task_id; code; }
    agent_verbs::GatewayAddress = daemon::GatewayAddress { host, port; ; }
    agent_verbs::Manifest = daemon::Manifest { task_id, cmd, socket, tcp_port, files; language; }
    agent_verbs::PlanCreate = daemon::PlanRequest { prompt, deps_allowlist, port_hint; ; languages }
    agent_verbs::Probe = daemon::Probe {
        method, path, expect_status, expect_body, headers; ;
    }
    agent_verbs::ProbeOutcome = daemon::ProbeOutcome { status, latency_ms, reason; ; }
    agent_verbs::ReportPlace = daemon::ReportPlace { artifact_dir, url, direct_url; ; }
    agent_verbs::Requirement = daemon::Requirement {
        name, normal_name, extras, default_features, version, range; language;
    }
    agent_verbs::ResolvedPackage = daemon::ResolvedPackage { name, version, required_by; ; }
    agent_verbs::Running = daemon::Running { task_id, socket, host, port, pid; ; unenforced }
    agent_verbs::Task = daemon::Task { id; state; }
    agent_verbs::VersionedVerb = daemon::VersionedVerb { version; verb; }
    agent_verbs::Write = daemon::FileWrite { path, content, mode; ; }
}

impl From<daemon::SchemaOf> for agent_verbs::SchemaOf {
    fn from(of: daemon::SchemaOf) -> Self {
        match of {
            daemon::SchemaOf::Input(verb) => Self::Input(verb.into()),
            daemon::SchemaOf::Tool(verb) => Self::Tool(verb.into()),
            daemon::SchemaOf::Output(verb) => Self::Output(verb.into()),
            daemon::SchemaOf::Manifest => Self::Manifest,
            daemon::SchemaOf::FilePlan => Self::FilePlan,
        }
    }
}

impl From<agent_verbs::DependencyStep> for daemon::DependencyStep {
    fn from(step: agent_verbs::DependencyStep) -> Self {
        use agent_verbs::DependencyStep;
        match step {
            DependencyStep::Install(packages) => Self::Install(all(packages)),
            DependencyStep::InstallDeclared(declared) => Self::InstallDeclared(declared.into()),
            DependencyStep::InitPackage => Self::InitPackage,
            DependencyStep::InitModule(name) => Self::InitModule(name),
        }
    }
}

impl From<agent_verbs::Steps> for daemon::Steps {
    fn from(steps: agent_verbs::Steps) -> Self {
        Self {
            dependencies: all(steps.dependencies),
            start: steps.start,
        }
    }
}

impl From<agent_verbs::FilePlan> for daemon::FilePlanContent {
    fn from(plan: agent_verbs::FilePlan) -> Self {
        Self {
            files: all(plan.files),
            start: plan.start,
            steps: plan.steps.into(),
            assumptions: plan.assumptions,
            language: plan.language.into(),
            dependencies: all(plan.dependencies),
        }
    }
}

impl From<daemon::PresentFile> for agent_verbs::Present {
    fn from(file: daemon::PresentFile) -> Self {
        Self {
            path: file.path,
            content: file.content.map(Into::into),
        }
    }
}

impl From<agent_verbs::Change> for daemon::FileChange {
    fn from(change: agent_verbs::Change) -> Self {
        Self {
            path: change.path,
            after: change.after.map(Into::into),
        }
    }
}

impl From<agent_verbs::RunStart> for daemon::StartContent {
    fn from(start: agent_verbs::RunStart) -> Self {
        let limits = start.limits.into_iter();
        Self {
            cmd: start.cmd,
            steps: start.steps.into(),
            env: start.env,
            ready_regex: start.ready_regex,
            ready_timeout_sec: start.ready_timeout_sec,
            limits: limits.map(|(limit, value)| (limit.into(), value)).collect(),
            denies_egress: start.denies_egress,
        }
    }
}

impl From<agent_verbs::ScanFinding> for daemon::ScanFinding {
    fn from(finding: agent_verbs::ScanFinding) -> Self {
        Self {
            rule: finding.rule.to_owned(),
            severity: finding.severity.into(),
            message: finding.message.to_owned(),
            path: finding.path,
            line: finding.line,
            column: finding.column,
        }
    }
}

impl From<agent_verbs::Scan> for daemon::Scanned {
    fn from(scan: agent_verbs::Scan) -> Self {
        Self {
            refusal: scan.admit().err().map(Into::into),
            findings: all(scan.findings),
            unlisted: scan.unlisted,
            unscanned: scan.unscanned,
        }
    }
}
