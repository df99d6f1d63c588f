//! Names of nothing: labels, servers and classes that are spelled almost like those of the index.
//!
//! Such a name is valid, and loses what its author wants in silence: a label forbids nothing, a priority
//! and a status count for no server.

use super::concealed::left_out_definition;
use super::fallback::missing_fallbacks;
use super::unsatisfied::{unmatched, unsatisfied};
use super::wording::quoted;
use agent_decide::{Matching, Resolution};
use agent_diagnostic::{Applicability, Code, Diagnostic, Edit, Fix, Problems, Severity};
use agent_json_schema::child;
use agent_lower::{Notation, uncallable_warnings};
use agent_model::{CapabilityVerb, Keyword, Name, ServerView, ToolView};
use agent_syntax::{Entry, Node, Value, written_as};
use agent_text::{Likeness, Span, Text, hidden_difference, visible};

/// Maximum number of names of one kind that are compared with the index.
const COMPARED: usize = 100;

/// Maximum number of names that a message suggests.
const SUGGESTED: usize = 3;

/// Returns an error for each requirement without a server or a tool; and a warning for each tool that is left
/// out for characters that people do not see, for each name of nothing and for each missing fallback.
pub fn resolution_diagnostics(resolution: &Resolution) -> Vec<Diagnostic> {
    let mut found = unsatisfied(resolution);
    let left_out = resolution.left_out();
    let left_out = left_out.iter().take(Problems::LIMIT);
    found.extend(left_out.map(left_out_definition));
    found.extend(uncallable_warnings(resolution.uncallable().iter().cloned()));
    add_misspelt_keys(resolution.matching(), &mut found);
    found.append(&mut misnamed(resolution.matching()));
    found.append(&mut missing_fallbacks(resolution.matching()));
    found
}

/// Returns an error for each capability without a tool, and a warning for each tool that is left out for
/// characters that people do not see, for each name of nothing and for each missing fallback.
pub fn matching_diagnostics(matching: &Matching) -> Vec<Diagnostic> {
    let mut found = unmatched(matching);
    let left_out = matching.concealed().take(Problems::LIMIT);
    found.extend(left_out.map(|it| left_out_definition(&it)));
    add_misspelt_keys(matching, &mut found);
    found.append(&mut misnamed(matching));
    found.append(&mut missing_fallbacks(matching));
    found
}

/// Adds the misspelt keys of the index that may explain a refusal.
#[cfg(feature = "repair")]
fn add_misspelt_keys(matching: &Matching, found: &mut Vec<Diagnostic>) {
    if !found.is_empty() {
        found.append(&mut super::misspelt_keys::misspelt_keys(matching));
    }
}

#[cfg(not(feature = "repair"))]
fn add_misspelt_keys(_: &Matching, _: &mut Vec<Diagnostic>) {}

fn misnamed(matching: &Matching) -> Vec<Diagnostic> {
    let mut search = Search {
        likeness: Likeness::new(),
        found: Vec::new(),
    };
    let index = matching.index();
    if let Some(manifest) = matching.manifest() {
        let known = || {
            let own = manifest.requirements.iter().flat_map(|it| &it.permissions);
            let own = own.map(|it| it.value.as_str());
            let verbs = CapabilityVerb::names().map(|it: &str| it);
            let offered = index.scope_names().chain(index.pair_names());
            own.chain(verbs)
                .chain(offered)
                .chain(index.tools().map(ToolView::name))
        };
        for label in manifest.constraints.forbid.iter().take(COMPARED) {
            let what = ("label", "forbids nothing");
            search.compare(
                &manifest.text,
                label.span,
                label.value.as_str(),
                what,
                known(),
                &[],
            );
        }
    }
    let ids = || index.servers().map(ServerView::id);
    let context = matching.evaluation_context();
    if let Some(health) = &context.health {
        parsed(&health.text, &mut |root| {
            let what = ("server", "counts for no server");
            search.keys(&health.text, entries(root), what, ids);
        });
    }
    if let Some(tenant) = &context.tenant {
        parsed(&tenant.text, &mut |root| {
            let Some(Value::Sequence(tenants)) = child(root, "tenants").map(|it| &it.value) else {
                return;
            };
            let is_own = |node: &&Node<'_>| {
                let id = child(node, "id").map(|id| &id.value);
                matches!(id, Some(Value::String(id) | Value::Plain(id)) if id == tenant.id.as_str())
            };
            let own = tenants.iter().find(is_own);
            let Some(priorities) = own.and_then(|own| child(own, "priorities")) else {
                return;
            };
            let of = |key| child(priorities, key).map_or(&[][..], entries);
            let what = ("server", "counts for no server");
            search.keys(&tenant.text, of("servers"), what, ids);
            let classes = || index.servers().filter_map(ServerView::class);
            let what = ("class", "counts for no server");
            search.keys(&tenant.text, of("classes"), what, classes);
        });
    }
    search.found
}

/// Parses a text that was read before.
fn parsed(text: &Text, look: &mut dyn FnMut(&Node<'_>)) {
    if let Some(root) = Notation::ByContent.parse(&mut Problems::new(text)) {
        look(&root);
    }
}

fn entries<'n, 't>(node: &'n Node<'t>) -> &'n [Entry<'t>] {
    match &node.value {
        Value::Mapping(entries) => entries,
        _ => &[],
    }
}

struct Search {
    likeness: Likeness,
    found: Vec<Diagnostic>,
}

impl Search {
    /// Compares the keys of a mapping with known names.
    fn keys<'k, K: Iterator<Item = &'k str>>(
        &mut self,
        text: &Text,
        entries: &[Entry<'_>],
        what: (&str, &'static str),
        known: impl Fn() -> K,
    ) {
        for entry in entries.iter().take(COMPARED) {
            if !known().any(|name| name == entry.key) {
                self.compare(text, entry.key_span, &entry.key, what, known(), entries);
            }
        }
    }

    /// Compares a name with known ones that are not taken.
    fn compare<'k>(
        &mut self,
        text: &Text,
        span: Span,
        name: &str,
        (noun, effect): (&str, &'static str),
        known: impl Iterator<Item = &'k str>,
        taken: &[Entry<'_>],
    ) {
        let mut near = self.likeness.slips(name, known, SUGGESTED);
        near.retain(|near| taken.iter().all(|entry| entry.key != *near));
        if near.is_empty() {
            return;
        }
        let place = text.place(span);
        let almost = quoted(&near);
        let message = format!("unknown {noun} `{}`, almost {almost}", visible(name));
        let mut diagnostic = Diagnostic::new(Code::UnknownKey, message).label(place, effect);
        diagnostic.severity = Severity::Warning;
        diagnostic.notes.extend(hidden_difference(name, near[0]));
        diagnostic.fixes.push(match near[..] {
            [meant] => Fix {
                title: format!("write `{meant}`"),
                applicability: Applicability::Safe,
                edits: vec![Edit {
                    place,
                    replacement: written_as(span.of(text.as_str()), meant),
                }],
            },
            _ => Fix::display(format!("write one of {almost}")),
        });
        self.found.push(diagnostic);
    }
}
