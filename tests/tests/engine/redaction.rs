//! The secrets of documents for a link.

use agent_api::redact;
use agent_diagnostic::Code;
use agent_text::{DocumentKind, Position};

const INDEX: &str = r#"[
  { "endpoint": "https://me:hunter2@mcp.example/mcp",
    "description": "use ghp_0123456789abcdef" }
]
"#;

#[test]
fn each_secret_of_a_link_has_its_place_and_is_replaced() {
    let documents = [
        (DocumentKind::Manifest, "no secret\n"),
        (DocumentKind::Index, INDEX),
        (DocumentKind::Lock, "{\"password\": \"hunter22\"}"),
    ];
    let redaction = redact(&documents);
    let found: Vec<_> = redaction
        .secrets
        .iter()
        .map(|it| {
            assert_eq!(it.code, Code::SecretInLink);
            let place = it.place().expect("a place");
            let Position { line, column, .. } = place.start;
            (&*it.message, place.source, line, column)
        })
        .collect();
    let address = "a link would hold a password in an address";
    let token = "a link would hold a GitHub token";
    assert_eq!(
        found,
        [
            (address, DocumentKind::Index, 2, 29),
            (token, DocumentKind::Index, 3, 25),
            ("a link would hold a secret", DocumentKind::Lock, 1, 15),
        ]
    );
    let documents: Vec<_> = redaction
        .documents
        .iter()
        .map(|it| (it.kind, &*it.text, it.fixes))
        .collect();
    let index = INDEX
        .replace("hunter2", "REDACTED")
        .replace("ghp_0123456789abcdef", "REDACTED");
    assert_eq!(
        documents,
        [
            (DocumentKind::Index, &*index, 2),
            (DocumentKind::Lock, "{\"password\": \"REDACTED\"}", 1),
        ]
    );
    let redacted = [(DocumentKind::Index, &*index)];
    assert_eq!(redact(&redacted).secrets, []);
}
