//! The codes of schemas that can't be used.

use agent_diagnostic::Code;
use agent_json_schema::Unusable;

/// Returns the code of a schema that can't be used.
pub fn unusable_code(why: &Unusable) -> Code {
    match why {
        Unusable::Schema { .. } => Code::SchemaInvalid,
        Unusable::Budget(_) => Code::SchemaBudget,
    }
}
