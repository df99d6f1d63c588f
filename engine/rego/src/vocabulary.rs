//! The strings that may occur in the input of a policy \[4\].

use super::unused::Vocabulary;
use agent_lower::PolicyPhase;
use agent_model::{
    CapabilityVerb, Index, Keyword, Load, Name, Residency, Resource, Sensitivity, Tag, Tenant,
    ToolView,
};
use agent_text::sort::set_of;
use std::collections::BTreeSet;

/// Returns the strings of an index, of a tenant's configuration, and of the specification.
///
/// Resources and constraints may be any name. So their paths have strings only if there is an
/// index: its own and those of the specification.
pub fn vocabulary(index: Option<&Index>, tenant: Option<&Tenant>) -> Vocabulary {
    let mut known = Vocabulary::new();
    let mut add = |path: &str, words: BTreeSet<String>| {
        known.insert(path.to_owned(), words);
    };
    let all = |words: &mut dyn Iterator<Item = &str>| set_of(words.map(str::to_owned));
    let tool = |member: &str| format!("input.candidate_tools[_].{member}");
    let verbs = all(&mut CapabilityVerb::names());
    // A gateway asks about results too.
    let phases = PolicyPhase::ALL.into_iter().chain([PolicyPhase::Result]);
    add("input.phase", all(&mut phases.map(PolicyPhase::as_str)));
    add("input.requirement.verb", verbs.clone());
    add("input.requirement.load", all(&mut Load::names()));
    add(&tool("capabilities[_].verb"), verbs);
    add(&tool("residency[_]"), all(&mut Residency::names()));
    add(&tool("maxSensitivity"), all(&mut Sensitivity::names()));
    if let Some(tenant) = tenant {
        add("input.user_tier", set_of(tenant.tiers.iter().cloned()));
    }
    let Some(index) = index else {
        return known;
    };
    let servers = || index.servers();
    let tools = || index.tools();
    add(&tool("server"), all(&mut servers().map(|it| it.id())));
    add(&tool("version"), all(&mut servers().map(|it| it.version())));
    add(
        &tool("publisher"),
        all(&mut servers().map(|it| it.publisher())),
    );
    add(
        &tool("class"),
        all(&mut servers().filter_map(|it| it.class())),
    );
    add(&tool("tool"), all(&mut tools().map(ToolView::name)));
    let resources = index
        .pair_names()
        .filter_map(|pair| pair.split_once(':').map(|(_, resource)| resource));
    let known_resources = Resource::RULE.known.iter().copied();
    let resources = all(&mut resources.chain(known_resources));
    add("input.requirement.resource", resources.clone());
    add(&tool("capabilities[_].resource"), resources);
    let known_tags = Tag::RULE.known.iter().copied();
    let tags = all(&mut index.tag_names().chain(known_tags));
    add("input.requirement.constraints[_]", tags.clone());
    add(&tool("capabilities[_].constraints[_]"), tags);
    known
}
