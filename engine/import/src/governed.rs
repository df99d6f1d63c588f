//! A client's configuration with a gateway in the place of servers, and with the servers again.
//!
//! Only the entries of these servers change: comments, order and every other byte stay. The new text is read again, and
//! refused if it says anything else.

use super::client::{CLIENT_FORMS, ClientForm, EntryShape, Installation, ServersPlace};
use super::document::installations;
use super::installed::{InstalledServer, ServerStart, installed};
use super::notation::Document;
use super::setting::SettingPart;
use super::{DOCUMENT_LIMIT, decode};
use agent_diagnostic::{Code, Diagnostic, Problems};
use agent_lower::fields::opening;
use agent_syntax::members::{entries, entry, items};
use agent_syntax::{Node, Value, json_string};
use agent_text::DocumentKind;
use std::ops::Range;

/// A program that a client starts instead of servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gateway {
    /// Its name in the configuration.
    pub name: String,
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// Puts a gateway in the place of servers, which are paths of [`InstalledServer`]. `place` has the keys to the object
/// or list of all of them. Without servers, the gateway becomes the last one, and a missing `place` is made.
///
/// # Errors
/// The document can't be read, or it has an entry that can't be cut out, such as one of dotted keys.
pub fn govern(
    document: Vec<u8>,
    place: &[String],
    servers: &[String],
    gateway: &Gateway,
) -> Result<String, Vec<Diagnostic>> {
    let form = form(place);
    rewrite(document, form, |parsed, problems| {
        let found = parsed.place(place);
        let Some((at, within)) = &found else {
            return added_place(parsed, place, form, gateway);
        };
        let cut = within
            .iter()
            .filter(|it| servers.contains(&it.path))
            .copied();
        let cut: Vec<_> = cut.collect();
        if cut.len() != servers.len() {
            let message = "the configuration no longer has one of the servers";
            problems.report(Code::ImportFormat, opening(at.servers), "", message);
            return None;
        }
        let mut expected = kept(parsed, |it| !servers.contains(&it.path));
        let named = within.iter().find(|it| it.is_named(&gateway.name));
        let new = match named.filter(|it| !servers.contains(&it.path)) {
            // More servers go to a gateway that is there.
            Some(other) if installed(other).start.starts_as(gateway) => Vec::new(),
            Some(other) => {
                let message = format!("the client has a server `{}` already", gateway.name);
                let span = opening(other.node);
                problems.report(Code::ImportFormat, span, "another server", message);
                return None;
            }
            None => {
                let beside = cut.first().or(within.last()).copied();
                expected.push(gateway.installed());
                vec![gateway_entry(parsed, at, beside, gateway)]
            }
        };
        Some((replace(parsed, at, within, &cut, new)?, expected))
    })
}

/// Puts servers, which are paths in `original`, back in the place of a gateway. `place` has the keys to it.
///
/// # Errors
/// As [`govern`]. The gateway was changed, or a server of the same name was added.
pub fn release(
    document: Vec<u8>,
    place: &[String],
    gateway: &Gateway,
    original: Vec<u8>,
    servers: &[String],
) -> Result<String, Vec<Diagnostic>> {
    let form = form(place);
    let before = read(original, form)?;
    let mut unread = Problems::new(&before.text);
    let root = before.parse(&mut unread);
    let Some(root) = root.filter(|_| !unread.has_errors()) else {
        return Err(unread.finish());
    };
    let original = Parsed::new(&before, &root);
    rewrite(document, form, |parsed, problems| {
        let mut refuse = |message: String| {
            problems
                .report(Code::ImportFormat, opening(parsed.root), "", message)
                .help("change the file by hand");
        };
        let is_gateway = |it: &&&Installation<'_>| {
            let found = installed(it);
            it.is_named(&gateway.name) && found.start.starts_as(gateway)
        };
        let place_now = parsed.place(place);
        let found = place_now
            .as_ref()
            .and_then(|(at, within)| Some((at, within, *within.iter().find(is_gateway)?)));
        let Some((at, within, own)) = found else {
            refuse(format!(
                "the entry of `{}` was changed or removed",
                gateway.name
            ));
            return None;
        };
        let back = original.place(place).map(|(_, within)| within);
        let back = back.unwrap_or_default();
        let back = back.iter().filter(|it| servers.contains(&it.path));
        let back: Vec<_> = back.collect();
        let is_known = |it: &&&&Installation<'_>| {
            let (name, _) = it.name.unwrap_or_default();
            within.iter().any(|other| other.is_named(name))
        };
        if let Some(twice) = back.iter().find(is_known) {
            let (name, _) = twice.name.unwrap_or_default();
            refuse(format!("the client has a server `{name}` again"));
            return None;
        }
        let texts = back.iter().map(|it| original.text_of(it));
        let texts = texts.collect::<Option<Vec<_>>>()?;
        let mut expected = kept(parsed, |it| it.path != own.path);
        expected.extend(back.iter().map(|it| installed(it)));
        Some((replace(parsed, at, within, &[own], texts)?, expected))
    })
}

