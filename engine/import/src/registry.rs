//! `server.json` of an MCP registry, in the schemas 2025-12-11 and 2025-07-09.

use super::described::{Described, FieldValue, Unusable};
use super::document::member;
use super::endpoint::{Package, Refusal, check_url, is_placeholder};
use agent_diagnostic::Problems;
use agent_lower::fields::{Object, list, text};
use agent_syntax::{Node, Value};
use agent_text::Span;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Reads the servers of a registry's response.
pub(super) fn servers<'a>(node: &'a Node<'a>, problems: &mut Problems<'_>) -> Vec<Described<'a>> {
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
pub(super) fn server<'a>(node: &'a Node<'a>, problems: &mut Problems<'_>) -> Option<Described<'a>> {
    let start = node.span.start as usize;
    let open = Span::new(start, start + 1);
    let server = Object::of(node, "the server", open, problems)?.rename("");
    let name = server.required(
        "name",
        "add the name of the server:\n\"name\": \"com.example/reports\"",
        problems,
    )?;
    let name = (text(&name.value, "name", problems)?, name.value.span);
    let version = match server.optional("version") {
        None => FieldValue::Absent,
        Some(entry) => match text(&entry.value, "version", problems) {
            None => FieldValue::Invalid,
            Some(version) => version_value(version, entry.value.span),
        },
    };
    let endpoint = endpoint(&server, problems);
    Some(Described {
        names: vec![name],
        version,
        endpoint,
        tools: None,
    })
}

/// Reads a version, which must not be a placeholder.
pub(super) fn version_value(version: &str, span: Span) -> FieldValue<'_> {
    if is_placeholder(version) {
        FieldValue::Unusable(Unusable {
            span,
            label: Refusal::Placeholder.label().to_owned(),
            message: Refusal::Placeholder.message("the version"),
            choices: Vec::new(),
        })
    } else {
        FieldValue::Value(Cow::Borrowed(version), span)
    }
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
        for (i, item) in items.iter().enumerate() {
            let start = item.span.start as usize;
            let open = Span::new(start, start + 1);
            let object = Object::of(item, format!("{key}[{i}]"), open, problems);
            match object.and_then(|object| read(&object, problems)) {
                Some(candidate) => candidates.push(candidate),
                None => refused = true,
            }
        }
    }
    if refused {
        return FieldValue::Invalid;
    }
    // Equal candidates, such as one URL for two transports, count once.
    let mut seen = BTreeSet::new();
    let mut several = candidates;
    several.retain(|(_, _, value)| match value {
        Ok(value) => seen.insert(value.clone()),
        Err(_) => true,
    });
    match several.len() {
        0 => FieldValue::Absent,
        1 => match several.remove(0) {
            (span, _, Ok(value)) => FieldValue::Value(value, span),
            (span, what, Err(refusal)) => FieldValue::Unusable(Unusable {
                span,
                label: refusal.label().to_owned(),
                message: refusal.message(what),
                choices: Vec::new(),
            }),
        },
        number => FieldValue::Unusable(Unusable {
            span: several[0].0,
            label: "the first endpoint".to_owned(),
            message: format!("the server has {number} possible endpoints: choose one"),
            choices: several
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
    let entry = remote.required(
        "url",
        "add the URL of the remote:\n\"url\": \"https://mcp.example/reports\"",
        problems,
    )?;
    let url = text(&entry.value, &remote.path("url"), problems)?;
    let checked = check_url(url).map(|()| Cow::Borrowed(url));
    Some((entry.value.span, "the URL of the remote", checked))
}

/// Reads a package. Its endpoint does not depend on its transport.
fn package<'a>(package: &Object<'a, 'a>, problems: &mut Problems<'_>) -> Option<Candidate<'a>> {
    let mut field = |camel: &str, snake: &str| {
        let key = if package.optional(camel).is_some() {
            camel
        } else {
            snake
        };
        match package.optional(key) {
            None => Some(None),
            Some(entry) => text(&entry.value, &package.path(key), problems)
                .map(|text| Some((text, entry.value.span))),
        }
    };
    let registry = field("registryType", "registry_type")?;
    let identifier = field("identifier", "identifier")?;
    let version = field("version", "version")?;
    let base_url = field("registryBaseUrl", "registry_base_url")?;
    let sha256 = field("fileSha256", "file_sha256")?;
    let text = |field: Option<(&'a str, Span)>| field.map(|(text, _)| text);
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
    Some((span, "the package", purl.map(Cow::Owned)))
}
