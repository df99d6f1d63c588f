//! The types of `agents.lock` and `agents.resolution.json`, written from the specification and
//! not from the engine.
//!
//! They generate the JSON Schemas in `schemas/`. They must read every output of the engine
//! without unknown keys, and `serde_json` must write the same bytes from them: the fields
//! are in the order of their names, which is the order of keys in the files.

use schemars::{JsonSchema, Schema, generate::SchemaSettings, json_schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A file with a schema.
pub trait File: Serialize + DeserializeOwned + JsonSchema {
    /// The name of the file.
    const NAME: &'static str;

    /// Reads a file.
    ///
    /// # Errors
    /// If these types do not know a part of it.
    fn read(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// Writes a file.
    #[must_use]
    fn write(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("it has no maps");
        text.push('\n');
        text
    }

    /// Returns the JSON Schema of the file in `schemas/`.
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

/// The output of `agent match --format json`.
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
    /// `agents.lock`: the servers and tools an agent may use, with their scopes. Written by
    /// `agent resolve`, not by hand.
    struct Lock {
        /// The agent of the lock.
        pub agent: Agent,
        /// `constraints.actions.forbid` of the manifest: sorted, without duplicates.
        #[schemars(schema_with = "names")]
        pub forbid: Vec<String>,
        /// The version of the format.
        #[schemars(range(min = 1, max = 1))]
        pub lock_version: u32,
        /// The digest of the policy that decided on capabilities, if one was given: `sha256-` and the
        /// base64 of the SHA-256 of its text with each CRLF as LF.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String", regex(pattern = "^sha256-[A-Za-z0-9+/]{43}=$"))]
        pub policy: Option<String>,
        /// One for each requirement: those for a category sorted by category, then scopes, then
        /// id, version, load, only, serve; then those for a capability, sorted by verb, resource,
        /// constraints, id, version, tool, load, each with its fallback directly behind it.
        pub selections: Vec<Locked>,
    }

    /// The identity of an agent.
    struct Agent {
        /// `name` of the manifest.
        #[schemars(schema_with = "name")]
        pub name: String,
        /// The source text of `version` in the manifest.
        #[schemars(schema_with = "name")]
        pub version: String,
    }

    /// The tool that was selected for a capability.
    struct ToolSelection {
        /// The required capability.
        pub capability: Capability,
        /// `sha256-` and the base64 of the SHA-256 of the RFC 8785 form of the tool's definition.
        #[schemars(regex(pattern = "^sha256-[A-Za-z0-9+/]{43}=$"))]
        pub definition: String,
        /// The server's endpoint.
        #[schemars(schema_with = "name")]
        pub endpoint: String,
        /// 1 if the tool stands in for that of the selection before it, while health vetoes the server
        /// of that one; otherwise absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "one")]
        pub fallback: Option<u32>,
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
        /// When the agent sees the definition.
        pub load: Load,
        /// `ignore` if unusable patterns of the tool are ignored; otherwise absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "ignore")]
        pub patterns: Option<String>,
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

    /// A required or locked capability.
    struct Capability {
        /// The constraints: sorted, without duplicates.
        #[schemars(schema_with = "names")]
        pub constraints: Vec<String>,
        /// The resource the verb applies to.
        #[schemars(schema_with = "name")]
        pub resource: String,
        /// The verb.
        #[schemars(schema_with = "verb")]
        pub verb: String,
    }

    /// The server that was selected for a category.
    struct Selection {
        /// The required category.
        #[schemars(schema_with = "name")]
        pub category: String,
        /// The server's endpoint.
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
        /// `on_demand` if the agent sees the definitions of its tools on request; otherwise absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "on_demand")]
        pub load: Option<Load>,
        /// The tools that are locked alone: sorted, without duplicates; absent for every tool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "some_names")]
        pub only: Option<Vec<String>>,
        /// The tools whose unusable patterns are ignored; absent for none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "ignoring_tools")]
        pub patterns: Option<BTreeMap<String, String>>,
        /// The required permissions: sorted, without duplicates.
        #[schemars(schema_with = "names")]
        pub scopes: Vec<String>,
        /// What a gateway passes on besides tools: sorted, without duplicates; absent for nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "served")]
        pub serve: Option<Vec<String>>,
        /// The server's version.
        #[schemars(schema_with = "name")]
        pub version: String,
    }

    /// `agents.resolution.json`: the decision on every server for every requirement.
    struct Resolution {
        /// The agent of the explanation.
        pub agent: Agent,
        /// The constraints of the decision.
        pub constraints: Constraints,
        /// In the order of the manifest: those of `requires.mcp`, then those of
        /// `requires.capabilities`, then those of the task.
        pub requirements: Vec<Answer>,
        /// Whether every requirement has a server, or a tool.
        pub satisfied: bool,
    }

    /// The output of `agent match --format json`: like `agents.resolution.json`, for a task.
    struct Match {
        /// The constraints of the decision: those of the manifest, if there is one.
        pub constraints: Constraints,
        /// Those of the manifest, then those of the task, in file order.
        pub requirements: Vec<ToolRequirement>,
        /// Whether every requirement has a tool.
        pub satisfied: bool,
        /// `null` without a task.
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

    /// A required capability and its outcome. Every tool of every server is selected,
    /// eligible or rejected.
    struct ToolRequirement {
        /// The required capability.
        pub capability: Capability,
        /// The other eligible tools, sorted by id, version, tool.
        pub eligible: Vec<EligibleTool>,
        /// `true` if the next-ranked tool of another server is locked too; otherwise absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "only_true")]
        pub fallback: Option<bool>,
        /// When the agent sees the definition.
        pub load: Load,
        /// The rejected tools, sorted by id, version, tool, and every server without tools.
        pub rejected: Vec<RejectedTool>,
        /// `null` if no tool is eligible; with `tools` a list, ordered by tool.
        pub selected: SelectedTools,
        /// `all` if every eligible tool of a server is selected; otherwise absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "all_tools")]
        pub tools: Option<String>,
    }

    /// An eligible tool that lost to the selected one.
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

    /// The rules that select one of several eligible tools, in their order.
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

    /// A rejected tool, or a server without tools.
    struct RejectedTool {
        /// The server's id.
        #[schemars(schema_with = "name")]
        pub id: String,
        /// All reasons, in the order of the checks.
        #[schemars(length(min = 1, max = 5))]
        pub reasons: Vec<Reason>,
        /// The tool; `null` for a server without tools.
        #[serde(deserialize_with = "nullable")]
        #[schemars(schema_with = "name_or_null")]
        pub tool: Option<String>,
        /// The server's version.
        #[schemars(schema_with = "name")]
        pub version: String,
    }

    /// The selected tool.
    struct SelectedTool {
        /// The same as in the lock.
        #[schemars(regex(pattern = "^sha256-[A-Za-z0-9+/]{43}=$"))]
        pub definition: String,
        /// The same as in the lock.
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

    /// A required category and its outcome. Every server of the index is selected, eligible
    /// or rejected.
    struct Requirement {
        /// The required category.
        #[schemars(schema_with = "name")]
        pub category: String,
        /// The other eligible servers, sorted by id, then version.
        pub eligible: Vec<Eligible>,
        /// `on_demand` if the agent sees the definitions of its tools on request; otherwise absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "on_demand")]
        pub load: Option<Load>,
        /// The tools that it locks alone: sorted, without duplicates; absent for every tool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "some_names")]
        pub only: Option<Vec<String>>,
        /// The required permissions: sorted, without duplicates.
        #[schemars(schema_with = "names")]
        pub permissions: Vec<String>,
        /// The rejected servers, sorted by id, then version.
        pub rejected: Vec<Rejected>,
        /// `null` if no server is eligible.
        #[serde(deserialize_with = "nullable")]
        pub selected: Option<Selected>,
        /// What a gateway passes on besides tools: sorted, without duplicates; absent for nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "served")]
        pub serve: Option<Vec<String>>,
    }

    /// An eligible server that lost to the selected one.
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

    /// The rules that select one of several eligible servers, in their order.
    enum LostOn {
        /// The selected one is signed, this one is not.
        Signed,
        /// The selected one has the smaller id.
        Id,
        /// The selected one has the smaller version.
        Version,
    }

    /// A rejected server.
    struct Rejected {
        /// The server's id.
        #[schemars(schema_with = "name")]
        pub id: String,
        /// All reasons, in the order of the checks.
        #[schemars(length(min = 1, max = 6))]
        pub reasons: Vec<Reason>,
        /// The server's version.
        #[schemars(schema_with = "name")]
        pub version: String,
    }

    /// The selected server.
    struct Selected {
        /// The same as in the lock.
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

/// When the agent sees the definition of a tool.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// From the start.
    Essential,
    /// On request.
    OnDemand,
}

/// What was selected for a capability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SelectedTools {
    /// Every eligible tool of a server, for `tools: all`.
    All(Vec<SelectedTool>),
    /// One tool, if one is eligible.
    One(Option<SelectedTool>),
}

impl SelectedTools {
    /// Returns the first of the selected tools.
    #[must_use]
    pub fn first(&self) -> Option<&SelectedTool> {
        self.all().first()
    }

    /// Returns the selected tools.
    #[must_use]
    pub fn all(&self) -> &[SelectedTool] {
        match self {
            Self::All(tools) => tools,
            Self::One(tool) => tool.as_slice(),
        }
    }
}

/// A selection: a server for a category, or a tool for a capability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Locked {
    /// A server.
    Category(Selection),
    /// A tool.
    Capability(ToolSelection),
}

/// A requirement and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Answer {
    /// A server for a category.
    Category(Requirement),
    /// A tool for a capability.
    Capability(ToolRequirement),
}

impl Resolution {
    /// Returns the required categories.
    pub fn categories(&self) -> impl Iterator<Item = &Requirement> {
        self.requirements.iter().filter_map(|answer| match answer {
            Answer::Category(requirement) => Some(requirement),
            Answer::Capability(_) => None,
        })
    }

    /// Returns the required capabilities.
    pub fn capabilities(&self) -> impl Iterator<Item = &ToolRequirement> {
        self.requirements.iter().filter_map(|answer| match answer {
            Answer::Category(_) => None,
            Answer::Capability(requirement) => Some(requirement),
        })
    }
}

impl Lock {
    /// Returns the selections for categories.
    pub fn categories(&self) -> impl Iterator<Item = &Selection> {
        self.selections.iter().filter_map(|locked| match locked {
            Locked::Category(selection) => Some(selection),
            Locked::Capability(_) => None,
        })
    }

    /// Returns the selections for capabilities.
    pub fn capabilities(&self) -> impl Iterator<Item = &ToolSelection> {
        self.selections.iter().filter_map(|locked| match locked {
            Locked::Category(_) => None,
            Locked::Capability(selection) => Some(selection),
        })
    }
}

/// A reason against a server or a tool, with the compared values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", deny_unknown_fields, rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Reason {
    /// It does not offer the category.
    MissingCategory {
        /// The offered categories: sorted, without duplicates.
        #[schemars(schema_with = "names")]
        offered: Vec<String>,
    },
    /// It does not have a tool that the requirement names.
    ToolMissing {
        /// The absent tools: sorted, without duplicates.
        #[schemars(schema_with = "some_names")]
        missing: Vec<String>,
    },
    /// It does not support a permission.
    MissingScope {
        /// The missing permissions: sorted, without duplicates.
        #[schemars(schema_with = "some_names")]
        missing: Vec<String>,
    },
    /// It keeps data outside the required residency.
    ResidencyMismatch {
        /// The residencies of the server: sorted, without duplicates.
        #[schemars(schema_with = "residencies")]
        offered: Vec<String>,
        /// The required residency.
        #[schemars(schema_with = "residency")]
        required: String,
    },
    /// Its sensitivity limit is below the required level.
    SensitivityExceeded {
        /// The sensitivity limit of the server.
        #[schemars(schema_with = "sensitivity")]
        offered: String,
        /// The required sensitivity.
        #[schemars(schema_with = "sensitivity")]
        required: String,
    },
    /// It is not signed, and signatures are required.
    UnsignedNotAllowed {
        /// The publisher of the server.
        #[schemars(schema_with = "name")]
        publisher: String,
    },
    /// The tool does not advertise the capability.
    MissingCapability {
        /// The advertised capabilities as `verb:resource`: sorted, without duplicates.
        #[schemars(schema_with = "names")]
        offered: Vec<String>,
    },
    /// The tool advertises the capability without all constraints.
    ConstraintUnmet {
        /// The missing constraints of its nearest capability: sorted, without duplicates.
        #[schemars(schema_with = "some_names")]
        missing: Vec<String>,
    },
    /// The tool is forbidden.
    ForbiddenAction {
        /// The forbidding label.
        #[schemars(schema_with = "name")]
        label: String,
    },
    /// The definition of the tool has a character that people do not see.
    InvisibleCharacter {
        /// The JSON pointer to the string with the first such character.
        pointer: String,
    },
    /// The policy does not allow the tool.
    PolicyDenied {
        /// The reason in the words of the policy; `null` without one.
        #[serde(deserialize_with = "nullable")]
        #[schemars(schema_with = "text_or_null")]
        reason: Option<String>,
    },
    /// The policy returned no decision.
    PolicyError {
        /// The error.
        #[schemars(schema_with = "policy_error")]
        reason: String,
    },
    /// The server is not healthy.
    HealthVeto {
        /// The status of the server; `null` if the snapshot does not list it.
        #[serde(deserialize_with = "nullable")]
        #[schemars(schema_with = "status_or_null")]
        status: Option<String>,
    },
}

impl Reason {
    /// Returns the code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::MissingCategory { .. } => "MISSING_CATEGORY",
            Self::ToolMissing { .. } => "TOOL_MISSING",
            Self::MissingScope { .. } => "MISSING_SCOPE",
            Self::ResidencyMismatch { .. } => "RESIDENCY_MISMATCH",
            Self::SensitivityExceeded { .. } => "SENSITIVITY_EXCEEDED",
            Self::UnsignedNotAllowed { .. } => "UNSIGNED_NOT_ALLOWED",
            Self::MissingCapability { .. } => "MISSING_CAPABILITY",
            Self::ConstraintUnmet { .. } => "CONSTRAINT_UNMET",
            Self::ForbiddenAction { .. } => "FORBIDDEN_ACTION",
            Self::InvisibleCharacter { .. } => "INVISIBLE_CHARACTER",
            Self::PolicyDenied { .. } => "POLICY_DENIED",
            Self::PolicyError { .. } => "POLICY_ERROR",
            Self::HealthVeto { .. } => "HEALTH_VETO",
        }
    }
}

