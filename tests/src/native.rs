//! All answers of the engine, called as a library.

use crate::inputs::{Given, Inputs, subjects};
use crate::plan::PlanInputs;
use agent_api::{CallAnswer, GroundingAnswer, LockText, PlanAnswer, compare, verify};
use agent_decide::{
    CallContext, Drift, EvaluationContext, Matching, PlanContext, PlanPolicy, PolicyEngine,
    Resolution,
};
use agent_diagnostic::Diagnostic;
use agent_explain as explain;
use agent_import as import;
use agent_lower as lower;
use agent_lower::{Lowered, Notation};
use agent_model::{Index, Lock, Manifest};
use agent_rego as policy;
use agent_render as render;
use agent_render::{Format, StyledSpan};
use agent_text::Place;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// Texts by the name of the view.
pub type Answers = BTreeMap<String, String>;

/// Returns all answers to a manifest and an index.
#[must_use]
pub fn resolve(manifest: &[u8], index: &[u8]) -> Answers {
    let mut answers = Answers::new();
    let manifest = lower::manifest(manifest.to_vec());
    let index = lower::index(index.to_vec());
    if let Ok(index) = &index {
        add_spans(&mut answers, "discover", &render::discover(&index.value));
        answers.insert(
            "discover.json".to_owned(),
            render::discover_json(&index.value),
        );
        let tools = render::discover_tools(&index.value);
        add_spans(&mut answers, "discover-tools", &tools);
        let tools = render::discover_tools_json(&index.value);
        answers.insert("discover-tools.json".to_owned(), tools);
    }
    match (manifest, index) {
        (Ok(manifest), Ok(index)) => {
            let mut diagnostics = [manifest.warnings, index.warnings].concat();
            let resolution = decided(manifest.value, index.value);
            diagnostics.extend(explain::resolution_diagnostics(&resolution));
            add_reports(&mut answers, &diagnostics);
            add_resolution(&mut answers, &resolution);
        }
        (manifest, index) => {
            let found = [found(manifest), found(index)].concat();
            add_reports(&mut answers, &found);
        }
    }
    answers
}

/// Validated inputs.
#[derive(Debug, Clone)]
pub struct Read {
    /// The manifest, if there is one.
    pub manifest: Option<Arc<Manifest>>,
    /// The index.
    pub index: Arc<Index>,
    /// The evaluation context.
    pub evaluation_context: EvaluationContext,
    /// The warnings about all inputs.
    pub warnings: Vec<Diagnostic>,
}

impl Read {
    /// Resolves the manifest, which must exist.
    #[must_use]
    pub fn resolution(&self) -> Resolution {
        let manifest = self.manifest.clone().expect("a manifest");
        Resolution::under(
            manifest,
            Arc::clone(&self.index),
            self.evaluation_context.clone(),
        )
    }

    /// Matches the capabilities alone.
    #[must_use]
    pub fn matching(&self) -> Matching {
        let (manifest, index) = (self.manifest.clone(), Arc::clone(&self.index));
        Matching::new(manifest, index, self.evaluation_context.clone())
    }
}

/// Reads all inputs and adds a policy.
///
/// # Errors
/// Every problem of every input, or the actions that the task requires and the manifest forbids.
pub fn read(
    inputs: &Inputs,
    policy: Option<Arc<dyn PolicyEngine>>,
) -> Result<Read, Vec<Diagnostic>> {
    let mut found = Vec::new();
    let mut refused = false;
    let manifest = inputs.manifest.clone().map(lower::manifest);
    let manifest = manifest.and_then(|it| checked(it, &mut found, &mut refused));
    let index = checked(lower::index(inputs.index.clone()), &mut found, &mut refused);
    let task = given(inputs.task.as_ref(), lower::task);
    let task = task.and_then(|it| checked(it, &mut found, &mut refused));
    let tenant = given(inputs.tenant.as_ref(), |bytes, notation| {
        lower::tenant(bytes, notation, inputs.tenant_id.as_deref())
    });
    let tenant = tenant.and_then(|it| checked(it, &mut found, &mut refused));
    let health = given(inputs.health.as_ref(), lower::health);
    let health = health.and_then(|it| checked(it, &mut found, &mut refused));
    let context = given(inputs.context.as_ref(), lower::context);
    let context = context.and_then(|it| checked(it, &mut found, &mut refused));
    let Some(index) = index.filter(|_| !refused) else {
        return Err(found);
    };
    if let (Some(manifest), Some(task)) = (&manifest, &task) {
        let contradictions = lower::contradictions(manifest, task);
        if !contradictions.is_empty() {
            return Err(contradictions);
        }
    }
    Ok(Read {
        manifest: manifest.map(Arc::new),
        index: Arc::new(index),
        evaluation_context: EvaluationContext {
            task: task.map(Arc::new),
            tenant: tenant.map(Arc::new),
            health: health.map(Arc::new),
            policy,
            context: context.map(Arc::new),
            subject: None,
        },
        warnings: found,
    })
}

