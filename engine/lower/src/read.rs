//! Reading of inputs: limits, decoding, and the collection of problems.

use super::recovery;
use agent_diagnostic::{Code, Diagnostic, Problems};
use agent_text::{DocumentKind, Span, Text};

/// Maximum size of a manifest, in bytes.
pub const MANIFEST_LIMIT: usize = 16 << 20;

/// Maximum size of an index, in bytes.
pub const INDEX_LIMIT: usize = 512 << 20;

/// Maximum size of a lock, in bytes.
pub const LOCK_LIMIT: usize = 16 << 20;

/// Maximum size of a task, a tenant configuration, a health snapshot or a context, in bytes.
pub const CONTEXT_LIMIT: usize = 16 << 20;

/// Maximum size of a plan, in bytes.
pub const PLAN_LIMIT: usize = 16 << 20;

/// Maximum size of a tool pool, in bytes.
pub const POOL_LIMIT: usize = 16 << 20;

/// Maximum size of an instruction profile, in bytes.
pub const PROFILE_LIMIT: usize = 16 << 20;

/// Maximum size of a document to check against a schema, in bytes.
pub const DOCUMENT_LIMIT: usize = 16 << 20;

/// Maximum size of a tools snapshot, in bytes.
pub const TOOLS_SNAPSHOT_LIMIT: usize = 64 << 20;

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
        let message = format!("the input has {} bytes; the limit is {limit}", bytes.len());
        let label = format!("{} bytes", bytes.len());
        problems
            .report(Code::InputTooLarge, Span::default(), label, message)
            .help("check that the path names the right file");
        return Err(problems.finish());
    }
    String::from_utf8(bytes)
        .map(|text| Text::new(source, text))
        .map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            if let Some(problem) = recovery::of_bytes(source, &bytes) {
                return vec![problem];
            }
            let byte = bytes[at];
            bytes.truncate(at);
            // The bytes before the first invalid one are UTF-8.
            let text = Text::new(source, String::from_utf8(bytes).unwrap_or_default());
            let mut problems = Problems::new(&text);
            let message = format!("byte {at} of the input is not valid UTF-8");
            let label = format!("byte 0x{byte:02x}");
            problems
                .report(Code::InvalidUtf8, Span::new(at, at), label, message)
                .help("save the file as UTF-8");
            problems.finish()
        })
}

/// Reads a text. `read` returns a function that makes the value from the text.
///
/// # Errors
/// Every problem of the text, ordered by place.
pub(super) fn read<T, F: FnOnce(Text) -> T>(
    (source, bytes, limit): (DocumentKind, Vec<u8>, usize),
    read: impl Fn(&mut Problems<'_>) -> Option<F>,
) -> Lowered<T> {
    let text = decode(source, bytes, limit)?;
    let mut problems = Problems::new(&text);
    let make = read(&mut problems);
    let errors = problems.has_errors();
    let found = problems.finish();
    match make {
        Some(make) if !errors => Ok(Checked {
            value: make(text),
            warnings: found,
        }),
        _ => Err(recovery::explain(&text, found, &mut |repaired| {
            let mut problems = Problems::new(repaired);
            read(&mut problems);
            problems.finish()
        })),
    }
}
