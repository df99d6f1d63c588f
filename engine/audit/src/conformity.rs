//! Every record fits its schema.

use super::folder::{File, quoted};
use super::members::string;
use super::problems::{At, Found};
use super::recorded::{PLAN, POOL, PROFILE, REPORT, REQUEST, Record, Recorded, SUMMARY};
use agent_api::diagnostic::Code;
use agent_api::schema::Library;
use agent_api::text::Span;
use agent_json_schema::{Budget, Violation};
use agent_run::is_presence;
use agent_syntax::Node;

/// The schema of events about security. MOVA's own refuses every document, so the project's decides.
const SECURITY: &str = "ds.security_event_episode_core_v1";

/// Checks each record against its schema in a library, except for the values at `secrets`, which other
/// problems are about.
pub(crate) fn check(
    recorded: &Recorded<'_>,
    library: &Library,
    secrets: &[(&File, Span)],
    found: &mut Found,
) {
    for record in &recorded.episodes {
        let (schema, library) = match string(&record.root, "/episode_type") {
            Some(kind) if kind.starts_with("security_event") => (SECURITY, Library::own()),
            _ => ("ds.mova_episode_core_v1", library),
        };
        conforms(record, schema, library, secrets, found);
    }
    let mut documents = vec![
        (REPORT, "ds.mova_agent_validation_report_v1"),
        (SUMMARY, "ds.mova_agent_run_summary_v1"),
    ];
    // The report says what is wrong with the documents of a refused plan.
    if recorded.is_allowed() {
        documents.extend([
            (REQUEST, "env.mova_agent_request_v1"),
            (PLAN, "env.mova_agent_plan_v1"),
            (POOL, "ds.mova_agent_tool_pool_v1"),
            (PROFILE, "ds.instruction_profile_core_v1"),
        ]);
    }
    for (path, schema) in documents {
        let Some(record) = recorded.record(path) else {
            continue;
        };
        if !record.is_placeholder() {
            conforms(record, schema, library, secrets, found);
        } else if path != REQUEST {
            let message = format!("a plan may not run without `{path}`");
            let at = Some(At::start(record.file));
            found.report(Code::EvidenceInvalid, at, "not a document", message);
        }
    }
}

fn conforms(
    record: &Record<'_>,
    schema: &str,
    library: &Library,
    secrets: &[(&File, Span)],
    found: &mut Found,
) {
    let mut budget = Budget::new();
    let violations = match library.check(schema, &record.root, &mut budget) {
        Some(Ok(violations)) => violations,
        Some(Err(over)) => {
            let path = quoted(&record.file.path);
            let message = format!("{path} can't be checked: {}", over.reason());
            let at = Some(At::start(record.file));
            found.report(Code::SchemaBudget, at, "not checked", message);
            return;
        }
        None => return,
    };
    let is_secret = |span: Span| {
        let within = |it: &(&File, Span)| {
            std::ptr::eq(it.0, record.file) && it.1.start <= span.start && span.end <= it.1.end
        };
        secrets.iter().any(within)
    };
    for violation in violations {
        if is_secret(violation.span) || is_redacted(&record.root, &violation) {
            continue;
        }
        let message = format!(
            "{} of {} violates `{schema}`: {}",
            match &*violation.instance {
                "" => "the value".to_owned(),
                pointer => quoted(pointer),
            },
            quoted(&record.file.path),
            violation.message
        );
        let at = Some(At::new(record.file, violation.span));
        found.report(Code::EvidenceInvalid, at, "violates the schema", message);
    }
}

/// Returns whether a violation is about an object that replaces a secret.
fn is_redacted(root: &Node<'_>, violation: &Violation) -> bool {
    let mut pointer = &*violation.instance;
    loop {
        if super::members::at(root, pointer).is_some_and(is_presence) {
            return true;
        }
        match pointer.rsplit_once('/') {
            Some((parent, _)) => pointer = parent,
            None => return false,
        }
    }
}
