//! Instruction profiles, with the caps and the input policy that MOVA does not define \[1, 3\].

use super::corrected::{conform, correct_keys, correct_word};
use super::document::{
    Validated, digest_of, items, member, member_mut, spanned, string, validate, whole_number,
};
use super::read::PROFILE_LIMIT;
use agent_diagnostic::Findings;
use agent_json_schema::{Budget, Library, TextPattern};
use agent_model::{Cap, DenyPattern, Effect, InputPolicy, Profile, Rule, Selector};
use agent_syntax::{Node, Value};
use agent_text::{DocumentKind, Spanned};

/// The rule about `input_policy`.
const INPUT_POLICY: &str = "`input_policy` is {\"max_bytes\": …, \"deny_patterns\": […]}, its patterns without \
     look-around and back-references";

/// The rule about the selectors of tools.
const SELECTOR: &str = "a rule about tools has the `selector` `connector_id/tool_id` or `*`";

/// The rule about members that the schema does not know.
const OPEN: &str = "a profile has these members, and others of its author";

/// The rule about kinds of targets.
const KINDS: &str = "rules about tools have targets of the kind `tool`";

/// The known members of a rule.
const RULE_MEMBERS: [&str; 6] = [
    "description",
    "effect",
    "on_violation",
    "rule_id",
    "severity",
    "target",
];

/// The known members of a profile.
const MEMBERS: [&str; 9] = [
    "applies_to",
    "caps",
    "input_policy",
    "label",
    "profile_id",
    "profile_version",
    "rules",
    "security_model_version",
    "status",
];

/// Reads an instruction profile. Checks it against MOVA's schema in a library and against the
/// project's equivalent, which determines its meaning.
pub fn profile(bytes: Vec<u8>, library: &Library) -> Validated<Profile> {
    validate(
        (DocumentKind::Profile, bytes, PROFILE_LIMIT),
        ("ds.instruction_profile_core_v1", &[library, Library::own()]),
        read,
    )
}

fn read(root: &mut Node<'_>, findings: &mut Findings<'_>) -> Option<Profile> {
    if !findings.are_corrected() {
        return None;
    }
    correct_keys(root, "", (&MEMBERS, OPEN), findings);
    if let Some(Value::Sequence(rules)) = member_mut(root, "rules").map(|it| &mut it.value) {
        for (number, rule) in rules.iter_mut().enumerate() {
            let at = format!("/rules/{number}");
            correct_keys(rule, &at, (&RULE_MEMBERS, OPEN), findings);
            let denies = member(rule, "effect").and_then(string) == Some("deny");
            if let Some(target) = member_mut(rule, "target") {
                let at = format!("{at}/target");
                correct_keys(target, &at, (&["kind", "selector"], OPEN), findings);
                // A rule that is meant to deny tools would deny nothing. What a rule allows is changed by
                // its author alone.
                if let Some(kind) = member_mut(target, "kind").filter(|_| denies) {
                    correct_word(kind, &format!("{at}/kind"), ("tool", KINDS), findings);
                }
            }
        }
    }
    if let Some(caps) = member_mut(root, "caps") {
        let schema = "ds.mova_agent_run_summary_v1#/$defs/caps";
        // Each missing cap is reported as a separate denial.
        let is_reported = |it: &agent_json_schema::Violation| it.keyword != "required";
        conform(
            caps,
            "/caps",
            (schema, Library::own()),
            is_reported,
            findings,
        );
    }
    let (root, caps) = (&*root, member(root, "caps"));
    let envelopes = member(root, "applies_to").and_then(|it| member(it, "envelope_ids"));
    Some(Profile {
        id: spanned(root, "profile_id")?.value,
        version: spanned(root, "profile_version").map(|version| version.value),
        digest: digest_of(root),
        status: spanned(root, "status")?,
        envelopes: envelopes.map(|list| Spanned {
            value: strings(list),
            span: list.span,
        }),
        rules: items(root, "rules")
            .iter()
            .enumerate()
            .filter_map(|(number, node)| rule(number, node, findings))
            .collect(),
        caps_span: caps.map(|caps| caps.span),
        caps: Cap::ALL
            .into_iter()
            .filter_map(|cap| {
                // Another value than an object was refused already.
                if !matches!(caps?.value, Value::Mapping(_)) {
                    return Some((cap, None));
                }
                if member(caps?, cap.name()).is_none() {
                    // The key that is almost its name was refused already.
                    return is_almost(caps?, cap, findings).then_some((cap, None));
                }
                let pointer = format!("/caps/{}", cap.name());
                let sound = !findings.is_about(&pointer);
                let value = whole_number(caps?, cap.name()).filter(|_| sound);
                Some((cap, value))
            })
            .collect(),
        input_policy: member(root, "input_policy").and_then(|it| input_policy(it, findings)),
    })
}

