//! Conversions for sessions.

use super::all;
use crate::bindings::exports::agent::engine::{decision_point, session};
use agent_session::health::Observation;
use agent_session::limits::PAYLOAD_MAX_BYTES;
use std::collections::BTreeSet;

same! {
    agent_session::ApprovalMode = session::ApprovalMode { Host Retry Elicitation }
    agent_session::Expansion = session::Expansion { Stub List None }
    agent_session::Generation = session::Generation { Sessions Stateless }
    agent_session::ListKind = session::ListKind { Resources Templates Prompts }
    agent_session::Method = session::Method {
        GetPrompt ListPrompts ListResources ReadResource ListTemplates
    }
}

alike! {
    agent_session::AskedApproval = decision_point::AskedApproval {
        id, text, expires_unix_ms, answer; ;
    }
    agent_session::AskedCall = decision_point::AskedCall { tool, arguments, agent; subject; }
    agent_session::AskedRequest = decision_point::AskedRequest {
        server, method, params, agent; subject, generation;
    }
    agent_session::CallReason = decision_point::CallReason { pointer, text, help; code; }
    agent_session::CallSubject = decision_point::CallSubject { id, kind, properties; ; }
    agent_session::Digests = decision_point::Digests {
        lock, index, definitions, policy, policy_context, tenant, tenant_id, task, health; ;
    }
    agent_session::Client = session::Client { id, kind, properties, session, capabilities; generation; }
    agent_session::Destination = session::Destination { tls, host, port, target, is_name; ; }
    agent_session::Documents = session::Documents {
        lock, index, definitions, policy, policy_context, tenant, tenant_id, task, health; ;
    }
    agent_session::ForwardedRequest = session::ForwardedRequest {
        server, name, params, timeout_ms, max_bytes; ;
    }
    agent_session::KeptAt = decision_point::KeptAt { key, lifetime_ms; ; }
    agent_session::LockedServer = session::LockedServer {
        name, id, version, endpoint, resources, prompts; ;
    }
    agent_session::ObservedServer = session::ObservedServer { name, endpoint; ; }
    agent_session::ReceivedResult = decision_point::ReceivedResult {
        server, method, tool, result; generation;
    }
    agent_session::Record = session::AuditRecord { sequence, line; ; }
    agent_session::WithheldEntry = session::WithheldEntry { name, text; code; }
    agent_session::Withheld = session::WithheldTool { tool, text; code; }
}

impl From<session::Options> for agent_session::Options {
    fn from(options: session::Options) -> Self {
        Self {
            seed: options.seed,
            expansion: options.expansion.into(),
            budget: options.budget,
            observe: options.observe,
            servers: all(options.servers),
            ignoring: Some(BTreeSet::new()),
            any_policy: false,
            audit_arguments: options.audit_arguments,
            approval_mode: options.approval_mode.into(),
            payload_max_bytes: options.payload_max_bytes.unwrap_or(PAYLOAD_MAX_BYTES),
            secrets: all(options.secrets),
            last_record: options.last_record,
            state: options.state.map(Into::into),
        }
    }
}

impl From<agent_session::Drifted> for session::DriftedTool {
    fn from(drifted: agent_session::Drifted) -> Self {
        use agent_session::Deviation;
        let widens = matches!(drifted.deviation, Deviation::Changed { widens: true, .. });
        Self {
            deviation: drifted.deviation.name().to_owned(),
            widens,
            tool: drifted.tool,
            changes: drifted.changes,
        }
    }
}

impl From<agent_session::Observed> for session::Observed {
    fn from(observed: agent_session::Observed) -> Self {
        Self {
            exposed: observed.exposed,
            withheld: all(observed.withheld),
            drifted: all(observed.drifted),
            list_changed: observed.list_changed,
            records: all(observed.records),
        }
    }
}

impl From<agent_session::CallAction> for session::CallAction {
    fn from(action: agent_session::CallAction) -> Self {
        use agent_session::CallAction;
        match action {
            CallAction::Forward(to) => Self::Forward(session::Forwarded {
                server: to.server,
                tool: to.tool,
                arguments: to.arguments.map(String::into_bytes),
                request_state: to.request_state,
                progress_token: to.progress_token,
                timeout_ms: to.timeout_ms,
                max_bytes: to.max_bytes,
            }),
            CallAction::ForwardRequest(to) => Self::ForwardRequest(to.into()),
            CallAction::Answer(result) => Self::Answer(result),
            CallAction::AskApproval {
                approval,
                text,
                expires_unix_ms,
                answer,
                elicitation,
            } => Self::AskApproval(session::ApprovalRequest {
                approval,
                text,
                expires_unix_ms,
                answer,
                elicitation,
            }),
            CallAction::Error {
                code,
                message,
                data,
            } => Self::Error(session::RpcError {
                code,
                message,
                data,
            }),
        }
    }
}

impl From<agent_session::Approved> for session::Approved {
    fn from(approved: agent_session::Approved) -> Self {
        Self {
            is_known: approved.is_known,
            waiting: approved.waiting,
            records: all(approved.records),
        }
    }
}

impl From<session::CallFailure> for agent_session::Failure {
    fn from(failure: session::CallFailure) -> Self {
        use session::CallFailure;
        match failure {
            CallFailure::Cancelled => Self::Cancelled,
            CallFailure::TimedOut => Self::TimedOut,
            CallFailure::Closed => Self::Closed,
            CallFailure::ServerError(error) => Self::ServerError {
                code: error.code,
                message: error.message,
                data: error.data,
            },
            CallFailure::TooLarge => Self::TooLarge,
            CallFailure::Unreadable => Self::Unreadable,
        }
    }
}

impl From<session::Observation> for Observation {
    fn from(observation: session::Observation) -> Self {
        match observation {
            session::Observation::Started => Self::Started,
            session::Observation::Answered(latency_ms) => Self::Answered { latency_ms },
            session::Observation::Failed => Self::Failed,
            session::Observation::Exited => Self::Exited,
        }
    }
}
