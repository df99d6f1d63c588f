//! What the tests of the whole have in common.
//!
//! | module | holds |
//! |---|---|
//! | [`compact`] | a reader of compact explanations |
//! | [`corpus`] | cases in files beside what is expected of them |
//! | [`hostile`] | inputs that no file in a repository can hold, with what is expected of them |
//! | [`inputs`] | the texts that are given together |
//! | [`policy`] | policies that are plain functions |
//! | [`world`] | small generated manifests and indexes, and their texts in any spelling |
//! | [`oracle`] | the rules of the resolver, written a second time to be read |
//! | [`files`] | the types of the files, of which the JSON Schemas are made |
//! | [`native`] | all that the engine answers |
//! | [`plan`] | the cases of sequential plans |
//! | [`text`] | trees, written in any spelling that must not matter |
//! | [`digest`] | the digest of an entry, made without the engine |
//! | [`difference`] | what differs, to be printed |

pub mod compact;
pub mod corpus;
pub mod difference;
pub mod digest;
pub mod files;
pub mod hostile;
pub mod inputs;
pub mod native;
pub mod oracle;
pub mod plan;
pub mod policy;
pub mod text;
pub mod world;

use std::path::{Path, PathBuf};

/// The folder of the workspace.
#[must_use]
pub fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests
        .parent()
        .expect("this package is in a folder of the workspace")
        .to_owned()
}
