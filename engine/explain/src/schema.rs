//! The answers to questions about schemas.

use agent_diagnostic::Diagnostic;
use agent_json_schema::Library;
use agent_lower::conformity;
use agent_text::nearest;

/// Returns every problem of a document by the schema of a name, ordered by place, or `None` if
/// there is no such schema.
pub fn nonconformities(
    schema: &str,
    document: Vec<u8>,
    library: &Library,
) -> Option<Vec<Diagnostic>> {
    library.text(schema)?;
    let found = conformity(schema, document, library).into_iter();
    let exact = found.map(|finding| {
        let mut diagnostic = finding.diagnostic;
        diagnostic.code = diagnostic.reason.take().unwrap_or(diagnostic.code);
        diagnostic
    });
    Some(exact.collect())
}

/// Returns the names of schemas of similar spelling.
pub fn nearest_schemas(name: &str) -> Vec<&'static str> {
    nearest(name, Library::own().schemas().map(|schema| schema.name), 3)
}
