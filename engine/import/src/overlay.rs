//! The overlay: manual values that a document lacks.

use super::described::{DescribedServer, FieldValue};
use super::endpoint::{Refusal, has_user_info, is_placeholder};
use super::existing::ExistingIndex;
use super::field::Field;
use agent_diagnostic::{Code, Problems};
use agent_lower::fields::{Object, each, keyword, list, name, names, opening};
use agent_lower::format;
use agent_model::{CapabilityVerb, Resource, Tag};
use agent_syntax::{Entry, Node, Value, written_as};
use agent_text::{Likeness, Span, nearest};
use std::collections::{BTreeMap, BTreeSet};

/// The key of a tool's capabilities.
pub(super) const CAPABILITIES: &str = "x-summit-capabilities";

/// The key of the patterns that are given up. A server never sets it.
pub(super) const PATTERNS: &str = "patterns";

/// The contents of an overlay.
#[derive(Debug, Default)]
pub(super) struct Settings<'a> {
    defaults: ServerSettings<'a>,
    servers: Vec<(&'a str, Span, ServerSettings<'a>)>,
    by_key: BTreeMap<&'a str, usize>,
}

/// An overlay's values for one server.
#[derive(Debug, Default)]
pub(super) struct ServerSettings<'a> {
    fields: BTreeMap<Field, &'a Entry<'a>>,
    /// The fields of the wrong type, which have been reported.
    refused: BTreeSet<Field>,
    /// The tools by name.
    pub(super) tools: BTreeMap<&'a str, ToolSettings<'a>>,
    /// The place of the key `tools`.
    pub(super) tools_key: Span,
}

/// An overlay's values for a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct ToolSettings<'a> {
    /// The place of its name.
    pub(super) key: Span,
    /// Its `x-summit-capabilities`.
    pub(super) capabilities: Option<&'a Entry<'a>>,
    /// Its `patterns`.
    pub(super) patterns: Option<&'a Entry<'a>>,
}

/// The index entry that a server of a document becomes.
#[derive(Debug, Default)]
pub(super) struct Target {
    /// Its id, or a stand-in.
    pub(super) id: String,
    /// Its version, or a stand-in.
    pub(super) version: String,
    /// Whether its version is known.
    pub(super) has_version: bool,
    /// The overlay's entries found by the document's names for it.
    named: Vec<usize>,
    /// The overlay's entry found by its id.
    by_id: Option<usize>,
    /// The overlay's entry found by `id@version`.
    by_version: Option<usize>,
}

impl Target {
    /// Returns the overlay's entries for it, the most specific first.
    fn matches(&self) -> impl Iterator<Item = usize> + '_ {
        let by = [self.by_version, self.by_id];
        by.into_iter().flatten().chain(self.named.iter().copied())
    }

    /// Returns those that can set a field. No entry sets the field that identified it.
    fn giving(&self, field: Field) -> impl Iterator<Item = usize> + '_ {
        self.matches().filter(move |number| {
            let named = self.named.contains(number);
            match field {
                Field::Id => named,
                Field::Version => named || self.by_id == Some(*number),
                _ => true,
            }
        })
    }
}

/// Returns a string of an overlay.
pub(super) fn string<'a>(node: &'a Node<'_>) -> Option<&'a str> {
    match &node.value {
        Value::String(text) | Value::Plain(text) => Some(text),
        _ => None,
    }
}

/// Reports a value that even the overlay must not contain: a placeholder, or user info.
fn is_refused(field: Field, value: &Node<'_>, problems: &mut Problems<'_>) -> bool {
    let items = match &value.value {
        Value::Sequence(items) => items,
        _ => std::slice::from_ref(value),
    };
    let mut refused = false;
    for item in items {
        let Some(text) = string(item) else { continue };
        let (refusal, help) = if field == Field::Endpoint && has_user_info(text) {
            let help = "write the value itself, without its secret part";
            (Refusal::UserInfo, help)
        } else if field.own() && is_placeholder(text)
            || text.starts_with('<') && text.ends_with('>')
        {
            (Refusal::Placeholder, "replace the placeholder with a value")
        } else {
            continue;
        };
        let what = format!("the {} of the overlay", field.path().1);
        let message = refusal.message(&what);
        problems
            .report(Code::ImportValue, item.span, refusal.label(), message)
            .help(help);
        refused = true;
    }
    refused
}

