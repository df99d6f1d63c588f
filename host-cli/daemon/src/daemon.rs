//! The daemon: its tasks, and the way of a request through it.

use super::counts::{Counts, state_name};
use super::decider::Decider;
use super::ending::{BEFORE_START, BY_USER, how, is_failure};
use super::files::at;
use super::memory::{memory, remembered};
use super::planning::name as language_name;
use super::process::AppProcess;
use super::refusal::{Answered, Trouble, broken, refused, stored};
use super::runners::{failed, runner_of};
use super::shown::{Shown, ShownTask};
use super::task::Task;
use super::traced::{self, about};
use agent_app_proxy::{Gateway, TaskSummary};
use agent_host::contract::daemon::{
    Addressed, ErrorCode, Failure as Refusal, Task as Choice, TaskState, Verb, VersionedVerb,
};
use agent_host::{Failure, Instance, ResourceAny, call};
use agent_mcp_server::Announcements;
use agent_ownership::refuse_foreign;
use agent_planner::Planner;
use agent_runners::Runner;
use agent_runners::built_in::{BuiltIn, Condition};
use agent_syntax::json::Writer;
use agent_tasks::{Found, Phase, SocketFolder, TaskId, Tasks};
use agent_telemetry::{Spans, TraceContext};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{spawn_blocking, spawn_local};

/// The name of the client with the daemon's own token: the command line.
pub(crate) const CLIENT: &str = "cli";

/// How often the daemon looks for apps that have ended.
const LOOK: Duration = Duration::from_millis(500);

/// Time in which an app may end by itself when it is asked to.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// The daemon of the five verbs.
pub(crate) struct Daemon {
    pub(crate) decider: Decider,
    pub(crate) planner: Planner,
    /// The file with the policy, which is read for each request.
    pub(crate) policy: PathBuf,
    /// The folder of all tasks.
    pub(crate) root: PathBuf,
    /// The program and its first arguments that supervise an app.
    pub(crate) supervisor: Vec<PathBuf>,
    pub(crate) runners: BuiltIn,
    /// The foreign runners, by the languages whose built-in ones they replace.
    pub(crate) foreign: BTreeMap<&'static str, Runner>,
    pub(crate) sockets: SocketFolder,
    pub(crate) gateway: Gateway,
    /// Time without a connection after which an app ends.
    pub(crate) idle: Option<Duration>,
    pub(crate) tasks: RefCell<BTreeMap<String, Rc<Task>>>,
    pub(crate) shown: Arc<Shown>,
    pub(crate) lists: Announcements,
    pub(crate) counts: Rc<Counts>,
    /// Where spans are recorded.
    pub(crate) spans: Option<Spans>,
}

impl Daemon {
    /// Performs a verb for a client, within the span that the client names. Returns `data` of its response.
    pub(crate) async fn perform(
        self: &Rc<Self>,
        client: &str,
        verb: VersionedVerb,
        addressed: Addressed,
        parent: Option<TraceContext>,
    ) -> Answered<String> {
        let (daemon, client) = (Rc::clone(self), client.to_owned());
        let performed = async move {
            let work = daemon.perform_once(&client, verb.verb, &addressed);
            let telemetry = (daemon.spans.as_ref(), &daemon.counts);
            traced::verb(telemetry, verb, (&client, parent), work).await
        };
        to_the_end(performed).await
    }

    async fn perform_once(
        &self,
        client: &str,
        verb: Verb,
        Addressed { input, task_id }: &Addressed,
    ) -> Answered<String> {
        self.admit_verb(verb)?;
        let task_id = task_id.as_deref();
        let chosen = |named: Option<&str>| {
            let task = self.chosen(client, verb, named)?;
            about(&task.id);
            Ok(task)
        };
        match verb {
            Verb::PlanCreate => self.plan_create(client, input).await,
            Verb::FsApply => {
                let task = chosen(task_id)?;
                let _work = task.work.lock().await;
                of_task(&task, self.fs_apply(&task, input).await)
            }
            Verb::RunStart => {
                let task = chosen(task_id)?;
                let _work = task.work.lock().await;
                of_task(&task, self.run_start(&task, input).await)
            }
            Verb::HttpcheckAssert => {
                let task = chosen(self.named_task(input, task_id)?.as_deref())?;
                of_task(&task, self.httpcheck(&task, input).await)
            }
            Verb::ReportFinish => {
                let task = chosen(task_id)?;
                of_task(&task, self.report(&task, input).await)
            }
        }
    }

    /// Decides by the policy whether a verb may be called.
    pub(crate) fn admit_verb(&self, verb: Verb) -> Answered<()> {
        self.by_policy(|engine, policy| {
            call!(engine, daemon.task_policy.call_admit_verb(policy, verb))
        })
    }

