//! The schemas of requests, responses and manifests \[2, 2 and 3\]: the files in `schemas/`.

use super::failure::Problems;
use super::verb::DaemonVerb;
use agent_json_schema::{Budget, Correction, NamedText, SchemaSet, Violation, without_follow_ups};
use agent_syntax::Node;
use std::borrow::Cow;
use std::sync::LazyLock;

/// A document with a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaOf {
    /// The input of a verb.
    Input(DaemonVerb),
    /// The whole response of a verb.
    Output(DaemonVerb),
    /// The manifest that a runner makes.
    Manifest,
    /// What a planner answers with: `data` of `plan.create` without the task.
    FilePlan,
}

macro_rules! file {
    ($name:literal) => {
        include_str!(concat!("../../../schemas/", $name, ".json"))
    };
}

/// The schemas of inputs and responses of `v1`, in the order of the verbs.
const VERBS: [[&str; 2]; 5] = [
    [file!("plan.create.v1"), file!("plan.create.v1.output")],
    [file!("fs.apply.v1"), file!("fs.apply.v1.output")],
    [file!("run.start.v1"), file!("run.start.v1.output")],
    [
        file!("httpcheck.assert.v1"),
        file!("httpcheck.assert.v1.output"),
    ],
    [file!("report.finish.v1"), file!("report.finish.v1.output")],
];

const MANIFEST: &str = file!("manifest.v1");

/// A file plan is a part of the response of `plan.create`.
const FILE_PLAN: &str = r#"{"$ref": "https://assertlang.dev/schemas/plan.create.v1.output.json#/$defs/file_plan", "unevaluatedProperties": false}"#;

const PLAN_CREATE_OUTPUT: &str = "https://assertlang.dev/schemas/plan.create.v1.output.json";

static SCHEMAS: LazyLock<SchemaSet> = LazyLock::new(|| {
    let documents = vec![NamedText {
        uri: PLAN_CREATE_OUTPUT.to_owned(),
        text: Cow::Borrowed(SchemaOf::Output(DaemonVerb::PlanCreate).text()),
    }];
    let verbs = DaemonVerb::ALL.into_iter();
    let kinds = verbs.flat_map(|verb| [SchemaOf::Input(verb), SchemaOf::Output(verb)]);
    let kinds = kinds.chain([SchemaOf::Manifest, SchemaOf::FilePlan]);
    SchemaSet::new(documents, kinds.map(|it| it.text().to_owned()).collect())
});

impl SchemaOf {
    /// Returns the schema: JSON that ends with a newline, except for a file plan, which has no file.
    pub fn text(self) -> &'static str {
        match self {
            Self::Input(verb) => VERBS[verb as usize][0],
            Self::Output(verb) => VERBS[verb as usize][1],
            Self::Manifest => MANIFEST,
            Self::FilePlan => FILE_PLAN,
        }
    }

    fn number(self) -> usize {
        match self {
            Self::Input(verb) => 2 * verb as usize,
            Self::Output(verb) => 2 * verb as usize + 1,
            Self::Manifest => 2 * VERBS.len(),
            Self::FilePlan => 2 * VERBS.len() + 1,
        }
    }

    /// Adds every violation by a document.
    pub(crate) fn check(self, document: &Node<'_>, problems: &mut Problems) {
        let mut budget = Budget::new();
        // A test compiles every schema, so only the check itself can end early.
        let checked = SCHEMAS.with(self.number(), |schema| schema.check(document, &mut budget));
        let violations = match checked {
            Ok(Ok(violations)) => without_follow_ups(violations),
            Ok(Err(over)) => return problems.add(over.reason(), "send a smaller document"),
            Err(_) => return problems.add("the schema can't be used", ""),
        };
        for violation in &violations {
            add(violation, problems);
        }
    }
}

/// Adds a violation. What a condition requires is named by itself.
fn add(violation: &Violation, problems: &mut Problems) {
    if matches!(violation.keyword, "then" | "else") && !violation.causes.is_empty() {
        for cause in &violation.causes {
            add(cause, problems);
        }
        return;
    }
    let (message, hint) = worded(violation);
    problems.add(message, hint);
}

/// Returns the message of a violation, and what to do about it.
fn worded(violation: &Violation) -> (String, String) {
    let at = match &*violation.instance {
        "" => "the document".to_owned(),
        pointer => format!("`{pointer}`"),
    };
    let hint = match violation.corrections.first() {
        Some(Correction::Key { from, to, .. }) => format!("rename `{from}` to `{to}`"),
        Some(Correction::Value(json)) => format!("set {at} to `{json}`"),
        Some(Correction::List) => format!("put {at} into a list"),
        Some(Correction::Item(_)) => format!("write the only item of {at} without its list"),
        None => "compare the document with its schema in `schemas/`".to_owned(),
    };
    (format!("{at} {}", violation.message), hint)
}

#[cfg(test)]
mod tests {
    use super::{PLAN_CREATE_OUTPUT, SCHEMAS, SchemaOf, VERBS};
    use crate::limits;
    use crate::verb::DaemonVerb;
    use agent_json_schema::{Budget, at_pointer};
    use agent_syntax::json::parse_strict;
    use agent_syntax::members::{member, number, string};

