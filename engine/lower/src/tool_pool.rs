//! Tool pools: the bindings of tools, with every schema and pattern compiled \[3\].

use super::document::{
    Validated, digest_of, items, member, report_duplicate, spanned, string, validate, whole_number,
};
use super::read::POOL_LIMIT;
use agent_diagnostic::{Code, Findings};
use agent_json_schema::{
    Budget, Library, NamedText, Refused, SchemaError, SchemaErrorKind, SchemaSet, TextPattern,
    token,
};
use agent_model::{
    ArgumentPattern, Binding, BindingHeader, Driver, Limits, Origin, Program, ToolPool,
    without_user_info,
};
use agent_syntax::{Node, Value, json_string};
use agent_text::sort::sort_by;
use agent_text::{DocumentKind, Span, Spanned, hidden_difference, visible};
use core::net::IpAddr;
use std::collections::BTreeMap;

/// The rule about references to schemas.
const NAMED: &str = "a binding names one of the pool's `schemas`, or one that the project has";

/// Maximum number of reported errors of one schema.
const SCHEMA_ERRORS: usize = 20;

/// Reads a tool pool. Checks it against the project's schema over MOVA's core in a library, and
/// over the project's own core, because another core may require less than this function reads.
pub fn tool_pool(bytes: Vec<u8>, library: &Library) -> Validated<ToolPool> {
    validate(
        (DocumentKind::ToolPool, bytes, POOL_LIMIT),
        ("ds.mova_agent_tool_pool_v1", &[library, Library::own()]),
        |root, findings| read(root, library, findings),
    )
}

fn read(root: &Node<'_>, library: &Library, findings: &mut Findings<'_>) -> Option<ToolPool> {
    if !findings.are_corrected() {
        return None;
    }
    let connectors = connectors(root, findings);
    let nodes = items(root, "bindings");
    let schemas = Schemas::read(root, nodes, library, findings);
    let mut budget = Budget::new();
    let mut known: BTreeMap<(String, String), Span> = BTreeMap::new();
    let mut bindings = Vec::new();
    for (number, node) in nodes.iter().enumerate() {
        let at = format!("/bindings/{number}");
        let mut connector = spanned(node, "connector_id")?;
        let tool = spanned(node, "tool_id")?;
        if !connectors.contains_key(&connector.value) {
            const RULE: &str = "a binding names one of the pool's `connectors`";
            let pointer = format!("{at}/connector_id");
            let message = format!("the pool has no connector `{}`", visible(&connector.value));
            let names = || connectors.keys().map(String::as_str);
            connector.value = known_name(
                connector.clone(),
                names,
                (RULE, &pointer, message),
                findings,
            );
        }
        let name = (connector.value.clone(), tool.value.clone());
        if let Some(first) = known.get(&name) {
            let what = format!("the binding of `{}/{}`", name.0, name.1);
            let pointer = format!("{at}/tool_id");
            let rule = "each binding has its own connector and tool";
            report_duplicate((tool.span, &pointer), *first, &what, rule, findings);
        } else {
            known.insert(name, tool.span);
        }
        bindings.push(Binding {
            number,
            connector: connector.value,
            tool: tool.value,
            driver: driver(node, &at, &mut budget, findings)?,
            handler: spanned(node, "handler").map(|it| it.value),
            destinations: destinations(node, &at, findings).into(),
            limits: limits(member(node, "limits")?)?,
            input: schemas
                .of_binding
                .get(&(number, SchemaRole::Input))
                .copied(),
            output: schemas
                .of_binding
                .get(&(number, SchemaRole::Output))
                .copied(),
        });
    }
    sort_by(&mut bindings, |a, b| {
        (&a.connector, &a.tool).cmp(&(&b.connector, &b.tool))
    });
    Some(ToolPool {
        id: spanned(root, "pool_id")?.value,
        version: spanned(root, "pool_version")?.value,
        digest: digest_of(root),
        connectors: connectors.into_keys().collect(),
        bindings,
        schemas: schemas.set,
        named: schemas.named.into_iter().collect(),
    })
}

