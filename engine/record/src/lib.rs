//! What every record of the engine needs, of a run or of a session: readings of the host's clock, and
//! redaction.

#![forbid(unsafe_code)]

mod clock;
mod redact;

pub use clock::Clock;
pub use redact::{MARKER, Redactor, Secret, forms_of, is_presence, mark_in, unredacted};