    #[test]
    fn limits_of_schemas_are_the_constants() {
        use DaemonVerb::{FsApply, HttpcheckAssert, PlanCreate, ReportFinish, RunStart};
        use SchemaOf::{Input, Manifest, Output};
        let plan = "/$defs/file_plan/properties";
        let probe = "/properties/probes/items/properties";
        for (of, pointer, limit) in [
            (
                Input(PlanCreate),
                "/properties/prompt/maxLength",
                limits::PROMPT_MAX_BYTES,
            ),
            (
                Output(PlanCreate),
                &format!("{plan}/files/maxItems"),
                limits::FILES_MAX,
            ),
            (
                Output(PlanCreate),
                &format!("{plan}/files/items/properties/path/maxLength"),
                limits::PATH_MAX_BYTES,
            ),
            (
                Output(PlanCreate),
                &format!("{plan}/files/items/properties/mode/maximum"),
                limits::MODE_MAX as usize,
            ),
            (
                Output(PlanCreate),
                &format!("{plan}/start/maxLength"),
                limits::COMMAND_MAX_BYTES,
            ),
            (
                Output(PlanCreate),
                &format!("{plan}/assumptions/maxItems"),
                limits::ASSUMPTIONS_MAX,
            ),
            (
                Output(PlanCreate),
                &format!("{plan}/assumptions/items/maxLength"),
                limits::ASSUMPTION_MAX_BYTES,
            ),
            (
                Output(PlanCreate),
                &format!("{plan}/deps/properties/go/properties/modules/maxItems"),
                limits::DEPENDENCIES_MAX,
            ),
            (
                Input(FsApply),
                "/properties/writes/maxItems",
                limits::FILES_MAX,
            ),
            (
                Input(FsApply),
                "/properties/patches/maxItems",
                limits::FILES_MAX,
            ),
            (
                Input(FsApply),
                "/properties/writes/items/properties/mode/maximum",
                limits::MODE_MAX as usize,
            ),
            (
                Input(RunStart),
                "/properties/cmd/maxLength",
                limits::COMMAND_MAX_BYTES,
            ),
            (
                Input(RunStart),
                "/properties/env/maxProperties",
                limits::ENV_MAX,
            ),
            (
                Input(RunStart),
                "/properties/env/propertyNames/maxLength",
                limits::ENV_NAME_MAX_BYTES,
            ),
            (
                Input(RunStart),
                "/properties/env/additionalProperties/maxLength",
                limits::ENV_VALUE_MAX_BYTES,
            ),
            (
                Input(HttpcheckAssert),
                "/properties/probes/maxItems",
                limits::PROBES_MAX,
            ),
            (
                Input(HttpcheckAssert),
                &format!("{probe}/path/maxLength"),
                limits::PROBE_PATH_MAX_BYTES,
            ),
            (
                Input(HttpcheckAssert),
                &format!("{probe}/expect_body/maxLength"),
                limits::EXPECT_BODY_MAX_BYTES,
            ),
            (
                Input(HttpcheckAssert),
                &format!("{probe}/headers/maxProperties"),
                limits::PROBE_HEADERS_MAX,
            ),
            (
                Input(HttpcheckAssert),
                &format!("{probe}/headers/propertyNames/maxLength"),
                limits::HEADER_NAME_MAX_BYTES,
            ),
            (
                Input(HttpcheckAssert),
                &format!("{probe}/headers/additionalProperties/maxLength"),
                limits::HEADER_VALUE_MAX_BYTES,
            ),
            (
                Input(ReportFinish),
                "/properties/include/maxItems",
                limits::INCLUDE_MAX,
            ),
            (
                Manifest,
                "/properties/files/maxItems",
                limits::SOURCE_FILES_MAX,
            ),
        ] {
            let tree = parse_strict(of.text()).expect("strict JSON");
            let found = at_pointer(&tree, pointer).and_then(number);
            assert_eq!(found, Some(limit as u64), "{of:?} {pointer}");
        }
    }

    #[test]
    fn every_schema_compiles_and_names_its_file() {
        for number in 0..2 * VERBS.len() + 2 {
            assert_eq!(
                SCHEMAS.compile(number, &mut Budget::new()),
                Ok(()),
                "{number}"
            );
        }
        let id = |of: SchemaOf| {
            let tree = parse_strict(of.text()).expect("strict JSON");
            member(&tree, "$id").and_then(string).map(str::to_owned)
        };
        for verb in DaemonVerb::ALL {
            let uri = format!("https://assertlang.dev/schemas/{}.v1", verb.name());
            assert_eq!(id(SchemaOf::Input(verb)), Some(format!("{uri}.json")));
            assert_eq!(
                id(SchemaOf::Output(verb)),
                Some(format!("{uri}.output.json"))
            );
        }
        let uri = id(SchemaOf::Output(DaemonVerb::PlanCreate));
        assert_eq!(uri.as_deref(), Some(PLAN_CREATE_OUTPUT));
    }
}
