//! What one policy decides otherwise than another.

use agent_decide::Drift;
use agent_diagnostic::Code;
use agent_lower::{self as lower, Notation};
use agent_model::Index;
use agent_rego::{Policy, PolicyDifference, PolicySide, QUESTION_LIMIT, policy_difference, read};
use serde_json::{Value, json};

fn policy(rules: &str) -> Policy {
    let text = format!("package switchboard\n{rules}");
    read(text.into_bytes()).expect("a policy").value
}

/// Returns an index with a server for each list of tools, by publishers `P0`, `P1`, …
fn index(servers: &[Value]) -> Index {
    let servers = servers.iter().enumerate().map(|(number, tools)| {
        json!({
            "id": format!("s{number}"), "version": "1", "endpoint": "https://a.example", "categories": ["mail"],
            "scopes": ["read:mail"], "data": { "residency": "any", "maxSensitivity": "public" },
            "trust": { "signed": true, "publisher": format!("P{number}") }, "capabilities": { "tools": tools }
        })
    });
    let text = Value::from_iter(servers).to_string();
    lower::index(text.into_bytes()).expect("an index").value
}

fn tool(verb: &str, constraints: &[&str], properties: Value) -> Value {
    json!({
        "x-summit-capabilities": [{ "verb": verb, "resource": "x-mail", "constraints": constraints }],
        "inputSchema": { "type": "object", "properties": properties }
    })
}

fn compare(before: &Policy, after: &Policy, index: &Index) -> PolicyDifference {
    let side = |policy| PolicySide {
        policy,
        tenant: None,
    };
    policy_difference(side(before), side(after), index, None)
}

/// Returns the code, the tool and the details of each difference.
fn words(drifts: &[Drift]) -> Vec<String> {
    let words = drifts.iter().map(|it| {
        let tool = it.tool.as_deref().unwrap_or_default();
        format!("{} {tool} {}", it.code.name(), it.details.join("; "))
    });
    words.collect()
}

const ALL: &str = "allowed_tools contains t.id if some t in input.candidate_tools";

#[test]
fn equal_answers_are_no_difference() {
    let index = index(&[json!({ "send": tool("write", &[], json!({})) })]);
    let other = "allowed_tools := {t.id | some t in input.candidate_tools; t.signed}";
    let found = compare(&policy(ALL), &policy(other), &index);
    assert_eq!(found.drifts, []);
    // Once about the capability, and alone in the two later phases.
    assert_eq!((found.asked, found.left_out), (3, 0));
    assert_eq!(found.sampled, [""; 0]);
}

#[test]
fn more_access_comes_first_and_each_tool_once() {
    let index = index(&[
        json!({ "list": tool("read", &[], json!({})), "send": tool("write", &[], json!({})) }),
        json!({ "post": tool("write", &[], json!({})) }),
    ]);
    let of = |publisher: &str, reason: &str| {
        policy(&format!(
            "allowed_tools contains t.id if {{ some t in input.candidate_tools; t.publisher == \"{publisher}\" }}
            deny_reasons[t.id] := \"{reason}\" if {{ some t in input.candidate_tools; t.publisher != \"{publisher}\" }}"
        ))
    };
    let found = compare(&of("P0", "a"), &of("P1", "b"), &index);
    let phases = "in every phase";
    assert_eq!(
        words(&found.drifts),
        [
            format!("POLICY_WIDENED s1@1/post {phases}"),
            format!("POLICY_NARROWED s0@1/list {phases}"),
            format!("POLICY_NARROWED s0@1/send {phases}"),
        ]
    );
    let [widened, narrowed, _] = &found.drifts[..] else {
        panic!("three differences");
    };
    assert_eq!(widened.capability.as_deref(), Some("write:x-mail"));
    assert_eq!(
        (widened.before.as_deref(), widened.after.as_deref()),
        (Some("a"), None)
    );
    assert_eq!(
        (narrowed.before.as_deref(), narrowed.after.as_deref()),
        (None, Some("b"))
    );
    assert!(widened.widening() && narrowed.narrowing());

    let found = compare(&of("P2", "a"), &of("P2", "b"), &index);
    assert!(
        found
            .drifts
            .iter()
            .all(|it| it.code == Code::PolicyReasonChanged)
    );
    assert_eq!(found.drifts.len(), 3);
    let failing = policy("allowed_tools := 1");
    let found = compare(&policy(ALL), &failing, &index);
    let after = found.drifts[0].after.as_deref().unwrap_or_default();
    assert!(after.starts_with("the policy fails: "), "{after}");
}

