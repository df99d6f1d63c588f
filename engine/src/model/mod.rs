//! The domain. What these types can hold is legal; turning texts into them is [`crate::lower`].

mod by_key;
#[cfg(feature = "plan")]
mod call_plan;
mod capability;
mod index;
mod level;
mod lock;
mod manifest;
mod name;
mod non_empty;
mod payload;
mod summary;
mod task;

pub use by_key::ByKey;
#[cfg(feature = "plan")]
pub use call_plan::{CallPlan, ListedServer, ListedTool, Planned, PlannedCall, ToolCatalogue};
pub use capability::{
    Capability, CapabilityRequirement, CapabilityVerb, HUMAN_IN_THE_LOOP, HealthStatus, Load,
    Resource, Tag, Vocabulary,
};
pub use index::{
    Advertised, ByName, Duplicate, Gate, Index, IndexBuilder, Members, NewServer, NewTool, Rank,
    ServerView, Slice, ToolNumber, ToolView,
};
pub use level::{Residency, ResidencySet, Sensitivity};
pub use lock::{Grant, Lock, Selection, selection_hash};
pub use manifest::{Agent, Constraints, Manifest, Requirement};
pub use name::{
    AgentName, AgentVersion, Category, Class, Endpoint, ForbidLabel, Name, NameError, NameRule,
    Publisher, Scope, ServerId, ServerVersion, TaskId, TenantId, ToolName,
};
pub use non_empty::NonEmpty;
pub use payload::{LeafNumber, LeafView, Payload, PayloadBuilder, Step};
pub use summary::{Claim, Summary};
pub use task::{Context, Health, Task, Tenant};
