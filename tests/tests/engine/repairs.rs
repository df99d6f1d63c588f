//! What a message about an agent, an index or a context offers to do: the meant word first, never what
//! gives the agent more, and nothing that only looks like data.

use agent_api::LockText;
use agent_decide::{EvaluationContext, Outcome, PolicyEngine, Resolution};
use agent_diagnostic::{Applicability, Code, Diagnostic};
use agent_explain::{apply, resolution_diagnostics};
use agent_lower::{self as lower, Notation};
use agent_text::DocumentKind;
use serde_json::Value;
use std::sync::Arc;

const MANIFEST: &str = "\
---
name: billing-agent
version: 1.2.0
requires:
  mcp:
    - category: invoices
      permissions: [read:invoices, write:invoices]
constraints:
  data:
    residency: eu-only
    sensitivity: internal
  actions:
    forbid: [delete:invoices]
  trust:
    requireSigned: true
---
# Billing
";

const INDEX: &str = r#"[
  {
    "id": "acme-billing",
    "version": "1.0.0",
    "endpoint": "https://mcp.acme.example/billing",
    "categories": ["invoices", "payments"],
    "scopes": ["delete:invoices", "read:invoices", "write:invoices"],
    "data": { "residency": "eu-only", "maxSensitivity": "internal" },
    "trust": { "signed": true, "publisher": "Acme" },
    "class": "premium",
    "capabilities": { "tools": { "search_web": {
      "x-summit-capabilities": [
        { "verb": "search", "resource": "internet", "constraints": ["readonly"] }
      ]
    } } }
  }
]
"#;

const TASK: &str = "\
task_id: research
required_capabilities:
  - verb: search
    resource: internet
    constraints: [readonly]
";

const TENANT: &str = "\
tenants:
  - id: acme
    tier: gold
    priorities:
      classes: { premium: 5 }
      servers: { acme-billing: 10 }
";

const HEALTH: &str = "acme-billing: HEALTHY\n";

/// Returns the problems and warnings of a text.
fn problems(kind: DocumentKind, text: &str) -> Vec<Diagnostic> {
    fn found<T>(lowered: lower::Lowered<T>) -> Vec<Diagnostic> {
        match lowered {
            Ok(checked) => checked.warnings,
            Err(problems) => problems,
        }
    }
    let bytes = text.as_bytes().to_vec();
    let notation = Notation::ByContent;
    match kind {
        DocumentKind::Manifest => found(lower::manifest(bytes)),
        DocumentKind::Index => found(lower::index(bytes)),
        DocumentKind::Task => found(lower::task(bytes, notation)),
        DocumentKind::Tenant => found(lower::tenant(bytes, notation, None)),
        DocumentKind::Health => found(lower::health(bytes, notation)),
        other => panic!("{other:?}"),
    }
}

/// Returns a text after the first safe fix of each problem, and the number of fixes.
fn repaired(text: &str, problems: &[Diagnostic]) -> (String, usize) {
    let safe = problems.iter().filter_map(|problem| {
        let mut fixes = problem.fixes.iter();
        fixes.find(|fix| fix.applicability == Applicability::Safe)
    });
    let edits: Vec<_> = safe.flat_map(|fix| fix.edits.clone()).collect();
    (apply(text, &edits), edits.len())
}

fn valid(kind: DocumentKind) -> &'static str {
    match kind {
        DocumentKind::Manifest => MANIFEST,
        DocumentKind::Index => INDEX,
        DocumentKind::Task => TASK,
        DocumentKind::Tenant => TENANT,
        _ => HEALTH,
    }
}

