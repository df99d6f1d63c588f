//! `agent plan --goal` and `agent run`: a planner makes the plan.

use super::Answer;
use super::running::{Running, planner_name, shared_documents, text};
use super::session::Session;
use crate::args::{GoalOptions, RunOptions};
use agent_host::Failure;
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::contract::run::{Documents, Goal, Mode};

/// Plans for a goal, and decides on the plan or carries it out.
pub(super) fn run(
    (goal, options): (&GoalOptions, &RunOptions),
    mode: Mode,
    session: &mut Session,
) -> Result<Answer, Failure> {
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
    running.show(finished, |it| it.summary.clone(), session)
}
