//! `agent:engine/daemon`

use crate::Component;
use crate::bindings::exports::agent::engine::daemon::{
    self, Addressed, Declaration, DeclaredDependencies, DeclaringFile, ErrorCode, Failure,
    FileChange, FilePlanContent, GatewayAddress, Guest, GuestApplyRequest, GuestCheckRequest,
    GuestFilePlan, GuestReportRequest, GuestStartRequest, GuestTaskPolicy, Language, Manifest,
    PlanRequest, PresentFile, Probe, ProbeOutcome, ReportPlace, Requirement, ResolvedPackage,
    RunLimit, Running, Scanned, ScannedFile, SchemaOf, StartContent, Task, TaskState, ToolPolicy,
    Verb, VersionedVerb,
};
use crate::convert::{all, strings};

/// A plan of the files of an application.
pub(crate) struct FilePlan(agent_verbs::FilePlan);

/// The input of `fs.apply`.
pub(crate) struct ApplyRequest(agent_verbs::FsApply);

/// The input of `run.start`.
pub(crate) struct StartRequest(agent_verbs::RunStart);

/// The input of `httpcheck.assert`.
pub(crate) struct CheckRequest(agent_verbs::HttpcheckAssert);

/// The input of `report.finish`.
pub(crate) struct ReportRequest(agent_verbs::ReportFinish);

/// A policy of the daemon.
pub(crate) struct TaskPolicy(agent_verbs::Policy);

impl Guest for Component {
    type FilePlan = FilePlan;
    type ApplyRequest = ApplyRequest;
    type StartRequest = StartRequest;
    type CheckRequest = CheckRequest;
    type ReportRequest = ReportRequest;
    type TaskPolicy = TaskPolicy;

    fn discovery() -> String {
        agent_verbs::discovery()
    }

    fn verbs() -> Vec<VersionedVerb> {
        all(agent_verbs::VersionedVerb::live())
    }

    fn verb_named(name: String) -> Result<VersionedVerb, Failure> {
        converted(agent_verbs::VersionedVerb::named(&name))
    }

    fn schema(of: SchemaOf) -> String {
        agent_verbs::SchemaOf::from(of).text().into_owned()
    }

    fn exit_code(code: ErrorCode) -> u8 {
        agent_verbs::ErrorCode::from(code).exit_code()
    }

    fn success(data: String) -> String {
        agent_verbs::envelope::success(&data)
    }

    fn failed(failure: Failure) -> String {
        agent_verbs::envelope::failure(&failure.into())
    }

    fn addressed_by_argument(arguments: Vec<u8>) -> Result<Addressed, Failure> {
        converted(agent_verbs::addressed_by_argument(&arguments))
    }

    fn addressed_beside(request: Vec<u8>) -> Result<Addressed, Failure> {
        converted(agent_verbs::addressed_beside(&request))
    }

    fn is_task_id(text: String) -> bool {
        agent_verbs::is_task_id(&text)
    }

    fn choose_task(named: Option<String>, tasks: Vec<Task>) -> Result<Task, Failure> {
        let tasks: Vec<_> = all(tasks);
        converted(agent_verbs::choose_task(named.as_deref(), &tasks).cloned())
    }

    fn may_follow(state: TaskState, next: TaskState) -> bool {
        agent_verbs::TaskState::from(state).may_follow(next.into())
    }

    fn admit(state: TaskState, verb: Verb) -> Result<(), Failure> {
        converted(agent_verbs::TaskState::from(state).admit(verb.into()))
    }

    fn read_plan_request(input: Vec<u8>) -> Result<PlanRequest, Failure> {
        converted(agent_verbs::PlanCreate::read(&input))
    }

    fn running_data(running: Running) -> String {
        agent_verbs::Running::from(running).data()
    }

    fn check_resolution(
        requirements: Vec<Requirement>,
        closure: Vec<ResolvedPackage>,
    ) -> Result<(), Failure> {
        let (requirements, closure): (Vec<_>, Vec<_>) = (all(requirements), all(closure));
        converted(agent_verbs::check_resolution(&requirements, &closure))
    }

    fn read_declared(
        declared: DeclaredDependencies,
        present: Vec<DeclaringFile>,
    ) -> Result<Declaration, Failure> {
        let present: Vec<_> = all(present);
        converted(agent_verbs::Declared::from(declared).read(&present))
    }

    fn merge(requirements: Vec<Requirement>) -> Result<Vec<Requirement>, Failure> {
        let requirements: Vec<_> = all(requirements);
        agent_verbs::merge(&requirements)
            .map(all)
            .map_err(Into::into)
    }

    fn pinned(requirements: Vec<Requirement>, lock: Vec<ResolvedPackage>) -> Vec<Requirement> {
        let (requirements, lock): (Vec<_>, Vec<_>) = (all(requirements), all(lock));
        all(agent_verbs::pinned(&requirements, &lock))
    }

    fn secret_forms(secret: String) -> Vec<String> {
        agent_verbs::forms_of(&secret)
    }

    fn scan(files: Vec<ScannedFile>) -> Scanned {
        let files = files
            .iter()
            .map(|it| (it.path.as_str(), it.content.as_slice()));
        agent_verbs::scan(files).into()
    }

    fn read_manifest(text: Vec<u8>, task_id: String) -> Result<Manifest, Failure> {
        converted(agent_verbs::Manifest::read(&text, &task_id))
    }

