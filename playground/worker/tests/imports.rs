//! The session that imports documents: into which index, with what problems, and without any secret.
#![cfg(all(feature = "import", not(target_arch = "wasm32")))]

use agent_answer::{Applicability, Code, Diagnostic, DocumentKind};
use agent_api::documents::CLIENT_FORMS;
use agent_worker::imports::Session;
use agent_worker_protocol::import::{Answer, Imported, Request};
use agent_worker_protocol::{Texts, to_bytes};
use recognition::{can_be_imported, is_configuration};

#[path = "../../src/recognition.rs"]
mod recognition;

const INDEX: &str = include_str!("../../../examples/hello-agent/mcp.index.json");
const MANIFEST: &str = include_str!("../../../examples/hello-agent/agents.md");

/// A text that no answer may contain.
const CANARY: &str = "canary";

/// Comments, a package with its version, and secrets wherever a client has them.
const CLIENT: &str = r#"{
  // of VS Code
  "servers": {
    "github": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-github@2025.4.8", "--token=canary-1"],
      "env": { "GITHUB_TOKEN": "ghp_canary23456789012345678901234567890" },
    },
  }
}"#;

const CODEX: &str = r#"[mcp_servers.github]
command = "npx"
args = ["-y", "@modelcontextprotocol/server-github"]
env = { GITHUB_TOKEN = "canary-3" }
"#;

const TOOLS: &str = r#"{"tools": [{"name": "read", "inputSchema": {"type": "object"}}]}"#;

fn texts(document: &str, index: &str) -> Texts {
    Texts::default()
        .with(DocumentKind::Import, document)
        .with(DocumentKind::Index, index)
        .with(DocumentKind::Manifest, MANIFEST)
}

/// Answers a question, and looks for secrets in the answer.
fn ask(session: &mut Session, texts: Texts) -> Answer {
    let answer = session.answer(texts, Request);
    let bytes = to_bytes(&answer);
    let has_secret = bytes
        .windows(CANARY.len())
        .any(|it| it == CANARY.as_bytes());
    assert!(!has_secret, "{answer:?}");
    answer
}

fn import(document: &str, index: &str) -> Answer {
    ask(&mut Session::default(), texts(document, index))
}

fn imported(answer: &Answer) -> &Imported {
    let imported = answer.imported.as_ref();
    imported.unwrap_or_else(|| panic!("{:?}", answer.problems))
}

fn codes(problems: &[Diagnostic]) -> Vec<Code> {
    problems.iter().map(|it| it.code).collect()
}

#[test]
fn a_client_s_servers_join_those_of_the_index() {
    let answer = import(CLIENT, INDEX);
    let text = "This is the configuration of a client, with 1 server: new `github@2025.4.8`.";
    assert_eq!(answer.text, text);
    let found = imported(&answer);
    let done =
        "Imported 1 server; its tools are unknown: paste an answer to tools/list to add them";
    assert_eq!(found.done, done);
    for text in [
        "\"gamma\"",
        "pkg:npm/%40modelcontextprotocol/server-github@2025.4.8",
        "x-unrated",
    ] {
        assert!(found.index.contains(text), "{text}: {}", found.index);
    }
    assert_eq!(found.draft, None);
    // Where it is in the document, the page shows it.
    assert_eq!(codes(&answer.problems), [Code::ImportUnrated]);
    let place = answer.problems[0].place().expect("a place");
    assert_eq!((place.source, place.start.line), (DocumentKind::Import, 4));

    let again = import(CLIENT, &found.index);
    let text = "with 1 server: in the index already `github@2025.4.8`.";
    assert!(again.text.ends_with(text), "{}", again.text);
    assert_eq!(imported(&again).index, found.index);
}

#[test]
fn every_form_is_named() {
    for (document, form) in [
        (CODEX, "the configuration of a client"),
        (
            "extensions:\n  a:\n    cmd: npx\n    args: [a@1.0.0]\n",
            "the configuration of a client",
        ),
        (
            r#"{"name": "a.b/c", "version": "1.0.0", "remotes": []}"#,
            "a server.json",
        ),
        (
            r#"{"servers": [{"server": {"name": "a.b/c"}}]}"#,
            "a response of a registry",
        ),
        (TOOLS, "an answer to `tools/list`"),
        (
            r#"{"manifest_version": "0.3", "name": "a", "server": {}}"#,
            "a bundle's manifest",
        ),
    ] {
        let text = import(document, "").text;
        assert!(
            text.starts_with(&format!("This is {form}, with ")),
            "{document}: {text}"
        );
        assert_eq!(can_be_imported(document), Some(true), "{document}");
    }
    for document in ["", "{", "{}", "a sentence", INDEX] {
        let answer = import(document, "");
        let text = "This is no document that can be imported, with 1 error.";
        assert_eq!((&*answer.text, answer.imported), (text, None), "{document}");
        assert_ne!(answer.problems, [], "{document}");
    }
}

