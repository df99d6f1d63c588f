//! The catalogue of codes.

use super::Severity;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};
#[cfg(feature = "javascript")]
use tsify::Tsify;

macro_rules! catalogue {
    ($dollar:tt $($case:ident $name:literal $severity:ident $title:literal $help:literal)*) => {
        /// The kind of a problem or a drift. Each code has a page in the documentation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
        #[cfg_attr(feature = "javascript", derive(Tsify))]
        pub enum Code {
            $(#[doc = $title] #[cfg_attr(feature = "serde", serde(rename = $name))] $case,)*
        }

        impl Code {
            /// Every code, ordered by name.
            pub const ALL: &[Self] = &[$(Self::$case,)*];

            /// Returns the stable name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$case => $name,)* }
            }

            /// Returns the code of a name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|it| it.name() == name)
            }

            /// Returns the path of its page in the documentation, without its suffix. Codes in small
            /// letters have a folder: some have a namesake in capitals, and not every file system
            /// distinguishes the two.
            pub fn page(self) -> String {
                let name = self.name();
                if name.starts_with(|c: char| c.is_ascii_lowercase()) {
                    format!("plan/{name}")
                } else {
                    name.to_owned()
                }
            }

            /// Returns the severity of a diagnostic of this code.
            pub fn severity(self) -> Severity {
                match self { $(Self::$case => Severity::$severity,)* }
            }

            /// Returns the meaning of the code: lower case, without a final stop.
            pub fn title(self) -> &'static str {
                match self { $(Self::$case => $title,)* }
            }

            /// Returns the usual remedy: an imperative sentence.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$case => $help,)* }
            }
        }

        /// Gives the cases of [`Code`] to a macro, behind some words.
        #[macro_export]
        macro_rules! every_code {
            ($dollar callback:ident $dollar($dollar words:tt)*) => {
                $dollar callback! { $dollar($dollar words)* { $($case)* } }
            };
        }
    };
}

