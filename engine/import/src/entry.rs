//! The merge of a document, an overlay and the existing index into an entry.

use super::blank::Blank;
use super::capture::{FIELDS, ICONS};
use super::claims::{Block, READONLY, Source, agree, json};
use super::conflict::conflict;
use super::described::{DescribedServer, FieldValue, Tools, Unusable, member};
use super::endpoint::{GENERIC, encode, package_url};
use super::existing::ExistingEntry;
use super::field::{Field, Scalars};
use super::left_out::{LeftOut, MEND, SchemaForm, claim_defect, schema_form};
use super::output::{Base, NewObject, NewValue, Origin};
use super::overlay::{CAPABILITIES, KNOWN_LIMIT, PATTERNS, SUGGESTION_LIMIT, Settings, Target};
use super::problems::{ImportProblems, Missing, NAMED_LIMIT};
use agent_diagnostic::Code;
use agent_json_schema::Draft;
use agent_lower::is_kept_icon;
use agent_model::{Name, ServerId};
use agent_syntax::{Entry, Node, Value, json_string};
use agent_text::{DocumentKind, Span, listed, nearest, visible};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// An entry of the new index that a document sets or changes.
pub(super) struct NewEntry<'a> {
    id: &'a str,
    version: &'a str,
    /// The number of the last document that describes it.
    pub(super) document: u32,
    /// The existing entry.
    pub(super) before: Option<&'a ExistingEntry<'a>>,
    /// The entry.
    pub(super) value: NewObject<'a>,
    /// The documents' descriptions of it, in their order.
    described: Vec<(&'a DescribedServer<'a>, &'a Target)>,
    /// The tools of the documents, each with what servers say that it can do.
    claims: BTreeMap<&'a str, Vec<Source<'a>>>,
    /// The claims that are in the entry, as lines.
    pub(super) claimed: Vec<String>,
    /// The tools that are left out.
    pub(super) left_out: LeftOut,
    /// The fields that nothing sets so far, each with the number of the last description.
    unset: BTreeMap<Field, usize>,
    /// Whether a document, the overlay or the index rates its data.
    pub(super) is_rated: bool,
}

/// The member that lists what nothing rates \[0\].
const UNRATED: &str = "x-unrated";

impl<'a> NewEntry<'a> {
    /// Returns the existing entry, or an empty one.
    pub(super) fn new(target: &'a Target, before: Option<&'a ExistingEntry<'a>>) -> Self {
        Self {
            id: &target.id,
            version: &target.version,
            document: 0,
            before,
            value: before.map_or_else(NewObject::default, |before| {
                NewObject::of(&before.node, before.base())
            }),
            described: Vec::new(),
            claims: BTreeMap::new(),
            claimed: Vec::new(),
            left_out: LeftOut::default(),
            unset: BTreeMap::new(),
            is_rated: false,
        }
    }

    /// Returns the sort key of the entry: id and version.
    pub(super) fn name(&self) -> (&'a str, &'a str) {
        (self.id, self.version)
    }

    fn set(&mut self, field: Field, (at, value): (Option<Origin>, NewValue<'a>)) {
        self.unset.remove(&field);
        let is_of_data = matches!(field, Field::Residency | Field::MaxSensitivity);
        self.is_rated |= is_of_data && !matches!(value, NewValue::Fixed(_));
        match field.path() {
            (Some(parent), key) => self.value.open(parent).set(key, at, value),
            (None, key) => self.value.set(key, at, value),
        }
    }
}

/// The maker of entries.
pub(super) struct EntryMaker<'s, 'a> {
    settings: &'s Settings<'a>,
    /// Whether the overlay is JSON.
    json: bool,
    /// Whether an overlay exists.
    overlaid: bool,
}

impl<'s, 'a> EntryMaker<'s, 'a> {
    pub(super) fn new(settings: &'s Settings<'a>, json: bool, overlaid: bool) -> Self {
        Self {
            settings,
            json,
            overlaid,
        }
    }

