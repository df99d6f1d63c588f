//! Calls of clients, from the decision to the answer.

use super::gateway::Shared;
use agent_host::Failure;
use agent_host::contract::session::{
    CallAction, CallFailure, Client, Delivery, Forwarded, RpcError,
};
use agent_mcp::{Error, Json, Wait, progress};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

/// The code of JSON-RPC for a failure of this side.
pub(crate) const INTERNAL_ERROR: i64 = -32603;

/// The answer to a call.
pub(crate) enum Answer {
    /// A result.
    Result(Json),
    /// An error.
    Error(RpcError),
    /// None: the client cancelled the call.
    Nothing,
}

/// A call that is open in the session. Dropping it says that the client no longer waits.
struct OpenCall<'s> {
    shared: &'s Shared,
    id: u64,
    is_open: bool,
}

impl OpenCall<'_> {
    fn result(mut self, result: &[u8]) -> Result<Delivery, Failure> {
        self.is_open = false;
        self.shared.decider.result(self.id, result)
    }

    fn failed(mut self, failure: &CallFailure) -> Result<Delivery, Failure> {
        self.is_open = false;
        self.shared.decider.failed(self.id, failure)
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // A session that fails has no open calls.
            let _ = self.shared.decider.failed(self.id, &CallFailure::Cancelled);
        }
    }
}

/// Decides on the parameters of a client's `tools/call`, and carries it out. Reports of progress go to
/// `reports`. Dropping the future cancels the call.
pub(crate) async fn call(
    shared: &Shared,
    client: &Client,
    params: &[u8],
    reports: impl FnMut(Json),
) -> Answer {
    let answered = decided(shared, client, params, reports).await;
    answered.unwrap_or_else(|failure| {
        Answer::Error(RpcError {
            code: INTERNAL_ERROR,
            message: failure.message,
            data: None,
        })
    })
}

async fn decided(
    shared: &Shared,
    client: &Client,
    params: &[u8],
    mut reports: impl FnMut(Json),
) -> Result<Answer, Failure> {
    loop {
        if let Some(answer) = decided_once(shared, client, params, &mut reports).await? {
            return Ok(answer);
        }
    }
}

/// Decides on a call; `None` if a human has answered in the meantime, so that it is decided once more.
async fn decided_once(
    shared: &Shared,
    client: &Client,
    params: &[u8],
    reports: impl FnMut(Json),
) -> Result<Option<Answer>, Failure> {
    shared.ready().await;
    let called = shared.decider.call(client, params)?;
    if called.list_changed {
        shared.announce_list();
    }
    let open = |is_open| OpenCall {
        shared,
        id: called.id,
        is_open,
    };
    match called.action {
        CallAction::Answer(result) => Ok(Some(answer(result))),
        CallAction::Error(error) => Ok(Some(Answer::Error(error))),
        CallAction::AskApproval(asked) => {
            let mut open = open(true);
            let time = left(asked.expires_unix_ms);
            // A human answers on the page or on the terminal, never the client.
            let mut waiting = shared.approvals.ask(called.id, asked);
            match timeout(time, waiting.answered()).await {
                Ok(()) => {
                    open.is_open = false;
                    Ok(None)
                }
                Err(_) => {
                    let delivery = open.failed(&CallFailure::TimedOut)?;
                    Ok(Some(delivered(delivery, None)))
                }
            }
        }
        CallAction::Forward(forwarded) => {
            let open = open(true);
            shared.decider.synced().await?;
            let answer = match forward(shared, forwarded, reports).await {
                Ok(result) => {
                    let delivery = open.result(result.bytes())?;
                    Ok(delivered(delivery, Some(result)))
                }
                Err(failure) => Ok(delivered(open.failed(&failure)?, None)),
            };
            answer.map(Some)
        }
    }
}

/// Returns the time that is left until a moment of the system's clock.
fn left(unix_ms: u64) -> Duration {
    let now = agent_effects::clock(&agent_effects::Zone::default()).unix_ms;
    Duration::from_millis(unix_ms.saturating_sub(now))
}

fn delivered(delivery: Delivery, received: Option<Json>) -> Answer {
    match (delivery, received) {
        (Delivery::AsReceived, Some(received)) => Answer::Result(received),
        (Delivery::Changed(result) | Delivery::Refused(result), _) => answer(result),
        (Delivery::Nothing | Delivery::AsReceived, _) => Answer::Nothing,
    }
}

/// Returns the answer with a result of the session.
fn answer(result: Vec<u8>) -> Answer {
    match Json::new(result) {
        Ok(result) => Answer::Result(result),
        Err(_) => Answer::Error(RpcError {
            code: INTERNAL_ERROR,
            message: "the result is not JSON".to_owned(),
            data: None,
        }),
    }
}

/// Passes a call on to its server, and observes how the server does.
async fn forward(
    shared: &Shared,
    forwarded: Forwarded,
    mut reports: impl FnMut(Json),
) -> Result<Json, CallFailure> {
    let time = Duration::from_millis(forwarded.timeout_ms);
    let began = Instant::now();
    let server = &*forwarded.server;
    let parts = Json::new(forwarded.params)
        .ok()
        .and_then(|params| params.members(["name", "arguments", "_meta"]));
    let Some([Some(name), arguments, meta]) = parts else {
        return Err(CallFailure::Closed);
    };
    let name = name.string().unwrap_or_default();
    let arguments = arguments.map_or_else(|| b"{}".to_vec(), |it| it.bytes().to_vec());
    let upstream = shared.upstream(server, began + time).await;
    let (upstream, _slot) = upstream.ok_or(CallFailure::Closed)?;
    let max_bytes = usize::try_from(forwarded.max_bytes).unwrap_or(usize::MAX);
    let (sender, mut received) = progress();
    let wants_progress = meta.is_some();
    let sender: Option<mpsc::Sender<Json>> = wants_progress.then_some(sender);
    let wait = Wait::time(time.saturating_sub(began.elapsed()));
    let called = async {
        let call = upstream.call_tool(&name, &arguments, sender, max_bytes, &wait);
        tokio::pin!(call);
        loop {
            tokio::select! {
                result = &mut call => {
                    // What the server reported before its result comes before it.
                    while let Ok(report) = received.try_recv() {
                        reports(report);
                    }
                    return result;
                }
                Some(report) = received.recv() => reports(report),
            }
        }
    }
    .await;
    shared.observe_call(server, &called, began.elapsed());
    match called {
        Ok(result) if result.bytes().len() > max_bytes => Err(CallFailure::TooLarge),
        Ok(result) => Ok(result),
        Err(error) => Err(failure_of(error)),
    }
}

fn failure_of(error: Error) -> CallFailure {
    match error {
        Error::Timeout => CallFailure::TimedOut,
        Error::TooLarge { .. } | Error::TooMany { .. } => CallFailure::TooLarge,
        Error::Rpc(error) => CallFailure::ServerError(RpcError {
            code: error.code,
            message: error.message,
            data: None,
        }),
        _ => CallFailure::Closed,
    }
}