/// Returns the name of the file with the schema of `file`.
#[must_use]
pub fn schema_name(file: &str) -> Cow<'_, str> {
    format!("{}.schema.json", file.trim_end_matches(".json")).into()
}

/// A value that may be null but must be present.
fn nullable<'d, T: Deserialize<'d>, D: Deserializer<'d>>(from: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(from)
}

/// Makes every field required: the file has absent values as null or empty.
fn require_all(schema: &mut Schema) {
    let keys = schema
        .get("properties")
        .and_then(|properties| properties.as_object());
    // These are written only where they are not the default.
    let optional = |key: &str, property: &Value| {
        ["policy", "only", "serve", "fallback", "patterns"].contains(&key)
            || key == "tools" && property.get("const").is_some()
            || key == "load" && property.get("const").is_some()
    };
    let keys = keys.map(|properties| {
        let required = properties
            .iter()
            .filter(|(key, property)| !optional(key, property));
        required.map(|(key, _)| key.clone()).collect::<Vec<_>>()
    });
    if let Some(keys) = keys {
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

fn on_demand(_: &mut Generator) -> Schema {
    json_schema!({ "const": "on_demand" })
}

fn one(_: &mut Generator) -> Schema {
    json_schema!({ "const": 1 })
}

fn only_true(_: &mut Generator) -> Schema {
    json_schema!({ "const": true })
}

fn served(_: &mut Generator) -> Schema {
    json_schema!({
        "type": "array",
        "items": { "enum": ["prompts", "resources"] },
        "minItems": 1,
        "uniqueItems": true,
    })
}

fn ignore(_: &mut Generator) -> Schema {
    json_schema!({ "const": "ignore" })
}

fn ignoring_tools(_: &mut Generator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": { "const": "ignore" },
        "minProperties": 1,
    })
}

fn all_tools(_: &mut Generator) -> Schema {
    json_schema!({ "const": "all" })
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
        "type": "array", "items": residency(generator), "uniqueItems": true,
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
