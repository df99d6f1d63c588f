//! Texts that are not what their reader expects as a whole get one problem, which says what they are.

use agent_diagnostic::{Applicability, Code, Diagnostic};
use agent_explain::mend;
use agent_lower as lower;
use agent_lower::Notation;
use agent_text::DocumentKind;

const MANIFEST: &str = "---\nname: a\nversion: 1\nrequires:\n  mcp:\n    - category: c\n      permissions: []\n---\nBody.\n";
const INDEX: &str = r#"[{"id": "a", "version": "1", "categories": ["c"], "scopes": [],
  "endpoint": "https://a.example/", "trust": {"signed": true, "publisher": "P"},
  "data": {"residency": "any", "maxSensitivity": "internal"}}]
"#;
const TASK: &str = "task_id: t\nrequired_capabilities:\n  - {verb: read, resource: fs}\n";

fn found(kind: DocumentKind, text: impl Into<Vec<u8>>) -> Vec<Diagnostic> {
    fn of<T>(lowered: lower::Lowered<T>) -> Vec<Diagnostic> {
        lowered.err().unwrap_or_default()
    }
    let text = text.into();
    match kind {
        DocumentKind::Manifest => of(lower::manifest(text)),
        DocumentKind::Index => of(lower::index(text)),
        DocumentKind::Lock => of(lower::lock(text)),
        DocumentKind::Task => of(lower::task(text, Notation::ByContent)),
        DocumentKind::Tenant => of(lower::tenant(text, Notation::ByContent, None)),
        DocumentKind::Call => of(lower::call_plan(text)),
        DocumentKind::Policy => of(agent_rego::read(text)),
        DocumentKind::Plan => {
            let findings = lower::plan(text).findings.into_iter();
            findings.map(|finding| finding.diagnostic).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// The only problem of a text: its exact code and the line of each label.
fn only(kind: DocumentKind, text: impl Into<Vec<u8>>) -> (Code, Vec<u32>) {
    let found = found(kind, text);
    let [one] = &found[..] else {
        panic!("{found:#?}");
    };
    let lines = one.labels.iter().map(|label| label.place.start.line);
    assert!(!one.fixes.is_empty());
    (one.reason.unwrap_or(one.code), lines.collect())
}

/// The text after the safe fixes.
fn mended(kind: DocumentKind, text: &str) -> String {
    let fixed = mend(&[(kind, text)], &found(kind, text), false);
    fixed.into_iter().next().expect("a fix").text
}

#[test]
fn another_encoding_and_a_binary_file_are_named() {
    for little in [true, false] {
        let utf16 = MANIFEST.encode_utf16();
        let bytes = utf16.flat_map(|unit| match little {
            true => unit.to_le_bytes(),
            false => unit.to_be_bytes(),
        });
        let bytes: Vec<u8> = bytes.collect();
        let mark = if little { [0xff, 0xfe] } else { [0xfe, 0xff] };
        let marked = [&mark[..], &bytes].concat();
        let wrong = (Code::WrongEncoding, vec![1]);
        assert_eq!(only(DocumentKind::Manifest, bytes), wrong);
        assert_eq!(only(DocumentKind::Manifest, marked), wrong);
    }
    let image = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    assert_eq!(only(DocumentKind::Index, image).0, Code::BinaryDocument);
    let latin = b"---\nname: caf\xe9\n---\n".to_vec();
    assert_eq!(only(DocumentKind::Manifest, latin).0, Code::InvalidUtf8);
}

#[test]
fn an_empty_file_is_empty() {
    for kind in [
        DocumentKind::Manifest,
        DocumentKind::Index,
        DocumentKind::Plan,
    ] {
        for text in ["", "\n \t\n", "\u{feff}"] {
            assert_eq!(only(kind, text).0, Code::EmptyDocument, "{kind:?} {text:?}");
        }
    }
}

#[test]
fn every_marker_of_every_conflict_is_labelled_and_nothing_else_is_told() {
    let conflict = |a: &str, b: &str| format!("<<<<<<< ours\n{a}=======\n{b}>>>>>>> theirs\n");
    let manifest = MANIFEST
        .replace("name: a\n", &conflict("name: a\n", "name: b\n"))
        .replace(
            "      permissions: []\n",
            &conflict("", "      permissions: []\n"),
        );
    let marks = [vec![2, 4, 6], vec![11, 12, 14]];
    let conflicts = found(DocumentKind::Manifest, manifest);
    let lines = conflicts.iter().map(|conflict| {
        assert_eq!(conflict.code, Code::ConflictMarkers);
        let lines = conflict.labels.iter().map(|label| label.place.start.line);
        lines.collect::<Vec<_>>()
    });
    assert_eq!(lines.collect::<Vec<_>>(), marks);
    let index = conflict(INDEX, INDEX);
    assert_eq!(only(DocumentKind::Index, index).0, Code::ConflictMarkers);
    // The body is no part of the manifest.
    let body = MANIFEST.replace("Body.", &conflict("a\n", "b\n"));
    assert_eq!(found(DocumentKind::Manifest, body), []);
    let body = MANIFEST
        .replace("category", "categori")
        .replace("Body.", &conflict("a\n", "b\n"));
    assert_ne!(only(DocumentKind::Manifest, body).0, Code::ConflictMarkers);
}

#[test]
fn text_around_a_document_is_removed() {
    for (kind, document) in [
        (DocumentKind::Index, INDEX),
        (DocumentKind::Task, TASK),
        (DocumentKind::Manifest, MANIFEST),
    ] {
        for text in [
            format!("```json\n{document}```\n"),
            format!("Here it is:\n\n```\n{document}```\n\nAnything else?\n"),
        ] {
            let code = Code::TextAroundDocument;
            assert_eq!(only(kind, text.clone()).0, code, "{kind:?}");
            // The text before a manifest moves behind its frontmatter.
            let mended = mended(kind, &text);
            let frontmatter = document.trim_end_matches("Body.\n");
            assert!(mended.starts_with(frontmatter), "{kind:?}: {mended}");
            assert!(kind == DocumentKind::Manifest || mended == document);
        }
    }
    let prose = format!("Sure! This is the index:\n{INDEX}\nHope that helps.\n");
    assert_eq!(
        only(DocumentKind::Index, prose.clone()).0,
        Code::TextAroundDocument
    );
    assert_eq!(
        mended(DocumentKind::Index, &prose).trim_end(),
        INDEX.trim_end()
    );
    let call = "Here is the plan:\n{\"type\": \"final_answer\", \"answer\": \"?\", \"needs_more_info\": true}";
    assert_eq!(only(DocumentKind::Call, call).0, Code::TextAroundDocument);
    // Two documents are not one.
    let two = found(DocumentKind::Index, "[1]\n[2]\n");
    let codes: Vec<_> = two.iter().map(|it| it.code).collect();
    assert!(!codes.contains(&Code::TextAroundDocument), "{codes:?}");
}

#[test]
fn a_document_of_another_kind_is_named() {
    let client = r#"{"mcpServers": {"files": {"command": "npx"}}}"#;
    let capture = r#"{"tools": [{"name": "read", "inputSchema": {}}]}"#;
    let request = r#"{"envelope_id": "env.mova_agent_request_v1", "request": {}}"#;
    let plan = r#"{"envelope_id": "env.mova_agent_plan_v1", "plan": {}}"#;
    let call = r#"{"type": "call_tool", "server": "a", "tool": "b", "args": {}}"#;
    let cases = [
        (
            DocumentKind::Manifest,
            INDEX,
            "an index",
            Some(DocumentKind::Index),
        ),
        (
            DocumentKind::Index,
            MANIFEST,
            "a manifest",
            Some(DocumentKind::Manifest),
        ),
        (DocumentKind::Index, client, "agent index import", None),
        (DocumentKind::Index, capture, "agent index import", None),
        (
            DocumentKind::Lock,
            INDEX,
            "an index",
            Some(DocumentKind::Index),
        ),
        (
            DocumentKind::Task,
            MANIFEST,
            "a manifest",
            Some(DocumentKind::Manifest),
        ),
        (
            DocumentKind::Tenant,
            TASK,
            "a task",
            Some(DocumentKind::Task),
        ),
        (
            DocumentKind::Manifest,
            TASK,
            "--task",
            Some(DocumentKind::Task),
        ),
        (
            DocumentKind::Plan,
            request,
            "--request",
            Some(DocumentKind::Request),
        ),
        (DocumentKind::Plan, call, "--call", Some(DocumentKind::Call)),
        (
            DocumentKind::Call,
            plan,
            "a plan of several steps",
            Some(DocumentKind::Plan),
        ),
        (
            DocumentKind::Policy,
            INDEX,
            "an index",
            Some(DocumentKind::Index),
        ),
    ];
    for (kind, text, word, belongs_in) in cases {
        let found = found(kind, text);
        let [one] = &found[..] else {
            panic!("{kind:?}: {found:#?}");
        };
        assert_eq!(
            one.reason.unwrap_or(one.code),
            Code::WrongDocument,
            "{kind:?}"
        );
        let said = format!("{} {}", one.message, one.fixes[0].title);
        assert!(said.contains(word), "{said}");
        assert_eq!(one.fixes[0].applicability, Applicability::Display);
        assert_eq!(one.belongs_in, belongs_in, "{kind:?}");
    }
    // A document of the expected kind keeps its own problems.
    let own = found(DocumentKind::Index, INDEX.replace("\"id\"", "\"ident\""));
    assert!(
        own.iter().all(|it| it.code != Code::WrongDocument),
        "{own:#?}"
    );
}

#[test]
fn a_policy_of_rego_v0_is_named_at_its_first_rule() {
    let policy =
        "package switchboard\n\nallowed_tools[tool.id] {\n  tool := input.candidate_tools[_]\n}\n";
    assert_eq!(
        only(DocumentKind::Policy, policy),
        (Code::PolicyV0, vec![3])
    );
    let policy = "package switchboard\n\ndefault ok = false\n\nok {\n  true\n}\n";
    assert_eq!(
        only(DocumentKind::Policy, policy),
        (Code::PolicyV0, vec![5])
    );
    let other = "package switchboard\n\nok ) true\n";
    assert_eq!(only(DocumentKind::Policy, other).0, Code::PolicySyntax);
}
