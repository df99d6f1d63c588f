//! The domain model. Every value of these types is valid; `agent_lower` makes them from texts.

#![forbid(unsafe_code)]

mod by_key;
mod call_plan;
mod capability;
mod endpoint;
mod history;
mod index;
mod level;
mod lock;
mod manifest;
mod name;
mod non_empty;
mod origin;
mod payload;
mod plan;
mod profile;
mod summary;
mod task;
mod tool_pool;

pub use by_key::ByKey;
pub use call_plan::{CallPlan, ListedServer, ListedTool, Planned, PlannedCall, ToolsSnapshot};
pub use capability::{
    Capability, CapabilityRequirement, CapabilityVerb, HUMAN_IN_THE_LOOP, HealthStatus, Load,
    Patterns, Serve, Tools,
};
pub use endpoint::{EndpointError, check_endpoint, user_info, without_user_info};
pub use history::{
    HISTORY_WINDOW_MAX_MS, HISTORY_WINDOW_MS, HistoryRule, HistoryRuleTerms, HistoryTerms,
    RuleMode, ToolSelector, ToolTraits, window_ms,
};
pub use index::{
    Advertised, ByName, ConstraintKey, Duplicate, Index, IndexBuilder, Members, NewServer, NewTool,
    Rank, ServerView, Slice, ToolNumber, ToolView,
};
pub use level::{Keyword, Residency, ResidencySet, Sensitivity};
pub use lock::{Grant, Lock, Selection, lock_order, selection_hash, with_fallbacks};
pub use manifest::{Agent, Constraints, Manifest, Requirement};
pub use name::{
    AgentName, AgentVersion, Category, Class, Endpoint, ForbidLabel, Name, NameError, NameRule,
    Publisher, Resource, Scope, ServerId, ServerVersion, Tag, TaskId, TenantId, ToolName,
    is_placeholder,
};
pub use non_empty::NonEmpty;
pub use origin::{Origin, UrlError, is_public};
pub use payload::{
    Envelope, EnvelopeFault, LeafKind, LeafNumber, LeafView, Payload, PayloadBuilder, Step,
};
pub use plan::{DocumentRef, Input, Plan, PlanStep, Request};
pub use profile::{DenyPattern, Effect, InputPolicy, Profile, Rule, Selector};
pub use summary::{Claim, Summary};
pub use task::{Context, Health, Subject, Task, Tenant};
pub use tool_pool::{
    ArgumentPattern, Binding, BindingHeader, Cap, Driver, DriverKind, Limits, Program, ToolPool,
};
