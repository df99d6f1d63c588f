//! Lists of resources, of their templates and of prompts, as servers send them. Titles, icons, annotations
//! and `_meta` are dropped. One entry, whatever is wrong with it, changes nothing for the others.

use super::limits::{
    ENTRIES_MAX, ENTRIES_MAX_BYTES, ENTRY_NAME_MAX_BYTES, LIVE_LIST_MAX_BYTES, QUOTE_MAX_CHARS,
    URI_TEMPLATES_MAX, WITHHELD_ENTRIES_MAX,
};
use super::method::ListKind;
use super::uri::{UriTemplate, fault};
use agent_api::diagnostic::Code;
use agent_api::text::{TextForm, has_hidden, visible};
use agent_record::Redactor;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{boolean, items, member, number, string};
use agent_syntax::{Node, Value, json_string};
use std::collections::BTreeMap;

/// An entry that clients may get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The URI, the template of URIs or the name of the prompt.
    pub(crate) key: String,
    /// The other members that clients get, as JSON.
    members: Vec<(&'static str, String)>,
    /// The template, in a list of templates.
    pub(crate) template: Option<UriTemplate>,
}

impl Entry {
    /// Writes the entry under a key.
    pub(crate) fn write(&self, w: &mut Writer, kind: ListKind, key: &str) {
        w.object(|w| {
            for (name, json) in &self.members {
                w.key(name).json(json);
            }
            w.key(kind.key()).string(key);
        });
    }

    fn size(&self) -> usize {
        let members = self.members.iter();
        self.key.len()
            + members
                .map(|(name, json)| name.len() + json.len())
                .sum::<usize>()
    }
}

/// An entry that no client gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithheldEntry {
    /// The URI, the template or the name, with the code points of characters that can't be seen; cut, and
    /// empty if it has none.
    pub name: String,
    /// Why.
    pub code: Code,
    /// The same in a sentence.
    pub text: String,
}

/// A list of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Entries {
    pub(crate) entries: Vec<Entry>,
    /// The first ones.
    pub(crate) withheld: Vec<WithheldEntry>,
    /// The number of all that are withheld.
    pub(crate) withheld_count: u64,
}

/// The lists of a server. A state does not have them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Lists {
    lists: BTreeMap<ListKind, Entries>,
}

impl Lists {
    /// Returns a list; `None` before the server has sent it.
    pub(crate) fn get(&self, kind: ListKind) -> Option<&Entries> {
        self.lists.get(&kind)
    }

    pub(crate) fn set(&mut self, kind: ListKind, entries: Entries) {
        self.lists.insert(kind, entries);
    }
}

/// Reads a list. `servers` share the room that clients' lists have.
pub(crate) fn read(kind: ListKind, list: &[u8], servers: usize, redactor: &Redactor) -> Entries {
    let mut found = Entries::default();
    let text = (list.len() <= LIVE_LIST_MAX_BYTES)
        .then(|| core::str::from_utf8(list).ok())
        .flatten();
    let root = text.and_then(parse_strict);
    let listed = root.as_ref().and_then(|root| member(root, kind.member()));
    let (Some(text), Some(listed)) = (text, listed.and_then(items)) else {
        let text = format!("the list has no array `{}`", kind.member());
        found.withhold("", Code::OutputInvalid, text);
        return found;
    };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for item in listed {
        if let Some(key) = member(item, kind.key()).and_then(string) {
            *counts.entry(key).or_default() += 1;
        }
    }
    let servers = servers.max(1);
    let most = match kind {
        ListKind::Templates => URI_TEMPLATES_MAX / servers,
        ListKind::Resources | ListKind::Prompts => ENTRIES_MAX / servers,
    };
    let mut room = ENTRIES_MAX_BYTES / servers;
    for item in listed {
        let key = member(item, kind.key()).and_then(string);
        let name = key.unwrap_or_default();
        if counts.get(name).is_some_and(|count| *count > 1) {
            let text = "its server lists it more than once";
            found.withhold(name, Code::OutputInvalid, text);
            continue;
        }
        if redactor.is_in(item.span.of(text)) {
            let text = "it holds the value of a secret of the host";
            found.withhold("", Code::OutputInvalid, text);
            continue;
        }
        match entry(kind, item) {
            Err((code, text)) => found.withhold(name, code, text),
            Ok(entry) if found.entries.len() >= most || entry.size() > room => {
                let text = "the list has more than this server's share of the entries of clients";
                found.withhold(&entry.key, Code::SessionLimit, text);
            }
            Ok(entry) => {
                room -= entry.size();
                found.entries.push(entry);
            }
        }
    }
    found
}