/// Breaks of a valid document that one safe fix mends: the broken part, and what it was.
const MENDED: [(DocumentKind, &str, &str); 27] = [
    (
        DocumentKind::Task,
        "\nrequires:",
        "\nrequired_capabilities:",
    ),
    (
        DocumentKind::Task,
        "\ncapabilities:",
        "\nrequired_capabilities:",
    ),
    (DocumentKind::Index, "\"sensitivity\"", "\"maxSensitivity\""),
    (
        DocumentKind::Manifest,
        "permissions: read:invoices write:invoices",
        "permissions: [read:invoices, write:invoices]",
    ),
    (
        DocumentKind::Manifest,
        "requires:\n  - category: invoices\n    permissions: [read:",
        "requires:\n  mcp:\n    - category: invoices\n      permissions: [read:",
    ),
    (
        DocumentKind::Manifest,
        "residency: EU",
        "residency: eu-only",
    ),
    (
        DocumentKind::Manifest,
        "[read: invoices, write",
        "[read:invoices, write",
    ),
    (
        DocumentKind::Manifest,
        "residency: EU-Only",
        "residency: eu-only",
    ),
    (
        DocumentKind::Manifest,
        "residency: eu\u{2013}only",
        "residency: eu-only",
    ),
    (
        DocumentKind::Manifest,
        "sensitivity: interal",
        "sensitivity: internal",
    ),
    (
        DocumentKind::Manifest,
        "requireSigned: yes",
        "requireSigned: true",
    ),
    (
        DocumentKind::Manifest,
        "requireSigned: \"true\"",
        "requireSigned: true",
    ),
    (
        DocumentKind::Manifest,
        "forbid: delete:invoices",
        "forbid: [delete:invoices]",
    ),
    (
        DocumentKind::Manifest,
        "name: [billing-agent]",
        "name: billing-agent",
    ),
    (
        DocumentKind::Manifest,
        "\u{201c}residency\u{201d}: eu-only",
        "residency: eu-only",
    ),
    (
        DocumentKind::Manifest,
        "    category: invoices\n    permissions: [read:invoices, write:invoices]",
        "    - category: invoices\n      permissions: [read:invoices, write:invoices]",
    ),
    (
        DocumentKind::Index,
        "\"residency\": \"eu_only\"",
        "\"residency\": \"eu-only\"",
    ),
    (
        DocumentKind::Index,
        "\"signed\": \"true\"",
        "\"signed\": true",
    ),
    (DocumentKind::Index, "\"version\": 1", "\"version\": \"1\""),
    (DocumentKind::Index, "\"scope\": [", "\"scopes\": ["),
    (
        DocumentKind::Index,
        "\"verb\": \"serach\"",
        "\"verb\": \"search\"",
    ),
    (
        DocumentKind::Index,
        "\"constraints\": \"readonly\"",
        "\"constraints\": [\"readonly\"]",
    ),
    (
        DocumentKind::Task,
        "resource: internett",
        "resource: internet",
    ),
    (
        DocumentKind::Task,
        "constraints: [read-only]",
        "constraints: [readonly]",
    ),
    (
        DocumentKind::Tenant,
        "acme-billing: \"10\"",
        "acme-billing: 10",
    ),
    (DocumentKind::Tenant, "priority:", "priorities:"),
    (
        DocumentKind::Health,
        "acme-billing: healthy",
        "acme-billing: HEALTHY",
    ),
];

#[test]
fn a_slip_is_mended_by_its_safe_fix() {
    for (kind, broken, meant) in MENDED {
        let right = valid(kind).replace("\"version\": \"1.0.0\"", "\"version\": \"1\"");
        assert!(right.contains(meant), "{meant}");
        let text = right.replacen(meant, broken, 1);
        let found = problems(kind, &text);
        assert_eq!(found.len(), 1, "{broken}: {found:#?}");
        let (mended, fixes) = repaired(&text, &found);
        assert_eq!((mended, fixes), (right, 1), "{broken}: {found:#?}");
    }
}

