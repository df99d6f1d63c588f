//! The daemon as its program sees it.

use super::counts::Counts;
use super::daemon::{CLIENT, Daemon};
use super::decider::Decider;
use super::http::Http;
use super::service::Tools;
use super::shown::Shown;
use super::staging::clear;
use agent_app_proxy::{Config, Gateway};
use agent_effects::{Otlp, PlannerChoice, Posts, Resolver, planner};
use agent_host::atomic_write::StagedFile;
use agent_host::contract::daemon::Language;
use agent_host::{Engine, Failure, Signals, output};
use agent_mcp_server::{Announcements, Listener, Token, serve_stdio};
use agent_runners::Runner;
use agent_runners::built_in::BuiltIn;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{member, number, string};
use agent_tasks::{AbstractSockets, Exported, Identity, SocketFolder, TaskId, Tasks};
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::select;
use tokio::task::{LocalSet, spawn_local};

/// The files of a daemon, below the folder of tasks.
const TOKEN: &str = ".state/token";
const ADDRESS: &str = ".state/daemon.json";
const PORT: &str = ".state/daemon.port";
const LOCK: &str = ".state/daemon.lock";

/// What a daemon needs.
pub struct Setup {
    /// The folder of tasks: `.mcpd`.
    pub root: PathBuf,
    /// The file with the policy.
    pub policy: PathBuf,
    /// The planner.
    pub planner: PlannerChoice,
    /// The program and its first arguments that supervise an app.
    pub supervisor: Vec<PathBuf>,
    /// Foreign runners, each with the name of the language whose built-in runner it replaces.
    pub runners: Vec<(String, PathBuf)>,
    /// Whether one more client is served over standard input and output, with which the daemon ends.
    pub stdio: bool,
    /// The port of the app gateway.
    pub port: u16,
    /// The port at which clients are served; `None` for that of the last daemon of the folder, or a free one.
    pub listen: Option<u16>,
    /// Time without a connection after which an app ends.
    pub idle: Option<Duration>,
    /// The URL of a collector of spans.
    pub otlp: Option<String>,
}

/// Returns the lock of the only daemon of a folder.
pub(crate) fn alone(root: &Path) -> Result<File, Failure> {
    let path = root.join(LOCK);
    let unusable = |error: io::Error| {
        Failure::new(format_args!("`{}` can't be used: {error}", path.display()))
    };
    let mut options = File::options();
    let lock = options.write(true).create(true).mode(0o600).open(&path);
    let lock = lock.map_err(unusable)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::Error(error)) => Err(unusable(error)),
        Err(TryLockError::WouldBlock) => {
            let message = format_args!("another daemon serves `{}`", root.display());
            Err(Failure::new(message).help("use that one, or end it with `mcp mcpd --stop`"))
        }
    }
}

/// Makes the folder of tasks if it is missing. Only this user may enter it. Returns its absolute path.
///
/// # Errors
///
/// When it can't be made, or another user could change it.
pub fn prepare(root: &Path) -> Result<PathBuf, Failure> {
    let tasks = Tasks::open(root).map_err(Failure::new)?;
    Ok(tasks.path().to_owned())
}

/// Where a daemon is reached, and the token for it.
pub struct Place {
    /// Its address.
    pub address: SocketAddr,
    /// The token of the command line.
    pub token: Token,
    process: Identity,
}

impl Place {
    /// Returns where the daemon of a folder is reached; `None` if none runs.
    ///
    /// # Errors
    ///
    /// When its token can't be read.
    pub fn of(root: &Path) -> Result<Option<Self>, Failure> {
        let Ok(text) = fs::read_to_string(root.join(ADDRESS)) else {
            return Ok(None);
        };
        let read = || {
            let root = parse_strict(&text)?;
            let address = string(member(&root, "address")?)?.parse().ok()?;
            let process = Identity {
                pid: i32::try_from(number(member(&root, "pid")?)?).ok()?,
                start_ticks: number(member(&root, "start")?)?,
                boot_id: string(member(&root, "boot")?)?.to_owned(),
            };
            process.lives().then_some((address, process))
        };
        let Some((address, process)) = read() else {
            return Ok(None);
        };
        let token = Token::of_file(&root.join(TOKEN))?;
        Ok(Some(Self {
            address,
            token,
            process,
        }))
    }