/// Reports a name of nothing, and returns the only known one that it is a slip of, or the name itself.
fn known_name<'k, I: Iterator<Item = &'k str>>(
    name: Spanned<String>,
    known: impl Fn() -> I,
    (rule, pointer, message): (&str, &str, String),
    findings: &mut Findings<'_>,
) -> String {
    const LABEL: &str = "names nothing";
    let at = (name.span, pointer);
    if let [meant] = findings.likeness().slips(&name.value, known(), 2)[..] {
        let edit = (name.span, json_string(meant));
        let meant = meant.to_owned();
        findings.corrected(Some(Code::UnknownValue), at, rule, LABEL, message, edit);
        findings.note(hidden_difference(&name.value, &meant));
        return meant;
    }
    let near = findings.likeness().nearest(&name.value, known(), 3);
    let listed = |names: &[&str]| names.join("`, `");
    let help = match &near[..] {
        [] => match &known().take(20).collect::<Vec<_>>()[..] {
            [] => "add its contract to `connectors`".to_owned(),
            names => format!("use one of these, or add it there: `{}`", listed(names)),
        },
        near => format!("did you mean `{}`?", listed(near)),
    };
    findings.add(at, rule, LABEL, message, &help);
    name.value
}

/// Returns the connectors by id, with the place of each id.
fn connectors(root: &Node<'_>, findings: &mut Findings<'_>) -> BTreeMap<String, Span> {
    let mut known = BTreeMap::new();
    for (number, node) in items(root, "connectors").iter().enumerate() {
        let Some(id) = spanned(node, "connector_id") else {
            continue;
        };
        if let Some(first) = known.get(&id.value) {
            let pointer = format!("/connectors/{number}/connector_id");
            let what = format!("the connector `{}`", id.value);
            let rule = "each connector of the pool has its own `connector_id`";
            report_duplicate((id.span, &pointer), *first, &what, rule, findings);
        } else {
            known.insert(id.value, id.span);
        }
    }
    known
}

fn limits(node: &Node<'_>) -> Option<Limits> {
    Some(Limits {
        timeout_ms: whole_number(node, "timeout_ms")?,
        max_input_bytes: whole_number(node, "max_input_bytes")?,
        max_output_bytes: whole_number(node, "max_output_bytes")?,
        max_log_bytes: whole_number(node, "max_log_bytes")?,
    })
}

fn destinations(node: &Node<'_>, at: &str, findings: &mut Findings<'_>) -> Vec<Origin> {
    let mut origins = Vec::new();
    for (number, item) in items(node, "destinations").iter().enumerate() {
        let text = string(item).unwrap_or_default();
        match Origin::new(text) {
            Ok(origin) => origins.push(origin),
            Err(error) => findings.add(
                (item.span, &format!("{at}/destinations/{number}")),
                "a destination is a URL of `http` or `https` with a host, and at most a port",
                "invalid destination",
                format!(
                    "{:?} is not a destination: {error}",
                    without_user_info(text)
                ),
                "write a scheme, a host and, if it is not the default, a port, such as \
                 `https://api.example.com:8443`",
            ),
        }
    }
    origins
}

fn addresses(node: &Node<'_>, at: &str, findings: &mut Findings<'_>) -> Vec<IpAddr> {
    let mut addresses = Vec::new();
    for (number, item) in items(node, "non_public_addresses").iter().enumerate() {
        let text = string(item).unwrap_or_default();
        match text.parse() {
            Ok(address) => addresses.push(address),
            Err(_) => findings.add(
                (item.span, &format!("{at}/non_public_addresses/{number}")),
                "`non_public_addresses` are IPv4 and IPv6 addresses, each written out",
                "invalid address",
                format!("{text:?} is not an IP address"),
                "write an address such as `10.0.0.7` or `fd00::7`",
            ),
        }
    }
    addresses
}