#[test]
fn a_value_of_another_shape_is_written_in_the_right_one() {
    let head = "---\nname: a\nversion: 1.0.0\n";
    for (broken, mended) in [
        (
            "requires:\n- category: c\n  permissions: [p]\n",
            "requires:\n  mcp:\n  - category: c\n    permissions: [p]\n",
        ),
        (
            "requires:\n  mcp:\n  - category: c\n    permissions:\n      -p\n      -q\n",
            "requires:\n  mcp:\n  - category: c\n    permissions:\n      - p\n      - q\n",
        ),
        (
            "requires: [{ category: c, permissions: [p] }]\n",
            "requires: { mcp: [{ category: c, permissions: [p] }] }\n",
        ),
        (
            "requires:\n  - verb: read\n    resource: codebase\n",
            "requires:\n  capabilities:\n    - verb: read\n      resource: codebase\n",
        ),
        (
            "requires:\n  capabilities:\n    - search:internet\n",
            "requires:\n  capabilities:\n    - { verb: search, resource: internet }\n",
        ),
    ] {
        let [broken, mended] = [broken, mended].map(|text| format!("{head}{text}---\n"));
        let found = problems(DocumentKind::Manifest, &broken);
        assert_eq!(repaired(&broken, &found), (mended.clone(), 1), "{found:#?}");
        assert_eq!(problems(DocumentKind::Manifest, &mended), []);
    }
    for broken in [
        "- acme-billing: HEALTHY\n- other: STARTING\n",
        "servers:\n  acme-billing: HEALTHY\n  other: STARTING\n",
    ] {
        let found = problems(DocumentKind::Health, broken);
        let mended = "acme-billing: HEALTHY\nother: STARTING\n".to_owned();
        assert_eq!(repaired(broken, &found), (mended, 1), "{found:#?}");
    }
    for (kind, broken, title) in [
        (
            DocumentKind::Task,
            "task_id: t\nrequired_capabilities: [{ verb: find, resource: internet }]\n",
            "the verb for `find` is `search`",
        ),
        (
            DocumentKind::Manifest,
            "---\nrequires:\n  mcp:\n    - c\n---\n",
            "write the category with its scopes:\n- category: c\n  permissions: [<scope>]",
        ),
        (
            DocumentKind::Index,
            r#"{ "servers": { "a": {} } }"#,
            "write a list of servers, each with its `id`",
        ),
        (
            DocumentKind::Index,
            r#"[{ "endpoint": "acme.example/mcp" }]"#,
            "did you mean `https://acme.example/mcp`?",
        ),
    ] {
        let found = problems(kind, broken);
        let mut fixes = found.iter().flat_map(|it| &it.fixes);
        assert!(fixes.any(|fix| fix.title == title), "{found:#?}");
    }
}

#[test]
fn a_word_that_is_near_to_several_or_to_none_is_left_to_a_person() {
    for (kind, broken, meant) in [
        (
            DocumentKind::Manifest,
            "residency: mars",
            "residency: eu-only",
        ),
        (
            DocumentKind::Manifest,
            "sensitivity: secret",
            "sensitivity: internal",
        ),
        (
            DocumentKind::Manifest,
            "requireSigned: maybe",
            "requireSigned: true",
        ),
        (
            DocumentKind::Health,
            "acme-billing: NHEALTHY",
            "acme-billing: HEALTHY",
        ),
        (DocumentKind::Task, "verb: find", "verb: search"),
    ] {
        let text = valid(kind).replacen(meant, broken, 1);
        let found = problems(kind, &text);
        assert_eq!(found.len(), 1, "{broken}: {found:#?}");
        assert_eq!(repaired(&text, &found).1, 0, "{broken}: {found:#?}");
        assert!(!found[0].fixes.is_empty(), "{broken}");
    }
}

#[test]
fn a_lock_has_no_fix() {
    let lock = r#"{"agent": {"name": "a", "version": 1}, "forbid": "x", "lockVersion": 1, "selections": {}}"#;
    let found = lower::lock(lock.as_bytes().to_vec()).expect_err("other types");
    assert!(found.len() >= 3, "{found:#?}");
    let mut fixes = found.iter().flat_map(|problem| &problem.fixes);
    assert!(fixes.all(|fix| fix.edits.is_empty()));
}

#[test]
fn a_misspelt_key_hides_nothing_below_it() {
    let text = MANIFEST.replace("constraints:", "constrants:");
    let text = text.replace("residency: eu-only", "residency: eu");
    let codes: Vec<_> = problems(DocumentKind::Manifest, &text)
        .iter()
        .map(|problem| problem.code)
        .collect();
    assert_eq!(codes, [Code::MisspeltKey, Code::UnknownValue]);
}

#[test]
fn a_constraint_one_level_too_high_is_told_where_it_belongs() {
    let text = MANIFEST.replace(
        "  data:\n    residency: eu-only\n    sensitivity: internal\n",
        "  residency: eu-only\n",
    );
    let found = problems(DocumentKind::Manifest, &text);
    assert_eq!(found[0].code, Code::UnknownKey);
    assert_eq!(found[0].fixes[0].title, "move it to `constraints.data`");
}

