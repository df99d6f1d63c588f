//! The compact explanation holds what the full one does.

use agent_decide::{
    Allowed, EvaluationContext, PolicyDecision, PolicyEngine, PolicyError, PolicyErrorKind,
    Resolution,
};
use agent_lower as lower;
use agent_lower::Notation;
use agent_render as render;
use agent_tests::compact::expand;
use agent_tests::policy::DIGEST;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

/// Small numbers, the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        // The generator of Knuth's MMIX.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn one_of<'a>(&mut self, options: &[&'a str]) -> &'a str {
        options[self.below(options.len() as u64) as usize]
    }

    fn some_of(&mut self, options: &[&str]) -> String {
        let some: Vec<_> = options.iter().filter(|_| self.below(3) == 0).collect();
        format!("{some:?}")
    }
}

const VERBS: [&str; 2] = ["read", "search"];
const RESOURCES: [&str; 2] = ["internet", "x-crm"];
const TAGS: [&str; 3] = ["pii_safe", "readonly", "x-a"];
const TOOLS: [&str; 3] = ["find", "go", "web"];

fn index(dice: &mut Dice) -> String {
    let mut servers = Vec::new();
    for id in ["a", "b", "c"] {
        for version in ["1", "10", "2"] {
            if dice.below(2) == 0 {
                continue;
            }
            let mut tools = Vec::new();
            for tool in TOOLS {
                if dice.below(3) == 0 {
                    continue;
                }
                let blocks: Vec<_> = (0..dice.below(4))
                    .map(|_| {
                        format!(
                            r#"{{"verb": "{}", "resource": "{}", "constraints": {}}}"#,
                            dice.one_of(&VERBS),
                            dice.one_of(&RESOURCES),
                            dice.some_of(&TAGS)
                        )
                    })
                    .collect();
                tools.push(format!(
                    r#""{tool}": {{"x-summit-capabilities": [{}]}}"#,
                    blocks.join(", ")
                ));
            }
            servers.push(format!(
                r#"{{"id": "{id}", "version": "{version}", "endpoint": "pkg:generic/e", "class": "{}",
                    "categories": {}, "scopes": {},
                    "data": {{"residency": "{}", "maxSensitivity": "{}"}},
                    "trust": {{"publisher": "{}", "signed": {}}},
                    "capabilities": {{"tools": {{{}}}}}}}"#,
                dice.one_of(&["local", "paid"]),
                dice.some_of(&["c", "d"]),
                dice.some_of(&["s", "t"]),
                dice.one_of(&["any", "eu-only", "us-only"]),
                dice.one_of(&["public", "pii.high"]),
                dice.one_of(&["p", "q"]),
                dice.below(2) == 0,
                tools.join(", ")
            ));
        }
    }
    format!("[{}]", servers.join(", "))
}

fn manifest(dice: &mut Dice) -> String {
    let mut text = String::from("---\nname: n\nversion: '1'\nrequires:\n");
    if dice.below(2) == 0 {
        text.push_str("  mcp:\n    - category: c\n      permissions: [s]\n");
    }
    text.push_str("  capabilities:\n");
    for _ in 0..=dice.below(3) {
        let _ = writeln!(
            text,
            "    - {{verb: {}, resource: {}, constraints: {}, load: {}}}",
            dice.one_of(&VERBS),
            dice.one_of(&RESOURCES),
            dice.some_of(&TAGS),
            dice.one_of(&["essential", "on_demand"])
        );
    }
    let _ = writeln!(
        text,
        "constraints:\n  actions: {{forbid: {}}}\n  trust: {{requireSigned: {}}}",
        dice.some_of(&["find", "other"]),
        dice.below(3) == 0
    );
    if dice.below(3) == 0 {
        text.push_str("  data: {residency: us-only, sensitivity: internal}\n");
    }
    text + "---\n"
}

/// Denies by what an id looks like, or fails.
#[derive(Debug)]
struct Moody(u64);

impl PolicyEngine for Moody {
    fn digest(&self) -> String {
        DIGEST.to_owned()
    }

