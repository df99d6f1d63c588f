//! Proposals of changes that may remove a reason against a plan.

use super::plan_documents::PlanDocuments;
use super::plan_tree::without_step;
use agent_decide::{
    Between, DestinationDenial, InputDenial, PlanAnswer, PlanPolicy, PlanReason, Referred,
};
use agent_diagnostic::{Change, ChangeKind, Finding};
use agent_json_schema::ArgumentProblem;
use agent_model::{Binding, Cap, Plan, PlanStep};
use agent_syntax::json_string;
use agent_text::{DocumentKind, Likeness};

/// Changes to be made together.
type Proposal = Vec<Change>;

/// Returns the changes that may remove a finding; none is verified. Those that permit no more than
/// before come first.
pub fn plan_proposals(
    documents: &PlanDocuments<'_>,
    answer: &PlanAnswer<'_>,
    finding: &Finding,
) -> Vec<Proposal> {
    let rules = documents.rules;
    let without = |step| without_step(documents.root(DocumentKind::Plan)?, step);
    let mut found = finding.proposals.clone();
    let denial = finding.denial.and_then(|it| answer.denials.get(it));
    let (Some(denial), Some(plan)) = (denial, &documents.plan.value) else {
        found.extend(finding.diagnostic.step.and_then(without));
        return found;
    };
    match denial.step {
        None => found.extend(whole(&denial.reason, plan, rules)),
        Some(number) => {
            if let Some(step) = plan.steps.get(number) {
                let at = format!("/plan/steps/{number}");
                let pointer = finding.diagnostic.pointer();
                found.extend(narrowing(&denial.reason, &at, pointer, step, rules));
                found.extend(without(number));
                found.extend(widening(&denial.reason, step, rules));
            }
        }
    }
    found
}

fn add(value: &str) -> ChangeKind {
    ChangeKind::Add(json_string(value))
}

fn replace(value: &str) -> ChangeKind {
    ChangeKind::Replace(json_string(value))
}

/// Returns a change that permits no more than before.
fn narrow(source: DocumentKind, pointer: impl Into<String>, kind: ChangeKind) -> Change {
    Change {
        source,
        pointer: pointer.into(),
        kind,
        widens: false,
    }
}

/// Returns a proposal that permits more than before.
fn wider(source: DocumentKind, pointer: impl Into<String>, kind: ChangeKind) -> Proposal {
    vec![Change {
        widens: true,
        ..narrow(source, pointer, kind)
    }]
}

/// Returns the proposals for a reason against a plan as a whole.
fn whole(reason: &PlanReason<'_>, plan: &Plan, rules: &PlanPolicy) -> Option<Proposal> {
    Some(match reason {
        PlanReason::OtherDocument(stated) => {
            // A request is changed only by its author.
            if stated.between == Between::RequestAndDocument {
                return None;
            }
            let pointer = match stated.document {
                Referred::Request => "/plan/request_id".to_owned(),
                document => format!("/plan/{}/{}", document.member(), stated.member),
            };
            let kind = stated.is.map_or(ChangeKind::Remove, replace);
            vec![narrow(DocumentKind::Plan, pointer, kind)]
        }
        PlanReason::TooManySteps { cap } => {
            let first = usize::try_from(*cap).unwrap_or(usize::MAX);
            let removed = (first..plan.steps.len()).map(|number| {
                let pointer = format!("/plan/steps/{number}");
                narrow(DocumentKind::Plan, pointer, ChangeKind::Remove)
            });
            removed.collect()
        }
        PlanReason::Inactive(_) => wider(DocumentKind::Profile, "/status", replace("active")),
        PlanReason::OtherEnvelopes => wider(
            DocumentKind::Profile,
            "/applies_to/envelope_ids/-",
            add("env.mova_agent_plan_v1"),
        ),
        PlanReason::CapMissing(cap) => missing_cap(*cap, plan, rules),
        _ => return None,
    })
}

/// Returns the proposal of the smallest caps that the plan stays within.
fn missing_cap(cap: Cap, plan: &Plan, rules: &PlanPolicy) -> Proposal {
    let least = |cap: Cap| -> u64 {
        let bindings = plan.steps.iter().filter_map(|step| binding(step, rules));
        let limits = bindings.flat_map(|binding| binding.limits.each());
        let most = limits.filter(|(_, _, of)| *of == cap).map(|it| it.1.value);
        match cap {
            Cap::Steps => plan.steps.len() as u64,
            Cap::LogBytes => most.max().unwrap_or(0),
            Cap::TimeoutMs | Cap::InputBytes | Cap::OutputBytes => most.max().unwrap_or(1),
        }
    };
    let profile = rules.profile.value.as_ref();
    let has_caps = profile.is_some_and(|it| it.caps_span.is_some());
    let (pointer, value) = if has_caps {
        (format!("/caps/{}", cap.name()), least(cap).to_string())
    } else {
        let caps = Cap::ALL.map(|cap| format!("\"{}\": {}", cap.name(), least(cap)));
        ("/caps".to_owned(), format!("{{ {} }}", caps.join(", ")))
    };
    wider(DocumentKind::Profile, pointer, ChangeKind::Add(value))
}

/// Budget of the search for the binding of one step. Fixes are searched for few problems.
const MEANT_LIMIT: u64 = 1 << 17;