    fn manifest_json(manifest: Manifest) -> String {
        agent_verbs::Manifest::from(manifest).json()
    }

    fn runner_answer(stdout: Vec<u8>, stderr: Vec<u8>, exit_code: i32) -> Result<String, Failure> {
        converted(agent_verbs::runner_answer(&stdout, &stderr, exit_code))
    }
}

impl GuestFilePlan for FilePlan {
    fn read(answer: Vec<u8>) -> Result<daemon::FilePlan, Failure> {
        let read = agent_verbs::file_plan(&answer);
        converted(read.map(|it| daemon::FilePlan::new(Self(it))))
    }

    fn content(&self) -> FilePlanContent {
        self.0.clone().into()
    }

    fn data(&self, task_id: String) -> String {
        self.0.data(&task_id)
    }
}

impl GuestApplyRequest for ApplyRequest {
    fn read(input: Vec<u8>) -> Result<daemon::ApplyRequest, Failure> {
        let read = agent_verbs::FsApply::read(&input);
        converted(read.map(|it| daemon::ApplyRequest::new(Self(it))))
    }

    fn reads(&self) -> Vec<String> {
        strings(self.0.reads())
    }

    fn changes(&self, present: Vec<PresentFile>) -> Result<Vec<FileChange>, Failure> {
        let present: Vec<_> = all(present);
        converted(self.0.changes(&present).map(all))
    }

    fn data(&self) -> String {
        self.0.data()
    }
}

impl GuestStartRequest for StartRequest {
    fn read(input: Vec<u8>) -> Result<daemon::StartRequest, Failure> {
        let read = agent_verbs::RunStart::read(&input);
        converted(read.map(|it| daemon::StartRequest::new(Self(it))))
    }

    fn content(&self) -> StartContent {
        self.0.clone().into()
    }

    fn check_limits(&self, unenforceable: Vec<RunLimit>) -> Result<(), Failure> {
        let unenforceable: Vec<_> = all(unenforceable);
        converted(self.0.check_limits(&unenforceable))
    }
}

impl GuestCheckRequest for CheckRequest {
    fn read(input: Vec<u8>) -> Result<daemon::CheckRequest, Failure> {
        let read = agent_verbs::HttpcheckAssert::read(&input);
        converted(read.map(|it| daemon::CheckRequest::new(Self(it))))
    }

    fn probes(&self) -> Vec<Probe> {
        all(self.0.probes.iter().cloned())
    }

    fn gateway(&self) -> Option<GatewayAddress> {
        self.0.gateway.clone().map(Into::into)
    }

    fn named_task(&self, beside: Option<String>) -> Result<Option<String>, Failure> {
        let named = self.0.named_task(beside.as_deref());
        converted(named.map(|it| it.map(str::to_owned)))
    }

    fn judge(
        &self,
        probe: u32,
        status: u16,
        body: Vec<u8>,
        latency_ms: u32,
    ) -> Option<ProbeOutcome> {
        let probe = self.0.probes.get(probe as usize)?;
        Some(probe.judge(status, &body, latency_ms).into())
    }

    fn data(&self, outcomes: Vec<ProbeOutcome>) -> String {
        self.0.data(&all::<_, agent_verbs::ProbeOutcome>(outcomes))
    }
}

impl GuestReportRequest for ReportRequest {
    fn read(input: Vec<u8>) -> Result<daemon::ReportRequest, Failure> {
        let read = agent_verbs::ReportFinish::read(&input);
        converted(read.map(|it| daemon::ReportRequest::new(Self(it))))
    }

    fn files(&self, present: Vec<String>) -> Result<Vec<String>, Failure> {
        converted(self.0.files(&present))
    }

    fn data(&self, place: ReportPlace, files: Vec<String>) -> String {
        self.0.data(&place.into(), &files)
    }
}

impl GuestTaskPolicy for TaskPolicy {
    fn strictest() -> daemon::TaskPolicy {
        daemon::TaskPolicy::new(Self(agent_verbs::Policy::default()))
    }

    fn read(text: Vec<u8>) -> Result<daemon::TaskPolicy, Failure> {
        let read = agent_verbs::Policy::read(&text);
        converted(read.map(|it| daemon::TaskPolicy::new(Self(it))))
    }

    fn admit_verb(&self, verb: Verb) -> Result<(), Failure> {
        converted(self.0.admit_verb(verb.into()))
    }

    fn admit_names(
        &self,
        language: Language,
        names: Vec<String>,
        allowlist: Option<Vec<String>>,
    ) -> Result<(), Failure> {
        let admitted = self
            .0
            .admit_names(language.into(), &names, allowlist.as_deref());
        converted(admitted)
    }

    fn admit_closure(
        &self,
        language: Language,
        closure: Vec<ResolvedPackage>,
        allowlist: Option<Vec<String>>,
    ) -> Result<(), Failure> {
        let closure: Vec<_> = all(closure);
        let admitted = self
            .0
            .admit_closure(language.into(), &closure, allowlist.as_deref());
        converted(admitted)
    }

    fn tools(&self) -> ToolPolicy {
        ToolPolicy {
            filesystem: self.0.filesystem.into(),
            egress: self.0.egress.clone(),
            secrets: self.0.secrets.clone(),
        }
    }
}

fn converted<A, B: From<A>>(result: Result<A, agent_verbs::Failure>) -> Result<B, Failure> {
    match result {
        Ok(value) => Ok(value.into()),
        Err(failure) => Err(failure.into()),
    }
}
