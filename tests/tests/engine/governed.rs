//! Configurations of clients with a gateway in the place of servers, and with the servers again.

use agent_diagnostic::Code;
use agent_import::{Gateway, InstalledServer, govern, installed_servers, release};
use proptest::prelude::*;

fn gateway() -> Gateway {
    Gateway {
        name: "agent".to_owned(),
        program: "/opt/agent".to_owned(),
        arguments: ["serve", "--lock", "/l"].map(str::to_owned).to_vec(),
    }
}

fn keys(place: &str) -> Vec<String> {
    match place {
        "amp.mcpServers" | "mcp.servers" => vec![place.to_owned()],
        _ => place.split('.').map(str::to_owned).collect(),
    }
}

/// Governs servers, by their paths.
fn governed(document: &str, place: &str, servers: &[&str]) -> String {
    let servers: Vec<_> = servers.iter().map(|it| (*it).to_owned()).collect();
    let made = govern(
        document.as_bytes().to_vec(),
        &keys(place),
        &servers,
        &gateway(),
    );
    made.unwrap_or_else(|problems| panic!("{document}\n{problems:#?}"))
}

fn released(document: &str, place: &str, original: &str, servers: &[&str]) -> String {
    let servers: Vec<_> = servers.iter().map(|it| (*it).to_owned()).collect();
    let made = release(
        document.as_bytes().to_vec(),
        &keys(place),
        &gateway(),
        original.as_bytes().to_vec(),
        &servers,
    );
    made.unwrap_or_else(|problems| panic!("{document}\n{problems:#?}"))
}

/// A configuration, the place of its servers, those that are governed, and the configuration afterwards.
type Case = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static str,
);