    /// Returns the response of a verb.
    pub(crate) fn envelope(&self, answered: Answered<String>) -> String {
        self.decider.envelope(&answered)
    }

    /// Decides by the policy. Without a file it is the strictest one.
    pub(crate) fn by_policy<T>(
        &self,
        ask: impl FnOnce(&mut Instance, ResourceAny) -> Result<Answered<T>, Failure>,
    ) -> Answered<T> {
        if self.policy.exists()
            && let Err(foreign) = refuse_foreign(&self.policy)
        {
            let hint = "make the policy a file that only you can change";
            return Err(refused(ErrorCode::Policy, foreign.to_string(), hint));
        }
        let text = match std::fs::read(&self.policy) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                let message = format!(
                    "the policy `{}` can't be read: {error}",
                    self.policy.display()
                );
                return Err(refused(
                    ErrorCode::Policy,
                    message,
                    "make the file readable",
                ));
            }
        };
        self.decider.decide(|engine| {
            let policy = match &text {
                Some(text) => match call!(engine, daemon.task_policy.call_read(text))? {
                    Ok(policy) => policy,
                    Err(refusal) => {
                        let message = format!("{}: {}", self.policy.display(), refusal.message);
                        return Ok(Err(Refusal { message, ..refusal }));
                    }
                },
                None => call!(engine, daemon.task_policy.call_strictest())?,
            };
            ask(engine, policy)
        })
    }

    /// Returns the task that a request is for, if its state allows the verb.
    fn chosen(&self, client: &str, verb: Verb, named: Option<&str>) -> Answered<Rc<Task>> {
        let own: Vec<_> = {
            let tasks = self.tasks.borrow();
            // The user may name the task of any client on the command line.
            let is_named = |task: &Task| client == CLIENT && named == Some(&*task.id);
            let own = tasks
                .values()
                .filter(|task| task.client == client || is_named(task));
            own.map(|task| Choice {
                id: task.id.clone(),
                state: task.state.get(),
            })
            .collect()
        };
        let chosen = self.decider.decide(|engine| {
            let chosen = match call!(engine, daemon.call_choose_task(named, &own))? {
                Ok(chosen) => chosen,
                Err(refusal) => return Ok(Err(refusal)),
            };
            let admitted = call!(engine, daemon.call_admit(chosen.state, verb))?;
            Ok(admitted.map(|()| chosen.id).map_err(|refusal| Refusal {
                task_id: named.map(str::to_owned),
                ..refusal
            }))
        })?;
        self.task(&chosen)
    }

    /// Returns a task of any client.
    pub(crate) fn task(&self, id: &str) -> Answered<Rc<Task>> {
        let found = self.tasks.borrow().get(id).map(Rc::clone);
        found.ok_or_else(|| {
            let message = format!("there is no task `{id}`");
            refused(ErrorCode::Plan, message, "list the tasks with `mcp list`")
        })
    }

    /// Does something with the folder of a task, in a thread that may wait.
    pub(crate) async fn with_folder<T: Send + 'static>(
        &self,
        task: &Task,
        code: ErrorCode,
        work: impl FnOnce(&agent_tasks::Task) -> Result<T, Trouble> + Send + 'static,
    ) -> Answered<T> {
        let (root, id) = (self.root.clone(), task.id.clone());
        let done = spawn_blocking(move || {
            let task = Tasks::open(&root)?.task(&TaskId::parse(&id)?)?;
            work(&task)
        });
        let done = done
            .await
            .map_err(|error| broken(Failure::internal(error)))?;
        done.map_err(|trouble| stored(code, &*trouble))
    }

    /// Takes another state of a task, which the engine must allow, and remembers it.
    pub(crate) async fn go(&self, task: &Rc<Task>, next: TaskState) -> Answered<()> {
        let state = task.state.get();
        let may = self
            .decider
            .ask(|engine| call!(engine, daemon.call_may_follow(state, next)))?;
        if !may && state != next {
            let message = format!(
                "a task that is {} can't be {}",
                state_name(state),
                state_name(next)
            );
            return Err(refused(ErrorCode::Plan, message, "wait, and try again"));
        }
        task.state.set(next);
        if !matches!(next, TaskState::Failed | TaskState::Ended) {
            task.reason.replace(None);
        }
        self.show(task, None);
        let _remembering = task.remembering.lock().await;
        let memory = memory(task);
        let remembered = self.with_folder(task, ErrorCode::Fs, move |folder| {
            Ok(folder.remember(&memory)?)
        });
        remembered.await?;
        if next == TaskState::Ended {
            self.remove_builds(task).await;
        }
        Ok(())
    }

    /// Shows a task at the gateway, with another socket if there is one.
    pub(crate) fn show(&self, task: &Task, socket: Option<&Path>) {
        if let Some(socket) = socket {
            task.socket.replace(Some(Arc::from(socket)));
        }
        let state = task.state.get();
        let is_running = state == TaskState::Ready;
        // A task that failed has no app any more, until it is started again.
        let is_over = matches!(state, TaskState::Ended | TaskState::Failed);
        if is_over {
            task.socket.replace(None);
        }
        self.shown.show(ShownTask {
            folder: self.root.join(&task.id),
            socket: task.socket.borrow().clone().filter(|_| is_running),
            is_ended: is_over,
            summary: TaskSummary {
                task_id: task.id.clone(),
                title: task.prompt.clone(),
                lang: language_name(task.language).to_owned(),
                status: match task.reason.borrow().as_deref().filter(|_| is_over) {
                    Some(reason) => format!("{}: {reason}", state_name(state)),
                    None => state_name(state).to_owned(),
                },
                is_running,
                probes: task.probes.borrow().clone(),
            },
        });
    }

    /// Returns the tasks as JSON.
    pub(crate) async fn list(&self) -> String {
        let tasks: Vec<_> = self.tasks.borrow().values().map(Rc::clone).collect();
        let mut conditions = Vec::new();
        for task in &tasks {
            conditions.push(self.health(task).await);
        }
        let mut w = Writer::dense();
        w.object(|w| {
            w.key("tasks").array(|w| {
                for (task, condition) in tasks.iter().zip(conditions) {
                    let is_ready = task.state.get() == TaskState::Ready;
                    let url = self.gateway.url(&task.id).filter(|_| is_ready);
                    let direct = task.port.get().filter(|_| is_ready);
                    let direct = direct.map(|port| format!("http://{}/", at(port)));
                    let urls = (url.as_deref(), direct.as_deref());
                    row(w, task, &self.root, urls, condition);
                }
            });
        });
        w.finish()
    }

    /// Asks the runner of a task how its app does; `None` for an app that should not run.
    async fn health(&self, task: &Rc<Task>) -> Option<Condition> {
        if task.state.get() != TaskState::Ready {
            return None;
        }
        let (folder, process) = (self.source(task), AppProcess::of(self, task));
        let runner = runner_of(task.language);
        let health = self.runners.health(runner, &folder, &process).await;
        // The failure of a runner says nothing of the app.
        health.ok()
    }

    /// Returns where the artifacts of a task are.
    pub(crate) fn artifact_dir(&self, task: &Task) -> String {
        artifact_dir(&self.root, task)
    }

    /// Ends a task: what is at work on its start, its app, its port and its route.
    pub(crate) async fn kill(&self, id: &str) -> Answered<String> {
        let task = self.task(id)?;
        task.killed.notify_waiters();
        self.stop(&task).await?;
        if !task.has_ended() {
            task.reason.replace(Some(BY_USER.to_owned()));
        }
        self.go(&task, TaskState::Ended).await?;
        Ok(self.envelope(Ok("{}".to_owned())))
    }

    /// Ends the app of a task.
    pub(crate) async fn stop(&self, task: &Rc<Task>) -> Answered<()> {
        let (folder, process) = (self.source(task), AppProcess::of(self, task));
        let runner = runner_of(task.language);
        let stopped = self.runners.stop(runner, &folder, &process);
        stopped.await.map_err(failed)?;
        self.gateway.release(&task.id);
        task.port.set(None);
        task.socket.replace(None);
        Ok(())
    }

    /// Finds the tasks of an earlier daemon: those that run go on, and the others have ended.
    pub(crate) async fn recover(&self) -> Answered<()> {
        let root = self.root.clone();
        let listed = spawn_blocking(move || Tasks::open(&root)?.list());
        let listed = listed
            .await
            .map_err(|error| broken(Failure::internal(error)))?;
        for listed in listed.map_err(|error| stored(ErrorCode::Fs, &error))? {
            let Some(memory) = listed.memory.filter(|_| listed.has_folder) else {
                continue;
            };
            let Some(task) = remembered(listed.id.as_str(), &memory) else {
                continue;
            };
            let task = Rc::new(task);
            self.tasks
                .borrow_mut()
                .insert(task.id.clone(), Rc::clone(&task));
            self.show(&task, None);
            // One task that can't be read, or a full disk, is no reason to serve none.
            if let Err(refusal) = self.find_again(&task).await {
                agent_host::output::note(format_args!("{}: {}", task.id, refusal.message));
            }
            if task.state.get() == TaskState::Ready {
                // Its manifest names the port that it had.
                match self.gateway.lease_again(&task.id, memory.port) {
                    Ok(address) => task.port.set(Some(address.port())),
                    Err(error) => agent_host::output::note(format_args!(
                        "{}: it has no port of its own: {error}",
                        task.id
                    )),
                }
            }
        }
        Ok(())
    }

    /// Looks what the app of an earlier daemon does, whose supervisor may have just been started.
    async fn find_again(&self, task: &Rc<Task>) -> Answered<()> {
        if has_app(task) {
            let begun = |folder: &agent_tasks::Task| Ok(folder.await_supervisor()?);
            self.with_folder(task, ErrorCode::Runtime, begun).await?;
        }
        self.look(task).await
    }

    /// Looks for apps that have ended, for ever.
    pub(crate) async fn watch(&self) {
        loop {
            tokio::time::sleep(LOOK).await;
            let tasks: Vec<_> = self.tasks.borrow().values().map(Rc::clone).collect();
            for task in tasks.iter().filter(|it| has_app(it)) {
                // A verb that is at work looks by itself.
                let Ok(_work) = task.work.try_lock() else {
                    continue;
                };
                if let Err(refusal) = self.look(task).await {
                    agent_host::output::note(format_args!("{}: {}", task.id, refusal.message));
                }
            }
        }
    }

    /// Looks what the app of a task does.
    async fn look(&self, task: &Rc<Task>) -> Answered<()> {
        if !has_app(task) {
            return Ok(());
        }
        let found = self
            .with_folder(task, ErrorCode::Runtime, |folder| Ok(folder.find()?))
            .await?;
        match found {
            Found::Running(run) => {
                self.show(task, Some(&run.socket));
                // Who starts an app waits until it is ready. An earlier daemon could not.
                match (task.state.get(), run.phase) {
                    (TaskState::Ready, _) | (_, Phase::Starting) => {}
                    (_, Phase::Ready) => {
                        let cmd = task.started.borrow().clone().unwrap_or_default();
                        // A failure is the reason of the task.
                        let _ = self.announced(task, &cmd, &run).await;
                    }
                    (_, Phase::NotReady | Phase::Ended) => {
                        self.give_up(task, "the app was not ready in time").await;
                    }
                }
                Ok(())
            }
            Found::Never | Found::Ended(_) => {
                self.gateway.release(&task.id);
                task.port.set(None);
                let (state, reason) = after(&found);
                task.reason.replace(Some(reason));
                self.go(task, state).await
            }
        }
    }
}