fn given<T>(
    given: Option<&Given>,
    lower: impl FnOnce(Vec<u8>, Notation) -> Lowered<T>,
) -> Option<Lowered<T>> {
    let given = given?;
    let notation = if given.json {
        Notation::Json
    } else {
        Notation::ByContent
    };
    Some(lower(given.bytes.clone(), notation))
}

fn checked<T>(lowered: Lowered<T>, found: &mut Vec<Diagnostic>, refused: &mut bool) -> Option<T> {
    match lowered {
        Ok(checked) => {
            found.extend(checked.warnings);
            Some(checked.value)
        }
        Err(problems) => {
            found.extend(problems);
            *refused = true;
            None
        }
    }
}

/// Returns the explanation of a task or a manifest under a policy, and the policy's dead and unused
/// rules. The inputs must be valid.
#[must_use]
pub fn governed(inputs: &Inputs, rego: &[u8]) -> Answers {
    let rego = match policy::read(rego.to_vec()) {
        Ok(read) => Arc::new(read.value),
        Err(found) => return reports(&found),
    };
    let engine: Arc<dyn PolicyEngine> = Arc::<policy::Policy>::clone(&rego);
    let read = match read(inputs, Some(engine)) {
        Ok(read) => read,
        Err(found) => return reports(&found),
    };
    let matching = read.matching();
    let known = policy::vocabulary(Some(&read.index), None);
    let mut found = policy::policy_remarks(&rego, &known);
    let policy_decisions =
        (0..matching.len()).filter_map(|number| matching.policy_decision(number));
    found.extend(policy::unused_rules(&rego, policy_decisions));
    let mut answers = Answers::new();
    add_reports(&mut answers, &found);
    let text = render::matching(&matching).expect("small enough");
    answers.insert("match.json".to_owned(), text);
    add_spans(&mut answers, "match", &render::match_summary(&matching));
    answers
}

/// Returns one line for each test of a policy, or the problems.
#[must_use]
pub fn policy_tests(rego: &[u8], tests: &[u8]) -> Answers {
    match policy::test(rego.to_vec(), tests.to_vec()) {
        Err(found) => reports(&found),
        Ok(tested) => {
            let lines = tested.outcomes.iter().map(|outcome| {
                let line = outcome.place.start.line;
                format!("{} {line} {}\n", outcome.name, outcome.detail)
            });
            let mut answers = reports(&tested.unreached);
            answers.insert("tests".to_owned(), lines.collect());
            answers
        }
    }
}

/// Returns the exposed tools of a lock, or the problems.
///
/// # Panics
/// If one of the two is invalid.
#[must_use]
pub fn exposed(lock: &[u8], index: &[u8]) -> Answers {
    let lock = lower::lock(lock.to_vec()).expect("the lock is valid").value;
    let index = lower::index(index.to_vec()).expect("the index is valid");
    match agent_api::expose(&lock, &index.value) {
        Err(found) => reports(&found),
        Ok(exposed) => {
            let json = render::exposed_json(&exposed);
            let mut answers = Answers::from([("tools.json".to_owned(), json)]);
            add_spans(&mut answers, "tools", &render::exposed(&exposed));
            answers
        }
    }
}

