//! Names of requirements that are slips of names in the index.
//!
//! A name that no server has is compared with those that it has before anything else is advised: an
//! index states facts, and is not changed because of a typing error.

use super::decision::Decision;
use super::wording::{did_you_mean, quoted};
use agent_diagnostic::{Applicability, Diagnostic, Edit, Fix, Label};
use agent_model::{CapabilityRequirement, Index, Name, Requirement, ToolView};
use agent_syntax::written_as;
use agent_text::sort::sort_by;
use agent_text::{Likeness, Span, Text, hidden_difference, visible};

/// Maximum number of names that a message suggests.
const SUGGESTED: usize = 3;

/// Maximum number of permissions, tools or constraints of a requirement that are compared.
const COMPARED: usize = 100;

/// Maximum number of servers that are searched for the required scopes or tools.
const SEARCHED: usize = 10_000;

/// A name that the index does not have, and similar ones that it has.
pub(super) struct Meant<'r> {
    name: &'r str,
    span: Span,
    text: &'r Text,
    /// The nearest first: at least one.
    known: Vec<&'r str>,
}

/// Returns the names of a requirement that are slips, in the order of the text.
pub(super) fn meant<'r>(decision: Decision<'r>, search: &mut Likeness) -> Vec<Meant<'r>> {
    let (text, found) = match decision {
        Decision::Category(resolution, number) => {
            let manifest = resolution.manifest();
            let requirement = &manifest.requirements[number];
            let found = of_category(requirement, resolution.index(), search);
            (&manifest.text, found)
        }
        Decision::Capability(matching, number) => {
            let requirement = matching.requirement(number);
            let found = of_capability(requirement, matching.index(), search);
            (matching.text(number), found)
        }
    };
    let found = found.into_iter().filter(|(.., known)| !known.is_empty());
    let found = found.map(|(name, span, known)| Meant {
        name,
        span,
        text,
        known,
    });
    found.collect()
}

/// A name with its place, and similar ones.
type Slip<'r> = (&'r str, Span, Vec<&'r str>);

fn of_category<'r>(
    requirement: &'r Requirement,
    index: &'r Index,
    search: &mut Likeness,
) -> Vec<Slip<'r>> {
    let name = requirement.category.value.as_str();
    let mut category = index.category(name);
    let mut found = Vec::new();
    if category.is_none() {
        let known = search.slips(name, index.category_names(), SUGGESTED);
        if let [only] = known[..] {
            category = index.category(only);
        }
        found.push((name, requirement.category.span, known));
    }
    // Servers of one category have mostly the same scopes: each is compared once.
    let mut supported = vec![false; index.scope_names().len()];
    let mut supported_names = Vec::new();
    let servers = category.map_or(Vec::new(), |category| index.servers_of(category));
    for server in &servers {
        for (number, name) in server.scope_numbers().iter().zip(server.scopes()) {
            if !std::mem::replace(&mut supported[*number as usize], true) {
                supported_names.push(name);
            }
        }
    }
    for permission in requirement.permissions.iter().take(COMPARED) {
        let name = permission.value.as_str();
        let known = match index.scope(name) {
            Some(number) if servers.is_empty() || supported[number as usize] => continue,
            None if servers.is_empty() => search.slips(name, index.scope_names(), SUGGESTED),
            _ => search.slips(name, supported_names.iter().copied(), SUGGESTED),
        };
        found.push((name, permission.span, known));
    }
    let servers = || servers.iter().take(SEARCHED);
    for tool in requirement.only.iter().take(COMPARED) {
        let name = tool.value.as_str();
        if servers().all(|it| it.tool(name).is_none()) {
            let offered = servers().flat_map(|it| it.tools()).map(ToolView::name);
            found.push((name, tool.span, search.slips(name, offered, SUGGESTED)));
        }
    }
    found
}

/// Returns the categories of servers that support all scopes of a requirement, if no server has its
/// category: another word for it may be among them.
pub(super) fn categories_with_scopes(decision: Decision<'_>) -> Vec<&str> {
    let Decision::Category(resolution, number) = decision else {
        return Vec::new();
    };
    let (index, requirement) = (
        resolution.index(),
        &resolution.manifest().requirements[number],
    );
    let scopes = requirement.permissions.iter().take(COMPARED);
    let scopes: Option<Vec<_>> = scopes.map(|it| index.scope(it.value.as_str())).collect();
    let category = index.category(requirement.category.value.as_str());
    let Some(scopes) = scopes.filter(|it| !it.is_empty() && category.is_none()) else {
        return Vec::new();
    };
    let able = index.servers().take(SEARCHED).filter(|server| {
        let supported = server.scope_numbers();
        scopes.iter().all(|it| supported.binary_search(it).is_ok())
    });
    let categories = able.flat_map(|server| server.categories());
    let mut found: Vec<_> = categories.take(COMPARED).collect();
    sort_by(&mut found, Ord::cmp);
    found.dedup();
    found.truncate(SUGGESTED);
    found
}

fn of_capability<'r>(
    requirement: &'r CapabilityRequirement,
    index: &'r Index,
    search: &mut Likeness,
) -> Vec<Slip<'r>> {
    let capability = &requirement.capability;
    let mut found = Vec::new();
    if index.pair(&capability.pair()).is_none() {
        let pairs = index.pair_names().filter_map(|pair| pair.split_once(':'));
        let same_verb = pairs.filter(|(verb, _)| *verb == capability.verb.as_str());
        let name = capability.resource.as_str();
        let known = search.slips(name, same_verb.map(|(_, resource)| resource), SUGGESTED);
        found.push((name, requirement.resource_span, known));
    }
    for tag in requirement.constraints.iter().take(COMPARED) {
        let name = tag.value.as_str();
        if index.tag(name).is_none() {
            found.push((
                name,
                tag.span,
                search.slips(name, index.tag_names(), SUGGESTED),
            ));
        }
    }
    found
}

impl Meant<'_> {
    /// Returns the name with a question about the similar ones.
    pub(super) fn question(&self) -> String {
        let name = visible(self.name);
        format!("`{name}`: {}", did_you_mean(&self.known, ""))
    }

    /// Adds the place of the name, and the fix that writes what was meant.
    pub(super) fn add(&self, diagnostic: &mut Diagnostic) {
        let place = self.text.place(self.span);
        let label = Label::new(place, did_you_mean(&self.known, ""));
        diagnostic.labels.push(label);
        let difference = self
            .known
            .iter()
            .find_map(|it| hidden_difference(self.name, it));
        diagnostic.notes.extend(difference);
        diagnostic.fixes.push(match self.known[..] {
            [meant] => Fix {
                title: format!("write `{meant}`"),
                applicability: Applicability::Safe,
                edits: vec![Edit {
                    place,
                    replacement: written_as(self.span.of(self.text.as_str()), meant),
                }],
            },
            _ => Fix::display(format!("write one of {}", quoted(&self.known))),
        });
    }
}
