//! Detection of a document's form.

use super::client::Installation;
use super::described::{DescribedServer, member};
use super::notation::Document;
use super::{bundle, capture, card, client, listed, manifest, registry};
use agent_diagnostic::{Code, Problems};
use agent_lower::fields::{describe, opening};
use agent_syntax::{Entry, Node, Value};
use agent_text::{Span, misspelt};

/// The help for a document of an unknown form.
const FORMS: &str = "import one of
- the configuration of a client: { \"mcpServers\": {…} } or { \"servers\": {…} }
- a registry's server.json: { \"name\": …, \"version\": …, \"packages\": […], \"remotes\": […] }
- a registry's response: { \"server\": {…} } or { \"servers\": [{ \"server\": {…} }] }
- the answer to `tools/list`: { \"tools\": […] }
- a capture: { \"initialize\": {…}, \"tools/list\": { \"tools\": […] } }, or one by protocol version
- a server's manifest: { \"name\": …, \"version\": …, \"capabilities\": { \"tools\": {…} } }
- a bundle's manifest: { \"manifest_version\": …, \"name\": …, \"server\": {…} }
- a server card: { \"serverInfo\": {…}, \"transport\": {…} }";

/// The members that identify a form.
const IDENTIFYING: [&str; 12] = [
    "packages",
    "remotes",
    "server",
    "servers",
    "tools",
    "tools/list",
    "initialize",
    "capabilities",
    "mcpServers",
    "context_servers",
    "mcp_servers",
    "serverInfo",
];

/// A form of a document.
enum Form<'a> {
    Server,
    Response,
    Page(&'a Entry<'a>),
    Capture,
    Tools,
    Manifest,
    Bundle,
    Card,
    Client(Vec<Installation<'a>>),
}

impl Form<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Server => "a server.json",
            Self::Response | Self::Page(_) => "a response of a registry",
            Self::Capture => "a capture",
            Self::Tools => "an answer to `tools/list`",
            Self::Manifest => "a server's manifest",
            Self::Bundle => "a bundle's manifest",
            Self::Card => "a server card",
            Self::Client(_) => "the configuration of a client",
        }
    }
}

/// Returns the name of a document's form; `None` if it has none or several.
pub(super) fn form_name(root: &Node<'_>) -> Option<&'static str> {
    match &forms(root)[..] {
        [(form, _)] => Some(form.name()),
        _ => None,
    }
}

/// Returns whether a document is the configuration of a client and of no other form.
pub(super) fn is_client(root: &Node<'_>) -> bool {
    matches!(&forms(root)[..], [(Form::Client(_), _)])
}

/// Returns the servers in the configuration of a client; `None` for a document of another form.
pub(super) fn installations<'a>(root: &'a Node<'a>) -> Option<Vec<Installation<'a>>> {
    let mut found = forms(root);
    match (found.pop(), found.pop()) {
        (Some((Form::Client(installations), _)), None) => Some(installations),
        _ => None,
    }
}

/// Reads the servers of a document. Reports problems, and returns `None` if the form is unknown.
pub(super) fn read<'a>(
    document: &Document,
    root: &'a Node<'a>,
    problems: &mut Problems<'_>,
) -> Option<Vec<DescribedServer<'a>>> {
    let mut found = forms(root);
    if found.len() > 1 {
        let ((one, first), (other, at)) = (&found[0], &found[1]);
        let message = format!("the document could be {} or {}", one.name(), other.name());
        let label = format!("a member of {}", other.name());
        problems
            .report(Code::ImportFormat, *at, label, message)
            .also(*first, format!("a member of {}", one.name()))
            .help("split the document, and import the two separately");
        return None;
    }
    let Some((form, at)) = found.pop() else {
        report_unknown(root, problems);
        return None;
    };
    if !document.is_json() && !matches!(form, Form::Client(_)) {
        let message = format!("{} is read as JSON alone", form.name());
        problems
            .report(Code::ImportFormat, at, "not JSON", message)
            .help("write the document as JSON");
        return None;
    }
    Some(match form {
        Form::Server | Form::Response => registry::response(root, problems).into_iter().collect(),
        Form::Page(servers) => registry::page(root, &servers.value, problems),
        Form::Capture => capture::read(root, problems).into_iter().collect(),
        Form::Tools => listed::read(root, problems).into_iter().collect(),
        Form::Manifest => manifest::read(root, problems).into_iter().collect(),
        Form::Bundle => bundle::read(root, problems).into_iter().collect(),
        Form::Card => card::read(root, problems).into_iter().collect(),
        Form::Client(installations) => client::servers(installations, problems),
    })
}

