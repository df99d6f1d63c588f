//! Tool pools: the tools that plans may name, with their bindings \[3\].

use super::origin::Origin;
use agent_json_schema::{SchemaSet, TextPattern};
use agent_text::{Likeness, Spanned};
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
    /// The schemas of its bindings and of its `schemas`.
    pub schemas: SchemaSet,
    /// The numbers of `schemas` in that set, by `$id`, sorted.
    pub named: Vec<(String, usize)>,
}

/// The binding of a tool.
#[derive(Debug)]
pub struct Binding {
    /// The position in `bindings`.
    pub number: usize,
    /// `connector_id`
    pub connector: String,
    /// `tool_id`
    pub tool: String,
    /// `driver_kind` and its members.
    pub driver: Driver,
    /// `handler`: the digest of a third party's handler, which replaces the built-in one.
    pub handler: Option<String>,
    /// `destinations`, which denials of other destinations share.
    pub destinations: Arc<[Origin]>,
    /// `limits`
    pub limits: Limits,
    /// The number of the input schema in the pool's set.
    pub input: Option<usize>,
    /// The number of the output schema in the pool's set.
    pub output: Option<usize>,
}

/// The kinds of handlers: nothing else executes a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriverKind {
    /// Returns its input.
    Noop,
    /// Makes one HTTP request.
    Http,
    /// Calls one tool of an MCP server.
    McpProxy,
    /// Runs one program.
    RestrictedShell,
}

impl DriverKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [
        Self::Noop,
        Self::Http,
        Self::McpProxy,
        Self::RestrictedShell,
    ];

    /// Returns the word of a binding.
    pub fn name(self) -> &'static str {
        match self {
            Self::Noop => "noop",
            Self::Http => "http",
            Self::McpProxy => "mcp_proxy",
            Self::RestrictedShell => "restricted_shell",
        }
    }

    /// Returns the effect that a handler of this kind may ask for, as a clause.
    pub fn effect(self) -> &'static str {
        match self {
            Self::Noop => "it may ask for none",
            Self::Http => "it may ask for one HTTP request",
            Self::McpProxy => "it may ask for one call of the binding's tool",
            Self::RestrictedShell => "it may ask for one program",
        }
    }

    /// Returns the name of its schemas of inputs and outputs in `ds.mova_agent_tool_pool_v1`; `None` if it takes all.
    pub fn schemas(self) -> Option<&'static str> {
        matches!(self, Self::Http | Self::RestrictedShell).then(|| self.name())
    }
}

/// The handler that executes a tool.
#[derive(Debug)]
pub enum Driver {
    /// Returns its input.
    Noop,
    /// Makes one request.
    Http {
        /// The allowed methods.
        methods: Vec<String>,
        /// The headers of each request: names with values.
        headers: Vec<(String, BindingHeader)>,
        /// `non_public_addresses`
        addresses: Vec<IpAddr>,
    },
    /// Calls one tool of an MCP server. The lock must contain both.
    McpProxy {
        /// The server's id.
        server: Spanned<String>,
        /// The server's version, if the binding names one.
        version: Option<String>,
        /// The tool's name at the server.
        tool: Spanned<String>,
        /// `non_public_addresses`
        addresses: Vec<IpAddr>,
    },
    /// Runs one program, without a shell.
    RestrictedShell {
        /// The allowed programs.
        programs: Vec<Program>,
    },
}

impl Driver {
    /// Returns `driver_kind`.
    pub fn kind(&self) -> DriverKind {
        match self {
            Self::Noop => DriverKind::Noop,
            Self::Http { .. } => DriverKind::Http,
            Self::McpProxy { .. } => DriverKind::McpProxy,
            Self::RestrictedShell { .. } => DriverKind::RestrictedShell,
        }
    }

    /// Returns the allowed non-public addresses.
    pub fn addresses(&self) -> &[IpAddr] {
        match self {
            Self::Http { addresses, .. } | Self::McpProxy { addresses, .. } => addresses,
            Self::Noop | Self::RestrictedShell { .. } => &[],
        }
    }
}

/// The value of a header that a binding sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BindingHeader {
    /// The value itself.
    Literal(String),
    /// The name of a secret.
    Secret(String),
}

/// A program with its allowed arguments.
#[derive(Debug)]
pub struct Program {
    /// Its absolute path.
    pub path: String,
    /// A pattern for each argument.
    pub arguments: Vec<ArgumentPattern>,
    /// The pattern for each further argument; `None` forbids further ones.
    pub more: Option<ArgumentPattern>,
}

/// A pattern that must match a whole argument.
#[derive(Debug)]
pub struct ArgumentPattern {
    /// The pattern as written.
    pub text: String,
    /// The compiled pattern.
    pub pattern: TextPattern,
}

/// The limits of a call, with the names of the schema.
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
    /// Returns the binding of a connector's tool.
    pub fn binding(&self, connector: &str, tool: &str) -> Option<&Binding> {
        self.bindings.get(self.binding_place(connector, tool)?)
    }

    /// Returns the binding that two names mean: theirs, or the only one that has almost these names.
    pub fn meant(&self, connector: &str, tool: &str, likeness: &mut Likeness) -> Option<&Binding> {
        fn only(names: Vec<&str>) -> Option<&str> {
            <[&str; 1]>::try_from(names).ok().map(|[name]| name)
        }
        let connector = match self.has_connector(connector) {
            true => connector,
            false => {
                let names = self.connectors.iter().map(|it| &**it);
                only(likeness.slips(connector, names, 2))?
            }
        };
        self.binding(connector, tool).or_else(|| {
            let names = self.of_connector(connector).iter().map(|it| &*it.tool);
            self.binding(connector, only(likeness.slips(tool, names, 2))?)
        })
    }

    /// Returns the position of that binding in `bindings`.
    pub fn binding_place(&self, connector: &str, tool: &str) -> Option<usize> {
        let wanted = (connector, tool);
        let place = self
            .bindings
            .binary_search_by(|it| (&*it.connector, &*it.tool).cmp(&wanted));
        place.ok()
    }

    /// Returns whether the pool has a connector.
    pub fn has_connector(&self, connector: &str) -> bool {
        let known = self.connectors.binary_search_by(|it| (**it).cmp(connector));
        known.is_ok()
    }

    /// Returns the bindings of a connector.
    pub fn of_connector(&self, connector: &str) -> &[Binding] {
        let first = self
            .bindings
            .partition_point(|it| &*it.connector < connector);
        let rest = &self.bindings[first..];
        &rest[..rest.partition_point(|it| it.connector == connector)]
    }

    /// Returns the number of the schema with an `$id`.
    pub fn schema(&self, id: &str) -> Option<usize> {
        let place = self.named.binary_search_by(|(known, _)| (**known).cmp(id));
        Some(self.named[place.ok()?].1)
    }
}

impl Limits {
    /// Returns the limits by name, each with its cap, in the order of the schema.
    pub fn each(&self) -> [(&'static str, Spanned<u64>, Cap); 4] {
        [
            ("timeout_ms", self.timeout_ms, Cap::TimeoutMs),
            ("max_input_bytes", self.max_input_bytes, Cap::InputBytes),
            ("max_output_bytes", self.max_output_bytes, Cap::OutputBytes),
            ("max_log_bytes", self.max_log_bytes, Cap::LogBytes),
        ]
    }
}

/// A cap of an instruction profile: an upper limit for every plan.
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

    /// Returns its name in `caps`.
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
