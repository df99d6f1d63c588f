//! The types of `agents.lock` and `agents.resolution.json`, written from the specification and
//! not from the engine.
//!
//! The JSON Schemas in `schemas/` are made of them. What the engine writes has to be read by them
//! without a key left over and, written again by `serde_json`, to be the same bytes: the fields
//! stand in the order of their names, which is the order of keys in the files.

use schemars::{JsonSchema, Schema, generate::SchemaSettings, json_schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;

/// A file that has a schema.
pub trait File: Serialize + DeserializeOwned + JsonSchema {
    /// The name of the file.
    const NAME: &'static str;

    /// Read a file.
    ///
    /// # Errors
    /// What of it these types don't know.
    fn read(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// Write a file.
    #[must_use]
    fn write(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("it has no maps");
        text.push('\n');
        text
    }

    /// The JSON Schema, as the file in `schemas/` holds it.
    #[must_use]
    fn schema() -> String {
        let generator = SchemaSettings::draft2020_12().into_generator();
        let schema = generator.into_root_schema_for::<Self>();
        let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
        text.push('\n');
        text
    }
}

impl File for Lock {
    const NAME: &'static str = "agents.lock";
}

impl File for Resolution {
    const NAME: &'static str = "agents.resolution.json";
}

/// What `agent match --format json` prints.
impl File for Match {
    const NAME: &'static str = "match.json";
}

macro_rules! file_types {
    ($($(#[$doc:meta])* $kind:ident $name:ident { $($body:tt)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, rename_all = "camelCase")]
        #[schemars(transform = require_all)]
        pub $kind $name { $($body)* }
    )*};
}

file_types! {
    /// `agents.lock`: which servers an agent may use, and with which scopes. Written by
    /// `agent resolve`, not by hand.
    struct Lock {
        /// The agent that the lock is for.
        pub agent: Agent,
        /// `constraints.actions.forbid` of the manifest: sorted, without duplicates.
        #[schemars(schema_with = "names")]
        pub forbid: Vec<String>,
        /// The format.
        #[schemars(range(min = 1, max = 1))]
        pub lock_version: u32,
        /// One for each requirement: those for a category sorted by category, then scopes, then
        /// id; behind them those for a capability, sorted by verb, resource, constraints, id,
        /// version, tool, load.
        pub selections: Vec<Locked>,
    }

    /// Who an agent is.
    struct Agent {
        /// `name` of the manifest.
        #[schemars(schema_with = "name")]
        pub name: String,
        /// `version` of the manifest, by its source text.
        #[schemars(schema_with = "name")]
        pub version: String,
    }

    /// The tool that was selected for a capability.
    struct ToolSelection {
        /// The capability that is required.
        pub capability: Capability,
        /// `sha256-` and the base64 of the SHA-256 of the RFC 8785 form of the tool's definition.
        #[schemars(regex(pattern = "^sha256-[A-Za-z0-9+/]{43}=$"))]
        pub definition: String,
        /// Where the server is reached.
        #[schemars(schema_with = "name")]
        pub endpoint: String,
        /// SHA-256 of `id@version|endpoint|`, in lower-case hexadecimal digits.
        #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
        pub hash: String,
        /// The server's id.
        #[schemars(schema_with = "name")]
        pub id: String,
        /// `sha256-` and the base64 of the SHA-256 of the RFC 8785 form of the server's whole
        /// entry in the index.
        #[schemars(regex(pattern = "^sha256-[A-Za-z0-9+/]{43}=$"))]
        pub integrity: String,
        /// When the definition is shown to the agent.
        pub load: Load,
        /// Empty: a capability has no scopes.
        #[schemars(schema_with = "no_names")]
        pub scopes: Vec<String>,
        /// The tool, by its key in the server's entry.
        #[schemars(schema_with = "name")]
        pub tool: String,
        /// The server's version.
        #[schemars(schema_with = "name")]
        pub version: String,
    }

    /// What a tool is required to do, or is locked for.
    struct Capability {
        /// Within which limits: sorted, without duplicates.
        #[schemars(schema_with = "names")]
        pub constraints: Vec<String>,
        /// To what.
        #[schemars(schema_with = "name")]
        pub resource: String,
        /// What is done.
        #[schemars(schema_with = "verb")]
        pub verb: String,
    }

    /// The server that was selected for a category.
    struct Selection {
        /// The category that is required.
        #[schemars(schema_with = "name")]
        pub category: String,
        /// Where the server is reached.
        #[schemars(schema_with = "name")]
        pub endpoint: String,
        /// SHA-256 of `id@version|endpoint|scope,scope,…`, in lower-case hexadecimal digits.
        #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
        pub hash: String,
        /// The server's id.
        #[schemars(schema_with = "name")]
        pub id: String,
        /// `sha256-` and the base64 of the SHA-256 of the RFC 8785 form of the server's whole
        /// entry in the index.
        #[schemars(regex(pattern = "^sha256-[A-Za-z0-9+/]{43}=$"))]
        pub integrity: String,
        /// The permissions that are required: sorted, without duplicates.
        #[schemars(schema_with = "names")]
        pub scopes: Vec<String>,
        /// The server's version.
        #[schemars(schema_with = "name")]
        pub version: String,
    }

    /// `agents.resolution.json`: for every requirement, what became of every server.
    struct Resolution {
        /// The agent that the explanation is for.
        pub agent: Agent,
        /// The constraints that it was decided under.
        pub constraints: Constraints,
        /// In the order of the manifest: those of `requires.mcp`, then those of
        /// `requires.capabilities`, then those of the task.
        pub requirements: Vec<Answer>,
        /// Whether every requirement has a server, or a tool.
        pub satisfied: bool,
    }

    /// What `agent match --format json` prints: as `agents.resolution.json`, of a task.
    struct Match {
        /// The constraints that it was decided under: those of the manifest, if there is one.
        pub constraints: Constraints,
        /// Those of the manifest, then those of the task, in file order.
        pub requirements: Vec<ToolRequirement>,
        /// Whether every requirement has a tool.
        pub satisfied: bool,
        /// `null` if there is none.
        #[serde(deserialize_with = "nullable")]
        pub task: Option<Task>,
    }

    /// A task.
    struct Task {
        /// `task_id`
        #[schemars(schema_with = "name")]
        pub id: String,
    }

    /// The constraints of a manifest, absent ones included.
    struct Constraints {
        /// Sorted, without duplicates; empty if absent.
        #[schemars(schema_with = "names")]
        pub forbid: Vec<String>,
        /// `false` if absent.
        pub require_signed: bool,
        /// `null` if absent.
        #[serde(deserialize_with = "nullable")]
        #[schemars(schema_with = "residency_or_null")]
        pub residency: Option<String>,
        /// `null` if absent.
        #[serde(deserialize_with = "nullable")]
        #[schemars(schema_with = "sensitivity_or_null")]
        pub sensitivity: Option<String>,
    }

    /// A requirement of a capability and its answer. Every tool of every server is selected,
    /// eligible or rejected.
    struct ToolRequirement {
        /// The capability that is required.
        pub capability: Capability,
        /// The tools that would have done as well, sorted by id, version, tool.
        pub eligible: Vec<EligibleTool>,
        /// When the definition is shown to the agent.
        pub load: Load,
        /// The tools that won't do, sorted by id, version, tool, and every server without tools.
        pub rejected: Vec<RejectedTool>,
        /// `null` if no tool is eligible.
        #[serde(deserialize_with = "nullable")]
        pub selected: Option<SelectedTool>,
    }

    /// A tool that would have done, and lost against the selected one.
    struct EligibleTool {
        /// The server's id.
        #[schemars(schema_with = "name")]
        pub id: String,
        /// The first rule on which it lost.
        pub lost_on: Preference,
        /// The tool.
        #[schemars(schema_with = "name")]
        pub tool: String,
        /// The server's version.
        #[schemars(schema_with = "name")]
        pub version: String,
    }

    /// The rules by which one of several eligible tools is selected, in their order.
    #[derive(Copy, PartialOrd, Ord)]
    enum Preference {
        /// The selected one has the higher priority.
        Priority,
        /// The server of the selected one has the smaller id.
        Id,
        /// The server of the selected one has the smaller version.
        Version,
        /// The selected one has the smaller name.
        Tool,
    }

    /// A tool that won't do, or a server without tools.
    struct RejectedTool {
        /// The server's id.
        #[schemars(schema_with = "name")]
        pub id: String,
        /// All of them, in the order of the checks.
        #[schemars(length(min = 1, max = 5))]
        pub reasons: Vec<Reason>,
        /// The tool; `null` for a server that has none.
        #[serde(deserialize_with = "nullable")]
        #[schemars(schema_with = "name_or_null")]
        pub tool: Option<String>,
        /// The server's version.
        #[schemars(schema_with = "name")]
        pub version: String,
    }

    /// The tool that was selected.
    struct SelectedTool {
        /// As in the lock.
        #[schemars(regex(pattern = "^sha256-[A-Za-z0-9+/]{43}=$"))]
        pub definition: String,
        /// As in the lock.
        #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
        pub hash: String,
        /// The server's id.
        #[schemars(schema_with = "name")]
        pub id: String,
        /// The tool.
        #[schemars(schema_with = "name")]
        pub tool: String,
        /// The server's version.
        #[schemars(schema_with = "name")]
        pub version: String,
    }

    /// A requirement of a category and its answer. Every server of the index is selected, eligible
    /// or rejected.
    struct Requirement {
        /// The category that is required.
        #[schemars(schema_with = "name")]
        pub category: String,
        /// The servers that would have done as well, sorted by id, then version.
        pub eligible: Vec<Eligible>,
        /// The permissions that are required: sorted, without duplicates.
        #[schemars(schema_with = "names")]
        pub permissions: Vec<String>,
        /// The servers that won't do, sorted by id, then version.
        pub rejected: Vec<Rejected>,
        /// `null` if no server is eligible.
        #[serde(deserialize_with = "nullable")]
        pub selected: Option<Selected>,
    }

    /// A server that would have done, and lost against the selected one.
    struct Eligible {
        /// The server's id.
        #[schemars(schema_with = "name")]
        pub id: String,
        /// The first rule on which it lost.
        pub lost_on: LostOn,
        /// The server's version.
        #[schemars(schema_with = "name")]
        pub version: String,
    }

    /// The rules by which one of several eligible servers is selected, in their order.
    enum LostOn {
        /// The selected one is signed, this one is not.
        Signed,
        /// The selected one has the smaller id.
        Id,
        /// The selected one has the smaller version.
        Version,
    }

    /// A server that won't do.
    struct Rejected {
        /// The server's id.
        #[schemars(schema_with = "name")]
        pub id: String,
        /// All of them, in the order of the checks.
        #[schemars(length(min = 1, max = 5))]
        pub reasons: Vec<Reason>,
        /// The server's version.
        #[schemars(schema_with = "name")]
        pub version: String,
    }

    /// The server that was selected.
    struct Selected {
        /// As in the lock.
        #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
        pub hash: String,
        /// The server's id.
        #[schemars(schema_with = "name")]
        pub id: String,
        /// The server's version.
        #[schemars(schema_with = "name")]
        pub version: String,
    }
}

/// When the definition of a tool is shown to the agent.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// From the start.
    Essential,
    /// When it is asked for.
    OnDemand,
}

/// What was selected: a server for a category, or a tool for a capability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Locked {
    /// A server.
    Category(Selection),
    /// A tool.
    Capability(ToolSelection),
}

/// A requirement and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Answer {
    /// A server for a category.
    Category(Requirement),
    /// A tool for a capability.
    Capability(ToolRequirement),
}