const CASES: &[Case] = &[
    // The comments of others, their order and commas stay.
    (
        r#"{
  // mine
  "mcpServers": {
    "a": { "command": "x" }, // of a
    // of b
    "b": { "url": "https://b.example/mcp" },
    "c": { "command": "z" }
  },
  "theme": "dark"
}
"#,
        "mcpServers",
        &["mcpServers.a", "mcpServers.c"],
        r#"{
  // mine
  "mcpServers": {
    "agent": {
      "command": "/opt/agent",
      "args": ["serve", "--lock", "/l"]
    }, // of a
    // of b
    "b": { "url": "https://b.example/mcp" }
  },
  "theme": "dark"
}
"#,
    ),
    (
        "{\n\t\"mcpServers\": {\n\t\t\"a\": { \"command\": \"x\" },\n\t\t\"b\": { \"command\": \"y\" },\n\t},\n}",
        "mcpServers",
        &["mcpServers.b"],
        "{\n\t\"mcpServers\": {\n\t\t\"a\": { \"command\": \"x\" },\n\t\t\"agent\": {\n\t\t\t\"command\": \"/opt/agent\",\n\t\t\t\"args\": [\"serve\", \"--lock\", \"/l\"]\n\t\t},\n\t},\n}",
    ),
    (
        r#"{"mcpServers":{"a":{"command":"x"},"b":{"command":"y"},"c":{"command":"z"}}}"#,
        "mcpServers",
        &["mcpServers.b", "mcpServers.c"],
        r#"{"mcpServers":{"a":{"command":"x"},"agent": { "command": "/opt/agent", "args": ["serve", "--lock", "/l"] }}}"#,
    ),
    (
        "{ \"mcpServers\": {\n  \"a\": { \"command\": \"x\" },\n  \"b\": { \"command\": \"y\" }, // of b\n  \"c\": { \"command\": \"z\" }\n} }",
        "mcpServers",
        &["mcpServers.a", "mcpServers.b"],
        "{ \"mcpServers\": {\n  \"agent\": {\n    \"command\": \"/opt/agent\",\n    \"args\": [\"serve\", \"--lock\", \"/l\"]\n  },\n  // of b\n  \"c\": { \"command\": \"z\" }\n} }",
    ),
    // The forms of clients.
    (
        "{\r\n  \"servers\": {\r\n    \"a\": { \"command\": \"x\" }\r\n  }\r\n}\r\n",
        "servers",
        &["servers.a"],
        "{\r\n  \"servers\": {\r\n    \"agent\": {\r\n      \"type\": \"stdio\",\r\n      \"command\": \"/opt/agent\",\r\n      \"args\": [\"serve\", \"--lock\", \"/l\"]\r\n    }\r\n  }\r\n}\r\n",
    ),
    (
        "{ \"context_servers\": { \"a\": { \"command\": { \"path\": \"x\", \"args\": [] } } } }",
        "context_servers",
        &["context_servers.a"],
        "{ \"context_servers\": { \"agent\": { \"source\": \"custom\", \"command\": \"/opt/agent\", \"args\": [\"serve\", \"--lock\", \"/l\"] } } }",
    ),
    (
        "{ \"mcp\": { \"a\": { \"type\": \"local\", \"command\": [\"x\", \"y\"] }, \"other\": 1 } }",
        "mcp",
        &["mcp.a"],
        "{ \"mcp\": { \"agent\": { \"type\": \"local\", \"command\": [\"/opt/agent\", \"serve\", \"--lock\", \"/l\"] }, \"other\": 1 } }",
    ),
    (
        "model = \"m\"\n\n# of a\n[mcp_servers.a]\ncommand = \"x\" # why\n\n[mcp_servers.a.env]\nA = \"b\"\n\n# of b\n[mcp_servers.b]\nurl = \"https://b.example/mcp\"\n\n[tui]\nx = 1\n",
        "mcp_servers",
        &["mcp_servers.a"],
        "model = \"m\"\n\n# of a\n[mcp_servers.agent]\ncommand = \"/opt/agent\"\nargs = [\"serve\", \"--lock\", \"/l\"]\n\n\n# of b\n[mcp_servers.b]\nurl = \"https://b.example/mcp\"\n\n[tui]\nx = 1\n",
    ),
    (
        "[mcp_servers]\na = { command = \"x\" }\nb = { command = \"y\" }\n",
        "mcp_servers",
        &["mcp_servers.b"],
        "[mcp_servers]\na = { command = \"x\" }\nagent = { command = \"/opt/agent\", args = [\"serve\", \"--lock\", \"/l\"] }\n",
    ),
    (
        "extensions:\n  # of a\n  a:\n    cmd: x\n    args: [y]\n    envs:\n      A: b\n  builtin:\n    type: builtin\nGOOSE_MODEL: m\n",
        "extensions",
        &["extensions.a"],
        "extensions:\n  # of a\n  agent:\n    name: \"agent\"\n    type: \"stdio\"\n    enabled: true\n    cmd: \"/opt/agent\"\n    args: [\"serve\", \"--lock\", \"/l\"]\n  builtin:\n    type: builtin\nGOOSE_MODEL: m\n",
    ),
    (
        "name: x\nmcpServers:\n  - name: a\n    command: x\n    args:\n      - y\n  - name: b\n    command: z\nrules: []\n",
        "mcpServers",
        &["mcpServers[0]"],
        "name: x\nmcpServers:\n  - name: \"agent\"\n    command: \"/opt/agent\"\n    args: [\"serve\", \"--lock\", \"/l\"]\n  - name: b\n    command: z\nrules: []\n",
    ),
    (
        "{ \"projects\": { \"/w.x\": { \"mcpServers\": { \"a\": { \"command\": \"x\" } } } }, \"mcpServers\": { \"a\": { \"command\": \"y\" } } }",
        "projects./w.x.mcpServers",
        &["projects./w.x.mcpServers.a"],
        "{ \"projects\": { \"/w.x\": { \"mcpServers\": { \"agent\": { \"command\": \"/opt/agent\", \"args\": [\"serve\", \"--lock\", \"/l\"] } } } }, \"mcpServers\": { \"a\": { \"command\": \"y\" } } }",
    ),
];

#[test]
fn a_gateway_takes_the_place_of_servers_and_gives_it_back() {
    for (before, place, servers, after) in CASES {
        assert_eq!(governed(before, place, servers), *after, "{before}");
        let again = released(after, place, before, servers);
        let servers = |text: &str| {
            let mut found = installed_servers(text.as_bytes().to_vec()).expect("a configuration");
            found.sort_by(|a, b| a.name.cmp(&b.name));
            found
                .into_iter()
                .map(|it| (it.name, it.start))
                .collect::<Vec<_>>()
        };
        assert_eq!(servers(&again), servers(before), "{again}");
        // Of one server, every byte comes back.
        if servers(before).len() == 1 {
            assert_eq!(again, *before);
        }
    }
}

