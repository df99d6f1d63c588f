//! A client's configuration with a gateway in the place of servers, and with the servers again.
//!
//! Only the entries of these servers change: comments, order and every other byte stay. The new text is read again, and
//! refused if it says anything else.

mod cut;
mod entry;
mod parsed;

use super::client::{CLIENT_FORMS, ClientForm, Installation};
use super::installed::{InstalledServer, ServerStart, installed};
use super::notation::Document;
use super::setting::SettingPart;
use super::{DOCUMENT_LIMIT, decode};
use agent_diagnostic::{Code, Diagnostic, Problems};
use agent_lower::fields::opening;
use agent_syntax::Value;
use agent_syntax::members::{entries, entry as member};
use agent_text::DocumentKind;
use cut::{Edit, added_member, replace};
use entry::{gateway_entry, json_members, toml_table, yaml_entry};
use parsed::{Parsed, member_ranges};
use std::collections::BTreeSet;

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
    let servers: BTreeSet<_> = servers.iter().collect();
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
    let servers: BTreeSet<_> = servers.iter().collect();
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
        let now: BTreeSet<_> = within.iter().filter_map(|it| Some(it.name?.0)).collect();
        let is_known =
            |it: &&&&Installation<'_>| it.name.is_some_and(|(name, _)| now.contains(name));
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
type Rewriting = (Vec<Edit>, Vec<InstalledServer>);

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

fn apply(text: &str, mut edits: Vec<Edit>) -> String {
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
        && let Some(inner) = member(node, key)
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
