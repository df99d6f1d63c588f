//! `agent index add`: capture a live server into the index.

use super::live_servers::{Target, capture, operator, unreachable};
use crate::args::{IndexAdd, Rating};
use crate::command::CommandAnswer;
use crate::command::session::CommandSession;
use crate::command::session::usual_links;
use agent_host::atomic_write::StagedFile;
use agent_host::contract::capability::Notation;
use agent_host::contract::clients::RunPackage;
use agent_host::contract::diagnostic::{Diagnostic, DocumentKind};
use agent_host::contract::importer::Overlay;
use agent_host::input::{INDEX_MAX, Input};
use agent_host::{Failure, call, output};
use agent_operator::{Network, Operator, Server as Entry, Value, lines, usual_path, value_text};
use agent_packages::Package;
use agent_syntax::Node;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{items, member, string};
use std::collections::BTreeMap;
use std::path::Path;

pub(in crate::command) fn run(
    args: &IndexAdd,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    let overlay = match &args.rating.overlay {
        Some(input) => Some(session.overlay(input)?),
        None => overlay(&args.name, &args.rating)?,
    };
    if let (Some(overlay), None) = (&overlay, &args.rating.overlay) {
        session.remember_made(DocumentKind::Overlay, "<options>", overlay.text.clone());
    }
    let existing = Input::File(args.capture.index.clone());
    let before = match existing.is_missing() {
        true => None,
        false => Some(session.text(DocumentKind::Index, &existing, INDEX_MAX)?),
    };
    let mut operator = operator(args.capture.servers.as_deref())?;
    let started = configure_start(args, &mut operator, session)?;
    if let Some(started) = &started
        && !session.quiet
    {
        started.announce();
    }
    let endpoint = match &started {
        None => args.url.clone(),
        Some(started) => started.package_url.clone(),
    };
    let package = started.as_ref().and_then(|it| it.version.clone());
    let target = Target {
        id: args.name.clone(),
        version: args.rating.server_version.clone().or(package),
        endpoint,
    };
    let captured = capture(vec![target], &operator, &args.capture, session)?;
    let live = match captured.into_iter().next() {
        Some(Ok(live)) => live,
        Some(Err(message)) => {
            let failed = [unreachable(args.name.clone(), message)];
            let problems = call!(session.engine, view.entry_difference_diagnostics(&failed))?;
            return refuse(args, session, problems);
        }
        None => return Err(Failure::internal("nothing was captured")),
    };
    session.remember_made(
        DocumentKind::Import,
        &format!("<tools of {}>", args.name),
        Vec::new(),
    );
    let added = call!(
        session.engine,
        importer.add(&live, overlay.as_ref(), before.as_deref())
    )?;
    let imported = match added {
        Ok(imported) => imported,
        Err(problems) => return refuse(args, session, problems),
    };
    session.add(imported.warnings);
    let is_dry = args.dry_run || !session.writes();
    if is_dry {
        let entries: Vec<_> = imported.added.iter().collect();
        output::print_data(&entry(&imported.index, &entries))?;
    } else {
        StagedFile::with_links(
            &args.capture.index,
            imported.index.as_bytes(),
            usual_links(&args.capture.index),
        )?
        .commit()?;
    }
    session.report()?;
    for server in &imported.added {
        session.note(format_args!("added {server}"));
    }
    for claim in &imported.claims {
        session.note(format_args!("claimed {claim}"));
    }
    let index = args.capture.index.display();
    session.note(match is_dry {
        true => format!("would write {index}"),
        false => format!("wrote {index}"),
    });
    if let Some(started) = &started
        && !session.quiet
    {
        started.tell_operator(args.capture.servers.as_deref());
    }
    Ok(CommandAnswer::Yes)
}

/// Refuses, and says that the index is as it was: the server was started for nothing.
fn refuse(
    args: &IndexAdd,
    session: &mut CommandSession,
    problems: Vec<Diagnostic>,
) -> Result<CommandAnswer, Failure> {
    let answer = session.refuse_for(problems)?;
    let index = args.capture.index.display();
    session.note(format_args!("wrote nothing to {index}"));
    Ok(answer)
}

/// How a server is started.
struct Started {
    id: String,
    entry: Entry,
    /// Whether the operator's configuration has the entry already.
    is_configured: bool,
    /// The URL of the package that the command runs, and its version.
    package_url: Option<String>,
    version: Option<String>,
}