/// Returns the form whose servers stand at a place; that of most clients for an unknown one.
fn form(place: &[String]) -> &'static ClientForm {
    let last = |form: &&ClientForm| {
        form.path.len() == place.len()
            && form
                .path
                .iter()
                .zip(place)
                .all(|(key, name)| *key == "*" || key == name)
    };
    CLIENT_FORMS.iter().find(last).unwrap_or(&CLIENT_FORMS[0])
}

/// Reads a configuration, which may be a blank file.
fn read(document: Vec<u8>, form: &ClientForm) -> Result<Document, Vec<Diagnostic>> {
    let document = match document.iter().all(u8::is_ascii_whitespace) {
        true => form.empty().as_bytes().to_vec(),
        false => document,
    };
    let text = decode(DocumentKind::Import, document, DOCUMENT_LIMIT)?;
    Ok(Document::of_client(text))
}

/// The edits of a text, and the servers that the new text must have.
type Rewriting = (Vec<(Range<usize>, String)>, Vec<InstalledServer>);

/// Rewrites a document, and checks that it has the expected servers afterwards.
fn rewrite(
    document: Vec<u8>,
    form: &ClientForm,
    edits: impl FnOnce(&Parsed<'_>, &mut Problems<'_>) -> Option<Rewriting>,
) -> Result<String, Vec<Diagnostic>> {
    let document = read(document, form)?;
    let text = document.text.as_str();
    let mut problems = Problems::new(&document.text);
    let root = document.parse(&mut problems);
    let Some(root) = root.filter(|_| !problems.has_errors()) else {
        return Err(problems.finish());
    };
    let parsed = Parsed::new(&document, &root);
    let written = edits(&parsed, &mut problems).and_then(|(edits, mut expected)| {
        let written = apply(text, edits);
        let mut found = super::installed_servers(written.clone().into_bytes()).unwrap_or_default();
        // Places in a list have numbers, which change.
        for servers in [&mut found, &mut expected] {
            servers.iter_mut().for_each(|it| it.path.clear());
            servers.sort_by(|a, b| a.name.cmp(&b.name));
        }
        (found == expected).then_some(written)
    });
    written.ok_or_else(|| {
        if !problems.has_errors() {
            let message = "the servers of the configuration can't be changed one by one";
            problems
                .report(Code::ImportFormat, opening(&root), "", message)
                .help("write each server as an object or a table of its own");
        }
        problems.finish()
    })
}

fn apply(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let breaks = match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    };
    let (mut new, mut at) = (String::with_capacity(text.len()), 0);
    for (range, replacement) in edits {
        new.push_str(text.get(at..range.start).unwrap_or_default());
        let replacement = replacement.replace("\r\n", "\n");
        new.push_str(&replacement.replace('\n', breaks));
        at = range.end.max(at);
    }
    new.push_str(&text[at..]);
    new
}

/// Returns the servers that stay.
fn kept(parsed: &Parsed<'_>, stays: impl Fn(&Installation<'_>) -> bool) -> Vec<InstalledServer> {
    let kept = parsed.servers.iter().filter(|it| stays(it));
    kept.map(installed).collect()
}

impl Gateway {
    fn installed(&self) -> InstalledServer {
        let arguments = self.arguments.iter().map(String::as_str);
        InstalledServer {
            path: String::new(),
            name: self.name.clone(),
            is_enabled: true,
            start: ServerStart::of_words(&self.program, &arguments.collect::<Vec<_>>()),
        }
    }
}

