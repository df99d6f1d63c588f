//! The list of tools that a client gets.

use super::{World, answered, at, call, listed, new_client, old_client, through};
use agent_decide::token_estimate;
use agent_lower::digest;
use agent_model::Load;
use agent_session::{Expansion, Generation, Options};
use serde_json::{Value, json};

#[test]
fn clients_get_the_locked_bytes_and_nothing_else_of_a_server() {
    let world = World::usual();
    let mut session = world.session(Options::default());
    let list = session.list(&new_client(), at(0)).result;
    let text = String::from_utf8(list).expect("UTF-8");
    assert!(!text.contains("TITLE") && !text.contains("INSTRUCTIONS") && !text.contains("icons"));
    let list: Value = serde_json::from_str(&text).expect("JSON");
    let definitions = world.documents().definitions.expect("definitions");
    let locked: Value = serde_json::from_slice(&definitions).expect("JSON");
    let tools = list["tools"].as_array().expect("tools");
    let mut stubs = 0;
    for tool in tools {
        if tool["name"] == "aws_helper" {
            stubs += 1;
            continue;
        }
        // The bytes of the entry have the digest that the lock has.
        let canonical = agent_syntax::canonical(&tool.to_string()).expect("JSON");
        assert!(text.contains(&canonical), "{canonical}");
        assert_eq!(locked[digest(&canonical)], *tool);
    }
    assert_eq!(stubs, 1);
}

#[test]
fn a_generation_has_its_own_form() {
    let mut session = World::usual().session(Options::default());
    let mut of = |client| -> Value {
        serde_json::from_slice(&session.list(&client, at(0)).result).expect("JSON")
    };
    let (old, new) = (of(old_client()), of(new_client()));
    assert_eq!(old.as_object().expect("an object").len(), 1);
    assert_eq!(new["resultType"], "complete");
    assert_eq!(
        (&new["cacheScope"], &new["ttlMs"]),
        (&json!("private"), &json!(0))
    );
    let output = |list: &Value, name: &str| {
        let tools = list["tools"].as_array().expect("tools");
        let tool = tools.iter().find(|it| it["name"] == name).expect("a tool");
        tool.get("outputSchema").cloned()
    };
    // 2025-11-25 knows only output schemas of objects.
    assert_eq!(output(&old, "count"), None);
    assert_eq!(output(&new, "count"), Some(json!({ "type": "number" })));
    assert!(output(&old, "read").is_some());
}

#[test]
fn the_list_is_the_same_for_every_client_and_time() {
    let mut session = World::usual().session(Options::default());
    let first = session.list(&new_client(), at(0)).result;
    let expand = json!({ "operation": "expand", "tools": ["s3_list"] });
    call(&mut session, &new_client(), "aws_helper", expand);
    let other = super::client("d", Generation::Stateless);
    assert_eq!(session.list(&other, at(9)).result, first);
}

#[test]
fn tools_on_demand_stand_behind_a_stub() {
    let world = World::usual();
    let names = ["aws_helper", "count", "ec2_run", "read", "remove"];
    assert_eq!(
        listed(&mut world.session(Options::default()), &new_client()),
        names
    );
    let all = ["count", "ec2_run", "read", "remove", "s3_list", "s3_put"];
    let options = Options {
        expansion: Expansion::None,
        ..Options::default()
    };
    assert_eq!(listed(&mut world.session(options), &new_client()), all);
}

#[test]
fn a_schema_without_a_type_gets_the_one_that_mcp_requires() {
    let mut world = World::usual();
    let tool = &mut world.servers[1]["capabilities"]["tools"]["ec2_run"];
    tool["inputSchema"] = json!({ "properties": { "z": {} } });
    let mut session = world.session(Options::default());
    let list: Value =
        serde_json::from_slice(&session.list(&new_client(), at(0)).result).expect("JSON");
    let tools = list["tools"].as_array().expect("tools");
    let tool = tools
        .iter()
        .find(|it| it["name"] == "ec2_run")
        .expect("a tool");
    assert_eq!(
        tool["inputSchema"],
        json!({ "properties": { "z": {} }, "type": "object" })
    );
}

#[test]
fn one_bad_tool_takes_nothing_with_it() {
    let mut world = World::usual();
    world.servers[1]["capabilities"]["tools"]["ec2_run"]["inputSchema"] =
        json!({ "type": "object", "pattern": 1 });
    world.servers[1]["capabilities"]["tools"]["s3_put"]["inputSchema"] = json!({ "type": "array" });
    world.locked.retain(|(server, _, _)| server != "numbers");
    world.categories = vec![("numbers".to_owned(), Load::Essential)];
    world.servers[2]["capabilities"]["tools"]["sum"] =
        json!({ "inputSchema": { "type": "object" } });
    world.forbid = vec!["sum".to_owned()];
    let mut session = world.session(Options::default());
    assert_eq!(
        listed(&mut session, &new_client()),
        ["aws_helper", "count", "read", "remove"]
    );
    for (name, code) in [("ec2_run", "SCHEMA_INVALID"), ("sum", "FORBIDDEN_ACTION")] {
        let called = call(&mut session, &new_client(), name, json!({ "path": "a" }));
        assert_eq!(super::refused(&called), [code]);
    }
    let called = through(
        &mut session,
        &new_client(),
        "aws_helper",
        "s3_put",
        json!({}),
    );
    assert_eq!(super::refused(&called), ["SCHEMA_INVALID"]);
    let services = json!({ "operation": "list_services" });
    let called = call(&mut session, &new_client(), "aws_helper", services);
    let text = answered(&called)["content"][0]["text"].to_string();
    assert!(
        text.contains("s3_list") && !text.contains("s3_put"),
        "{text}"
    );
}

#[test]
fn the_stub_says_what_it_is() {
    let mut session = World::usual().session(Options::default());
    let list: Value =
        serde_json::from_slice(&session.list(&new_client(), at(0)).result).expect("JSON");
    let stub = &list["tools"][0];
    assert_eq!(stub["name"], "aws_helper");
    let description = stub["description"].as_str().expect("a description");
    assert!(description.contains("`s3_list`, `s3_put`"), "{description}");
    let operations = &stub["inputSchema"]["properties"]["operation"]["enum"];
    assert_eq!(*operations, json!(["list_services", "expand", "call"]));
    // One of its tools may write.
    assert_eq!(stub["annotations"]["readOnlyHint"], false);
    assert_eq!(stub["annotations"]["destructiveHint"], true);
    assert!(token_estimate(&stub.to_string()) > 10);
}