    /// Merges a description of a server and the overlay's values into its entry.
    pub(super) fn merge(
        &self,
        server: &'a DescribedServer<'a>,
        target: &'a Target,
        entry: &mut NewEntry<'a>,
        problems: &mut ImportProblems<'_>,
    ) {
        self.report_conflict(server, target, entry, problems);
        entry.document = server.document;
        entry.described.push((server, target));
        // A problem of the whole entry, such as a duplicate, is reported at the document's name.
        entry.value.origin = Some(server.origin(server.at));
        for field in Field::ALL {
            match self.field(field, server, target, problems) {
                Some(value) => entry.set(field, value),
                None if entry.value.has(field.path()) => {}
                None => {
                    let number = entry.described.len() - 1;
                    // What a document says of the missing value says more than that it is missing.
                    if let FieldValue::Unusable(_) = of_document(field, server) {
                        entry.unset.insert(field, number);
                    } else {
                        entry.unset.entry(field).or_insert(number);
                    }
                }
            }
        }
        if let Some(tools) = &server.tools {
            tools
                .left_out
                .warn(&target.id, |_| MEND.to_owned(), problems);
            for (name, tool) in &tools.tools {
                let claims = tool.claims.iter();
                let claims = claims.map(|claim| Source::new(&claim.value, server.base()));
                entry.claims.entry(name).or_default().extend(claims);
            }
            take_tools(tools, server, &mut entry.value, problems);
        }
    }

    /// Reports that a description contradicts an earlier one of an entry. Returns whether it does.
    pub(super) fn report_conflict(
        &self,
        server: &DescribedServer<'a>,
        target: &Target,
        entry: &NewEntry<'a>,
        problems: &mut ImportProblems<'_>,
    ) -> bool {
        let has_endpoint = self.settings.given(target, Field::Endpoint).is_some();
        let mut before = entry.described.iter();
        let found = before.find_map(|(before, _)| {
            let found = conflict(before, server, &target.version, !has_endpoint)?;
            Some((before, found))
        });
        let Some((before, found)) = found else {
            return false;
        };
        let (id, version) = entry.name();
        let (first, _) = problems.place(before.origin(found.before));
        let message = format!(
            "two descriptions of the server `{id}@{version}` differ in {}",
            found.what
        );
        problems
            .report(
                Code::ImportConflict,
                server.origin(found.now),
                "differs here",
                message,
            )
            .also_at(first, "first here")
            .help("import one of the two, or name one otherwise: by `package` of a capture, or its key");
        true
    }

    /// Completes an entry after all documents. Reports missing values, and puts stand-ins in their
    /// places.
    pub(super) fn complete(&self, entry: &mut NewEntry<'a>, problems: &mut ImportProblems<'_>) {
        let unset = std::mem::take(&mut entry.unset);
        let is_unrated = |field| unset.contains_key(&field);
        let is_unrated = is_unrated(Field::Residency) && is_unrated(Field::MaxSensitivity);
        for (field, number) in unset {
            let (server, target) = entry.described[number];
            if let Some(value) = self.missing(field, server, target, problems) {
                entry.set(field, value);
            }
        }
        if entry.is_rated {
            entry.value.members.remove(UNRATED);
        } else if is_unrated {
            let data = NewValue::List(vec![NewValue::Fixed("\"data\"")]);
            entry.value.set(UNRATED, None, data);
        }
        if entry.value.members.contains_key(UNRATED)
            && let Some((server, _)) = entry.described.last()
        {
            problems
                .unrated
                .push((entry.id.to_owned(), server.origin(server.at)));
        }
        self.tools(entry, problems);
    }

    /// Warns once about the servers of which nothing rates the data.
    pub(super) fn warn_unrated(&self, problems: &mut ImportProblems<'_>) {
        let unrated = std::mem::take(&mut problems.unrated);
        let Some((first, at)) = unrated.first() else {
            return;
        };
        let names: Vec<_> = unrated.iter().map(|(id, _)| id).collect();
        let shown = listed(&names, NAMED_LIMIT);
        let message = match names.len() {
            1 => format!("nothing rates the data of the server {shown}"),
            _ => format!("nothing rates the data of the servers {shown}"),
        };
        let group = match names.len() {
            1 => &["servers", &**first][..],
            _ => &["defaults"],
        };
        let residency = [group, &path(Field::Residency)].concat();
        let help = self.snippet_at(&residency, self.placeholder(Field::Residency));
        problems
            .warn(Code::ImportUnrated, *at, "unrated", message)
            .help(help);
    }

