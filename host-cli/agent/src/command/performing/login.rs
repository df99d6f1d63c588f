//! `agent login` and `agent logout`: the token of a remote server.

use super::live_servers::{operator, unreachable};
use crate::args::{IndexOption, Login, Logout};
use crate::command::CommandAnswer;
use crate::command::session::CommandSession;
use agent_effects::{Access, Resolver};
use agent_host::contract::importer::IndexedServer;
use agent_host::{Failure, Signals, block_on, call, output};
use agent_login::{Login as Flow, Store};
use std::time::Duration;

pub(super) fn run(args: &Login, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    let Some(server) = named(&args.server, &args.index, session)? else {
        return session.refuse();
    };
    let operator = operator(args.servers.as_deref())?;
    let engine = session.component();
    let done = block_on(async {
        let mut signals = Signals::new()?;
        let access = Access::new(&operator, engine, Resolver::system(), &mut signals).await?;
        let flow = Flow {
            id: &server.id,
            endpoint: &server.endpoint,
            scopes: &args.scopes,
            more_scopes: &args.more_scopes,
            client_id: args.client_id.as_deref(),
            client_url: args.client_metadata.as_deref(),
            time: Duration::from_secs(args.timeout),
        };
        let show = |url: &str| output::note(format_args!("open this URL in a browser:\n  {url}"));
        flow.run(&access, &mut signals, show).await
    })?;
    match done {
        Ok(logged_in) => {
            let scopes = match logged_in.scopes.is_empty() {
                true => String::new(),
                false => format!(", with the scopes {}", logged_in.scopes.join(" ")),
            };
            session.note(format_args!(
                "logged in to {} by {}{scopes}",
                server.id, logged_in.issuer
            ));
            Ok(CommandAnswer::Yes)
        }
        Err(message) => {
            let failed = [unreachable(server.id, message)];
            let problems = call!(session.engine, view.entry_difference_diagnostics(&failed))?;
            session.refuse_for(problems)
        }
    }
}

pub(super) fn forget(
    args: &Logout,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    let server = match &args.server {
        None => None,
        Some(name) => match named(name, &args.index, session)? {
            Some(server) => Some(server),
            None => return session.refuse(),
        },
    };
    let store = Store::usual().ok_or_else(|| Failure::new("this user has no folder for tokens"))?;
    let endpoint = server.as_ref().map(|it| &*it.endpoint);
    let forgotten = block_on(store.forget(endpoint))?;
    for endpoint in &forgotten {
        session.note(format_args!(
            "forgot the token of {}",
            output::visible(endpoint)
        ));
    }
    if forgotten.is_empty() {
        session.note("no token is kept");
    }
    Ok(CommandAnswer::yes_if(!forgotten.is_empty()))
}

/// Returns the server of a name or a URL; `None` for an index that is refused. A server that requires a login can't
/// be captured into an index before.
fn named(
    name: &str,
    index: &IndexOption,
    session: &mut CommandSession,
) -> Result<Option<IndexedServer>, Failure> {
    if name.starts_with("https://") || name.starts_with("http://") {
        return Ok(Some(IndexedServer {
            id: name.to_owned(),
            version: String::new(),
            endpoint: name.to_owned(),
        }));
    }
    let Some(index) = session.index(&index.index)? else {
        return Ok(None);
    };
    let known = call!(session.engine, importer.servers(index))?;
    server(known, name).map(Some)
}

/// Returns the server of a name, which has one URL.
fn server(known: Vec<IndexedServer>, name: &str) -> Result<IndexedServer, Failure> {
    let named = known
        .into_iter()
        .filter(|server| server.id == name || format!("{}@{}", server.id, server.version) == name);
    let mut named: Vec<_> = named.collect();
    named.dedup_by(|a, b| a.endpoint == b.endpoint);
    let last = named.pop().ok_or_else(|| {
        Failure::new(format_args!("the index has no server `{name}`"))
            .help("run `agent discover` to list the servers of the index")
    })?;
    if !named.is_empty() {
        return Err(
            Failure::new(format_args!("the index has several endpoints of `{name}`"))
                .help("name one of them, as ID@VERSION"),
        );
    }
    if last.endpoint.starts_with("pkg:") {
        return Err(Failure::new(format_args!(
            "`{name}` is started here and needs no login"
        )));
    }
    Ok(last)
}