fn report_unknown(root: &Node<'_>, problems: &mut Problems<'_>) {
    let Value::Mapping(entries) = &root.value else {
        let message = "the document is not an object";
        let label = format!("this is {}", describe(&root.value));
        problems
            .report(Code::ImportFormat, opening(root), label, message)
            .help(FORMS);
        return;
    };
    let message = "the document has no form that can be imported";
    let slip = entries.iter().find_map(|entry| {
        let meant = misspelt(&entry.key, &IDENTIFYING)?;
        Some((entry.key_span, meant))
    });
    let report = match slip {
        Some((span, meant)) => problems
            .report(Code::ImportFormat, span, "unknown member", message)
            .help(format!("did you mean `{meant}`?")),
        None => problems.report(Code::ImportFormat, opening(root), "unknown form", message),
    };
    let report = report.help(FORMS);
    if member(entries, "servers").is_some() {
        report.help("import a document into an index, not the index itself");
    }
}

/// Returns the forms that fit a document, each with the place of the member that identifies it.
fn forms<'a>(root: &'a Node<'a>) -> Vec<(Form<'a>, Span)> {
    let start = opening(root);
    // These have members of other forms too.
    if bundle::fits(root) {
        return vec![(Form::Bundle, start)];
    }
    let entries = match &root.value {
        Value::Mapping(entries) => &entries[..],
        _ => &[],
    };
    let find = |key: &str, fits: fn(&Value<'_>) -> bool| {
        member(entries, key).filter(|entry| fits(&entry.value.value))
    };
    let mapping = |value: &Value<'_>| matches!(value, Value::Mapping(_));
    let list = |value: &Value<'_>| matches!(value, Value::Sequence(_));
    // A server card has the form of a registry's entry.
    let schema = |value: &Value<'_>| match value {
        Value::String(url) => {
            url.ends_with("/server.schema.json") || url.ends_with("/server-card.schema.json")
        }
        _ => false,
    };
    let named = member(entries, "name").is_some();
    let server = find("$schema", schema).or_else(|| {
        let packages = find("packages", list).or_else(|| find("remotes", list));
        packages.filter(|_| named)
    });
    let has_tools = server.is_none() && listed::fits(root);
    let capture = member(entries, "tools/list")
        .or_else(|| member(entries, "initialize"))
        .or_else(|| capture::newest(entries).map(|(entry, _)| entry));
    let is_card = server.is_none() && capture.is_none() && card::fits(root);
    let advertises = |value: &Value<'_>| match value {
        Value::Mapping(entries) => member(entries, "tools").is_some(),
        _ => false,
    };
    let manifest = find("capabilities", advertises).filter(|_| named && server.is_none());
    let client = client::installations(root);
    let page = member(entries, "servers").filter(|it| registry::is_page(&it.value));
    let page = page.filter(|_| client.is_none());
    let response = find("server", mapping).filter(|_| !has_tools);
    let at = |entry: Option<&Entry<'_>>| entry.map(|it| it.key_span);
    let found = [
        at(server).map(|span| (Form::Server, span)),
        at(response).map(|span| (Form::Response, span)),
        page.map(|it| (Form::Page(it), it.key_span)),
        at(capture).map(|span| (Form::Capture, span)),
        (has_tools && !is_card).then_some((Form::Tools, start)),
        at(manifest).map(|span| (Form::Manifest, span)),
        is_card.then_some((Form::Card, start)),
        client.map(|(installations, span)| (Form::Client(installations), span)),
    ];
    let mut found: Vec<_> = found.into_iter().flatten().collect();
    if found.is_empty() {
        let snippet = client::snippet(root);
        found.extend(snippet.map(|installations| (Form::Client(installations), start)));
    }
    found
}
