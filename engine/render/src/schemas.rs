//! The list of schemas.

use super::json::ObjectMembers;
use super::styled::{Style, Styled, StyledSpan};
use agent_json_schema::LibrarySchema;
use agent_syntax::json::Writer;

/// Returns the schemas as JSON with a final newline.
pub fn schemas_json(schemas: &[LibrarySchema]) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.objects("schemas", schemas, |w, schema| {
            w.key("description").string(&schema.description);
            w.key("name").string(schema.name);
            w.key("of_mova").bool(schema.of_mova);
        });
    });
    w.finish()
}

/// Returns the schemas as text.
pub fn schemas(schemas: &[LibrarySchema]) -> Vec<StyledSpan> {
    let mut out = Styled::default();
    for (heading, of_mova) in [
        ("Schemas of the project", false),
        ("Equivalents of MOVA's core", true),
    ] {
        out.put(Style::Heading, heading).end();
        for schema in schemas.iter().filter(|it| it.of_mova == of_mova) {
            out.plain("  ").name(schema.name).end();
            out.dim(format!("      {}", schema.description.replace('\n', " ")))
                .end();
        }
    }
    out.finish()
}
