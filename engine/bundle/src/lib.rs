//! The documents that decide for a fleet, in one signed file: a *bundle*.
//!
//! A [`Draft`] holds documents that a decision point obeys, the index with the locked entries alone. Its statement, which is
//! signed, has their digests and the [`Label`]. The same documents and label give the same bytes. A [`Bundle`] is what
//! somebody sent: it decides only once it is accepted under [`TrustedKeys`].
//!
//! | module | content |
//! |---|---|
//! | `label` | the name, the sequence and the end of a bundle |
//! | `contents` | the documents as files of a bundle, and the locked entries of an index |
//! | `statement` | what is signed |
//! | `draft`, `sealed` | a bundle that is made, and one that was read |
//! | `keys` | whose signatures count |
//! | `acceptance` | whether a bundle decides |

#![forbid(unsafe_code)]

mod acceptance;
mod contents;
mod draft;
mod keys;
mod label;
mod sealed;
mod statement;

pub use acceptance::{Accepted, Highest, SignatureCheck};
pub use draft::Draft;
pub use keys::TrustedKeys;
pub use label::Label;
pub use sealed::{BUNDLE_MAX, Bundle};