    /// Returns the overlay's or the document's value of a field, if there is one.
    fn field(
        &self,
        field: Field,
        server: &'a DescribedServer<'a>,
        target: &'a Target,
        problems: &mut ImportProblems<'_>,
    ) -> Option<(Option<Origin>, NewValue<'a>)> {
        if let Some(given) = self.settings.given(target, field) {
            return Some(taken(field, given));
        }
        let stand_in = stand_in(field, server, target);
        if self.settings.is_refused(target, field) {
            return Some((None, stand_in));
        }
        match of_document(field, server) {
            FieldValue::Value(value, span) => {
                let value = NewValue::Text(Cow::Borrowed(&**value), server.origin(*span));
                Some((None, value))
            }
            FieldValue::Invalid => Some((None, stand_in)),
            // Of an unknown version, which is missing.
            FieldValue::OfVersion { .. } if !target.has_version => Some((None, stand_in)),
            FieldValue::OfVersion {
                before,
                after,
                span,
            } => {
                let url = package_url(before, &target.version, after);
                Some((None, NewValue::Text(Cow::Owned(url), server.origin(*span))))
            }
            FieldValue::Absent if field == Field::Id => match ServerId::RULE.check(&target.id) {
                Ok(()) => Some((None, stand_in)),
                Err(_) => {
                    let unusable = bad_id(&target.id, server.at);
                    self.refuse(field, &unusable, server, target, problems);
                    // The stand-in prevents a second report by the loader.
                    Some((None, NewValue::Fixed(field.stand_in())))
                }
            },
            FieldValue::Absent | FieldValue::NoPackage(_) | FieldValue::Unusable(_) => None,
        }
    }

    /// Returns the default of a field that neither a document nor the index sets. Reports a required
    /// field without one.
    fn missing(
        &self,
        field: Field,
        server: &'a DescribedServer<'a>,
        target: &'a Target,
        problems: &mut ImportProblems<'_>,
    ) -> Option<(Option<Origin>, NewValue<'a>)> {
        if let Some(default) = self.settings.fallback(field) {
            return Some(taken(field, default));
        }
        let stand_in = stand_in(field, server, target);
        match of_document(field, server) {
            FieldValue::Unusable(unusable) => {
                self.refuse(field, unusable, server, target, problems);
                return Some((None, stand_in));
            }
            FieldValue::NoPackage(_) if !target.has_version => return Some((None, stand_in)),
            FieldValue::NoPackage(span) => {
                let before = format!("{GENERIC}{}@", encode(&target.id, ""));
                let url = package_url(&before, &target.version, "");
                return Some((None, NewValue::Text(Cow::Owned(url), server.origin(*span))));
            }
            _ => {}
        }
        if !field.required() {
            return None;
        }
        if let Some(value) = field.unrated() {
            return Some((None, NewValue::Fixed(value)));
        }
        if field == Field::Categories && !target.id.is_empty() {
            let id = NewValue::Text(Cow::Borrowed(&target.id), server.origin(server.at));
            return Some((None, NewValue::List(vec![id])));
        }
        let (key, at) = self.addressed(server, target);
        let is_nameless = target.id.is_empty();
        if !is_nameless || field.own() {
            problems.blank(key, field, self.placeholder(field).to_owned());
        }
        if is_nameless {
            // The missing name is reported, with everything else to write.
            return Some((None, stand_in));
        }
        let placeholder = self.placeholder(field);
        let path = path(field);
        let missing = problems.missing.entry(field).or_insert_with(|| Missing {
            named: Vec::new(),
            others: 0,
            at,
            own: self.snippet(key, &path, placeholder),
            shared: (!field.own())
                .then(|| self.snippet_at(&[&["defaults"], &*path].concat(), placeholder)),
        });
        missing.add(server.name());
        Some((None, stand_in))
    }