/// Returns the answer to a one-call plan.
///
/// # Panics
/// If the index or the lock is invalid.
#[must_use]
pub fn called(plan: &[u8], index: &[u8], lock: Option<&[u8]>, catalogue: Option<&[u8]>) -> Answers {
    let index = lower::index(index.to_vec()).expect("the index is valid");
    let lock = lock.map(|lock| lower::lock(lock.to_vec()).expect("the lock is valid"));
    let catalogue = catalogue.map(|it| lower::tools_snapshot(it.to_vec()));
    let plan = match (lower::call_plan(plan.to_vec()), &catalogue) {
        (Ok(plan), None | Some(Ok(_))) => plan.value,
        (plan, _) => {
            let of_catalogue = catalogue.map(found).unwrap_or_default();
            return reports(&[found(plan), of_catalogue].concat());
        }
    };
    let context = CallContext {
        index: &index.value,
        lock: lock.as_ref().map(|it| &it.value),
        catalogue: catalogue
            .as_ref()
            .and_then(|it| Some(&it.as_ref().ok()?.value)),
        evaluation_context: None,
    };
    let answer = CallAnswer::new(&plan, context);
    let mut answers = reports(&answer.diagnostics());
    answers.insert("verdict.json".to_owned(), answer.json());
    add_spans(&mut answers, "verdict", &answer.text());
    answers
}

/// Returns the answer to a sequential plan.
///
/// # Panics
/// If the index, the lock or the catalogue is invalid.
#[must_use]
pub fn planned(inputs: &PlanInputs) -> Answers {
    let plan = Arc::new(lower::plan(inputs.plan.clone()));
    let (tool_pool, profile) = (inputs.tool_pool.clone(), inputs.profile.clone());
    let rules = Arc::new(PlanPolicy::new(tool_pool, profile, None));
    let request = inputs.request.clone().map(lower::request);
    let index = inputs.index.clone();
    let index = index.map(|text| lower::index(text).expect("a valid index").value);
    let lock = inputs.lock.clone();
    let lock = lock.map(|text| lower::lock(text).expect("a valid lock").value);
    let catalogue = inputs.catalogue.clone();
    let catalogue = catalogue.map(|text| {
        lower::tools_snapshot(text)
            .expect("a valid catalogue")
            .value
    });
    let context = PlanContext {
        request: request.as_ref(),
        index: index.as_ref(),
        lock: lock.as_ref(),
        catalogue: catalogue.as_ref(),
        evaluation_context: None,
    };
    let answer = PlanAnswer::new(&plan, &rules, context);
    let found = answer.diagnostics();
    let mut parts = Answers::from([("report.json".to_owned(), answer.report())]);
    add_spans(&mut parts, "verdict", &answer.text());
    add_reports(&mut parts, &found);
    parts.extend(
        answer
            .authorized()
            .map(|json| ("authorized.json".to_owned(), json)),
    );
    parts
}

/// Returns an index with an imported document, or the problems.
#[must_use]
pub fn imported(document: &[u8], overlay: &[u8]) -> Answers {
    let overlay = import::Overlay {
        bytes: overlay.to_vec(),
        notation: Notation::ByContent,
    };
    match import::import(vec![document.to_vec()], Some(overlay), None) {
        Err(found) => reports(&found),
        Ok(imported) => {
            let mut answers = reports(&imported.warnings);
            answers.insert("index".to_owned(), imported.value.index);
            answers
        }
    }
}

/// Returns the grounding of a summary in a payload.
#[must_use]
pub fn grounded(summary: &[u8], payload: &[u8]) -> Answers {
    match lower::summarised(summary.to_vec(), payload.to_vec()) {
        Err(found) => reports(&found),
        Ok(read) => {
            let (summary, payload) = read.value;
            let answer = GroundingAnswer::new(&summary, &payload);
            let mut answers = reports(&[read.warnings, answer.diagnostics()].concat());
            answers.insert("grounding.json".to_owned(), answer.json());
            add_spans(&mut answers, "grounding", &answer.text());
            answers
        }
    }
}

