//! The configuration of an MCP client: `mcpServers`, or `servers` of an editor.
//!
//! Only URLs are read, because environments, headers and arguments may contain secrets.

use super::described::{DescribedServer, FieldValue, Unusable};
use super::endpoint::check_url;
use agent_diagnostic::Problems;
use agent_lower::fields::{Object, text};
use agent_syntax::{Entry, Value};
use std::borrow::Cow;

/// Reads the servers of a configuration.
pub(super) fn servers<'a>(
    servers: &'a Entry<'a>,
    problems: &mut Problems<'_>,
) -> Vec<DescribedServer<'a>> {
    let Value::Mapping(entries) = &servers.value.value else {
        return Vec::new();
    };
    entries
        .iter()
        .filter_map(|entry| server(&servers.key, entry, problems))
        .collect()
}

fn server<'a>(
    parent: &str,
    entry: &'a Entry<'a>,
    problems: &mut Problems<'_>,
) -> Option<DescribedServer<'a>> {
    let path = format!("{parent}.{}", entry.key);
    let server = Object::of(&entry.value, path, entry.key_span, problems)?;
    let endpoint = match (server.optional("url"), server.optional("command")) {
        (None, None) => FieldValue::Absent,
        (None, Some(command)) => FieldValue::Unusable(Unusable {
            span: command.key_span,
            label: "started by a command".to_owned(),
            message: "the server has a command instead of an endpoint: name the package that the \
                      command runs"
                .to_owned(),
            choices: vec!["pkg:npm/<package>@<version>".to_owned()],
        }),
        (Some(url), Some(_)) => FieldValue::Unusable(Unusable {
            span: url.key_span,
            label: "beside a command".to_owned(),
            message: "the server has both a URL and a command: choose one".to_owned(),
            choices: Vec::new(),
        }),
        (Some(url), None) => match text(&url.value, &server.path("url"), problems) {
            None => FieldValue::Invalid,
            Some(value) => {
                let checked = check_url(value).map(|()| Cow::Borrowed(value));
                FieldValue::of(checked, "the URL of the server", url.value.span)
            }
        },
    };
    Some(DescribedServer {
        document: problems.text().number(),
        names: vec![(&entry.key, entry.key_span)],
        version: FieldValue::Absent,
        endpoint,
        captured: false,
        tools: None,
    })
}
