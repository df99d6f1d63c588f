//! Undoing adoptions, and forgetting what is needed for that.

use super::Folders;
use super::carry_out::forget as forget_secret;
use crate::args::Adopt;
use crate::command::CommandAnswer;
use crate::command::performing::clients;
use crate::command::session::CommandSession;
use agent_adopt::{Kept, content, is_same, replace, replace_private};
use agent_host::contract::clients::Gateway;
use agent_host::{Failure, call, output};
use std::fs;
use std::path::Path;

/// Gives the configurations their servers back, the newest adoption first.
pub(super) fn undo(
    args: &Adopt,
    folders: &Folders,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    let mut is_whole = true;
    let kept = named(args, folders)?;
    if kept.is_empty() {
        session.note("there is no adoption to undo");
        return Ok(CommandAnswer::No);
    }
    for kept in kept {
        let file = kept.record.file.display().to_string();
        if give_back(&kept, session)? {
            clean_up(&kept, session)?;
            kept.remove()?;
            session.note(format_args!(
                "gave `{}` its servers back",
                output::visible(&file)
            ));
        } else {
            is_whole = false;
        }
    }
    Ok(CommandAnswer::yes_if(is_whole))
}

/// Removes the backups.
pub(super) fn forget(
    args: &Adopt,
    folders: &Folders,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    let kept = named(args, folders)?;
    if kept.is_empty() {
        session.note("there is no backup");
        return Ok(CommandAnswer::No);
    }
    for kept in kept {
        let file = kept.record.file.display().to_string();
        kept.remove()?;
        session.note(format_args!(
            "removed the backup of `{}`",
            output::visible(&file)
        ));
    }
    Ok(CommandAnswer::Yes)
}

/// Returns the adoptions of the named clients and files.
fn named(args: &Adopt, folders: &Folders) -> Result<Vec<Kept>, Failure> {
    let mut all = folders.records().all()?;
    if args.clients.is_empty() {
        return Ok(all);
    }
    let is_named = |kept: &Kept| {
        let record = &kept.record;
        args.clients
            .iter()
            .any(|it| *it == record.client || is_same(it.as_ref(), &record.file))
    };
    all.retain(is_named);
    if all.is_empty() {
        // A name without a configuration is wrong usage.
        clients::files(&args.clients)?;
    }
    Ok(all)
}

/// Gives a client's file its servers back. Returns whether nothing of the adoption is left in it.
fn give_back(kept: &Kept, session: &mut CommandSession) -> Result<bool, Failure> {
    let record = &kept.record;
    let before = kept.before()?;
    let now = content(&record.file)?.unwrap_or_default();
    if now == before {
        return Ok(true);
    }
    if now == record.after.as_bytes() {
        replace(&record.file, Some(&now), &before)?;
        return Ok(true);
    }
    let (program, arguments) = record.command.split_first().ok_or_else(|| {
        let folder = kept.folder.display();
        Failure::new(format_args!("`{folder}` has no whole record"))
    })?;
    let gateway = Gateway {
        name: record.gateway.clone(),
        program: program.clone(),
        arguments: arguments.to_vec(),
    };
    let keys = [record.place.clone()];
    let released = call!(
        session.engine,
        clients.release(&now, &keys, &gateway, &before, &record.servers)
    )?;
    match released {
        Ok(text) => {
            replace(&record.file, Some(&now), text.as_bytes())?;
            Ok(true)
        }
        Err(problems) => {
            let file = record.file.display();
            for problem in &problems {
                output::note(format_args!("`{file}` stays as it is: {}", problem.message));
            }
            let backup = kept.folder.join("before");
            output::note(format_args!("its former content is `{}`", backup.display()));
            Ok(false)
        }
    }
}

/// Removes what an adoption made, as far as nobody changed it since.
fn clean_up(kept: &Kept, session: &mut CommandSession) -> Result<(), Failure> {
    let record = &kept.record;
    if let Some(before) = content(&record.operator)? {
        let mut text = String::from_utf8_lossy(&before).into_owned();
        for lines in &record.lines {
            match text.matches(&**lines).count() {
                1 => text = text.replacen(&**lines, "", 1),
                _ => session.note(format_args!(
                    "`{}` keeps entries that were changed since",
                    record.operator.display()
                )),
            }
        }
        let is_left = |line: &str| !["", "servers:", "secrets:"].contains(&line.trim_end());
        if !text.lines().any(is_left) {
            // Nothing but the adoption was in it.
            remove(&record.operator)?;
        } else if text.as_bytes() != before {
            replace_private(&record.operator, Some(&before), text.as_bytes())?;
        }
    }
    record.secrets.iter().for_each(forget_secret);
    for (path, (before, after)) in &record.made {
        let now = content(path)?;
        if now.as_deref() != Some(after.as_bytes()) {
            if now.is_some() {
                session.note(format_args!("kept `{}`, which was changed", path.display()));
            }
            continue;
        }
        match before {
            Some(before) => replace(path, Some(after.as_bytes()), before.as_bytes())?,
            None => remove(path)?,
        }
        if let Some(folder) = path.parent() {
            // Only an empty one goes: it may have the audit log.
            let _ = fs::remove_dir(folder);
        }
    }
    Ok(())
}

fn remove(path: &Path) -> Result<(), Failure> {
    fs::remove_file(path).map_err(|error| {
        let path = path.display();
        Failure::new(format_args!("`{path}` can't be removed: {error}"))
    })
}
