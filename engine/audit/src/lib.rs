//! The evidence of a run \[3, 6\]: verified, explained, stated for others, and decided again.
//!
//! A host reads the folder of a run, and everything else is here. Nothing of a folder is trusted.
//!
//! | module | content |
//! |---|---|
//! | `folder` | the files, as texts and trees, within limits |
//! | `recorded`, `members` | the records and their members |
//! | `verification` | all checks |
//! | `chain` | every file is the one that the run stored |
//! | `conformity` | every record fits its schema |
//! | `catalogue`, `naming` | names are in MOVA's catalogues |
//! | `redaction` | no secret is stored |
//! | `consistency` | the records agree with each other |
//! | `problems` | the problems of a folder |
//! | `explanation` | the run in words |
//! | `statement` | the run as an in-toto statement |
//! | `replay`, `recorded_call`, `replayed_step` | the run decided again |

#![forbid(unsafe_code)]

mod catalogue;
mod chain;
mod conformity;
mod consistency;
mod explanation;
mod folder;
mod members;
mod naming;
mod problems;
mod recorded;
mod recorded_call;
mod redaction;
mod replay;
mod replayed_step;
mod statement;
mod verification;

pub use catalogue::Catalogues;
pub use explanation::{Explanation, explain};
pub use folder::{EvidenceFile, FILE_LIMIT, FILES_LIMIT, FOLDER_LIMIT, Folder};
pub use replay::{Replay, replay};
pub use statement::{Statement, envelope, state};
pub use verification::verify;
