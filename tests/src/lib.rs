//! The shared code of the integration tests.
//!
//! | module | content |
//! |---|---|
//! | [`attacks`] | the tables of attacks |
//! | [`compact`] | a reader of compact explanations |
//! | [`corpus`] | cases in files beside expected answers |
//! | [`hostile`] | inputs that no file in a repository can contain, with their expected diagnostics |
//! | [`inputs`] | the texts of one question |
//! | [`policy`] | policies as plain functions |
//! | [`processor_time`] | the time that a test takes, whatever else the machine does |
//! | [`world`] | small generated manifests and indexes, and their texts in any spelling |
//! | [`oracle`] | the rules of the resolver, written a second time for readers |
//! | [`files`] | the types of the files, which generate the JSON Schemas |
//! | [`native`] | all answers of the engine |
//! | [`plan`] | the cases of sequential plans |
//! | [`recorded`] | runs that another host makes again |
//! | [`text`] | trees, rendered in any equivalent spelling |
//! | [`digest`] | the digest of an entry, computed without the engine |
//! | [`difference`] | differences for printing |

pub mod attacks;
pub mod compact;
pub mod corpus;
pub mod difference;
pub mod digest;
pub mod files;
pub mod formats;
pub mod hostile;
pub mod inputs;
pub mod native;
pub mod oracle;
pub mod plan;
pub mod policy;
pub mod processor_time;
pub mod recorded;
pub mod run;
pub mod text;
pub mod world;

use std::path::{Path, PathBuf};

/// Returns the folder of the workspace.
#[must_use]
pub fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests
        .parent()
        .expect("this package is in a folder of the workspace")
        .to_owned()
}
