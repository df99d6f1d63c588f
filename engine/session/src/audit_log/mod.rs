//! The audit log of sessions: verified, and its calls decided again \[4, 6\].
//!
//! A log is fed in pieces of any size. Of it, one line is kept at a time, so that a log of gigabytes
//! needs no more memory than a small one. Nothing in a log is trusted.
//!
//! | module | content |
//! |---|---|
//! | `lines` | the lines of files, with their digests |
//! | `shape`, `kinds` | the members of records, by kind |
//! | `chain` | the order of records |
//! | `verification` | a log is the one that sessions wrote |
//! | `recorded_call` | a recorded decision on a call |
//! | `second_decision`, `second_request` | the same call or request, decided again |
//! | `replay`, `replay_answer` | all calls of a log, decided again |
//! | `called` | the tools that the calls of a log were passed on to |
//! | `comparison` | all calls of a log, decided under two sets of documents |

mod called;
mod chain;
mod comparison;
mod kinds;
mod lines;
mod recorded_call;
mod replay;
mod replay_answer;
mod second_decision;
mod second_request;
mod shape;
mod verification;

pub use called::{CALLED_TOOLS_MAX, CalledTools};
pub(crate) use chain::Start;
pub use comparison::{Compared, Comparison};
pub use kinds::{Kind, record_kinds, record_members};
pub use lines::LINE_MAX_BYTES;
pub use replay::Replay;
pub use replay_answer::{LISTED_MAX, Replayed};
pub use shape::{Member, Shape};
pub(crate) use verification::Recorded;
pub use verification::{Verification, Verified};
