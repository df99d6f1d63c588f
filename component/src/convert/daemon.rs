//! Conversions for the verbs of the daemon.

use super::all;
use crate::bindings::exports::agent::engine::daemon;

same! {
    agent_verbs::Access = daemon::Access { Read Write End }
    agent_verbs::ArtifactFile = daemon::ArtifactFile { Plan Manifest RunLog ProbesLog }
    agent_verbs::ErrorCode = daemon::ErrorCode { Plan Fs Policy Build Runtime Timeout Network Port }
    agent_verbs::Language = daemon::Language { Python Node Go Rust }
    agent_verbs::Transport = daemon::Transport { Uds Tcp }
    agent_verbs::RunLimit = daemon::RunLimit { CpuPct MemMb WallSec }
    agent_verbs::TaskState = daemon::TaskState {
        Planned Applied Installing Starting Ready Failed Ended
    }
}

alike! {
    agent_verbs::Addressed = daemon::Addressed { input, task_id; ; }
    agent_verbs::App = daemon::App { socket, pid; ; unenforced }
    agent_verbs::Content = daemon::FileContent { bytes, mode; ; }
    agent_verbs::Ending = daemon::Ending { reason, is_failure; ; }
    agent_verbs::Failure = daemon::Failure { message, hints, task_id; code; }
    agent_verbs::GatewayAddress = daemon::GatewayAddress { host, port; ; }
    agent_verbs::Granted = daemon::Granted { forms; secret; }
    agent_verbs::ListedTask = daemon::ListedTask { id, client; state; }
    agent_verbs::Manifest = daemon::Manifest { task_id, cmd, socket, tcp_port, files; language; }
    agent_verbs::NewTask = daemon::NewTask { prompt, deps_allowlist, start; language; requirements }
    agent_verbs::OpenedTask = daemon::OpenedTask {
        id, prompt, is_foreign, deps_allowlist, start, port, artifact_dir, url; state, language, plans; locked
    }
    agent_verbs::PlannedChange = daemon::PlannedChange { prompt, present; ; }
    agent_verbs::PolicyFile = daemon::PolicyFile { path, text, may_be_copied; ; }
    agent_verbs::Probe = daemon::Probe {
        method, path, expect_status, expect_body, headers; ;
    }
    agent_verbs::ProbeResponse = daemon::ProbeResponse { status, body, latency_ms; ; }
    agent_verbs::Probing = daemon::Probing { below; to; probes }
    agent_verbs::Requirement = daemon::Requirement {
        name, normal_name, extras, default_features, version, range; language;
    }
    agent_verbs::Resolution = daemon::Resolution { lock, manifest; language; requirements }
    agent_verbs::ResolvedPackage = daemon::ResolvedPackage { name, version, required_by; ; }
    agent_verbs::RunnerReply = daemon::RunnerReply { stdout, stderr, exit_code; ; }
    agent_verbs::SourceFile = daemon::SourceFile { path, content; ; }
    agent_verbs::StagedFile = daemon::StagedFile { path; content; }
    agent_verbs::Transition = daemon::Transition { reason; from, to; }
}

impl From<agent_verbs::VersionedVerb> for daemon::VersionedVerb {
    fn from(it: agent_verbs::VersionedVerb) -> Self {
        Self {
            name: it.verb.name().to_owned(),
            version: it.version,
        }
    }
}

impl From<agent_verbs::VersionedVerb> for daemon::Verb {
    fn from(it: agent_verbs::VersionedVerb) -> Self {
        use agent_verbs::SchemaOf::{Output, Tool};
        Self {
            name: it.verb.name().to_owned(),
            version: it.version,
            about: it.verb.about().to_owned(),
            arguments: Tool(it.verb).text().into_owned(),
            response: Output(it.verb).text().into_owned(),
        }
    }
}

impl From<daemon::Call> for agent_verbs::Call {
    fn from(call: daemon::Call) -> Self {
        Self {
            order: call.order.into(),
            client: call.client,
            is_user: call.is_user,
            tasks: all(call.tasks),
            unenforceable: all(call.unenforceable),
        }
    }
}

impl From<daemon::Order> for agent_verbs::Order {
    fn from(order: daemon::Order) -> Self {
        match order {
            daemon::Order::Verb(call) => Self::Verb(call.verb, call.input, call.task_id),
            daemon::Order::PlanChange(change) => Self::PlanChange(change.task_id, change.request),
            daemon::Order::Revert(task) => Self::Revert(task),
            daemon::Order::End(task) => Self::End(task),
            daemon::Order::Note(finding) => Self::Note(finding.task_id, finding.found.into()),
        }
    }
}

impl From<daemon::Found> for agent_verbs::Found {
    fn from(found: daemon::Found) -> Self {
        match found {
            daemon::Found::Starting => Self::Starting,
            daemon::Found::Ready(app) => Self::Ready(app.into()),
            daemon::Found::Late => Self::Late,
            daemon::Found::Over(ending) => Self::Over(ending.into()),
        }
    }
}

