//! `agent plan --goal` and `agent run`: a planner makes the plan.

use super::explain_run::explain;
use super::running::{Running, planner_name, shared_documents};
use crate::args::{GoalOptions, RunOptions};
use crate::command::CommandAnswer;
use crate::command::session::CommandSession;
use crate::command::session::documents::text;
use agent_host::Failure;
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::contract::run::{Documents, Goal, Mode, Status};

/// Plans for a goal, and decides on the plan or carries it out.
pub(super) fn run(
    (goal, options): (&GoalOptions, &RunOptions),
    (mode, explains): (Mode, bool),
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    let shared = shared_documents(options, session)?;
    // The context is a member of the request that the run makes.
    let context = text(session, DocumentKind::Request, goal.context.as_ref())?;
    let documents = Documents {
        tool_pool: text(session, DocumentKind::ToolPool, goal.tool_pool.as_ref())?,
        instruction_profile: text(session, DocumentKind::Profile, goal.profile.as_ref())?,
        goal: Some(Goal {
            text: goal.goal.clone().unwrap_or_default(),
            context,
            planner: planner_name(&goal.planner),
        }),
        ..shared
    };
    let running = Running {
        planner: Some(&goal.planner),
        mode,
        ..Running::of_plan(options)
    };
    let finished = running.carry_out(&documents, session)?;
    if explains && finished.evidence_complete {
        let folder = options.artifacts.join(&finished.directory);
        let is_completed = finished.status == Status::Completed;
        session.add(finished.diagnostics);
        let verifies = explain(&folder, &options.mova, session)?;
        session.note(format_args!("evidence: {}", folder.display()));
        return Ok(CommandAnswer::yes_if(is_completed && verifies));
    }
    running.show(finished, |it| it.summary.clone(), session)
}
