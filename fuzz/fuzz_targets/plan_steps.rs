//! A plan of steps, a tool pool and a profile, and a request behind them if there is one, with
//! lines `=====` between them: the same answer twice, in a report that fits its schema, with places
//! inside the texts and correct fixes.
#![no_main]

use agent_decide::{PlanContext, PlanPolicy, authorize_plan};
use agent_diagnostic::{ChangeSet, Finding, Problems};
use agent_explain::{PlanDocuments, apply, plan_findings, plan_fixes};
use agent_json_schema::Library;
use agent_lower as lower;
use agent_lower::{Lowered, Validated};
use agent_model::{Index, Lock, Plan, Request};
use agent_render::{PlanReport, authorized_plan, validation_report};
use agent_syntax::canonical;
use agent_text::{DocumentKind, Text};
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock};

/// The servers that plans of the corpus call.
static SERVERS: LazyLock<(Index, Lock)> = LazyLock::new(|| {
    let index = include_bytes!("../../tests/corpus/plan/base/mcp.index.json");
    let lock = include_bytes!("../../tests/corpus/plan/base/agents.lock");
    (
        sound(lower::index(index.to_vec())),
        sound(lower::lock(lock.to_vec())),
    )
});

fn sound<T>(lowered: Lowered<T>) -> T {
    lowered.expect("it is of the corpus").value
}

struct Case {
    plan: Arc<Validated<Plan>>,
    rules: Arc<PlanPolicy>,
    request: Option<Validated<Request>>,
}

#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    findings: Vec<Finding>,
    fixes: Vec<Option<ChangeSet>>,
    report: String,
    authorized: Option<String>,
}

impl Case {
    fn read([plan, pool, profile]: [&str; 3], request: Option<&str>) -> Self {
        let own = |text: &str| text.as_bytes().to_vec();
        Self {
            plan: Arc::new(lower::plan(own(plan))),
            rules: Arc::new(PlanPolicy::new(own(pool), own(profile), None)),
            request: request.map(|text| lower::request(own(text))),
        }
    }

    fn decide(&self, with_fixes: bool) -> Outcome {
        let context = PlanContext {
            evaluation_context: None,
            request: self.request.as_ref(),
            index: Some(&SERVERS.0),
            lock: Some(&SERVERS.1),
            catalogue: None,
        };
        let answer = authorize_plan(&self.plan, &self.rules, context);
        let findings = plan_findings(&self.plan, &self.rules, context, &answer);
        assert_eq!(answer.authorized.is_some(), findings.is_empty());
        assert!(answer.authorized.is_none() || answer.denials.is_empty());
        let fixes = if with_fixes {
            plan_fixes(&PlanDocuments::new(&self.plan, &self.rules), context, &answer, &findings)
        } else {
            Vec::new()
        };
        let report = validation_report(&PlanReport {
            plan: &self.plan,
            rules: &self.rules,
            context,
            answer: &answer,
            findings: &findings,
            fixes: &fixes,
        });
        Outcome {
            authorized: answer.authorized.as_ref().map(authorized_plan),
            findings,
            fixes,
            report,
        }
    }

    fn text(&self, source: DocumentKind) -> &Text {
        match source {
            DocumentKind::Plan => &self.plan.text,
            DocumentKind::ToolPool => &self.rules.pool.text,
            DocumentKind::Profile => &self.rules.profile.text,
            DocumentKind::Request => &self.request.as_ref().expect("a request").text,
            other => panic!("{other:?}"),
        }
    }

    /// The document after fixes.
    fn after(&self, fixes: &[&ChangeSet]) -> Outcome {
        let changes = fixes.iter().flat_map(|fix| fix.changes.clone());
        let all = ChangeSet {
            changes: changes.collect(),
        };
        let edits = PlanDocuments::new(&self.plan, &self.rules).edits(&all);
        let [plan, pool, profile] = [DocumentKind::Plan, DocumentKind::ToolPool, DocumentKind::Profile].map(|it| {
            let edits = edits.iter().filter(|edit| edit.place.source == it);
            apply(self.text(it).as_str(), &edits.cloned().collect::<Vec<_>>())
        });
        let request = self.request.as_ref().map(|it| it.text.as_str());
        Self::read([&plan, &pool, &profile], request).decide(false)
    }
}

/// Checks that findings have a message and places inside their texts.
fn check(case: &Case, findings: &[Finding]) {
    for finding in findings {
        assert!(!finding.diagnostic.message.is_empty());
        let rule = finding.diagnostic.rule.as_deref();
        assert!(rule.is_some_and(|rule| !rule.is_empty()));
        assert!(!finding.diagnostic.labels.is_empty());
        for label in &finding.diagnostic.labels {
            let place = label.place;
            let text = case.text(place.source).as_str();
            let (start, end) = (place.span.start as usize, place.span.end as usize);
            assert!(text.get(start..end).is_some(), "{finding:?}");
            let line = 1 + text[..start].matches('\n').count();
            assert_eq!(place.start.line as usize, line);
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some(texts) = agent_fuzz::texts(bytes) else {
        return;
    };
    let (documents, request) = match texts[..] {
        [plan, pool, profile] => ([plan, pool, profile], None),
        [plan, pool, profile, request] => ([plan, pool, profile], Some(request)),
        _ => return,
    };
    let case = Case::read(documents, request);
    let outcome = case.decide(true);
    assert_eq!(Case::read(documents, request).decide(true), outcome);
    check(&case, &outcome.findings);
    let report = outcome.report.clone().into_bytes();
    let found = lower::conformity("ds.mova_agent_validation_report_v1", report, Library::own());
    assert!(found.is_empty(), "{}\n{found:#?}", outcome.report);
    if outcome.authorized.is_some() {
        let plan = canonical(documents[0].trim_start_matches('\u{feff}')).expect("a plan");
        let [_, pool, profile] = documents;
        let again = Case::read([&plan, pool, profile], request).decide(false);
        assert_eq!(again.authorized, outcome.authorized);
        return;
    }
    if outcome.findings.len() >= Problems::LIMIT {
        return;
    }
    let fixes: Vec<_> = outcome.fixes.iter().flatten().collect();
    for fix in &fixes {
        let left = case.after(&[*fix]).findings;
        assert!(left.len() < outcome.findings.len(), "{fix:#?}\n{left:#?}");
    }
    if fixes.len() == outcome.findings.len() {
        let left = case.after(&fixes);
        assert!(
            left.authorized.is_some(),
            "{fixes:#?}\n{:#?}",
            left.findings
        );
    }
});