    /// Reports a value that can't be used and that nothing else sets.
    fn refuse(
        &self,
        field: Field,
        unusable: &Unusable,
        server: &DescribedServer<'_>,
        target: &Target,
        problems: &mut ImportProblems<'_>,
    ) {
        let (key, _) = self.addressed(server, target);
        let at = server.origin(unusable.span);
        let (label, message) = (unusable.label.clone(), unusable.message.clone());
        let value = match &unusable.choices[..] {
            [only] => json_string(only),
            _ => self.placeholder(field).to_owned(),
        };
        problems.blank(key, field, value);
        let mut report = problems.report(Code::ImportValue, at, label, message);
        for choice in &unusable.choices {
            report = report.help(self.snippet(key, &path(field), &json_string(choice)));
        }
        if unusable.choices.is_empty() {
            report.help(self.snippet(key, &path(field), self.placeholder(field)));
        }
    }

    /// Returns the overlay's key for a server, and the place at which missing values are reported.
    fn addressed<'n>(&self, server: &DescribedServer<'n>, target: &'n Target) -> (&'n str, Origin)
    where
        'a: 'n,
    {
        match self.settings.key(target) {
            Some((key, span)) => (key, Origin::overlay(span)),
            None => {
                let name = match server.names.first() {
                    Some((name, _)) => name,
                    None if target.id.is_empty() => "<name>",
                    None => &target.id,
                };
                (name, server.origin(server.at))
            }
        }
    }

    /// Returns the lines to paste into the overlay.
    fn snippet(&self, key: &str, path: &[&str], value: &str) -> String {
        self.snippet_at(&[&["servers", key], path].concat(), value)
    }

    /// Returns the lines to paste for a path of the overlay.
    fn snippet_at(&self, path: &[&str], value: &str) -> String {
        let mut snippet = "add to the overlay".to_owned();
        if !self.overlaid {
            snippet.push_str(", a file that `--overlay` names");
        }
        snippet.push(':');
        if self.json {
            let keys: Vec<_> = path.iter().map(|it| json_string(it)).collect();
            snippet.push('\n');
            snippet.push_str(&keys.join(": { "));
            snippet.push_str(": ");
            snippet.push_str(value);
            snippet.push_str(&" }".repeat(keys.len() - 1));
        } else {
            let mut blank = Blank::default();
            if !self.overlaid {
                blank.set(&["version"], "v0.1");
            }
            blank.set(path, value);
            blank.write_yaml(&mut snippet, 0);
        }
        snippet
    }