#[test]
fn a_gateway_is_added_where_the_client_looks() {
    for (before, place, after) in [
        (
            "",
            "mcpServers",
            "{\n  \"mcpServers\": {\n    \"agent\": {\n      \"command\": \"/opt/agent\",\n      \"args\": [\"serve\", \"--lock\", \"/l\"]\n    }\n  }\n}\n",
        ),
        (
            "{\n  // x\n  \"a\": 1,\n}\n",
            "mcp.servers",
            "{\n  // x\n  \"a\": 1,\n  \"mcp.servers\": {\n    \"agent\": {\n      \"type\": \"stdio\",\n      \"command\": \"/opt/agent\",\n      \"args\": [\"serve\", \"--lock\", \"/l\"]\n    }\n  },\n}\n",
        ),
        (
            "{ \"mcpServers\": {} }",
            "mcpServers",
            "{ \"mcpServers\": {\n  \"agent\": {\n    \"command\": \"/opt/agent\",\n    \"args\": [\"serve\", \"--lock\", \"/l\"]\n  }\n} }",
        ),
        (
            "{ \"mcpServers\": { \"a\": { \"command\": \"x\" } } }",
            "mcpServers",
            "{ \"mcpServers\": { \"a\": { \"command\": \"x\" }, \"agent\": { \"command\": \"/opt/agent\", \"args\": [\"serve\", \"--lock\", \"/l\"] } } }",
        ),
        (
            "model = \"m\"",
            "mcp_servers",
            "model = \"m\"\n\n[mcp_servers.agent]\ncommand = \"/opt/agent\"\nargs = [\"serve\", \"--lock\", \"/l\"]\n",
        ),
        (
            "GOOSE_MODEL: m\n",
            "extensions",
            "GOOSE_MODEL: m\nextensions:\n  agent:\n    name: \"agent\"\n    type: \"stdio\"\n    enabled: true\n    cmd: \"/opt/agent\"\n    args: [\"serve\", \"--lock\", \"/l\"]\n",
        ),
        (
            "mcpServers:\n- name: a\n  command: x",
            "mcpServers",
            "mcpServers:\n- name: a\n  command: x\n- name: \"agent\"\n  command: \"/opt/agent\"\n  args: [\"serve\", \"--lock\", \"/l\"]\n",
        ),
    ] {
        let added = governed(before, place, &[]);
        assert_eq!(added, after, "{before}");
        let without = released(&added, place, before, &[]);
        let read = installed_servers(without.clone().into_bytes());
        let read = read.unwrap_or_default();
        assert!(read.iter().all(|it| it.name != "agent"), "{without}");
    }
    // Of what is empty, another form is made.
    for place in ["mcp_servers", "extensions"] {
        let added = governed("\n", place, &[]);
        let read = installed_servers(added.into_bytes()).expect("a configuration");
        assert_eq!(read[0].name, "agent");
    }
}

#[test]
fn more_servers_go_to_a_gateway_that_is_there() {
    let before =
        "{ \"mcpServers\": { \"a\": { \"command\": \"x\" }, \"b\": { \"command\": \"y\" } } }";
    let one = governed(before, "mcpServers", &["mcpServers.a"]);
    let both = governed(&one, "mcpServers", &["mcpServers.b"]);
    let read = installed_servers(both.clone().into_bytes()).expect("a configuration");
    let names: Vec<_> = read.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["agent"]);
    assert_eq!(governed(&both, "mcpServers", &[]), both);
    assert_eq!(
        released(
            &both,
            "mcpServers",
            before,
            &["mcpServers.a", "mcpServers.b"]
        ),
        before
    );
}

