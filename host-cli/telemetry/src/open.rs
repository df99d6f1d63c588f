//! Spans of what is not over.

use super::context::TraceContext;
use super::queue::Spans;
use super::span::{Kind, Span};
use std::cell::RefCell;

/// The failure of a span that is dropped before it ends.
pub const CANCELLED: &str = "cancelled";

/// A span that is recorded when it ends. Dropping it ends it as cancelled.
#[derive(Debug)]
pub struct OpenSpan {
    spans: Spans,
    span: RefCell<Option<Span>>,
}

impl OpenSpan {
    /// Begins a span. Returns `None` if the system has no random bytes.
    #[must_use]
    pub fn begin(
        spans: &Spans,
        kind: Kind,
        name: &str,
        parent: Option<TraceContext>,
    ) -> Option<Self> {
        Some(Self {
            spans: spans.clone(),
            span: RefCell::new(Some(Span::begin(kind, name, parent)?)),
        })
    }

    /// Returns where its span is recorded.
    #[must_use]
    pub fn spans(&self) -> &Spans {
        &self.spans
    }

    /// Returns what spans within this one belong to.
    #[must_use]
    pub fn context(&self) -> Option<TraceContext> {
        self.span.borrow().as_ref().map(Span::context)
    }

    /// Changes the span.
    pub fn with(&self, change: impl FnOnce(&mut Span)) {
        if let Some(span) = &mut *self.span.borrow_mut() {
            change(span);
        }
    }

    /// Says that what the span is about failed, with `error.type`.
    pub fn fail(&self, kind: &str) {
        self.with(|span| {
            span.text("error.type", kind);
            span.fail(kind);
        });
    }

    /// Ends and records the span.
    pub fn end(self) {
        self.record();
    }

    fn record(&self) {
        if let Some(span) = self.span.take() {
            self.spans.record(span);
        }
    }
}

impl Drop for OpenSpan {
    fn drop(&mut self) {
        if self.span.borrow().is_some() {
            self.fail(CANCELLED);
            self.record();
        }
    }
}
