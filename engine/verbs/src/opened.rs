//! The host and an opened task, as the order of a verb asks them.

use super::action::{
    Access, Action, App, ArtifactFile, OpenedTask, Outcome, Planning, Plans, Probed, Probing,
    Replied, Resolution, SourceFile, StagedFile, Start, TaskChange, Transition,
};
use super::declared::DeclaringFile;
use super::failure::{ErrorCode, Failure};
use super::fs_apply::{Change, Present};
use super::grants::{Grants, granted};
use super::httpcheck::GatewayAddress;
use super::language::{Language, Requirement};
use super::lifecycle::was_ended;
use super::policy::{Policy, ResolvedPackage};
use super::task::TaskState;
use super::verb::DaemonVerb;
use agent_turns::{Effect as _, Turns};
use std::cell::{Cell, RefCell};

/// Performs an action and returns what its outcome holds.
macro_rules! perform {
    ($host:expr, $action:expr, $outcome:pat => $value:expr) => {
        match $host.perform($action).await? {
            $outcome => Ok($value),
            // Invariant: the turns accept outcomes of the action alone.
            _ => Err(Action::out_of_turn()),
        }
    };
}

/// The host.
#[derive(Debug)]
pub(crate) struct Host(Turns<Action>);

impl Host {
    pub(crate) fn new(turns: Turns<Action>) -> Self {
        Self(turns)
    }

    async fn perform(&self, action: Action) -> Result<Outcome, Failure> {
        match self.0.perform(action).await? {
            Outcome::Failed(failure) => Err(failure),
            outcome => Ok(outcome),
        }
    }

    /// Reads the policy, which must allow a verb. Without a file it is the strictest one.
    pub(crate) async fn policy(&self, verb: DaemonVerb) -> Result<Policy, Failure> {
        let file = perform!(self, Action::ReadPolicy, Outcome::Policy(file) => file)?;
        let policy = Policy::of_file(file)?;
        policy.admit_verb(verb)?;
        Ok(policy)
    }

    /// Returns what the policy gives an application.
    pub(crate) async fn grants(
        &self,
        policy: &Policy,
        denies_egress: bool,
    ) -> Result<Grants, Failure> {
        let names = policy.revealed()?;
        let secrets = match names.is_empty() {
            true => Vec::new(),
            false => perform!(self, Action::Reveal(names), Outcome::Secrets(it) => it)?,
        };
        Ok(granted(policy, denies_egress, secrets))
    }

    pub(crate) async fn answer_of_planner(&self, planning: Planning) -> Result<Vec<u8>, Failure> {
        perform!(self, Action::Plan(planning), Outcome::Bytes(answer) => answer)
    }

    pub(crate) async fn created(&self, task: Action) -> Result<String, Failure> {
        perform!(self, task, Outcome::Created(id) => id)
    }

    pub(crate) async fn write(&self, file: ArtifactFile, text: String) -> Result<(), Failure> {
        perform!(self, Action::Write(file, text), Outcome::Done => ())
    }

    pub(crate) async fn open(&self, id: &str, access: Access) -> Result<Opened<'_>, Failure> {
        let action = Action::OpenTask(id.to_owned(), access);
        let opened = perform!(self, action, Outcome::Opened(task) => *task)?;
        Ok(Opened {
            host: self,
            state: Cell::new(opened.state),
            pending: RefCell::default(),
            opened,
        })
    }
}

/// A task that a verb has opened.
#[derive(Debug)]
pub(crate) struct Opened<'h> {
    pub(crate) host: &'h Host,
    /// The task as it was opened.
    pub(crate) opened: OpenedTask,
    state: Cell<TaskState>,
    /// What is remembered with the next state.
    pending: RefCell<TaskChange>,
}

