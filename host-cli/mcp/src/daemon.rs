//! The daemon: started by the user, or by a command that finds none.

use crate::Program;
use crate::args::{self, Mcpd};
use agent_daemon::{Place, Setup, serve};
use agent_effects::{Signals, block_on};
use agent_host::{Engine, Failure, output};
use agent_planner::{Command as PlanCommand, Planner, Template};
use std::fs::{self, OpenOptions};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The log of a daemon that a command started, in the folder of tasks.
const LOG: &str = ".state/daemon.log";

/// Time until a started daemon must answer.
const START: Duration = Duration::from_secs(30);

/// How often to look whether it does.
const LOOK: Duration = Duration::from_millis(20);

/// Serves until the user or the system ends the program.
pub(crate) fn run(args: &Mcpd, place: &args::Place, own: Program<'_>) -> Result<(), Failure> {
    let planner = match &args.planner[..] {
        [] => Planner::Template(Template::default()),
        command => Planner::Command(PlanCommand::new(command)),
    };
    let program = std::env::current_exe().map_err(Failure::internal)?;
    let before = own.before.iter().map(Into::into);
    let supervisor = [program]
        .into_iter()
        .chain(before)
        .chain(["supervise".into()]);
    let setup = Setup {
        policy: match &args.policy_file {
            Some(file) if !file.exists() => {
                let message = format_args!("the policy `{}` does not exist", file.display());
                return Err(Failure::new(message));
            }
            Some(file) => file.clone(),
            None => place.root.join("policy.yaml"),
        },
        root: place.root.clone(),
        planner,
        supervisor: supervisor.collect(),
        port: args.port,
        stdio: args.stdio,
        idle: (args.idle > 0).then(|| Duration::from_secs(args.idle)),
    };
    let engine = Engine::embedded()?;
    block_on(async { serve(engine, setup, Signals::new()?).await })
}

/// Returns where the daemon is reached. Starts one where none runs.
pub(crate) fn found_or_started(
    place: &args::Place,
    program: Program<'_>,
) -> Result<Place, Failure> {
    let root = std::path::absolute(&place.root).map_err(Failure::internal)?;
    if let Some(place) = Place::of(&root)? {
        return Ok(place);
    }
    start(&root, program)?;
    let until = Instant::now() + START;
    while Instant::now() < until {
        if let Some(place) = Place::of(&root)? {
            if !program.quiet {
                output::note(format_args!("started the daemon of `{}`", root.display()));
            }
            return Ok(place);
        }
        sleep(LOOK);
    }
    let log = root.join(LOG);
    let message = format_args!(
        "the daemon does not start; its messages are in `{}`",
        log.display()
    );
    Err(Failure::new(message).help("start it by yourself: `mcp mcpd`"))
}

/// Starts a daemon that outlives this program and its terminal.
fn start(root: &Path, own: Program<'_>) -> Result<(), Failure> {
    let log = root.join(LOG);
    let unusable = |error| Failure::new(format_args!("`{}` can't be used: {error}", log.display()));
    if let Some(folder) = log.parent() {
        fs::create_dir_all(folder).map_err(unusable)?;
    }
    let file = OpenOptions::new().create(true).append(true).open(&log);
    let file = file.map_err(unusable)?;
    let program = std::env::current_exe().map_err(Failure::internal)?;
    let mut command = Command::new(program);
    command
        .args(own.before)
        .arg("mcpd")
        .arg("--root")
        .arg(root)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(file);
    // A signal of the terminal must not end it.
    command.process_group(0);
    command.spawn().map_err(Failure::internal)?;
    Ok(())
}