impl<'a> ServerSettings<'a> {
    fn insert(&mut self, field: Field, entry: &'a Entry<'a>, problems: &mut Problems<'_>) {
        if entry.value.value == Value::Refused || is_refused(field, &entry.value, problems) {
            self.refused.insert(field);
        } else {
            self.fields.insert(field, entry);
        }
    }
}

impl<'a> Settings<'a> {
    /// Determines the entry of a server, the `number`th of the document.
    pub(super) fn target(&self, number: usize, server: &DescribedServer<'a>) -> Target {
        let mut target = Target::default();
        for (name, _) in &server.names {
            match self.by_key.get(name) {
                Some(number) if !target.named.contains(number) => target.named.push(*number),
                _ => {}
            }
        }
        // A server without a name is the only one of the overlay.
        let is_nameless = server.names.is_empty();
        let only = self
            .servers
            .first()
            .filter(|_| is_nameless && self.servers.len() == 1);
        target.named.extend(only.map(|_| 0));
        // A missing value is reported later; its stand-in must not equal another server's name.
        let stand_in = || format!("missing {number}");
        let default = |field| {
            self.fallback(field)
                .filter(|_| field != Field::Id || is_nameless)
        };
        let given = |target: &Target, field| self.given(target, field).or_else(|| default(field));
        target.id = match (given(&target, Field::Id), only) {
            (Some(entry), _) => string(&entry.value).map_or_else(stand_in, str::to_owned),
            (None, Some((key, ..))) => (*key).to_owned(),
            (None, None) => server.name().to_owned(),
        };
        let by_id = self.by_key.get(&*target.id).copied();
        target.by_id = by_id.filter(|number| !target.named.contains(number));
        let version = match (self.given(&target, Field::Version), &server.version) {
            (None, FieldValue::Value(version, _)) => Some(version.clone().into_owned()),
            (given, _) => {
                let given = given.or_else(|| self.fallback(Field::Version));
                given.and_then(|it| string(&it.value)).map(str::to_owned)
            }
        };
        target.has_version = version.is_some();
        target.version = version.unwrap_or_else(stand_in);
        let name = format!("{}@{}", target.id, target.version);
        let by_version = self.by_key.get(&*name).copied();
        target.by_version = by_version.filter(|it| target.matches().all(|other| other != *it));
        target
    }

    /// Returns the overlay's value of a server's field.
    pub(super) fn given(&self, target: &Target, field: Field) -> Option<&'a Entry<'a>> {
        target
            .giving(field)
            .find_map(|number| self.servers[number].2.fields.get(&field).copied())
    }

    /// Returns whether the overlay's value of a field has the wrong type.
    pub(super) fn is_refused(&self, target: &Target, field: Field) -> bool {
        let mut matches = target.giving(field);
        matches.any(|number| self.servers[number].2.refused.contains(&field))
            || self.defaults.refused.contains(&field)
    }

    /// Returns the default of a field, for servers without a value.
    pub(super) fn fallback(&self, field: Field) -> Option<&'a Entry<'a>> {
        self.defaults.fields.get(&field).copied()
    }

