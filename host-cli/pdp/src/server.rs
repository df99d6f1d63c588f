//! The socket, the worker threads, and the end of the program.

use super::answer::CodeNames;
use super::args::{Arguments, THREADS_MAX};
use super::decider::Decider;
use super::files;
use super::service::Service;
use agent_host::contract::session::Documents;
use agent_host::{Engine, Failure, Signals, Zone, block_on, output};
use agent_mcp_server::{PrivateConnections, PrivateSocket};
use agent_ownership::{UserFolder, create_private};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use tokio::select;
use tokio::sync::mpsc;
use tokio::task::LocalSet;

/// The usual socket, in the user's folder of state.
const SOCKET: &str = "agent/pdp.sock";

/// What a worker needs.
struct Worker {
    connections: PrivateConnections,
    engine: Engine,
    documents: Arc<Documents>,
    zone: Zone,
}

/// Serves until a signal comes. Returns whether the documents can be obeyed.
///
/// # Errors
///
/// When a file can't be read, the socket can't be opened, or a worker fails.
pub(crate) async fn run(args: &Arguments) -> Result<bool, Failure> {
    let mut signals = Signals::new()?;
    let engine = Engine::embedded()?;
    let mut instance = engine.instantiate()?;
    let (documents, findings) = files::read(args, &mut instance)?;
    let documents = Arc::new(documents);
    let decider = match Decider::open(&engine, &documents, &args.timezone)? {
        Ok(decider) => decider,
        Err(problems) => {
            let catalogue = instance.catalogue()?;
            output::note_drawn(&findings.draw(&problems, catalogue));
            return Ok(false);
        }
    };
    drop((instance, findings));
    let path = match &args.socket {
        Some(path) => path.clone(),
        None => usual_socket()?,
    };
    // It is removed when this function ends.
    let socket = PrivateSocket::bind(&path)?;
    announce(&decider, &path)?;
    drop(decider);
    let (ended, mut ends) = mpsc::unbounded_channel();
    for number in 0..args.threads.map_or_else(processors, usize::from) {
        let ended = ended.clone();
        let worker = Worker {
            connections: socket.connections()?,
            engine: engine.clone(),
            documents: Arc::clone(&documents),
            zone: args.timezone.clone(),
        };
        let thread = thread::Builder::new().name(format!("worker {number}"));
        let started = thread.spawn(move || {
            let end = block_on(LocalSet::new().run_until(worker.serve()));
            // Nobody waits for it any more when the program ends.
            let _ = ended.send(end);
        });
        started.map_err(|error| {
            Failure::new(format_args!("the system refuses a thread: {error}"))
                .help("name fewer with `--threads`")
        })?;
    }
    select! {
        () = signals.cancelled() => Ok(true),
        Some(end) = ends.recv() => end.map(|()| true),
    }
}

impl Worker {
    /// Answers requests, for ever.
    async fn serve(self) -> Result<(), Failure> {
        let decider = Decider::open(&self.engine, &self.documents, &self.zone)?;
        let decider = decider
            .map_err(|_| Failure::internal("the documents were obeyed by another worker only"))?;
        let names = CodeNames::of(self.engine.instantiate()?.catalogue()?);
        let service = Rc::new(Service::new(decider, names));
        let answer = move |request| {
            let service = Rc::clone(&service);
            async move { service.answer(request).await }
        };
        self.connections.serve(answer).await
    }
}

/// Says where decisions are made, and by which documents.
fn announce(decider: &Decider, path: &Path) -> Result<(), Failure> {
    let digests = decider.documents()?;
    let lock = digests.lock.unwrap_or_default();
    let policy = digests.policy.map(|it| format!(", policy {it}"));
    output::note(format_args!(
        "decides at {} by lock {lock}{}",
        path.display(),
        policy.unwrap_or_default()
    ));
    Ok(())
}

/// Returns the usual socket, in a folder that only this user can change.
fn usual_socket() -> Result<PathBuf, Failure> {
    let missing = || {
        Failure::new("there is no folder for the socket")
            .help("name a path with `--socket`, or set `HOME` or `XDG_STATE_HOME`")
    };
    let path = UserFolder::State.path().ok_or_else(missing)?.join(SOCKET);
    let folder = path.parent().unwrap_or(Path::new("/"));
    create_private(folder).map_err(|error| {
        let folder = folder.display();
        Failure::new(format_args!("the folder `{folder}` can't be made: {error}"))
    })?;
    Ok(path)
}

/// Returns the number of processors that this program may use.
fn processors() -> usize {
    let processors = thread::available_parallelism();
    processors.map_or(1, usize::from).min(THREADS_MAX.into())
}