impl Resolution {
    /// The requirements of categories.
    pub fn categories(&self) -> impl Iterator<Item = &Requirement> {
        self.requirements.iter().filter_map(|answer| match answer {
            Answer::Category(requirement) => Some(requirement),
            Answer::Capability(_) => None,
        })
    }

    /// The requirements of capabilities.
    pub fn capabilities(&self) -> impl Iterator<Item = &ToolRequirement> {
        self.requirements.iter().filter_map(|answer| match answer {
            Answer::Category(_) => None,
            Answer::Capability(requirement) => Some(requirement),
        })
    }
}

impl Lock {
    /// The selections for categories.
    pub fn categories(&self) -> impl Iterator<Item = &Selection> {
        self.selections.iter().filter_map(|locked| match locked {
            Locked::Category(selection) => Some(selection),
            Locked::Capability(_) => None,
        })
    }

    /// The selections for capabilities.
    pub fn capabilities(&self) -> impl Iterator<Item = &ToolSelection> {
        self.selections.iter().filter_map(|locked| match locked {
            Locked::Category(_) => None,
            Locked::Capability(selection) => Some(selection),
        })
    }
}

/// Why a server or a tool won't do, with the values that were compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", deny_unknown_fields, rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Reason {
    /// It does not offer the category.
    MissingCategory {
        /// The categories that it offers: sorted, without duplicates.
        #[schemars(schema_with = "names")]
        offered: Vec<String>,
    },
    /// It does not support a permission.
    MissingScope {
        /// The permissions that it does not support: sorted, without duplicates.
        #[schemars(schema_with = "some_names")]
        missing: Vec<String>,
    },
    /// It keeps data elsewhere.
    ResidencyMismatch {
        /// Where it keeps data: sorted, without duplicates.
        #[schemars(schema_with = "residencies")]
        offered: Vec<String>,
        /// Where data has to stay.
        #[schemars(schema_with = "residency")]
        required: String,
    },
    /// It may not hold data that sensitive.
    SensitivityExceeded {
        /// Up to which sensitivity it may.
        #[schemars(schema_with = "sensitivity")]
        offered: String,
        /// How sensitive the data is.
        #[schemars(schema_with = "sensitivity")]
        required: String,
    },
    /// It is not signed, and signatures are required.
    UnsignedNotAllowed {
        /// Who published it.
        #[schemars(schema_with = "name")]
        publisher: String,
    },
    /// The tool does not advertise the capability.
    MissingCapability {
        /// What it advertises, as `verb:resource`: sorted, without duplicates.
        #[schemars(schema_with = "names")]
        offered: Vec<String>,
    },
    /// The tool advertises the capability without all constraints.
    ConstraintUnmet {
        /// What the nearest of its capabilities lacks: sorted, without duplicates.
        #[schemars(schema_with = "some_names")]
        missing: Vec<String>,
    },
    /// The tool is forbidden.
    ForbiddenAction {
        /// By this label.
        #[schemars(schema_with = "name")]
        label: String,
    },
    /// The policy does not allow the tool.
    PolicyDenied {
        /// Why, in the words of the policy; `null` if it says nothing.
        #[serde(deserialize_with = "nullable")]
        #[schemars(schema_with = "text_or_null")]
        reason: Option<String>,
    },
    /// The policy gave no answer.
    PolicyError {
        /// Why not.
        #[schemars(schema_with = "policy_error")]
        reason: String,
    },
    /// The server is not healthy.
    HealthVeto {
        /// How it does; `null` if the snapshot does not know it.
        #[serde(deserialize_with = "nullable")]
        #[schemars(schema_with = "status_or_null")]
        status: Option<String>,
    },
}

