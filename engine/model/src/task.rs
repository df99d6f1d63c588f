//! The evaluation context of capability requirements: the task, the tenant, health and a policy's
//! context.

use super::by_key::ByKey;
use super::capability::{CapabilityRequirement, HealthStatus};
use super::history::HistoryTerms;
use super::name::{TaskId, TenantId};
use agent_text::{Span, Spanned, Text};

/// A task and the capabilities it requires \[4, 4\].
#[derive(Debug, Clone)]
pub struct Task {
    /// The text of the task.
    pub text: Text,
    /// `task_id`
    pub id: TaskId,
    /// `required_capabilities`, in file order; not empty.
    pub required: Vec<CapabilityRequirement>,
}

/// The configuration of one tenant \[4, 5\].
#[derive(Debug, Clone)]
pub struct Tenant {
    /// The text of the configuration.
    pub text: Text,
    /// `id`
    pub id: TenantId,
    /// `tier`
    pub tier: Option<String>,
    /// The tiers of all tenants of the configuration: sorted, without duplicates.
    pub tiers: Vec<String>,
    /// `policy`: the path of a policy, relative to the configuration.
    pub policy: Option<Spanned<String>>,
    /// `token_budget`: maximum tokens of tool definitions, by the estimate.
    pub token_budget: Option<u64>,
    /// `priorities.classes`
    pub classes: ByKey<i64>,
    /// `priorities.servers`
    pub servers: ByKey<i64>,
    /// `history`
    pub history: Option<HistoryTerms>,
    /// The whole entry as JSON, as a policy sees it.
    pub json: String,
}

impl Tenant {
    /// Returns the priority of a server, higher first. Its own priority precedes that of its class,
    /// and the default is 0.
    pub fn priority(&self, id: &str, class: Option<&str>) -> i64 {
        let of_class = || class.and_then(|class| self.classes.get(class));
        self.servers.get(id).or_else(of_class).copied().unwrap_or(0)
    }
}

/// A server health snapshot; unlisted servers count as unhealthy.
#[derive(Debug, Clone)]
pub struct Health {
    /// The text of the snapshot.
    pub text: Text,
    /// The status of each server by id, with its place.
    pub servers: ByKey<(HealthStatus, Span)>,
}

impl Health {
    /// Returns the status of a server, if the snapshot lists it.
    pub fn status(&self, id: &str) -> Option<HealthStatus> {
        self.servers.get(id).map(|(status, _)| *status)
    }
}

/// The authenticated client that a policy decides about \[4\].
#[derive(Debug, Clone)]
pub struct Subject {
    /// `{id, type, properties}`, as JSON.
    pub json: String,
}

/// The context of a policy, such as the time.
#[derive(Debug, Clone)]
pub struct Context {
    /// As JSON.
    pub json: String,
}