    /// Returns the entries for a server of several names, each once, the most specific first.
    pub(super) fn of<'t>(
        &self,
        targets: impl Iterator<Item = &'t Target>,
    ) -> impl Iterator<Item = &ServerSettings<'a>> {
        let mut seen = BTreeSet::new();
        targets
            .flat_map(Target::matches)
            .filter(move |number| seen.insert(*number))
            .map(|number| &self.servers[number].2)
    }

    /// Returns the key of the most specific entry for a server, with its place.
    pub(super) fn key(&self, target: &Target) -> Option<(&'a str, Span)> {
        let (key, span, _) = &self.servers[target.matches().next()?];
        Some((key, *span))
    }

    /// Reports defaults that are specific to a server, and would be those of several.
    pub(super) fn check_defaults(&self, servers: usize, problems: &mut Problems<'_>) {
        for field in [Field::Id, Field::Endpoint] {
            let Some(entry) = self.fallback(field).filter(|_| servers > 1) else {
                continue;
            };
            let key = field.path().1;
            let message = format!("the default `{key}` would be that of {servers} servers");
            problems
                .report(
                    Code::ImportValue,
                    entry.key_span,
                    "of several servers",
                    message,
                )
                .help(format!("set `{key}` of each server below `servers`"));
        }
    }

    /// Warns about entries that match no server.
    pub(super) fn warn_unused(
        &self,
        targets: &[Target],
        described: &[DescribedServer<'_>],
        existing: &ExistingIndex<'_>,
        problems: &mut Problems<'_>,
    ) {
        let used: BTreeSet<usize> = targets.iter().flat_map(Target::matches).collect();
        for target in targets {
            self.warn_without_effect(target, problems);
        }
        let mut known: Vec<&str> = Vec::new();
        for (server, target) in described.iter().zip(targets).take(KNOWN_LIMIT) {
            known.extend(server.names.iter().map(|(name, _)| *name));
            known.push(&target.id);
        }
        known.sort_unstable();
        known.dedup();
        let text = problems.text();
        let mut suggestions = SUGGESTION_LIMIT;
        for (number, (key, span, given)) in self.servers.iter().enumerate() {
            let id = given
                .fields
                .get(&Field::Id)
                .and_then(|id| string(&id.value));
            let of_index = existing.has_id(key)
                || id.is_some_and(|id| existing.has_id(id))
                || key
                    .split_once('@')
                    .is_some_and(|(id, version)| existing.has(id, version));
            if used.contains(&number) || of_index {
                continue;
            }
            let message = format!("neither the document nor the index contains a server `{key}`");
            let report = problems.report(Code::ImportUnused, *span, "unknown server", message);
            if suggestions == 0 {
                continue;
            }
            suggestions -= 1;
            let slips = Likeness::new().slips(key, known.iter().copied(), 2);
            let near = nearest(key, known.iter().copied(), 1);
            let report = match (&slips[..], near.first()) {
                // A separate entry is not written twice.
                ([meant], _) if !self.by_key.contains_key(meant) => {
                    let written = written_as(span.of(text.as_str()), meant);
                    report.replace(format!("write `{meant}`"), *span, written)
                }
                (_, Some(meant)) => report.help(format!("did you mean `{meant}`?")),
                _ => report,
            };
            if let [only, ..] = &known[..]
                && described.len() == 1
            {
                report.help(format!("write `{only}`, the document's only server"));
            }
        }
    }

    /// Warns about ids and versions that differ from those that identified their entry.
    fn warn_without_effect(&self, target: &Target, problems: &mut Problems<'_>) {
        for (number, fields) in [
            (target.by_id, &[Field::Id][..]),
            (target.by_version, &[Field::Id, Field::Version]),
        ] {
            let Some(number) = number else { continue };
            for field in fields {
                let wanted = match field {
                    Field::Id => &target.id,
                    _ => &target.version,
                };
                let given = self.servers[number].2.fields.get(field);
                if let Some(entry) = given
                    && string(&entry.value) != Some(wanted)
                {
                    let message = format!(
                        "the overlay's entry for `{}` can't change its own name",
                        self.servers[number].0
                    );
                    let label = "has no effect";
                    problems
                        .report(Code::ImportUnused, entry.value.span, label, message)
                        .help("set another id or version under the document's name for the server");
                }
            }
        }
    }
}

