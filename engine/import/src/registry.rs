//! `server.json` of an MCP registry, of every schema since 2025-07-09: in camel case, and in snake case before.

use super::capture::{at, has_more};
use super::described::{DescribedServer, FieldValue, Unusable, member};
use super::endpoint::{Package, Refusal, check_url, is_placeholder};
use agent_diagnostic::{Code, Problems};
use agent_lower::fields::{Object, each, list, opening, text};
use agent_syntax::members::{items, string};
use agent_syntax::{Entry, Node, Value};
use agent_text::{Span, visible_text};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The member in which the registry has what it says of a server.
const OFFICIAL: &str = "io.modelcontextprotocol.registry/official";

/// Returns whether a list is one of a registry. The entries of an index have an id.
pub(super) fn is_page(list: &Node<'_>) -> bool {
    let Value::Sequence(items) = &list.value else {
        return false;
    };
    items.iter().all(|item| match &item.value {
        Value::Mapping(entries) => {
            member(entries, "id").is_none()
                && (member(entries, "server").is_some() || member(entries, "name").is_some())
        }
        _ => false,
    })
}

/// Reads the servers of a registry's page.
pub(super) fn page<'a>(
    root: &'a Node<'a>,
    servers: &'a Node<'a>,
    problems: &mut Problems<'_>,
) -> Vec<DescribedServer<'a>> {
    let cursor = ["nextCursor", "next_cursor"].into_iter();
    let mut cursor = cursor.filter_map(|key| at(root, &["metadata", key]));
    if let Some(cursor) = cursor.find(|it| has_more(it)) {
        let message = "the document is one page of a registry's servers";
        problems
            .report(
                Code::ImportIncomplete,
                cursor.key_span,
                "more pages exist",
                message,
            )
            .help("import the other pages too");
    }
    let items = items(servers).unwrap_or_default();
    items
        .iter()
        .filter_map(|item| response(item, problems))
        .collect()
}

/// Reads a server with what the registry says of it.
pub(super) fn response<'a>(
    response: &'a Node<'a>,
    problems: &mut Problems<'_>,
) -> Option<DescribedServer<'a>> {
    let node = at(response, &["server"]).map_or(response, |it| &it.value);
    let read = server(node, problems)?;
    let of_registry = |key: &str| {
        let official = at(response, &["_meta", OFFICIAL, key]);
        official
            .or_else(|| at(node, &["_meta", OFFICIAL, key]))
            .or_else(|| at(node, &[key]))
    };
    let says = |key: &str| of_registry(key).and_then(|it| string(&it.value));
    let name = shown(&read);
    let reason = says("statusMessage").map(|text| format!(": {}", visible_text(cut(text))));
    let reason = reason.unwrap_or_default();
    let status = of_registry("status").map(|it| (it.value.span, string(&it.value)));
    match status {
        Some((span, Some("deleted"))) => {
            let message = format!("the registry has deleted the server {name}{reason}");
            problems
                .report(Code::ServerDeleted, span, "deleted", message)
                .help("remove the server from the document, and do not use it");
            return None;
        }
        Some((span, Some("deprecated"))) => {
            let message = format!("the registry calls the server {name} deprecated{reason}");
            problems
                .report(Code::ServerDeprecated, span, "deprecated", message)
                .help("import the server that replaces it");
        }
        _ => {}
    }
    let latest = of_registry("isLatest").or_else(|| of_registry("is_latest"));
    if let Some(latest) = latest.filter(|it| it.value.value == Value::Bool(false)) {
        let message = format!("the registry has a newer version of the server {name}");
        problems
            .report(
                Code::ServerDeprecated,
                latest.value.span,
                "not the latest",
                message,
            )
            .help("import the latest version");
    }
    Some(read)
}

/// Returns the name and the version of a server for a message.
fn shown(server: &DescribedServer<'_>) -> String {
    match &server.version {
        FieldValue::Value(version, _) => format!("`{}@{version}`", server.name()),
        _ => format!("`{}`", server.name()),
    }
}

/// Maximum length of a registry's reason in a message, in characters.
const REASON_LIMIT: usize = 200;

fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(REASON_LIMIT);
    end.map_or(text, |(at, _)| &text[..at])
}

/// Reads one server. Returns `None` if it has no name.
fn server<'a>(node: &'a Node<'a>, problems: &mut Problems<'_>) -> Option<DescribedServer<'a>> {
    let server = Object::of(node, "the server", opening(node), problems)?.rename("");
    let help = "add the name of the server:\n\"name\": \"com.example/reports\"";
    let name = server.read("name", help, problems, spanned_text)?;
    Some(DescribedServer {
        document: problems.text().number(),
        names: vec![name],
        at: name.1,
        version: version(server.optional("version"), problems),
        endpoint: endpoint(&server, problems),
        tools: None,
    })
}

