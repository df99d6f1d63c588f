//! The daemon: started by the user, or by a command that finds none.

use crate::Program;
use crate::args::{self, Decides, Mcpd};
use crate::refusal::Refusal;
use agent_daemon::{Place, Setup, forward, prepare, serve};
use agent_effects::{PlannerChoice, Signals, block_on};
use agent_host::{Engine, Failure, output};
use std::ffi::OsString;
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

/// Time in which a daemon must end.
const STOP: Duration = Duration::from_secs(30);

/// Serves until the user or the system ends the program, or ends the daemon that does. Returns whether there was one.
pub(crate) fn run(args: &Mcpd, place: &args::Place, own: Program<'_>) -> Result<bool, Refusal> {
    if args.stop {
        return stop(&place.root);
    }
    if args.stdio
        && let Some(running) = Place::of(&place.root).map_err(Refusal::of_files)?
    {
        output::note(format_args!(
            "a daemon serves `{}` already, and its options count",
            place.root.display()
        ));
        let engine = Engine::embedded()?;
        block_on(async { forward(engine, running, Signals::new()?).await })?;
        return Ok(true);
    }
    let setup = Setup {
        stdio: args.stdio,
        listen: args.listen,
        otlp: args.otlp.clone(),
        idle: (args.idle > 0).then(|| Duration::from_secs(args.idle)),
        ..setup(&args.decides, place, own, args.port)?
    };
    let engine = Engine::embedded()?;
    block_on(async { serve(engine, setup, Signals::new()?).await })?;
    Ok(true)
}

/// Ends the daemon of a folder. Returns whether there was one.
fn stop(root: &Path) -> Result<bool, Refusal> {
    let Some(place) = Place::of(root).map_err(Refusal::of_files)? else {
        output::note(format_args!("no daemon serves `{}`", root.display()));
        return Ok(false);
    };
    if place.stop(STOP)? {
        return Ok(true);
    }
    let seconds = STOP.as_secs();
    Err(Failure::new(format_args!("the daemon has not ended within {seconds} s")).into())
}

/// Returns the planner of the options.
fn planner(args: &Decides) -> Result<PlannerChoice, Failure> {
    let server = args.planner_url.clone().zip(args.planner_model.clone());
    let wrong = |message: &str, help: &str| Err(Failure::new(message).help(help));
    let (kind, more) = match &args.planner[..] {
        [] => (None, false),
        [first, rest @ ..] => (Some(&**first), !rest.is_empty()),
    };
    match (kind, server) {
        (Some("template" | "openai"), _) if more => wrong(
            "`--planner` takes all words after it",
            "write the other options before `--planner`",
        ),
        (None | Some("openai"), Some((url, model))) => Ok(PlannerChoice::OpenAi {
            url,
            model,
            key: args.planner_key.clone(),
        }),
        (Some("openai"), None) => wrong(
            "`--planner openai` has no server",
            "add `--planner-url URL --planner-model NAME` before it",
        ),
        (Some(_), Some(_)) => wrong(
            "`--planner-url` is for `--planner openai`",
            "remove one of both options",
        ),
        (None | Some("template"), None) => Ok(PlannerChoice::Template),
        (Some(_), None) => Ok(PlannerChoice::Command(args.planner.clone())),
    }
}

/// Returns the words that give these options to a daemon that is started.
fn words(args: &Decides) -> Result<Vec<OsString>, Failure> {
    planner(args)?;
    let mut words = Vec::new();
    let mut add = |name: &str, value: OsString| words.extend([name.into(), value]);
    if let Some(file) = &args.policy_file {
        add("--policy-file", file.into());
    }
    for (language, program) in &args.runners {
        let mut runner = OsString::from(format!("{language}="));
        runner.push(program);
        add("--runner", runner);
    }
    for (name, value) in [
        ("--planner-url", &args.planner_url),
        ("--planner-model", &args.planner_model),
        ("--planner-key", &args.planner_key),
    ] {
        if let Some(value) = value {
            add(name, value.into());
        }
    }
    if !args.planner.is_empty() {
        // It takes all words after it.
        words.push("--planner".into());
        words.extend(args.planner.iter().map(Into::into));
    }
    Ok(words)
}

/// Returns what a daemon needs that serves no client over standard streams, and ends no idle app.
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
        planner: planner(args)?,
        supervisor: supervisor.chain(["supervise".into()]).collect(),
        runners: args.runners.clone(),
        port,
        listen: None,
        otlp: None,
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
    args: &Decides,
    program: Program<'_>,
) -> Result<Place, Refusal> {
    let root = prepare(&place.root).map_err(Refusal::of_files)?;
    let words = words(args)?;
    if let Some(place) = Place::of(&root).map_err(Refusal::of_files)? {
        if words.is_empty() {
            return Ok(place);
        }
        let message = format_args!(
            "a daemon serves `{}` with options of its own",
            root.display()
        );
        let help = "leave out the options of the daemon, or end it with `mcp mcpd --stop`";
        return Err(Failure::new(message).help(help).into());
    }
    let mut child = start(&root, &words, program)?;
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
fn start(root: &Path, words: &[OsString], own: Program<'_>) -> Result<Child, Failure> {
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
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(file);
    // A signal of the terminal must not end it.
    command.process_group(0);
    command.spawn().map_err(Failure::internal)
}