/// Returns whether a key of the caps is almost the name of one.
fn is_almost(caps: &Node<'_>, cap: Cap, findings: &mut Findings<'_>) -> bool {
    let Value::Mapping(entries) = &caps.value else {
        return false;
    };
    let known = |key: &str| Cap::ALL.iter().any(|cap| cap.name() == key);
    let mut unknown = entries.iter().filter(|entry| !known(&entry.key));
    unknown.any(|entry| {
        let near = findings
            .likeness()
            .nearest(&entry.key, Cap::ALL.map(Cap::name), 1);
        near.first() == Some(&cap.name())
    })
}

fn strings(list: &Node<'_>) -> Vec<String> {
    match &list.value {
        Value::Sequence(items) => items.iter().filter_map(string).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Reads a rule, if its target is a tool.
fn rule(number: usize, node: &Node<'_>, findings: &mut Findings<'_>) -> Option<Rule> {
    let target = member(node, "target")?;
    if string(member(target, "kind")?)? != "tool" {
        return None;
    }
    let selector = member(target, "selector").and_then(string);
    let effect = string(member(node, "effect")?)?;
    // A rule that is meant to deny but selects no tool would deny nothing.
    if effect == "deny" && !selector.is_some_and(is_selector) {
        let id = string(member(node, "rule_id")?)?;
        let (place, pointer) = match member(target, "selector") {
            Some(selector) => (selector, "/selector"),
            None => (target, ""),
        };
        findings.add(
            (place.span, &format!("/rules/{number}/target{pointer}")),
            SELECTOR,
            "selects no tool",
            format!("the rule `{id}` selects no tool and would deny nothing"),
            "select one tool by `connector_id/tool_id`, or all of them by `*`",
        );
    }
    Some(Rule {
        number,
        id: spanned(node, "rule_id")?.value,
        span: node.span,
        effect: match effect {
            "allow" => Effect::Allow,
            "deny" => Effect::Deny,
            _ => Effect::Other,
        },
        selector: match selector {
            Some("*") => Selector::Every,
            Some(selector) => Selector::One(selector.to_owned()),
            None => Selector::None,
        },
    })
}

/// Returns whether a selector covers one tool or all.
fn is_selector(text: &str) -> bool {
    let named = |part: &str| !part.is_empty() && !part.contains(['/', '*']);
    let tool = text.split_once('/');
    text == "*" || tool.is_some_and(|(connector, tool)| named(connector) && named(tool))
}

/// Reads `input_policy`, which MOVA's schema does not define: a limit and patterns, nothing else.
fn input_policy(node: &Node<'_>, findings: &mut Findings<'_>) -> Option<InputPolicy> {
    let refuse = |node: &Node<'_>, pointer: &str, message: String, findings: &mut Findings<'_>| {
        let label = "invalid here";
        let help = "write a whole number as `max_bytes` and a list of patterns as `deny_patterns`";
        findings.add((node.span, pointer), INPUT_POLICY, label, message, help);
    };
    let known = match &node.value {
        Value::Mapping(entries) => entries
            .iter()
            .all(|entry| ["deny_patterns", "max_bytes"].contains(&&*entry.key)),
        _ => false,
    };
    let max_bytes = whole_number(node, "max_bytes");
    let patterns = member(node, "deny_patterns");
    let listed = patterns.is_none_or(|it| matches!(it.value, Value::Sequence(_)));
    let (Some(max_bytes), true, true) = (max_bytes, known, listed) else {
        let message = format!("`/input_policy` is invalid: {INPUT_POLICY}");
        refuse(node, "/input_policy", message, findings);
        return None;
    };
    let mut budget = Budget::new();
    let mut deny = Vec::new();
    for (number, item) in items(node, "deny_patterns").iter().enumerate() {
        let pointer = format!("/input_policy/deny_patterns/{number}");
        match string(item).map(|text| (text, TextPattern::search(text, &mut budget))) {
            Some((text, Ok(pattern))) => deny.push(DenyPattern {
                text: text.to_owned(),
                pattern,
            }),
            Some((text, Err(error))) => {
                let message = format!("the pattern {text:?} can't be used: {error}");
                refuse(item, &pointer, message, findings);
            }
            None => refuse(
                item,
                &pointer,
                format!("`{pointer}` is not a string"),
                findings,
            ),
        }
    }
    Some(InputPolicy {
        max_bytes: max_bytes.value,
        deny,
    })
}
