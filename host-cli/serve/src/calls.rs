//! Calls of clients, from the decision to the answer.

use super::gateway::Shared;
use super::metrics;
use super::traced::{ForwardSpan, RequestSpan};
use agent_host::Failure;
use agent_host::contract::session::{
    ApprovalMode, ApprovalRequest, CallAction, CallFailure, Client, Delivered, Delivery, Forwarded,
    RpcError as Refused,
};
use agent_mcp_protocol::message::RpcError;
use agent_mcp_protocol::{Error, Json, Wait, progress};
use agent_mcp_server::{Answer, ClientList};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

/// Time after which a client is asked to repeat a call that waits for an approval.
const REPEAT: Duration = Duration::from_secs(25);

/// A call that is open in the session. Dropping it says that the client no longer waits.
pub(crate) struct OpenCall<'s> {
    shared: &'s Shared,
    id: u64,
    is_open: bool,
}

impl<'s> OpenCall<'s> {
    pub(crate) fn new(shared: &'s Shared, id: u64) -> Self {
        Self {
            shared,
            id,
            is_open: true,
        }
    }

    pub(crate) fn result(mut self, result: &Json) -> Result<Delivered, Failure> {
        self.is_open = false;
        self.shared.decider.result(self.id, result)
    }

    pub(crate) fn failed(mut self, failure: &CallFailure) -> Result<Delivered, Failure> {
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
/// `reports`, and parameters of `elicitation/create` to `elicit`, which returns its result. Dropping the future cancels the
/// call.
pub(crate) async fn call(
    shared: &Shared,
    client: &Client,
    params: &[u8],
    span: &RequestSpan,
    reports: impl FnMut(Json),
    elicit: impl AsyncFn(&[u8]) -> Option<Json>,
) -> Answer {
    let answered = decided(shared, client, params, span, reports, elicit).await;
    answered.unwrap_or_else(Answer::failed)
}

/// Returns the answer with an error of the session.
pub(crate) fn refused(error: Refused) -> Answer {
    Answer::Error(RpcError {
        code: error.code,
        message: error.message,
        data: error.data.and_then(|data| Json::new(data).ok()),
    })
}

async fn decided(
    shared: &Shared,
    client: &Client,
    params: &[u8],
    span: &RequestSpan,
    mut reports: impl FnMut(Json),
    elicit: impl AsyncFn(&[u8]) -> Option<Json>,
) -> Result<Answer, Failure> {
    loop {
        let decided = decided_once(shared, client, params, span, &mut reports, &elicit);
        if let Some(answer) = decided.await? {
            return Ok(answer);
        }
    }
}

/// Decides on a call; `None` if a human has answered in the meantime, so that it is decided once more.
async fn decided_once(
    shared: &Shared,
    client: &Client,
    params: &[u8],
    span: &RequestSpan,
    reports: impl FnMut(Json),
    elicit: impl AsyncFn(&[u8]) -> Option<Json>,
) -> Result<Option<Answer>, Failure> {
    shared.ready().await;
    let called = shared.decider.call(client, params)?;
    let began = Instant::now();
    metrics::decided(&shared.metrics, &called.records);
    span.decided(&called.records);
    if called.list_changed {
        shared.announce(ClientList::Tools);
    }
    match called.action {
        CallAction::Answer(result) => Ok(Some(Answer::own(result))),
        CallAction::Error(error) => Ok(Some(refused(error))),
        CallAction::AskApproval(asked) => ask(shared, called.id, asked, elicit).await,
        CallAction::Forward(forwarded) => {
            let open = OpenCall::new(shared, called.id);
            shared.decider.synced().await?;
            let server = forwarded.server.clone();
            let span = shared.forward_span(span, &server);
            let received = forward(shared, forwarded, &span, reports).await;
            span.received(received.as_ref());
            let (delivered, received) = match received {
                Ok(result) => (open.result(&result)?, Some(result)),
                Err(failure) => (open.failed(&failure)?, None),
            };
            metrics::ended(
                &shared.metrics,
                &server,
                &delivered.records,
                began.elapsed(),
            );
            span.end(&delivered.records);
            Ok(Some(answer(delivered.delivery, received)))
        }
    }
}

/// Waits for a human. Returns `None` after an answer, so that the call is decided once more.
async fn ask(
    shared: &Shared,
    call: u64,
    mut asked: ApprovalRequest,
    elicit: impl AsyncFn(&[u8]) -> Option<Json>,
) -> Result<Option<Answer>, Failure> {
    if let Some(result) = asked.answer.take() {
        let mut waiting = shared.approvals.ask(call, asked);
        if shared.decider.approval_mode() == ApprovalMode::Retry {
            // The client repeats the call. The answer is late: a human may approve in the meantime, and the
            // client does not ask again and again.
            let _ = timeout(REPEAT, waiting.answered()).await;
        }
        return Ok(Some(Answer::own(result)));
    }
    let mut open = OpenCall::new(shared, call);
    let time = left(asked.expires_unix_ms);
    // A human answers on the page or on the terminal. The client answers only where the operator lets it.
    let elicited = async {
        if let Some(params) = &asked.elicitation
            && let Some(result) = elicit(params).await
        {
            shared.elicited(&asked.approval, result.bytes())?;
        }
        std::future::pending::<Result<(), Failure>>().await
    };
    let mut waiting = shared.approvals.ask(call, asked.clone());
    tokio::select! {
        biased;
        () = waiting.answered() => {
            open.is_open = false;
            Ok(None)
        }
        failed = elicited => failed.map(|()| None),
        () = sleep(time) => {
            let delivered = open.failed(&CallFailure::TimedOut)?;
            Ok(Some(answer(delivered.delivery, None)))
        }
    }
}

/// Returns the time that is left until a moment of the system's clock.
fn left(unix_ms: u64) -> Duration {
    let now = agent_host::unix_ms();
    Duration::from_millis(unix_ms.saturating_sub(now))
}

/// Returns what the client gets of a result that was received.
pub(crate) fn answer(delivery: Delivery, received: Option<Json>) -> Answer {
    match (delivery, received) {
        (Delivery::AsReceived, Some(received)) => Answer::Result(received),
        (Delivery::Changed(result) | Delivery::Refused(result), _) => Answer::own(result),
        (Delivery::Error(error), _) => refused(error),
        (Delivery::Nothing | Delivery::AsReceived, _) => Answer::Nothing,
    }
}

/// Passes a call on to its server, and observes how the server does.
async fn forward(
    shared: &Shared,
    forwarded: Forwarded,
    span: &ForwardSpan,
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
        let about = (sender, span.traceparent());
        let call = upstream.call_tool(&name, &arguments, about, max_bytes, &wait);
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

pub(crate) fn failure_of(error: Error) -> CallFailure {
    match error {
        Error::Timeout => CallFailure::TimedOut,
        Error::TooLarge { .. } | Error::TooMany { .. } => CallFailure::TooLarge,
        Error::Rpc(error) => CallFailure::ServerError(Refused {
            code: error.code,
            message: error.message,
            data: None,
        }),
        _ => CallFailure::Closed,
    }
}
