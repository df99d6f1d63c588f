//! The places of drifts in the lock and in the index.
//!
//! A lock in memory has no text: its own is read again, and the selection found by its values.

use agent_decide::Drift;
use agent_diagnostic::Code;
use agent_json_schema::{at_pointer, child, token};
use agent_model::{Index, ServerView};
use agent_syntax::json::{Reader, parse_value};
use agent_syntax::{Node, Value};
use agent_text::{DocumentKind, Place, Text};

/// Maximum number of drifts with places: each is searched in the whole lock.
const LOCATED: usize = 200;

/// Adds the places of drifts: that in the lock first, then that in the index that the lock is compared
/// with.
pub fn located(drifts: &mut [Drift], lock: &str, index: Option<&Index>) {
    let text = Text::new(DocumentKind::Lock, lock.to_owned());
    let Ok(root) = parse_value(&mut Reader::new(text.as_str())) else {
        return;
    };
    for drift in drifts.iter_mut().take(LOCATED) {
        let selection = selection(&root, drift);
        // Of a server with the same endpoint in another version, the version is what no longer fits.
        let is_offered = |selection: &&Node<'_>| {
            let [id, endpoint] = ["id", "endpoint"].map(|key| string(selection, key));
            let same = |it: ServerView<'_>| Some(it.id()) == id && Some(it.endpoint()) == endpoint;
            drift.code == Code::ServerRemoved
                && index.is_some_and(|index| index.servers().any(same))
        };
        let locked = match selection {
            Some(selection) if is_offered(&selection) => child(selection, "version"),
            Some(selection) => in_selection(selection, drift),
            None => in_lock(&root, drift),
        };
        drift
            .places
            .extend(locked.map(|node| text.place(node.span)));
        let offered = index.zip(selection);
        let offered = offered.and_then(|(index, selection)| in_index(index, selection, drift));
        drift.places.extend(offered);
    }
}

/// Returns the selection that a drift is about: of the same grant, with the earlier value.
fn selection<'n, 't>(root: &'n Node<'t>, drift: &Drift) -> Option<&'n Node<'t>> {
    let Value::Sequence(selections) = &child(root, "selections")?.value else {
        return None;
    };
    let is_own = |selection: &&Node<'_>| match (&drift.category, &drift.capability) {
        (Some(category), _) => string(selection, "category") == Some(category),
        (_, Some(capability)) => {
            let same_tool = string(selection, "tool") == drift.tool.as_deref();
            same_tool && words(selection).as_ref() == Some(capability)
        }
        _ => false,
    };
    let has_value = |selection: &&Node<'_>| {
        let before = drift.before.as_deref();
        let value = in_selection(selection, drift).and_then(text_of);
        before.is_none()
            || value.is_some_and(|value| before.is_some_and(|it| it.starts_with(value)))
    };
    let own = || selections.iter().filter(is_own);
    own().find(has_value).or_else(|| own().next())
}

/// Returns the capability of a selection as drifts name it.
fn words(selection: &Node<'_>) -> Option<String> {
    let capability = child(selection, "capability")?;
    let (verb, resource) = (string(capability, "verb")?, string(capability, "resource")?);
    let mut words = format!("{verb}:{resource}");
    let Value::Sequence(tags) = &child(capability, "constraints")?.value else {
        return None;
    };
    for (i, tag) in tags.iter().enumerate() {
        words.push_str(if i == 0 { " + " } else { ", " });
        words.push_str(text_of(tag)?);
    }
    Some(words)
}