    fn ask(&self, input: &str) -> PolicyDecision {
        let kinds = [
            PolicyErrorKind::Budget,
            PolicyErrorKind::Runtime,
            PolicyErrorKind::Type,
        ];
        let answer = match kinds.get(self.0 as usize) {
            Some(kind) => Err(PolicyError {
                kind: *kind,
                detail: String::new(),
                place: None,
            }),
            None => {
                let ids = input.split("\"id\":\"").skip(1);
                let ids = ids.filter_map(|rest| rest.split_once('"'));
                let (mut tools, mut reasons) = (BTreeSet::new(), BTreeMap::new());
                for (id, _) in ids {
                    match id.len() as u64 % 3 + u64::from(id.starts_with('b')) + self.0 % 2 {
                        0 | 3 => drop(reasons.insert(id.to_owned(), format!("no\n{id}"))),
                        1 => {}
                        _ => drop(tools.insert(id.to_owned())),
                    }
                }
                Ok(Allowed { tools, reasons })
            }
        };
        PolicyDecision {
            answer,
            lines: Vec::new(),
        }
    }
}

fn evaluation_context(dice: &mut Dice) -> EvaluationContext {
    let tenant =
        "tenants:\n  - id: t\n    priorities:\n      classes: {paid: -1}\n      servers: {c: 9}\n";
    let health = "a: HEALTHY\nb: QUARANTINE\n";
    let read = |text: &str| text.as_bytes().to_vec();
    let content = Notation::ByContent;
    EvaluationContext {
        tenant: (dice.below(2) == 0)
            .then(|| Arc::new(lower::tenant(read(tenant), content, None).unwrap().value)),
        health: (dice.below(3) == 0)
            .then(|| Arc::new(lower::health(read(health), content).unwrap().value)),
        policy: (dice.below(2) == 0)
            .then(|| Arc::new(Moody(dice.below(12))) as Arc<dyn PolicyEngine>),
        ..EvaluationContext::default()
    }
}

/// A resolution of which each part may be there.
fn resolved(dice: &mut Dice) -> Resolution {
    let index = lower::index(index(dice).into_bytes()).unwrap().value;
    let manifest = lower::manifest(manifest(dice).into_bytes()).unwrap().value;
    Resolution::under(
        Arc::new(manifest),
        Arc::new(index),
        evaluation_context(dice),
    )
}

#[test]
fn expanded_is_the_full_form() {
    let mut seen = BTreeSet::new();
    let mut dice = Dice(4);
    for _ in 0..2_000 {
        let resolution = resolved(&mut dice);
        let full = render::resolution(&resolution).unwrap();
        let compact = render::compact(&resolution);
        assert_eq!(expand(&compact), full, "{compact}");
        let words = full.split('"').map(str::to_owned);
        seen.extend(words.filter(|word| word.len() > 2));
    }
    for word in [
        "MISSING_CAPABILITY",
        "CONSTRAINT_UNMET",
        "RESIDENCY_MISMATCH",
        "SENSITIVITY_EXCEEDED",
        "UNSIGNED_NOT_ALLOWED",
        "FORBIDDEN_ACTION",
        "POLICY_DENIED",
        "POLICY_ERROR",
        "HEALTH_VETO",
        "QUARANTINE",
        "on_demand",
        "priority",
        "version",
        "tool",
    ] {
        assert!(seen.contains(word), "{word} in {seen:?}");
    }
}

#[test]
fn without_capabilities_it_keeps_its_first_version() {
    let mut dice = Dice(6);
    let index = lower::index(index(&mut dice).into_bytes()).unwrap().value;
    let manifest = "---\nname: n\nversion: '1'\nrequires:\n  mcp:\n    - category: c\n      permissions: []\n---\n";
    let manifest = lower::manifest(manifest.as_bytes().to_vec()).unwrap().value;
    let text = render::compact(&Resolution::new(Arc::new(manifest), Arc::new(index)));
    assert!(text.contains("\"compactVersion\":1,") && !text.contains("capabilities"));
}
