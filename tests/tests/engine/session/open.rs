//! What a session refuses to open with.

use super::{World, at};
use agent_diagnostic::Code;
use agent_model::Load;
use agent_session::{Diagnostic, Documents, Options, Session};
use serde_json::json;

fn codes(documents: Documents) -> Vec<Code> {
    codes_with(documents, Options::default())
}

fn codes_with(documents: Documents, options: Options) -> Vec<Code> {
    match Session::open(documents, options, at(0)) {
        Ok(_) => Vec::new(),
        Err(found) => found.iter().map(|it: &Diagnostic| it.code).collect(),
    }
}

#[test]
fn documents_that_fit_are_opened() {
    let world = World::usual();
    assert_eq!(codes(world.documents()), []);
    let (session, records) =
        Session::open(world.documents(), Options::default(), at(0)).expect("a session");
    assert_eq!(records.len(), 1);
    let servers = session.servers();
    let names: Vec<_> = servers.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["aws", "files", "numbers"]);
    let endpoint = servers[1].endpoint.split_once("://");
    assert_eq!(endpoint, Some(("https", "files.example/mcp")));
    assert!(!servers[1].resources && !servers[1].prompts);
}

#[test]
fn documents_that_cannot_be_read_are_refused_together() {
    let documents = Documents {
        lock: Some(b"{".to_vec()),
        health: Some(b"a: SICK".to_vec()),
        policy: Some(b"package".to_vec()),
        ..World::usual().documents()
    };
    let found = codes(documents);
    assert_eq!(
        found,
        [Code::JsonSyntax, Code::PolicySyntax, Code::UnknownValue]
    );
}

#[test]
fn a_lock_that_drifted_is_refused() {
    let mut world = World::usual();
    let lock = world.documents().lock;
    world.servers[0]["trust"]["publisher"] = json!("Q");
    let documents = Documents {
        lock,
        ..world.documents()
    };
    let found = codes(documents);
    assert!(
        found.iter().all(|code| *code == Code::IntegrityChanged),
        "{found:?}"
    );
    assert!(!found.is_empty());
}

#[test]
fn definitions_belong_beside_the_lock() {
    let documents = World::usual().documents();
    let missing = Documents {
        definitions: None,
        ..documents.clone()
    };
    assert_eq!(codes(missing), [Code::DefinitionsChanged]);
    let text = String::from_utf8(documents.definitions.clone().expect("a file")).expect("UTF-8");
    let edited = Documents {
        definitions: Some(
            text.replace("Reads a file.", "Reads any file.")
                .into_bytes(),
        ),
        ..documents
    };
    assert_eq!(codes(edited), [Code::DefinitionsChanged]);
}

#[test]
fn an_edited_digest_is_a_fault_of_the_lock_alone() {
    let documents = World::usual().documents();
    let lock = documents.lock.clone().expect("a lock");
    let mut lock: serde_json::Value = serde_json::from_slice(&lock).expect("JSON");
    lock["selections"][0]["definition"] = json!(format!("sha256-{}=", "A".repeat(43)));
    let edited = Documents {
        lock: Some(lock.to_string().into_bytes()),
        ..documents
    };
    let Err(found) = Session::open(edited, Options::default(), at(0)) else {
        panic!("it is opened");
    };
    let codes: Vec<_> = found.iter().map(|it| it.code).collect();
    assert_eq!(codes, [Code::HashChanged]);
    assert!(
        found[0].message.contains("`agents.lock` was edited"),
        "{found:#?}"
    );
}

#[test]
fn the_policy_is_that_of_the_lock() {
    let world = World {
        policy: Some("package switchboard\nallowed_tools := set()\n".to_owned()),
        ..World::usual()
    };
    let documents = world.documents();
    assert_eq!(codes(documents.clone()), []);
    let missing = Documents {
        policy: None,
        ..documents.clone()
    };
    assert_eq!(codes(missing), [Code::PolicyMissing]);
    let other = Documents {
        policy: Some(b"package switchboard\n".to_vec()),
        ..documents
    };
    assert_eq!(codes(other), [Code::PolicyChanged]);
}

#[test]
fn names_that_collide_with_a_stub_are_refused() {
    let mut world = World::usual();
    world
        .servers
        .push(super::server("other", json!({ "aws_helper": {} })));
    world
        .locked
        .push(("other".to_owned(), "aws_helper".to_owned(), Load::OnDemand));
    assert_eq!(codes(world.documents()), [Code::StubCollision]);
}

#[test]
fn characters_that_nobody_sees_are_refused() {
    for hidden in [
        '\u{200b}',
        '\u{202e}',
        '\u{2066}',
        '\u{feff}',
        '\u{e0041}',
        '\u{61c}',
        '\u{1b}',
        '\u{ad}',
        '\u{200d}',
        '\u{2028}',
        '\u{2800}',
        '\u{3164}',
        '\u{e000}',
        '\u{fe01}',
        '\u{ffff}',
        '\u{e0100}',
    ] {
        for place in ["description", "inputSchema"] {
            let mut world = World::usual();
            let tool = &mut world.servers[0]["capabilities"]["tools"]["read"];
            match place {
                "description" => tool["description"] = json!(format!("Reads{hidden}.")),
                _ => tool["inputSchema"]["properties"][format!("a{hidden}")] = json!({}),
            }
            let found = codes(world.documents());
            assert_eq!(found, [Code::InvisibleCharacter], "{hidden:?} {place}");
        }
    }
    // What is only foreign is seen.
    let mut world = World::usual();
    world.servers[0]["capabilities"]["tools"]["read"]["description"] =
        json!("Liest ❤️ é 読む, 🧑\u{200d}🚀, می\u{200c}خواهم, שלום\u{200f}!\n");
    assert_eq!(codes(world.documents()), []);
}

#[test]
fn a_state_is_one_that_a_session_exported() {
    for state in ["", "{}", "[1]", r#"{"version":2}"#] {
        let options = Options {
            state: Some(state.as_bytes().to_vec().into()),
            ..Options::default()
        };
        let found = codes_with(World::usual().documents(), options);
        assert_eq!(found, [Code::WrongDocument], "{state}");
    }
}

#[test]
fn a_short_seed_is_refused() {
    for (length, expected) in [(0, 1), (31, 1), (32, 0), (33, 0)] {
        let options = Options {
            seed: vec![7; length],
            ..Options::default()
        };
        let found = codes_with(World::usual().documents(), options);
        assert_eq!(found, vec![Code::NumberOutOfRange; expected], "{length}");
    }
}
