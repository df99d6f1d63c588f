//! `agent connect` and `agent disconnect`: the gateway in a client's configuration, whose other servers stay.

use super::adopt::{Folders, gateway};
use super::clients::{files, is_governed, words};
use crate::args::{Connect, Disconnect};
use crate::command::CommandAnswer;
use crate::command::session::{CommandSession, difference};
use agent_adopt::{
    CLIENTS, ClientPlaces, Folders as Places, content, lasting_path, lasting_program, replace,
    stays,
};
use agent_host::contract::clients::{Gateway, InstalledServer};
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::input::Input;
use agent_host::{Failure, call, output};
use std::path::{Path, PathBuf, absolute};

/// A configuration to change.
struct Target {
    client: Option<&'static ClientPlaces>,
    path: PathBuf,
}

pub(super) fn connect(
    args: &Connect,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    let folders = Folders::usual(args.servers.clone())?;
    let target = target(args.client.as_deref())?;
    let Input::File(index) = &args.index.index else {
        return Err(Failure::new("the index must be a file"));
    };
    let file = |path: &Path| {
        if !path.is_file() {
            let message = format_args!("there is no `{}`", path.display());
            return Err(Failure::new(message)
                .help("run `agent resolve` first, or name the files with `--lock` and `--index`"));
        }
        absolute(path).map_err(|error| Failure::new(error.to_string()))
    };
    let (lock, index) = (file(&args.lock)?, file(index)?);
    let version = env!("CARGO_PKG_VERSION");
    let program = match args.dry_run {
        true => lasting_path(&folders.data, version)?,
        false => lasting_program(&folders.data, version)?,
    };
    let gateway = gateway(&program, (&lock, &index), &folders.operator, target.client);
    let place = target.client.map_or(&["mcpServers"][..], |it| it.servers);
    let place: Vec<_> = place.iter().map(|it| (*it).to_owned()).collect();
    let before = content(&target.path)?;
    let text = before.clone().unwrap_or_default();
    session.remember_made(
        DocumentKind::Import,
        &target.path.display().to_string(),
        text.clone(),
    );
    let governed = call!(session.engine, clients.govern(&text, &place, &[], &gateway))?;
    match governed {
        Ok(after) => finish(&target, before.as_deref(), &after, args.dry_run, session),
        Err(problems) => session.refuse_for(problems),
    }
}

pub(super) fn disconnect(
    args: &Disconnect,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    let folders = Folders::usual(None)?;
    let target = target(args.client.as_deref())?;
    let path = target.path.display().to_string();
    let records = folders.records().all()?;
    if records.iter().any(|it| it.record.file == target.path) {
        let message = format_args!("the gateway of `{path}` stands in for servers of the client");
        let help = "run `agent adopt --undo` to bring them back, or `agent adopt --forget` first";
        return Err(Failure::new(message).help(help));
    }
    let Some(before) = content(&target.path)? else {
        return Err(Failure::new(format_args!("there is no `{path}`")));
    };
    let input = Input::File(target.path.clone());
    let Some(servers) = session.installed_servers(&input, 0, true)? else {
        return session.refuse();
    };
    let mut text = String::from_utf8_lossy(&before).into_owned();
    let governed: Vec<_> = servers.iter().filter(|it| is_governed(it)).collect();
    if governed.is_empty() {
        session.note(format_args!("`{path}` does not start the gateway"));
        return Ok(CommandAnswer::No);
    }
    for server in governed {
        let released = call!(
            session.engine,
            clients.release(
                text.as_bytes(),
                &[place(server).to_owned()],
                &started(server),
                text.as_bytes(),
                &[]
            )
        )?;
        match released {
            Ok(after) => text = after,
            Err(problems) => return session.refuse_for(problems),
        }
    }
    finish(&target, Some(&before), &text, args.dry_run, session)
}

/// Returns the gateway as a configuration has it.
fn started(server: &InstalledServer) -> Gateway {
    let mut words = words(server).into_iter();
    Gateway {
        name: server.name.clone(),
        program: words.next().unwrap_or_default(),
        arguments: words.collect(),
    }
}

/// Writes or shows a configuration.
fn finish(
    target: &Target,
    before: Option<&[u8]>,
    after: &str,
    is_dry: bool,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    let path = target.path.display().to_string();
    let old = String::from_utf8_lossy(before.unwrap_or_default());
    if old == after {
        session.note(format_args!("`{path}` is up to date"));
        return Ok(CommandAnswer::Yes);
    }
    if is_dry {
        output::print_data(&difference(&target.path, &old, after))?;
        session.note(format_args!("would write `{path}`"));
        return Ok(CommandAnswer::Yes);
    }
    replace(&target.path, before, after.as_bytes())?;
    session.note(format_args!("wrote `{path}`"));
    let is_kept = stays(&target.path, after.as_bytes())?;
    if !is_kept {
        output::note(format_args!(
            "the client has written `{path}` again: end it, and run this again"
        ));
    }
    Ok(CommandAnswer::yes_if(is_kept))
}

/// Returns the configuration of a client or a file; without a name, that of the only client that is found.
fn target(named: Option<&str>) -> Result<Target, Failure> {
    let of_client = |client: &'static ClientPlaces| {
        let path = client.file_of_user(&Places::usual());
        let path = path.ok_or_else(|| Failure::new("this user has no home"))?;
        Ok(Target {
            client: Some(client),
            path,
        })
    };
    if let Some(name) = named {
        return match CLIENTS.iter().find(|it| it.name == name) {
            Some(client) => of_client(client),
            None if name.contains(['/', '.']) => {
                let found = files(&[name.to_owned()])?;
                let known = found.first().and_then(|it| it.client);
                let client = CLIENTS.iter().find(|it| Some(it.name) == known);
                let path = absolute(name).map_err(|error| Failure::new(error.to_string()))?;
                Ok(Target { client, path })
            }
            None => Err(
                Failure::new(format_args!("the client `{name}` is not known")).help(format_args!(
                    "name its file, or one of {}",
                    names(CLIENTS.iter())
                )),
            ),
        };
    }
    let found = files(&[])?;
    let own = found.iter().filter(|it| it.is_own);
    let mut clients: Vec<_> = own.filter_map(|it| it.client).collect();
    clients.dedup();
    match &clients[..] {
        [only] => match CLIENTS.iter().find(|it| it.name == *only) {
            Some(client) => of_client(client),
            None => Err(Failure::internal("a client has no places")),
        },
        [] => Err(Failure::new("no configuration of an MCP client was found")
            .help(format_args!("name one of {}", names(CLIENTS.iter())))),
        several => {
            let known = CLIENTS.iter().filter(|it| several.contains(&it.name));
            Err(Failure::new("there are several clients")
                .help(format_args!("name one of {}", names(known))))
        }
    }
}

fn names<'c>(clients: impl Iterator<Item = &'c ClientPlaces>) -> String {
    let names: Vec<_> = clients.map(|it| it.name).collect();
    names.join(", ")
}

/// Returns the keys to the object or list of a server, joined by dots.
pub(super) fn place(server: &InstalledServer) -> &str {
    let named = server.path.strip_suffix(&*server.name);
    let named = named.and_then(|it| it.strip_suffix('.'));
    named.unwrap_or_else(|| server.path.rsplit_once('[').map_or("", |(place, _)| place))
}