impl Reason {
    /// The code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::MissingCategory { .. } => "MISSING_CATEGORY",
            Self::MissingScope { .. } => "MISSING_SCOPE",
            Self::ResidencyMismatch { .. } => "RESIDENCY_MISMATCH",
            Self::SensitivityExceeded { .. } => "SENSITIVITY_EXCEEDED",
            Self::UnsignedNotAllowed { .. } => "UNSIGNED_NOT_ALLOWED",
            Self::MissingCapability { .. } => "MISSING_CAPABILITY",
            Self::ConstraintUnmet { .. } => "CONSTRAINT_UNMET",
            Self::ForbiddenAction { .. } => "FORBIDDEN_ACTION",
            Self::PolicyDenied { .. } => "POLICY_DENIED",
            Self::PolicyError { .. } => "POLICY_ERROR",
            Self::HealthVeto { .. } => "HEALTH_VETO",
        }
    }
}

/// The name of the file that holds the schema of `file`.
#[must_use]
pub fn schema_name(file: &str) -> Cow<'_, str> {
    format!("{}.schema.json", file.trim_end_matches(".json")).into()
}

/// A value that may be null, and may not be left out.
fn nullable<'d, T: Deserialize<'d>, D: Deserializer<'d>>(from: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(from)
}

/// Every field stands in the file, absent values as null or empty.
fn require_all(schema: &mut Schema) {
    let keys = schema
        .get("properties")
        .and_then(|properties| properties.as_object());
    if let Some(keys) = keys.map(|properties| properties.keys().cloned().collect::<Vec<_>>()) {
        schema.insert("required".to_owned(), keys.into());
    }
}