/// An absent field is shown where it is to be written: not at the whole mapping.
#[test]
fn an_absent_field_has_the_place_behind_its_neighbours() {
    for (kind, absent, before) in [
        (
            DocumentKind::Manifest,
            "\n      permissions: [read:invoices, write:invoices]",
            "category: invoices",
        ),
        (
            DocumentKind::Task,
            "\n    resource: internet",
            "constraints: [readonly]",
        ),
        (
            DocumentKind::Index,
            ", \"maxSensitivity\": \"internal\"",
            "\"eu-only\"",
        ),
        (
            DocumentKind::Index,
            "    \"id\": \"acme-billing\",\n",
            "    } } }",
        ),
    ] {
        let text = valid(kind).replacen(absent, "", 1);
        let found = problems(kind, &text);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!(found[0].code, Code::MissingField);
        let span = found[0].place().expect("a place").span;
        assert_eq!(span.start, span.end);
        assert!(text[..span.start as usize].ends_with(before), "{found:#?}");
    }
}

/// A placeholder of a message is refused until it is filled in.
#[test]
fn examples_pasted_unchanged_are_refused_at_the_placeholder() {
    let snippet = |kind, text: &str| {
        let found = problems(kind, text);
        let problem = found
            .iter()
            .find(|problem| matches!(problem.code, Code::MissingField | Code::FrontmatterMissing));
        let fix = &problem.unwrap_or_else(|| panic!("{found:#?}")).fixes[0];
        fix.title.split_once('\n').expect("a snippet").1.to_owned()
    };
    let whole = snippet(DocumentKind::Manifest, "# Notes\n");
    let lacking = [
        (DocumentKind::Manifest, "name: billing-agent\n"),
        (DocumentKind::Manifest, "version: 1.2.0\n"),
        (
            DocumentKind::Manifest,
            "      permissions: [read:invoices, write:invoices]\n",
        ),
        (
            DocumentKind::Manifest,
            "requires:\n  mcp:\n    - category: invoices\n      permissions: [read:invoices, write:invoices]\n",
        ),
        (DocumentKind::Task, "task_id: research\n"),
        (DocumentKind::Task, "    resource: internet\n"),
        (DocumentKind::Index, "    \"id\": \"acme-billing\",\n"),
        (DocumentKind::Index, "    \"version\": \"1.0.0\",\n"),
        (
            DocumentKind::Index,
            "    \"endpoint\": \"https://mcp.acme.example/billing\",\n",
        ),
        (
            DocumentKind::Index,
            "    \"categories\": [\"invoices\", \"payments\"],\n",
        ),
        (
            DocumentKind::Index,
            "    \"scopes\": [\"delete:invoices\", \"read:invoices\", \"write:invoices\"],\n",
        ),
        (
            DocumentKind::Index,
            "    \"data\": { \"residency\": \"eu-only\", \"maxSensitivity\": \"internal\" },\n",
        ),
        (
            DocumentKind::Index,
            "    \"trust\": { \"signed\": true, \"publisher\": \"Acme\" },\n",
        ),
    ];
    let mut pasted = vec![(DocumentKind::Manifest, format!("{whole}\n"))];
    for (kind, field) in lacking {
        let right = valid(kind);
        assert!(right.contains(field), "{field}");
        let snippet = snippet(kind, &right.replacen(field, "", 1));
        let indentation = &field[..field.len() - field.trim_start().len()];
        let comma = if kind == DocumentKind::Index { "," } else { "" };
        let lines = snippet.replace('\n', &format!("\n{indentation}"));
        let filled = format!("{indentation}{lines}{comma}\n");
        pasted.push((kind, right.replacen(field, &filled, 1)));
    }
    for (kind, text) in pasted {
        let found = problems(kind, &text);
        assert!(!found.is_empty(), "{text}");
        for problem in found {
            let span = problem.place().expect("a place").span;
            let at = span.of(&text);
            assert!(at.contains('<'), "{at}: {problem:#?}");
        }
    }
}

/// The texts of one question about servers and tools.
#[derive(Clone)]
struct Texts {
    manifest: String,
    index: String,
    task: String,
    tenant: String,
    health: String,
    policy: Option<&'static str>,
}

impl Texts {
    fn new() -> Self {
        Self {
            manifest: MANIFEST.to_owned(),
            index: INDEX.to_owned(),
            task: TASK.to_owned(),
            tenant: TENANT.to_owned(),
            health: HEALTH.to_owned(),
            policy: None,
        }
    }

    fn of(&mut self, kind: DocumentKind) -> &mut String {
        match kind {
            DocumentKind::Manifest => &mut self.manifest,
            DocumentKind::Index => &mut self.index,
            DocumentKind::Task => &mut self.task,
            DocumentKind::Tenant => &mut self.tenant,
            _ => &mut self.health,
        }
    }

