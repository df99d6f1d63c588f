//! The tools that plans may name, and what they are bound to \[3\].

use super::Origin;
use agent_json_schema::{SchemaSet, TextPattern};
use agent_text::Spanned;
use core::net::IpAddr;
use std::sync::Arc;

/// `ds.mova_agent_tool_pool_v1`
#[derive(Debug)]
pub struct ToolPool {
    /// `pool_id`
    pub id: String,
    /// `pool_version`
    pub version: String,
    /// The digest of its RFC 8785 form.
    pub digest: String,
    /// The ids of its connectors, sorted.
    pub connectors: Vec<String>,
    /// Ordered by connector and tool.
    pub bindings: Vec<Binding>,
    /// The schemas that its bindings have, and those of its `schemas`.
    pub schemas: SchemaSet,
    /// The numbers in that set of the `schemas`, by `$id`, sorted.
    pub named: Vec<(String, usize)>,
}

/// What one tool is bound to.
#[derive(Debug)]
pub struct Binding {
    /// Which of `bindings` it is.
    pub number: usize,
    /// `connector_id`
    pub connector: String,
    /// `tool_id`
    pub tool: String,
    /// `driver_kind` and what belongs to it.
    pub driver: Driver,
    /// `destinations`, which every denial of another one shares.
    pub destinations: Arc<[Origin]>,
    /// `limits`
    pub limits: Limits,
    /// The number in the pool's set of the schema that inputs have to fit.
    pub input: Option<usize>,
    /// The number in the pool's set of the schema that outputs have to fit.
    pub output: Option<usize>,
}

/// Which handler executes a tool.
#[derive(Debug)]
pub enum Driver {
    /// Its output is its input.
    Noop,
    /// Makes one request.
    Http {
        /// The methods that it may have.
        methods: Vec<String>,
        /// `non_public_addresses`
        addresses: Vec<IpAddr>,
    },
    /// Calls one tool of an MCP server, both of which have to be in the lock.
    McpProxy {
        /// The server's id.
        server: String,
        /// The server's version, if the binding says which.
        version: Option<String>,
        /// The tool's name at the server.
        tool: String,
        /// `non_public_addresses`
        addresses: Vec<IpAddr>,
    },
    /// Runs one program, without a shell.
    RestrictedShell {
        /// Which it may be.
        programs: Vec<Program>,
    },
}

impl Driver {
    /// `driver_kind`
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Noop => "noop",
            Self::Http { .. } => "http",
            Self::McpProxy { .. } => "mcp_proxy",
            Self::RestrictedShell { .. } => "restricted_shell",
        }
    }

    /// The non-public addresses that it may reach by name.
    pub fn addresses(&self) -> &[IpAddr] {
        match self {
            Self::Http { addresses, .. } | Self::McpProxy { addresses, .. } => addresses,
            Self::Noop | Self::RestrictedShell { .. } => &[],
        }
    }
}

/// A program, and the arguments that it may have.
#[derive(Debug)]
pub struct Program {
    /// Its absolute path.
    pub path: String,
    /// A pattern for each argument.
    pub arguments: Vec<ArgumentPattern>,
    /// The pattern for each of the arguments behind those; none: there are none.
    pub more: Option<ArgumentPattern>,
}

/// A pattern that a whole argument has to match.
#[derive(Debug)]
pub struct ArgumentPattern {
    /// As it stands in the pool.
    pub text: String,
    /// The same, compiled.
    pub pattern: TextPattern,
}

/// What a call may use. The names are those of the schema.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Milliseconds.
    pub timeout_ms: Spanned<u64>,
    /// Bytes.
    pub max_input_bytes: Spanned<u64>,
    /// Bytes.
    pub max_output_bytes: Spanned<u64>,
    /// Bytes.
    pub max_log_bytes: Spanned<u64>,
}

impl ToolPool {
    /// What a tool of a connector is bound to.
    pub fn binding(&self, connector: &str, tool: &str) -> Option<&Binding> {
        self.bindings.get(self.binding_place(connector, tool)?)
    }

    /// Where in `bindings` that stands.
    pub fn binding_place(&self, connector: &str, tool: &str) -> Option<usize> {
        let wanted = (connector, tool);
        let place = self
            .bindings
            .binary_search_by(|it| (&*it.connector, &*it.tool).cmp(&wanted));
        place.ok()
    }

    /// Whether it has a connector.
    pub fn has_connector(&self, connector: &str) -> bool {
        let known = self.connectors.binary_search_by(|it| (**it).cmp(connector));
        known.is_ok()
    }

    /// The bindings of a connector.
    pub fn of_connector(&self, connector: &str) -> &[Binding] {
        let first = self
            .bindings
            .partition_point(|it| &*it.connector < connector);
        let rest = &self.bindings[first..];
        &rest[..rest.partition_point(|it| it.connector == connector)]
    }

    /// The number of the schema with an `$id`.
    pub fn schema(&self, id: &str) -> Option<usize> {
        let place = self.named.binary_search_by(|(known, _)| (**known).cmp(id));
        Some(self.named[place.ok()?].1)
    }
}

impl Limits {
    /// The limits by name, with the name of the cap that bounds each, in the order of the schema.
    pub fn each(&self) -> [(&'static str, Spanned<u64>, Cap); 4] {
        [
            ("timeout_ms", self.timeout_ms, Cap::TimeoutMs),
            ("max_input_bytes", self.max_input_bytes, Cap::InputBytes),
            ("max_output_bytes", self.max_output_bytes, Cap::OutputBytes),
            ("max_log_bytes", self.max_log_bytes, Cap::LogBytes),
        ]
    }
}

/// A cap of an instruction profile: what no plan may pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cap {
    /// Steps of a plan.
    Steps,
    /// Milliseconds of a call.
    TimeoutMs,
    /// Bytes of an input.
    InputBytes,
    /// Bytes of an output.
    OutputBytes,
    /// Bytes of a log.
    LogBytes,
}

impl Cap {
    /// Every cap.
    pub const ALL: [Self; 5] = [
        Self::Steps,
        Self::TimeoutMs,
        Self::InputBytes,
        Self::OutputBytes,
        Self::LogBytes,
    ];

    /// Its name in `caps`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Steps => "max_steps",
            Self::TimeoutMs => "max_timeout_ms",
            Self::InputBytes => "max_input_bytes",
            Self::OutputBytes => "max_output_bytes",
            Self::LogBytes => "max_log_bytes",
        }
    }
}
