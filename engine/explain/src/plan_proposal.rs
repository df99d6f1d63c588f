//! What may make a reason against a plan go away: changes of plan, pool or profile, those that
//! permit no more than before first.

use super::plan_documents::PlanDocuments;
use super::plan_tree::without_step;
use agent_decide::{
    Between, DestinationDenial, InputDenial, PlanAnswer, PlanPolicy, PlanReason, Referred,
};
use agent_diagnostic::{Change, ChangeKind, Finding};
use agent_json_schema::ArgumentProblem;
use agent_model::{Cap, Plan, PlanStep};
use agent_syntax::write_string;
use agent_text::DocumentKind;

/// The changes of one proposal.
type Proposal = Vec<Change>;

/// Returns the changes that may remove a finding, unverified.
pub fn plan_proposals(
    documents: &PlanDocuments<'_>,
    answer: &PlanAnswer<'_>,
    finding: &Finding,
) -> Vec<Vec<Change>> {
    let rules = documents.rules;
    let without = |step| without_step(documents.root(DocumentKind::Plan)?, step);
    let mut found = finding.proposals.clone();
    let denial = finding.denial.and_then(|it| answer.denials.get(it));
    match (denial, &documents.plan.value) {
        (Some(denial), Some(plan)) => match denial.step {
            None => whole(&denial.reason, plan, rules, &mut found),
            Some(number) => {
                if let Some(step) = plan.steps.get(number) {
                    let at = format!("/plan/steps/{number}");
                    let pointer = finding.diagnostic.pointer();
                    narrowing(&denial.reason, &at, pointer, step, rules, &mut found);
                    found.extend(without(number));
                    widening(&denial.reason, step, rules, &mut found);
                }
            }
        },
        _ => found.extend(finding.diagnostic.step.and_then(without)),
    }
    found
}

fn json(text: &str) -> String {
    let mut out = String::new();
    write_string(text, &mut out);
    out
}

fn change(
    source: DocumentKind,
    pointer: impl Into<String>,
    kind: ChangeKind,
    widens: bool,
) -> Change {
    Change {
        source,
        pointer: pointer.into(),
        kind,
        widens,
    }
}

fn whole(reason: &PlanReason<'_>, plan: &Plan, rules: &PlanPolicy, found: &mut Vec<Proposal>) {
    match reason {
        // What was asked for is for whoever asks to change.
        PlanReason::OtherDocument(stated) if stated.between == Between::RequestAndDocument => {}
        PlanReason::OtherDocument(stated) => {
            let pointer = match stated.document {
                Referred::Request => "/plan/request_id".to_owned(),
                document => format!("/plan/{}/{}", document.member(), stated.member),
            };
            let kind = match stated.is {
                Some(is) => ChangeKind::Replace(json(is)),
                None => ChangeKind::Remove,
            };
            found.push(vec![change(DocumentKind::Plan, pointer, kind, false)]);
        }
        PlanReason::TooManySteps { cap } => {
            let first = usize::try_from(*cap).unwrap_or(usize::MAX);
            let steps = first..plan.steps.len();
            let removed = steps.map(|number| {
                let pointer = format!("/plan/steps/{number}");
                change(DocumentKind::Plan, pointer, ChangeKind::Remove, false)
            });
            found.push(removed.collect());
        }
        PlanReason::Inactive(_) => {
            let kind = ChangeKind::Replace(json("active"));
            found.push(vec![change(DocumentKind::Profile, "/status", kind, true)]);
        }
        PlanReason::OtherEnvelopes => {
            let kind = ChangeKind::Add(json("env.mova_agent_plan_v1"));
            let pointer = "/applies_to/envelope_ids/-";
            found.push(vec![change(DocumentKind::Profile, pointer, kind, true)]);
        }
        PlanReason::CapMissing(cap) => found.push(missing_cap(*cap, plan, rules)),
        _ => {}
    }
}

/// The smallest caps that the plan stays within.
fn missing_cap(cap: Cap, plan: &Plan, rules: &PlanPolicy) -> Proposal {
    let least = |cap: Cap| -> u64 {
        let pool = rules.pool.value.as_ref();
        let bindings = plan
            .steps
            .iter()
            .filter_map(|step| pool?.binding(&step.connector.value, &step.tool.value));
        let limits = bindings.flat_map(|binding| binding.limits.each());
        let most = limits.filter(|(_, _, of)| *of == cap).map(|it| it.1.value);
        match cap {
            Cap::Steps => plan.steps.len() as u64,
            Cap::LogBytes => most.max().unwrap_or(0),
            Cap::TimeoutMs | Cap::InputBytes | Cap::OutputBytes => most.max().unwrap_or(1),
        }
    };
    let has_caps = rules
        .profile
        .value
        .as_ref()
        .is_some_and(|it| it.caps_span.is_some());
    let (pointer, value) = if has_caps {
        (format!("/caps/{}", cap.name()), least(cap).to_string())
    } else {
        let caps = Cap::ALL.map(|cap| format!("\"{}\": {}", cap.name(), least(cap)));
        ("/caps".to_owned(), format!("{{ {} }}", caps.join(", ")))
    };
    vec![change(
        DocumentKind::Profile,
        pointer,
        ChangeKind::Add(value),
        true,
    )]
}