/// Prose may name the keys of clients, and only a text in JSON or TOML is no manifest.
#[test]
fn a_configuration_is_recognised_in_place_of_a_manifest() {
    for (text, expected) in [
        (CLIENT, Some(true)),
        ("[mcp_servers.github]\ncommand = \"npx\"\n", Some(true)),
        ("[a link](https://a.example)", None),
        ("---\nname: a\n---\n\"mcpServers\": {}\n", Some(false)),
        (MANIFEST, Some(false)),
    ] {
        assert_eq!(is_configuration(text), expected, "{text}");
    }
}

/// The page looks for a document before the importer is loaded, with keys of its own.
#[test]
fn the_page_recognises_every_client_of_the_importer() {
    let servers = r#"{"a": {"command": "npx", "env": {"TOKEN": "canary"}}}"#;
    for form in CLIENT_FORMS {
        let document = form
            .path
            .iter()
            .rev()
            .fold(servers.to_owned(), |inner, key| {
                format!("{{\"{key}\": {inner}}}")
            });
        let text = import(&document, "").text;
        assert!(
            text.contains("the configuration of a client"),
            "{document}: {text}"
        );
        assert_eq!(can_be_imported(&document), Some(true), "{document}");
    }
}

#[test]
fn what_is_missing_is_filled_in_an_overlay() {
    let mut session = Session::default();
    let answer = ask(&mut session, texts(CODEX, ""));
    assert_eq!(answer.imported, None);
    assert_eq!(codes(&answer.problems), [Code::MissingField]);
    let [fix] = &answer.problems[0].fixes[..] else {
        panic!("{:?}", answer.problems);
    };
    assert_eq!(fix.applicability, Applicability::Display);
    let [edit] = &fix.edits[..] else {
        panic!("{fix:?}");
    };
    assert_eq!(edit.place.source, DocumentKind::Overlay);
    let filled = edit.replacement.replace("<version>", "2025.4.8");
    let overlay = Texts::default().with(DocumentKind::Overlay, filled);
    let answer = ask(&mut session, overlay);
    assert!(imported(&answer).index.contains("server-github@2025.4.8"));
}

#[test]
fn what_is_missing_is_asked_until_it_is_answered() {
    let two = format!("{CODEX}[mcp_servers.other]\ncommand = \"npx\"\nargs = [\"other\"]\n");
    let mut session = Session::default();
    let answer = ask(&mut session, texts(&two, ""));
    let about: Vec<_> = answer.questions.iter().map(|it| &*it.about).collect();
    assert_eq!(about, ["`version` of `github`", "`version` of `other`"]);
    let mut overlay = answer.overlay;
    let first = &answer.questions[0];
    overlay.replace_range(first.start as usize..first.end as usize, "2025.4.8");

    let answer = ask(
        &mut session,
        Texts::default().with(DocumentKind::Overlay, &*overlay),
    );
    assert_eq!(answer.overlay, "");
    let [last] = &answer.questions[..] else {
        panic!("{:?}", answer.questions);
    };
    assert_eq!(last.about, "`version` of `other`");
    overlay.replace_range(last.start as usize..last.end as usize, "1.0.0");
    let answer = ask(
        &mut session,
        Texts::default().with(DocumentKind::Overlay, overlay),
    );
    assert_eq!(answer.questions, []);
    let done =
        "Imported 2 servers; the tools of 2 are unknown: paste an answer to tools/list to add them";
    assert_eq!(imported(&answer).done, done);
    // What is missing and need not be said is no question.
    assert_eq!(codes(&answer.problems), [Code::ImportUnrated]);
}

#[test]
fn no_instruction_names_an_option_of_the_command_line() {
    let several = r#"{"mcpServers": {
        "a": {"url": "https://a.example/mcp", "headers": {"Authorization": "Bearer canary-4"}},
        "b": {"url": "https://me:canary-5@b.example/mcp"},
        "c": {"command": "/bin/c", "args": ["--key", "canary-6"]}
    }}"#;
    for document in [several, TOOLS] {
        let answer = import(document, INDEX);
        assert_ne!(answer.problems, []);
        for fix in answer.problems.iter().flat_map(|it| &it.fixes) {
            assert!(!fix.title.contains("--overlay"), "{fix:?}");
        }
        let lines = answer.problems.iter().flat_map(|it| &it.fixes);
        assert!(lines.flat_map(|it| &it.edits).next().is_some());
    }
}

#[test]
fn a_page_without_a_manifest_gets_a_draft() {
    let mut session = Session::default();
    let blank = texts(CLIENT, "").with(DocumentKind::Manifest, "\n");
    let answer = ask(&mut session, blank);
    let draft = imported(&answer).draft.as_ref().expect("a draft");
    assert!(draft.contains("category: github"), "{draft}");

    let manifest = Texts::default().with(DocumentKind::Manifest, MANIFEST);
    let answer = ask(&mut session, manifest);
    assert_eq!(imported(&answer).draft, None);
}

#[test]
fn an_index_with_errors_is_not_replaced() {
    let answer = import(CLIENT, r#"{"servers": [{"id": "a"}]}"#);
    assert_eq!(answer.imported, None);
    // The page lists them already.
    assert_eq!(answer.problems, []);
    let text = "This is the configuration of a client; correct `mcp.index.json` first.";
    assert_eq!(answer.text, text);
}