    /// Returns the texts with a part of one replaced, once.
    fn with(&self, kind: DocumentKind, right: &str, broken: &str) -> Self {
        let mut texts = self.clone();
        let text = texts.of(kind);
        assert!(text.contains(right), "{right}");
        *text = text.replacen(right, broken, 1);
        texts
    }

    fn resolution(&self) -> Resolution {
        let bytes = |text: &str| text.as_bytes().to_vec();
        let notation = Notation::ByContent;
        let context = EvaluationContext {
            task: Some(Arc::new(
                lower::task(bytes(&self.task), notation)
                    .expect("a task")
                    .value,
            )),
            tenant: Some(Arc::new(
                lower::tenant(bytes(&self.tenant), notation, None)
                    .expect("a tenant")
                    .value,
            )),
            health: Some(Arc::new(
                lower::health(bytes(&self.health), notation)
                    .expect("a snapshot")
                    .value,
            )),
            policy: self.policy.map(|policy| {
                let policy = agent_rego::read(bytes(policy)).expect("a policy").value;
                Arc::new(policy) as Arc<dyn PolicyEngine>
            }),
            ..EvaluationContext::default()
        };
        let manifest = lower::manifest(bytes(&self.manifest))
            .expect("a manifest")
            .value;
        let index = lower::index(bytes(&self.index)).expect("an index").value;
        Resolution::under(Arc::new(manifest), Arc::new(index), context)
    }

    fn diagnostics(&self) -> Vec<Diagnostic> {
        resolution_diagnostics(&self.resolution())
    }

    /// Returns the texts after the first fix of this kind, and its title.
    fn fixed(&self, applicability: Applicability) -> Option<(Self, String)> {
        let found = self.diagnostics();
        let mut fixes = found.iter().flat_map(|problem| &problem.fixes);
        let fix = fixes.find(|fix| fix.applicability == applicability)?;
        let mut texts = self.clone();
        let text = texts.of(fix.edits[0].place.source);
        *text = apply(text, &fix.edits);
        Some((texts, fix.title.clone()))
    }
}

#[test]
fn the_texts_of_these_tests_are_right() {
    let texts = Texts::new();
    assert!(texts.resolution().satisfied());
    assert!(texts.diagnostics().is_empty());
}

/// A name that is almost one of the index is mended by its safe fix, which restores the text. The first
/// label is the name, and nothing says to change the index or to allow more.
#[test]
fn a_slip_of_a_name_of_the_index_is_mended() {
    let texts = Texts::new();
    for (kind, right, broken) in [
        (
            DocumentKind::Manifest,
            "category: invoices",
            "category: invoice",
        ),
        (
            DocumentKind::Manifest,
            "category: invoices",
            "category: Invoices",
        ),
        (
            DocumentKind::Manifest,
            "category: invoices",
            "category: \u{201c}invoices\u{201d}",
        ),
        (DocumentKind::Manifest, "[read:invoices", "[read:invoces"),
        (DocumentKind::Manifest, "[read:invoices", "[Read:Invoices"),
        (
            DocumentKind::Manifest,
            "[read:invoices",
            "[read:invo\u{456}ces",
        ),
        (
            DocumentKind::Manifest,
            "[delete:invoices",
            "[delete:invoces",
        ),
        (DocumentKind::Health, "acme-billing:", "acme-biling:"),
        (DocumentKind::Tenant, "premium: 5", "premum: 5"),
        (DocumentKind::Tenant, "acme-billing: 10", "acme_billing: 10"),
    ] {
        let broken_texts = texts.with(kind, right, broken);
        let found = broken_texts.diagnostics();
        let with_fixes: Vec<_> = found.iter().filter(|it| !it.fixes.is_empty()).collect();
        let [problem] = with_fixes[..] else {
            panic!("{broken}: {found:#?}");
        };
        let place = problem.place().expect("a place");
        assert_eq!(place.source, kind);
        let mut copy = broken_texts.clone();
        let at = place.span.of(copy.of(kind)).to_owned();
        assert!(broken.contains(&at), "{at}");
        let [fix] = &problem.fixes[..] else {
            panic!("{broken}: {problem:#?}");
        };
        assert_eq!(fix.applicability, Applicability::Safe);
        let (mut mended, _) = broken_texts.fixed(Applicability::Safe).expect("a fix");
        assert_eq!(mended.of(kind), texts.clone().of(kind), "{broken}");
        // Only a code point tells the two apart. Case can be seen.
        let unseen = broken.contains(['\u{201c}', '\u{456}']);
        assert_eq!(
            problem.notes.iter().any(|it| it.contains("U+")),
            unseen,
            "{problem:#?}"
        );
    }
}

