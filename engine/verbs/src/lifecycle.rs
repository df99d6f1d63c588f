//! The order of each verb \[2, 2\], as straight code.

use super::action::{
    Access, Action, App, ArtifactFile, Call, Ending, Found, NewTask, Order, PlannedChange,
    Planning, Probing, Replied, Resolution, RunnerReply, StagedFile, Start, TaskChange,
};
use super::document::with_json;
use super::envelope::success;
use super::failure::{ErrorCode, Failure};
use super::file_plan::{FilePlan, Write, file_plan};
use super::fs_apply::{Change, FsApply};
use super::grants::Grants;
use super::httpcheck::{GatewayAddress, HttpcheckAssert, log_lines, summary};
use super::language::Language;
use super::limits::TASKS_MAX;
use super::manifest::{Manifest, runner_answer};
use super::opened::{Host, Opened};
use super::plan_create::PlanCreate;
use super::policy::Policy;
use super::report::{ReportFinish, ReportPlace};
use super::resolution::{check_resolution, merge, pinned};
use super::run_start::{RunStart, Running};
use super::scan::scan;
use super::schemas::SchemaOf;
use super::staged::{is_unchanged, rewritten, wanted};
use super::steps::DependencyStep;
use super::task::{Task, TaskState, choose_task};
use super::verb::{DaemonVerb, VersionedVerb};
use agent_syntax::json::Writer;
use agent_syntax::members::{member, string};
use agent_turns::Turns;

/// `data` of an order that returns nothing.
const NOTHING: &str = "{}";

/// Does what a call orders.
pub(crate) async fn run(call: Call, turns: Turns<Action>) -> Action {
    let host = Host::new(turns);
    let result = match &call.order {
        Order::Verb(verb, input, named) => host.verb(&call, verb, input, named.as_deref()).await,
        Order::PlanChange(id, request) => host.plan_change(id, request).await,
        Order::Revert(id) => host.revert(id).await,
        Order::End(id) => host.end(id).await,
        Order::Note(id, found) => host.note(id, found).await,
    };
    Action::Finished(result.map(|data| success(&data)))
}

impl Host {
    /// Performs a verb: admit by the policy, choose the task, admit by its state, perform.
    async fn verb(
        &self,
        call: &Call,
        verb: &str,
        input: &[u8],
        named: Option<&str>,
    ) -> Result<String, Failure> {
        let verb = VersionedVerb::named(verb)?.verb;
        let policy = self.policy(verb).await?;
        let access = match verb {
            DaemonVerb::PlanCreate => return self.plan_create(call, &policy, input).await,
            DaemonVerb::FsApply | DaemonVerb::RunStart => Access::Write,
            DaemonVerb::HttpcheckAssert | DaemonVerb::ReportFinish => Access::Read,
        };
        let check = match verb {
            DaemonVerb::HttpcheckAssert => Some(HttpcheckAssert::read(input)?),
            _ => None,
        };
        let named = match &check {
            Some(check) => check.named_task(named)?,
            None => named,
        };
        let id = chosen(call, verb, named)?;
        let task = self.open(&id, access).await?;
        let performed = async {
            // Another verb may have changed the state meanwhile.
            task.state().admit(verb)?;
            match (verb, check) {
                (DaemonVerb::FsApply, _) => task.fs_apply(input).await,
                (DaemonVerb::RunStart, _) => task.run_start(call, &policy, input).await,
                (_, Some(check)) => task.httpcheck(&check).await,
                (_, None) => task.report(input).await,
            }
        };
        performed.await.map_err(|refusal| refusal.of_task(&id))
    }

    /// Opens a task with a plan of its files.
    async fn plan_create(
        &self,
        call: &Call,
        policy: &Policy,
        input: &[u8],
    ) -> Result<String, Failure> {
        let request = PlanCreate::read(input)?;
        let open = call.tasks.iter().filter(|it| it.state != TaskState::Ended);
        if open.count() >= TASKS_MAX {
            let message = format!("{TASKS_MAX} tasks have not ended");
            return Err(Failure::new(ErrorCode::Plan, message).hint("end tasks with `mcp kill`"));
        }
        let mut plan = self.plan(&request, None).await?;
        if let Some(port) = request.port_hint {
            plan.note_port_hint(port);
        }
        admit_dependencies(policy, &plan, request.deps_allowlist.as_deref())?;
        let created = Action::CreateTask(NewTask {
            prompt: request.prompt,
            language: plan.language,
            deps_allowlist: request.deps_allowlist,
            start: plan.start.clone(),
            requirements: plan.dependencies.clone(),
        });
        let id = self.created(created).await?;
        let data = plan.data(&id);
        self.write(ArtifactFile::Plan, data.clone()).await?;
        Ok(data)
    }

