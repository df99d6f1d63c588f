//! Candidates that a policy can't tell apart get one evaluation, and the same answers.

use agent_decide::{EvaluationContext, Matching, PolicyDecision, PolicyEngine};
use agent_diagnostic::Code;
use agent_lower as lower;
use agent_rego::{Policy, Vocabulary, policy_remarks, read};
use serde_json::{Value, json};
use std::sync::Arc;

/// A policy whose candidates are all evaluated.
#[derive(Debug)]
struct Whole(Policy);

impl PolicyEngine for Whole {
    fn ask(&self, input: &str) -> PolicyDecision {
        self.0.ask(input)
    }

    fn digest(&self) -> String {
        self.0.digest()
    }
}

/// Policies with the members by which they can tell candidates apart, if they decide each alone.
const POLICIES: [(&str, Option<&[&str]>); 27] = [
    ("allowed_tools contains t.id if some t in input.candidate_tools", Some(&[])),
    ("allowed_tools contains t.id if { some t in input.candidate_tools; t.class == \"paid\" }", Some(&["class"])),
    ("allowed_tools contains t.id if { t := input.candidate_tools[_]; not t.signed }", Some(&["signed"])),
    (
        "allowed_tools contains t.id if { some t in input.candidate_tools; not bad(t) }
        deny_reasons[t.id] := concat(\" \", [t.publisher, \"is bad\"]) if { some t in input.candidate_tools; bad(t) }
        bad(tool) if tool.class == \"paid\"
        bad(tool) if { some block in tool.capabilities; \"x-pii\" in block.constraints }",
        Some(&["capabilities", "class", "publisher"]),
    ),
    (
        "allowed_tools contains t.id if { some t in input.candidate_tools; not paid[t.id]; not t.id in odd }
        paid contains t.id if { some t in input.candidate_tools; t.class == \"paid\" }
        odd contains t.id if { some t in input.candidate_tools; t.version == \"2\" }",
        Some(&["class", "version"]),
    ),
    (
        "allowed_tools contains t.id if { some t in input.candidate_tools; not any_paid }
        any_paid if { some t in input.candidate_tools; t.class == \"paid\" }",
        Some(&["class"]),
    ),
    (
        "allowed_tools contains t.id if { some t in input.candidate_tools; count(classes) > 1; t.signed }
        classes contains t.class if some t in input.candidate_tools",
        Some(&["class", "signed"]),
    ),
    // An error is the same too: two values for one rule.
    (
        "allowed_tools contains t.id if { some t in input.candidate_tools; one }
        one := t.class if some t in input.candidate_tools",
        Some(&["class"]),
    ),
    ("allowed_tools contains t.id if { some t in input.candidate_tools; to_number(t.publisher) > 1 }", Some(&["publisher"])),
    (
        "allowed_tools contains t.id if { some t in input.candidate_tools; t.id != \"s1@1/a\" }",
        Some(&["id"]),
    ),
    ("allowed_tools contains t.id if { some t in input.candidate_tools; startswith(t.id, \"s\") }", Some(&["id"])),
    // A value of an object is no key of it.
    (
        "allowed_tools contains t.id if { some t in input.candidate_tools; t.id in names }
        names[t.id] := \"s1@1/a\" if { some t in input.candidate_tools; t.signed }",
        None,
    ),
    // Others count candidates, compare them or reach them by another way.
    ("allowed_tools contains t.id if { some t in input.candidate_tools; count(input.candidate_tools) < 3 }", None),
    ("allowed_tools contains t.id if { some i, t in input.candidate_tools; i < 2 }", None),
    ("allowed_tools contains t.id if { t := input.candidate_tools[0] }", None),
    (
        "allowed_tools contains t.id if { some t in input.candidate_tools; n < 3 }
        n := count([c | c := input.candidate_tools[_].class])",
        None,
    ),
    (
        "allowed_tools contains t.id if { some t in input.candidate_tools; every c in input.candidate_tools { c.signed } }",
        None,
    ),
    ("allowed_tools contains t.id if { some t in input.candidate_tools; count(t) > 3 }", None),
    ("allowed_tools contains t.id if { some t in input.candidate_tools; some k; t[k] == \"paid\" }", None),
    ("allowed_tools contains t.id if { some t in input.candidate_tools; count(paid) < 2 }
    paid contains t.id if { some t in input.candidate_tools; t.class == \"paid\" }", None),
    ("allowed_tools contains id if some id in ids
    ids contains t.id if some t in input.candidate_tools", None),
    (
        "allowed_tools contains t.id if { some t in input.candidate_tools; t.class == \"paid\" }
        allowed_tools contains \"s0@1/a\"",
        None,
    ),
    ("allowed_tools contains t.id if { some t in input[\"candidate_tools\"]; t == input.candidate_tools[1] }", None),
    ("allowed_tools contains t.id if { all := input; some t in all.candidate_tools }", None),
    (
        "allowed_tools contains t.id if { some t in input.candidate_tools; ok with input.candidate_tools as [t] }
        ok if input.candidate_tools[0].signed",
        None,
    ),
    (
        "allowed_tools contains t.id if { some t in input.candidate_tools; not data.switchboard.paid[\"s1@1/a\"] }
        paid contains t.id if { some t in input.candidate_tools; t.class == \"paid\" }",
        None,
    ),
    (
        "allowed_tools contains t.id if { some t in input.candidate_tools; f(t) }
        f({\"class\": c}) if c == \"paid\"
        f(x) if x.signed",
        None,
    ),
];

fn policy(rules: &str) -> Policy {
    let text = format!("package switchboard\n{rules}\n");
    read(text.into_bytes())
        .unwrap_or_else(|found| panic!("{rules}: {found:#?}"))
        .value
}

/// Returns the decision of a policy on a requirement that all tools of an index meet, and the reasons against each tool.
fn decision(policy: Arc<dyn PolicyEngine>) -> (PolicyDecision, Vec<String>) {
    let server = |number: usize| {
        let tool = |tags: &[&str]| {
            json!({
                "x-summit-capabilities": [{ "verb": "read", "resource": "x-mail", "constraints": tags }],
                "inputSchema": { "type": "object" },
            })
        };
        let tags: &[&str] = if number.is_multiple_of(5) {
            &["x-pii"]
        } else {
            &[]
        };
        json!({
            "id": format!("s{}", number / 2), "version": (number % 2 + 1).to_string(), "endpoint": "https://a.example",
            "categories": ["mail"], "scopes": [],
            "class": if number.is_multiple_of(3) { "paid" } else { "local" },
            "data": { "residency": "any", "maxSensitivity": "public" },
            "trust": { "signed": number.is_multiple_of(4), "publisher": if number < 8 { "Us" } else { "Them" } },
            "capabilities": { "tools": { "a": tool(tags), "b": tool(&[]) } },
        })
    };
    let index = Value::from_iter((0..12).map(server)).to_string();
    let index = lower::index(index.into_bytes()).expect("an index").value;
    let manifest = "---\nname: a\nversion: 1.0.0\nrequires:\n  capabilities:\n    - verb: read\n      resource: x-mail\n---\n";
    let manifest = lower::manifest(manifest.into()).expect("a manifest").value;
    let context = EvaluationContext {
        policy: Some(policy),
        ..EvaluationContext::default()
    };
    let matching = Matching::new(Some(Arc::new(manifest)), Arc::new(index), context);
    let tools = matching.index().tools();
    let reasons = tools.map(|tool| format!("{:?}", matching.reasons(0, tool)));
    let eligible = matching
        .eligible(0)
        .map(|it| format!("{} is eligible", lower::tool_id(it)));
    let decided = reasons.chain(eligible).collect();
    (
        matching.whole_policy_decision(0).expect("a decision"),
        decided,
    )
}

#[test]
fn classes_of_candidates_change_no_answer() {
    let mut answers = 0;
    for (rules, members) in POLICIES {
        let policy = policy(rules);
        let found = policy.candidate_members();
        let found: Option<Vec<_>> = found.map(|it| it.iter().map(String::as_str).collect());
        assert_eq!(found.as_deref(), members, "{rules}");
        assert_eq!(notes(&policy).is_empty(), members.is_some(), "{rules}");
        let whole = decision(Arc::new(Whole(self::policy(rules))));
        assert_eq!(decision(Arc::new(policy)), whole, "{rules}");
        let (whole, reasons) = whole;
        let allowed = whole.answer.map_or(0, |it| it.tools.len());
        let eligible = reasons.iter().filter(|it| it.ends_with("is eligible"));
        assert_eq!(eligible.count(), allowed, "{rules}");
        answers += usize::from(allowed > 0 && allowed < 24);
    }
    // Most allow some tools and not all.
    assert!(answers > 12, "{answers}");
}

/// Returns the lines of the notes that each candidate is evaluated.
fn notes(policy: &Policy) -> Vec<u32> {
    let mut found = policy_remarks(policy, &Vocabulary::new());
    found.retain(|it| it.code == Code::PolicyEachCandidate);
    let lines = found.iter().map(|it| it.labels[0].place.start.line);
    lines.collect()
}

#[test]
fn a_note_names_the_rule_that_costs_an_evaluation_of_each_candidate() {
    for (rules, line) in [
        (
            "allowed_tools contains t.id if { some t in input.candidate_tools; n < 3 }\nn := count(input.candidate_tools)",
            3,
        ),
        (
            "import input as all\nallowed_tools contains t.id if some t in all.candidate_tools",
            1,
        ),
        (
            "ok if input.candidate_tools[0].signed\nallowed_tools contains t.id if { some t in input.candidate_tools; ok }",
            2,
        ),
        (
            "allowed_tools contains t.id if { some t in input.candidate_tools; f(t) }\nf(t) if { some k; t[k] == 1 }",
            3,
        ),
        (
            "allowed_tools contains t.id if { some t in input.candidate_tools; count(b) < 2 }\nb contains t.id if some t in input.candidate_tools",
            2,
        ),
    ] {
        assert_eq!(notes(&policy(rules)), [line], "{rules}");
    }
}
