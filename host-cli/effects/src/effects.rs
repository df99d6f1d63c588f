//! Performs the actions of a run, one at a time.

use super::access::Access;
use super::handler::{Call, Handlers};
use super::planners::{self, PlannerChoice};
use super::step_server::StepServer;
use agent_evidence::Store as Evidence;
use agent_host::contract::run::{
    Aborted, Action, Approval, Decision, Failure as Failed, FailureKind, HandlerCall, Outcome,
    Reply, Secret, Store, StoreMode,
};
use agent_host::{Engine, Failure, Signals};
use agent_operator::Operator;
use agent_planner::Planner;
use agent_sandbox::Log;
use agent_way_out::Resolver;
use std::sync::Arc;
use std::thread;
use tokio::sync::oneshot;

/// Asks the user for approval. It may wait for the user: it is called on a thread of its own.
pub type Approver = Arc<dyn Fn(&Approval) -> Decision + Send + Sync>;

/// What this host can do for a run.
pub struct Effects {
    handlers: Handlers,
    evidence: Evidence,
    approver: Approver,
    access: Access,
    server: StepServer,
    planner: Option<Planner>,
    /// Kept until the run begins to wait for them.
    signals: Option<Signals>,
    /// The call of the present step.
    call: Option<Call>,
}

impl Effects {
    /// Returns the effects of a host that stores evidence in a folder and asks `approver`. Gets every secret
    /// of the operator. Every name of the run is resolved by `resolver`, and `engine` decides on the
    /// connections of programs that the host starts.
    ///
    /// # Errors
    ///
    /// When the handlers can't be loaded, or the user interrupts the program.
    pub async fn new(
        evidence: Evidence,
        approver: Approver,
        operator: &Operator,
        engine: Engine,
        resolver: Resolver,
    ) -> Result<Self, Failure> {
        let mut signals = Signals::new()?;
        let access = Access::new(operator, engine, resolver, &mut signals).await?;
        Ok(Self {
            handlers: Handlers::new(&operator.handlers)?,
            evidence,
            approver,
            access,
            server: StepServer::default(),
            planner: None,
            signals: Some(signals),
            call: None,
        })
    }

    /// Chooses the planner of the run.
    ///
    /// # Errors
    ///
    /// When it is not configured correctly, or its key can't be had.
    pub fn plan_with(&mut self, choice: &PlannerChoice) -> Result<(), Failure> {
        let Access {
            requests, secrets, ..
        } = &self.access;
        let planner =
            planners::planner_of(choice, secrets, requests.way_out(), requests.resolver());
        self.planner = Some(planner?);
        Ok(())
    }

    /// Loads the handlers of third parties that a tool pool names, so that no step waits for the compiler.
    pub fn load_handlers(&mut self, pool: &[u8]) {
        self.handlers.load_named(pool);
    }

    /// Returns the signals that cancel the run.
    pub(crate) fn signals(&mut self) -> Result<Signals, Failure> {
        self.signals.take().map_or_else(Signals::new, Ok)
    }

    /// Returns the handlers of this host.
    #[must_use]
    pub fn handlers(&self) -> &Handlers {
        &self.handlers
    }

    /// Returns the secrets that a run must redact.
    #[must_use]
    pub fn secrets(&self) -> Vec<Secret> {
        self.access.secrets()
    }

    /// Returns the word of evidence for the sandbox of programs.
    #[must_use]
    pub fn sandbox_tier(&self) -> &'static str {
        self.access.sandbox_tier()
    }

    /// Stores evidence.
    pub fn store(&self, store: &Store) -> Outcome {
        let stored = match store.mode {
            StoreMode::Replace => self.evidence.replace(&store.path, &store.content),
            StoreMode::Append => self.evidence.append(&store.path, &store.content),
        };
        match stored {
            Ok(()) => Outcome::Stored,
            Err(failure) => failed(FailureKind::Failed, failure.message),
        }
    }

    /// Performs an action. Dropping the future ends what it began.
    pub async fn perform(&mut self, action: Action) -> Outcome {
        match action {
            Action::Store(store) => self.store(&store),
            Action::Approve(approval) => approve(Arc::clone(&self.approver), approval).await,
            Action::Plan(planning) => planners::plan(self.planner.as_ref(), planning).await,
            Action::CallHandler(call) => self.call_handler(call).await,
            Action::ResumeHandler(reply) => self.resume_handler(reply).await,
            Action::Resolve(resolve) => self.access.requests.resolve(resolve).await,
            Action::Request(request) => {
                let Access {
                    requests, secrets, ..
                } = &self.access;
                requests.request(request, secrets).await
            }
            Action::RunProgram(program) => self.access.programs.run(program).await,
            Action::OpenServer(server) => self.server.open(&server, &self.access).await,
            Action::ListTools(timeout_ms) => self.server.list_tools(timeout_ms, &self.access).await,
            Action::CallTool(call) => {
                let (outcome, stderr) = self.server.call_tool(call, &self.access).await;
                if let Some(handler) = &self.call {
                    handler.add_log(&stderr.bytes, stderr.truncated);
                }
                outcome
            }
            Action::Finished(_) => failed(FailureKind::Failed, "the run has ended".to_owned()),
        }
    }

    async fn call_handler(&mut self, call: HandlerCall) -> Outcome {
        match self.handlers.call(call) {
            Ok(call) => {
                let handled = self.call.insert(call).next().await;
                Outcome::Handler(handled)
            }
            Err(failure) => failed(FailureKind::Unavailable, failure.message),
        }
    }

    async fn resume_handler(&mut self, reply: Reply) -> Outcome {
        let Some(call) = &mut self.call else {
            return failed(FailureKind::Failed, "no handler waits".to_owned());
        };
        call.resume(reply);
        Outcome::Handler(call.next().await)
    }
}

/// Asks for approval on a thread of its own, since no thread that reads from a terminal can be interrupted.
/// Dropping the future leaves the thread, which ends with the program; a runtime would wait for one of its
/// own.
async fn approve(approver: Approver, approval: Approval) -> Outcome {
    let (sender, decided) = oneshot::channel();
    let asked = thread::Builder::new()
        .name("approval".to_owned())
        .spawn(move || {
            // The run may be cancelled.
            let _ = sender.send(approver(&approval));
        });
    match (asked, decided.await) {
        (Ok(_), Ok(decision)) => Outcome::Decision(decision),
        _ => failed(FailureKind::Failed, "nobody can be asked".to_owned()),
    }
}

/// Returns the outcome of a program or a server that failed after it was started.
pub(crate) fn aborted(kind: FailureKind, message: String, stderr: Log) -> Outcome {
    Outcome::Aborted(Aborted {
        failure: Failed { kind, message },
        stderr: stderr.bytes,
        stderr_truncated: stderr.truncated,
    })
}

/// Returns the outcome of an effect that failed.
pub(crate) fn failed(kind: FailureKind, message: String) -> Outcome {
    Outcome::Failed(Failed { kind, message })
}