    /// Asks the planner for a plan that may be applied.
    async fn plan(
        &self,
        request: &PlanCreate,
        change: Option<PlannedChange>,
    ) -> Result<FilePlan, Failure> {
        let answer = self.answer_of_planner(Planning {
            prompt: request.prompt.clone(),
            languages: request.languages.clone(),
            deps_allowlist: request.deps_allowlist.clone(),
            port_hint: request.port_hint,
            schema: SchemaOf::FilePlan.text().into_owned(),
            change,
        });
        file_plan(&answer.await?)
    }

    /// Plans a change of an application. Returns the input of `fs.apply` and the command line of `run.start`.
    async fn plan_change(&self, id: &str, request: &[u8]) -> Result<String, Failure> {
        let policy = self.policy(DaemonVerb::PlanCreate).await?;
        let task = self.open(id, Access::Read).await?;
        let prompt = with_json(request, |_, root| {
            let prompt = member(root, "prompt").and_then(string);
            Ok(prompt.map(str::to_owned))
        });
        let prompt = prompt.ok().flatten().ok_or_else(|| {
            Failure::new(ErrorCode::Plan, "`prompt` is not a string").hint("say what to change")
        })?;
        // A planner may be on another machine.
        let sources = task.sources().await?;
        self.grants(&policy, true).await?.refuse_in(&sources)?;
        let texts = sources
            .into_iter()
            .filter_map(|it| Some((it.path, String::from_utf8(it.content).ok()?)));
        let request = PlanCreate {
            prompt: task.opened.prompt.clone(),
            languages: vec![task.opened.language],
            deps_allowlist: task.opened.deps_allowlist.clone(),
            port_hint: None,
        };
        let change = PlannedChange {
            prompt,
            present: texts.collect(),
        };
        let plan = self.plan(&request, Some(change)).await?;
        if plan.language != task.opened.language {
            let message = "the plan of the change is in another language";
            return Err(
                Failure::new(ErrorCode::Plan, message).hint("open another task with `plan.create`")
            );
        }
        admit_dependencies(&policy, &plan, request.deps_allowlist.as_deref())?;
        task.plan_change(&plan.dependencies).await?;
        Ok(change_data(&plan))
    }

    /// Takes the last batch of changes back, once.
    async fn revert(&self, id: &str) -> Result<String, Failure> {
        self.policy(DaemonVerb::FsApply).await?;
        let task = self.open(id, Access::Write).await?;
        task.state().admit(DaemonVerb::FsApply)?;
        match task.revert().await? {
            None => Ok(NOTHING.to_owned()),
            Some(why) => {
                let message = format!("the task `{id}` has nothing to take back: {why}");
                Err(Failure::new(ErrorCode::Fs, message).hint("apply changes first"))
            }
        }
    }

    /// Ends a task: the verb that is at work on it, its application, its port and its route.
    async fn end(&self, id: &str) -> Result<String, Failure> {
        let task = self.open(id, Access::End).await?;
        task.stop().await?;
        task.end("it was ended by its user").await?;
        Ok(NOTHING.to_owned())
    }

    /// Takes note of what an application does. An earlier daemon could not wait until it was ready.
    async fn note(&self, id: &str, found: &Found) -> Result<String, Failure> {
        let task = self.open(id, Access::Read).await?;
        match (task.state(), found) {
            (TaskState::Ready, Found::Ready(_) | Found::Late) | (_, Found::Starting) => {}
            (_, Found::Ready(app)) => {
                let cmd = task.opened.start.clone().unwrap_or_default();
                task.announced_or_ended(&cmd, app).await?;
            }
            (_, Found::Late) => task.give_up("the app was not ready in time").await,
            (_, Found::Over(Ending { reason, is_failure })) => {
                let _ = task.stop().await;
                let to = match is_failure {
                    true => TaskState::Failed,
                    false => TaskState::Ended,
                };
                task.go(to, Some(reason)).await?;
            }
        }
        Ok(NOTHING.to_owned())
    }
}

