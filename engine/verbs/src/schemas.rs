//! The schemas of requests, responses and manifests \[2, 2 and 3\]: the files in `schemas/`.

use super::failure::Problems;
use super::verb::DaemonVerb;
use agent_json_schema::{
    Budget, Correction, NamedText, SchemaSet, Violation, at_pointer, without_follow_ups,
};
use agent_syntax::Node;
use agent_syntax::json::parse_strict;
use agent_text::Span;
use std::borrow::Cow;
use std::sync::LazyLock;

/// A document with a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaOf {
    /// The input of a verb.
    Input(DaemonVerb),
    /// The arguments of a verb's MCP tool: its input, with the task.
    Tool(DaemonVerb),
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

/// A file plan is a part of the response of `plan.create`, and has no other members.
const FILE_PLAN: &str = r#"{"$ref": "https://assertlang.dev/schemas/plan.create.v1.output.json#/$defs/file_plan", "unevaluatedProperties": false}"#;

const PLAN_CREATE_OUTPUT: &str = "https://assertlang.dev/schemas/plan.create.v1.output.json";

/// The property that names the task among the arguments of a tool.
const TASK_ID: &str = r#""task_id": {"type": "string", "pattern": "^[0-9a-f]{6}$"},"#;

static SCHEMAS: LazyLock<SchemaSet> = LazyLock::new(|| {
    let documents = vec![NamedText {
        uri: PLAN_CREATE_OUTPUT.to_owned(),
        text: Cow::Borrowed(VERBS[DaemonVerb::PlanCreate as usize][1]),
    }];
    let verbs = VERBS.iter().flatten().copied();
    let roots = verbs.chain([MANIFEST, FILE_PLAN]).map(str::to_owned);
    SchemaSet::new(documents, roots.collect())
});

impl SchemaOf {
    /// Returns the schema as JSON. It refers to no other document.
    pub fn text(self) -> Cow<'static, str> {
        match self {
            Self::Input(verb) => Cow::Borrowed(VERBS[verb as usize][0]),
            Self::Tool(verb) => tool(verb),
            Self::Output(verb) => Cow::Borrowed(VERBS[verb as usize][1]),
            Self::Manifest => Cow::Borrowed(MANIFEST),
            Self::FilePlan => {
                let output = VERBS[DaemonVerb::PlanCreate as usize][1];
                Cow::Borrowed(part(output, "/$defs/file_plan").of(output))
            }
        }
    }

    /// Returns the number of the schema in the set. Arguments of a tool are checked as an input, after their
    /// task was taken out.
    fn number(self) -> usize {
        match self {
            Self::Input(verb) | Self::Tool(verb) => 2 * verb as usize,
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
            self.add(violation, problems);
        }
    }

    /// Adds a violation. What a condition requires is named by itself.
    fn add(self, violation: &Violation, problems: &mut Problems) {
        if matches!(violation.keyword, "then" | "else") && !violation.causes.is_empty() {
            for cause in &violation.causes {
                self.add(cause, problems);
            }
            return;
        }
        let (message, hint) = self.worded(violation);
        problems.add(message, hint);
    }

    /// Returns the message of a violation, and what to do about it.
    fn worded(self, violation: &Violation) -> (String, String) {
        let at = match &*violation.instance {
            "" => "the document".to_owned(),
            pointer => format!("`{pointer}`"),
        };
        let hint = match violation.corrections.first() {
            Some(Correction::Key { from, to, .. }) => format!("rename `{from}` to `{to}`"),
            Some(Correction::Value(json)) => format!("set {at} to `{json}`"),
            Some(Correction::List) => format!("put {at} into a list"),
            Some(Correction::Item(_)) => format!("write the only item of {at} without its list"),
            None => {
                let name = violation.instance.rsplit('/').next().unwrap_or_default();
                let known = HINTS.iter().find(|(known, _)| *known == name);
                let other = || format!("compare the document with its schema, {}", self.place());
                known.map_or_else(other, |(_, hint)| (*hint).to_owned())
            }
        };
        (format!("{at} {}", violation.message), hint)
    }

    /// Returns where somebody without these files finds the schema.
    const fn place(self) -> &'static str {
        match self {
            Self::Input(_) | Self::Tool(_) => "which `tools/list` has",
            Self::Output(_) => "which the reference of the verbs has",
            Self::Manifest => "which the reference of runners has",
            Self::FilePlan => "which the planner got as `schema`",
        }
    }
}

/// Returns the schema of a tool's arguments. A plan opens a task, so it has none before.
fn tool(verb: DaemonVerb) -> Cow<'static, str> {
    let input = VERBS[verb as usize][0];
    if verb == DaemonVerb::PlanCreate {
        return Cow::Borrowed(input);
    }
    // After the bracket that opens the properties.
    let properties = part(input, "/properties").start as usize + 1;
    let (before, after) = input.split_at(properties.min(input.len()));
    Cow::Owned(format!("{before}\n    {TASK_ID}{after}"))
}