/// Returns the value of a selection that a drift is about.
fn in_selection<'n, 't>(selection: &'n Node<'t>, drift: &Drift) -> Option<&'n Node<'t>> {
    let key = match drift.code {
        Code::VersionChanged => "version",
        Code::EndpointChanged => "endpoint",
        Code::IntegrityChanged => "integrity",
        Code::HashChanged if is_definition(drift) => "definition",
        Code::HashChanged => "hash",
        Code::ScopeWidened | Code::ScopeNarrowed | Code::MissingScope => "scopes",
        Code::ToolsWidened | Code::ToolsNarrowed | Code::ToolMissing => "only",
        Code::ServeWidened | Code::ServeNarrowed => "serve",
        Code::PatternsWidened | Code::PatternsNarrowed => "patterns",
        Code::MissingCapability | Code::ConstraintUnmet => "capability",
        Code::ToolChanged => "tool",
        Code::DefinitionChanged => "definition",
        Code::LoadChanged => "load",
        Code::SelectionChanged | Code::ServerRemoved => "id",
        // What is newly required is in no lock.
        Code::RequirementAdded => return None,
        _ if drift.category.is_some() => "category",
        _ => "capability",
    };
    // A category's `load`, `only` and `serve` are not written if they are the default.
    let value = child(selection, key).or_else(|| child(selection, "category"))?;
    Some(item(value, drift).unwrap_or(value))
}

/// Returns whether a changed digest is that of a definition.
pub(super) fn is_definition(drift: &Drift) -> bool {
    drift
        .before
        .as_ref()
        .is_some_and(|it| it.starts_with("sha256-"))
}

/// Returns the value outside of selections that a drift is about.
fn in_lock<'n, 't>(root: &'n Node<'t>, drift: &Drift) -> Option<&'n Node<'t>> {
    match drift.code {
        Code::AgentChanged => {
            let agent = child(root, "agent")?;
            let same = string(agent, "name").zip(drift.after.as_deref());
            let same_name =
                same.is_some_and(|(name, after)| after.starts_with(&format!("{name} ")));
            child(agent, if same_name { "version" } else { "name" })
        }
        Code::ForbidAdded | Code::ForbidRemoved => {
            let forbid = child(root, "forbid")?;
            Some(item(forbid, drift).unwrap_or(forbid))
        }
        _ => None,
    }
}

/// Returns the item of a list that is the earlier value.
fn item<'n, 't>(list: &'n Node<'t>, drift: &Drift) -> Option<&'n Node<'t>> {
    match &list.value {
        Value::Sequence(items) => items
            .iter()
            .find(|item| text_of(item).is_some() && text_of(item) == drift.before.as_deref()),
        _ => None,
    }
}

/// Returns the place in the index that a drift is about.
fn in_index(index: &Index, selection: &Node<'_>, drift: &Drift) -> Option<Place> {
    let (id, version) = (string(selection, "id")?, string(selection, "version")?);
    let after = drift.after.as_deref();
    let server = match drift.code {
        Code::VersionChanged => index.find(id, after?),
        // An id and a version; only a version may contain blanks.
        Code::SelectionChanged => index.servers().find(|server| {
            let rest = after.and_then(|after| after.strip_prefix(server.id()));
            rest.and_then(|rest| rest.strip_prefix(' ')) == Some(server.version())
        }),
        _ => index.find(id, version),
    }?;
    let pointer = match drift.code {
        Code::EndpointChanged => "/endpoint".to_owned(),
        Code::VersionChanged => "/version".to_owned(),
        Code::MissingScope => "/scopes".to_owned(),
        Code::ToolMissing => "/capabilities/tools".to_owned(),
        Code::MissingCategory => "/categories".to_owned(),
        Code::MissingCapability | Code::ConstraintUnmet => {
            let tool = token(drift.tool.as_deref()?);
            format!("/capabilities/tools/{tool}/x-summit-capabilities")
        }
        Code::DefinitionChanged => {
            return Some(server.tool(drift.tool.as_deref()?)?.place());
        }
        Code::IntegrityChanged | Code::SelectionChanged => return Some(server.place_of_id()),
        _ => return None,
    };
    in_entry(server, &pointer)
}

/// Returns the place of a value in an entry, which is read again: an index keeps no trees.
fn in_entry(server: ServerView<'_>, pointer: &str) -> Option<Place> {
    let entry = parse_value(&mut Reader::new(server.entry())).ok()?;
    Some(server.place_of(at_pointer(&entry, pointer)?.span))
}

fn string<'n>(node: &'n Node<'_>, key: &str) -> Option<&'n str> {
    text_of(child(node, key)?)
}

fn text_of<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    match &node.value {
        Value::String(text) => Some(text),
        _ => None,
    }
}