#[test]
fn what_a_policy_reads_of_a_requirement_is_asked() {
    let index = index(&[json!({ "send": tool("write", &["human_in_the_loop"], json!({})) })]);
    for (condition, shown) in [
        ("input.phase == \"expand\"", "write:x-mail"),
        (
            "\"human_in_the_loop\" in input.requirement.constraints",
            "write:x-mail + human_in_the_loop",
        ),
        ("input.requirement.load == \"on_demand\"", "write:x-mail"),
        ("input.requirement.category == \"mail\"", "mail"),
        ("\"read:mail\" in input.requirement.permissions", "mail"),
    ] {
        let newer = policy(&format!(
            "allowed_tools contains t.id if {{ some t in input.candidate_tools; not denied }}\ndenied if {condition}"
        ));
        let found = compare(&policy(ALL), &newer, &index);
        let [drift] = &found.drifts[..] else {
            panic!("{condition}: {:?}", found.drifts);
        };
        let about = drift.capability.as_ref().or(drift.category.as_ref());
        assert_eq!(about.map(String::as_str), Some(shown), "{condition}");
    }
}

#[test]
fn a_tool_without_a_capability_is_asked_about_for_its_category() {
    let index = index(&[json!({ "plain": {} })]);
    let none = policy("allowed_tools := set()");
    let found = compare(&none, &policy(ALL), &index);
    assert_eq!(found.asked, 2);
    assert_eq!(
        words(&found.drifts),
        ["POLICY_WIDENED s0@1/plain in `expand` and `call`"]
    );
}

#[test]
fn conditions_over_arguments_are_tried_at_their_bounds() {
    let properties = json!({
        "to": { "type": "string" }, "kind": { "enum": ["note", "order"] },
        "count": { "type": ["integer", "null"], "maximum": 50 }, "draft": { "type": "boolean" }, "all": {}
    });
    let index = index(&[json!({ "send": tool("write", &[], properties) })]);
    let denies = |condition: &str| {
        policy(&format!(
            "allowed_tools contains t.id if {{ some t in input.candidate_tools; not denied }}\ndenied if {{ {condition} }}"
        ))
    };
    for (before, after, key, value) in [
        (
            "input.arguments.count > 9",
            "input.arguments.count > 10",
            "count",
            json!(10),
        ),
        (
            "input.arguments.count >= 9",
            "input.arguments.count > 9",
            "count",
            json!(9),
        ),
        (
            "input.arguments.count < 1",
            "input.arguments.count < 50",
            "count",
            json!(1),
        ),
        (
            "input.arguments.count > -3",
            "input.arguments.count > -2",
            "count",
            json!(-2),
        ),
        (
            "input.arguments.to == \"a@b\"",
            "input.arguments.to == \"c@d\"",
            "to",
            json!("a@b"),
        ),
        (
            "input.arguments.kind == \"note\"",
            "input.arguments.kind == \"order\"",
            "kind",
            json!("note"),
        ),
        (
            "input.arguments.draft",
            "input.arguments.draft == false",
            "draft",
            json!(true),
        ),
        (
            "input.arguments.all == 3",
            "input.arguments.all == 4",
            "all",
            json!(3),
        ),
    ] {
        let found = compare(&denies(before), &denies(after), &index);
        assert_eq!(found.sampled, ["arguments"], "{before}");
        let details = found.drifts.iter().flat_map(|it| &it.details);
        let mut given = details
            .filter_map(|it| {
                it.strip_prefix("with these arguments of a sample: `")?
                    .strip_suffix('`')
            })
            .map(|it| serde_json::from_str::<Value>(it).expect("arguments"));
        let first = given
            .next()
            .unwrap_or_else(|| panic!("{before}: {:?}", found.drifts));
        assert_eq!(first[key], value, "{before}");
    }
}