/// Reading is not writing: a name is no slip of another right.
#[test]
fn another_right_is_no_slip() {
    let texts = Texts::new();
    let texts = texts.with(DocumentKind::Manifest, "[read:invoices", "[erase:invoices");
    assert!(texts.fixed(Applicability::Safe).is_none());
    let (fixed, title) = texts.fixed(Applicability::Unsafe).expect("a removal");
    assert_eq!(
        title,
        "for `acme-billing 1.0.0`: give up the permission `erase:invoices`"
    );
    assert!(
        fixed.manifest.contains("permissions: [write:invoices]"),
        "{}",
        fixed.manifest
    );
    assert!(fixed.resolution().satisfied());
}

/// What an entry and a snapshot say is no fix, in no view; the author's own constraint can be relaxed,
/// which is marked.
#[test]
fn facts_are_suppositions_and_constraints_are_unsafe_fixes() {
    let texts = Texts::new();
    for (kind, right, broken, note, relaxed) in [
        (
            DocumentKind::Manifest,
            "sensitivity: internal",
            "sensitivity: confidential",
            "would be eligible if it were approved for `confidential`; its entry says `internal`",
            Some("sensitivity: internal"),
        ),
        (
            DocumentKind::Manifest,
            "residency: eu-only",
            "residency: us-only",
            "would be eligible if it kept data in `us-only`; its entry says `eu-only`",
            Some("data:\n    sensitivity"),
        ),
        (
            DocumentKind::Index,
            "\"signed\": true",
            "\"signed\": false",
            "would be eligible if it were signed by its publisher; its entry says `signed: false`",
            Some("forbid: [delete:invoices]\n---"),
        ),
        (
            DocumentKind::Health,
            "HEALTHY",
            "UNHEALTHY",
            "the health snapshot says `UNHEALTHY`",
            None,
        ),
    ] {
        let texts = texts.with(kind, right, broken);
        let found = texts.diagnostics();
        assert!(
            found
                .iter()
                .any(|it| it.notes.iter().any(|it| it.contains(note))),
            "{found:#?}"
        );
        let fixes = || found.iter().flat_map(|problem| &problem.fixes);
        let mut edits = fixes().flat_map(|fix| &fix.edits);
        let authored = [DocumentKind::Manifest, DocumentKind::Task];
        assert!(
            edits.all(|edit| authored.contains(&edit.place.source)),
            "{found:#?}"
        );
        assert!(
            fixes().all(|fix| fix.applicability == Applicability::Unsafe),
            "{found:#?}"
        );
        let json = agent_render::why_json(&texts.resolution(), "acme-billing").expect("a server");
        let json = serde_json::from_str(&json).expect("JSON");
        let mut suppositions = 0;
        of_candidates(&json, &mut |fixes, supposed| {
            assert!(fixes.iter().all(|fix| fix["widening"] == true), "{fixes:?}");
            suppositions += supposed.len();
        });
        assert!(suppositions > 0, "{json}");
        match relaxed {
            Some(relaxed) => {
                let (fixed, _) = texts.fixed(Applicability::Unsafe).expect("a fix");
                assert!(fixed.manifest.contains(relaxed), "{}", fixed.manifest);
                assert!(
                    fixed
                        .resolution()
                        .outcomes()
                        .iter()
                        .all(|it| *it != Outcome::Unsatisfied)
                );
            }
            None => assert_eq!(fixes().count(), 0),
        }
    }
}

/// Visits the fixes and the suppositions of every candidate in a view.
fn of_candidates(json: &Value, visit: &mut dyn FnMut(&[Value], &[Value])) {
    if let (Some(fixes), Some(supposed)) =
        (json["fixes"].as_array(), json["suppositions"].as_array())
    {
        visit(fixes, supposed);
    }
    match json {
        Value::Array(items) => items.iter().for_each(|it| of_candidates(it, visit)),
        Value::Object(members) => members.values().for_each(|it| of_candidates(it, visit)),
        _ => {}
    }
}