/// Returns the binding that the checks of a step were made of.
fn binding<'p>(step: &PlanStep, rules: &'p PlanPolicy) -> Option<&'p Binding> {
    let pool = rules.pool.value.as_ref()?;
    let likeness = &mut Likeness::within(MEANT_LIMIT);
    pool.meant(&step.connector.value, &step.tool.value, likeness)
}

/// Returns the proposals that permit no more than before.
fn narrowing(
    reason: &PlanReason<'_>,
    at: &str,
    pointer: &str,
    step: &PlanStep,
    rules: &PlanPolicy,
) -> Vec<Proposal> {
    let of_plan = |pointer: &str, kind| vec![narrow(DocumentKind::Plan, pointer, kind)];
    let of_pool = |pointer: &str, kind| vec![narrow(DocumentKind::ToolPool, pointer, kind)];
    let named = |member: &str, names: &[&str]| -> Vec<Proposal> {
        let pointer = format!("{at}/{member}");
        let names = names.iter();
        names.map(|name| of_plan(&pointer, replace(name))).collect()
    };
    match reason {
        PlanReason::NoConnector { nearest } => named("connector_id", nearest),
        PlanReason::NoTool { nearest } => named("tool_id", nearest),
        PlanReason::NoRule => {
            // A tool of the same connector and of similar spelling, which a rule may allow.
            let pool = rules.pool.value.iter().flat_map(|pool| &pool.bindings);
            let tools = pool
                .filter(|it| it.connector == step.connector.value && it.tool != step.tool.value)
                .map(|it| &*it.tool);
            named("tool_id", &agent_text::nearest(&step.tool.value, tools, 1))
        }
        PlanReason::Input(InputDenial::Method {
            allowed: [only], ..
        }) => named("input/method", &[only]),
        PlanReason::Input(InputDenial::Program { nearest, .. }) => named("input/program", nearest),
        PlanReason::Input(InputDenial::Destination {
            url,
            denial: DestinationDenial::Elsewhere { origin, allowed },
            ..
        }) => {
            let allowed: Vec<_> = allowed.iter().map(ToString::to_string).collect();
            let allowed = allowed.iter().map(String::as_str);
            let nearest = agent_text::nearest(&origin.to_string(), allowed, 1);
            let urls: Vec<_> = nearest.iter().map(|origin| moved(url, origin)).collect();
            let urls: Vec<_> = urls.iter().map(String::as_str).collect();
            named("input/url", &urls)
        }
        PlanReason::Input(
            InputDenial::Invalid { .. } | InputDenial::Argument(ArgumentProblem::Unknown { .. }),
        ) if pointer != format!("{at}/input") => {
            // Verification drops it for a required value.
            vec![of_plan(pointer, ChangeKind::Remove)]
        }
        PlanReason::AboveCap { most, .. } => {
            vec![of_pool(pointer, ChangeKind::Replace(most.to_string()))]
        }
        PlanReason::SeveralVersions { binding, versions } => {
            let pointer = format!("/bindings/{binding}/server_version");
            let versions = versions.iter();
            versions.map(|it| of_pool(&pointer, add(it))).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns a URL moved to another origin.
fn moved(url: &str, origin: &str) -> String {
    let host = url.find("://").map_or(0, |at| at + "://".len());
    let rest = url[host..].find(['/', '?', '#']);
    format!("{origin}{}", rest.map_or("", |at| &url[host + at..]))
}

/// Returns the proposals that permit more than before.
fn widening(reason: &PlanReason<'_>, step: &PlanStep, rules: &PlanPolicy) -> Vec<Proposal> {
    let of_binding = |member: &str, kind| match binding(step, rules) {
        Some(binding) => {
            let pointer = format!("/bindings/{}/{member}", binding.number);
            vec![wider(DocumentKind::ToolPool, pointer, kind)]
        }
        None => Vec::new(),
    };
    match reason {
        PlanReason::NoRule => {
            let selector = format!("{}/{}", step.connector.value, step.tool.value);
            let rule = format!(
                "{{ \"rule_id\": {}, \"effect\": \"allow\", \"target\": {{ \"kind\": \"tool\", \
                 \"selector\": {} }} }}",
                json_string(&format!("allow {selector}")),
                json_string(&selector)
            );
            let first = ChangeKind::Add(format!("[{rule}]"));
            vec![
                wider(DocumentKind::Profile, "/rules/-", ChangeKind::Add(rule)),
                wider(DocumentKind::Profile, "/rules", first),
            ]
        }
        PlanReason::RuleDenies(place) => {
            let profile = rules.profile.value.as_ref();
            let rule = profile.and_then(|it| it.rules.get(*place)).into_iter();
            let removed = rule.map(|rule| {
                let pointer = format!("/rules/{}", rule.number);
                wider(DocumentKind::Profile, pointer, ChangeKind::Remove)
            });
            removed.collect()
        }
        PlanReason::Input(InputDenial::Destination {
            denial: DestinationDenial::Elsewhere { origin, .. },
            ..
        }) => of_binding("destinations/-", add(&origin.to_string())),
        PlanReason::Input(InputDenial::TooLarge { bytes, .. }) => of_binding(
            "limits/max_input_bytes",
            ChangeKind::Replace(bytes.to_string()),
        ),
        _ => Vec::new(),
    }
}
