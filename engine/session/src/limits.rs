//! The limits of a session. Each is documented in `docs/reference/limits.md`.

/// Number of bytes of a session's seed.
pub const SEED_BYTES: usize = 32;

/// Maximum number of calls that wait for a server or for an approval.
pub const OPEN_CALLS_MAX: usize = 1_024;

/// Maximum number of approvals that are asked for, or given and not yet used.
pub const APPROVALS_MAX: usize = 64;

/// Maximum number of values of `requestState` that clients have not used yet.
pub const CONTINUATIONS_MAX: usize = 128;

/// Maximum number of those of one client.
pub const CONTINUATIONS_OF_CLIENT_MAX: usize = 32;

/// Time after which a `requestState` expires, in milliseconds.
pub const CONTINUATION_LIFETIME_MS: u64 = 600_000;

/// Maximum number of times that the gateway repeats a call for a client without `requestState`.
pub const REPETITIONS_MAX: u32 = 5;

/// Maximum size of a server's `requestState`, in bytes.
pub const REQUEST_STATE_MAX_BYTES: usize = 64 << 10;

/// Maximum number of pairs of a client and a server whose calls are counted.
pub const QUOTAS_MAX: usize = 1_024;

/// Maximum number of pairs of an agent and a client whose calls a history has.
pub const HISTORY_CLIENTS_MAX: usize = 256;

/// Maximum number of single calls that a history has of one agent and client. Older ones are folded.
pub const HISTORY_CALLS_OF_CLIENT_MAX: usize = 256;

/// Maximum size of the histories of a session, in bytes. Older calls are folded.
pub const HISTORY_BYTES_MAX: usize = 768 << 10;

/// Maximum number of sessions of clients with expanded tools.
pub const EXPANDED_SESSIONS_MAX: usize = 256;

/// Maximum number of tools that all sessions of clients have expanded.
pub const EXPANDED_TOOLS_MAX: usize = 4_096;

/// Time for which a client may keep a list, in milliseconds: a quarantine changes it at any time.
pub(crate) const LIST_TTL_MS: u32 = 0;

/// Maximum number of resources that clients see, and of prompts. Servers share it in equal parts.
pub const ENTRIES_MAX: usize = 2_048;

/// Maximum number of templates of URIs that clients see. Servers share it in equal parts.
pub const URI_TEMPLATES_MAX: usize = 256;

/// Maximum size of the entries of one list that clients see, in bytes. Servers share it in equal parts.
pub const ENTRIES_MAX_BYTES: usize = 2 << 20;

/// Maximum size of the name of a resource or of a prompt, in bytes.
pub const ENTRY_NAME_MAX_BYTES: usize = 512;

/// Maximum size of a URI of a resource and of a template, in bytes.
pub const URI_MAX_BYTES: usize = 2_048;

/// Maximum number of parts of a template of URIs: expressions, and texts between them.
pub const URI_TEMPLATE_PARTS_MAX: usize = 32;

/// Maximum number of withheld entries of a list that a record and the status name. The others are counted.
pub const WITHHELD_ENTRIES_MAX: usize = 100;

/// Maximum number of servers of a lock.
pub const SERVERS_MAX: usize = 1_024;

/// Maximum number of locked tools that are quarantined one by one. Of a server whose list passes it, every
/// tool is.
pub const QUARANTINED_MAX: usize = 1_024;

/// Maximum number of names of tools that servers list and the lock does not have. A call of a further one
/// is refused as a call of an unknown tool.
pub const UNLOCKED_NAMES_MAX: usize = 512;

/// Maximum size of such a name as a JSON string, in bytes.
pub const UNLOCKED_NAME_MAX_BYTES: usize = 128;

/// Maximum size of the definition of a tool that no lock has and an observing session offers, in bytes.
pub const OFFERED_MAX_BYTES: usize = 64 << 10;

/// Maximum number of differences that the status lists of a quarantined tool.
pub const CHANGES_MAX: usize = 20;

/// Maximum size of the id, the kind and the session of a client, in bytes each.
pub const CLIENT_NAME_MAX_BYTES: usize = 256;

/// Maximum size of the properties of a client, in bytes.
pub const CLIENT_PROPERTIES_MAX_BYTES: usize = 64 << 10;

/// Maximum size of the parameters of a call, in bytes.
pub const PARAMS_MAX_BYTES: usize = 4 << 20;

/// Maximum size of a live list of tools, in bytes.
pub const LIVE_LIST_MAX_BYTES: usize = 16 << 20;

/// Maximum size of a result, in bytes, unless the host sets another.
pub const PAYLOAD_MAX_BYTES: u64 = 4 << 20;

/// Maximum size of an exported state, in bytes. The limits above keep it smaller.
pub const STATE_MAX_BYTES: usize = 1_920 << 10;

/// Maximum size of what a store keeps of a client, in bytes. NATS takes no larger value unless its operator allows it.
pub const KEPT_MAX_BYTES: usize = 1_000 << 10;

/// Maximum number of approvals that a store keeps of a client.
pub const KEPT_APPROVALS_MAX: usize = 8;

/// Time of a server for a call, in milliseconds, unless the host sets another.
pub const CALL_TIMEOUT_MS: u64 = 120_000;

/// Time that a call waits for its approval, in milliseconds.
pub const APPROVAL_WAIT_MS: u64 = 30_000;

/// Time after which an approval that is asked for, or given and not used, expires, in milliseconds.
pub const APPROVAL_LIFETIME_MS: u64 = 600_000;

/// Length of the window in which calls are counted, in milliseconds.
pub const QUOTA_WINDOW_MS: u64 = 60_000;

/// Maximum number of names that a refusal suggests.
pub const INSTEAD_MAX: usize = 3;

/// Maximum number of content blocks of a result that are replaced by a text. A result with more is withheld.
pub const UNSOUND_BLOCKS_MAX: usize = 256;

/// Maximum size of a quoted message of a server, in characters.
pub const QUOTE_MAX_CHARS: usize = 300;
