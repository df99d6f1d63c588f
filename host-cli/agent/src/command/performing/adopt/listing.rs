//! The texts of an adoption: the servers before anything is started, the changes, and the result.

use super::Folders;
use super::carry_out::{Outcome, folder, gateway, places_of};
use super::found::{Candidate, Configuration, State};
use crate::args::{INDEX, LOCK};
use crate::command::performing::clients::{details, package_url, start};
use crate::command::session::{CommandSession, difference};
use agent_adopt::{Adoptable, Reached, Ungoverned, lasting_path};
use agent_host::contract::clients::{InstalledServer, NamedSetting, ServerStart, SettingPart};
use agent_host::{Failure, call, output};
use agent_packages::Facts;
use agent_syntax::json_string;
use std::path::Path;

/// The name of a server, with a destination that it may reach.
type Reach = (String, (String, u16));

/// Returns the servers of configurations, with everything that a yes covers.
pub(super) fn text(found: &[Configuration], reach: &[Reach]) -> String {
    let mut text = String::new();
    for configuration in found {
        let path = configuration.path.display().to_string();
        text.push_str(&format!(
            "{}  {}\n",
            configuration.client,
            output::visible(&path)
        ));
        for candidate in &configuration.servers {
            let name = match &*candidate.server.name {
                "" => "a server without a name",
                name => name,
            };
            text.push_str(&format!("  {}\n", output::visible(name)));
            for (label, value) in lines(candidate, reach) {
                text.push_str(&format!("    {label:11} {}\n", output::visible(&value)));
            }
        }
    }
    text
}

fn lines(candidate: &Candidate, reach: &[Reach]) -> Vec<(&'static str, String)> {
    let server = &candidate.server;
    let mut lines = vec![("starts", start(server))];
    match &candidate.state {
        State::Gateway => return vec![("governed", "by this program".to_owned())],
        State::Disabled => lines.push(("left", "the client does not start it".to_owned())),
        State::Adoptable {
            server: adoptable,
            facts,
        } => {
            lines.extend(
                details(server)
                    .into_iter()
                    .filter(|(label, _)| *label != "package"),
            );
            lines.extend(package(server, adoptable, facts.as_ref()));
            let (read, write) = adoptable.files();
            let listed = |paths: &mut dyn Iterator<Item = &Path>| {
                let paths: Vec<_> = paths.map(|it| it.display().to_string()).collect();
                paths.join(", ")
            };
            for (label, paths) in [("may read", read), ("may write", write)] {
                if !paths.is_empty() {
                    lines.push((label, listed(&mut paths.iter().map(|it| &**it))));
                }
            }
            if !matches!(adoptable.reached, Reached::Url(_)) {
                let hosts = reach.iter().filter(|(name, _)| *name == server.name);
                let hosts: Vec<_> = hosts
                    .map(|(_, (host, port))| format!("{host}:{port}"))
                    .collect();
                let hosts = match hosts.is_empty() {
                    true => "nothing".to_owned(),
                    false => hosts.join(", "),
                };
                lines.push(("may reach", hosts));
            }
        }
        State::Ungoverned(reason) => lines.extend(reasons(reason)),
    }
    lines
}

