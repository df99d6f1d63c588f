//! Why a policy allows or denies a call.

use agent_api::policy::{AskedCall, explain_policy_call};
use agent_decide::ExplainedCall;
use agent_model::Index;
use agent_rego::read;
use agent_render::{policy_call, policy_call_json};
use serde_json::{Value, json};

const POLICY: &str = "package switchboard

allowed_tools contains tool.id if {
	some tool in input.candidate_tools
	tool.publisher == \"Us\"
	not leaks
}

deny_reasons[tool.id] := \"not from us\" if {
	some tool in input.candidate_tools
	is_foreign(tool)
}

is_foreign(tool) if tool.publisher != \"Us\"

leaks if input.history.labels.private

leaks if input.arguments.to == \"all\"
";

fn index() -> Index {
    let server = |id: &str, publisher: &str, version: &str| {
        json!({
            "id": id, "version": version, "endpoint": "https://a.example", "categories": ["mail"], "scopes": [],
            "data": { "residency": "any", "maxSensitivity": "public" },
            "trust": { "signed": true, "publisher": publisher },
            "capabilities": { "tools": { "send": {
                "x-summit-capabilities": [{ "verb": "write", "resource": "x-mail", "constraints": [] }],
                "inputSchema": { "type": "object" },
            } } },
        })
    };
    let servers = [
        server("ours", "Us", "1"),
        server("ours", "Us", "2"),
        server("theirs", "Them", "1"),
        server("io.example/mail", "Us", "1"),
    ];
    let text = Value::from_iter(servers).to_string();
    agent_lower::index(text.into_bytes())
        .expect("an index")
        .value
}

fn explained(tool: &str, arguments: &str, history: &str) -> Result<Vec<ExplainedCall>, String> {
    let policy = read(POLICY.into()).expect("a policy").value;
    let call = AskedCall {
        tool,
        arguments: arguments.as_bytes(),
        history: history.as_bytes(),
    };
    let found = explain_policy_call(&policy, None, &index(), None, call);
    found.map_err(|problems| {
        let help = problems[0].fixes.first().map(|it| it.title.clone());
        format!("{}; {}", problems[0].message, help.unwrap_or_default())
    })
}

fn text(calls: &[ExplainedCall]) -> String {
    policy_call(calls).into_iter().map(|it| it.text).collect()
}

#[test]
fn each_rule_has_its_value_and_its_part() {
    let denied = explained("theirs/send", "{}", "").expect("a call");
    assert_eq!(
        text(&denied),
        "✗ theirs@1/send for write:x-mail: denied: not from us
  -    3:1  allowed_tools  []
  ✓    9:1  deny_reasons  { \"theirs@1/send\": \"not from us\" }  decides
  ✓   14:1  is_foreign  a function
  -   16:1  leaks  undefined
  -   18:1  leaks  undefined
       5:2  `tool.publisher` is \"Them\"; this rule allows only \"Us\"
     14:21  `tool.publisher` is \"Them\"; only \"Us\" passes
"
    );
    let json: Value = serde_json::from_str(&policy_call_json(&denied)).expect("JSON");
    assert_eq!(json["allowed"], false);
    assert_eq!(json["calls"][0]["input"]["arguments"], json!({}));
    assert_eq!(json["calls"][0]["rules"][1]["decides"], true);
}

#[test]
fn arguments_and_the_history_decide_too() {
    let allowed = explained("ours@2/send", "{\"to\":\"you\"}", "").expect("a call");
    assert_eq!(allowed.len(), 1);
    assert!(allowed[0].is_allowed() && allowed[0].facts.is_empty());
    for (arguments, history, line) in [
        ("{\"to\":\"all\"}", "", 18),
        ("{}", "{\"labels\":{\"private\":{\"count\":1}}}", 16),
    ] {
        let denied = explained("ours@2/send", arguments, history).expect("a call");
        assert!(!denied[0].is_allowed(), "{arguments}");
        let holding = denied[0].rules.iter().filter(|it| it.holds);
        let lines: Vec<_> = holding.map(|it| it.place.start.line).collect();
        assert_eq!(lines, [line]);
    }
}

#[test]
fn every_version_of_a_server_is_asked_about() {
    let both = explained("ours/send", "{}", "").expect("calls");
    let tools: Vec<_> = both.iter().map(|it| &*it.tool).collect();
    assert_eq!(tools, ["ours@1/send", "ours@2/send"]);
}

#[test]
fn the_id_of_a_server_may_contain_a_slash() {
    for tool in ["io.example/mail/send", "io.example/mail@1/send"] {
        let found = explained(tool, "{}", "").expect("a call");
        let tools: Vec<_> = found.iter().map(|it| &*it.tool).collect();
        assert_eq!(tools, ["io.example/mail@1/send"], "{tool}");
    }
}

#[test]
fn what_is_no_call_is_refused() {
    for (tool, arguments, history, expected) in [
        (
            "send",
            "{}",
            "",
            "`send` is no SERVER/TOOL; write the server and the tool, such as `mail/read`",
        ),
        (
            "our/send",
            "{}",
            "",
            "the index has no server `our`; did you mean `ours`?",
        ),
        (
            "ours/sent",
            "{}",
            "",
            "the index has no tool `sent`; did you mean `send`?",
        ),
        (
            "ours@3/send",
            "{}",
            "",
            "the index has no server `ours`; did you mean `ours`?",
        ),
        (
            "ours/send",
            "[]",
            "",
            "the arguments must be one strict JSON object; ",
        ),
        (
            "ours/send",
            "{}",
            "{",
            "the history must be one strict JSON object; ",
        ),
    ] {
        assert_eq!(
            explained(tool, arguments, history).unwrap_err(),
            expected,
            "{tool}"
        );
    }
}

#[test]
fn what_was_folded_of_a_given_history_is_not_known() {
    let text = "package switchboard
allowed_tools contains t.id if { some t in input.candidate_tools; count(input.history.calls) < 3 }";
    let policy = read(text.into()).expect("a policy").value;
    let index = index();
    for (folded, allowed) in [
        ("", true),
        (r#"{"label": "private", "count": 2}"#, true),
        (r#"{"label": null, "count": 2}"#, false),
    ] {
        let history = format!(r#"{{"calls": [], "folded": [{folded}]}}"#);
        let call = AskedCall {
            tool: "ours@2/send",
            arguments: b"{}",
            history: history.as_bytes(),
        };
        let found = explain_policy_call(&policy, None, &index, None, call).expect("a call");
        assert_eq!(found[0].decision.answer.is_ok(), allowed, "{folded}");
        if let Err(error) = &found[0].decision.answer {
            assert!(
                error.detail.contains("2 calls were folded"),
                "{}",
                error.detail
            );
        }
    }
}
