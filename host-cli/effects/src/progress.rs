//! Words for the action that a run waits for.

use agent_host::contract::run::{Action, PlannerTask};

/// Returns what a run waits for, for a line of progress; nothing for what takes no time.
pub(crate) fn progress(action: &Action) -> Option<String> {
    Some(match action {
        Action::Store(_) | Action::Approve(_) | Action::Finished(_) => return None,
        Action::Plan(planning) => match planning.task {
            PlannerTask::Steps | PlannerTask::Call => "asking the planner".to_owned(),
            PlannerTask::Summary => "asking the planner for a summary".to_owned(),
        },
        Action::Resolve(resolve) => format!("resolving {}", resolve.host),
        Action::Request(request) => format!("requesting {}", request.connection.host),
        Action::CallHandler(_) | Action::ResumeHandler(_) => "executing the handler".to_owned(),
        Action::RunProgram(program) => format!("running {}", program.path),
        Action::OpenServer(server) => format!("opening the server {}", server.id),
        Action::ListTools(_) => "listing the server's tools".to_owned(),
        Action::CallTool(call) => format!("calling {}", call.tool),
    })
}