impl From<daemon::Plans> for agent_verbs::Plans {
    fn from(plans: daemon::Plans) -> Self {
        Self {
            present: all(plans.present),
            change: plans.change.map(all),
            before: plans.before.map(all),
        }
    }
}

impl From<agent_verbs::Plans> for daemon::Plans {
    fn from(plans: agent_verbs::Plans) -> Self {
        Self {
            present: all(plans.present),
            change: plans.change.map(all),
            before: plans.before.map(all),
        }
    }
}

impl From<agent_verbs::TaskChange> for daemon::TaskChange {
    fn from(change: agent_verbs::TaskChange) -> Self {
        Self {
            transition: change.transition.map(Into::into),
            start: change.start,
            probes: change.probes,
            plans: change.plans.map(Into::into),
            locked: change.locked.map(all),
        }
    }
}

impl From<agent_verbs::Planning> for daemon::Planning {
    fn from(planning: agent_verbs::Planning) -> Self {
        Self {
            prompt: planning.prompt,
            languages: all(planning.languages),
            deps_allowlist: planning.deps_allowlist,
            port_hint: planning.port_hint,
            schema: planning.schema,
            change: planning.change.map(Into::into),
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

impl From<agent_verbs::Start> for daemon::Start {
    fn from(start: agent_verbs::Start) -> Self {
        let limits = start.limits.into_iter();
        Self {
            words: start.words,
            env: start.env,
            ready_regex: start.ready_regex,
            ready_timeout_sec: start.ready_timeout_sec,
            limits: limits.map(|(limit, value)| (limit.into(), value)).collect(),
            is_readonly: start.is_readonly,
            egress: start.egress,
            secrets: all(start.secrets),
            manifest: start.manifest,
        }
    }
}

impl From<agent_verbs::Action> for daemon::Action {
    fn from(action: agent_verbs::Action) -> Self {
        use agent_verbs::Action;
        match action {
            Action::ReadPolicy => Self::ReadPolicy,
            Action::OpenTask(id, access) => Self::OpenTask(daemon::Opening {
                id,
                access: access.into(),
            }),
            Action::CreateTask(task) => Self::CreateTask(task.into()),
            Action::Remember(change) => Self::Remember(change.into()),
            Action::ReadFiles(paths) => Self::ReadFiles(paths),
            Action::ReadSources => Self::ReadSources,
            Action::ListFiles { of_task } => Self::ListFiles(of_task),
            Action::Stage(files) => Self::Stage(all(files)),
            Action::Commit(changes) => Self::Commit(all(changes)),
            Action::Revert => Self::Revert,
            Action::Write(file, text) => Self::Write(daemon::ArtifactText {
                file: file.into(),
                text,
            }),
            Action::Plan(planning) => Self::Plan(planning.into()),
            Action::Reveal(names) => Self::Reveal(names),
            Action::Resolve(resolution) => Self::Resolve(resolution.into()),
            Action::Install => Self::Install,
            Action::Build(words, may_write) => Self::Build(daemon::Build { words, may_write }),
            Action::Start(start) => Self::Start((*start).into()),
            Action::Stop => Self::Stop,
            Action::Lease => Self::Lease,
            Action::Probe(probing) => Self::Probe(probing.into()),
            Action::Finished(end) => Self::Finished(end.map_err(Into::into)),
        }
    }
}

impl From<daemon::Outcome> for agent_verbs::Outcome {
    fn from(outcome: daemon::Outcome) -> Self {
        use daemon::Outcome;
        match outcome {
            Outcome::Done => Self::Done,
            Outcome::Failed(failure) => Self::Failed(failure.into()),
            Outcome::Policy(file) => Self::Policy(file.into()),
            Outcome::Opened(task) => Self::Opened(Box::new(task.into())),
            Outcome::Created(id) => Self::Created(id),
            Outcome::Superseded(state) => Self::Superseded(state.into()),
            Outcome::Files(files) => Self::Files(all(files)),
            Outcome::Sources(files) => Self::Sources(all(files)),
            Outcome::Paths(paths) => Self::Paths(paths),
            Outcome::Staged(staged) => Self::Staged(agent_verbs::Replied {
                result: staged.result.map(all).map_err(Into::into),
                reply: staged.reply.map(Into::into),
            }),
            Outcome::Reverted(why) => Self::Reverted(why),
            Outcome::Bytes(bytes) => Self::Bytes(bytes),
            Outcome::Secrets(secrets) => Self::Secrets(all(secrets)),
            Outcome::Closure(packages) => Self::Closure(all(packages)),
            Outcome::Started(started) => Self::Started(agent_verbs::Replied {
                result: started.result.map(Into::into).map_err(Into::into),
                reply: started.reply.map(Into::into),
            }),
            Outcome::Leased(address) => Self::Leased(address.into()),
            Outcome::Probed(probed) => {
                let probed = probed.into_iter();
                Self::Probed(probed.map(|it| it.map(Into::into)).collect())
            }
        }
    }
}