    /// Returns a placeholder to replace with a value. In YAML, no quotes must be left around a boolean.
    fn placeholder(&self, field: Field) -> &'static str {
        match field.placeholder() {
            quoted if field == Field::Signed && !self.json => quoted.trim_matches('"'),
            other => other,
        }
    }

    /// Returns the lines of everything that the overlay has to set, for all documents.
    pub(super) fn overlay(&self, blanks: &BTreeMap<(String, Field), String>) -> String {
        let mut text = if self.overlaid {
            "or add everything at once, and replace each `<…>`:".to_owned()
        } else {
            "or write everything at once into a file, replace each `<…>`, and name it with \
             `--overlay`:"
                .to_owned()
        };
        let mut blank = Blank::default();
        if !self.json && !self.overlaid {
            blank.set(&["version"], "v0.1");
        }
        let servers: BTreeSet<_> = blanks.keys().map(|(server, _)| server).collect();
        // What every server lacks is written once.
        let shared = |field: Field| {
            let mut values = servers.iter().map(|it| blanks.get(&((*it).clone(), field)));
            let first = values.next().flatten()?;
            let is_shared = servers.len() > 1 && !field.own() && values.all(|it| it == Some(first));
            is_shared.then_some(first)
        };
        for field in Field::ALL {
            if let Some(value) = shared(field) {
                blank.set(&[&["defaults"], &*path(field)].concat(), value);
            }
        }
        for ((server, field), value) in blanks {
            if shared(*field).is_none() {
                blank.set(&[&["servers", server], &*path(*field)].concat(), value);
            }
        }
        match self.json {
            true => blank.write_json(&mut text),
            false => blank.write_yaml(&mut text, 0),
        }
        text
    }

    /// Returns the tools whose schemas can't be used, and warns of them and of those of older drafts.
    fn unusable(
        &self,
        id: &str,
        key: &str,
        described: &[(&DescribedServer<'a>, &Target)],
        tools: &NewObject<'a>,
        problems: &mut ImportProblems<'_>,
    ) -> LeftOut {
        let (mut by_pattern, mut others) = (LeftOut::default(), LeftOut::default());
        let mut older = BTreeMap::<Draft, Vec<(&str, Origin)>>::new();
        for (server, _) in described {
            for (name, tool) in server.tools.iter().flat_map(|it| &it.tools) {
                let Some((_, known)) = tools.members.get(*name) else {
                    continue;
                };
                let text = problems.text(server.origin(tool.name));
                match schema_form(tool, text, known.has_member(PATTERNS)) {
                    SchemaForm::Usual => {}
                    SchemaForm::Older(draft) => {
                        let at = server.origin(tool.name);
                        older.entry(draft).or_default().push((name, at));
                    }
                    SchemaForm::Unusable { defect, of_pattern } => {
                        let found = match of_pattern {
                            true => &mut by_pattern,
                            false => &mut others,
                        };
                        found.add(name, defect, server.base());
                    }
                }
            }
        }
        for (draft, tools) in older {
            let names: Vec<_> = tools.iter().map(|(name, _)| visible(name)).collect();
            let shown = listed(&names, NAMED_LIMIT);
            let of = if names.len() == 1 {
                "the tool"
            } else {
                "the tools"
            };
            let draft = draft.name();
            let message = format!("the schemas of {of} {shown} of `{id}` are read as {draft}");
            problems
                .warn(Code::SchemaDraft, tools[0].1, "names no draft", message)
                .help("have the server name the draft, by `$schema`, or use draft 2020-12");
        }
        let word = if self.json { r#""ignore""# } else { "ignore" };
        let give_up = |name: &str| self.snippet(key, &["tools", name, PATTERNS], word);
        by_pattern.warn(id, give_up, problems);
        others.warn(id, |_| MEND.to_owned(), problems);
        by_pattern.extend(&others);
        by_pattern
    }

    /// Merges the overlay's capabilities of tools. Warns about tools without any.
    fn tools(&self, entry: &mut NewEntry<'a>, problems: &mut ImportProblems<'_>) {
        let NewEntry {
            id,
            value,
            described,
            claims,
            claimed,
            left_out,
            ..
        } = entry;
        let tools = described
            .iter()
            .filter_map(|(server, _)| server.tools.as_ref());
        let is_left_out = |name: &str| tools.clone().any(|it| it.left_out.has(name));
        let Some(&(server, target)) = described.last() else {
            return;
        };
        let mut known = if value.has((Some("capabilities"), "tools")) {
            Some(value.open("capabilities").open("tools"))
        } else {
            None
        };
        let mut named: BTreeMap<&str, &'a Entry<'a>> = BTreeMap::new();
        let mut ignoring = BTreeSet::new();
        let targets = described.iter().rev().map(|(_, target)| *target);
        for own in self.settings.of(targets) {
            if known.is_none() && !own.tools.is_empty() {
                let at = Origin::overlay(own.tools_key);
                let message = format!("no document has listed the tools of the server `{id}` yet");
                let help = "import a capture of `tools/list` first: it lists the tools, and the \
                            overlay adds their capabilities";
                problems
                    .report(Code::ImportUnused, at, "no known tools", message)
                    .help(help);
                for capabilities in own.tools.values().filter_map(|tool| tool.capabilities) {
                    super::overlay::check_capabilities(
                        &capabilities.value,
                        CAPABILITIES,
                        &mut problems.overlay,
                    );
                }
                continue;
            }
            let names = known.iter().flat_map(|tools| tools.members.keys());
            let names: Vec<String> = names
                .take(KNOWN_LIMIT)
                .map(|name| name.clone().into_owned())
                .collect();
            let mut suggestions = SUGGESTION_LIMIT;
            for (name, tool) in &own.tools {
                let Some(tools) = &mut known else { continue };
                let is_tool = tools
                    .members
                    .get(*name)
                    .is_some_and(|(_, value)| value.is_mapping());
                if !is_tool && is_left_out(name) {
                    // The overlay has no words for its defect, which was reported.
                    continue;
                } else if !is_tool {
                    let message = format!("the server `{id}` has no tool `{name}`");
                    let at = Origin::overlay(tool.key);
                    let report = problems.report(Code::ImportUnused, at, "unknown tool", message);
                    let known = names.iter().map(|known| &**known);
                    if suggestions == 0 {
                        continue;
                    }
                    suggestions -= 1;
                    if let Some(meant) = nearest(name, known, 1).first() {
                        report.help(format!("did you mean `{meant}`?"));
                    }
                    continue;
                }
                let mut set = |key, entry: &'a Entry<'a>| {
                    let at = Some(Origin::overlay(entry.key_span));
                    let value = tree(entry, Base::OVERLAY, Scalars::Strings);
                    tools.open(*name).set(key, at, value);
                };
                if let Some(capabilities) = tool.capabilities
                    && !named.contains_key(name)
                {
                    named.insert(name, capabilities);
                    set(CAPABILITIES, capabilities);
                }
                if let Some(patterns) = tool.patterns
                    && ignoring.insert(*name)
                {
                    set(PATTERNS, patterns);
                }
            }
        }
        let Some(tools) = known else { return };
        let (key, at) = self.addressed(server, target);
        // The capabilities of the overlay replace a claim that can't be used.
        for (name, claims) in claims.iter() {
            if named.contains_key(name) || !tools.members.contains_key(*name) {
                continue;
            }
            let mut defects = claims.iter().filter_map(|claim| {
                let text = problems.text(claim.origin());
                Some((claim_defect(*claim, text)?, claim.base()))
            });
            if let Some((defect, base)) = defects.next() {
                left_out.add(name, defect, base);
            }
        }
        tools.members.retain(|name, _| !left_out.has(name));
        let declare = |name: &str| {
            let path = ["tools", name, CAPABILITIES];
            self.snippet(
                key,
                &path,
                r#"[{ "verb": "<verb>", "resource": "<resource>" }]"#,
            )
        };
        left_out.warn(id, declare, problems);
        left_out.extend(&self.unusable(id, key, described, tools, problems));
        tools.members.retain(|name, _| !left_out.has(name));
        for (server, _) in described.iter() {
            if let Some(tools) = &server.tools {
                left_out.extend(&tools.left_out);
            }
        }
        for name in named.keys() {
            claims.entry(name).or_default();
        }
        for (name, claims) in claims {
            let Some((_, tool)) = tools.members.get_mut(*name) else {
                continue;
            };
            if !tool.is_mapping() {
                continue;
            }
            let own = named.contains_key(name);
            let mut sources = Vec::new();
            if let Some((node, base)) = tool.child(CAPABILITIES) {
                sources.push(Source::new(node, base));
            }
            if !own {
                sources.append(claims);
            }
            let path = ["tools", *name, CAPABILITIES];
            let agreed = match agree(&sources) {
                Ok(agreed) => agreed,
                Err(refused) => {
                    // The loader reports it at its place.
                    tools.open(*name).set(CAPABILITIES, None, refused.value());
                    continue;
                }
            };
            let readonly = sources.iter().find_map(|source| source.readonly());
            if let (Some(at), Some(hint)) = (readonly, tool.writes()) {
                let message =
                    format!("the tool `{name}` can't be `readonly`: it declares `{hint}`");
                let label = format!("contradicts `{hint}`");
                let report = problems.report(Code::ImportValue, at, label, message);
                if own {
                    report.help("remove `readonly` from the overlay");
                } else {
                    report.help(self.snippet(key, &path, &json(&agreed.blocks, READONLY)));
                }
            }
            let (Some(last), false) = (sources.last(), own) else {
                continue;
            };
            if agreed.differ {
                let message =
                    format!("sources disagree about the capabilities of the tool `{name}`");
                let label = "only what all sources contain is kept";
                problems
                    .report(Code::ImportClaims, last.origin(), label, message)
                    .help(self.snippet(key, &path, &json(&agreed.blocks, "")));
            }
            // The claims of other documents are in the entry already.
            if last.origin().source == DocumentKind::Index {
                continue;
            }
            let lines = agreed.blocks.iter().map(Block::line);
            claimed.extend(lines.map(|line| format!("{name}: {line}")));
            if agreed.differ || sources[0].origin().source != DocumentKind::Index {
                let at = Some(last.origin());
                let blocks = agreed.blocks.into_iter().map(Block::value).collect();
                tools
                    .open(*name)
                    .set(CAPABILITIES, at, NewValue::List(blocks));
            }
        }
        let members = tools.members.iter();
        let silent = members.filter(|(_, (_, it))| it.is_mapping() && !it.has_member(CAPABILITIES));
        let silent: Vec<_> = silent.collect();
        let Some((name, (origin, tool))) = silent.first() else {
            return;
        };
        let names: Vec<_> = silent.iter().map(|(name, _)| name).collect();
        let named = listed(&names, NAMED_LIMIT);
        let message = match silent.len() {
            1 => format!("the tool {named} declares no capabilities"),
            _ => format!("the tools {named} declare no capabilities"),
        };
        let path = ["tools", &***name, CAPABILITIES];
        let (label, at) = ("can't be matched by capability", origin.unwrap_or(at));
        problems
            .report(Code::ImportNoCapability, at, label, message)
            .help(self.snippet(key, &path, tool.example()));
    }
}

/// Replaces the tools of an entry by those of a capture, or merges those of a manifest. Keeps the
/// index's other data about them.
fn take_tools<'a>(
    captured: &'a Tools<'a>,
    server: &DescribedServer<'_>,
    entry: &mut NewObject<'a>,
    problems: &mut ImportProblems<'_>,
) {
    let capabilities = entry.open("capabilities");
    let before = std::mem::take(capabilities.open("tools"));
    let mut tools = NewObject {
        origin: before.origin,
        ..NewObject::default()
    };
    for (name, (origin, value)) in before.members {
        if let Some(tool) = captured.tools.get(&*name) {
            let mut kept = value.into_object();
            if captured.complete {
                kept.members.retain(|key, _| !FIELDS.contains(&&**key));
            }
            kept.origin = Some(server.origin(tool.node.span));
            let at = Some(server.origin(tool.name));
            tools.set(name, at, NewValue::Object(kept));
        } else if !captured.complete {
            tools.set(name, origin, value);
        } else if let Some(origin) = origin.filter(|_| value.is_mapping())
            && !captured.left_out.has(&name)
        {
            let message = format!(
                "the capture does not contain the tool `{name}` of `{}`",
                server.name()
            );
            let label = "not in the capture";
            problems
                .report(Code::ImportToolRemoved, origin, label, message)
                .help("import a complete capture if the server still has the tool");
        }
    }
    if let Some(flag) = captured.list_changed {
        let at = Some(server.origin(flag.key_span));
        let value = tree(flag, server.base(), Scalars::Strings);
        tools.set("listChanged", at, value);
    }
    for (name, tool) in &captured.tools {
        let object = tools.open(*name);
        object.origin = Some(server.origin(tool.node.span));
        for field in &tool.fields {
            let at = Some(server.origin(field.key_span));
            let value = match &field.value.value {
                Value::Sequence(icons) if field.key == ICONS => {
                    let kept = icons.iter().filter(|icon| is_kept_icon(icon));
                    let kept = kept.map(|icon| unchanged(icon, server.base(), Scalars::Strings));
                    NewValue::List(kept.collect())
                }
                _ => tree(field, server.base(), Scalars::Strings),
            };
            object.set(&*field.key, at, value);
        }
        if let Some(member) = tools.members.get_mut(*name) {
            member.0 = Some(server.origin(tool.name));
        }
    }
    *entry.open("capabilities").open("tools") = tools;
}

/// Returns an unchanged value of an input.
fn tree<'a>(entry: &'a Entry<'a>, base: Base, scalars: Scalars) -> NewValue<'a> {
    unchanged(&entry.value, base, scalars)
}

fn unchanged<'a>(node: &'a Node<'a>, base: Base, scalars: Scalars) -> NewValue<'a> {
    NewValue::Tree {
        node,
        base,
        scalars,
    }
}

/// Returns a value of the overlay.
fn taken<'a>(field: Field, given: &'a Entry<'a>) -> (Option<Origin>, NewValue<'a>) {
    let value = tree(given, Base::OVERLAY, field.scalars());
    (Some(Origin::overlay(given.key_span)), value)
}