impl Entries {
    fn withhold(&mut self, name: &str, code: Code, text: impl Into<String>) {
        self.withheld_count += 1;
        if self.withheld.len() >= WITHHELD_ENTRIES_MAX {
            return;
        }
        let name = visible(name).chars().take(QUOTE_MAX_CHARS).collect();
        let text = text.into();
        self.withheld.push(WithheldEntry { name, code, text });
    }
}

type Wrong = (Code, String);

/// Reads an entry.
///
/// # Errors
/// Why no client gets it.
fn entry(kind: ListKind, node: &Node<'_>) -> Result<Entry, Wrong> {
    let key = required(node, kind.key())?;
    let mut members = Vec::new();
    if kind == ListKind::Prompts
        && let Some(arguments) = member(node, "arguments")
    {
        members.push(("arguments", prompt_arguments(arguments)?));
    }
    if let Some(description) = text(node, "description")? {
        members.push(("description", json_string(description)));
    }
    let mut template = None;
    match kind {
        ListKind::Prompts => short(key, "name")?,
        ListKind::Resources | ListKind::Templates => {
            if let Some(of_content) = text(node, "mimeType")? {
                members.push(("mimeType", json_string(of_content)));
            }
            let name = required(node, "name")?;
            short(name, "name")?;
            members.push(("name", json_string(name)));
        }
    }
    match kind {
        ListKind::Prompts => {}
        ListKind::Resources => {
            if let Some(size) = member(node, "size").and_then(number) {
                members.push(("size", size.to_string()));
            }
            if let Some(fault) = fault(key) {
                return Err(invalid(format!("its `uri` {fault}")));
            }
        }
        ListKind::Templates => match UriTemplate::read(key) {
            Ok(read) => template = Some(read),
            Err(fault) => return Err(invalid(format!("its `uriTemplate` {fault}"))),
        },
    }
    Ok(Entry {
        key: key.to_owned(),
        members,
        template,
    })
}

/// Reads the arguments of a prompt.
fn prompt_arguments(node: &Node<'_>) -> Result<String, Wrong> {
    let arguments = items(node).ok_or_else(|| invalid("its `arguments` is not a list"))?;
    let mut w = Writer::dense();
    w.open('[');
    for argument in arguments {
        let name = required(argument, "name")?;
        let description = text(argument, "description")?;
        w.object(|w| {
            if let Some(description) = description {
                w.key("description").string(description);
            }
            w.key("name").string(name);
            if let Some(is_required) = member(argument, "required").and_then(boolean) {
                w.key("required").bool(is_required);
            }
        });
    }
    w.close(']');
    let mut json = w.finish();
    json.pop();
    Ok(json)
}

fn invalid(text: impl Into<String>) -> Wrong {
    (Code::OutputInvalid, text.into())
}

fn required<'n>(node: &'n Node<'_>, name: &'static str) -> Result<&'n str, Wrong> {
    let found = text(node, name)?;
    found.ok_or_else(|| invalid(format!("it has no `{name}`")))
}

/// Returns a member that is a string, without characters that people do not see.
fn text<'n>(node: &'n Node<'_>, name: &'static str) -> Result<Option<&'n str>, Wrong> {
    let Some(found) = member(node, name) else {
        return Ok(None);
    };
    match &found.value {
        Value::Null => Ok(None),
        Value::String(text) if has_hidden(text, TextForm::Prose) => {
            let text = format!("its `{name}` has a character that readers can't see");
            Err((Code::InvisibleCharacter, text))
        }
        Value::String(text) => Ok(Some(text)),
        _ => Err(invalid(format!("its `{name}` is not a string"))),
    }
}

fn short(name: &str, member: &str) -> Result<(), Wrong> {
    let fault = match name {
        "" => "is empty",
        _ if name.len() > ENTRY_NAME_MAX_BYTES => "is too long",
        _ if name.contains(char::is_control) => "has a control character",
        _ => return Ok(()),
    };
    Err(invalid(format!("its `{member}` {fault}")))
}