/// Decides how a server is started, and puts it into the configuration for this run. Returns `None` for a
/// server with a URL.
fn configure_start(
    args: &IndexAdd,
    operator: &mut Operator,
    session: &mut CommandSession,
) -> Result<Option<Started>, Failure> {
    if args.url.is_some() {
        return Ok(None);
    }
    let id = args.name.clone();
    let known = operator.servers.get(&id).cloned();
    if args.command.is_empty() {
        let entry = known.filter(|entry| !entry.command.is_empty());
        let entry = entry.ok_or_else(|| {
            Failure::new(format_args!("`{id}` has neither a URL nor a command"))
                .help(format_args!("write `agent index add {id} URL` or `agent index add {id} -- COMMAND...`, or add its `command` to `servers.local.yaml`"))
        })?;
        return Ok(Some(Started {
            id,
            entry,
            is_configured: true,
            package_url: None,
            version: None,
        }));
    }
    let launched = launched(&args.command, session)?;
    let literal = |words: &[String]| words.iter().map(Value::literal).collect();
    let mut entry = known.clone().unwrap_or_default();
    match &launched {
        // The installed package is started, as `agent serve` does.
        Some(launched) => entry.arguments = literal(launched.arguments),
        None => entry.command = literal(&args.command),
    }
    let read = args.fence.read.iter();
    let others = read.filter(|path| !entry.read.contains(path)).cloned();
    let others: Vec<_> = others.collect();
    entry.read.extend(others);
    if !args.fence.network.is_empty() {
        entry.network = Network::Hosts(args.fence.network.clone());
    }
    if known.is_none() {
        // Another server of this id gets nothing of the entry.
        entry.origin = Some(match &launched {
            Some(launched) => launched.origin.clone(),
            None => format!("pkg:generic/{id}"),
        });
    }
    if known.as_ref().is_some_and(|known| *known != entry) {
        return Err(Failure::new(format_args!(
            "`servers.local.yaml` starts `{id}` in another way"
        ))
        .help(format_args!(
            "run `agent index add {id}` to start it by `servers.local.yaml`, or choose another name"
        )));
    }
    operator.servers.insert(id.clone(), entry.clone());
    let version = launched.as_ref().map(|it| it.package.version().to_owned());
    let package_url = launched.map(|it| it.url);
    Ok(Some(Started {
        id,
        is_configured: known.is_some(),
        entry,
        package_url,
        version,
    }))
}

/// A package that a command runs in a fixed version.
struct Launched<'c> {
    package: Package,
    url: String,
    /// The URL without the version.
    origin: String,
    /// The package's own arguments.
    arguments: &'c [String],
}

/// Returns the package that a command runs in a fixed version.
fn launched<'c>(
    command: &'c [String],
    session: &mut CommandSession,
) -> Result<Option<Launched<'c>>, Failure> {
    let Some((program, arguments)) = command.split_first() else {
        return Ok(None);
    };
    let found = call!(session.engine, clients.package_of(program, arguments))?;
    let Some(RunPackage {
        url_before,
        url_after,
        version: Some(version),
        arguments_from,
    }) = found
    else {
        return Ok(None);
    };
    let url = format!("{url_before}{version}{url_after}");
    let package = Package::parse(&url).ok();
    Ok(package.map(|package| Launched {
        package,
        url,
        origin: url_before.trim_end_matches('@').to_owned(),
        arguments: arguments.get(arguments_from as usize..).unwrap_or_default(),
    }))
}

impl Started {
    /// Shows what is started, before it is.
    fn announce(&self) {
        let words = self.entry.command.iter().chain(&self.entry.arguments);
        let words = words.map(value_text).collect::<Vec<_>>().join(" ");
        let fence = match self.entry.unfenced {
            true => "without a sandbox, as `servers.local.yaml` says",
            false => "in the sandbox",
        };
        match &self.package_url {
            Some(url) => output::note(format_args!("starting {url} {words} {fence}")),
            None => output::note(format_args!("starting {words} {fence}")),
        }
    }