/// Takes a node as a string with its place.
pub(super) fn spanned_text<'n>(
    node: &'n Node<'_>,
    path: &str,
    problems: &mut Problems<'_>,
) -> Option<(&'n str, Span)> {
    Some((text(node, path, problems)?, node.span))
}

/// Reads a version, which must not be a placeholder.
pub(super) fn version<'a>(
    entry: Option<&'a Entry<'a>>,
    problems: &mut Problems<'_>,
) -> FieldValue<'a> {
    let Some(Entry { value, .. }) = entry else {
        return FieldValue::Absent;
    };
    let Some(version) = text(value, "version", problems) else {
        return FieldValue::Invalid;
    };
    let checked = match is_placeholder(version) {
        true => Err(Refusal::Placeholder),
        false => Ok(Cow::Borrowed(version)),
    };
    FieldValue::of(checked, "the version", value.span)
}

/// A possible endpoint of a server.
type Candidate<'a> = (Span, &'static str, Result<Cow<'a, str>, Refusal>);

/// Reads the endpoint: the only remote, or the only package.
fn endpoint<'a>(server: &Object<'a, 'a>, problems: &mut Problems<'_>) -> FieldValue<'a> {
    let mut candidates: Vec<Candidate<'a>> = Vec::new();
    let mut refused = false;
    for (key, read) in [
        (
            "remotes",
            remote as fn(&Object<'a, 'a>, &mut Problems<'_>) -> Option<Candidate<'a>>,
        ),
        ("packages", package),
    ] {
        let Some(entry) = server.optional(key) else {
            continue;
        };
        let Some(items) = list(&entry.value, key, problems) else {
            refused = true;
            continue;
        };
        let found = each(items, key, problems, |item, path, problems| {
            read(&Object::of(item, path, opening(item), problems)?, problems)
        });
        refused |= found.is_none();
        candidates.extend(found.unwrap_or_default());
    }
    if refused {
        return FieldValue::Invalid;
    }
    // Equal candidates, such as one URL for two transports, count once.
    let mut seen = BTreeSet::new();
    candidates.retain(|(_, _, value)| match value {
        Ok(value) => seen.insert(value.clone()),
        Err(_) => true,
    });
    match candidates.len() {
        0 => FieldValue::Absent,
        1 => {
            let (span, what, value) = candidates.remove(0);
            FieldValue::of(value, what, span)
        }
        number => FieldValue::Unusable(Unusable {
            span: candidates[0].0,
            label: "the first endpoint".to_owned(),
            message: format!("the server has {number} possible endpoints: choose one"),
            choices: candidates
                .into_iter()
                .filter_map(|(_, _, value)| value.ok())
                .take(CHOICES)
                .map(Cow::into_owned)
                .collect(),
        }),
    }
}

/// Maximum number of endpoints to choose from in a message.
const CHOICES: usize = 8;

fn remote<'a>(remote: &Object<'a, 'a>, problems: &mut Problems<'_>) -> Option<Candidate<'a>> {
    let help = "add the URL of the remote:\n\"url\": \"https://mcp.example/reports\"";
    let (url, span) = remote.read("url", help, problems, spanned_text)?;
    let checked = check_url(url).map(|()| Cow::Borrowed(url));
    Some((span, "the URL of the remote", checked))
}

/// Reads a package. Its endpoint does not depend on its transport.
fn package<'a>(package: &Object<'a, 'a>, problems: &mut Problems<'_>) -> Option<Candidate<'a>> {
    let mut field = |camel: &str, snake: &str| {
        let key = if package.optional(camel).is_some() {
            camel
        } else {
            snake
        };
        package.read_or(key, None, problems, |node, path, problems| {
            spanned_text(node, path, problems).map(Some)
        })
    };
    let registry = field("registryType", "registry_type")?;
    let identifier = field("identifier", "identifier")?;
    let version = field("version", "version")?;
    let base_url = field("registryBaseUrl", "registry_base_url")?;
    let sha256 = field("fileSha256", "file_sha256")?;
    let text = |field: Option<(&'a str, Span)>| field.map(|(text, _)| text);
    let written = version.map(|(_, span)| span);
    let (Some((registry, _)), Some((identifier, span))) = (registry, identifier) else {
        let key = if registry.is_none() {
            "registryType"
        } else {
            "identifier"
        };
        package.missing(key, "add the registry and the identifier of the package:\n\"registryType\": \"npm\",\n\"identifier\": \"@acme/reports\"", problems);
        return None;
    };
    let purl = Package {
        registry,
        identifier,
        version: text(version),
        base_url: text(base_url),
        sha256: text(sha256),
    }
    .purl();
    let span = match (&purl, written) {
        (Err(Refusal::NoVersion), Some(version)) => version,
        _ => span,
    };
    Some((span, "the package", purl.map(Cow::Owned)))
}
