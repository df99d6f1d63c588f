//! The list of schemas.

use super::styled::{Style, Styled, StyledSpan};
use agent_json_schema::LibrarySchema;
use agent_syntax::json::Writer;

/// The schemas as JSON that ends with a newline.
pub fn schemas_json(schemas: &[LibrarySchema]) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("schemas").array(|w| {
            for schema in schemas {
                w.object(|w| {
                    w.key("description").string(&schema.description);
                    w.key("name").string(schema.name);
                    w.key("of_mova").bool(schema.of_mova);
                });
            }
        });
    });
    w.finish()
}

/// The same for people.
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
