//! The daemon: started by the user, or by a command that finds none.

use crate::Program;
use crate::args::{self, Decides, Mcpd};
use agent_daemon::{Place, Setup, prepare, serve};
use agent_effects::{Signals, block_on};
use agent_host::{Engine, Failure, output};
use agent_planner::{Command as PlanCommand, Planner, Template};
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The log of a daemon that a command started, in the folder of tasks.
const LOG: &str = ".state/daemon.log";

/// Time until a started daemon must answer.
const START: Duration = Duration::from_secs(30);

/// How often to look whether it does.
const LOOK: Duration = Duration::from_millis(20);

/// Serves until the user or the system ends the program.
pub(crate) fn run(args: &Mcpd, place: &args::Place, own: Program<'_>) -> Result<(), Failure> {
    let setup = Setup {
        stdio: args.stdio,
        idle: (args.idle > 0).then(|| Duration::from_secs(args.idle)),
        ..setup(&args.decides, place, own, args.port)?
    };
    let engine = Engine::embedded()?;
    block_on(async { serve(engine, setup, Signals::new()?).await })
}

/// Returns what a daemon needs that serves nobody over standard streams, and ends no idle app.
pub(crate) fn setup(
    args: &Decides,
    place: &args::Place,
    own: Program<'_>,
    port: u16,
) -> Result<Setup, Failure> {
    let program = std::env::current_exe().map_err(Failure::internal)?;
    let before = own.before.iter().map(Into::into);
    let supervisor = [program].into_iter().chain(before);
    let policy = match &args.policy_file {
        Some(file) if !file.exists() => {
            let message = format_args!("the policy `{}` does not exist", file.display());
            return Err(Failure::new(message));
        }
        Some(file) => file.clone(),
        None => place.root.join("policy.yaml"),
    };
    Ok(Setup {
        policy,
        root: place.root.clone(),
        planner: match &args.planner[..] {
            [] => Planner::Template(Template::default()),
            command => Planner::Command(PlanCommand::new(command)),
        },
        supervisor: supervisor.chain(["supervise".into()]).collect(),
        runners: args.runners.clone(),
        port,
        stdio: false,
        idle: None,
    })
}

/// Waits until the daemon of a folder answers, or the process that should be one has ended.
pub(crate) async fn started(root: &Path, mut child: Option<&mut Child>) -> Result<Place, Failure> {
    let until = Instant::now() + START;
    while Instant::now() < until {
        let has_ended = child
            .as_mut()
            .is_some_and(|it| matches!(it.try_wait(), Ok(Some(_))));
        // Another one may have been started at the same time.
        if let Some(place) = Place::of(root)? {
            return Ok(place);
        }
        if has_ended {
            break;
        }
        tokio::time::sleep(LOOK).await;
    }
    let root = root.display();
    Err(Failure::new(format_args!(
        "the daemon of `{root}` does not start"
    )))
}

/// Returns where the daemon is reached. Starts one where none runs.
pub(crate) fn found_or_started(
    place: &args::Place,
    program: Program<'_>,
) -> Result<Place, Failure> {
    let root = prepare(&place.root)?;
    if let Some(place) = Place::of(&root)? {
        return Ok(place);
    }
    let mut child = start(&root, program)?;
    let log = root.join(LOG);
    let place = block_on(started(&root, Some(&mut child))).map_err(|failure| {
        let log = log.display();
        failure.help(format_args!(
            "its messages are in `{log}`; start it by yourself: `mcp mcpd`"
        ))
    })?;
    if !program.quiet {
        output::note(format_args!("started the daemon of `{}`", root.display()));
    }
    Ok(place)
}

/// Starts a daemon that outlives this program and its terminal.
fn start(root: &Path, own: Program<'_>) -> Result<Child, Failure> {
    let log = root.join(LOG);
    let unusable = |error| Failure::new(format_args!("`{}` can't be used: {error}", log.display()));
    let mut options = OpenOptions::new();
    let file = options.create(true).append(true).mode(0o600).open(&log);
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
    command.spawn().map_err(Failure::internal)
}