fn driver(
    node: &Node<'_>,
    at: &str,
    budget: &mut Budget,
    findings: &mut Findings<'_>,
) -> Option<Driver> {
    Some(match string(member(node, "driver_kind")?)? {
        "noop" => Driver::Noop,
        "http" => Driver::Http {
            methods: items(node, "methods")
                .iter()
                .filter_map(string)
                .map(str::to_owned)
                .collect(),
            headers: headers(node, at, findings),
            addresses: addresses(node, at, findings),
        },
        "mcp_proxy" => Driver::McpProxy {
            server: spanned(node, "server")?,
            version: spanned(node, "server_version").map(|version| version.value),
            tool: spanned(node, "tool")?,
            addresses: addresses(node, at, findings),
        },
        _ => Driver::RestrictedShell {
            programs: programs(node, at, budget, findings),
        },
    })
}

/// Headers that the connection needs and the host sets, in lower case.
const RESERVED_HEADERS: [&str; 10] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

fn headers(node: &Node<'_>, at: &str, findings: &mut Findings<'_>) -> Vec<(String, BindingHeader)> {
    let Some(Value::Mapping(entries)) = member(node, "headers").map(|it| &it.value) else {
        return Vec::new();
    };
    let mut headers: Vec<(String, BindingHeader)> = Vec::new();
    for entry in entries {
        let name = entry.key.to_ascii_lowercase();
        let problem = if RESERVED_HEADERS.contains(&&*name) {
            Some("is set by the host")
        } else if headers.iter().any(|(known, _)| *known == name) {
            Some("appears twice, in other capitals")
        } else {
            None
        };
        if let Some(problem) = problem {
            findings.add(
                (
                    entry.key_span,
                    &format!("{at}/headers/{}", token(&entry.key)),
                ),
                "a binding sets each header once, and none of the connection",
                "this header",
                format!("the header `{}` {problem}", entry.key),
                "remove the header",
            );
            continue;
        }
        let value = match string(&entry.value) {
            Some(value) => BindingHeader::Literal(value.to_owned()),
            None => match spanned(&entry.value, "secret") {
                Some(secret) => BindingHeader::Secret(secret.value),
                None => continue,
            },
        };
        headers.push((name, value));
    }
    headers
}

fn programs(
    node: &Node<'_>,
    at: &str,
    budget: &mut Budget,
    findings: &mut Findings<'_>,
) -> Vec<Program> {
    let mut known: BTreeMap<&str, Span> = BTreeMap::new();
    let mut programs = Vec::new();
    for (number, item) in items(node, "programs").iter().enumerate() {
        let at = format!("{at}/programs/{number}");
        let Some(path) = member(item, "path") else {
            continue;
        };
        let text = string(path).unwrap_or_default();
        let pointer = format!("{at}/path");
        if let Some(first) = known.get(text) {
            let what = format!("the program `{text}`");
            let rule = "each program of a binding has its own path";
            report_duplicate((path.span, &pointer), *first, &what, rule, findings);
        } else {
            known.insert(text, path.span);
        }
        if text.split('/').any(|part| part == "." || part == "..") {
            findings.add(
                (path.span, &pointer),
                "`path` is an absolute path without `.` and `..`",
                "relative segment",
                format!("the path {text:?} contains `.` or `..`"),
                "write the resolved path of the program",
            );
        }
        let arguments = items(item, "arguments").iter().enumerate();
        let arguments = arguments
            .filter_map(|(i, it)| pattern(it, &format!("{at}/arguments/{i}"), budget, findings))
            .collect();
        let more = member(item, "more_arguments");
        programs.push(Program {
            path: text.to_owned(),
            arguments,
            more: more
                .and_then(|it| pattern(it, &format!("{at}/more_arguments"), budget, findings)),
        });
    }
    programs
}

