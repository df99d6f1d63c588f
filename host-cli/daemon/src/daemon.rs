//! The daemon: its tasks, and the way of a request through it.

use super::counts::Counts;
use super::decider::Decider;
use super::ending::{BEFORE_START, how, is_failure};
use super::files::at;
use super::memory::remembered;
use super::process::AppProcess;
use super::refusal::{Answered, Trouble, broken, refused, stored};
use super::runners::{failed, runner_of};
use super::shown::{Shown, ShownTask};
use super::task::Task;
use super::traced;
use agent_app_proxy::{Gateway, TaskSummary};
use agent_host::Failure;
use agent_host::contract::daemon::{
    Addressed, Ending, ErrorCode, Finding, Found as Seen, Order, TaskState, VerbCall, VersionedVerb,
};
use agent_mcp_server::Announcements;
use agent_planner::Planner;
use agent_runners::Runner;
use agent_runners::built_in::{BuiltIn, Condition};
use agent_syntax::json::Writer;
use agent_tasks::{AbstractSockets, Found, Phase, SocketFolder, TaskId, Tasks};
use agent_telemetry::{Spans, TraceContext};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem::discriminant;
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
    /// The folder of the apps' sockets; `None` where there is none, and apps are reached at leased ports alone.
    pub(crate) sockets: Option<SocketFolder>,
    /// The sockets of apps that are reached at leased ports alone.
    pub(crate) unregistered: AbstractSockets,
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
    /// Performs a verb for a client, within the span that the client names. Returns its response.
    pub(crate) async fn perform(
        self: &Rc<Self>,
        client: &str,
        verb: VersionedVerb,
        addressed: Addressed,
        parent: Option<TraceContext>,
    ) -> Answered<String> {
        let (daemon, client) = (Rc::clone(self), client.to_owned());
        let order = Order::Verb(VerbCall {
            verb: verb.name.clone(),
            input: addressed.input.into_bytes(),
            task_id: addressed.task_id,
        });
        let performed = async move {
            let work = daemon.carry_out(&client, order);
            let telemetry = (daemon.spans.as_ref(), &daemon.counts);
            traced::verb(telemetry, verb, (&client, parent), work).await
        };
        to_the_end(performed).await
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
                lang: task.language.name().to_owned(),
                status: match task.reason.borrow().as_deref().filter(|_| is_over) {
                    Some(reason) => format!("{}: {reason}", state.name()),
                    None => state.name().to_owned(),
                },
                is_running: is_running && task.is_registered(),
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
                    let url = self.url(task).filter(|_| is_ready);
                    let direct = task.port.get().filter(|_| is_ready);
                    let direct = direct.map(|port| format!("http://{}/", at(port)));
                    let urls = (url.as_deref(), direct.as_deref());
                    row(w, task, &self.root, urls, condition);
                }
            });
        });
        w.finish()
    }

    /// Returns the URL of an app through the gateway; `None` for one that it does not serve.
    pub(crate) fn url(&self, task: &Task) -> Option<String> {
        let url = self.gateway.url(&task.id);
        url.filter(|_| task.is_registered())
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
        let listed = spawn_blocking(move || {
            let tasks = Tasks::open(&root)?;
            // A copy that stays takes room and does no harm.
            let _ = tasks.clear_work();
            tasks.list()
        });
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
                let (Ok(_work), Ok(_ending)) = (task.work.try_lock(), task.ending.try_lock())
                else {
                    continue;
                };
                if let Err(refusal) = self.look(task).await {
                    agent_host::output::note(format_args!("{}: {}", task.id, refusal.message));
                }
            }
        }
    }

    /// Looks what the app of a task does. The engine hears of what it has not heard.
    async fn look(&self, task: &Rc<Task>) -> Answered<()> {
        if !has_app(task) {
            return Ok(());
        }
        let found = self
            .with_folder(task, ErrorCode::Runtime, |folder| Ok(folder.find()?))
            .await?;
        let found = match &found {
            Found::Running(run) => {
                self.show(task, Some(&run.socket));
                match run.phase {
                    Phase::Starting => Seen::Starting,
                    Phase::Ready => Seen::Ready(self.app(run)),
                    Phase::NotReady | Phase::Ended => Seen::Late,
                }
            }
            Found::Never | Found::Ended(_) => Seen::Over(ending(&found)),
        };
        let seen = Some((task.state.get(), discriminant(&found)));
        if task.seen.get() == seen {
            return Ok(());
        }
        let finding = Order::Note(Finding {
            task_id: task.id.clone(),
            found,
        });
        self.carry_out(&task.client, finding).await?;
        task.seen.set(seen);
        Ok(())
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

/// Returns why the app of a task does not run any more.
pub(crate) fn ending(found: &Found) -> Ending {
    let end = match found {
        Found::Ended(run) => run.end.as_ref(),
        Found::Never | Found::Running(_) => None,
    };
    let cause = end.map(|end| &end.cause);
    Ending {
        reason: cause.map_or_else(|| BEFORE_START.to_owned(), how),
        is_failure: cause.is_some_and(is_failure),
    }
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
        w.key("lang").string(task.language.name());
        w.key("probes").string(&task.probes.borrow());
        w.key("prompt").string(&task.prompt);
        w.key("reason").optional(task.reason.borrow().as_deref());
        w.key("start").optional(task.started.borrow().as_deref());
        w.key("state").string(task.state.get().name());
        w.key("task_id").string(&task.id);
        w.key("url").optional(url);
    });
}

fn artifact_dir(root: &Path, task: &Task) -> String {
    format!("{}/", root.join(&task.id).display())
}
