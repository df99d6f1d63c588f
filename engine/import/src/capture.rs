//! A captured exchange of `initialize` and `tools/list`.

use super::described::{DescribedServer, FieldValue, Tool, Tools, member};
use super::endpoint::check_url;
use super::left_out::{Defect, definition_defect, name_defect};
use super::manifest;
use super::output::Base;
use super::overlay::CAPABILITIES;
use super::registry::version;
use agent_diagnostic::{Code, Problems};
use agent_lower::fields::{Object, list, opening, text};
use agent_syntax::{Entry, Node, Value};
use agent_text::Span;
use std::borrow::Cow;

/// The fields of a tool that the index keeps.
pub(super) const FIELDS: [&str; 7] = [
    "annotations",
    "description",
    "execution",
    ICONS,
    "inputSchema",
    "outputSchema",
    "title",
];

/// The field of which the index keeps the icons that a gateway may serve.
pub(super) const ICONS: &str = "icons";

/// Returns the newest protocol version that lists tools: its member, and the messages in it.
pub(super) fn newest<'a>(entries: &'a [Entry<'a>]) -> Option<(&'a Entry<'a>, &'a [Entry<'a>])> {
    let versions = entries.iter().filter_map(|entry| match &entry.value.value {
        Value::Mapping(inner) if is_date(&entry.key) => {
            member(inner, "tools/list").map(|_| (entry, &**inner))
        }
        _ => None,
    });
    versions.max_by(|a, b| a.0.key.cmp(&b.0.key))
}

/// Returns whether a key is a protocol version, such as `2025-11-25`.
fn is_date(key: &str) -> bool {
    key.len() == 10
        && key.bytes().enumerate().all(|(i, b)| match i {
            4 | 7 => b == b'-',
            _ => b.is_ascii_digit(),
        })
}

/// Returns the result of a message, with or without its JSON-RPC envelope.
pub(super) fn result<'a>(message: &'a Node<'a>) -> &'a Node<'a> {
    match &message.value {
        Value::Mapping(entries) => member(entries, "result").map_or(message, |it| &it.value),
        _ => message,
    }
}

/// Reads the server of a capture. Returns `None` if it has no name.
pub(super) fn read<'a>(
    root: &'a Node<'a>,
    problems: &mut Problems<'_>,
) -> Option<DescribedServer<'a>> {
    let Value::Mapping(entries) = &root.value else {
        return None;
    };
    let plain = member(entries, "tools/list").is_some() || member(entries, "initialize").is_some();
    let messages = match newest(entries) {
        Some((_, messages)) if !plain => messages,
        Some((version, _)) => {
            let message = "the capture has messages both by protocol version and without one";
            let label = "by protocol version";
            problems
                .report(Code::ImportFormat, version.key_span, label, message)
                .help("remove one of the two");
            return None;
        }
        None => entries,
    };
    let handshake = member(messages, "initialize").or_else(|| member(messages, "discover"));
    let handshake = handshake.map(|message| result(&message.value));
    let info = handshake.and_then(server_info);

    // The installed package comes before the server's own name.
    let package = member(entries, "package");
    let named = info.and_then(|info| at(&info.value, &["name"]));
    let mut names = Vec::new();
    for (entry, path) in [(package, "package"), (named, "serverInfo.name")] {
        let Some(entry) = entry else { continue };
        names.push((text(&entry.value, path, problems)?, entry.value.span));
    }
    if names.is_empty() {
        let label = "`serverInfo.name` is missing here";
        let message = "the capture does not name its server";
        let help = "add the response to `initialize`, or the name of the package:\n\
                    \"package\": \"reports\"";
        problems
            .report(Code::MissingField, opening(root), label, message)
            .help(help);
        return None;
    }
    let version_at = match package {
        Some(_) => member(entries, "version"),
        None => info.and_then(|info| at(&info.value, &["version"])),
    };
    let version = version(version_at, problems);
    let advertised = handshake
        .and_then(|node| at(node, &["capabilities", "tools"]))
        .and_then(|entry| manifest::tools(entry, problems));
    let tools = match member(messages, "tools/list") {
        None => advertised.filter(|advertised| !advertised.tools.is_empty()),
        Some(entry) => tools(&entry.value, entry.key_span, problems).map(|mut listed| {
            let mut advertised = advertised.unwrap_or_default();
            for (name, tool) in &mut listed.tools {
                let claims = advertised.tools.remove(name).map(|it| it.claims);
                tool.claims.extend(claims.into_iter().flatten());
            }
            // A claim that can't be read may be one that a human must approve every call.
            listed.left_out.extend(&advertised.left_out);
            listed.tools.retain(|name, _| !listed.left_out.has(name));
            listed.list_changed = advertised.list_changed;
            listed
        }),
    };
    Some(DescribedServer {
        document: problems.text().number(),
        at: names[0].1,
        names,
        version,
        endpoint: endpoint(member(entries, "endpoint"), problems),
        tools,
    })
}

