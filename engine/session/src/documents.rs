//! The documents of a session.

/// The documents of a session, as bytes.
#[derive(Debug, Clone, Default)]
pub struct Documents {
    /// `agents.lock`
    pub lock: Vec<u8>,
    /// `mcp.index.json`
    pub index: Vec<u8>,
    /// `agents.definitions.json`, which belongs beside the lock.
    pub definitions: Option<Vec<u8>>,
    /// The policy that the lock was made under.
    pub policy: Option<Vec<u8>>,
    /// The policy's context, but for the time.
    pub policy_context: Option<Vec<u8>>,
    /// The configuration of tenants.
    pub tenant: Option<Vec<u8>>,
    /// The tenant, if the configuration has several.
    pub tenant_id: Option<String>,
    /// The task.
    pub task: Option<Vec<u8>>,
    /// A snapshot of health in place of the observed one.
    pub health: Option<Vec<u8>>,
}
