//! The one catalogue of codes.

use super::Severity;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};
#[cfg(feature = "javascript")]
use tsify::Tsify;

macro_rules! catalogue {
    ($($case:ident $name:literal $severity:ident $title:literal $help:literal)*) => {
        /// What is wrong, or has changed. Each code has a page in the documentation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
        #[cfg_attr(feature = "javascript", derive(Tsify))]
        pub enum Code {
            $(#[doc = $title] #[cfg_attr(feature = "serde", serde(rename = $name))] $case,)*
        }

        impl Code {
            /// Every code, ordered by name.
            pub const ALL: &[Self] = &[$(Self::$case,)*];

            /// The stable name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$case => $name,)* }
            }

            /// The path of its page in the documentation, without its suffix. Codes in small letters
            /// have a folder: some have a namesake in capitals, and not every file system can
            /// tell the two apart.
            pub fn page(self) -> String {
                let name = self.name();
                if name.starts_with(|c: char| c.is_ascii_lowercase()) {
                    format!("plan/{name}")
                } else {
                    name.to_owned()
                }
            }

            /// How much a diagnostic of this code weighs.
            pub fn severity(self) -> Severity {
                match self { $(Self::$case => Severity::$severity,)* }
            }

            /// What the code means, in a few words.
            pub fn title(self) -> &'static str {
                match self { $(Self::$case => $title,)* }
            }

            /// What usually helps, in one sentence.
            pub fn help(self) -> &'static str {
                match self { $(Self::$case => $help,)* }
            }
        }
    };
}