/// Returns the members of a capture in the result of `initialize`, or of `server/discover`.
pub(super) fn server_info<'a>(handshake: &'a Node<'a>) -> Option<&'a Entry<'a>> {
    at(handshake, &["serverInfo"])
        .or_else(|| at(handshake, &["_meta", "io.modelcontextprotocol/serverInfo"]))
}

/// Reads the endpoint at which the server was captured: a URL without a secret, or a package URL.
pub(super) fn endpoint<'a>(
    entry: Option<&'a Entry<'a>>,
    problems: &mut Problems<'_>,
) -> FieldValue<'a> {
    let Some(entry) = entry else {
        return FieldValue::Absent;
    };
    match text(&entry.value, "endpoint", problems) {
        None => FieldValue::Invalid,
        Some(value) => {
            let is_package = value.starts_with("pkg:");
            let checked = if is_package { Ok(()) } else { check_url(value) };
            let checked = checked.map(|()| Cow::Borrowed(value));
            FieldValue::of(checked, "the endpoint of the capture", entry.value.span)
        }
    }
}

/// Returns the member at a path.
pub(super) fn at<'a>(node: &'a Node<'a>, path: &[&str]) -> Option<&'a Entry<'a>> {
    let (first, rest) = path.split_first()?;
    let Value::Mapping(entries) = &node.value else {
        return None;
    };
    let entry = member(entries, first)?;
    if rest.is_empty() {
        Some(entry)
    } else {
        at(&entry.value, rest)
    }
}

/// Reads the tools of a response to `tools/list`.
pub(super) fn tools<'a>(
    message: &'a Node<'a>,
    at: Span,
    problems: &mut Problems<'_>,
) -> Option<Tools<'a>> {
    let answer = Object::of(result(message), "tools/list", at, problems)?;
    if let Some(error) = answer.optional("error") {
        let message = "the server answered `tools/list` with an error";
        problems
            .report(Code::ImportFormat, error.key_span, "an error", message)
            .help("capture a response that contains tools");
        return None;
    }
    if let Some(cursor) = answer.optional("nextCursor").filter(|it| has_more(it)) {
        let message = "the capture contains only the first page of tools";
        let label = "more pages exist";
        problems
            .report(Code::ImportFormat, cursor.key_span, label, message)
            .help("collect the tools of all pages in one list, and remove the cursor");
    }
    let tools = answer.required("tools", "add the list of tools:\n\"tools\": []", problems)?;
    let items = list(&tools.value, "tools/list.tools", problems)?;
    Some(listed(items, problems))
}

/// Returns whether a cursor says that more pages exist. An empty one is the end.
pub(super) fn has_more(cursor: &Entry<'_>) -> bool {
    match &cursor.value.value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        _ => true,
    }
}

/// Reads the tools of a whole list.
pub(super) fn listed<'a>(items: &'a [Node<'a>], problems: &Problems<'_>) -> Tools<'a> {
    let base = Base::of_document(problems.text().number());
    let mut found = Tools {
        complete: true,
        ..Tools::default()
    };
    for (number, item) in items.iter().enumerate() {
        match tool(item) {
            Ok((name, tool)) => {
                let span = tool.name;
                if found.tools.insert(name, tool).is_some() {
                    found.left_out.add(name, Defect::repeated(span), base);
                }
            }
            Err((name, defect)) => {
                let place = || format!("tools/list.tools[{number}]");
                let name = name.map_or_else(place, str::to_owned);
                found.left_out.add(&name, defect, base);
            }
        }
    }
    // No client can tell which of two tools of one name it calls.
    found.tools.retain(|name, _| !found.left_out.has(name));
    found
}

/// Reads a tool of a response to `tools/list`. Fails with its name, if it has one, and its defect.
fn tool<'a>(item: &'a Node<'a>) -> Result<(&'a str, Tool<'a>), (Option<&'a str>, Defect)> {
    let Value::Mapping(entries) = &item.value else {
        return Err((None, Defect::not_an_object(item)));
    };
    let Some(entry) = member(entries, "name") else {
        return Err((None, Defect::no_name(opening(item))));
    };
    let Value::String(name) = &entry.value.value else {
        return Err((None, Defect::name_type(&entry.value)));
    };
    let span = entry.value.span;
    let defect = name_defect(name, span);
    let defect = defect.or_else(|| definition_defect(entries, true, opening(item)));
    if let Some(defect) = defect {
        return Err((Some(name), defect));
    }
    let mut read = Tool::of(entries, item, span);
    let meta = member(entries, "_meta").map(|meta| &meta.value);
    let meta = meta.and_then(|meta| at(meta, &[CAPABILITIES]));
    read.claims.extend(meta);
    Ok((name, read))
}

impl<'a> Tool<'a> {
    /// Returns the tool of a definition.
    pub(super) fn of(entries: &'a [Entry<'a>], node: &'a Node<'a>, name: Span) -> Self {
        Self {
            name,
            node,
            fields: FIELDS
                .iter()
                .filter_map(|key| member(entries, key))
                .collect(),
            claims: member(entries, CAPABILITIES).into_iter().collect(),
        }
    }
}