impl ServerStart {
    /// Returns whether the server is a gateway as it was written.
    fn starts_as(&self, gateway: &Gateway) -> bool {
        let Self::Command(command) = self else {
            return false;
        };
        let is = |setting: &super::Setting, text: &str| {
            let texts = setting.0.iter().map(|part| match part {
                SettingPart::Plain(text) | SettingPart::Secret(text) => Some(&**text),
                SettingPart::Variable(_) => None,
            });
            texts.collect::<Option<String>>().as_deref() == Some(text)
        };
        is(&command.program, &gateway.program)
            && command.arguments.len() == gateway.arguments.len()
            && (command.arguments.iter().zip(&gateway.arguments)).all(|(one, other)| is(one, other))
    }
}

impl Installation<'_> {
    fn is_named(&self, name: &str) -> bool {
        self.name.is_some_and(|(own, _)| own == name)
    }
}

/// A document that was read.
struct Parsed<'d> {
    text: &'d str,
    is_toml: bool,
    root: &'d Node<'d>,
    servers: Vec<Installation<'d>>,
}

impl<'d> Parsed<'d> {
    fn new(document: &'d Document, root: &'d Node<'d>) -> Self {
        Self {
            text: document.text.as_str(),
            is_toml: document.is_toml(),
            root,
            servers: installations(root).unwrap_or_default(),
        }
    }

    /// Returns the object or list at a place, with its servers.
    fn place(&self, keys: &[String]) -> Option<(ServersPlace<'d>, Vec<&Installation<'d>>)> {
        let path = keys.join(".");
        let is_in = |it: &&Installation<'_>| {
            let rest = it.path.strip_prefix(&path);
            let name = it.name.map_or("", |(name, _)| name);
            rest.is_some_and(|rest| rest.starts_with('[') || rest.strip_prefix('.') == Some(name))
        };
        let within: Vec<_> = self.servers.iter().filter(is_in).collect();
        let found = within.first().and_then(|it| it.place);
        // One without servers.
        let empty = || {
            let servers = keys
                .iter()
                .try_fold(self.root, |node, key| Some(&entry(node, key)?.value))?;
            let is_one = matches!(servers.value, Value::Mapping(_) | Value::Sequence(_));
            let form = form(keys);
            is_one.then_some(ServersPlace { form, servers })
        };
        Some((found.or_else(empty)?, within))
    }

    /// Returns whether the members of a node stand between brackets, and commas between them.
    fn is_flow(&self, node: &Node<'_>) -> bool {
        let start = &self.text[node.span.start as usize..];
        start.starts_with('{') || start.starts_with('[') && !self.is_header(node)
    }

    /// Returns whether a table of TOML begins with a header.
    fn is_header(&self, node: &Node<'_>) -> bool {
        let start = node.span.start as usize;
        let is_table = self.is_toml && matches!(node.value, Value::Mapping(_));
        is_table && self.text[start..].starts_with('[')
    }

    /// Returns the text of a server's entry.
    fn text_of(&self, server: &Installation<'_>) -> Option<String> {
        let mut ranges = self.extent(server)?;
        ranges.sort_by_key(|range| range.start);
        let texts = ranges.into_iter().map(|range| &self.text[range]);
        Some(texts.collect())
    }

    /// Returns where the entry of a server stands: between commas, or in whole lines. Tables of TOML may be apart.
    fn extent(&self, server: &Installation<'_>) -> Option<Vec<Range<usize>>> {
        let one = |range| Some([range].to_vec());
        let place = server.place?;
        let start = match &place.servers.value {
            Value::Mapping(_) => server.name?.1.start as usize,
            _ => server.node.span.start as usize,
        };
        let end = server.node.span.end as usize;
        if self.is_flow(place.servers) {
            return one(start..end);
        }
        if !self.is_toml {
            return one(self.lines(start, end.max(start + 1)));
        }
        let mut headers = Vec::new();
        self.headers(server.node, &mut headers);
        match self.text[server.node.span.start as usize..].starts_with('{') {
            true => one(self.lines(start, end)),
            false => (!headers.is_empty()).then_some(headers),
        }
    }

    /// Adds the lines of each table that begins with a header.
    fn headers(&self, node: &Node<'_>, found: &mut Vec<Range<usize>>) {
        if self.is_header(node) {
            found.push(self.lines(node.span.start as usize, node.span.end as usize));
        }
        for inner in entries(node) {
            self.headers(&inner.value, found);
        }
    }

    /// Returns the whole lines of a range.
    fn lines(&self, start: usize, end: usize) -> Range<usize> {
        let end = start + self.text[start..end].trim_end().len();
        let start = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let end = self.text[end..]
            .find('\n')
            .map_or(self.text.len(), |at| end + at + 1);
        start..end
    }

    /// Returns the white space before a place in its line; `None` if something else stands there.
    fn indentation(&self, at: usize) -> Option<&'d str> {
        let line = self.text[..at].rfind('\n').map_or(0, |at| at + 1);
        let before = &self.text[line..at];
        before.trim().is_empty().then_some(before)
    }

    /// Returns the white space at the beginning of the line of a place.
    fn line_indentation(&self, at: usize) -> &'d str {
        let line = self.text[..at].rfind('\n').map_or(0, |at| at + 1);
        let rest = &self.text[line..];
        &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
    }

    /// Returns the white space before a new member of an object.
    fn member_indentation(&self, node: &Node<'_>, members: &[Range<usize>]) -> String {
        match members.last() {
            Some(last) => self.line_indentation(last.start).to_owned(),
            None => format!("{}  ", self.line_indentation(node.span.start as usize)),
        }
    }

    /// Returns the end of the comma behind a place, with nothing but white space and comments before it.
    fn comma(&self, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            let rest = &self.text[at..];
            let space = rest.len() - rest.trim_start().len();
            let rest = rest.trim_start();
            at += space;
            let comment = if rest.starts_with("//") || rest.starts_with('#') {
                rest.find('\n')
            } else if rest.starts_with("/*") {
                rest.find("*/").map(|end| end + 2)
            } else {
                return rest.starts_with(',').then_some(at + 1);
            };
            at += comment?;
        }
    }
}