/// Returns the problem of a name that can't be an id.
fn bad_id(name: &str, span: Span) -> Unusable {
    let like: String = name
        .chars()
        .filter(|c| !c.is_control() && !ServerId::RULE.reserved.contains(c))
        .collect();
    if name.is_empty() {
        return Unusable {
            span,
            label: "without a name".to_owned(),
            message: "the document does not name its server".to_owned(),
            choices: Vec::new(),
        };
    }
    Unusable {
        span,
        label: "not a server id".to_owned(),
        message: "the name of the server can't be its id: it is empty or contains `@`, `|` or a \
                  control character"
            .to_owned(),
        choices: Some(like)
            .filter(|like| !like.is_empty())
            .into_iter()
            .collect(),
    }
}

/// Returns a document's value of a field.
fn of_document<'s, 'a>(field: Field, server: &'s DescribedServer<'a>) -> &'s FieldValue<'a> {
    match field {
        Field::Version => &server.version,
        Field::Endpoint => &server.endpoint,
        _ => &FieldValue::Absent,
    }
}

/// Returns a value that the loader accepts for a missing one.
fn stand_in<'a>(field: Field, server: &DescribedServer<'_>, target: &'a Target) -> NewValue<'a> {
    let at = server.origin(server.at);
    match field {
        Field::Id => NewValue::Text(Cow::Borrowed(&target.id), at),
        Field::Version => NewValue::Text(Cow::Borrowed(&target.version), at),
        _ => NewValue::Fixed(field.stand_in()),
    }
}

