//! File plans of planners.

use super::daemon::Daemon;
use super::refusal::{Answered, refused};
use agent_host::contract::daemon::{ErrorCode, PlannedChange, Planning};
use agent_planner::{Limits, PlannerError, PlannerErrorKind, PlannerRequest};
use agent_syntax::json_string;
use agent_way_out::Cancel;
use std::time::Duration;

/// Maximum size of a plan, in bytes.
const PLAN_BYTES: usize = 8 << 20;

/// Maximum time of a planner for a plan.
const PLAN_TIME: Duration = Duration::from_secs(300);

impl Daemon {
    /// Asks the planner once. Returns its answer, which is not checked yet.
    pub(crate) async fn plan(&self, planning: Planning) -> Answered<Vec<u8>> {
        let request = written(&planning);
        let limits = Limits {
            time: PLAN_TIME,
            plan_bytes: PLAN_BYTES,
        };
        let planned = match PlannerRequest::from_json(request.as_bytes()) {
            // Dropping the future cancels the attempt.
            Ok(request) => self.planner.plan(&request, &limits, &Cancel::never()).await,
            Err(error) => Err(error),
        };
        planned.map_err(failed)
    }
}

fn written(request: &Planning) -> String {
    let languages = request.languages.iter().map(|it| json_string(it.name()));
    let languages: Vec<_> = languages.collect();
    let mut members = vec![
        r#""task":"files""#.to_owned(),
        format!(r#""prompt":{}"#, json_string(&request.prompt)),
        format!(r#""languages":[{}]"#, languages.join(",")),
        format!(r#""schema":{}"#, request.schema),
    ];
    if let Some(allowed) = &request.deps_allowlist {
        let allowed: Vec<_> = allowed.iter().map(|it| json_string(it)).collect();
        members.push(format!(r#""deps_allowlist":[{}]"#, allowed.join(",")));
    }
    if let Some(port) = request.port_hint {
        members.push(format!(r#""port_hint":{port}"#));
    }
    if let Some(PlannedChange { prompt, present }) = &request.change {
        let present = present.iter().map(|(path, content)| {
            let (path, content) = (json_string(path), json_string(content));
            format!(r#"{{"path":{path},"content":{content}}}"#)
        });
        let present: Vec<_> = present.collect();
        members.push(format!(r#""change":{}"#, json_string(prompt)));
        members.push(format!(r#""present":[{}]"#, present.join(",")));
    }
    format!("{{{}}}", members.join(","))
}

fn failed(error: PlannerError) -> agent_host::contract::daemon::Failure {
    let (code, hint) = match error.kind {
        PlannerErrorKind::Timeout => (ErrorCode::Timeout, "ask for a smaller app, or try again"),
        PlannerErrorKind::NoTool => (
            ErrorCode::Plan,
            "start the daemon with `--planner COMMAND`, or send the files with `fs.apply`",
        ),
        PlannerErrorKind::Connect | PlannerErrorKind::Resolve | PlannerErrorKind::Tls => (
            ErrorCode::Network,
            "check the address of the planner's server",
        ),
        _ => (ErrorCode::Plan, "check the configuration of the planner"),
    };
    refused(code, format!("the planner made no plan: {error}"), hint)
}
