//! Bodies of responses: whole, or a stream of server-sent events.

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::{Body as HttpBody, Frame};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::{Interval, MissedTickBehavior, interval_at};

/// Maximum number of events that wait for a client to read them. Then reports are dropped.
pub(crate) const QUEUE: usize = 64;

/// Time after which a silent stream gets a comment, so that both sides see whether the other one is there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The body of a response.
pub type Body = Either<Full<Bytes>, Events>;

/// A stream of events, which ends with its queue.
pub struct Events {
    /// An event that is sent first.
    first: Option<Bytes>,
    queue: mpsc::Receiver<Bytes>,
    silence: Interval,
    /// Dropped when the reader of the stream is gone.
    _work: Vec<Guard>,
}

/// What a stream or a request holds as long as it lasts.
pub(crate) enum Guard {
    /// A task, which is aborted.
    Task(AbortHandle),
    /// A count, which decreases.
    Count(#[expect(dead_code, reason = "dropping it has the effect")] super::counted::Counted),
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Self::Task(task) = self {
            task.abort();
        }
    }
}

impl Events {
    /// Returns the stream of a queue of events. The work ends with the stream.
    pub(crate) fn new(
        first: Option<Bytes>,
        queue: mpsc::Receiver<Bytes>,
        work: Vec<Guard>,
    ) -> Self {
        let start = tokio::time::Instant::now() + KEEP_ALIVE;
        let mut silence = interval_at(start, KEEP_ALIVE);
        silence.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            first,
            queue,
            silence,
            _work: work,
        }
    }
}

/// Returns a message, which is on one line, as an event.
pub(crate) fn event(message: &str) -> Bytes {
    Bytes::from(format!("event: message\ndata: {message}\n\n"))
}

impl HttpBody for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        if let Poll::Ready(next) = self.queue.poll_recv(context) {
            self.silence.reset();
            return Poll::Ready(next.map(|event| Ok(Frame::data(event))));
        }
        match self.silence.poll_tick(context) {
            Poll::Ready(_) => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b":\n\n"))))),
            Poll::Pending => Poll::Pending,
        }
    }
}