impl Opened<'_> {
    /// Changes files, all of them or none.
    async fn fs_apply(&self, input: &[u8]) -> Result<String, Failure> {
        let (mut changes, data) = self.changes(input).await?;
        let files = wanted(&changes);
        if !files.is_empty() {
            let staged = self.staged(files.clone()).await?;
            if !is_unchanged(&files, &staged) {
                // The engine decides on the runner's files as on those of a client.
                let own = self.changes(rewritten(&staged)?.as_bytes()).await?.0;
                changes.retain(|change| change.after.is_none());
                changes.extend(own);
            }
        }
        self.commit(changes).await?;
        self.applied().await?;
        Ok(data)
    }

    /// Decides which files a request changes. Returns `data` of the response, too.
    async fn changes(&self, input: &[u8]) -> Result<(Vec<Change>, String), Failure> {
        let request = FsApply::read(input)?;
        let reads = request.reads().into_iter().map(str::to_owned);
        let present = self.files(reads.collect()).await?;
        Ok((request.changes(&present)?, request.data()))
    }

    /// Has the runner write files. Returns those that it wrote.
    async fn staged(&self, files: Vec<StagedFile>) -> Result<Vec<StagedFile>, Failure> {
        judged(self.stage(files).await?)
    }

    /// Starts an application: scan, stop the one before, prepare, start, announce.
    async fn run_start(
        &self,
        call: &Call,
        policy: &Policy,
        input: &[u8],
    ) -> Result<String, Failure> {
        let request = RunStart::read(input)?;
        // The share of a component needs no control group.
        if !self.is_component() {
            request.check_limits(&call.unenforceable)?;
        }
        let grants = self.host.grants(policy, request.denies_egress).await?;
        self.scan(&grants).await?;
        if self.state() == TaskState::Ready {
            self.stop().await?;
        }
        self.set_start(&request.cmd);
        let started = async {
            self.prepare(policy, &request, &grants).await?;
            self.go(TaskState::Starting, None).await?;
            self.start(&request, grants).await
        };
        match started.await {
            Ok(app) => self.announced_or_ended(&request.cmd, &app).await,
            Err(refusal) => Err(self.given_up(refusal).await),
        }
    }

    /// Looks for secrets and dangerous calls in the files of an application.
    async fn scan(&self, grants: &Grants) -> Result<(), Failure> {
        let sources = self.sources().await?;
        grants.refuse_in(&sources)?;
        let scanned = scan(sources.iter().map(|it| (&*it.path, &*it.content)));
        let log = scanned.log();
        if !log.is_empty() {
            self.host.write(ArtifactFile::RunLog, log).await?;
        }
        scanned.admit()
    }

    /// Installs the packages of an application, if it asks for any, and builds a component.
    async fn prepare(
        &self,
        policy: &Policy,
        request: &RunStart,
        grants: &Grants,
    ) -> Result<(), Failure> {
        let is_component = self.is_component();
        if is_component && request.ready_regex.is_some() {
            let message = "an app in Rust prints nothing before its first request";
            return Err(Failure::new(ErrorCode::Plan, message)
                .hint("leave `ready.regex` out: the app is ready when it is compiled"));
        }
        let present = &self.opened.plans.present;
        let asks = !present.is_empty() || !request.steps.dependencies.is_empty();
        if asks || is_component {
            self.go(TaskState::Installing, None).await?;
        }
        if asks {
            self.packages(policy, request).await?;
        }
        if is_component {
            self.build(request.steps.start.clone(), !grants.is_readonly)
                .await?;
        }
        Ok(())
    }

    /// Installs the packages that a plan, a command line and the files of the application ask for. They are the same
    /// ones at each start.
    async fn packages(&self, policy: &Policy, request: &RunStart) -> Result<(), Failure> {
        let mut asked = self.opened.plans.present.clone();
        let (mut lock, mut manifest, mut module) = (None, None, None);
        for step in &request.steps.dependencies {
            match step {
                DependencyStep::Install(named) => asked.extend(named.iter().cloned()),
                // The application gets its packages without this file.
                DependencyStep::InitPackage => {}
                DependencyStep::InitModule(name) => module = Some(format!("module {name}\n")),
                DependencyStep::InstallDeclared(declared) => {
                    let present = self.declaring(&declared.files).await?;
                    let declaration = declared.read(&present)?;
                    asked.extend(declaration.requirements);
                    lock = declaration.lock.or(lock);
                    manifest = declaration.manifest.or(manifest);
                }
            }
        }
        let asked = merge(&asked)?;
        // A module that has no file yet needs one, even if it needs no other module.
        let is_new_module = manifest.is_none() && module.is_some();
        let language = asked.first().map(|it| it.language);
        let Some(language) = language.or(is_new_module.then_some(Language::Go)) else {
            return Ok(());
        };
        let allowlist = self.opened.deps_allowlist.as_deref();
        if !asked.is_empty() {
            let names: Vec<_> = asked.iter().map(|it| it.name.clone()).collect();
            policy.admit_names(language, &names, allowlist)?;
        }
        let requirements = pinned(&asked, &self.opened.locked);
        let resolution = Resolution {
            language,
            requirements: requirements.clone(),
            lock,
            manifest: manifest.or(module),
        };
        let closure = self.resolve(resolution).await?;
        check_resolution(&requirements, &closure)?;
        if !closure.is_empty() {
            policy.admit_closure(language, &closure, allowlist)?;
        }
        self.install().await?;
        self.set_locked(closure);
        Ok(())
    }

    /// Has the runner of the language start the application. Returns it once it is ready.
    async fn start(&self, request: &RunStart, grants: Grants) -> Result<App, Failure> {
        let manifest = match self.opened.is_foreign {
            // A foreign runner reads the port of the host in the manifest.
            true => {
                let cmd = command_line(&request.steps.start);
                let port = self.lease().await?.port;
                Some(self.manifest(cmd, None, port).await?)
            }
            false => None,
        };
        let start = Start {
            words: request.steps.start.clone(),
            env: request.env.clone(),
            ready_regex: request.ready_regex.clone(),
            ready_timeout_sec: request.ready_timeout_sec,
            limits: request.limits.clone(),
            is_readonly: grants.is_readonly,
            egress: grants.egress,
            secrets: grants.secrets,
            manifest,
        };
        judged(self.started(start).await?)
    }

    /// Serves an application that is ready, or ends it.
    async fn announced_or_ended(&self, cmd: &str, app: &App) -> Result<String, Failure> {
        match self.announce(cmd, app).await {
            Ok(data) => Ok(data),
            Err(refusal) => Err(self.given_up(refusal).await),
        }
    }

    /// Leases a port to an application that is ready, and writes the manifest.
    async fn announce(&self, cmd: &str, app: &App) -> Result<String, Failure> {
        let GatewayAddress { host, port } = self.lease().await?;
        let manifest = self.manifest(cmd.to_owned(), app.socket.clone(), port);
        let manifest = manifest.await?;
        self.host.write(ArtifactFile::Manifest, manifest).await?;
        self.go(TaskState::Ready, None).await?;
        let running = Running {
            task_id: self.opened.id.clone(),
            socket: app.socket.clone(),
            host,
            port,
            pid: app.pid,
            unenforced: app.unenforced.clone(),
        };
        Ok(running.data())
    }

    async fn manifest(
        &self,
        cmd: String,
        socket: Option<String>,
        port: u16,
    ) -> Result<String, Failure> {
        let manifest = Manifest {
            task_id: self.opened.id.clone(),
            cmd,
            socket,
            tcp_port: Some(port),
            files: self.paths(false).await?,
            language: self.opened.language,
        };
        Ok(manifest.json())
    }

    /// Ends an application that failed or can't be served. Returns why its start failed.
    async fn given_up(&self, refusal: Failure) -> Failure {
        self.give_up(&refusal.message).await;
        match self.state() {
            TaskState::Ended => was_ended(),
            _ => refusal,
        }
    }

    async fn give_up(&self, reason: &str) {
        // What can't be ended has ended, or ends with its supervisor.
        let _ = self.stop().await;
        let _ = self.go(TaskState::Failed, Some(reason)).await;
    }

    /// Sends the probes one after the other, and compares the responses.
    async fn httpcheck(&self, check: &HttpcheckAssert) -> Result<String, Failure> {
        let (to, below) = match (&check.gateway, self.opened.port) {
            (Some(gateway), _) => (gateway.clone(), format!("/apps/{}", self.opened.id)),
            (None, Some(port)) => (GatewayAddress::loopback(port), String::new()),
            (None, None) => {
                let message = "the app has no port of its own";
                return Err(Failure::new(ErrorCode::Network, message).hint("set `via.gateway`"));
            }
        };
        let probes = check.probes.clone();
        let responses = self.probe(Probing { to, below, probes }).await?;
        let outcomes = check.probes.iter().zip(&responses);
        let outcomes = outcomes.map(|(probe, response)| match response {
            Ok(response) => probe.judge(response.status, &response.body, response.latency_ms),
            Err(why) => probe.unanswered(why, 0),
        });
        let outcomes: Vec<_> = outcomes.collect();
        let log = log_lines(&check.probes, &outcomes);
        self.host.write(ArtifactFile::ProbesLog, log).await?;
        self.remember(TaskChange {
            probes: Some(summary(&outcomes)),
            ..TaskChange::default()
        })
        .await?;
        Ok(check.data(&outcomes))
    }

    /// Lists the artifacts of a task and the URLs of its application.
    async fn report(&self, input: &[u8]) -> Result<String, Failure> {
        let request = ReportFinish::read(input)?;
        let present = self.paths(true).await?;
        let files = request.files(&present)?;
        let is_ready = self.state() == TaskState::Ready;
        let port = self.opened.port.filter(|_| is_ready);
        let place = ReportPlace {
            artifact_dir: self.opened.artifact_dir.clone(),
            url: self.opened.url.clone().filter(|_| is_ready),
            direct_url: port.map(|port| format!("http://127.0.0.1:{port}/")),
        };
        Ok(request.data(&place, &files))
    }
}