    /// Ends the daemon. Apps run on. Returns whether it has ended within a time.
    ///
    /// # Errors
    ///
    /// When this user may not end it.
    pub fn stop(&self, time: Duration) -> Result<bool, Failure> {
        let ended = self.process.end(time);
        ended.map_err(|error| Failure::new(format_args!("the daemon can't be ended: {error}")))
    }
}

/// The file that says where a daemon is reached. It goes with the daemon.
struct Announced(PathBuf);

impl Announced {
    fn new(root: &Path, address: SocketAddr) -> Result<Self, Failure> {
        let own = Identity::own().map_err(Failure::internal)?;
        let mut w = Writer::dense();
        w.object(|w| {
            w.key("address").string(&address.to_string());
            w.key("boot").string(&own.boot_id);
            w.key("pid").json(&own.pid.to_string());
            w.key("start").json(&own.start_ticks.to_string());
        });
        let path = root.join(ADDRESS);
        StagedFile::new(&path, w.finish().as_bytes())?.commit()?;
        Ok(Self(path))
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        // The next daemon sees that this one is gone also by its process.
        let _ = fs::remove_file(&self.0);
    }
}

/// Returns the foreign runners by their languages.
fn foreign(runners: &[(String, PathBuf)]) -> Result<BTreeMap<&'static str, Runner>, Failure> {
    let runners = runners.iter().map(|(language, program)| {
        let known = Language::named(language).ok_or_else(|| {
            let message = format_args!("`{language}` is no language of apps");
            Failure::new(message).help("name `python`, `node`, `go` or `rust`")
        })?;
        let runner = Runner::new(program).map_err(Failure::new)?;
        Ok((known.name(), runner))
    });
    runners.collect()
}

