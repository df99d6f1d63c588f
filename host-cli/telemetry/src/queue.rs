//! The queue of spans that wait to be sent.

use super::metrics::{Family, Gauge};
use super::otlp::{Resource, request};
use super::span::Span;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Maximum number of spans that wait. Further ones are dropped.
pub(crate) const QUEUE: usize = 4096;

/// Maximum number of spans of one request.
pub(crate) const BATCH: usize = 512;

/// Spans that wait to be sent. Clones share them.
#[derive(Debug, Clone)]
pub struct Spans(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    resource: Resource,
    state: Mutex<QueueState>,
    /// Says that a batch is full.
    is_full: Notify,
}

#[derive(Debug, Default)]
struct QueueState {
    queue: VecDeque<Span>,
    sent: u64,
    dropped: u64,
    failure: Option<String>,
    /// Whether the first loss was noted.
    is_noted: bool,
}

/// The gauge of spans, with the program's prefix.
const GAUGE_HELP: &str = "Spans for the collector, by state.";

/// Counts of spans, by whether they were sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// How many wait.
    pub queued: u64,
    /// How many the collector has.
    pub sent: u64,
    /// How many were dropped: the queue was full, or the collector did not take them.
    pub dropped: u64,
    /// Why the collector did not take the last ones; `None` if it did.
    pub failure: Option<String>,
}

impl Report {
    /// Returns the counts as a gauge, whose name begins with the program's prefix.
    #[must_use]
    pub fn gauge(&self, name: &'static str) -> Gauge {
        let family = Family {
            name,
            help: GAUGE_HELP,
            labels: &["state"],
        };
        let counts = [
            ("dropped", self.dropped),
            ("queued", self.queued),
            ("sent", self.sent),
        ];
        let counts = counts.map(|(state, count)| (vec![state.to_owned()], count));
        (family, counts.to_vec())
    }
}

/// The body of a request, with the number of its spans.
pub(crate) struct Batch {
    pub(crate) body: String,
    pub(crate) spans: usize,
}

impl Spans {
    /// Returns an empty queue of a program's spans.
    #[must_use]
    pub fn new(resource: Resource) -> Self {
        Self(Arc::new(Shared {
            resource,
            state: Mutex::default(),
            is_full: Notify::new(),
        }))
    }

    /// Ends a span and records it. Never waits: if the queue is full, the span is dropped.
    pub fn record(&self, mut span: Span) {
        span.end();
        let mut state = self.state();
        if state.queue.len() >= QUEUE {
            state.dropped += 1;
            return;
        }
        state.queue.push_back(span);
        if state.queue.len() >= BATCH {
            self.0.is_full.notify_one();
        }
    }

    /// Returns the counts so far.
    #[must_use]
    pub fn report(&self) -> Report {
        let state = self.state();
        Report {
            queued: state.queue.len() as u64,
            sent: state.sent,
            dropped: state.dropped,
            failure: state.failure.clone(),
        }
    }

    /// Waits until a batch is full.
    pub(crate) async fn full(&self) {
        self.0.is_full.notified().await;
    }

    /// Returns the spans that wait the longest. They wait until they are [taken](Self::take).
    pub(crate) fn batch(&self) -> Option<Batch> {
        let state = self.state();
        let spans = state.queue.len().min(BATCH);
        (spans > 0).then(|| Batch {
            body: request(&self.0.resource, state.queue.iter().take(spans)),
            spans,
        })
    }

    /// Takes spans off the queue, of which some were not taken by the collector.
    pub(crate) fn take(&self, spans: usize, rejected: u64, failure: Option<String>) {
        let mut state = self.state();
        let spans = spans.min(state.queue.len());
        state.queue.drain(..spans);
        let rejected = rejected.min(spans as u64);
        state.sent += spans as u64 - rejected;
        state.dropped += rejected;
        state.failure = failure;
    }

    /// Takes that the collector does not answer, so that spans wait.
    pub(crate) fn failing(&self, failure: &str) {
        self.state().failure = Some(failure.to_owned());
    }

    /// Calls `note` once, with the reason why spans were dropped.
    pub(crate) fn note_loss(&self, note: &impl Fn(&str)) {
        let why = {
            let mut state = self.state();
            if state.dropped == 0 || state.is_noted {
                return;
            }
            state.is_noted = true;
            state.failure.clone()
        };
        note(why.as_deref().unwrap_or("too many at once"));
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        // A panic while it was held leaves counts and whole spans.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{BATCH, QUEUE, Spans};
    use crate::otlp::Resource;
    use crate::span::{Kind, Span};

    #[test]
    fn a_full_queue_drops_and_counts() {
        let spans = Spans::new(Resource::default());
        for _ in 0..QUEUE + 3 {
            spans.record(Span::begin(Kind::Server, "x", None).unwrap());
        }
        let report = spans.report();
        assert_eq!((report.queued, report.dropped), (QUEUE as u64, 3));
        let batch = spans.batch().unwrap();
        assert_eq!(batch.spans, BATCH);
        assert_eq!(batch.body.matches("\"spanId\"").count(), BATCH);
        // They wait until they are taken.
        assert_eq!(spans.report().queued, QUEUE as u64);
        spans.take(BATCH, 2, None);
        let report = spans.report();
        assert_eq!(report.queued, (QUEUE - BATCH) as u64);
        assert_eq!((report.sent, report.dropped), (BATCH as u64 - 2, 5));
    }
}