/// Returns all answers to a manifest or a task in an evaluation context, without a policy.
#[must_use]
pub fn under(inputs: &Inputs) -> Answers {
    let read = match read(inputs, None) {
        Ok(read) => read,
        Err(found) => return reports(&found),
    };
    let mut answers = Answers::new();
    let mut diagnostics = read.warnings.clone();
    if read.manifest.is_some() {
        let resolution = read.resolution();
        diagnostics.extend(explain::resolution_diagnostics(&resolution));
        add_reports(&mut answers, &diagnostics);
        add_resolution(&mut answers, &resolution);
        add_matching(&mut answers, resolution.matching());
    } else {
        let matching = read.matching();
        diagnostics.extend(explain::matching_diagnostics(&matching));
        add_reports(&mut answers, &diagnostics);
        add_matching(&mut answers, &matching);
    }
    answers
}

fn add_matching(answers: &mut Answers, matching: &Matching) {
    let text = render::matching(matching).expect("small enough");
    answers.insert("match.json".to_owned(), text);
    add_spans(answers, "match", &render::match_summary(matching));
}

/// Returns one line with everything about each diagnostic of a task.
#[must_use]
pub fn task_diagnostics(task: &Given) -> Vec<String> {
    let read = given(Some(task), lower::task).map(found);
    read.iter().flatten().map(line).collect()
}

/// Returns one line with everything about each diagnostic of a tenant's configuration.
#[must_use]
pub fn tenant_diagnostics(tenant: &Given) -> Vec<String> {
    let read = given(Some(tenant), |bytes, it| lower::tenant(bytes, it, None)).map(found);
    read.iter().flatten().map(line).collect()
}

/// Returns one line with everything about each diagnostic of a snapshot of health.
#[must_use]
pub fn health_diagnostics(health: &Given) -> Vec<String> {
    let read = given(Some(health), lower::health).map(found);
    read.iter().flatten().map(line).collect()
}

/// Returns all answers to a manifest alone.
#[must_use]
pub fn validate_manifest(manifest: &[u8]) -> Answers {
    reports(&found(lower::manifest(manifest.to_vec())))
}

/// Returns all answers to an index alone.
#[must_use]
pub fn validate_index(index: &[u8]) -> Answers {
    reports(&found(lower::index(index.to_vec())))
}

/// Returns all answers to a lock alone.
#[must_use]
pub fn validate_lock(lock: &[u8]) -> Answers {
    let lock = lower::lock(lock.to_vec());
    let mut answers = Answers::new();
    if let Ok(lock) = &lock {
        answers.insert("agents.lock".to_owned(), render::lock(&lock.value));
    }
    add_reports(&mut answers, &found(lock));
    answers
}

/// Returns the differences between two valid locks.
#[must_use]
pub fn drift(older: Option<&[u8]>, newer: &[u8]) -> Answers {
    let older = older.map(lock_text);
    drifts(&compare(older.as_ref(), &read_lock(newer), None))
}

/// Returns the differences between a valid lock and a valid index.
#[must_use]
pub fn verified(lock: &[u8], index: &[u8]) -> Answers {
    let index = lower::index(index.to_vec()).expect("the index is valid");
    drifts(&verify(&lock_text(lock), &index.value, None))
}

/// Returns one line with everything about each diagnostic of a manifest.
#[must_use]
pub fn manifest_diagnostics(manifest: &[u8]) -> Vec<String> {
    let found = found(lower::manifest(manifest.to_vec()));
    found.iter().map(line).collect()
}

/// Returns one line with everything about each diagnostic of an index.
#[must_use]
pub fn index_diagnostics(index: &[u8]) -> Vec<String> {
    let found = found(lower::index(index.to_vec()));
    found.iter().map(line).collect()
}