/// Returns the place of a part of a schema. A test finds every part that is asked for.
fn part(schema: &str, pointer: &str) -> Span {
    let root = parse_strict(schema);
    let part = root.as_ref().and_then(|root| at_pointer(root, pointer));
    part.map_or_else(Span::default, |it| it.span)
}

/// What to do about a value, by the name of its member.
const HINTS: [(&str, &str); 11] = [
    ("cpu_pct", "use a whole number of percent from 1 to 100"),
    ("expect_status", "use a status from 100 to 599"),
    ("lang", "use python, node, go or rust"),
    ("lang_hint", "list python, node, go or rust"),
    ("mem_mb", "use a whole number of MiB from 32 to 8192"),
    (
        "mode",
        "use a mode from 0 to 511, such as 420 for 0o644: setuid, setgid and sticky are not allowed",
    ),
    ("port", "use a port from 61000 to 64999"),
    ("port_hint", "use a port from 1025 to 65535, or null"),
    (
        "task_id",
        "use the 6 hex digits that `plan.create` answered with",
    ),
    ("timeout_sec", "use a whole number of seconds from 1 to 600"),
    ("wall_sec", "use a whole number of seconds from 1 to 3600"),
];

#[cfg(test)]
mod tests {
    use super::{PLAN_CREATE_OUTPUT, SCHEMAS, SchemaOf, VERBS};
    use crate::limits;
    use crate::verb::DaemonVerb;
    use agent_json_schema::{Budget, JsonText, at_pointer, with_schema};
    use agent_syntax::json::parse_strict;
    use agent_syntax::members::{member, number, string};

    /// Returns whether a document obeys a schema, which may refer to nothing but itself.
    fn obeys(schema: &str, document: &str) -> bool {
        let document = JsonText::read(document).expect("JSON");
        let checked = with_schema(schema, &mut Budget::new(), |schema, budget| {
            let schema = schema.expect("a schema");
            schema.check_json(document.root(), budget)
        });
        checked.expect("JSON").expect("a verdict").is_empty()
    }

    #[test]
    fn violations_have_useful_hints() {
        for (text, message, hint) in [
            (
                r#"{"cmd": "x", "limits": {"cpu_pct": 0}}"#,
                "`/limits/cpu_pct` ",
                "use a whole number of percent",
            ),
            (
                r#"{"cmd": "x", "limits": {"cpu_pct": "50"}}"#,
                "`/limits/cpu_pct` ",
                "set `/limits/cpu_pct` to `50`",
            ),
            (
                r#"{"cmd": "x", "limit": {}}"#,
                "`/limit` ",
                "rename `limit` to `limits`",
            ),
            (
                r#"{"cmd": ["x"]}"#,
                "`/cmd` ",
                "write the only item of `/cmd` without its list",
            ),
            (
                r#"{"cmd": null}"#,
                "`/cmd` ",
                "compare the document with its schema, which `tools/list` has",
            ),
        ] {
            let failure = crate::RunStart::read(text.as_bytes()).expect_err(text);
            assert!(failure.message.starts_with(message), "{}", failure.message);
            assert!(failure.hints[0].starts_with(hint), "{:?}", failure.hints);
        }
    }

    #[test]
    fn schemas_for_others_stand_alone() {
        let file_plan = SchemaOf::FilePlan.text();
        let plan = r#"{"files":[{"path":"a","content":""}],"start":"x","lang":"go"}"#;
        assert!(obeys(&file_plan, plan));
        assert!(!obeys(&file_plan, "{}"));
        for (verb, arguments) in [
            (
                DaemonVerb::FsApply,
                r#"{"writes": [], "task_id": "ab12cd"}"#,
            ),
            (DaemonVerb::RunStart, r#"{"cmd": "x", "task_id": "ab12cd"}"#),
            (
                DaemonVerb::HttpcheckAssert,
                r#"{"probes": [{"method": "GET", "path": "/", "expect_status": 200}], "task_id": "ab12cd"}"#,
            ),
            (DaemonVerb::ReportFinish, r#"{"task_id": "ab12cd"}"#),
        ] {
            let (tool, input) = (SchemaOf::Tool(verb).text(), SchemaOf::Input(verb).text());
            assert!(obeys(&tool, arguments), "{tool}");
            assert!(!obeys(&tool, &arguments.replace("ab12cd", "x")), "{tool}");
            assert!(!obeys(&input, arguments), "{input}");
            assert!(obeys(
                &tool,
                &arguments
                    .replace("\"task_id\": \"ab12cd\"", "")
                    .replace(", }", "}")
            ));
        }
        assert!(obeys(
            &SchemaOf::Tool(DaemonVerb::PlanCreate).text(),
            r#"{"prompt": "x"}"#
        ));
        assert!(!obeys(
            &SchemaOf::Tool(DaemonVerb::PlanCreate).text(),
            r#"{"prompt": "x", "task_id": "ab12cd"}"#
        ));
    }

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
            let text = of.text();
            let tree = parse_strict(&text).expect("strict JSON");
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
            let text = of.text();
            let tree = parse_strict(&text).expect("strict JSON");
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
