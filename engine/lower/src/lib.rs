//! Lowering from syntax to model. Each function reports every problem of an input at once.
//!
//! `situation` says what a refused text is instead, `recovery` finds its further problems, and `policy_input` lowers the
//! context of a policy.

#![forbid(unsafe_code)]

mod call_plan;
mod capability;
mod concealed;
mod corrected;
mod definitions;
mod document;
mod evaluation_context;
mod exact;
pub mod fields;
pub mod format;
#[cfg(feature = "history")]
mod history;
#[cfg(not(feature = "history"))]
#[path = "unread.rs"]
mod history;
mod index;
mod integrity;
mod live_context;
mod lock;
mod lookalike;
mod manifest;
mod misplaced;
mod payload;
mod plan;
mod policy_input;
mod profile;
mod read;
#[cfg(feature = "repair")]
mod recovery;
#[cfg(not(feature = "repair"))]
#[path = "unrecovered.rs"]
mod recovery;
mod shape;
#[cfg(feature = "repair")]
mod situation;
mod stub;
mod summary;
mod tool;
mod tool_pool;
mod tools_snapshot;
#[cfg(feature = "repair")]
mod uncallable;
#[cfg(not(feature = "repair"))]
#[path = "unchecked.rs"]
mod uncallable;
mod unusable;

pub use call_plan::call_plan;
pub use capability::contradictions;
pub use concealed::{Concealed, concealed, concealed_in};
pub use definitions::{StoredDefinition, stored_definitions};
pub use document::{Validated, conformity, rule};
pub use evaluation_context::{Notation, context, health, task, tenant};
pub use exact::rounded;
#[cfg(feature = "history")]
pub use history::is_label;
pub use history::misses_history;
pub use index::index;
pub use integrity::{bytes_digest, digest, integrity};
pub use live_context::{LocalTime, live_context};
pub use lock::lock;
pub use lookalike::{Prototypes, misses_lookalikes};
pub use manifest::manifest;
pub use payload::payload;
pub use plan::{plan, request};
pub use policy_input::{
    Candidate, PolicyHistory, PolicyInput, PolicyOccasion, PolicyPhase, PolicyQuestion,
    PolicyRequirement, candidate_class, candidates, input, tool_id,
};
pub use profile::profile;
pub use read::{
    CONTEXT_LIMIT, Checked, DOCUMENT_LIMIT, INDEX_LIMIT, LOCK_LIMIT, Lowered, MANIFEST_LIMIT,
    PAYLOAD_LIMIT, PLAN_LIMIT, POOL_LIMIT, PROFILE_LIMIT, SUMMARY_LIMIT, TOOLS_SNAPSHOT_LIMIT,
    decode,
};
pub use recovery::explain as explain_refusal;
pub use stub::{
    CALL, EXPAND, LIST_SERVICES, STUB_ID_LIMIT, STUB_TOOLS_LIMIT, plain_name, stub_definition,
    stub_name,
};
pub use summary::{ITEM_LIMIT, summarised, summary};
pub use tool::{
    ToolEntry, definition, definition_digest, ignoring, is_kept_icon, locked_digest, without_icons,
};
pub use tool_pool::tool_pool;
pub use tools_snapshot::tools_snapshot;
pub use uncallable::{Uncallable, uncallable, uncallable_tools, uncallable_warnings};
pub use unusable::unusable_code;