#[test]
fn a_constraint_of_a_task_is_removed_from_its_list() {
    let texts = Texts::new();
    for (broken, fixed) in [
        ("[readonly, pii_safe]", "[readonly]"),
        ("[pii_safe, readonly]", "[readonly]"),
        ("[pii_safe]", "[]"),
        ("\n      - pii_safe\n      - readonly", "\n      - readonly"),
    ] {
        let texts = texts.with(DocumentKind::Task, "[readonly]", broken);
        let (mended, title) = texts.fixed(Applicability::Unsafe).expect("a fix");
        assert!(title.ends_with("drop the constraint `pii_safe` (gives the agent more access)"));
        assert!(
            mended.task.contains(&format!("constraints: {fixed}\n")),
            "{}",
            mended.task
        );
        assert!(mended.resolution().satisfied(), "{}", mended.task);
    }
}

/// A veto has its place in the snapshot: the status, or the end of a snapshot without the server.
#[test]
fn a_veto_has_a_place_in_the_snapshot() {
    for (health, at, label) in [
        (
            "acme-billing: STARTING\n",
            14,
            "`acme-billing` is not healthy",
        ),
        (
            "other-server: HEALTHY\n\n",
            21,
            "`acme-billing` is not listed",
        ),
    ] {
        let texts = Texts::new().with(DocumentKind::Health, HEALTH, health);
        let found = texts.diagnostics();
        let label_of = &found[0].labels[0];
        assert_eq!(label_of.place.source, DocumentKind::Health);
        assert_eq!((label_of.place.span.start, &*label_of.text), (at, label));
    }
}

/// A drift shows the old value in the lock and the new one in the index, in text too, and names the tool.
#[test]
fn drifts_have_their_places_in_the_lock_and_in_the_index() {
    let manifest = MANIFEST.replace(
        "requires:\n",
        "requires:\n  capabilities:\n    - verb: search\n      resource: internet\n",
    );
    let texts = Texts {
        manifest,
        ..Texts::new()
    };
    let lock = texts.resolution().lock().expect("a lock");
    let text = agent_render::lock(&lock);
    let changed = INDEX
        .replace("acme.example/billing", "acme.example/bills")
        .replace(
            "\"delete:invoices\", \"read:invoices\"",
            "\"delete:invoices\"",
        )
        .replace(
            "\"search_web\": {",
            "\"search_web\": { \"description\": \"new\",",
        );
    let changed = lower::index(changed.into_bytes()).expect("an index").value;
    let locked = LockText {
        lock,
        text: Some(text.clone()),
    };
    let drifts = agent_api::verify(&locked, &changed, None);
    let places: Vec<_> = drifts
        .iter()
        .map(|drift| {
            let shown = drift.places.iter().map(|place| match place.source {
                DocumentKind::Lock => place.span.of(&text),
                _ => place.span.of(changed.text().as_str()),
            });
            let shown: Vec<_> = shown.map(|it| it.get(..12).unwrap_or(it)).collect();
            (drift.code, drift.tool.as_deref(), shown)
        })
        .collect();
    let endpoint = vec!["\"https://mcp", "\"https://mcp"];
    let integrity = vec!["\"sha256-", "\"acme-billin"];
    let starts = |found: &[&str], expected: &[&str]| {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found:?} {expected:?}");
        }
    };
    let tool = Some("search_web");
    let expected = [
        (Code::EndpointChanged, None, endpoint.clone()),
        (
            Code::MissingScope,
            None,
            vec!["\"read:invoic", "[\"delete:inv"],
        ),
        (Code::IntegrityChanged, None, integrity.clone()),
        (Code::EndpointChanged, tool, endpoint.clone()),
        (
            Code::DefinitionChanged,
            tool,
            vec!["\"sha256-", "{ \"descripti"],
        ),
        (Code::IntegrityChanged, tool, integrity.clone()),
        (Code::EndpointChanged, tool, endpoint),
        (
            Code::DefinitionChanged,
            tool,
            vec!["\"sha256-", "{ \"descripti"],
        ),
        (Code::IntegrityChanged, tool, integrity),
    ];
    assert_eq!(places.len(), expected.len(), "{places:?}");
    for ((code, tool, shown), (is, of, at)) in places.iter().zip(&expected) {
        assert_eq!((code, tool), (is, of));
        starts(shown, at);
    }
    // Two selections of the same tool have separate places.
    assert_ne!(drifts[3].places[0], drifts[6].places[0]);
    let text: String = agent_render::drifts(&drifts)
        .into_iter()
        .map(|it| it.text)
        .collect();
    assert!(
        text.contains("DEFINITION_CHANGED search:internet (search_web): "),
        "{text}"
    );
    assert!(
        text.contains("\n  agents.lock:") && text.contains("\n  mcp.index.json:"),
        "{text}"
    );
}