/// Does something to its end, also if the client leaves: no task must stay between two states.
pub(crate) async fn to_the_end<T: 'static>(
    work: impl Future<Output = Answered<T>> + 'static,
) -> Answered<T> {
    let done = spawn_local(work).await;
    done.map_err(|error| broken(Failure::internal(error)))?
}

/// Returns whether a task may have an app.
fn has_app(task: &Task) -> bool {
    let state = task.state.get();
    matches!(
        state,
        TaskState::Installing | TaskState::Starting | TaskState::Ready
    )
}

/// Returns the state of a task whose app does not run any more, and why it does not.
pub(crate) fn after(found: &Found) -> (TaskState, String) {
    let end = match found {
        Found::Ended(run) => run.end.as_ref(),
        Found::Never | Found::Running(_) => None,
    };
    let cause = end.map(|end| &end.cause);
    let state = match cause.is_some_and(is_failure) {
        true => TaskState::Failed,
        false => TaskState::Ended,
    };
    (state, cause.map_or_else(|| BEFORE_START.to_owned(), how))
}

/// Writes a task of a list.
pub(crate) fn row(
    w: &mut Writer,
    task: &Task,
    root: &Path,
    (url, direct_url): (Option<&str>, Option<&str>),
    health: Option<Condition>,
) {
    w.object(|w| {
        w.key("artifact_dir").string(&artifact_dir(root, task));
        w.key("client").string(&task.client);
        w.key("direct_url").optional(direct_url);
        if let Some(Condition { live, ready }) = health {
            w.key("health").object(|w| {
                w.key("live").bool(live);
                w.key("ready").bool(ready);
            });
        }
        w.key("lang").string(language_name(task.language));
        w.key("probes").string(&task.probes.borrow());
        w.key("prompt").string(&task.prompt);
        w.key("reason").optional(task.reason.borrow().as_deref());
        w.key("start").optional(task.started.borrow().as_deref());
        w.key("state").string(state_name(task.state.get()));
        w.key("task_id").string(&task.id);
        w.key("url").optional(url);
    });
}

fn artifact_dir(root: &Path, task: &Task) -> String {
    format!("{}/", root.join(&task.id).display())
}

/// Names the task in a refusal.
fn of_task(task: &Task, answered: Answered<String>) -> Answered<String> {
    answered.map_err(|refusal| Refusal {
        task_id: Some(task.id.clone()),
        ..refusal
    })
}
