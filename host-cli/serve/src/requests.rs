//! Requests of clients for resources and prompts, from the decision to the answer.

use super::calls::{OpenCall, answer, failure_of, refused};
use super::deadline::Deadline;
use super::gateway::Shared;
use super::metrics;
use agent_host::Failure;
use agent_host::contract::session::{
    CallAction, CallFailure, Client, ForwardedRequest, ListKind, Method,
};
use agent_mcp_protocol::{Json, Wait};
use agent_mcp_server::{Answer, ClientList};
use tokio::time::Instant;

/// Returns the method of a client for resources or prompts.
pub(crate) fn method_named(name: &str) -> Option<Method> {
    let methods = [
        Method::GetPrompt,
        Method::ListPrompts,
        Method::ListResources,
        Method::ReadResource,
        Method::ListTemplates,
    ];
    methods.into_iter().find(|it| name_of(*it) == name)
}

fn name_of(method: Method) -> &'static str {
    match method {
        Method::GetPrompt => "prompts/get",
        Method::ListPrompts => "prompts/list",
        Method::ListResources => "resources/list",
        Method::ReadResource => "resources/read",
        Method::ListTemplates => "resources/templates/list",
    }
}

/// Returns the list of clients that a method is about.
fn list_named(method: Method) -> ClientList {
    match method {
        Method::GetPrompt | Method::ListPrompts => ClientList::Prompts,
        Method::ListResources | Method::ReadResource | Method::ListTemplates => {
            ClientList::Resources
        }
    }
}

/// Returns the method that lists a server's entries, and the member of its result with them.
pub(crate) fn list_of(kind: ListKind) -> (&'static str, &'static str) {
    match kind {
        ListKind::Resources => (name_of(Method::ListResources), "resources"),
        ListKind::Templates => (name_of(Method::ListTemplates), "resourceTemplates"),
        ListKind::Prompts => (name_of(Method::ListPrompts), "prompts"),
    }
}

/// Decides on the parameters of a client's request, and carries it out. Dropping the future cancels the request.
pub(crate) async fn request(
    shared: &Shared,
    client: &Client,
    method: Method,
    params: &[u8],
) -> Answer {
    let answered = decided(shared, client, method, params).await;
    answered.unwrap_or_else(Answer::failed)
}

async fn decided(
    shared: &Shared,
    client: &Client,
    method: Method,
    params: &[u8],
) -> Result<Answer, Failure> {
    if shared.passes_on(list_named(method)) {
        shared.ready().await;
    }
    let called = shared.decider.request(client, method, params)?;
    let began = Instant::now();
    metrics::decided(&shared.metrics, &called.records);
    match called.action {
        CallAction::Answer(result) => Ok(Answer::own(result)),
        CallAction::Error(error) => Ok(refused(error)),
        CallAction::AskApproval(_) | CallAction::Forward(_) => {
            let text = "a request for a resource or prompt was decided as a call";
            Err(Failure::internal(text))
        }
        CallAction::ForwardRequest(forwarded) => {
            let open = OpenCall::new(shared, called.id);
            open.recorded().await?;
            let server = &forwarded.server;
            let deadline = Deadline::new(shared.call_time(server, None, forwarded.timeout_ms));
            let received = forward(shared, method, &forwarded, &deadline).await;
            let (delivered, received) = match received {
                Ok(result) => (open.result(&result)?, Some(result)),
                Err(failure) => (open.without_result(&failure, &deadline)?, None),
            };
            let time = began.elapsed();
            metrics::ended(&shared.metrics, server, &delivered.records, time);
            Ok(answer(delivered.delivery, received))
        }
    }
}

/// Passes a request on to its server, and observes how the server does.
async fn forward(
    shared: &Shared,
    method: Method,
    forwarded: &ForwardedRequest,
    deadline: &Deadline,
) -> Result<Json, CallFailure> {
    let server = &*forwarded.server;
    let upstream = shared.upstream(server, deadline.at()).await;
    let (upstream, _slot) = upstream.ok_or(CallFailure::Closed)?;
    let max_bytes = usize::try_from(forwarded.max_bytes).unwrap_or(usize::MAX);
    let wait = Wait::time(deadline.at().saturating_duration_since(Instant::now()));
    let named = (name_of(method), &*forwarded.name);
    let params = Json::of_engine(forwarded.params.clone());
    let answered = upstream.ask(named, &params, max_bytes, &wait);
    let answered = answered.await;
    shared.observe_call(server, &answered, deadline.elapsed());
    match answered {
        Ok(result) if result.bytes().len() > max_bytes => Err(CallFailure::TooLarge),
        Ok(result) => Ok(result),
        Err(error) => Err(failure_of(error)),
    }
}