/// Chooses the task of a verb, whose state allows it.
fn chosen(call: &Call, verb: DaemonVerb, named: Option<&str>) -> Result<String, Failure> {
    let own = call.tasks.iter().filter(|task| {
        task.client == call.client || call.is_user && named == Some(task.id.as_str())
    });
    let own = own.map(|task| Task {
        id: task.id.clone(),
        state: task.state,
    });
    let own: Vec<_> = own.collect();
    let chosen = choose_task(named, &own)?;
    match chosen.state.admit(verb) {
        Ok(()) => Ok(chosen.id.clone()),
        Err(refusal) => Err(match named {
            Some(named) => refusal.of_task(named),
            None => refusal,
        }),
    }
}

/// Decides by the policy whether the dependencies of a plan may be installed.
fn admit_dependencies(
    policy: &Policy,
    plan: &FilePlan,
    allowlist: Option<&[String]>,
) -> Result<(), Failure> {
    for language in Language::ALL {
        let own = plan.dependencies.iter();
        let own = own.filter(|it| it.language == language);
        let names: Vec<_> = own.map(|it| it.name.clone()).collect();
        if !names.is_empty() {
            policy.admit_names(language, &names, allowlist)?;
        }
    }
    Ok(())
}

/// Returns what a runner did, unless its answer says that it failed.
fn judged<T>(replied: Replied<T>) -> Result<T, Failure> {
    if let Some(RunnerReply {
        stdout,
        stderr,
        exit_code,
    }) = &replied.reply
    {
        runner_answer(stdout, stderr, *exit_code)?;
    }
    replied.result
}

/// Returns `data` for a planned change.
fn change_data(plan: &FilePlan) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("apply").object(|w| {
            w.key("writes").array(|w| {
                for Write {
                    path,
                    content,
                    mode,
                } in &plan.files
                {
                    w.object(|w| {
                        w.key("content").string(content);
                        if let Some(mode) = mode {
                            w.key("mode").number(*mode);
                        }
                        w.key("path").string(path);
                    });
                }
            });
        });
        w.key("start").string(&plan.start);
    });
    w.finish()
}

/// Returns words as a command line that a shell splits into the same words.
fn command_line(words: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    let words = words.iter().map(
        |word| match !word.is_empty() && word.chars().all(is_plain) {
            true => word.clone(),
            false => format!("'{}'", word.replace('\'', r"'\''")),
        },
    );
    words.collect::<Vec<_>>().join(" ")
}

/// Returns that a verb is over because its task was ended.
pub(crate) fn was_ended() -> Failure {
    Failure::new(ErrorCode::Runtime, "the task was ended")
        .hint("open another task with `plan.create`")
}
