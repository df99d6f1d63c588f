//! What the requirements of capabilities are decided under: the task, the tenant, health and what
//! a policy is told besides.

use super::{ByKey, CapabilityRequirement, HealthStatus, TaskId, TenantId};
use agent_text::{Span, Spanned, Text};

/// A task and the capabilities it requires \[4, 4\].
#[derive(Debug, Clone)]
pub struct Task {
    /// The text it was read from.
    pub text: Text,
    /// `task_id`
    pub id: TaskId,
    /// `required_capabilities`, in file order; not empty.
    pub required: Vec<CapabilityRequirement>,
}

/// The configuration of one tenant \[4, 5\].
#[derive(Debug, Clone)]
pub struct Tenant {
    /// The text it was read from.
    pub text: Text,
    /// `id`
    pub id: TenantId,
    /// `tier`
    pub tier: Option<String>,
    /// The tiers of all tenants of the configuration: sorted, without duplicates.
    pub tiers: Vec<String>,
    /// `policy`: the path of a policy, relative to the configuration.
    pub policy: Option<Spanned<String>>,
    /// `token_budget`: how many tokens the definitions of tools may take, by the estimate.
    pub token_budget: Option<u64>,
    /// `priorities.classes`
    pub classes: ByKey<i64>,
    /// `priorities.servers`
    pub servers: ByKey<i64>,
    /// The whole entry as JSON, which is what a policy gets to see.
    pub json: String,
}

impl Tenant {
    /// How much a server is preferred, higher first: its own priority beats that of its class,
    /// and without either it is 0.
    pub fn priority(&self, id: &str, class: Option<&str>) -> i64 {
        let of_class = || class.and_then(|class| self.classes.get(class));
        self.servers.get(id).or_else(of_class).copied().unwrap_or(0)
    }
}

/// How the servers do. One that is not in it is not known to work.
#[derive(Debug, Clone)]
pub struct Health {
    /// The text it was read from.
    pub text: Text,
    /// The status of each server by id, and where it stands.
    pub servers: ByKey<(HealthStatus, Span)>,
}

impl Health {
    /// The status of a server. None if the snapshot doesn't know it.
    pub fn status(&self, id: &str) -> Option<HealthStatus> {
        self.servers.get(id).map(|(status, _)| *status)
    }
}

/// What a policy is told of the circumstances, such as the time.
#[derive(Debug, Clone)]
pub struct Context {
    /// As JSON.
    pub json: String,
}