fn line(diagnostic: &Diagnostic) -> String {
    let mut line = format!(
        "{} {} {:?} {:?} {:?}",
        diagnostic.severity.name(),
        diagnostic.code.name(),
        diagnostic.message,
        diagnostic.notes,
        diagnostic
            .fixes
            .iter()
            .map(|it| &it.title)
            .collect::<Vec<_>>()
    );
    for label in &diagnostic.labels {
        let Place {
            span, start, end, ..
        } = label.place;
        let _ = write!(
            line,
            " {} {}-{} {}:{}:{}-{}:{}:{} {:?}",
            format!("{:?}", label.place.source).to_lowercase(),
            span.start,
            span.end,
            start.line,
            start.column,
            start.utf16_column,
            end.line,
            end.column,
            end.utf16_column,
            label.text
        );
    }
    line
}

/// Resolves a valid manifest against a valid index.
#[must_use]
pub fn resolution(manifest: &[u8], index: &[u8]) -> Resolution {
    let manifest = lower::manifest(manifest.to_vec()).expect("the manifest is valid");
    let index = lower::index(index.to_vec()).expect("the index is valid");
    decided(manifest.value, index.value)
}

fn decided(manifest: Manifest, index: Index) -> Resolution {
    Resolution::new(Arc::new(manifest), Arc::new(index))
}

fn read_lock(bytes: &[u8]) -> Lock {
    lower::lock(bytes.to_vec())
        .expect("the lock is valid")
        .value
}

fn found<T>(lowered: Lowered<T>) -> Vec<Diagnostic> {
    match lowered {
        Ok(checked) => checked.warnings,
        Err(diagnostics) => diagnostics,
    }
}

fn reports(diagnostics: &[Diagnostic]) -> Answers {
    let mut answers = Answers::new();
    add_reports(&mut answers, diagnostics);
    answers
}

fn add_reports(answers: &mut Answers, diagnostics: &[Diagnostic]) {
    for (name, format) in [
        ("diagnostics.json", Format::Json),
        ("diagnostics.sarif", Format::Sarif),
        ("diagnostics.github", Format::Github),
    ] {
        answers.insert(name.to_owned(), render::report(format, diagnostics, &[]));
    }
}

fn add_resolution(answers: &mut Answers, resolution: &Resolution) {
    let mut add = |name: &str, text: String| answers.insert(name.to_owned(), text);
    if let Some(lock) = resolution.lock() {
        add("agents.lock", render::lock(&lock));
    }
    let full = render::resolution(resolution).expect("small enough");
    add("agents.resolution.json", full);
    add(
        "agents.resolution.compact.json",
        render::compact(resolution),
    );
    add("summary.json", render::summary_json(resolution));
    add_spans(answers, "summary", &render::summary(resolution));

    for subject in subjects(&answers["agents.resolution.json"]) {
        if let Some(spans) = render::why(resolution, &subject, &[]) {
            add_spans(answers, &format!("why {subject}"), &spans);
        }
        match render::why_json(resolution, &subject) {
            Some(text) => answers.insert(format!("why {subject}.json"), text),
            None => {
                let near = explain::did_you_mean(resolution, &subject);
                answers.insert(format!("did you mean, {subject}"), near.join("\n"))
            }
        };
    }
}

fn lock_text(bytes: &[u8]) -> LockText {
    let read = LockText::read(bytes.to_vec());
    read.expect("a valid lock").value
}

fn drifts(drifts: &[Drift]) -> Answers {
    let problems: Vec<_> = drifts.iter().map(explain::drift_diagnostic).collect();
    let mut answers = reports(&problems);
    answers.insert("drifts.json".to_owned(), render::drifts_json(drifts));
    answers.insert("drifts.md".to_owned(), render::drifts_markdown(drifts));
    add_spans(&mut answers, "drifts", &render::drifts(drifts));
    answers
}

/// Adds a text, and the same with the style of each span.
fn add_spans(answers: &mut Answers, name: &str, spans: &[StyledSpan]) {
    let text = spans.iter().map(|span| &*span.text).collect();
    answers.insert(format!("{name}.txt"), text);
    let styled = spans
        .iter()
        .map(|span| format!("{:?} {:?}\n", span.style, span.text));
    answers.insert(format!("{name}.styled"), styled.collect());
}