#[test]
fn a_tool_is_shown_once_whatever_its_reasons_say() {
    let properties = json!({ "count": { "type": "integer", "maximum": 50 } });
    let index = index(&[json!({ "send": tool("write", &[], properties) })]);
    let newer = policy(
        "allowed_tools contains t.id if { some t in input.candidate_tools; not many }
        many if input.arguments.count > 7
        deny_reasons[t.id] := sprintf(\"%v are too many\", [input.arguments.count]) if {
            some t in input.candidate_tools
            many
        }",
    );
    let found = compare(&policy(ALL), &newer, &index);
    assert_eq!(
        words(&found.drifts),
        ["POLICY_NARROWED s0@1/send in `call`; with these arguments of a sample: `{\"count\":50}`"]
    );
    assert_eq!(found.drifts[0].after.as_deref(), Some("50 are too many"));
}

#[test]
fn a_tenant_is_in_the_input_and_in_the_answer() {
    let index = index(&[json!({ "send": tool("write", &[], json!({})) })]);
    let text = "version: v0.1\ntenants: [{ id: acme, tier: gold }]";
    let tenant = lower::tenant(text.as_bytes().to_vec(), Notation::ByContent, Some("acme"));
    let tenant = tenant.expect("a tenant").value;
    let rules = "allowed_tools contains t.id if { some t in input.candidate_tools; input.user_tier == \"gold\" }";
    let policy = policy(rules);
    let before = PolicySide {
        policy: &policy,
        tenant: None,
    };
    let after = PolicySide {
        policy: &policy,
        tenant: Some(&tenant),
    };
    let found = policy_difference(before, after, &index, None);
    assert_eq!(
        words(&found.drifts),
        ["POLICY_WIDENED s0@1/send in every phase; for the tenant `acme`"]
    );
}

#[test]
fn questions_end_at_the_limit_and_are_counted() {
    let tools =
        (0..330).map(|number| (format!("t{number}"), tool("read", &[], json!({ "a": {} }))));
    let index = index(&[Value::from_iter(tools)]);
    let many: Vec<_> = (0..60).map(|it| format!("\"v{it}\"")).collect();
    let rules = format!("{ALL}\nother if input.arguments.a in [{}]", many.join(", "));
    let found = compare(&policy(&rules), &policy(ALL), &index);
    assert_eq!(found.asked, QUESTION_LIMIT);
    // At resolution once, and for each tool once in `expand` and with 64 arguments.
    assert_eq!(found.asked + found.left_out, 1 + 330 * 65);
}

#[test]
fn policies_that_read_a_history_are_asked_about_labels() {
    let index = index(&[json!({ "send": tool("write", &[], json!({})) })]);
    let rule = |label: &str| {
        format!(
            "allowed_tools contains t.id if {{ some t in input.candidate_tools; not leaks }}
            leaks if {{ input.history.labels.{label}; input.history.call.sends }}"
        )
    };
    let (before, after) = (policy(&rule("private")), policy(&rule("untrusted")));
    let found = compare(&before, &after, &index);
    assert_eq!(
        words(&found.drifts),
        [
            "POLICY_WIDENED s0@1/send in `call`; after data that is `private`, if it sends and writes",
            "POLICY_NARROWED s0@1/send in `call`; after data that is `untrusted`, if it sends and writes",
        ]
    );
    // Three labels and none, for a tool that acts and one that does not.
    assert_eq!((found.asked, found.left_out), (2 + 8, 0));
    assert_eq!(found.sampled, ["history"]);
    assert_eq!(compare(&before, &before, &index).drifts, []);
}

