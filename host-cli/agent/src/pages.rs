//! The documentation page of each code.

macro_rules! pages {
    ($($folder:literal: $($code:literal,)*;)*) => {
        &[$($((
            $code,
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/codes/", $folder, $code, ".md"
            )),
        ),)*)*]
    };
}

/// Returns the page of a code, as Markdown.
pub(crate) fn of(code: &str) -> Option<&'static str> {
    let page = PAGES.binary_search_by_key(&code, |(known, _)| known).ok()?;
    Some(PAGES[page].1)
}

/// The codes and their pages, ordered by code.
const PAGES: &[(&str, &str)] = pages!["":
    "AGENT_CHANGED",
    "APPROVAL_DENIED",
    "APPROVAL_REQUIRED",
    "ARGUMENT_INVALID",
    "ARGUMENT_UNKNOWN",
    "AUDIT_CHANGED",
    "AUDIT_INTERRUPTED",
    "AUDIT_INVALID",
    "AUDIT_MISSING",
    "AUDIT_OUT_OF_ORDER",
    "AUDIT_RESTARTED",
    "BINARY_DOCUMENT",
    "CONFLICT_MARKERS",
    "CONSTRAINT_UNMET",
    "DEFINITIONS_CHANGED",
    "DEFINITION_CHANGED",
    "DUPLICATE_KEY",
    "DUPLICATE_SERVER",
    "EMPTY_DOCUMENT",
    "EMPTY_VALUE",
    "ENDPOINT_CHANGED",
    "EVIDENCE_CHANGED",
    "EVIDENCE_INCONSISTENT",
    "EVIDENCE_INVALID",
    "EVIDENCE_MISSING",
    "EVIDENCE_SECRET",
    "EVIDENCE_TOO_SHORT",
    "EVIDENCE_UNEXPECTED",
    "EXPANSION_DENIED",
    "EXPLANATION_TOO_LARGE",
    "E_BUILD",
    "E_FS",
    "E_NETWORK",
    "E_PLAN",
    "E_POLICY",
    "E_PORT",
    "E_RUNTIME",
    "E_TIMEOUT",
    "FALLBACK_MISSING",
    "FORBIDDEN_ACTION",
    "FORBID_ADDED",
    "FORBID_REMOVED",
    "FRONTMATTER_MISSING",
    "FRONTMATTER_UNCLOSED",
    "HASH_CHANGED",
    "HEALTH_VETO",
    "IMPORT_CLAIMS",
    "IMPORT_FORMAT",
    "IMPORT_NO_CAPABILITY",
    "IMPORT_TOOL_REMOVED",
    "IMPORT_UNUSED",
    "IMPORT_VALUE",
    "INPUT_DENIED",
    "INPUT_TOO_LARGE",
    "INTEGRITY_CHANGED",
    "INVALID_ENDPOINT",
    "INVALID_NAME",
    "INVALID_UTF8",
    "INVISIBLE_CHARACTER",
    "JSON_SYNTAX",
    "LOAD_CHANGED",
    "LOCK_INVALID",
    "LOCK_MISSING",
    "LOCK_VERSION",
    "LONE_SURROGATE",
    "LOOKALIKE_ID",
    "MISSING_CAPABILITY",
    "MISSING_CATEGORY",
    "MISSING_FIELD",
    "MISSING_SCOPE",
    "MISSPELT_KEY",
    "NESTING_TOO_DEEP",
    "NOT_READONLY",
    "NUMBER_NOT_EXACT",
    "NUMBER_OUT_OF_RANGE",
    "OUTPUT_INVALID",
    "PLAN_NOT_JSON",
    "PLAN_SHAPE",
    "POLICY_CHANGED",
    "POLICY_DEAD_RULE",
    "POLICY_DENIED",
    "POLICY_ERROR",
    "POLICY_MISSING",
    "POLICY_RULE_UNUSED",
    "POLICY_SYNTAX",
    "POLICY_TEST_FAILED",
    "POLICY_V0",
    "QUOTA_EXCEEDED",
    "QUOTA_MISSING",
    "REPLAY_DIFFERS",
    "REQUIREMENT_ADDED",
    "REQUIREMENT_REMOVED",
    "RESIDENCY_MISMATCH",
    "SCHEMA_BUDGET",
    "SCHEMA_INVALID",
    "SCOPE_NARROWED",
    "SCOPE_WIDENED",
    "SELECTION_CHANGED",
    "SENSITIVITY_EXCEEDED",
    "SERVER_FAILED",
    "SERVER_REMOVED",
    "SERVE_NARROWED",
    "SERVE_WIDENED",
    "SESSION_LIMIT",
    "STUB_COLLISION",
    "TENANT_UNKNOWN",
    "TEXT_AROUND_DOCUMENT",
    "TOKEN_BUDGET_EXCEEDED",
    "TOOLS_NARROWED",
    "TOOLS_WIDENED",
    "TOOL_CHANGED",
    "TOOL_MISSING",
    "TOOL_NOT_LOCKED",
    "TOOL_UNKNOWN",
    "UNGROUNDED",
    "UNKNOWN_KEY",
    "UNKNOWN_VALUE",
    "UNSATISFIED",
    "UNSIGNED_NOT_ALLOWED",
    "VERSION_CHANGED",
    "WRONG_DOCUMENT",
    "WRONG_ENCODING",
    "WRONG_TYPE",
    "YAML_SYNTAX",
    "YAML_UNSUPPORTED",
    ;
    "plan/":
    "destination_denied",
    "handler_failed",
    "internal",
    "limit_exceeded",
    "output_invalid",
    "policy_denied",
    "timeout",
    "validation_failed",
    ;
];

#[cfg(test)]
mod tests {
    use super::PAGES;
    use agent_host::Engine;

    #[test]
    fn every_code_has_a_page_and_every_page_a_code() {
        let mut engine = Engine::embedded().unwrap().instantiate().unwrap();
        let codes: Vec<_> = engine
            .catalogue()
            .unwrap()
            .iter()
            .map(|entry| entry.name.as_str())
            .collect();
        assert_eq!(
            PAGES.iter().map(|(code, _)| *code).collect::<Vec<_>>(),
            codes
        );
    }
}
