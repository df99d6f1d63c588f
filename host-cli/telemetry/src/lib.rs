//! Spans and counts of programs that serve, and the export of spans to an OpenTelemetry collector.
//!
//! A program records spans, which never waits. An exporter hands batches of them, as requests of OTLP in JSON,
//! to a [`Collector`]: the program's own way to send them. This library opens no connection, and knows nothing of
//! what the spans are about.
//!
//! | item | content |
//! |---|---|
//! | [`TraceContext`], [`TraceId`], [`SpanId`] | what spans of several programs have in common \[W3C Trace Context\] |
//! | [`Span`], [`Kind`], [`Value`] | a span with its attributes |
//! | [`OpenSpan`] | a span that is recorded when it ends or is dropped |
//! | [`Spans`], [`Report`] | the bounded queue of spans, and counts of those that were sent and dropped |
//! | [`Collector`], [`Reply`] | where spans are sent |
//! | [`Metrics`], [`Family`], [`Gauge`] | counters and histograms, in the text format of Prometheus |
//! | [`Resource`] | the program that the spans are from |

mod context;
mod export;
mod metrics;
mod open;
mod otlp;
mod queue;
mod span;

pub use context::{SpanId, TraceContext, TraceId};
pub use export::{Collector, Reply};
pub use metrics::{Family, Gauge, Metrics, client_sessions};
pub use open::{CANCELLED, OpenSpan};
pub use otlp::Resource;
pub use queue::{Report, Spans};
pub use span::{Attribute, Kind, Span, Value};
