//! Lowering from syntax to model. Each function reports every problem of an input at once.

#![forbid(unsafe_code)]

mod call_plan;
mod capability;
mod document;
mod evaluation_context;
pub mod fields;
mod index;
mod integrity;
mod lock;
mod lookalike;
mod manifest;
mod payload;
mod plan;
mod policy_input;
mod profile;
mod stub;
mod summary;
mod tool;
mod tool_pool;
mod tools_snapshot;

pub use call_plan::call_plan;
pub use capability::contradictions;
pub use document::{Validated, conformity, rule};
pub use evaluation_context::{Notation, context, health, task, tenant};
pub use index::index;
pub use integrity::integrity;
pub use lock::lock;
pub use lookalike::Prototypes;
pub use manifest::manifest;
pub use payload::payload;
pub use plan::{plan, request};
pub use policy_input::{Candidate, candidates, input, tool_id};
pub use profile::profile;
pub use stub::{EXPAND, LIST_SERVICES, STUB_ID_LIMIT, stub_definition, stub_name};
pub use summary::{ITEM_LIMIT, summarised, summary};
pub use tool::{ToolEntry, definition, definition_digest, digest};
pub use tool_pool::tool_pool;
pub use tools_snapshot::tools_snapshot;

use agent_diagnostic::{Code, Diagnostic, Problems};
use agent_text::{DocumentKind, Span, Text};

/// Maximum size of a manifest, in bytes.
pub const MANIFEST_LIMIT: usize = 16 << 20;

/// Maximum size of an index, in bytes.
pub const INDEX_LIMIT: usize = 512 << 20;

/// Maximum size of a lock, in bytes.
pub const LOCK_LIMIT: usize = 16 << 20;

/// Maximum size of a task, a tenant configuration, a health snapshot or a context, in bytes.
pub const CIRCUMSTANCE_LIMIT: usize = 16 << 20;

/// Maximum size of a plan, in bytes.
pub const PLAN_LIMIT: usize = 16 << 20;

/// Maximum size of a tool pool, in bytes.
pub const POOL_LIMIT: usize = 16 << 20;

/// Maximum size of an instruction profile, in bytes.
pub const PROFILE_LIMIT: usize = 16 << 20;

/// Maximum size of a document to check against a schema, in bytes.
pub const DOCUMENT_LIMIT: usize = 16 << 20;

/// Maximum size of a tool catalogue, in bytes.
pub const CATALOGUE_LIMIT: usize = 64 << 20;

/// Maximum size of a summary, in bytes.
pub const SUMMARY_LIMIT: usize = 16 << 20;

/// Maximum size of a payload, in bytes.
pub const PAYLOAD_LIMIT: usize = 16 << 20;

/// A valid value with its warnings.
#[derive(Debug)]
pub struct Checked<T> {
    /// The value.
    pub value: T,
    /// Warnings for the author, ordered by place.
    pub warnings: Vec<Diagnostic>,
}

/// A valid value, or every problem of its text, ordered by place.
pub type Lowered<T> = Result<Checked<T>, Vec<Diagnostic>>;

/// Decodes the bytes of an input as UTF-8.
///
/// # Errors
/// The input is larger than `limit` bytes, or is not UTF-8.
pub fn decode(source: DocumentKind, bytes: Vec<u8>, limit: usize) -> Result<Text, Vec<Diagnostic>> {
    if bytes.len() > limit {
        let text = Text::new(source, String::new());
        let mut problems = Problems::new(&text);
        problems
            .report(
                Code::InputTooLarge,
                Span::default(),
                format!("{} bytes", bytes.len()),
                format!("the input has {} bytes; the limit is {limit}", bytes.len()),
            )
            .help("check that the path names the right file");
        return Err(problems.finish());
    }
    String::from_utf8(bytes)
        .map(|text| Text::new(source, text))
        .map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            let byte = bytes[at];
            bytes.truncate(at);
            // The bytes before the first invalid one are UTF-8.
            let text = Text::new(source, String::from_utf8(bytes).unwrap_or_default());
            let mut problems = Problems::new(&text);
            problems
                .report(
                    Code::InvalidUtf8,
                    Span::new(at, at),
                    format!("byte 0x{byte:02x}"),
                    format!("byte {at} of the input is not valid UTF-8"),
                )
                .help("save the file as UTF-8");
            problems.finish()
        })
}
