//! The export of spans.

use super::otlp::rejected;
use super::queue::{Batch, Spans};
use std::time::Duration;
use tokio::select;
use tokio::time::{Instant, sleep, timeout_at};

/// How often a batch is sent that the collector does not take for a reason that passes.
const ATTEMPTS: u32 = 4;

/// The times of an export.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// Time after which spans are sent that fill no batch.
    interval: Duration,
    /// Time of one request with its response.
    request: Duration,
    /// Time until the second attempt. It doubles with each further one.
    pause: Duration,
}

impl Pace {
    const STANDARD: Self = Self {
        interval: Duration::from_secs(2),
        request: Duration::from_secs(10),
        pause: Duration::from_secs(1),
    };
}

/// Where spans are sent.
pub trait Collector {
    /// Sends the body of a request, which is JSON. Dropping the future ends it.
    ///
    /// The error says why there is no response.
    fn send(&self, body: String) -> impl Future<Output = Result<Reply, String>>;
}

/// The response of a collector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The status of HTTP.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

/// The outcome of a request.
enum ExportOutcome {
    /// The collector took all spans but some.
    Taken(u64),
    /// It will not take them.
    Refused(String),
    /// It may take them later.
    Later(String),
}

impl Spans {
    /// Sends spans for ever, some time after they are recorded. `note` gets the reason why the first ones were
    /// dropped.
    pub async fn export(&self, collector: &impl Collector, note: impl Fn(&str)) {
        self.export_at(Pace::STANDARD, collector, note).await;
    }

    async fn export_at(&self, pace: Pace, collector: &impl Collector, note: impl Fn(&str)) {
        loop {
            select! {
                () = self.full() => {}
                () = sleep(pace.interval) => {}
            }
            while let Some(batch) = self.batch() {
                self.send(pace, collector, batch).await;
            }
            self.note_loss(&note);
        }
    }

    /// Sends what is left within a time, each batch once. What is not sent then is dropped, and `note` gets the reason
    /// unless it got one before.
    pub async fn flush(&self, collector: &impl Collector, time: Duration, note: impl Fn(&str)) {
        self.send_rest(collector, time).await;
        self.note_loss(&note);
    }

    async fn send_rest(&self, collector: &impl Collector, time: Duration) {
        let end = Instant::now() + time;
        while let Some(batch) = self.batch() {
            match timeout_at(end, attempt(Pace::STANDARD, collector, &batch)).await {
                Ok(ExportOutcome::Taken(rejected)) => self.take(batch.spans, rejected, None),
                Ok(ExportOutcome::Refused(why)) => self.drop_batch(&batch, why),
                Ok(ExportOutcome::Later(why)) => return self.drop_all(&why),
                Err(_) => return self.drop_all("the collector did not answer in time"),
            }
        }
    }

    async fn send(&self, pace: Pace, collector: &impl Collector, batch: Batch) {
        let mut pause = pace.pause;
        for number in 1..=ATTEMPTS {
            match attempt(pace, collector, &batch).await {
                ExportOutcome::Taken(rejected) => {
                    let failure = (rejected > 0).then(|| "the collector rejected some".to_owned());
                    return self.take(batch.spans, rejected, failure);
                }
                ExportOutcome::Refused(why) => return self.drop_batch(&batch, why),
                ExportOutcome::Later(why) if number == ATTEMPTS => {
                    return self.drop_batch(&batch, why);
                }
                ExportOutcome::Later(why) => self.failing(&why),
            }
            sleep(pause).await;
            pause *= 2;
        }
    }

    fn drop_batch(&self, batch: &Batch, why: String) {
        self.take(batch.spans, batch.spans as u64, Some(why));
    }

    fn drop_all(&self, why: &str) {
        while let Some(batch) = self.batch() {
            self.drop_batch(&batch, why.to_owned());
        }
    }
}