fn reasons(reason: &Ungoverned) -> [(&'static str, String); 2] {
    [
        ("ungoverned", reason.reason.clone()),
        ("help", reason.help.clone()),
    ]
}

/// Returns the package with its publisher and the day of its publication, as far as the registry names them.
fn package(
    server: &InstalledServer,
    adoptable: &Adoptable,
    facts: Option<&Facts>,
) -> Option<(&'static str, String)> {
    let url = match (&adoptable.reached, facts) {
        (Reached::Package(package), Some(facts)) => package.url(&facts.version),
        _ => package_url(server)?,
    };
    let publisher = facts.and_then(|it| it.publisher.as_ref());
    let publisher = publisher.map(|it| format!(", published by {it}"));
    let published = facts.and_then(|it| it.published.as_ref());
    let published = published.map(|it| format!(" on {it}"));
    Some((
        "package",
        format!(
            "{url}{}{}",
            publisher.unwrap_or_default(),
            published.unwrap_or_default()
        ),
    ))
}

pub(super) fn has_ungoverned(found: &[Configuration]) -> bool {
    let mut all = found.iter().flat_map(|it| &it.servers);
    all.any(|it| matches!(it.state, State::Ungoverned(_)))
}

/// Shows what would change: the clients' files as differences, and the files that would be made.
pub(super) fn show_changes(
    found: &[Configuration],
    folders: &Folders,
    session: &mut CommandSession,
) -> Result<(), Failure> {
    let program = lasting_path(&folders.data, env!("CARGO_PKG_VERSION"))?;
    for configuration in found {
        let secrets = secrets(configuration.servers.iter().map(|it| &it.server));
        let mut text = configuration.text.clone();
        for (place, servers) in configuration.places() {
            let paths: Vec<_> = servers.iter().map(|it| it.installed.path.clone()).collect();
            let folder = folder(configuration, place, folders);
            let files = (&*folder.join(LOCK), &*folder.join(INDEX));
            let client = places_of(&configuration.client);
            let gateway = gateway(&program, files, &folders.operator, client);
            let keys = [place.to_owned()];
            let after = call!(
                session.engine,
                clients.govern(&text, &keys, &paths, &gateway)
            )?;
            let Ok(after) = after else {
                session.note(format_args!(
                    "`{}` can't be changed one server at a time",
                    configuration.path.display()
                ));
                continue;
            };
            let before = String::from_utf8_lossy(&text);
            let mut shown = difference(&configuration.path, &before, &after);
            for secret in &secrets {
                shown = shown.replace(&**secret, "<secret>");
            }
            output::print_data(&shown)?;
            text = after.into_bytes();
            session.note(format_args!(
                "would write the index, the manifest and the lock into `{}`, and the servers into `{}`",
                folder.display(),
                folders.operator.display()
            ));
        }
    }
    Ok(())
}

/// Returns the secrets of servers, also as a file of JSON has them, the longest first.
pub(in crate::command) fn secrets<'s>(
    servers: impl Iterator<Item = &'s InstalledServer>,
) -> Vec<String> {
    let mut secrets = Vec::new();
    for server in servers {
        for part in settings(&server.start).into_iter().flatten() {
            if let SettingPart::Secret(value) = part {
                secrets.push(value.clone());
                secrets.push(json_string(value).trim_matches('"').to_owned());
            }
        }
        if let ServerStart::Remote(remote) = &server.start {
            secrets.extend(remote.user_info.clone());
        }
    }
    secrets.retain(|it| !it.is_empty());
    secrets.sort_by_key(|it| std::cmp::Reverse(it.len()));
    secrets
}

/// Returns every value of a server.
fn settings(start: &ServerStart) -> Vec<&Vec<SettingPart>> {
    fn values(named: &[NamedSetting]) -> impl Iterator<Item = &Vec<SettingPart>> {
        named.iter().map(|it| &it.value)
    }
    match start {
        ServerStart::Command(command) => [&command.program]
            .into_iter()
            .chain(&command.arguments)
            .chain(values(&command.environment))
            .collect(),
        ServerStart::Remote(remote) => [&remote.url]
            .into_iter()
            .chain(values(&remote.headers))
            .chain(values(&remote.query))
            .collect(),
        ServerStart::Unknown => Vec::new(),
    }
}

/// Returns the result for each server.
pub(super) fn outcomes(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    for outcome in outcomes {
        let file = outcome.file.display().to_string();
        text.push_str(&format!("{}  {}\n", outcome.client, output::visible(&file)));
        for (name, server) in &outcome.governed {
            let server = output::visible(server).into_owned();
            text.push_str(&format!("  ✓ {}  {server}\n", output::visible(name)));
        }
        for (name, reason) in &outcome.ungoverned {
            let why = output::visible(&reason.reason).into_owned();
            text.push_str(&format!(
                "  ✗ {}  ungoverned: {why}\n",
                output::visible(name)
            ));
            text.push_str(&format!("      help: {}\n", output::visible(&reason.help)));
        }
        if !outcome.governed.is_empty() {
            let folder = outcome.folder.display().to_string();
            text.push_str(&format!(
                "  rules and audit log: {}\n",
                output::visible(&folder)
            ));
        }
        let (keyring, files) = outcome.secrets;
        for (count, place) in [
            (keyring, "the keyring"),
            (files, "files that only you can read"),
        ] {
            if count > 0 {
                let secrets = if count == 1 {
                    "1 secret"
                } else {
                    &format!("{count} secrets")
                };
                text.push_str(&format!("  {secrets} moved to {place}\n"));
            }
        }
    }
    text
}