/// A denial shows the rule and its line, the value that decided, and what would pass, in text too.
#[test]
fn a_denial_names_the_rule_the_value_and_what_would_pass() {
    for (rules, at, text) in [
        (
            "allowed_tools contains t.id if {\n\tsome t in input.candidate_tools\n\tt.class == \"gold\"\n}",
            "t.class == \"gold\"",
            "`t.class` is \"premium\"; this rule allows only \"gold\"",
        ),
        (
            "allowed_tools contains t.id if {\n\tsome t in input.candidate_tools\n\tgood(t)\n}\n\
             good(t) if t.publisher in {\"Beta\", \"Gamma\"}",
            "t.publisher in {\"Beta\", \"Gamma\"}",
            "`t.publisher` is \"Acme\"; this rule allows only \"Beta\" or \"Gamma\"",
        ),
        (
            "allowed_tools contains t.id if {\n\tsome t in input.candidate_tools\n\tnot external(t)\n}\n\
             external(t) if {\n\tsome c in t.capabilities\n\tc.resource == \"internet\"\n}",
            "c.resource == \"internet\"",
            "`c.resource` is \"internet\", which this rule denies",
        ),
        (
            "allowed_tools contains t.id if {\n\tsome t in input.candidate_tools\n\tnot dear\n}\n\
             dear if input.user_tier != \"platinum\"",
            "input.user_tier != \"platinum\"",
            "`input.user_tier` is \"gold\"; only \"platinum\" passes",
        ),
        (
            "allowed_tools := {\"another\"}",
            "allowed_tools",
            "this rule does not allow it",
        ),
    ] {
        let source: &'static str = format!("package switchboard\n\n{rules}\n").leak();
        let texts = Texts {
            policy: Some(source),
            ..Texts::new()
        };
        let found = texts.diagnostics();
        assert_eq!(found[0].code, Code::Unsatisfied);
        let labels = found[0].labels.iter();
        let of_policy: Vec<_> = labels
            .filter(|label| label.place.source == DocumentKind::Policy)
            .map(|label| (label.place.span.of(source), &*label.text))
            .collect();
        assert_eq!(of_policy, [(at, text)], "{rules}");
        let line = 1 + source[..source.find(at).expect("the rule")]
            .matches('\n')
            .count();
        let summary = agent_render::summary(&texts.resolution());
        let summary: String = summary.into_iter().map(|it| it.text).collect();
        assert!(
            summary.contains(&format!("policy.rego:{line}:")),
            "{summary}"
        );
        assert!(summary.contains(text), "{summary}");
    }
}

#[test]
fn what_remains_behind_a_slip_is_told_in_the_same_run() {
    let texts = Texts::new().with(DocumentKind::Manifest, "[read:invoices", "[read:invoces");
    let texts = texts.with(
        DocumentKind::Manifest,
        "sensitivity: internal",
        "sensitivity: confidential",
    );
    let found = texts.diagnostics();
    let expected = "besides, `acme-billing 1.0.0` may hold data up to `internal`, \
                    and `confidential` is required";
    assert_eq!(found[0].notes, [expected]);
    let at: Vec<_> = found[0]
        .labels
        .iter()
        .map(|it| it.place.span.of(&texts.manifest))
        .collect();
    assert_eq!(at, ["read:invoces", "confidential", "invoices"]);
    // Nothing is relaxed for a slip, in the text neither.
    let summary = agent_render::summary(&texts.resolution());
    let summary: String = summary.into_iter().map(|it| it.text).collect();
    let (invoices, _) = summary
        .split_once("search:internet")
        .expect("both requirements");
    assert!(
        !invoices.contains("fix:") && !invoices.contains("would be"),
        "{summary}"
    );
}

/// A tenant that was misspelt on the command line has the place of the one that was meant.
#[test]
fn a_tenant_that_was_meant_is_shown() {
    let two = "tenants:\n  - id: beta\n  - id: acme\n";
    for (id, at) in [("acmee", "acme"), ("omega", "tenants")] {
        let bytes = two.as_bytes().to_vec();
        let found = lower::tenant(bytes, Notation::ByContent, Some(id)).expect_err("unknown");
        let place = found[0].place().expect("a place");
        assert_eq!(place.span.of(two), at);
    }
}
