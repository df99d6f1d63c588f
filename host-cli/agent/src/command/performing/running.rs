//! What all commands share that start a run.

use super::live_servers::operator;
use crate::args::{INDEX, LOCK, PlannerKind, PlannerOptions, RunOptions};
use crate::command::CommandAnswer;
use crate::command::session::CommandSession;
use crate::command::session::documents::text;
use agent_effects::{Effects, PlannerChoice, Resolver, Run, run_id};
use agent_evidence::Store;
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::contract::run::{Approval, Decision, Documents, Finished, Mode, Options, Status};
use agent_host::input::INDEX_MAX;
use agent_host::session_files::present;
use agent_host::{Failure, block_on, output, random};
use std::sync::Arc;

/// A run before it starts.
#[derive(Clone, Copy)]
pub(super) struct Running<'a> {
    pub(super) options: &'a RunOptions,
    pub(super) planner: Option<&'a PlannerOptions>,
    pub(super) mode: Mode,
    /// Whether a query's payload is summarized by the planner.
    pub(super) asks_for_summary: bool,
    /// Whether the documents come from evidence that does not verify.
    pub(super) is_unverified: bool,
}

impl<'a> Running<'a> {
    /// Returns a run that carries out a plan.
    pub(super) fn of_plan(options: &'a RunOptions) -> Self {
        Self {
            options,
            planner: None,
            mode: Mode::CarryOut,
            asks_for_summary: false,
            is_unverified: false,
        }
    }

    /// Carries out a run to its end.
    ///
    /// # Errors
    ///
    /// When the operator's configuration can't be used, or the engine fails.
    pub(super) fn carry_out(
        self,
        documents: &Documents,
        session: &mut CommandSession,
    ) -> Result<Finished, Failure> {
        let operator = operator(self.options.servers.as_deref())?;
        let store = Store::new(&self.options.artifacts);
        block_on(async {
            let (engine, resolver) = (session.component(), Resolver::system());
            let effects = Effects::new(store, Arc::new(approve), &operator, engine, resolver);
            let mut effects = effects.await?;
            if let Some(planner) = self.planner {
                effects.plan_with(&choice(planner))?;
            }
            if let (Mode::CarryOut, Some(pool)) = (self.mode, &documents.tool_pool) {
                effects.load_handlers(pool);
            }
            let options = Options {
                run_id: run_id()?,
                random: random::<32>()?.to_vec(),
                sandbox_tier: effects.sandbox_tier().to_owned(),
                handlers: effects.handlers().listed(),
                approvals: self.options.approvals.clone(),
                secrets: effects.secrets(),
                mode: self.mode,
                asks_for_summary: self.asks_for_summary,
            };
            let zone = self.options.timezone.clone();
            let start = match self.is_unverified {
                true => Run::start_unverified,
                false => Run::start,
            };
            let run = start(&mut session.engine, documents, &options, zone)?;
            run.carry_out(&mut effects).await
        })
    }

    /// Prints the outcome of a run and the folder of its evidence. Standard output in JSON is `json`.
    ///
    /// # Errors
    ///
    /// When evidence is missing: without it a run has no answer, whatever its steps did.
    pub(super) fn show(
        self,
        finished: Finished,
        json: impl FnOnce(&Finished) -> String,
        session: &mut CommandSession,
    ) -> Result<CommandAnswer, Failure> {
        if !finished.evidence_complete {
            return Err(Failure::new(finished.message)
                .help("make the folder of `--artifacts` writable, and run the plan again"));
        }
        let json = json(&finished);
        session.add(finished.diagnostics);
        session.show(|_| Ok(finished.text), |_| Ok(json))?;
        if !finished.directory.is_empty() {
            let folder = self.options.artifacts.join(finished.directory);
            session.note(format_args!("evidence: {}", folder.display()));
        }
        Ok(CommandAnswer::yes_if(finished.status == Status::Completed))
    }
}

/// Returns the documents that every run may have: lock, index, policy and MOVA's core.
///
/// # Errors
///
/// When a named file can't be read.
pub(super) fn shared_documents(
    options: &RunOptions,
    session: &mut CommandSession,
) -> Result<Documents, Failure> {
    // A missing file that an option names is an error.
    let lock = present(&options.lock, LOCK);
    let index = present(&options.index.index, INDEX);
    let policy = session.policy_input(&options.policy)?;
    let tenant = options.policy.tenant.as_ref();
    let context = options.policy.policy_context.as_ref();
    Ok(Documents {
        plan: None,
        request: None,
        tool_pool: None,
        instruction_profile: None,
        lock: text(session, DocumentKind::Lock, lock)?,
        index: index
            .map(|it| session.text(DocumentKind::Index, it, INDEX_MAX))
            .transpose()?,
        task: None,
        tenant: text(session, DocumentKind::Tenant, tenant)?,
        tenant_id: options.policy.tenant_id.clone(),
        policy: text(session, DocumentKind::Policy, policy.as_ref())?,
        policy_context: text(session, DocumentKind::Context, context)?,
        mova: session.mova(&options.mova)?,
        goal: None,
        summary: None,
    })
}

/// Returns the name of a planner in requests and plans.
pub(super) fn planner_name(planner: &PlannerOptions) -> String {
    let name = match planner.planner {
        PlannerKind::Template => "template",
        PlannerKind::Command => "command",
        PlannerKind::Openai => "openai",
    };
    name.to_owned()
}

/// Returns the planner of the options. The program's arguments make those of its kind present.
fn choice(options: &PlannerOptions) -> PlannerChoice {
    match options.planner {
        PlannerKind::Template => PlannerChoice::Template,
        PlannerKind::Command => {
            let program = options.planner_command.iter();
            let argv = program.chain(&options.planner_arguments);
            PlannerChoice::Command(argv.cloned().collect())
        }
        PlannerKind::Openai => PlannerChoice::OpenAi {
            url: options.planner_url.clone().unwrap_or_default(),
            model: options.planner_model.clone().unwrap_or_default(),
            key: options.planner_key.clone(),
        },
    }
}

/// Shows what is to be approved on the terminal, and asks.
fn approve(approval: &Approval) -> Decision {
    let question = format!(
        "step `{}`: {}\ndigest {}\napprove? [y/N] ",
        approval.step_id, approval.subject, approval.digest
    );
    Decision {
        approved: output::ask(&question),
        by: "terminal".to_owned(),
    }
}