impl Opened<'_> {
    pub(crate) fn state(&self) -> TaskState {
        self.state.get()
    }

    /// Returns whether the application is a component. A foreign runner starts programs.
    pub(crate) fn is_component(&self) -> bool {
        self.opened.language == Language::Rust && !self.opened.is_foreign
    }

    pub(crate) fn set_start(&self, cmd: &str) {
        self.pending.borrow_mut().start = Some(cmd.to_owned());
    }

    pub(crate) fn set_locked(&self, closure: Vec<ResolvedPackage>) {
        self.pending.borrow_mut().locked = Some(closure);
    }

    /// Takes the next state.
    ///
    /// # Errors
    /// `E_PLAN`: it does not follow the present one. `E_RUNTIME`: the task was ended meanwhile.
    pub(crate) async fn go(&self, to: TaskState, reason: Option<&str>) -> Result<(), Failure> {
        let from = self.state();
        if from != to && !from.may_follow(to) {
            return Err(no_transition(from, to));
        }
        let transition = Transition {
            from,
            to,
            reason: reason.map(str::to_owned),
        };
        let pending = self.pending.take();
        let change = TaskChange {
            transition: Some(transition),
            ..pending
        };
        match self.remember(change).await? {
            None => {
                self.state.set(to);
                Ok(())
            }
            Some(state) => {
                self.state.set(state);
                Err(match state {
                    TaskState::Ended => was_ended(),
                    state => no_transition(state, to),
                })
            }
        }
    }

    /// Remembers a change. Returns the state if it is not the expected one.
    pub(crate) async fn remember(&self, change: TaskChange) -> Result<Option<TaskState>, Failure> {
        match self.host.perform(Action::Remember(change)).await? {
            Outcome::Superseded(state) => Ok(Some(state)),
            _ => Ok(None),
        }
    }

    /// Ends the task, whatever its state has become meanwhile.
    pub(crate) async fn end(&self, reason: &str) -> Result<(), Failure> {
        while self.state() != TaskState::Ended {
            let transition = Transition {
                from: self.state(),
                to: TaskState::Ended,
                reason: Some(reason.to_owned()),
            };
            let change = TaskChange {
                transition: Some(transition),
                ..TaskChange::default()
            };
            let superseded = self.remember(change).await?;
            self.state.set(superseded.unwrap_or(TaskState::Ended));
        }
        Ok(())
    }

    /// Remembers what a planned change requires: a plan may name what it adds alone.
    pub(crate) async fn plan_change(&self, planned: &[Requirement]) -> Result<(), Failure> {
        let mut plans = self.plans().await?;
        let is_new = |it: &&Requirement| {
            let mut names = planned.iter().map(|it| &it.normal_name);
            names.all(|name| *name != it.normal_name)
        };
        let kept = plans.present.iter().filter(is_new).cloned();
        plans.change = Some(planned.iter().cloned().chain(kept).collect());
        self.remember_plans(plans).await
    }

    /// Remembers that files were changed, by the planned change if there is one.
    pub(crate) async fn applied(&self) -> Result<(), Failure> {
        let mut plans = self.plans().await?;
        plans.before = plans
            .change
            .take()
            .map(|change| std::mem::replace(&mut plans.present, change));
        self.pending.borrow_mut().plans = Some(plans);
        let next = match self.state() {
            TaskState::Planned | TaskState::Failed => TaskState::Applied,
            state => state,
        };
        self.go(next, None).await
    }

    /// Takes the last batch of changes back. Returns why there is none.
    pub(crate) async fn revert(&self) -> Result<Option<String>, Failure> {
        let why = perform!(self.host, Action::Revert, Outcome::Reverted(why) => why)?;
        if why.is_none() {
            let mut plans = self.plans().await?;
            if let Some(before) = plans.before.take() {
                plans.present = before;
                self.remember_plans(plans).await?;
            }
        }
        Ok(why)
    }

    /// Returns the requirements of the plans as they are now.
    async fn plans(&self) -> Result<Plans, Failure> {
        let now = self.host.open(&self.opened.id, Access::Read).await?;
        Ok(now.opened.plans)
    }

    async fn remember_plans(&self, plans: Plans) -> Result<(), Failure> {
        let change = TaskChange {
            plans: Some(plans),
            ..TaskChange::default()
        };
        self.remember(change).await.map(drop)
    }

    pub(crate) async fn files(&self, reads: Vec<String>) -> Result<Vec<Present>, Failure> {
        perform!(self.host, Action::ReadFiles(reads), Outcome::Files(files) => files)
    }

    /// Returns the files that exist of those that declare dependencies.
    pub(crate) async fn declaring(&self, paths: &[String]) -> Result<Vec<DeclaringFile>, Failure> {
        let files = self.files(paths.to_owned()).await?.into_iter();
        let files = files.filter_map(|it| {
            Some(DeclaringFile {
                content: it.content?.bytes,
                path: it.path,
            })
        });
        Ok(files.collect())
    }

    pub(crate) async fn sources(&self) -> Result<Vec<SourceFile>, Failure> {
        perform!(self.host, Action::ReadSources, Outcome::Sources(files) => files)
    }

    pub(crate) async fn paths(&self, of_task: bool) -> Result<Vec<String>, Failure> {
        perform!(self.host, Action::ListFiles { of_task }, Outcome::Paths(paths) => paths)
    }

    pub(crate) async fn stage(
        &self,
        files: Vec<StagedFile>,
    ) -> Result<Replied<Vec<StagedFile>>, Failure> {
        perform!(self.host, Action::Stage(files), Outcome::Staged(staged) => staged)
    }

    pub(crate) async fn commit(&self, changes: Vec<Change>) -> Result<(), Failure> {
        match changes.is_empty() {
            true => Ok(()),
            false => perform!(self.host, Action::Commit(changes), Outcome::Done => ()),
        }
    }

    pub(crate) async fn resolve(
        &self,
        resolution: Resolution,
    ) -> Result<Vec<ResolvedPackage>, Failure> {
        perform!(self.host, Action::Resolve(resolution), Outcome::Closure(closure) => closure)
    }

    pub(crate) async fn install(&self) -> Result<(), Failure> {
        perform!(self.host, Action::Install, Outcome::Done => ())
    }

    pub(crate) async fn build(&self, words: Vec<String>, may_write: bool) -> Result<(), Failure> {
        perform!(self.host, Action::Build(words, may_write), Outcome::Done => ())
    }

    pub(crate) async fn started(&self, start: Start) -> Result<Replied<App>, Failure> {
        perform!(self.host, Action::Start(Box::new(start)), Outcome::Started(it) => it)
    }

    pub(crate) async fn stop(&self) -> Result<(), Failure> {
        perform!(self.host, Action::Stop, Outcome::Done => ())
    }

    pub(crate) async fn lease(&self) -> Result<GatewayAddress, Failure> {
        perform!(self.host, Action::Lease, Outcome::Leased(address) => address)
    }

    pub(crate) async fn probe(&self, probing: Probing) -> Result<Vec<Probed>, Failure> {
        perform!(self.host, Action::Probe(probing), Outcome::Probed(responses) => responses)
    }
}

fn no_transition(from: TaskState, to: TaskState) -> Failure {
    let message = format!("a task that is {} can't be {}", from.name(), to.name());
    Failure::new(ErrorCode::Plan, message).hint("wait, and try again")
}
