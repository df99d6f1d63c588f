//! `agent index refresh`: compare the index with what its servers say now.

use super::live_servers::{Target, capture, operator, unreachable};
use crate::args::{Format, IndexRefresh};
use crate::command::CommandAnswer;
use crate::command::session::CommandSession;
use crate::command::session::usual_links;
use agent_host::atomic_write::StagedFile;
use agent_host::contract::importer::IndexedServer;
use agent_host::input::Input;
use agent_host::{Failure, call};

pub(in crate::command) fn run(
    args: &IndexRefresh,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    let input = Input::File(args.capture.index.clone());
    let Some(index) = session.index(&input)? else {
        return session.refuse();
    };
    let known = call!(session.engine, importer.servers(index))?;
    let chosen = chosen(known, &args.names)?;
    let operator = operator(args.capture.servers.as_deref())?;
    let targets = chosen.iter().map(|server| Target {
        id: server.id.clone(),
        version: Some(server.version.clone()),
        endpoint: Some(server.endpoint.clone()),
    });
    let captured = capture(targets.collect(), &operator, &args.capture, session)?;
    let (mut live, mut failed) = (Vec::new(), Vec::new());
    for (server, captured) in chosen.into_iter().zip(captured) {
        match captured {
            Ok(captured) => live.push(captured),
            Err(message) => {
                let name = format!("{}@{}", server.id, server.version);
                failed.push(unreachable(name, message));
            }
        }
    }
    let before = session.index_text();
    let refreshed = call!(session.engine, importer.refresh(&live, &before))?;
    let refreshed = match refreshed {
        Ok(refreshed) => refreshed,
        Err(problems) => return session.refuse_for(problems),
    };
    let is_whole = failed.is_empty() && refreshed.is_complete;
    let is_fresh = refreshed.differences.is_empty();
    let mut differences = refreshed.differences;
    differences.extend(failed);
    session.add(refreshed.warnings);
    if matches!(session.format(), Format::Sarif | Format::Github) {
        let diagnostics = call!(
            session.engine,
            view.entry_difference_diagnostics(&differences)
        )?;
        session.add(diagnostics);
    }
    session.show(
        |engine| call!(engine, view.entry_differences(&differences)),
        |engine| call!(engine, view.entry_differences_json(&differences)),
    )?;
    let path = args.capture.index.display();
    if differences.is_empty() {
        session.note(format_args!("{path} is up to date"));
    }
    // Without a difference that is shown, nothing is written.
    let has_written = args.write && !is_fresh;
    if has_written {
        StagedFile::with_links(
            &args.capture.index,
            refreshed.index.as_bytes(),
            usual_links(&args.capture.index),
        )?
        .commit()?;
        session.note(format_args!("wrote {path}"));
    }
    Ok(CommandAnswer::yes_if(is_whole && (is_fresh || has_written)))
}

/// Returns the servers that are named, or all.
fn chosen(known: Vec<IndexedServer>, names: &[String]) -> Result<Vec<IndexedServer>, Failure> {
    if names.is_empty() {
        return Ok(known);
    }
    let is_it = |server: &IndexedServer, name: &String| {
        server.id == *name || format!("{}@{}", server.id, server.version) == *name
    };
    if let Some(unknown) = (names.iter()).find(|name| !known.iter().any(|it| is_it(it, name))) {
        return Err(
            Failure::new(format_args!("the index has no server `{unknown}`"))
                .help("run `agent discover` to list the servers of the index"),
        );
    }
    let mut known = known;
    known.retain(|server| names.iter().any(|name| is_it(server, name)));
    Ok(known)
}