#[test]
fn what_tenants_say_of_histories_is_compared() {
    let index = index(&[json!({ "send": tool("write", &[], json!({})) })]);
    let policy = policy(ALL);
    let tenant = |history: &str| {
        let text = format!("tenants:\n  - id: acme\n    history: {history}");
        let read = lower::tenant(text.into_bytes(), Notation::ByContent, None);
        read.expect("a tenant").value
    };
    let rules = "rules: [{ rule: no-send-after, label: private }]";
    let base = tenant(&format!("{{ {rules} }}"));
    let drifts = |before: &str, after: &str| {
        let sides = [before, after].map(|it| tenant(&format!("{{ {it} }}")));
        let [before, after] = sides.each_ref().map(|tenant| PolicySide {
            policy: &policy,
            tenant: Some(tenant),
        });
        let found = policy_difference(before, after, &index, None).drifts;
        let found = found.iter().map(|it| {
            let tool = it.tool.clone().unwrap_or_default();
            format!("{} {tool}", it.code.name())
        });
        found.collect::<Vec<_>>()
    };
    assert_eq!(drifts(rules, rules), [""; 0]);
    assert_eq!(drifts(rules, ""), ["POLICY_WIDENED */*"]);
    assert_eq!(drifts("", rules), ["POLICY_NARROWED */*"]);
    let recording = "rules: [{ rule: no-send-after, label: private, mode: log-only }]";
    assert_eq!(drifts(rules, recording), ["POLICY_WIDENED */*"]);
    // A rule with other terms is another rule.
    let at_most = |calls: u8| format!("rules: [{{ rule: at-most, tools: [a/b], calls: {calls} }}]");
    assert_eq!(
        drifts(&at_most(2), &at_most(3)),
        ["POLICY_WIDENED a/b", "POLICY_NARROWED a/b"]
    );
    let labels = |of: &str| format!("{rules}, labels: [{{ tools: [a/b], {of} }}]");
    assert_eq!(
        drifts(rules, &labels("remove: [private]")),
        ["POLICY_WIDENED a/b"]
    );
    assert_eq!(
        drifts(&labels("add: [private]"), rules),
        ["POLICY_WIDENED a/b"]
    );
    assert_eq!(
        drifts(rules, &labels("add: [private], sends: false")),
        ["POLICY_WIDENED a/b", "POLICY_NARROWED a/b"]
    );
    let short = format!(
        "window: 1h, {}",
        rules.replace("private", "private, within: 1h")
    );
    let long = format!(
        "window: 2h, {}",
        rules.replace("private", "private, within: 1h")
    );
    assert_eq!(drifts(&long, &short), ["POLICY_WIDENED */*"]);
    assert_eq!(drifts(&short, &long), ["POLICY_NARROWED */*"]);
    // Without a rule, labels decide nothing.
    let only_labels = "labels: [{ tools: [a/b], remove: [private] }]";
    assert_eq!(drifts("", only_labels), [""; 0]);
    let sides = [rules.to_owned(), labels("remove: [private], sends: false")];
    let sides = sides.map(|it| tenant(&format!("{{ {it} }}")));
    let [before, after] = sides.each_ref().map(|tenant| PolicySide {
        policy: &policy,
        tenant: Some(tenant),
    });
    let found = policy_difference(before, after, &index, None).drifts;
    let text: String = agent_render::drifts(&found)
        .into_iter()
        .map(|it| it.text)
        .collect();
    assert_eq!(
        text,
        "POLICY_WIDENED a/b: newly allowed (was denied: the labels of the history): the tenant newly says \
         `remove: [private]` and `sends: false` (gives the agent more access)\n"
    );
    // One side without a tenant has no rule.
    let before = PolicySide {
        policy: &policy,
        tenant: Some(&base),
    };
    let after = PolicySide {
        policy: &policy,
        tenant: None,
    };
    let found = policy_difference(before, after, &index, None).drifts;
    assert_eq!(
        found[0].before.as_deref(),
        Some("the tenant's rule `no-send-after`")
    );
}