#[test]
fn an_entry_that_was_changed_stays() {
    let before = "{ \"mcpServers\": { \"a\": { \"command\": \"x\" } } }";
    let after = governed(before, "mcpServers", &["mcpServers.a"]);
    let refused = |now: &str, problem: &str| {
        let found = release(
            now.as_bytes().to_vec(),
            &keys("mcpServers"),
            &gateway(),
            before.as_bytes().to_vec(),
            &["mcpServers.a".to_owned()],
        );
        let found = found.expect_err(problem);
        assert_eq!(found[0].code, Code::ImportFormat);
        assert!(found[0].message.contains(problem), "{found:#?}");
    };
    refused(&after.replace("/l", "/other"), "was changed or removed");
    refused("{ \"mcpServers\": {} }", "was changed or removed");
    let again = after.replace("{ \"agent\"", "{ \"a\": { \"command\": \"y\" }, \"agent\"");
    refused(&again, "the client has a server `a` again");
    // What others changed meanwhile stays.
    let others = after.replace("{ \"agent\"", "{ \"b\": { \"command\": \"y\" }, \"agent\"");
    let others = format!("// more\n{others}");
    assert_eq!(
        released(&others, "mcpServers", before, &["mcpServers.a"]),
        "// more\n{ \"mcpServers\": { \"b\": { \"command\": \"y\" }, \"a\": { \"command\": \"x\" } } }"
    );
}

#[test]
fn what_cannot_be_cut_out_is_refused() {
    for (document, place, servers, problem) in [
        (
            "mcp_servers.a.command = \"x\"\n",
            "mcp_servers",
            vec!["mcp_servers.a"],
            "can't be changed one by one",
        ),
        (
            "{ \"mcpServers\": { \"agent\": { \"command\": \"x\" } } }",
            "mcpServers",
            vec![],
            "the client has a server `agent` already",
        ),
        (
            "{ \"mcpServers\": { \"a\": { \"command\": \"x\" } } }",
            "mcpServers",
            vec!["mcpServers.b"],
            "no longer has one of the servers",
        ),
        (
            "{ \"mcpServers\": 1 }",
            "mcpServers",
            vec![],
            "can't be changed",
        ),
        ("[]", "mcpServers", vec![], "can't be changed"),
    ] {
        let servers: Vec<_> = servers.into_iter().map(str::to_owned).collect();
        let found = govern(
            document.as_bytes().to_vec(),
            &keys(place),
            &servers,
            &gateway(),
        );
        let found = found.expect_err(document);
        assert!(found[0].message.contains(problem), "{document}: {found:#?}");
    }
}

/// Returns the servers of a configuration without their places, by name.
fn servers(text: &str) -> Option<Vec<InstalledServer>> {
    let mut found = installed_servers(text.as_bytes().to_vec()).ok()?;
    found.iter_mut().for_each(|it| it.path.clear());
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Some(found)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    /// Whatever a client's file has become, it is changed as expected or refused.
    #[test]
    fn a_damaged_configuration_is_changed_whole_or_refused(
        number in 0..CASES.len(),
        at in any::<prop::sample::Index>(),
        len in 0_usize..12,
        new in "[ \\t\\n,:{}\\[\\]\"'#/=a.\u{e9}-]{0,6}",
    ) {
        let (before, place, paths, _) = CASES[number];
        let chars: Vec<_> = before.chars().collect();
        let at = at.index(chars.len());
        let end = (at + len).min(chars.len());
        let text: String = chars[..at].iter().copied()
            .chain(new.chars())
            .chain(chars[end..].iter().copied())
            .collect();
        let bytes = || text.as_bytes().to_vec();
        let paths: Vec<_> = paths.iter().map(|it| (*it).to_owned()).collect();
        for paths in [&paths[..], &[]] {
            let Ok(after) = govern(bytes(), &keys(place), paths, &gateway()) else {
                continue;
            };
            let now = servers(&after).expect("a configuration");
            prop_assert!(now.iter().any(|it| it.name == "agent"), "{}", after);
            let again = release(after.clone().into_bytes(), &keys(place), &gateway(), bytes(), paths);
            // A damaged original may name a server twice, which nothing gives back.
            if let (Ok(again), Some(before)) = (again, servers(&text)) {
                prop_assert_eq!(servers(&again), Some(before), "{}", after);
            }
        }
    }
}
