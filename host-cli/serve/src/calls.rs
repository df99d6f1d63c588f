//! Calls of clients, from the decision to the answer.

use super::deadline::Deadline;
use super::gateway::Shared;
use super::metrics;
use super::traced::{ForwardSpan, RequestSpan};
use agent_host::Failure;
use agent_host::contract::session::{
    ApprovalMode, ApprovalRequest, CallAction, CallFailure, Called, Client, Delivered, Delivery,
    Forwarded, RpcError as Refused,
};
use agent_mcp_protocol::message::RpcError;
use agent_mcp_protocol::{Call, Cancel, Error, Json, Wait, progress};
use agent_mcp_server::{Answer, ClientList};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until, timeout};

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
        shared.open_calls.set(shared.open_calls.get() + 1);
        Self {
            shared,
            id,
            is_open: true,
        }
    }

    /// Waits until the decision is on disk.
    pub(crate) async fn recorded(&self) -> Result<(), Failure> {
        let is_alone = self.shared.open_calls.get() == 1;
        self.shared.decider.synced(is_alone).await
    }

    pub(crate) fn result(mut self, result: &Json) -> Result<Delivered, Failure> {
        self.is_open = false;
        self.shared.decider.result(self.id, result)
    }

    pub(crate) fn failed(mut self, failure: &CallFailure) -> Result<Delivered, Failure> {
        self.is_open = false;
        self.shared.decider.failed(self.id, failure)
    }

    /// Takes why the server gave no result until a deadline.
    pub(crate) fn without_result(
        mut self,
        failure: &CallFailure,
        deadline: &Deadline,
    ) -> Result<Delivered, Failure> {
        if !matches!(failure, CallFailure::TimedOut) {
            return self.failed(failure);
        }
        self.is_open = false;
        let (limit_ms, since_progress) = deadline.limit();
        let decider = &self.shared.decider;
        decider.timed_out(self.id, limit_ms, since_progress)
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        self.shared.open_calls.set(self.shared.open_calls.get() - 1);
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
    params: &Json,
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

/// The consequence of a decision.
enum Next {
    /// The client gets this answer.
    Answer(Answer),
    /// A human has answered: the call is decided once more.
    Decide,
    /// The server wants the call repeated: it is decided once more, with this state.
    Repeat(String),
}

async fn decided(
    shared: &Shared,
    client: &Client,
    params: &Json,
    span: &RequestSpan,
    mut reports: impl FnMut(Json),
    elicit: impl AsyncFn(&[u8]) -> Option<Json>,
) -> Result<Answer, Failure> {
    let mut state: Option<String> = None;
    loop {
        shared.ready().await;
        let bytes = params.bytes();
        let called = match &state {
            Some(state) => shared.decider.repeat(client, bytes, state)?,
            None => shared.decider.call(client, bytes)?,
        };
        let next = perform(shared, called, params, span, &mut reports, &elicit);
        state = match next.await? {
            Next::Answer(answer) => return Ok(answer),
            Next::Decide => None,
            Next::Repeat(state) => Some(state),
        };
    }
}

/// Carries a decision out.
async fn perform(
    shared: &Shared,
    called: Called,
    params: &Json,
    span: &RequestSpan,
    reports: impl FnMut(Json),
    elicit: impl AsyncFn(&[u8]) -> Option<Json>,
) -> Result<Next, Failure> {
    let began = Instant::now();
    metrics::decided(&shared.metrics, &called.records);
    span.decided(&called.records);
    if called.list_changed {
        shared.announce(ClientList::Tools);
    }
    match called.action {
        CallAction::Answer(result) => Ok(Next::Answer(Answer::own(result))),
        CallAction::Error(error) => Ok(Next::Answer(refused(error))),
        CallAction::AskApproval(asked) => ask(shared, called.id, asked, elicit).await,
        CallAction::ForwardRequest(_) => Err(Failure::internal("a call was decided as a request")),
        CallAction::Forward(forwarded) => {
            let open = OpenCall::new(shared, called.id);
            open.recorded().await?;
            let server = forwarded.server.clone();
            let span = shared.forward_span(span, &server);
            let tool = Some(&*forwarded.tool);
            let time = shared.call_time(&server, tool, forwarded.timeout_ms);
            let mut deadline = Deadline::new(time);
            let ends = &mut deadline;
            let received = forward(shared, forwarded, params, ends, &span, reports).await;
            span.received(received.as_ref());
            let (delivered, received) = match received {
                Ok(result) => (open.result(&result)?, Some(result)),
                Err(failure) => (open.without_result(&failure, &deadline)?, None),
            };
            metrics::ended(
                &shared.metrics,
                &server,
                &delivered.records,
                began.elapsed(),
            );
            span.end(&delivered.records);
            Ok(match delivered.delivery {
                Delivery::Repeat(state) => Next::Repeat(state),
                delivery => Next::Answer(answer(delivery, received)),
            })
        }
    }
}

/// Waits for a human.
async fn ask(
    shared: &Shared,
    call: u64,
    mut asked: ApprovalRequest,
    elicit: impl AsyncFn(&[u8]) -> Option<Json>,
) -> Result<Next, Failure> {
    if let Some(result) = asked.answer.take() {
        let mut waiting = shared.approvals.ask(call, asked);
        if shared.decider.approval_mode() == ApprovalMode::Retry {
            // The client repeats the call. The answer is late: a human may approve in the meantime, and the
            // client does not ask again and again.
            let _ = timeout(REPEAT, waiting.answered()).await;
        }
        return Ok(Next::Answer(Answer::own(result)));
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
            Ok(Next::Decide)
        }
        failed = elicited => failed.map(|()| Next::Decide),
        () = sleep(time) => {
            let delivered = open.failed(&CallFailure::TimedOut)?;
            Ok(Next::Answer(answer(delivered.delivery, None)))
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
        // Only a result of a call leads to a repetition, which never comes here.
        (Delivery::Nothing | Delivery::AsReceived | Delivery::Repeat(_), _) => Answer::Nothing,
    }
}

/// Passes a call on to its server, and observes how the server does.
async fn forward(
    shared: &Shared,
    forwarded: Forwarded,
    params: &Json,
    deadline: &mut Deadline,
    span: &ForwardSpan,
    mut reports: impl FnMut(Json),
) -> Result<Json, CallFailure> {
    let server = &*forwarded.server;
    let call = Call {
        tool: &forwarded.tool,
        arguments: arguments_of(forwarded.arguments, params),
        state: forwarded.request_state.as_deref(),
    };
    let upstream = shared.upstream(server, deadline.at()).await;
    let (upstream, _slot) = upstream.ok_or(CallFailure::Closed)?;
    let max_bytes = usize::try_from(forwarded.max_bytes).unwrap_or(usize::MAX);
    let (sender, mut received) = progress();
    let wants_progress = forwarded.progress_token.is_some();
    let sender: Option<mpsc::Sender<Json>> = wants_progress.then_some(sender);
    let (canceller, cancel) = Cancel::new();
    let wait = Wait {
        deadline: deadline.last(),
        cancel,
    };
    let called = async {
        let about = (sender, span.traceparent());
        let call = upstream.call(&call, about, max_bytes, &wait);
        tokio::pin!(call);
        loop {
            tokio::select! {
                biased;
                result = &mut call => {
                    // What the server reported before its result comes before it.
                    while let Ok(report) = received.try_recv() {
                        reports(report);
                    }
                    return result;
                }
                Some(report) = received.recv() => {
                    deadline.extend();
                    reports(report);
                }
                () = sleep_until(deadline.at()) => {
                    // The server learns that nobody waits any more.
                    canceller.cancel();
                    return match call.await {
                        Err(Error::Cancelled) => Err(Error::Timeout),
                        result => result,
                    };
                }
            }
        }
    }
    .await;
    shared.observe_call(server, &called, deadline.elapsed());
    match called {
        Ok(result) if result.bytes().len() > max_bytes => Err(CallFailure::TooLarge),
        Ok(result) => Ok(result),
        Err(error) => Err(failure_of(error)),
    }
}

/// Returns the arguments for a server. Those of the client itself were read with its message, and need not be read for
/// the headers of a tool.
fn arguments_of(forwarded: Option<Vec<u8>>, params: &Json) -> Json {
    let Some(forwarded) = forwarded else {
        return Json::empty_object();
    };
    let own = params.members(["arguments"]).and_then(|[own]| own);
    match own.filter(|own| own.bytes() == &forwarded) {
        Some(own) => own,
        None => Json::of_engine(forwarded),
    }
}

pub(crate) fn failure_of(error: Error) -> CallFailure {
    match error {
        Error::Timeout => CallFailure::TimedOut,
        Error::TooLarge { .. } | Error::TooMany { .. } => CallFailure::TooLarge,
        Error::Rpc(error) => CallFailure::ServerError(Refused {
            code: error.code,
            message: error.message,
            data: error.data.map(|data| data.bytes().to_vec()),
        }),
        Error::Protocol(_) => CallFailure::Unreadable,
        _ => CallFailure::Closed,
    }
}
