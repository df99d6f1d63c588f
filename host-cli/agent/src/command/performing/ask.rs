//! `agent ask`: answers a query with one call of one locked tool.

use super::running::{Running, planner_name, shared_documents};
use crate::args::Ask;
use crate::command::CommandAnswer;
use crate::command::session::CommandSession;
use crate::command::session::documents::text;
use agent_host::Failure;
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::contract::run::{CallResult, Documents, Goal, Mode};

pub(super) fn run(args: &Ask, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    let shared = shared_documents(&args.run, session)?;
    let documents = Documents {
        instruction_profile: text(session, DocumentKind::Profile, args.profile.as_ref())?,
        summary: text(session, DocumentKind::Summary, args.summary.as_ref())?,
        goal: Some(Goal {
            text: args.query.clone(),
            context: None,
            planner: planner_name(&args.planner),
        }),
        ..shared
    };
    let running = Running {
        planner: Some(&args.planner),
        mode: Mode::Ask,
        asks_for_summary: args.summarize,
        ..Running::of_plan(&args.run)
    };
    let finished = running.carry_out(&documents, session)?;
    let is_answered = matches!(
        finished.result,
        Some(CallResult::ToolResult | CallResult::ToolResultWithSummary)
    );
    let shown = running.show(finished, |it| it.answer.clone(), session)?;
    Ok(match shown {
        CommandAnswer::Yes => CommandAnswer::yes_if(is_answered),
        other => other,
    })
}