fn pattern(
    node: &Node<'_>,
    at: &str,
    budget: &mut Budget,
    findings: &mut Findings<'_>,
) -> Option<ArgumentPattern> {
    let text = string(node)?;
    match TextPattern::whole(text, budget) {
        Ok(pattern) => Some(ArgumentPattern {
            text: text.to_owned(),
            pattern,
        }),
        Err(error) => {
            findings.add(
                (node.span, at),
                "a pattern of an argument is matched in linear time",
                "unsupported pattern",
                format!("the pattern {text:?} can't be used: {error}"),
                "write a regular expression without look-around and back-references",
            );
            None
        }
    }
}

/// The value of a tool that a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SchemaRole {
    Input,
    Output,
}

/// The schemas of a pool.
struct Schemas {
    set: SchemaSet,
    named: BTreeMap<String, usize>,
    of_binding: BTreeMap<(usize, SchemaRole), usize>,
}

/// A schema of a pool before compilation, with its place and text.
struct Root<'n, 'a> {
    pointer: String,
    node: &'n Node<'a>,
    /// Its reference; `None` for an inline schema.
    reference: Option<String>,
}

impl Schemas {
    fn read(
        root: &Node<'_>,
        bindings: &[Node<'_>],
        library: &Library,
        findings: &mut Findings<'_>,
    ) -> Self {
        let text = findings.text().as_str();
        let mut documents = Vec::new();
        let mut roots: Vec<Root<'_, '_>> = Vec::new();
        let mut named = BTreeMap::new();
        let mut first_of: BTreeMap<String, (String, Span)> = BTreeMap::new();
        for (number, node) in items(root, "schemas").iter().enumerate() {
            let Some(id) = spanned(node, "$id") else {
                continue;
            };
            let pointer = format!("/schemas/{number}");
            if let Some((_, first)) = first_of.get(&id.value) {
                let what = format!("the schema `{}`", id.value);
                let rule = "each schema of the pool has its own `$id`";
                let at = format!("{pointer}/{}", token("$id"));
                report_duplicate((id.span, &at), *first, &what, rule, findings);
                continue;
            }
            first_of.insert(id.value.clone(), (pointer.clone(), id.span));
            named.insert(id.value.clone(), roots.len());
            documents.push(NamedText {
                uri: id.value.clone(),
                text: node.span.of(text).to_owned().into(),
            });
            roots.push(Root {
                pointer,
                node,
                reference: Some(id.value),
            });
        }
        let mut of_binding = BTreeMap::new();
        for (number, node) in bindings.iter().enumerate() {
            for (role, inline, by_name) in [
                (SchemaRole::Input, "input_schema", "input_schema_ref"),
                (SchemaRole::Output, "output_schema", "output_schema_ref"),
            ] {
                let named = member(node, by_name);
                let Some(node) = named.or_else(|| member(node, inline)) else {
                    continue;
                };
                let key = if named.is_some() { by_name } else { inline };
                let pointer = format!("/bindings/{number}/{key}");
                let mut reference = named.and_then(string).map(str::to_owned);
                // A library has schemas that a pool may name; no slip of one is worth a search.
                if let Some(name) = &mut reference
                    && !first_of.contains_key(name)
                    && library
                        .schema_at(name.split('#').next().unwrap_or(name))
                        .is_none()
                {
                    let names = || first_of.keys().map(String::as_str);
                    if let [meant] = findings.likeness().slips(name, names(), 2)[..] {
                        let message = format!("no schema of the pool is named `{}`", visible(name));
                        let edit = (node.span, json_string(meant));
                        let (reason, at) = (Some(Code::UnknownValue), (node.span, &*pointer));
                        findings.corrected(reason, at, NAMED, "names nothing", message, edit);
                        findings.note(hidden_difference(name, meant));
                        *name = meant.to_owned();
                    }
                }
                of_binding.insert((number, role), roots.len());
                roots.push(Root {
                    pointer,
                    node,
                    reference,
                });
            }
        }
        let texts: Vec<_> = roots.iter().map(|root| root.text(text)).collect();
        let mut set = SchemaSet::new(documents.clone(), texts.clone());
        let mut refused = compile(&set, roots.len());
        if refused.iter().any(|(_, refused)| is_unknown(refused)) {
            // Most pools refer only to themselves; the library is added only if needed.
            documents.extend(library.documents());
            set = SchemaSet::new(documents, texts);
            refused = compile(&set, roots.len());
        }
        for (number, refused) in refused {
            report_refused(&roots[number], &refused, &first_of, findings);
        }
        Self {
            set,
            named,
            of_binding,
        }
    }
}

impl Root<'_, '_> {
    /// Returns the schema itself, or one that refers to it.
    fn text(&self, pool: &str) -> String {
        match &self.reference {
            None => self.node.span.of(pool).to_owned(),
            Some(reference) => format!("{{\"$ref\":{}}}", json_string(reference)),
        }
    }
}

/// Compiles every schema of a pool within one budget. Returns those that can't be used.
fn compile(set: &SchemaSet, schemas: usize) -> Vec<(usize, Refused)> {
    let mut budget = Budget::new();
    let compiled = (0..schemas).map(|number| (number, set.compile(number, &mut budget)));
    compiled
        .filter_map(|(number, result)| Some((number, result.err()?)))
        .collect()
}

/// Returns whether a schema may become usable with more documents.
fn is_unknown(refused: &Refused) -> bool {
    let Refused::Invalid(errors) = refused else {
        return false;
    };
    errors.iter().any(|error| {
        matches!(
            error.kind,
            SchemaErrorKind::UnknownReference(_)
                | SchemaErrorKind::RemoteReference(_)
                | SchemaErrorKind::UnknownDraft(_)
        )
    })
}

/// Reports a schema that can't be used, at most [`SCHEMA_ERRORS`] of its errors.
fn report_refused(
    root: &Root<'_, '_>,
    refused: &Refused,
    documents: &BTreeMap<String, (String, Span)>,
    findings: &mut Findings<'_>,
) {
    const RULE: &str =
        "schemas are of draft 2020-12 or draft-07, and refer only to schemas that are given here";
    let mut add = |reason: Code, span: Span, pointer: &str, message: String| {
        findings.reasoned(
            Some(reason),
            (span, pointer),
            RULE,
            "unusable schema",
            message,
            reason.help(),
        );
    };
    let errors = match refused {
        Refused::OverBudget(over) => {
            let message = format!("the schemas can't be compiled: {}", over.reason());
            return add(Code::SchemaBudget, root.node.span, &root.pointer, message);
        }
        Refused::Invalid(errors) => errors,
    };
    for error in errors.iter().take(SCHEMA_ERRORS) {
        let message = error.message();
        let home = error.document.as_ref().and_then(|uri| documents.get(uri));
        let is_here = match (&error.document, &root.reference) {
            (None, reference) => reference.is_none(),
            (Some(_), _) => home.is_some_and(|(pointer, _)| *pointer == root.pointer),
        };
        match &error.document {
            _ if is_here => {
                let pointer = format!("{}{}", root.pointer, error.pointer);
                add(Code::SchemaInvalid, within(root, error), &pointer, message);
            }
            // Every schema of the pool is compiled, so its errors are reported at its own place.
            Some(_) if home.is_some() => {}
            Some(uri) => {
                let message = format!("`{uri}` can't be used at `{}`: {message}", error.pointer);
                add(Code::SchemaInvalid, root.node.span, &root.pointer, message);
            }
            // The reference to the schema is broken.
            None => add(Code::SchemaInvalid, root.node.span, &root.pointer, message),
        }
    }
}

/// Returns the place of an error in the text of the root.
fn within(root: &Root<'_, '_>, error: &SchemaError) -> Span {
    Span {
        start: error.span.start + root.node.span.start,
        end: error.span.end + root.node.span.start,
    }
}