catalogue! { $
    AgentChanged "AGENT_CHANGED" Error
        "the agent's name or version differs from the lock"
        "Run `agent resolve` to lock the agent under its present name and version."
    ApprovalDenied "APPROVAL_DENIED" Error
        "a human did not approve a call"
        "Do something else; the same call would be asked about again."
    ApprovalRequired "APPROVAL_REQUIRED" Error
        "a human must approve a call first"
        "Have the call approved with its id, then repeat it unchanged."
    ArgumentInvalid "ARGUMENT_INVALID" Error
        "an argument violates the tool's input schema"
        "Write a value as the message describes it."
    ArgumentUnknown "ARGUMENT_UNKNOWN" Error
        "a call has an argument that the tool does not declare"
        "Remove the argument, or declare it in the tool's input schema."
    AuditChanged "AUDIT_CHANGED" Error
        "a record of an audit log is not the one that a session wrote"
        "Restore the log from a copy. A log is never edited."
    AuditInterrupted "AUDIT_INTERRUPTED" Error
        "a line of an audit log is cut off"
        "Remove the line if the gateway was interrupted while it wrote; otherwise restore the log from a copy."
    AuditInvalid "AUDIT_INVALID" Error
        "a line of an audit log is not a record"
        "Restore the log from a copy. A log is never edited."
    AuditMissing "AUDIT_MISSING" Error
        "records of an audit log are missing"
        "Give all parts of the log in their order, or restore it from a copy."
    AuditOutOfOrder "AUDIT_OUT_OF_ORDER" Error
        "a record of an audit log comes again, or after a later one"
        "Give the parts of the log in their order, each once, or restore it from a copy."
    AuditRestarted "AUDIT_RESTARTED" Warning
        "a session in an audit log is not bound to the records before"
        "Compare the end of the earlier records with a digest that was kept elsewhere."
    BinaryDocument "BINARY_DOCUMENT" Error
        "an input is not a text"
        "Name a text file."
    BundleExpired "BUNDLE_EXPIRED" Error
        "a bundle has expired"
        "Make and sign the bundle anew, with a later end and a higher sequence."
    BundleInvalid "BUNDLE_INVALID" Error
        "a file is not a bundle"
        "Make the bundle anew with `agent bundle`."
    BundleOlder "BUNDLE_OLDER" Error
        "a bundle is older than one that was accepted"
        "Sign what the older one has under a higher sequence."
    BundleUntrusted "BUNDLE_UNTRUSTED" Error
        "no trusted key signed a bundle for this place"
        "Sign the bundle with a trusted key, under the name that decides here."
    Cancelled "CANCELLED" Error
        "the user cancelled a run"
        "Run the plan again."
    ClientLimit "CLIENT_LIMIT" Warning
        "a client refuses a tool, or takes fewer tools"
        "Have the server change the tool, or lock fewer tools."
    ConflictMarkers "CONFLICT_MARKERS" Error
        "an input contains a conflict of a merge"
        "Keep one side of each conflict, and remove the lines with the markers."
    ConstraintUnmet "CONSTRAINT_UNMET" Error
        "a tool does not promise all required constraints"
        "Require fewer constraints, or have the server advertise the missing ones."
    DefinitionsChanged "DEFINITIONS_CHANGED" Error
        "the file of definitions is not the one of the lock"
        "Run `agent resolve` to write `agents.definitions.json` again."
    DefinitionChanged "DEFINITION_CHANGED" Error
        "the definition of a tool differs from the locked one"
        "Run `agent diff --old-index FILE` to review the changes, then run `agent resolve`."
    DuplicateKey "DUPLICATE_KEY" Error
        "a key appears twice in a mapping"
        "Remove one of the two keys."
    DuplicateServer "DUPLICATE_SERVER" Error
        "two entries of the index have the same id and version"
        "Remove one of the two entries, or give it another version."
    EmptyDocument "EMPTY_DOCUMENT" Error
        "an input is empty"
        "Write the document, or name the right file."
    EmptyValue "EMPTY_VALUE" Error
        "a name or a list that must have content is empty"
        "Write a value, or remove the entry that requires it."
    EndpointChanged "ENDPOINT_CHANGED" Error
        "the locked server has another endpoint"
        "Check the new endpoint, then run `agent resolve`."
    EvidenceChanged "EVIDENCE_CHANGED" Error
        "a file of evidence is not the one that the run stored"
        "Restore the whole folder of the run from a copy; don't edit evidence."
    EvidenceInconsistent "EVIDENCE_INCONSISTENT" Error
        "two records of a run contradict each other"
        "Don't rely on the run: its evidence was changed, or its writer is defective."
    EvidenceInvalid "EVIDENCE_INVALID" Error
        "a record of a run violates its schema or a catalogue"
        "Don't rely on the record: its evidence was changed, or its writer is defective."
    EvidenceMissing "EVIDENCE_MISSING" Error
        "a file or a record of a run is missing"
        "Restore the whole folder of the run from a copy; an interrupted run has no summary."
    EvidenceSecret "EVIDENCE_SECRET" Error
        "evidence contains a value that must be redacted"
        "Treat the secret as leaked: replace it, and delete all copies of the evidence."
    EvidenceTooShort "EVIDENCE_TOO_SHORT" Error
        "the evidence of a claim is too short to prove it"
        "Quote at least 8 characters of a text of the payload, or a whole value."
    EvidenceUnexpected "EVIDENCE_UNEXPECTED" Error
        "a folder of evidence contains something that the run did not store"
        "Remove it from the folder of the run, after you know where it came from."
    ExpansionDenied "EXPANSION_DENIED" Error
        "tools may not be expanded"
        "Request tools that the lock lists as `on_demand` and that the policy allows."
    ExplanationTooLarge "EXPLANATION_TOO_LARGE" Error
        "the full explanation would exceed its limit"
        "Use `agent resolve --explain=compact`; it contains the same in a fraction of the size."
    EBuild "E_BUILD" Error
        "the dependencies of a task can't be installed, or its application can't be built"
        "Read `run.log`, correct the dependencies or the files, and start the task again."
    EFs "E_FS" Error
        "a file of a task can't be read, written or patched"
        "Correct the path or the diff that the message names, and send the whole request again."
    ENetwork "E_NETWORK" Error
        "a connection of a verb failed"
        "Check that the registry or the gateway can be reached, then repeat the request."
    EPlan "E_PLAN" Error
        "a verb is called with a request, a plan or a state of its task that does not allow it"
        "Correct every place that the message names, and send the request again."
    EPolicy "E_POLICY" Error
        "the policy of the daemon does not allow a request"
        "Add what the message names to the policy, if it may be allowed."
    EPort "E_PORT" Error
        "no port is free for a task"
        "End other tasks, or the programs that occupy the ports from 61000 to 64999."
    ERuntime "E_RUNTIME" Error
        "the application of a task failed"
        "Read `run.log`, correct the files, and start the task again."
    ETimeout "E_TIMEOUT" Error
        "a verb took longer than its limit"
        "Raise `ready.timeout_sec` or `limits.wall_sec`, or have the application start sooner."
    FallbackMissing "FALLBACK_MISSING" Warning
        "no other server has a tool to fall back on"
        "Remove `fallback`, or add another server with such a tool to the index."
    ForbiddenAction "FORBIDDEN_ACTION" Error
        "a permission, a tool or a capability is forbidden"
        "Remove the permission, or remove the label from `constraints.actions.forbid`."
    ForbidAdded "FORBID_ADDED" Error
        "a label is newly forbidden"
        "Run `agent resolve` to add the label to the lock."
    ForbidRemoved "FORBID_REMOVED" Error
        "a label is no longer forbidden"
        "Review the change, which gives the agent more access, then run `agent resolve`."
    FrontmatterMissing "FRONTMATTER_MISSING" Error
        "the manifest has no frontmatter"
        "Begin the file with a line `---`, the fields, and another line `---`."
    FrontmatterUnclosed "FRONTMATTER_UNCLOSED" Error
        "the frontmatter has no closing line"
        "Add a line `---` after the last field."
    HandlerNotAdmitted "HANDLER_NOT_ADMITTED" Error
        "the operator has not admitted the handler of a binding"
        "Have the operator list the handler in `servers.local.yaml`."
    HashChanged "HASH_CHANGED" Error
        "a hash in the lock does not match its selection"
        "Run `agent resolve` to replace the lock, which was edited by hand or damaged."
    HealthVeto "HEALTH_VETO" Error
        "a server is not healthy"
        "Wait until the server is healthy, or have another one offer the capability."
    HistoryUnavailable "HISTORY_UNAVAILABLE" Error
        "the history of calls is not known"
        "Start the gateway with its audit log, which has the calls of the window, and let no other one write it."
    ImportClaims "IMPORT_CLAIMS" Warning
        "sources disagree about the capabilities of a tool"
        "Check what the tool does, and write its `x-summit-capabilities` into the overlay."
    ImportConflict "IMPORT_CONFLICT" Error
        "two documents describe one version of a server differently"
        "Import one of the two, or give them different names or versions."
    ImportFormat "IMPORT_FORMAT" Error
        "a document has no importable form"
        "Import a `server.json`, a captured `tools/list`, or the configuration of an MCP client."
    ImportIncomplete "IMPORT_INCOMPLETE" Warning
        "a document is one page of several"
        "Import the other pages too."
    ImportNoCapability "IMPORT_NO_CAPABILITY" Warning
        "a tool declares no capabilities"
        "Add `x-summit-capabilities` for the tool to the overlay, so that requirements can match it."
    ImportToolRemoved "IMPORT_TOOL_REMOVED" Warning
        "a tool of the index is missing from the capture"
        "Import a complete capture if the server still has the tool."
    ImportUnrated "IMPORT_UNRATED" Warning
        "nothing rates the data of a server"
        "Write the server's `data` and `trust` into the overlay."
    ImportUnused "IMPORT_UNUSED" Warning
        "a part of the overlay or of a document has no effect"
        "Correct the name, or remove the part."
    ImportValue "IMPORT_VALUE" Error
        "a value of an imported document can't be used unchanged"
        "Write the value into the overlay."
    InputDenied "INPUT_DENIED" Error
        "the profile does not accept a query"
        "Make the query shorter, or ask about something else."
    InputTooLarge "INPUT_TOO_LARGE" Error
        "an input is larger than its limit"
        "Split the input, or check that it is the intended file."
    IntegrityChanged "INTEGRITY_CHANGED" Error
        "the server's entry in the index differs from the locked one"
        "Review the changes of the entry, then run `agent resolve`."
    InvalidEndpoint "INVALID_ENDPOINT" Error
        "an endpoint is neither a usable URL nor a package URL"
        "Write an `http` or `https` URL without user info, or a package URL."
    InvalidName "INVALID_NAME" Error
        "a name contains a forbidden character"
        "Remove the character; it would make hashes or output ambiguous."
    InvalidUtf8 "INVALID_UTF8" Error
        "an input is not UTF-8"
        "Save the file as UTF-8."
    InvisibleCharacter "INVISIBLE_CHARACTER" Error
        "a definition contains a character that readers can't see"
        "Remove the character from the server's definition, or list the other tools under `only`, then run `agent resolve`."
    JsonSyntax "JSON_SYNTAX" Error
        "a text is not JSON"
        "Write one strict JSON value, without comments and trailing commas."
    LoadChanged "LOAD_CHANGED" Error
        "the agent sees a locked tool at another time"
        "Run `agent resolve` to update the lock."
    LockInvalid "LOCK_INVALID" Error
        "a lock contains something that `agent resolve` never writes"
        "Run `agent resolve` to replace the lock."
    LockMissing "LOCK_MISSING" Error
        "a required lock does not exist"
        "Run `agent resolve` and commit `agents.lock`."
    LockVersion "LOCK_VERSION" Error
        "a lock has a later format"
        "Use a version of `agent` that supports this format."
    LoneSurrogate "LONE_SURROGATE" Error
        "a JSON string contains half of a surrogate pair"
        "Write the character itself, or both halves of its escape."
    LookalikeId "LOOKALIKE_ID" Warning
        "two ids look alike but differ"
        "Check that you name the intended id; ids are compared by code point."
    MisplacedKey "MISPLACED_KEY" Error
        "a restriction is where it restricts nothing"
        "Move it below `constraints`, or let the key of another tool begin with `x-`."
    MissingCapability "MISSING_CAPABILITY" Error
        "a tool does not advertise the required capability"
        "Require a capability that a tool advertises, or have a server advertise it."
    MissingCategory "MISSING_CATEGORY" Error
        "a server does not offer the required category"
        "Require a category that the server offers, or use another server."
    MissingField "MISSING_FIELD" Error
        "a required field is absent"
        "Add the field."
    MissingScope "MISSING_SCOPE" Error
        "a server does not support a required permission"
        "Require fewer permissions, or have the server support the missing ones."
    MisspeltKey "MISSPELT_KEY" Error
        "a key is spelled almost like a field"
        "Write the key as the field is spelled, or give it another name."
    NestingTooDeep "NESTING_TOO_DEEP" Error
        "an input is nested too deeply"
        "Flatten the input to at most 64 levels of YAML, or 128 of JSON."
    NotReadonly "NOT_READONLY" Error
        "a one-call plan calls a tool that may write"
        "Call a tool that advertises `readonly` for all its capabilities."
    NumberNotExact "NUMBER_NOT_EXACT" Error
        "a number of a plan would change in a digest"
        "Write the number as a string, or with at most 15 digits."
    NumberOutOfRange "NUMBER_OUT_OF_RANGE" Error
        "a number is too large for its field"
        "Write a number below 1.8e308; a whole number may have at most 64 bits."
    OutputInvalid "OUTPUT_INVALID" Error
        "the payload of a call is not a usable result of its tool"
        "Correct the tool: it must return a `CallToolResult` that fits its output schema."
    PatternsNarrowed "PATTERNS_NARROWED" Error
        "unusable patterns of a tool are no longer ignored"
        "Run `agent resolve` to update the lock."
    PatternsWidened "PATTERNS_WIDENED" Error
        "unusable patterns of a tool are newly ignored"
        "Review the change, which gives the agent more access, then run `agent resolve`."
    PlannerFailed "PLANNER_FAILED" Error
        "the planner made no plan"
        "Run the planner's command by itself, and read what it prints."
    PlanNotJson "PLAN_NOT_JSON" Error
        "a plan is not one strict JSON value"
        "Have the planner answer with the JSON object alone, without prose around it."
    PlanShape "PLAN_SHAPE" Error
        "a plan has an unsupported type"
        "Have the planner answer with a tool call or a clarification."
    PolicyChanged "POLICY_CHANGED" Error
        "the policy is not the one that the lock was made under"
        "Give the policy of the lock, or review the new one and run `agent resolve` with it."
    PolicyDeadRule "POLICY_DEAD_RULE" Warning
        "a policy compares with a value or reads a path that never occurs"
        "Correct the spelling of the value or the path, or remove the rule."
    PolicyDenied "POLICY_DENIED" Error
        "the policy does not allow a tool"
        "Read the reason that the policy returned, and the rule that denies."
    PolicyEachCandidate "POLICY_EACH_CANDIDATE" Note
        "a policy is evaluated for each candidate"
        "In a large index, decide each candidate by members of its own; nothing is wrong."
    PolicyError "POLICY_ERROR" Error
        "the policy returned no valid answer, so everything is denied"
        "Run `agent policy check` to find the failing rule, and correct it."
    PolicyMissing "POLICY_MISSING" Error
        "the lock was made under a policy, and none is given"
        "Give the policy with `--policy FILE`, or the tenant that names it with `--tenant FILE`."
    PolicyNarrowed "POLICY_NARROWED" Error
        "a policy newly denies a tool"
        "Review the change; an agent that needs the tool can no longer call it."
    PolicyNeverAllows "POLICY_NEVER_ALLOWS" Error
        "a policy can never allow a tool, or not in one phase"
        "Write a rule `allowed_tools contains tool.id if …` that can hold there."
    PolicyReasonChanged "POLICY_REASON_CHANGED" Error
        "a policy denies a tool for another reason"
        "Review the change; the answer is the same."
    PolicyRuleUnused "POLICY_RULE_UNUSED" Note
        "a rule of the policy held for nothing"
        "Check whether another input needs the rule; nothing is wrong."
    PolicySyntax "POLICY_SYNTAX" Error
        "a policy can't be compiled"
        "Correct the Rego at the place shown."
    PolicyTestFailed "POLICY_TEST_FAILED" Error
        "a test of a policy fails"
        "Correct the policy, or the test if its expectation is wrong."
    PolicyV0 "POLICY_V0" Error
        "a policy is written in Rego v0"
        "Write `if` before the body of a rule, and `contains` before an element of a set."
    PolicyWidened "POLICY_WIDENED" Error
        "a policy newly allows a tool"
        "Review the change, which gives the agent more access."
    QuotaExceeded "QUOTA_EXCEEDED" Error
        "a client called a server more often than its entry allows"
        "Wait, then repeat the call."
    QuotaMissing "QUOTA_MISSING" Error
        "a tool is rate limited, and its entry has no limit"
        "Add `policy.rateLimitPerMin` to the server's entry in the index, then run `agent resolve`."
    ReplayDiffers "REPLAY_DIFFERS" Error
        "a recorded run or call would be decided otherwise"
        "Compare the rules of the run with the ones of the replay."
    RequirementAdded "REQUIREMENT_ADDED" Error
        "a category or a capability is newly required"
        "Review the change, which gives the agent more access, then run `agent resolve`."
    RequirementRemoved "REQUIREMENT_REMOVED" Error
        "a locked category or capability is no longer required"
        "Run `agent resolve` to remove it from the lock."
    ResidencyMismatch "RESIDENCY_MISMATCH" Error
        "a server keeps its data elsewhere than required"
        "Use a server with the required residency, or have the server offer it."
    SchemaBudget "SCHEMA_BUDGET" Error
        "evaluating a schema would exceed its budget"
        "Simplify the schema, above all references that multiply."
    SchemaDraft "SCHEMA_DRAFT" Warning
        "a schema that names no draft is read as an older one"
        "Have the server name the draft of its schemas, by `$schema`."
    SchemaInvalid "SCHEMA_INVALID" Error
        "a schema can't be used"
        "Correct the schema at the place shown; it may not refer to another host."
    ScopeNarrowed "SCOPE_NARROWED" Error
        "a locked scope is no longer required"
        "Run `agent resolve` to remove it from the lock."
    ScopeWidened "SCOPE_WIDENED" Error
        "a required scope is not in the lock"
        "Review the change, which gives the agent more access, then run `agent resolve`."
    SecretInLink "SECRET_IN_LINK" Error
        "a document for a link contains a secret"
        "Remove the secret from the document, or pass `--redact` to replace it in the link."
    SelectionChanged "SELECTION_CHANGED" Error
        "the selected server differs from the locked one"
        "Review the new server, then run `agent resolve`."
    SensitivityExceeded "SENSITIVITY_EXCEEDED" Error
        "a server may not hold data as sensitive as required"
        "Use a server with a higher `maxSensitivity`."
    ServerDeleted "SERVER_DELETED" Error
        "a registry has deleted a server"
        "Remove the server from the document, and do not use it."
    ServerDeprecated "SERVER_DEPRECATED" Warning
        "a registry calls a server deprecated, or has a newer version"
        "Import the version that the registry recommends."
    ServerFailed "SERVER_FAILED" Error
        "a server did not answer a call with a result"
        "Check the server with `agent status`, then repeat the call."
    ServerRemoved "SERVER_REMOVED" Error
        "the locked server is no longer in the index"
        "Run `agent resolve` to select another server."
    ServeNarrowed "SERVE_NARROWED" Error
        "a gateway no longer passes on something of a server"
        "Run `agent resolve` to update the lock."
    ServeWidened "SERVE_WIDENED" Error
        "a gateway would pass on something of a server that is not in the lock"
        "Review the change, which gives the agent more access, then run `agent resolve`."
    SessionLimit "SESSION_LIMIT" Error
        "a limit of the session is reached"
        "Wait until other calls are done, then repeat the call."
    StateRequired "STATE_REQUIRED" Error
        "a call can't be decided by documents alone"
        "Send the call through `agent serve`, which knows earlier calls, approvals and servers."
    StateUnavailable "STATE_UNAVAILABLE" Error
        "what decides on a call beside the documents can't be read or written"
        "Ask again later. Nothing was allowed; a call whose answer was lost may be counted."
    StubCollision "STUB_COLLISION" Error
        "two exposed tools would have the same name"
        "Rename a server in the index; the name of a stub contains the server's id."
    TenantUnknown "TENANT_UNKNOWN" Error
        "the configuration does not determine the tenant"
        "Name a tenant of the configuration with `--tenant-id`."
    TextAroundDocument "TEXT_AROUND_DOCUMENT" Error
        "a document has other text around it"
        "Remove the text around the document."
    TokenBudgetExceeded "TOKEN_BUDGET_EXCEEDED" Error
        "the definitions of the tools would exceed the token budget"
        "Request fewer tools, or raise `token_budget` of the tenant."
    ToolsNarrowed "TOOLS_NARROWED" Error
        "a locked tool of a server is no longer required"
        "Run `agent resolve` to remove it from the lock."
    ToolsWidened "TOOLS_WIDENED" Error
        "a required tool of a server is not in the lock"
        "Review the change, which gives the agent more access, then run `agent resolve`."
    ToolChanged "TOOL_CHANGED" Error
        "the selected tool differs from the locked one"
        "Review the new tool, then run `agent resolve`."
    ToolMissing "TOOL_MISSING" Error
        "a server does not have a required tool"
        "Name the tools that the server has in `only`, or use another server."
    ToolNotLocked "TOOL_NOT_LOCKED" Error
        "a plan calls a tool that the lock does not contain"
        "Require its capability or the category of its server, then run `agent resolve`."
    ToolUnknown "TOOL_UNKNOWN" Error
        "a plan calls a tool that no server lists"
        "Name a tool of the catalogue, with the same spelling."
    Unavailable "UNAVAILABLE" Error
        "the host can't carry out an effect"
        "Run `agent sandbox` to see what this machine offers."
    Ungrounded "UNGROUNDED" Error
        "the payload does not contain the evidence of a claim"
        "Quote a text of the payload character for character, or remove the claim."
    UnknownKey "UNKNOWN_KEY" Error
        "no field, server or action has this name"
        "Correct the spelling of the name, or remove it; it has no effect."
    UnknownValue "UNKNOWN_VALUE" Error
        "a field does not allow its value"
        "Write one of the allowed values."
    Unsatisfied "UNSATISFIED" Error
        "no server or tool is eligible for a requirement"
        "Run `agent why` with the category or capability to see the nearest ones."
    UnsignedNotAllowed "UNSIGNED_NOT_ALLOWED" Error
        "a server is not signed although signatures are required"
        "Use a signed server, or have the publisher sign it."
    VersionChanged "VERSION_CHANGED" Error
        "the locked server is selected in another version"
        "Review the new version, then run `agent resolve`."
    WrongDocument "WRONG_DOCUMENT" Error
        "an input is a document of another kind"
        "Give the document where it belongs."
    WrongEncoding "WRONG_ENCODING" Error
        "an input is not encoded in UTF-8"
        "Save the file as UTF-8."
    WrongType "WRONG_TYPE" Error
        "a value has another type than its field"
        "Write a value of the field's type."
    YamlSyntax "YAML_SYNTAX" Error
        "a text is not YAML"
        "Correct the YAML at the place shown."
    YamlUnsupported "YAML_UNSUPPORTED" Error
        "a text uses YAML outside the supported subset"
        "Write the value out, without anchors, aliases, tags, merge keys or further documents."
    MovaDestinationDenied "destination_denied" Error
        "a step would connect to a forbidden destination"
        "Use one of the destinations of the tool's binding."
    MovaHandlerFailed "handler_failed" Error
        "a handler or the tool behind it failed, or the user cancelled the run"
        "Read the log of the step, correct the tool or its input, and run the plan again."
    MovaInternal "internal" Error
        "the program failed, not the plan"
        "Check that the folder of the evidence can be written; otherwise report the defect."
    MovaLimitExceeded "limit_exceeded" Error
        "a plan or one of its steps exceeds a limit"
        "Stay below the limit, or have the cap of the profile raised."
    MovaOutputInvalid "output_invalid" Error
        "an output violates its schema"
        "Discard the output, and correct the tool or the schema's rule."
    MovaPolicyDenied "policy_denied" Error
        "the instruction profile, the tool pool or the lock does not allow a step"
        "Use an allowed tool, or have the rule changed."
    MovaTimeout "timeout" Error
        "a step took longer than its limit"
        "Raise `timeout_ms` of the tool's binding, or have the tool answer sooner."
    MovaValidationFailed "validation_failed" Error
        "a document of a plan is invalid"
        "Write a value that the rule allows."
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