impl ClientForm {
    /// Returns an empty configuration.
    fn empty(&self) -> &'static str {
        match self.path {
            // The first line tells the notation.
            ["mcp_servers"] => "[mcp_servers]\n",
            ["extensions"] => "extensions:\n",
            _ => "{}\n",
        }
    }
}

/// Replaces servers of one place by new entries; without a server to replace, adds them behind the last one.
fn replace(
    parsed: &Parsed<'_>,
    at: &ServersPlace<'_>,
    within: &[&Installation<'_>],
    cut: &[&Installation<'_>],
    new: Vec<String>,
) -> Option<Vec<(Range<usize>, String)>> {
    let is_cut = |it: &Installation<'_>| cut.iter().any(|cut| cut.path == it.path);
    let extents = within.iter().map(|it| parsed.extent(it));
    let extents: Vec<_> = extents.collect::<Option<_>>()?;
    if !parsed.is_flow(at.servers) {
        return Some(replace_lines(parsed, at, within, &extents, is_cut, new));
    }
    let mut edits = Vec::new();
    let mut new = Some(new).filter(|it| !it.is_empty());
    // A place with other uses has other members, too.
    let members: Vec<_> = member_ranges(at.servers).collect();
    let cut_ranges: Vec<_> = (within.iter().zip(&extents))
        .filter(|(it, _)| is_cut(it))
        .filter_map(|(_, ranges)| ranges.first().cloned())
        .collect();
    let Some(first) = cut_ranges.first() else {
        let Some(new) = new else {
            return Some(edits);
        };
        let new = new.join(",\n");
        edits.push(added_member(parsed, at.servers, &members, &new));
        return Some(edits);
    };
    let separator = match parsed.indentation(first.start) {
        Some(indentation) => format!(",\n{indentation}"),
        None => ", ".to_owned(),
    };
    let mut last_kept = None;
    for member in &members {
        if !cut_ranges.contains(member) {
            last_kept = Some(member.end);
        } else if let Some(new) = new.take() {
            last_kept = Some(member.end);
            edits.push((member.clone(), new.join(&separator)));
        } else {
            edits.push((
                removed(
                    parsed,
                    member.start,
                    parsed.comma(member.end).unwrap_or(member.end),
                ),
                String::new(),
            ));
        }
    }
    // The comma before a last member goes with it, unless the list had one behind it.
    let last = members.last()?;
    if let Some(kept) =
        last_kept.filter(|kept| *kept < last.end && parsed.comma(last.end).is_none())
        && let Some(end) = parsed.comma(kept)
    {
        edits.push((end - 1..end, String::new()));
    }
    Some(edits)
}

/// Returns the range to remove: its lines, if nothing else is on them.
fn removed(parsed: &Parsed<'_>, start: usize, end: usize) -> Range<usize> {
    let text = parsed.text;
    let rest = text[end..].find('\n').map(|at| &text[end..=end + at]);
    match (parsed.indentation(start), rest) {
        (Some(before), Some(rest)) if rest.trim().is_empty() => {
            start - before.len()..end + rest.len()
        }
        // A comment behind it stays.
        (Some(_), Some(rest)) => start..end + (rest.len() - rest.trim_start_matches(' ').len()),
        (None, _) => {
            // The space in front of it.
            let before = text[..start].trim_end_matches(' ').len();
            let is_first = text[..before].ends_with(['{', '[']);
            if is_first { start..end } else { before..end }
        }
        _ => start..end,
    }
}

/// Adds a member between brackets, behind the last one.
fn added_member(
    parsed: &Parsed<'_>,
    within: &Node<'_>,
    members: &[Range<usize>],
    new: &str,
) -> (Range<usize>, String) {
    if let Some(last) = members.last() {
        let text = match parsed.indentation(last.start) {
            Some(indentation) => format!(",\n{indentation}{new}"),
            None => format!(", {new}"),
        };
        return (last.end..last.end, text);
    }
    let start = within.span.start as usize + 1;
    let end = (within.span.end as usize).saturating_sub(1).max(start);
    let outer = parsed.line_indentation(start);
    let text = format!("\n{outer}  {new}");
    match parsed.text[start..end].contains('\n') {
        true => (start..start, text),
        false => (start..end, format!("{text}\n{outer}")),
    }
}

fn replace_lines(
    parsed: &Parsed<'_>,
    at: &ServersPlace<'_>,
    within: &[&Installation<'_>],
    extents: &[Vec<Range<usize>>],
    is_cut: impl Fn(&Installation<'_>) -> bool,
    new: Vec<String>,
) -> Vec<(Range<usize>, String)> {
    let mut edits = Vec::new();
    let mut new = Some(new.concat());
    for ranges in within.iter().zip(extents).filter(|(it, _)| is_cut(it)) {
        for range in ranges.1 {
            edits.push((range.clone(), new.take().unwrap_or_default()));
        }
    }
    let Some(new) = new.filter(|new| !new.is_empty()) else {
        return edits;
    };
    // A header may stand anywhere; members of YAML stand below each other.
    let last = extents.iter().flatten().map(|range| range.end).max();
    let end = match last {
        Some(end) if !parsed.is_toml => end,
        _ if parsed.is_toml => parsed.text.len(),
        _ => {
            let span = at.servers.span;
            parsed.lines(span.start as usize, span.end as usize).end
        }
    };
    let is_whole = parsed.text[..end].ends_with('\n') || end == 0;
    let before = match (is_whole, parsed.is_toml) {
        (true, false) => "",
        (false, false) | (true, true) => "\n",
        (false, true) => "\n\n",
    };
    edits.push((end..end, format!("{before}{new}")));
    edits
}

/// Adds a place with a gateway to a document without it.
fn added_place(
    parsed: &Parsed<'_>,
    place: &[String],
    form: &ClientForm,
    gateway: &Gateway,
) -> Option<Rewriting> {
    let mut expected = kept(parsed, |_| true);
    expected.push(gateway.installed());
    let end = parsed.text.len();
    let is_whole = parsed.text.ends_with('\n') || end == 0;
    let line_break = if is_whole { "" } else { "\n" };
    if parsed.is_toml {
        let entry = toml_table(form, gateway);
        return Some((vec![(end..end, format!("{line_break}\n{entry}"))], expected));
    }
    if !parsed.is_flow(parsed.root) {
        let [key] = place else { return None };
        // Continue has a list, and Goose a mapping.
        let entry = yaml_entry(form, gateway, "  ", form.path == ["mcpServers"]);
        let known = entries(parsed.root).iter().find(|it| it.key == *key);
        let edit = match known {
            // A key without a value.
            Some(known) => {
                let span = known.key_span;
                let end = parsed.lines(span.start as usize, span.end as usize).end;
                let is_whole = parsed.text[..end].ends_with('\n');
                let line_break = if is_whole { "" } else { "\n" };
                (end..end, format!("{line_break}{entry}"))
            }
            None => (end..end, format!("{line_break}{key}:\n{entry}")),
        };
        return Some((vec![edit], expected));
    }
    // The innermost object that exists, and the keys of those that are missing.
    let (mut node, mut missing) = (parsed.root, place);
    while let Some((key, rest)) = missing.split_first()
        && let Some(inner) = entry(node, key)
    {
        (node, missing) = (&inner.value, rest);
    }
    if !matches!(node.value, Value::Mapping(_)) || missing.is_empty() {
        return None;
    }
    let members: Vec<_> = member_ranges(node).collect();
    let indentation = parsed.member_indentation(node, &members);
    let entry = json_members(missing, form, gateway, &indentation);
    let edit = added_member(parsed, node, &members, &entry);
    Some((vec![edit], expected))
}

/// Returns where the members of an object or a list stand.
fn member_ranges<'n>(node: &'n Node<'_>) -> impl Iterator<Item = Range<usize>> + 'n {
    let members = entries(node).iter();
    let members = members.map(|it| it.key_span.start..it.value.span.end);
    let items = items(node).unwrap_or_default().iter();
    let ranges = members.chain(items.map(|it| it.span.start..it.span.end));
    ranges.map(|range| range.start as usize..range.end as usize)
}

/// Returns the members of a gateway's entry, with values that JSON, YAML and TOML read.
fn fields(shape: EntryShape, gateway: &Gateway) -> Vec<(&'static str, String)> {
    let command = || json_string(&gateway.program);
    let words = |words: &mut dyn Iterator<Item = &String>| {
        let words: Vec<_> = words.map(|it| json_string(it)).collect();
        format!("[{}]", words.join(", "))
    };
    let args = || words(&mut gateway.arguments.iter());
    let kind = |kind| json_string(kind);
    match shape {
        EntryShape::Command => vec![("command", command()), ("args", args())],
        EntryShape::Typed => vec![
            ("type", kind("stdio")),
            ("command", command()),
            ("args", args()),
        ],
        EntryShape::Custom => vec![
            ("source", kind("custom")),
            ("command", command()),
            ("args", args()),
        ],
        EntryShape::Words => {
            let all = &mut [&gateway.program].into_iter().chain(&gateway.arguments);
            vec![("type", kind("local")), ("command", words(all))]
        }
        EntryShape::Nested => {
            let (command, args) = (command(), args());
            let inner =
                format!("{{ \"type\": \"stdio\", \"command\": {command}, \"args\": {args} }}");
            vec![("transport", inner)]
        }
        EntryShape::Extension => vec![
            ("type", kind("stdio")),
            ("enabled", "true".to_owned()),
            ("cmd", command()),
            ("args", args()),
        ],
    }
}

/// Returns the entry of a gateway as it stands at a place, instead of a server or behind it.
fn gateway_entry(
    parsed: &Parsed<'_>,
    at: &ServersPlace<'_>,
    beside: Option<&Installation<'_>>,
    gateway: &Gateway,
) -> String {
    let is_list = matches!(at.servers.value, Value::Sequence(_));
    let start = beside.map(|it| match (it.name, is_list) {
        (Some((_, key)), false) => key.start as usize,
        _ => it.node.span.start as usize,
    });
    if !parsed.is_flow(at.servers) {
        if parsed.is_toml {
            // Servers may be lines of one table.
            let is_line =
                |it: &Installation<'_>| parsed.text[it.node.span.start as usize..].starts_with('{');
            return match beside.filter(|it| is_line(it)) {
                Some(_) => {
                    let name = key(&gateway.name);
                    format!("{name} = {}\n", flow_value(at.form, gateway, " = ", false))
                }
                None => toml_table(at.form, gateway),
            };
        }
        let indentation = start.map_or("  ", |start| parsed.line_indentation(start));
        return yaml_entry(at.form, gateway, indentation, is_list);
    }
    let name = json_string(&gateway.name);
    let indentation = start.and_then(|start| parsed.indentation(start));
    let value = match (parsed.is_toml, indentation) {
        (true, _) => flow_value(at.form, gateway, " = ", is_list),
        (false, None) if start.is_some() => flow_value(at.form, gateway, ": ", is_list),
        (false, found) => {
            let members: Vec<_> = member_ranges(at.servers).collect();
            let own = parsed.member_indentation(at.servers, &members);
            json_value(at.form, gateway, found.unwrap_or(&own), is_list)
        }
    };
    match (is_list, parsed.is_toml) {
        (true, _) => value,
        (false, true) => format!("{name} = {value}"),
        (false, false) => format!("{name}: {value}"),
    }
}

/// Returns a key of YAML or TOML, in quotes if it needs them.
fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    match name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_bare) {
        true => name.to_owned(),
        false => json_string(name),
    }
}

/// Returns the members of an entry; in a list it has its name.
fn all_fields(form: &ClientForm, gateway: &Gateway, is_list: bool) -> Vec<(&'static str, String)> {
    let needs_name = is_list || form.shape == EntryShape::Extension;
    let name = needs_name.then(|| ("name", json_string(&gateway.name)));
    name.into_iter()
        .chain(fields(form.shape, gateway))
        .collect()
}

/// Returns the value of a gateway's entry in one line.
fn flow_value(form: &ClientForm, gateway: &Gateway, assigns: &str, is_list: bool) -> String {
    let fields = all_fields(form, gateway, is_list).into_iter();
    let is_json = assigns.starts_with(':');
    let fields = fields.map(|(key, value)| match is_json {
        true => format!("\"{key}\"{assigns}{value}"),
        false => format!("{key}{assigns}{value}"),
    });
    format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
}

/// Returns the value of a gateway's entry in several lines.
fn json_value(form: &ClientForm, gateway: &Gateway, indentation: &str, is_list: bool) -> String {
    let unit = if indentation.starts_with('\t') {
        "\t"
    } else {
        "  "
    };
    let fields = all_fields(form, gateway, is_list).into_iter();
    let fields = fields.map(|(key, value)| format!("\n{indentation}{unit}\"{key}\": {value}"));
    let fields: Vec<_> = fields.collect();
    format!("{{{}\n{indentation}}}", fields.join(","))
}

/// Returns an object in objects that are missing, with a gateway in the innermost one.
fn json_members(
    keys: &[String],
    form: &ClientForm,
    gateway: &Gateway,
    indentation: &str,
) -> String {
    let unit = if indentation.starts_with('\t') {
        "\t"
    } else {
        "  "
    };
    let Some((key, rest)) = keys.split_first() else {
        let value = json_value(form, gateway, indentation, false);
        return format!("{}: {value}", json_string(&gateway.name));
    };
    let inner = json_members(rest, form, gateway, &format!("{indentation}{unit}"));
    let key = json_string(key);
    format!("{key}: {{\n{indentation}{unit}{inner}\n{indentation}}}")
}

/// Returns the lines of a gateway's entry in YAML.
fn yaml_entry(form: &ClientForm, gateway: &Gateway, indentation: &str, is_list: bool) -> String {
    let fields = all_fields(form, gateway, is_list).into_iter();
    if !is_list {
        let lines = fields.map(|(key, value)| format!("{indentation}  {key}: {value}\n"));
        let name = key(&gateway.name);
        return format!("{indentation}{name}:\n{}", lines.collect::<String>());
    }
    let lines = fields.enumerate().map(|(number, (key, value))| {
        let mark = if number == 0 { "- " } else { "  " };
        format!("{indentation}{mark}{key}: {value}\n")
    });
    lines.collect()
}

/// Returns the table of a gateway in TOML.
fn toml_table(form: &ClientForm, gateway: &Gateway) -> String {
    let fields = all_fields(form, gateway, false).into_iter();
    let lines = fields.map(|(key, value)| format!("{key} = {value}\n"));
    let (path, name) = (form.path.join("."), key(&gateway.name));
    format!("[{path}.{name}]\n{}", lines.collect::<String>())
}