    /// Shows the entry that `agent serve` needs, if the operator's configuration lacks it.
    fn tell_operator(&self, servers: Option<&Path>) {
        let entry = &self.entry;
        let is_needed = !entry.command.is_empty() || !entry.arguments.is_empty();
        if self.is_configured || !is_needed {
            return;
        }
        let usual = usual_path();
        let path = servers.or(usual.as_deref());
        let path = path.map_or_else(
            || "servers.local.yaml".into(),
            |it| it.display().to_string(),
        );
        output::note(format_args!(
            "`agent serve` needs this entry; add it to `{path}`:"
        ));
        output::note("servers:");
        for line in lines(&self.id, entry) {
            output::note(format_args!("  {line}"));
        }
    }
}

/// Returns the overlay of the options, or `None` if they say nothing.
fn overlay(name: &str, rating: &Rating) -> Result<Option<Overlay>, Failure> {
    let mut tools: BTreeMap<&str, Vec<Capability<'_>>> = BTreeMap::new();
    for text in &rating.capabilities {
        let (tool, capability) = capability(text)?;
        tools.entry(tool).or_default().push(capability);
    }
    let has_data = !rating.residency.is_empty() || rating.max_sensitivity.is_some();
    let has_trust = rating.signed || rating.publisher.is_some();
    let has_lists = !rating.categories.is_empty() || !rating.scopes.is_empty();
    if !has_data && !has_trust && !has_lists && tools.is_empty() {
        return Ok(None);
    }
    let list = |w: &mut Writer, key: &str, items: &[String]| {
        if !items.is_empty() {
            w.key(key).strings(items.iter().map(String::as_str));
        }
    };
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("servers").object(|w| {
            w.key(name).object(|w| {
                list(w, "categories", &rating.categories);
                if has_data {
                    w.key("data").object(|w| {
                        if let Some(max) = &rating.max_sensitivity {
                            w.key("maxSensitivity").string(max);
                        }
                        list(w, "residency", &rating.residency);
                    });
                }
                list(w, "scopes", &rating.scopes);
                if !tools.is_empty() {
                    w.key("tools").object(|w| {
                        for (tool, capabilities) in &tools {
                            w.key(tool).object(|w| write_capabilities(w, capabilities));
                        }
                    });
                }
                if has_trust {
                    w.key("trust").object(|w| {
                        if let Some(publisher) = &rating.publisher {
                            w.key("publisher").string(publisher);
                        }
                        if rating.signed {
                            w.key("signed").bool(true);
                        }
                    });
                }
            });
        });
    });
    Ok(Some(Overlay {
        text: w.finish().into_bytes(),
        notation: Notation::Json,
    }))
}

/// A verb, a resource, and constraints.
type Capability<'c> = (&'c str, &'c str, Vec<&'c str>);

/// Reads `TOOL=VERB:RESOURCE+CONSTRAINT...`.
fn capability(text: &str) -> Result<(&str, Capability<'_>), Failure> {
    let parsed = text.rsplit_once('=').and_then(|(tool, capability)| {
        let mut parts = capability.split('+');
        let (verb, resource) = parts.next()?.split_once(':')?;
        Some((tool, (verb, resource, parts.collect())))
    });
    parsed.ok_or_else(|| {
        Failure::new(format_args!("the capability `{text}` can't be read")).help(
            "write `--capability TOOL=VERB:RESOURCE`, as in `search_code=search:codebase+readonly`",
        )
    })
}

fn write_capabilities(w: &mut Writer, capabilities: &[Capability<'_>]) {
    w.key("x-summit-capabilities").array(|w| {
        for (verb, resource, constraints) in capabilities {
            w.object(|w| {
                w.key("constraints").strings(constraints.iter().copied());
                w.key("resource").string(resource);
                w.key("verb").string(verb);
            });
        }
    });
}

/// Returns the entries of servers, named as `id@version`, as they are in the text of an index.
fn entry(index: &str, names: &[&String]) -> String {
    let Some(root) = parse_strict(index) else {
        return String::new();
    };
    let is_named = |node: &&Node<'_>| {
        let text = |key| member(node, key).and_then(string).unwrap_or_default();
        names.contains(&&format!("{}@{}", text("id"), text("version")))
    };
    let servers = items(&root).or_else(|| items(member(&root, "servers")?));
    let texts = servers.unwrap_or_default().iter().filter(is_named);
    let mut text = String::new();
    for node in texts {
        text.push_str(node.span.of(index));
        text.push('\n');
    }
    text
}
