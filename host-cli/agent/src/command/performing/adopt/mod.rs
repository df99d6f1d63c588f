//! `agent adopt`: the gateway stands in for the servers of MCP clients.

mod carry_out;
mod found;
mod listing;
mod undo;

use crate::args::{Adopt, Global};
use crate::command::CommandAnswer;
use crate::command::session::CommandSession;
use agent_adopt::{Records, private_folder, stays};
use agent_host::{Failure, output};
use agent_operator::usual_path;
use agent_ownership::UserFolder;
pub(super) use carry_out::gateway;
use carry_out::{Adoption, Outcome, unwritable};
use found::Configuration;
pub(super) use listing::secrets;
use std::env;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long the lock of a killed run is waited for.
const LOCK_TIME: Duration = Duration::from_secs(1);

/// How often it is tried meanwhile.
const LOCK_STEP: Duration = Duration::from_millis(20);

/// The folders of this user.
pub(super) struct Folders {
    home: PathBuf,
    pub(super) config: PathBuf,
    pub(super) data: PathBuf,
    state: PathBuf,
    /// The operator's configuration.
    pub(super) operator: PathBuf,
}

impl Folders {
    pub(super) fn usual(operator: Option<PathBuf>) -> Result<Self, Failure> {
        let none = || Failure::new("this user has no folder for configurations").help("set `HOME`");
        let folder = |folder: UserFolder| folder.path().ok_or_else(none);
        Ok(Self {
            home: env::home_dir()
                .filter(|it| it.is_absolute())
                .ok_or_else(none)?,
            config: folder(UserFolder::Config)?,
            data: folder(UserFolder::Data)?,
            state: folder(UserFolder::State)?,
            operator: operator.or_else(usual_path).ok_or_else(none)?,
        })
    }

    pub(super) fn records(&self) -> Records {
        Records::new(&self.state)
    }

    /// Where documents are made before they take their places.
    fn staged(&self) -> PathBuf {
        self.state.join("agent/adopt/.staged")
    }

    fn remove_staged(&self) -> Result<(), Failure> {
        let staged = self.staged();
        match fs::remove_dir_all(&staged) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(unwritable(&staged, &error)),
            _ => Ok(()),
        }
    }

    /// The folders with what this program obeys.
    fn own(&self) -> Vec<PathBuf> {
        [&self.config, &self.data, &self.state]
            .map(|folder| folder.join("agent"))
            .to_vec()
    }
}

pub(super) fn run(
    args: &Adopt,
    global: &Global,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    let folders = Folders::usual(args.servers.clone())?;
    let _lock = lock(&folders)?;
    // An earlier run may have been ended.
    folders.remove_staged()?;
    folders.records().remove_partial()?;
    if args.undo {
        return undo::undo(args, &folders, session);
    }
    if args.forget {
        return undo::forget(args, &folders, session);
    }
    let Some(found) = found::configurations(args, &folders, session)? else {
        return session.refuse();
    };
    let (mut found, has_skipped) = (found.configurations, found.has_skipped);
    found::look_up(&mut found, args, session)?;
    output::print_text(&listing::text(&found, &args.reach))?;
    let digest = found::digest(&found);
    let strangers = found.iter().any(|it| !it.is_own && it.has_adoptable());
    if let Some(approved) = args.approve.as_ref().filter(|it| **it != digest) {
        let message = format_args!("the digest is {digest}, not `{approved}`");
        return Err(Failure::new(message).help("look at the list again, and approve its digest"));
    }
    let is_adoptable = |it: &Configuration| it.has_adoptable();
    if !found.iter().any(is_adoptable) {
        session.note("no server can be adopted");
        let is_whole = !has_skipped && !listing::has_ungoverned(&found);
        return Ok(CommandAnswer::yes_if(is_whole));
    }
    if args.dry_run {
        listing::show_changes(&found, &folders, session)?;
        if strangers {
            session.note(format_args!(
                "approve a stranger's file with `--approve {digest}`"
            ));
        }
        return Ok(CommandAnswer::Yes);
    }
    let is_own = found.iter().any(|it| it.is_own && it.has_adoptable());
    let is_agreed = is_own
        && args.approve.is_none()
        && (args.yes || output::ask("Adopt these servers? [y/N] "));
    if strangers && args.approve.is_none() {
        session.note(format_args!(
            "a file that is not your own configuration may be a stranger's: look at its commands, then pass \
             `--approve {digest}`"
        ));
    }
    let agreed = found.iter().filter(|it| {
        it.has_adoptable()
            && if it.is_own {
                is_agreed
            } else {
                args.approve.is_some()
            }
    });
    let agreed: Vec<_> = agreed.collect();
    if agreed.is_empty() {
        session.note(match is_own {
            true => "nothing was changed or started; `agent adopt --yes` adopts what is listed",
            false => "nothing was changed or started",
        });
        return Ok(CommandAnswer::No);
    }
    let mut adoption = Adoption::new(args, global, &folders, session)?;
    let mut outcomes = Vec::new();
    for configuration in agreed {
        outcomes.extend(adoption.carry_out(configuration)?);
    }
    let is_kept = settle(&outcomes)?;
    output::print_text(&listing::outcomes(&outcomes))?;
    let all =
        outcomes.iter().all(Outcome::is_whole) && !has_skipped && !listing::has_ungoverned(&found);
    Ok(CommandAnswer::yes_if(all && is_kept))
}

/// Waits whether running clients write over the new configurations, and names them.
fn settle(outcomes: &[Outcome]) -> Result<bool, Failure> {
    let mut is_kept = true;
    for outcome in outcomes {
        let Some(new) = &outcome.written else {
            continue;
        };
        if !stays(&outcome.file, new.as_bytes())? {
            let (client, file) = (&outcome.client, outcome.file.display());
            output::note(format_args!(
                "`{client}` has written `{file}` again, without the gateway: end it, and run this again"
            ));
            is_kept = false;
        }
    }
    Ok(is_kept)
}

/// Waits for no other adoption: two would write the same files. One that was killed while it started a program may hold
/// the lock for a moment longer, until that program runs.
fn lock(folders: &Folders) -> Result<File, Failure> {
    let folder = folders.state.join("agent");
    private_folder(&folder)?;
    let path = folder.join("adopt.lock");
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    let failed = |error: std::io::Error| {
        Failure::new(format_args!("can't write `{}`: {error}", path.display()))
    };
    let file = options.open(&path).map_err(failed)?;
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if begin.elapsed() < LOCK_TIME => sleep(LOCK_STEP),
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::new("another `agent adopt` runs"));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
}
