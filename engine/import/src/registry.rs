//! `server.json` of an MCP registry, in the schemas 2025-12-11 and 2025-07-09.

use super::described::{DescribedServer, FieldValue, Unusable, member};
use super::endpoint::{Package, Refusal, check_url, is_placeholder};
use agent_diagnostic::Problems;
use agent_lower::fields::{Object, each, list, opening, text};
use agent_syntax::{Entry, Node, Value};
use agent_text::Span;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Reads the servers of a registry's response.
pub(super) fn servers<'a>(
    node: &'a Node<'a>,
    problems: &mut Problems<'_>,
) -> Vec<DescribedServer<'a>> {
    let Value::Sequence(items) = &node.value else {
        return Vec::new();
    };
    let servers = items.iter().map(|item| match &item.value {
        Value::Mapping(entries) => member(entries, "server").map_or(item, |entry| &entry.value),
        _ => item,
    });
    servers.filter_map(|node| server(node, problems)).collect()
}

/// Reads one server. Returns `None` if it has no name.
pub(super) fn server<'a>(
    node: &'a Node<'a>,
    problems: &mut Problems<'_>,
) -> Option<DescribedServer<'a>> {
    let server = Object::of(node, "the server", opening(node), problems)?.rename("");
    let help = "add the name of the server:\n\"name\": \"com.example/reports\"";
    let name = server.read("name", help, problems, spanned_text)?;
    Some(DescribedServer {
        document: problems.text().number(),
        names: vec![name],
        version: version(server.optional("version"), problems),
        endpoint: endpoint(&server, problems),
        captured: false,
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
