//! All that the engine answers, called as a library.

use agent_engine::decide::{LockState, Resolution, compare, verify};
use agent_engine::diagnostic::Diagnostic;
use agent_engine::model::{Index, Lock, Manifest, Name};
use agent_engine::render::{self, Format, Part};
use agent_engine::text::Place;
use agent_engine::{explain, lower};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// Texts by the name of the view.
pub type Answers = BTreeMap<String, String>;

/// All that is answered to a manifest and an index.
#[must_use]
pub fn resolve(manifest: &[u8], index: &[u8]) -> Answers {
    let mut answers = Answers::new();
    let manifest = lower::manifest(manifest.to_vec());
    let index = lower::index(index.to_vec());
    if let Ok(index) = &index {
        add_parts(&mut answers, "discover", &render::discover(&index.value));
        answers.insert(
            "discover.json".to_owned(),
            render::discover_json(&index.value),
        );
    }
    match (manifest, index) {
        (Ok(manifest), Ok(index)) => {
            let mut diagnostics = [manifest.warnings, index.warnings].concat();
            let resolution = decided(manifest.value, index.value);
            diagnostics.extend(explain::unsatisfied(&resolution));
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

/// All that is answered to a manifest alone.
#[must_use]
pub fn validate_manifest(manifest: &[u8]) -> Answers {
    reports(&found(lower::manifest(manifest.to_vec())))
}

/// All that is answered to an index alone.
#[must_use]
pub fn validate_index(index: &[u8]) -> Answers {
    reports(&found(lower::index(index.to_vec())))
}

/// All that is answered to a lock alone.
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

/// All that is answered to a compact explanation.
#[must_use]
pub fn expand(compact: &[u8]) -> Answers {
    match render::expand(compact.to_vec()) {
        Ok(full) => Answers::from([("agents.resolution.json".to_owned(), full)]),
        Err(diagnostics) => reports(&diagnostics),
    }
}

/// How a lock differs from another one. Both have to be locks.
#[must_use]
pub fn drift(older: Option<&[u8]>, newer: &[u8]) -> Answers {
    let older = older.map(read_lock);
    drifts(&compare(older.as_ref(), &read_lock(newer)))
}

/// How a lock differs from an index. Both have to be valid.
#[must_use]
pub fn verified(lock: &[u8], index: &[u8]) -> Answers {
    let index = lower::index(index.to_vec()).expect("the index is valid");
    drifts(&verify(&read_lock(lock), &index.value))
}

/// Everything about each diagnostic of a manifest, in a line.
#[must_use]
pub fn manifest_diagnostics(manifest: &[u8]) -> Vec<String> {
    let found = found(lower::manifest(manifest.to_vec()));
    found.iter().map(line).collect()
}

/// Everything about each diagnostic of an index, in a line.
#[must_use]
pub fn index_diagnostics(index: &[u8]) -> Vec<String> {
    let found = found(lower::index(index.to_vec()));
    found.iter().map(line).collect()
}

fn line(diagnostic: &Diagnostic) -> String {
    let mut line = format!(
        "{} {} {:?} {:?}",
        diagnostic.severity().name(),
        diagnostic.code.name(),
        diagnostic.message,
        diagnostic.help
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

/// Decide on a valid manifest and a valid index.
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

fn found<T>(lowered: lower::Lowered<T>) -> Vec<Diagnostic> {
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
    let compact = render::compact(resolution);
    let expanded = render::expand(compact.clone().into_bytes()).expect("it was just written");
    add("agents.resolution.compact.json", compact);
    add("expanded.json", expanded);
    add("summary.json", render::summary_json(resolution));
    add_parts(answers, "summary", &render::summary(resolution));

    for subject in subjects(resolution) {
        if let Some(parts) = render::why(resolution, &subject, &[]) {
            add_parts(answers, &format!("why {subject}"), &parts);
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

/// What there is to ask about: each category and each server, and what is spelled nearly so.
fn subjects(resolution: &Resolution) -> Vec<String> {
    let requirements = &resolution.manifest().requirements;
    let categories = requirements
        .iter()
        .map(|r| r.category.value.as_str().to_owned());
    let servers = resolution.index().servers();
    let servers = servers.flat_map(|server| {
        let id = server.id().to_owned();
        [format!("{id}@{}", server.version()), format!("{id}s"), id]
    });
    let mut subjects: Vec<_> = categories
        .chain(servers)
        .chain(["nothing".to_owned()])
        .collect();
    subjects.sort();
    subjects.dedup();
    subjects
}

fn drifts(state: &LockState) -> Answers {
    let drifts = state.drifts();
    let problems: Vec<_> = drifts.iter().map(explain::drift_diagnostic).collect();
    let mut answers = reports(&problems);
    answers.insert("drifts.json".to_owned(), render::drifts_json(drifts));
    add_parts(&mut answers, "drifts", &render::drifts(drifts));
    answers
}

/// A text, and beside it the same with the style of each part.
fn add_parts(answers: &mut Answers, name: &str, parts: &[Part]) {
    let text = parts.iter().map(|part| &*part.text).collect();
    answers.insert(format!("{name}.txt"), text);
    let styled = parts
        .iter()
        .map(|part| format!("{:?} {:?}\n", part.style, part.text));
    answers.insert(format!("{name}.styled"), styled.collect());
}
