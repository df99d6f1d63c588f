//! The documents of a session.

/// The documents of a session, as bytes.
#[derive(Debug, Clone, Default)]
pub struct Documents {
    /// `agents.lock`. Only an observing session may do without it; it then reads no index, no definitions
    /// and no policy.
    pub lock: Option<Vec<u8>>,
    /// `mcp.index.json`, which belongs to a lock.
    pub index: Option<Vec<u8>>,
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
    /// A snapshot of health instead of the observed one.
    pub health: Option<Vec<u8>>,
}
