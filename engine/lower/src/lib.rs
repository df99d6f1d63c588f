//! Syntax to model: everything that makes an input invalid is found here, all of it at once.

#![forbid(unsafe_code)]

mod call_plan;
mod capability;
mod circumstances;
mod document;
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
mod tool_catalogue;
mod tool_pool;

pub use call_plan::call_plan;
pub use capability::contradictions;
pub use circumstances::{Notation, context, health, task, tenant};
pub use document::{Examined, conformity};
pub use document::{rule, strict};
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
pub use tool::{definition, definition_digest, digest};
pub use tool::{definition_of, hint, input_schema, output_schema};
pub use tool_catalogue::tool_catalogue;
pub use tool_pool::tool_pool;

use agent_diagnostic::{Code, Diagnostic, Problems};
use agent_text::{Source, Span, Text};

/// The largest manifest that is read, in bytes.
pub const MANIFEST_LIMIT: usize = 16 << 20;

/// The largest index that is read, in bytes.
pub const INDEX_LIMIT: usize = 512 << 20;

/// The largest lock that is read, in bytes.
pub const LOCK_LIMIT: usize = 16 << 20;

/// The largest task, tenant configuration, snapshot of health or context that is read, in bytes.
pub const CIRCUMSTANCE_LIMIT: usize = 16 << 20;

/// The largest plan that is read, in bytes.
pub const PLAN_LIMIT: usize = 16 << 20;

/// The largest tool pool that is read, in bytes.
pub const POOL_LIMIT: usize = 16 << 20;

/// The largest instruction profile that is read, in bytes.
pub const PROFILE_LIMIT: usize = 16 << 20;

/// The largest document that is checked against a schema, in bytes.
pub const DOCUMENT_LIMIT: usize = 16 << 20;

/// The largest catalogue of tools that is read, in bytes.
pub const CATALOGUE_LIMIT: usize = 64 << 20;

/// The largest summary that is read, in bytes.
pub const SUMMARY_LIMIT: usize = 16 << 20;

/// The largest payload that is read, in bytes.
pub const PAYLOAD_LIMIT: usize = 16 << 20;

/// A value that was accepted.
#[derive(Debug)]
pub struct Checked<T> {
    /// The value.
    pub value: T,
    /// What its author should know all the same, ordered by place.
    pub warnings: Vec<Diagnostic>,
}

/// A value that was accepted, or every problem for which it was not, ordered by place.
pub type Lowered<T> = Result<Checked<T>, Vec<Diagnostic>>;

/// Take the bytes of an input as text.
pub fn decode(source: Source, bytes: Vec<u8>, limit: usize) -> Result<Text, Vec<Diagnostic>> {
    if bytes.len() > limit {
        let text = Text::new(source, String::new());
        let mut problems = Problems::new(&text);
        problems
            .report(
                Code::InputTooLarge,
                Span::default(),
                format!("{} bytes", bytes.len()),
                format!(
                    "the input has {} bytes, and at most {limit} are read",
                    bytes.len()
                ),
            )
            .help("check that it is the file you meant");
        return Err(problems.finish());
    }
    String::from_utf8(bytes)
        .map(|text| Text::new(source, text))
        .map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            let byte = bytes[at];
            bytes.truncate(at);
            // What is before the first bad byte is UTF-8.
            let text = Text::new(source, String::from_utf8(bytes).unwrap_or_default());
            let mut problems = Problems::new(&text);
            problems
                .report(
                    Code::InvalidUtf8,
                    Span::new(at, at),
                    format!("byte 0x{byte:02x}"),
                    format!("the input is not UTF-8 from byte {at} on"),
                )
                .help("save the file as UTF-8");
            problems.finish()
        })
}