type Generator = schemars::SchemaGenerator;

/// Not empty, without control characters.
fn name(_: &mut Generator) -> Schema {
    json_schema!({ "type": "string", "pattern": r"^[^\u0000-\u001f\u007f-\u009f]+$" })
}

fn names(generator: &mut Generator) -> Schema {
    json_schema!({ "type": "array", "items": name(generator), "uniqueItems": true })
}

fn some_names(generator: &mut Generator) -> Schema {
    let mut schema = names(generator);
    schema.insert("minItems".to_owned(), 1.into());
    schema
}

fn no_names(_: &mut Generator) -> Schema {
    json_schema!({ "type": "array", "maxItems": 0 })
}

fn name_or_null(_: &mut Generator) -> Schema {
    json_schema!({
        "type": ["string", "null"], "pattern": r"^[^\u0000-\u001f\u007f-\u009f]+$",
    })
}

fn text_or_null(_: &mut Generator) -> Schema {
    json_schema!({ "type": ["string", "null"] })
}

fn verb(_: &mut Generator) -> Schema {
    json_schema!({ "enum": ["execute", "notify", "read", "reason", "search", "write"] })
}

fn policy_error(_: &mut Generator) -> Schema {
    json_schema!({ "enum": ["budget", "runtime", "type", "undefined"] })
}

fn status_or_null(_: &mut Generator) -> Schema {
    json_schema!({
        "enum": ["HEALTHY", "PROBATION", "QUARANTINE", "STARTING", "UNHEALTHY", null],
    })
}

fn residency(_: &mut Generator) -> Schema {
    json_schema!({ "enum": ["any", "eu-only", "us-only"] })
}

fn residencies(generator: &mut Generator) -> Schema {
    json_schema!({
        "type": "array", "items": residency(generator), "minItems": 1, "uniqueItems": true,
    })
}

fn residency_or_null(_: &mut Generator) -> Schema {
    json_schema!({ "enum": ["any", "eu-only", "us-only", null] })
}

fn sensitivity(_: &mut Generator) -> Schema {
    json_schema!({
        "enum": ["public", "internal", "confidential", "pii.low", "pii.moderate", "pii.high"],
    })
}

fn sensitivity_or_null(_: &mut Generator) -> Schema {
    json_schema!({
        "enum": ["public", "internal", "confidential", "pii.low", "pii.moderate", "pii.high", null],
    })
}