async fn attempt(pace: Pace, collector: &impl Collector, batch: &Batch) -> ExportOutcome {
    let end = Instant::now() + pace.request;
    let reply = match timeout_at(end, collector.send(batch.body.clone())).await {
        Ok(Ok(reply)) => reply,
        Ok(Err(why)) => return ExportOutcome::Later(why),
        Err(_) => return ExportOutcome::Later("the collector did not answer in time".to_owned()),
    };
    match reply.status {
        200..300 => ExportOutcome::Taken(rejected(&reply.body)),
        status @ (429 | 502..=504) => {
            ExportOutcome::Later(format!("the collector answered with the status {status}"))
        }
        status => {
            ExportOutcome::Refused(format!("the collector answered with the status {status}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ATTEMPTS, Collector, Pace, Reply};
    use crate::otlp::Resource;
    use crate::queue::{BATCH, Spans};
    use crate::span::{Kind, Span};
    use std::cell::{Cell, RefCell};
    use std::future::pending;
    use std::time::Duration;
    use tokio::runtime::{Builder, Runtime};
    use tokio::select;
    use tokio::time::{Instant, sleep, timeout};

    /// A collector that answers each request as listed, then with the last answer.
    struct Listed {
        answers: Vec<Result<u16, &'static str>>,
        requests: Cell<usize>,
        bodies: RefCell<Vec<String>>,
    }

    impl Listed {
        fn new(answers: &[Result<u16, &'static str>]) -> Self {
            Self {
                answers: answers.to_vec(),
                requests: Cell::new(0),
                bodies: RefCell::default(),
            }
        }
    }

    impl Collector for Listed {
        async fn send(&self, body: String) -> Result<Reply, String> {
            let number = self.requests.get();
            self.requests.set(number + 1);
            self.bodies.borrow_mut().push(body);
            let answer = self.answers.get(number).or(self.answers.last());
            match answer.copied() {
                Some(Ok(status)) => Ok(Reply {
                    status,
                    body: Vec::new(),
                }),
                Some(Err(why)) => Err(why.to_owned()),
                None => pending().await,
            }
        }
    }

    fn spans(count: usize) -> Spans {
        let spans = Spans::new(Resource::default());
        for _ in 0..count {
            spans.record(Span::begin(Kind::Server, "x", None).unwrap());
        }
        spans
    }

    /// An export that is a thousand times as fast.
    const FAST: Pace = Pace {
        interval: Duration::from_millis(2),
        request: Duration::from_millis(10),
        pause: Duration::from_millis(1),
    };

    fn runtime() -> Runtime {
        let mut builder = Builder::new_current_thread();
        builder.enable_time().build().unwrap()
    }

    /// Exports until no spans wait, and some time longer. Returns the notes.
    fn exported(spans: &Spans, collector: &impl Collector) -> Vec<String> {
        let notes = RefCell::new(Vec::new());
        runtime().block_on(async {
            let note = |why: &str| notes.borrow_mut().push(why.to_owned());
            let export = spans.export_at(FAST, collector, note);
            let sent = async {
                while spans.report().queued > 0 {
                    sleep(FAST.pause).await;
                }
                sleep(30 * FAST.interval).await;
            };
            let ended = async {
                select! {
                    () = export => {}
                    () = sent => {}
                }
            };
            timeout(Duration::from_secs(20), ended).await.unwrap();
        });
        notes.into_inner()
    }

    #[test]
    fn spans_are_sent_in_batches() {
        let (spans, collector) = (spans(BATCH + 1), Listed::new(&[Ok(200)]));
        assert!(exported(&spans, &collector).is_empty());
        assert_eq!(collector.requests.get(), 2);
        assert_eq!(spans.report().sent, BATCH as u64 + 1);
        assert_eq!(spans.report().queued, 0);
    }

    #[test]
    fn what_may_pass_is_tried_again_with_the_same_spans() {
        let (spans, collector) = (spans(1), Listed::new(&[Err("refused"), Ok(503), Ok(200)]));
        assert!(exported(&spans, &collector).is_empty());
        let bodies = collector.bodies.borrow();
        assert_eq!(bodies.len(), 3);
        assert!(bodies.iter().all(|it| *it == bodies[0]));
        let report = spans.report();
        assert_eq!((report.sent, report.dropped, report.failure), (1, 0, None));
    }

    #[test]
    fn a_dead_collector_loses_spans_and_is_noted_once() {
        let (spans, collector) = (spans(3), Listed::new(&[Err("no connection")]));
        let notes = exported(&spans, &collector);
        assert_eq!(notes, ["no connection"]);
        assert_eq!(collector.requests.get(), ATTEMPTS as usize);
        let report = spans.report();
        assert_eq!((report.queued, report.dropped), (0, 3));
        assert_eq!(report.failure.as_deref(), Some("no connection"));
    }

    #[test]
    fn what_a_collector_refuses_is_not_sent_again() {
        let (spans, collector) = (spans(1), Listed::new(&[Ok(400)]));
        assert_eq!(exported(&spans, &collector).len(), 1);
        assert_eq!(collector.requests.get(), 1);
        assert_eq!(spans.report().dropped, 1);
    }

    #[test]
    fn the_end_waits_for_a_bounded_time() {
        for (collector, sent) in [(Listed::new(&[]), 0), (Listed::new(&[Ok(200)]), 5)] {
            let spans = spans(5);
            let (time, notes) = (Duration::from_millis(200), Cell::new(0));
            let took = runtime().block_on(async {
                let began = Instant::now();
                let note = |_: &str| notes.set(notes.get() + 1);
                spans.flush(&collector, time, note).await;
                began.elapsed()
            });
            assert!(took < Duration::from_secs(5), "{took:?}");
            assert_eq!(notes.get(), usize::from(sent == 0));
            let report = spans.report();
            assert_eq!(
                (report.queued, report.sent, report.dropped),
                (0, sent, 5 - sent)
            );
        }
    }

    #[test]
    fn a_slow_collector_is_not_waited_for() {
        let (spans, collector) = (spans(1), Listed::new(&[]));
        let notes = exported(&spans, &collector);
        assert_eq!(notes, ["the collector did not answer in time"]);
        assert_eq!(collector.requests.get(), ATTEMPTS as usize);
    }
}