/// Maximum number of servers to compare for a suggested name.
pub(super) const KNOWN_LIMIT: usize = 1_000;

/// Maximum number of suggested names.
pub(super) const SUGGESTION_LIMIT: usize = 20;

/// Reads an overlay. Reports a problem and returns `None` if it is not a mapping.
pub(super) fn read<'a>(root: &'a Node<'a>, problems: &mut Problems<'_>) -> Option<Settings<'a>> {
    let mut settings = Settings::default();
    if root.value == Value::Null {
        return Some(settings);
    }
    let overlay = Object::of(root, "the overlay", opening(root), problems)?.rename("");
    overlay.check_fields(&format::OVERLAY.names, problems);
    overlay.check_version(problems);
    if let Some(entry) = overlay.optional("defaults") {
        settings.defaults = given(entry, "defaults", false, problems);
    }
    if let Some(servers) = overlay.object("servers", problems) {
        for server in servers.entries() {
            let path = servers.path(&server.key);
            let given = given(server, &path, true, problems);
            settings.by_key.insert(&server.key, settings.servers.len());
            settings.servers.push((&server.key, server.key_span, given));
        }
    }
    Some(settings)
}

/// Checks the capabilities of a tool that the loader won't see.
pub(super) fn check_capabilities(node: &Node<'_>, path: &str, problems: &mut Problems<'_>) {
    let Some(items) = list(node, path, problems) else {
        return;
    };
    each(items, path, problems, |item, path, problems| {
        let capability = Object::of(item, path, opening(item), problems)?;
        capability.read_optional("verb", problems, keyword::<CapabilityVerb>);
        capability.read_optional("resource", problems, name::<Resource>);
        capability.read_optional("constraints", problems, names::<Tag>);
        Some(())
    });
}

fn given<'a>(
    entry: &'a Entry<'a>,
    path: &str,
    own: bool,
    problems: &mut Problems<'_>,
) -> ServerSettings<'a> {
    let mut given = ServerSettings::default();
    let fields = || Field::ALL.into_iter();
    let Some(object) = Object::of(&entry.value, path, entry.key_span, problems) else {
        given.refused.extend(fields());
        return given;
    };
    let mut known: Vec<&str> = fields()
        .map(|field| match field.path() {
            (Some(parent), _) => parent,
            (None, key) => key,
        })
        .collect();
    known.dedup();
    if own {
        known.push("tools");
    }
    object.check_fields(&known, problems);
    for field in fields() {
        if let (None, key) = field.path()
            && let Some(entry) = object.optional(key)
        {
            given.insert(field, entry, problems);
        }
    }
    for parent in ["data", "policy", "trust"] {
        if object.optional(parent).is_none() {
            continue;
        }
        let children = fields().filter(|field| field.path().0 == Some(parent));
        let Some(inner) = object.object(parent, problems) else {
            given.refused.extend(children);
            continue;
        };
        let keys: Vec<_> = children.clone().map(|field| field.path().1).collect();
        inner.check_fields(&keys, problems);
        for field in children {
            if let Some(entry) = inner.optional(field.path().1) {
                given.insert(field, entry, problems);
            }
        }
    }
    if let Some(entry) = object.optional("tools").filter(|_| own)
        && let Some(tools) = object.object("tools", problems)
    {
        given.tools_key = entry.key_span;
        for tool in tools.entries() {
            let path = tools.path(&tool.key);
            let Some(object) = Object::of(&tool.value, path, tool.key_span, problems) else {
                continue;
            };
            object.check_fields(&[CAPABILITIES, PATTERNS], problems);
            let tool_given = ToolSettings {
                key: tool.key_span,
                capabilities: object.optional(CAPABILITIES),
                patterns: object.optional(PATTERNS),
            };
            given.tools.insert(&tool.key, tool_given);
        }
    }
    given
}