/// What permits no more than before.
fn narrowing(
    reason: &PlanReason<'_>,
    at: &str,
    pointer: &str,
    step: &PlanStep,
    rules: &PlanPolicy,
    found: &mut Vec<Proposal>,
) {
    let mut replace = |pointer: String, value: String| {
        let kind = ChangeKind::Replace(value);
        found.push(vec![change(DocumentKind::Plan, pointer, kind, false)]);
    };
    match reason {
        PlanReason::NoConnector { nearest } => {
            for near in nearest {
                replace(format!("{at}/connector_id"), json(near));
            }
        }
        PlanReason::NoTool { nearest } => {
            for near in nearest {
                replace(format!("{at}/tool_id"), json(near));
            }
        }
        PlanReason::Input(InputDenial::Method {
            allowed: [only], ..
        }) => replace(format!("{at}/input/method"), json(only)),
        PlanReason::Input(InputDenial::Destination {
            url,
            denial: DestinationDenial::Elsewhere { origin, allowed },
            ..
        }) => {
            let allowed: Vec<_> = allowed.iter().map(ToString::to_string).collect();
            let allowed = allowed.iter().map(|it| &**it);
            for near in agent_text::nearest(&origin.to_string(), allowed, 1) {
                replace(format!("{at}/input/url"), json(&moved(url, near)));
            }
        }
        PlanReason::Input(InputDenial::Program { nearest, .. }) => {
            for near in nearest {
                replace(format!("{at}/input/program"), json(near));
            }
        }
        PlanReason::Input(
            InputDenial::Invalid { .. } | InputDenial::Argument(ArgumentProblem::Unknown { .. }),
        ) if pointer != format!("{at}/input") => {
            // Verified as all are: what is required can't be removed.
            let removed = change(DocumentKind::Plan, pointer, ChangeKind::Remove, false);
            found.push(vec![removed]);
        }
        PlanReason::AboveCap { most, .. } => {
            let kind = ChangeKind::Replace(most.to_string());
            found.push(vec![change(DocumentKind::ToolPool, pointer, kind, false)]);
        }
        PlanReason::SeveralVersions { binding, versions } => {
            for version in versions {
                let pointer = format!("/bindings/{binding}/server_version");
                let kind = ChangeKind::Add(json(version));
                found.push(vec![change(DocumentKind::ToolPool, pointer, kind, false)]);
            }
        }
        PlanReason::NoRule => {
            // A tool of the same connector that a rule allows and that is spelled nearly so.
            let pool = rules.pool.value.iter().flat_map(|pool| &pool.bindings);
            let tools = pool
                .filter(|it| it.connector == step.connector.value && it.tool != step.tool.value)
                .map(|it| &*it.tool);
            for near in agent_text::nearest(&step.tool.value, tools, 1) {
                replace(format!("{at}/tool_id"), json(near));
            }
        }
        _ => {}
    }
}

/// A URL at another origin.
fn moved(url: &str, origin: &str) -> String {
    let host = url.find("://").map_or(0, |at| at + "://".len());
    let rest = url[host..].find(['/', '?', '#']);
    format!("{origin}{}", rest.map_or("", |at| &url[host + at..]))
}

/// What permits more than before.
fn widening(
    reason: &PlanReason<'_>,
    step: &PlanStep,
    rules: &PlanPolicy,
    found: &mut Vec<Proposal>,
) {
    let selector = format!("{}/{}", step.connector.value, step.tool.value);
    let binding = || {
        let pool = rules.pool.value.as_ref()?;
        pool.binding(&step.connector.value, &step.tool.value)
    };
    match reason {
        PlanReason::NoRule => {
            let rule = format!(
                "{{ \"rule_id\": {}, \"effect\": \"allow\", \"target\": {{ \"kind\": \"tool\", \
                 \"selector\": {} }} }}",
                json(&format!("allow {selector}")),
                json(&selector)
            );
            for (pointer, value) in [("/rules/-", rule.clone()), ("/rules", format!("[{rule}]"))] {
                let kind = ChangeKind::Add(value);
                found.push(vec![change(DocumentKind::Profile, pointer, kind, true)]);
            }
        }
        PlanReason::RuleDenies(place) => {
            let profile = rules.profile.value.as_ref();
            if let Some(rule) = profile.and_then(|profile| profile.rules.get(*place)) {
                let pointer = format!("/rules/{}", rule.number);
                let kind = ChangeKind::Remove;
                found.push(vec![change(DocumentKind::Profile, pointer, kind, true)]);
            }
        }
        PlanReason::Input(InputDenial::Destination {
            denial: DestinationDenial::Elsewhere { origin, .. },
            ..
        }) => {
            if let Some(binding) = binding() {
                let pointer = format!("/bindings/{}/destinations/-", binding.number);
                let kind = ChangeKind::Add(json(&origin.to_string()));
                found.push(vec![change(DocumentKind::ToolPool, pointer, kind, true)]);
            }
        }
        PlanReason::Input(InputDenial::TooLarge { bytes, .. }) => {
            if let Some(binding) = binding() {
                let pointer = format!("/bindings/{}/limits/max_input_bytes", binding.number);
                let kind = ChangeKind::Replace(bytes.to_string());
                found.push(vec![change(DocumentKind::ToolPool, pointer, kind, true)]);
            }
        }
        _ => {}
    }
}