/// Serves clients over HTTP until the user or the system ends the program. Apps outlive it: the next daemon finds them.
///
/// # Errors
///
/// When the folder of tasks or a port can't be had, or another daemon serves the folder.
pub async fn serve(engine: Engine, setup: Setup, mut signals: Signals) -> Result<(), Failure> {
    let failed = |error: agent_tasks::Error| Failure::new(error);
    let root = prepare(&setup.root)?;
    let _alone = alone(&root)?;
    clear(&root).map_err(Failure::internal)?;
    let shown = Arc::new(Shown::default());
    let mut config = Config {
        port: setup.port,
        ..Config::default()
    };
    if let Some(idle) = setup.idle {
        // A connection that is kept for the next request is no use of an app.
        config.limits.idle_app_time = config.limits.idle_app_time.min(idle / 2);
    }
    // Apps can be reached without a gateway, and not without the daemon.
    let listener = bound(&root, setup.listen).await?;
    let gateway = Gateway::start(Arc::clone(&shown) as _, config).map_err(Failure::internal)?;
    match gateway.address() {
        Ok(address) if address.port() == setup.port => {}
        Ok(address) if setup.port == 0 => {
            output::note(format_args!("apps are at http://{address}/"))
        }
        Ok(address) => output::note(format_args!(
            "port {} is taken: apps are at http://{address}/",
            setup.port
        )),
        Err(error) => output::note(format_args!(
            "the app gateway has no port: {error}; apps are at ports of their own"
        )),
    }
    let otlp = setup.otlp.as_deref().map(|url| {
        let posts = Posts::new(engine.clone(), Resolver::system());
        Otlp::new("mcpd", url, posts)
    });
    let otlp = otlp.transpose()?;
    let daemon = Rc::new(Daemon {
        decider: Decider::new(engine),
        planner: planner(&setup.planner).await?,
        policy: setup.policy,
        runners: BuiltIn::load().map_err(Failure::internal)?,
        foreign: foreign(&setup.runners)?,
        sockets: sockets(),
        unregistered: AbstractSockets::own().map_err(failed)?,
        supervisor: setup.supervisor,
        gateway,
        idle: setup.idle,
        tasks: Default::default(),
        shown,
        lists: Announcements::default(),
        counts: Rc::new(Counts::default()),
        spans: otlp.as_ref().map(|it| it.spans().clone()),
        root: root.clone(),
    });
    daemon
        .recover()
        .await
        .map_err(|refusal| Failure::new(refusal.message))?;
    let token = Token::of_file(&root.join(TOKEN))?;
    let clients = vec![(CLIENT.to_owned(), token)];
    let http = Rc::new(Http::new(Rc::clone(&daemon), clients, listener.address()));
    let _announced = Announced::new(&root, listener.address())?;
    output::note(format_args!(
        "mcpd serves `{}` at http://{}/",
        root.display(),
        listener.address()
    ));
    let tasks = LocalSet::new();
    let served = tasks.run_until(async {
        if let Some(otlp) = &otlp {
            spawn_local(otlp.clone().export());
        }
        let answer = move |request| {
            let http = Rc::clone(&http);
            async move { http.answer(request).await }
        };
        let standard = async {
            match setup.stdio {
                true => serve_stdio(Rc::new(Tools(Rc::clone(&daemon)))).await,
                false => std::future::pending().await,
            }
        };
        select! {
            () = listener.serve(answer) => Ok(()),
            () = daemon.watch() => Ok(()),
            () = signals.cancelled() => Ok(()),
            served = standard => served,
        }
    });
    let served = served.await;
    // Abort work whose client has disconnected.
    drop(tasks);
    if let Some(otlp) = &otlp {
        otlp.flush().await;
    }
    served
}

/// Returns the folder for the sockets of apps. Without one, apps are reached at leased ports alone.
fn sockets() -> Option<SocketFolder> {
    let folder = SocketFolder::usual();
    if let Err(error) = &folder {
        output::note(format_args!("{error}; each app has a leased port alone"));
    }
    folder.ok()
}

/// Returns the listener for clients: at the given port, or at that of the last daemon if it is free, or at a free one.
async fn bound(root: &Path, port: Option<u16>) -> Result<Listener, Failure> {
    let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    if let Some(port) = port {
        let taken = |failure: Failure| failure.help("choose another port with `--listen`");
        return Listener::bind(at(port)).await.map_err(taken);
    }
    let path = root.join(PORT);
    let last = fs::read_to_string(&path).ok();
    let last = last.and_then(|text| text.trim().parse().ok());
    let listener = match Listener::bind(at(last.unwrap_or_default())).await {
        Err(_) if last.is_some() => Listener::bind(at(0)).await?,
        bound => bound?,
    };
    let port = format!("{}\n", listener.address().port());
    StagedFile::new(&path, port.as_bytes())?.commit()?;
    Ok(listener)
}

/// Writes the files of an app, whose task has this folder, into a folder that is new or empty: what plans wrote, and
/// data that the app wrote if `written` is set.
///
/// # Errors
///
/// When there is no such task, or the folder can't be written.
pub fn export(task: &Path, to: &Path, written: bool) -> Result<Exported, Failure> {
    let failed = |error: agent_tasks::Error| Failure::new(error);
    let missing = || Failure::new(format_args!("`{}` is no task", task.display()));
    let (root, id) = task.parent().zip(task.file_name()).ok_or_else(missing)?;
    let id = TaskId::parse(&id.to_string_lossy()).map_err(failed)?;
    let tasks = Tasks::open(root).map_err(failed)?;
    let source = tasks.task(&id).and_then(|task| task.source());
    let exported = source.and_then(|it| match written {
        true => it.export_with_written(to),
        false => it.export(to),
    });
    exported.map_err(failed)
}