catalogue! {
    AgentChanged "AGENT_CHANGED" Error
        "the agent's name or version differs from the lock"
        "Run `agent resolve` to lock the agent under its present name and version."
    ArgumentInvalid "ARGUMENT_INVALID" Error
        "an argument is not what the input schema says"
        "Give the value that the rule of the schema asks for."
    ArgumentUnknown "ARGUMENT_UNKNOWN" Error
        "a call has an argument that the tool does not declare"
        "Remove it, or have the server declare it."
    ConstraintUnmet "CONSTRAINT_UNMET" Error
        "a tool does not promise what is required of the capability"
        "Require fewer constraints, or have the server advertise the missing ones."
    DefinitionChanged "DEFINITION_CHANGED" Error
        "the definition of a locked tool is not the one that was locked"
        "Review what changed in the definition, which `--old-index` names, then run `agent resolve`."
    DuplicateKey "DUPLICATE_KEY" Error
        "a key stands twice in one mapping"
        "Keep one of the two; which one would count is not for a parser to guess."
    DuplicateServer "DUPLICATE_SERVER" Error
        "two entries of the index have the same id and version"
        "Remove one of the two entries, or give it another version."
    EmptyValue "EMPTY_VALUE" Error
        "a name or a list is empty that must not be"
        "Write a value, or remove what needs it."
    EndpointChanged "ENDPOINT_CHANGED" Error
        "the locked server is reached at another endpoint"
        "Make sure that the new endpoint is meant, then run `agent resolve`."
    EvidenceTooShort "EVIDENCE_TOO_SHORT" Error
        "the evidence of a claim is too short to prove it"
        "Quote at least 8 characters of a text of the payload, or a whole value."
    ExpansionDenied "EXPANSION_DENIED" Error
        "tools may not be expanded"
        "Ask for tools that the lock holds as `on_demand` and that the policy allows."
    ExplanationTooLarge "EXPLANATION_TOO_LARGE" Error
        "the full explanation would pass its limit"
        "Use `agent resolve --explain=compact`, which holds the same in a fraction of the size."
    ForbiddenAction "FORBIDDEN_ACTION" Error
        "what is asked for is forbidden"
        "Drop the permission, or the label from `constraints.actions.forbid`."
    ForbidAdded "FORBID_ADDED" Error
        "a label is forbidden that was not"
        "Run `agent resolve` to put the new prohibition into the lock."
    ForbidRemoved "FORBID_REMOVED" Error
        "a label is no longer forbidden"
        "This lets the agent do more than before: review it, then run `agent resolve`."
    FrontmatterMissing "FRONTMATTER_MISSING" Error
        "the manifest has no frontmatter"
        "Begin the file with a line `---`, the fields, and another line `---`."
    FrontmatterUnclosed "FRONTMATTER_UNCLOSED" Error
        "the frontmatter has no end"
        "Add a line `---` after the last field."
    HashChanged "HASH_CHANGED" Error
        "a hash of the lock does not fit what stands beside it"
        "The lock was edited by hand or damaged; run `agent resolve` to write it anew."
    HealthVeto "HEALTH_VETO" Error
        "a server is not healthy"
        "Wait until the server is healthy, or have another one offer the capability."
    ImportFormat "IMPORT_FORMAT" Error
        "a document is of none of the forms that can be imported"
        "Give a `server.json`, a captured `tools/list`, or the configuration of an MCP client."
    ImportNoCapability "IMPORT_NO_CAPABILITY" Warning
        "a tool does not say what it can do"
        "Give the tool `x-summit-capabilities` in the overlay; without them it can't be matched by capability."
    ImportToolRemoved "IMPORT_TOOL_REMOVED" Warning
        "a tool of the index is not in the capture"
        "The capture is the whole list of a server's tools; import a complete one if the tool is still there."
    ImportUnused "IMPORT_UNUSED" Warning
        "a part of the overlay has no effect"
        "Correct the name, or remove the part."
    ImportValue "IMPORT_VALUE" Error
        "a value of an imported document can't be taken as it is"
        "Give the value in the overlay."
    InputDenied "INPUT_DENIED" Error
        "a query is not accepted"
        "Ask for something else, or in fewer words."
    InputTooLarge "INPUT_TOO_LARGE" Error
        "an input is larger than its limit"
        "Split the input, or check that it is the file you meant."
    IntegrityChanged "INTEGRITY_CHANGED" Error
        "the server's entry in the index is not the one that was locked"
        "Review what changed in the entry, then run `agent resolve`."
    InvalidName "INVALID_NAME" Error
        "a name holds a character that it must not"
        "Remove the character; it would make hashes or output ambiguous."
    InvalidUtf8 "INVALID_UTF8" Error
        "an input is not UTF-8"
        "Save the file as UTF-8."
    JsonSyntax "JSON_SYNTAX" Error
        "a text is not JSON"
        "Only strict JSON is read: one value, no comments, no trailing commas."
    LoadChanged "LOAD_CHANGED" Error
        "a locked tool is shown at another time"
        "Run `agent resolve` to lock it anew."
    LockInvalid "LOCK_INVALID" Error
        "a lock holds what no resolver writes"
        "Run `agent resolve` to write the lock anew."
    LockMissing "LOCK_MISSING" Error
        "there is no lock where one is needed"
        "Run `agent resolve` and commit `agents.lock`."
    LockVersion "LOCK_VERSION" Error
        "a lock is of a later format"
        "Use a version of `agent` that knows this format."
    LoneSurrogate "LONE_SURROGATE" Error
        "a JSON string holds half of a surrogate pair"
        "Write the character itself, or both halves of its escape."
    LookalikeId "LOOKALIKE_ID" Warning
        "two ids look alike and are different"
        "Make sure that the one you mean is the one you name; ids are compared by code point."
    MissingCapability "MISSING_CAPABILITY" Error
        "a tool does not advertise the required capability"
        "Require a capability that a tool advertises, or have a server advertise it."
    MissingCategory "MISSING_CATEGORY" Error
        "a server does not offer the required category"
        "Require a category that the server offers, or pick another server."
    MissingField "MISSING_FIELD" Error
        "a required field is absent"
        "Add the field."
    MissingScope "MISSING_SCOPE" Error
        "a server does not support a required permission"
        "Ask for fewer permissions, or have the server support the missing ones."
    NestingTooDeep "NESTING_TOO_DEEP" Error
        "an input is nested too deeply"
        "Flatten it: YAML may be 64 levels deep, JSON 128."
    NotReadonly "NOT_READONLY" Error
        "a one-call plan calls a tool that may write"
        "Call a tool all of whose capabilities are advertised with `readonly`."
    NumberOutOfRange "NUMBER_OUT_OF_RANGE" Error
        "a number is too large for its field"
        "Write a number below 1.8e308, or a whole one of at most 64 bits where one is asked for."
    PlanNotJson "PLAN_NOT_JSON" Error
        "a plan is not one strict JSON value"
        "Have the planner answer with the JSON object alone, without prose around it."
    PlanShape "PLAN_SHAPE" Error
        "a plan is none of the things that may be planned"
        "Have the planner answer in one of the two forms."
    PolicyDeadRule "POLICY_DEAD_RULE" Warning
        "a policy compares with a value that never occurs"
        "Correct the spelling of the value, or remove the comparison; it never holds, or always."
    PolicyDenied "POLICY_DENIED" Error
        "the policy does not allow a tool"
        "See the reason that the policy gives, and the rule that denies."
    PolicyError "POLICY_ERROR" Error
        "the policy gave no answer, so that everything is denied"
        "Correct the policy: `agent policy check` says where it fails."
    PolicyRuleUnused "POLICY_RULE_UNUSED" Note
        "a rule of the policy did not hold for anything"
        "Nothing is wrong: another input may need the rule."
    PolicySyntax "POLICY_SYNTAX" Error
        "a policy can't be compiled"
        "Correct the Rego at the place shown."
    PolicyTestFailed "POLICY_TEST_FAILED" Error
        "a test of a policy does not hold"
        "Correct the policy, or the test if it asks for the wrong thing."
    RequirementAdded "REQUIREMENT_ADDED" Error
        "a category or a capability is required that was not locked"
        "This lets the agent use more than before: review it, then run `agent resolve`."
    RequirementRemoved "REQUIREMENT_REMOVED" Error
        "a locked category or capability is no longer required"
        "Run `agent resolve` to drop it from the lock."
    ResidencyMismatch "RESIDENCY_MISMATCH" Error
        "a server keeps its data elsewhere than required"
        "Pick a server of the required residency, or have the server offer it."
    SchemaBudget "SCHEMA_BUDGET" Error
        "checking against a schema would take too much"
        "Simplify the schema, above all references that multiply."
    SchemaInvalid "SCHEMA_INVALID" Error
        "a schema can't be used"
        "Correct the schema where it is shown; it may not refer to another host."
    ScopeNarrowed "SCOPE_NARROWED" Error
        "a locked scope is no longer asked for"
        "Run `agent resolve` to drop it from the lock."
    ScopeWidened "SCOPE_WIDENED" Error
        "a scope is asked for that is not locked"
        "This lets the agent do more than before: review it, then run `agent resolve`."
    SelectionChanged "SELECTION_CHANGED" Error
        "another server is selected than the locked one"
        "Review the new server, then run `agent resolve`."
    SensitivityExceeded "SENSITIVITY_EXCEEDED" Error
        "a server may not hold data as sensitive as required"
        "Pick a server with a higher `maxSensitivity`."
    ServerRemoved "SERVER_REMOVED" Error
        "the locked server is no longer in the index"
        "Run `agent resolve` to select another server."
    StubCollision "STUB_COLLISION" Error
        "two exposed tools would have the same name"
        "Rename a server in the index; the name of a stub is made of the id."
    TenantUnknown "TENANT_UNKNOWN" Error
        "the configuration has no such tenant, or several and none is named"
        "Name one with `--tenant-id`."
    TokenBudgetExceeded "TOKEN_BUDGET_EXCEEDED" Error
        "the definitions of the tools would pass the token budget"
        "Ask for fewer tools, or raise `token_budget` of the tenant."
    ToolChanged "TOOL_CHANGED" Error
        "another tool is selected than the locked one"
        "Review the new tool, then run `agent resolve`."
    ToolNotLocked "TOOL_NOT_LOCKED" Error
        "a plan calls a tool that the lock does not have"
        "Require its capability or the category of its server, then run `agent resolve`."
    ToolUnknown "TOOL_UNKNOWN" Error
        "a plan calls a tool that no server lists"
        "Name a tool of the catalogue, spelled as it is there."
    Ungrounded "UNGROUNDED" Error
        "the evidence of a claim is not in the payload"
        "Quote a text of the payload as it is, character for character, or drop the claim."
    UnknownKey "UNKNOWN_KEY" Warning
        "a key that no field has"
        "Correct its spelling, or remove it; it has no effect."
    UnknownValue "UNKNOWN_VALUE" Error
        "a value is none of those that its field allows"
        "Write one of the allowed values."
    Unsatisfied "UNSATISFIED" Error
        "no server or tool is eligible for a requirement"
        "See the nearest ones and what each would need: `agent why` and the category or capability."
    UnsignedNotAllowed "UNSIGNED_NOT_ALLOWED" Error
        "a server is not signed where signatures are required"
        "Pick a signed server, or have its publisher sign it."
    VersionChanged "VERSION_CHANGED" Error
        "the locked server is selected in another version"
        "Review the new version, then run `agent resolve`."
    WrongType "WRONG_TYPE" Error
        "a value is of another type than its field"
        "Write a value of the type that the field has."
    YamlSyntax "YAML_SYNTAX" Error
        "a text is not YAML"
        "Correct the YAML at the place shown."
    YamlUnsupported "YAML_UNSUPPORTED" Error
        "a text uses YAML beyond the subset"
        "Write the value out: no anchors, aliases, tags, merge keys or further documents."
    MovaDestinationDenied "destination_denied" Error
        "a step would connect to where its tool may not"
        "Name one of the destinations of the tool's binding."
    MovaLimitExceeded "limit_exceeded" Error
        "a plan would use more than it may"
        "Use less, or have the cap of the profile raised."
    MovaOutputInvalid "output_invalid" Error
        "an output is not what its schema says"
        "Nothing may be done with it; see the rule of the schema."
    MovaPolicyDenied "policy_denied" Error
        "the instruction profile, the tool pool or the lock does not allow it"
        "Use a tool that is allowed, or have the rule changed."
    MovaValidationFailed "validation_failed" Error
        "a document of a plan is not what it has to be"
        "Write what the rule asks for."
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn names_are_unique_and_sorted() {
        let names: Vec<_> = Code::ALL.iter().map(|code| code.name()).collect();
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    }
}
