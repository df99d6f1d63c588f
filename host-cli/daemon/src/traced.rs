//! Spans and times of verbs, and of the stages of their work.
//!
//! A span says what was done for which task, and how it ended. It holds no prompt, no file, no output, and no message.

use super::counts::Counts;
use super::refusal::Answered;
use agent_host::contract::daemon::VersionedVerb;
use agent_telemetry::{Kind, OpenSpan, Span, Spans, TraceContext};
use std::ops::Range;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::task_local;

/// The method of the Model Context Protocol for a call of a tool.
const CALL: &str = "execute_tool";

task_local! {
    /// What the present work belongs to.
    static CURRENT: Current;
}

#[derive(Clone)]
struct Current {
    counts: Rc<Counts>,
    /// Its span, if spans are recorded.
    span: Option<Rc<OpenSpan>>,
}

/// Performs a verb within a span.
pub(crate) async fn verb<T>(
    (spans, counts): (Option<&Spans>, &Rc<Counts>),
    VersionedVerb {
        name: verb,
        version,
    }: VersionedVerb,
    (client, parent): (&str, Option<TraceContext>),
    work: impl Future<Output = Answered<T>>,
) -> Answered<T> {
    let began = Instant::now();
    let open = spans.and_then(|it| OpenSpan::begin(it, Kind::Server, &verb, parent));
    let current = Current {
        counts: Rc::clone(counts),
        span: open.map(Rc::new),
    };
    current.with(|span| {
        span.text("gen_ai.operation.name", CALL);
        span.text("gen_ai.tool.name", &verb);
        span.text("agent.verb.version", &format!("v{version}"));
        span.text("agent.client.id", client);
    });
    let answered = CURRENT.scope(current.clone(), work).await;
    counts.called(&verb, &answered, began.elapsed());
    current.end(&answered);
    answered
}

/// Says which task the present verb is about.
pub(crate) fn about(task: &str) {
    // Work outside of verbs has no span.
    let _ = CURRENT.try_with(|current| current.with(|span| span.text("agent.task.id", task)));
}

/// Does a part of the work of a verb within a span of its own.
pub(crate) async fn stage<T>(
    stage: &'static str,
    work: impl Future<Output = Answered<T>>,
) -> Answered<T> {
    let Ok(outer) = CURRENT.try_with(Current::clone) else {
        return work.await;
    };
    let began = Instant::now();
    let open = outer
        .span
        .as_ref()
        .and_then(|it| OpenSpan::begin(it.spans(), Kind::Internal, stage, it.context()));
    let current = Current {
        counts: Rc::clone(&outer.counts),
        span: open.map(Rc::new),
    };
    let answered = CURRENT.scope(current.clone(), work).await;
    current.counts.staged(stage, began.elapsed());
    current.end(&answered);
    answered
}

/// Records a stage that another process reported, in milliseconds since 1970.
pub(crate) fn reported_stage(stage: &'static str, ms: Range<u64>) {
    let _ = CURRENT.try_with(|current| {
        let time = ms.end.saturating_sub(ms.start);
        current.counts.staged(stage, Duration::from_millis(time));
        let Some(open) = &current.span else { return };
        if let Some(span) = Span::past(Kind::Internal, stage, open.context(), ms) {
            open.spans().record(span);
        }
    });
}

impl Current {
    fn with(&self, change: impl FnOnce(&mut Span)) {
        if let Some(span) = &self.span {
            span.with(change);
        }
    }

    fn end<T>(self, answered: &Answered<T>) {
        // Nothing within it is at work any more.
        let Some(open) = self.span.and_then(Rc::into_inner) else {
            return;
        };
        if let Err(refusal) = answered {
            open.fail(refusal.code.name());
        }
        open.end();
    }
}
