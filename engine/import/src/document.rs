//! Detection of a document's form.

use super::described::{DescribedServer, member};
use super::{capture, client, manifest, registry};
use agent_diagnostic::{Code, Problems};
use agent_lower::fields::describe;
use agent_syntax::{Entry, Node, Value, json};
use agent_text::{Span, misspelt};

/// The help for a document of an unknown form.
const FORMS: &str = "import one of
- a registry's server.json: { \"name\": …, \"version\": …, \"packages\": […], \"remotes\": […] }
- a registry's response: { \"server\": {…} } or { \"servers\": [{ \"server\": {…} }] }
- a server's manifest: { \"name\": …, \"version\": …, \"capabilities\": { \"tools\": {…} } }
- a capture: { \"initialize\": {…}, \"tools/list\": { \"tools\": […] } }, or one by protocol version
- the configuration of a client: { \"mcpServers\": {…} } or { \"servers\": {…} }";

/// The members that identify a form.
const IDENTIFYING: [&str; 8] = [
    "packages",
    "remotes",
    "server",
    "servers",
    "tools/list",
    "initialize",
    "capabilities",
    "mcpServers",
];

/// The help for a document that is not JSON.
pub(super) const STRICT: &str = "import strict JSON: copy an editor's file, and remove comments and \
                                 trailing commas from the copy";

/// Parses a document as JSON. Reports a problem and returns `None` if that fails.
pub(super) fn parse<'t>(problems: &mut Problems<'t>) -> Option<Node<'t>> {
    let root = json::parse(problems);
    if root.is_none() {
        problems.help(Code::JsonSyntax, STRICT);
    }
    root
}

/// A form of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Server,
    Answer,
    Answers,
    Capture,
    Manifest,
    McpServers,
    Servers,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Self::Server => "a server.json",
            Self::Answer | Self::Answers => "a response of a registry",
            Self::Capture => "a capture",
            Self::Manifest => "a server's manifest",
            Self::McpServers | Self::Servers => "the configuration of a client",
        }
    }
}

/// Reads the servers of a document. Reports problems, and returns `None` if the form is unknown.
pub(super) fn read<'a>(
    root: &'a Node<'a>,
    problems: &mut Problems<'_>,
) -> Option<Vec<DescribedServer<'a>>> {
    let start = root.span.start as usize;
    let open = Span::new(start, (start + 1).min(root.span.end as usize));
    let Value::Mapping(entries) = &root.value else {
        let message = "the document is not an object";
        let label = format!("this is {}", describe(&root.value));
        problems
            .report(Code::ImportFormat, open, label, message)
            .help(FORMS);
        return None;
    };
    let found = forms(entries);
    match found[..] {
        [(form, at)] => Some(match form {
            Form::Server => registry::server(root, problems).into_iter().collect(),
            Form::Answer => registry::server(&at.value, problems).into_iter().collect(),
            Form::Answers => registry::servers(&at.value, problems),
            Form::Capture => capture::read(root, problems).into_iter().collect(),
            Form::Manifest => manifest::read(root, problems).into_iter().collect(),
            Form::McpServers | Form::Servers => client::servers(at, problems),
        }),
        [] => {
            let index = member(entries, "servers").is_some();
            let message = "the document has no form that can be imported";
            let slip = entries.iter().find_map(|entry| {
                let meant = misspelt(&entry.key, &IDENTIFYING)?;
                Some((entry.key_span, meant))
            });
            let report = match slip {
                Some((span, meant)) => problems
                    .report(Code::ImportFormat, span, "unknown member", message)
                    .help(format!("did you mean `{meant}`?")),
                None => problems.report(Code::ImportFormat, open, "unknown form", message),
            };
            let report = report.help(FORMS);
            if index {
                report.help("import a document into an index, not the index itself");
            }
            None
        }
        [(one, _), (other, at), ..] => {
            let message = format!("the document could be {} or {}", one.name(), other.name());
            let label = format!("a member of {}", other.name());
            problems
                .report(Code::ImportFormat, at.key_span, label, message)
                .also(found[0].1.key_span, format!("a member of {}", one.name()))
                .help("split the document, and import the two separately");
            None
        }
    }
}

/// Returns the forms that fit a document, each with the member that identifies it.
fn forms<'a>(entries: &'a [Entry<'a>]) -> Vec<(Form, &'a Entry<'a>)> {
    let find = |key: &str, fits: fn(&Value<'_>) -> bool| {
        member(entries, key).filter(|entry| fits(&entry.value.value))
    };
    let mapping = |value: &Value<'_>| matches!(value, Value::Mapping(_));
    let list = |value: &Value<'_>| matches!(value, Value::Sequence(_));
    let schema = |value: &Value<'_>| match value {
        Value::String(url) => url.ends_with("/server.schema.json"),
        _ => false,
    };
    let named = member(entries, "name").is_some();
    let server = find("$schema", schema).or_else(|| {
        let packages = find("packages", list).or_else(|| find("remotes", list));
        packages.filter(|_| named)
    });
    let answers = |value: &Value<'_>| match value {
        // EntryMaker of an index have an id; those of a registry have a server or a name.
        Value::Sequence(items) => items.iter().all(|item| match &item.value {
            Value::Mapping(entries) => {
                member(entries, "id").is_none()
                    && (member(entries, "server").is_some() || member(entries, "name").is_some())
            }
            _ => false,
        }),
        _ => false,
    };
    let capture = member(entries, "tools/list")
        .or_else(|| member(entries, "initialize"))
        .or_else(|| capture::newest(entries).map(|(entry, _)| entry));
    let advertises = |value: &Value<'_>| match value {
        Value::Mapping(entries) => member(entries, "tools").is_some(),
        _ => false,
    };
    let manifest = find("capabilities", advertises).filter(|_| named && server.is_none());
    let found = [
        (Form::Server, server),
        (Form::Answer, find("server", mapping)),
        (Form::Answers, find("servers", answers)),
        (Form::Capture, capture),
        (Form::Manifest, manifest),
        (Form::McpServers, find("mcpServers", mapping)),
        (Form::Servers, find("servers", mapping)),
    ];
    found
        .into_iter()
        .filter_map(|(form, at)| Some((form, at?)))
        .collect()
}
