//! The domain. What these types can hold is legal; turning texts into them is [`crate::lower`].

mod index;
mod level;
mod lock;
mod manifest;
mod name;
mod non_empty;

pub use index::{
    ByName, Duplicate, Gate, Index, IndexBuilder, Members, NewServer, Rank, ServerView, Slice,
};
pub use level::{Residency, ResidencySet, Sensitivity};
pub use lock::{Lock, Selection, selection_hash};
pub use manifest::{Agent, Constraints, Manifest, Requirement};
pub use name::{
    AgentName, AgentVersion, Category, Endpoint, ForbidLabel, Name, NameError, NameRule, Publisher,
    Scope, ServerId, ServerVersion,
};
pub use non_empty::NonEmpty;
