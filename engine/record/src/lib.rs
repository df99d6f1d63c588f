//! What every record of the engine needs, of a run or of a session: readings of the host's clock, redaction, and
//! envelopes for what is signed.

#![forbid(unsafe_code)]

mod clock;
pub mod dsse;
mod redact;

pub use clock::Clock;
pub use redact::{MARKER, Redactor, Secret, forms_of, is_presence, mark_in, unredacted};