/// Returns the keys of a field.
fn path(field: Field) -> Vec<&'static str> {
    let (parent, key) = field.path();
    parent.into_iter().chain([key]).collect()
}

impl NewObject<'_> {
    /// Returns whether an entry has a key, or a mapping in it has.
    fn has(&self, (parent, key): (Option<&str>, &str)) -> bool {
        let Some(parent) = parent else {
            return self.members.contains_key(key);
        };
        let parent = self.members.get(parent);
        parent.is_some_and(|(_, value)| value.has_member(key))
    }
}

impl<'a> NewValue<'a> {
    /// Returns whether the value is a mapping.
    fn is_mapping(&self) -> bool {
        match self {
            Self::Object(_) => true,
            Self::Tree { node, .. } => matches!(node.value, Value::Mapping(_)),
            _ => false,
        }
    }

    /// Returns whether the value has a member.
    fn has_member(&self, key: &str) -> bool {
        match self {
            Self::Object(object) => object.members.contains_key(key),
            Self::Tree { node, .. } => match &node.value {
                Value::Mapping(entries) => member(entries, key).is_some(),
                _ => false,
            },
            _ => false,
        }
    }

    /// Returns a member that is an unchanged value of an input.
    fn child(&self, key: &str) -> Option<(&'a Node<'a>, Base)> {
        match self {
            Self::Object(object) => match &object.members.get(key)?.1 {
                Self::Tree { node, base, .. } => Some((*node, *base)),
                _ => None,
            },
            Self::Tree { node, base, .. } => match &node.value {
                Value::Mapping(entries) => Some((&member(entries, key)?.value, *base)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns a hint of a tool's annotations.
    fn hint(&self, key: &str) -> Option<bool> {
        match &self.child("annotations")?.0.value {
            Value::Mapping(hints) => match member(hints, key)?.value.value {
                Value::Bool(hint) => Some(hint),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the hint with which a tool declares that it writes.
    fn writes(&self) -> Option<&'static str> {
        if self.hint("destructiveHint") == Some(true) {
            Some("destructiveHint: true")
        } else if self.hint("readOnlyHint") == Some(false) {
            Some("readOnlyHint: false")
        } else {
            None
        }
    }

    /// Returns capabilities of a tool to fill in, with `readonly` only if the tool declares it.
    fn example(&self) -> &'static str {
        if self.writes().is_none() && self.hint("readOnlyHint") == Some(true) {
            r#"[{ "verb": "<verb>", "resource": "<resource>", "constraints": ["readonly"] }]"#
        } else {
            r#"[{ "verb": "<verb>", "resource": "<resource>" }]"#
        }
    }

    /// Converts the value into a mapping; anything else becomes an empty one.
    fn into_object(self) -> NewObject<'a> {
        match self {
            Self::Object(object) => object,
            Self::Tree { node, base, .. } => NewObject::of(node, base),
            _ => NewObject::default(),
        }
    }
}
