//! Requirements whose fallback no server can provide.

use agent_decide::Matching;
use agent_diagnostic::{Code, Diagnostic};

/// Returns a warning for each requirement with `fallback: true` that only one server can meet: nothing
/// stands in for its tool.
pub(super) fn missing_fallbacks(matching: &Matching) -> Vec<Diagnostic> {
    let requirements = matching.requirements().enumerate();
    let missing = requirements.filter_map(|(number, requirement)| {
        let (span, first) = (requirement.fallback?, matching.selected(number)?);
        if matching.fallback(number).is_some() {
            return None;
        }
        let message = format!(
            "only `{}` has an eligible tool for `{}`, so there is no fallback",
            first.server().id(),
            requirement.capability
        );
        let warning = Diagnostic::new(Code::FallbackMissing, message);
        let warning = warning.label(matching.place(number, span), "no other server is eligible");
        Some(warning.help(const { Code::FallbackMissing.help() }))
    });
    missing.collect()
}
