//! The socket, the worker threads, and the end of the program.

use super::answer::CodeNames;
use super::args::{Files, Serve, StoreArgs, THREADS_MAX};
use super::basis::Basis;
use super::bundle::{Judge, Sequences, Source};
use super::callers::Callers;
use super::decider::Decider;
use super::files;
use super::network::{Network, Secured};
use super::service::Service;
use super::store::{Nats, Store};
use agent_host::input::{Input, TEXT_MAX};
use agent_host::{Engine, Failure, Hangups, Signals, Zone, block_on, call, output};
use agent_mcp_server::{PrivateConnections, PrivateSocket};
use agent_ownership::{UserFolder, create_private};
use std::future::pending;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use tokio::sync::watch::{self, Receiver};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::LocalSet;
use tokio::{select, try_join};

/// The usual socket, in the user's folder of state.
const SOCKET: &str = "agent/pdp.sock";

/// What a worker needs.
struct Worker {
    connections: PrivateConnections,
    /// The listener for other machines, and who may ask there.
    network: Option<(Secured, Arc<Callers>)>,
    engine: Engine,
    bases: Receiver<Arc<Basis>>,
    bundles: Option<Arc<Source>>,
    store: Option<Arc<Store<Nats>>>,
    zone: Zone,
}

/// Serves until a signal comes. Returns whether the documents or the bundle can be obeyed.
///
/// # Errors
///
/// When a file can't be read, the socket can't be opened, or a worker fails.
pub(crate) async fn run(args: &Serve) -> Result<bool, Failure> {
    let mut signals = Signals::new()?;
    let hangups = Hangups::new()?;
    let engine = Engine::embedded()?;
    let health = args.health.as_ref();
    let store = store(&args.store).await?;
    let (basis, followed) = match &args.bundle {
        None => match of_files(&engine, &args.files, health)? {
            Some(basis) => (basis, None),
            None => return Ok(false),
        },
        Some(bundle) => {
            let source = source(&engine, args, bundle, store.clone())?;
            match source.open().await? {
                Some((basis, current)) => (basis, Some((Arc::new(source), current))),
                None => return Ok(false),
            }
        }
    };
    let (sender, bases) = watch::channel(Arc::new(basis));
    let path = match &args.socket {
        Some(path) => path.clone(),
        None => usual_socket()?,
    };
    let network = network(args)?;
    // It is removed when this function ends.
    let socket = PrivateSocket::bind(&path)?;
    announce(&engine, &bases, &path)?;
    if let Some((secured, _)) = &network {
        output::note(format_args!(
            "answers callers at https://{}",
            secured.address
        ));
    }
    let (ended, mut ends) = mpsc::unbounded_channel();
    for number in 0..args.threads.map_or_else(processors, usize::from) {
        let ended = ended.clone();
        let worker = Worker {
            connections: socket.connections()?,
            network: match &network {
                Some((secured, callers)) => Some((secured.share()?, Arc::clone(callers))),
                None => None,
            },
            engine: engine.clone(),
            bases: bases.clone(),
            bundles: followed.as_ref().map(|(source, _)| Arc::clone(source)),
            store: store.clone(),
            zone: args.timezone.clone(),
        };
        let thread = thread::Builder::new().name(format!("worker {number}"));
        let started = thread.spawn(move || {
            let end = block_on(LocalSet::new().run_until(worker.serve()));
            // Nobody waits for it any more when the program ends.
            let _ = ended.send(end);
        });
        started.map_err(|error| refused(&error).help("name fewer with `--threads`"))?;
    }
    let follow = async {
        match followed {
            Some((source, current)) => source.follow(current, sender, hangups).await,
            None => pending().await,
        }
    };
    select! {
        () = signals.cancelled() => Ok(true),
        () = follow => Ok(true),
        Some(end) = ends.recv() => end.map(|()| true),
    }
}

impl Worker {
    /// Answers requests, for ever.
    async fn serve(self) -> Result<(), Failure> {
        let decider = Decider::open(&self.engine, &self.bases, &self.zone)?;
        let decider = decider
            .map_err(|_| Failure::internal("the documents were obeyed by another worker only"))?;
        let names = CodeNames::of(self.engine.instantiate()?.catalogue()?);
        let (secured, callers) = match self.network {
            Some((secured, callers)) => (Some(secured), callers),
            None => (None, Arc::default()),
        };
        let service = Rc::new(Service::new(
            decider,
            names,
            callers,
            self.bundles,
            self.store,
        ));
        let here = Rc::clone(&service);
        let local = self.connections.serve(move |request| {
            let service = Rc::clone(&here);
            async move { service.answer(request).await }
        });
        let Some(secured) = secured else {
            return local.await;
        };
        let remote = secured.serve(move |certificate, request| {
            let service = Rc::clone(&service);
            async move { service.answer_caller(certificate, request).await }
        });
        try_join!(local, remote).map(|((), ())| ())
    }
}

/// Opens the store of the command line, if there is one, on a thread of its own: a bundle that is read keeps this one busy.
///
/// # Errors
///
/// As [`Nats::open`], or when the system refuses the thread.
async fn store(args: &StoreArgs) -> Result<Option<Arc<Store<Nats>>>, Failure> {
    let Some(url) = args.store.clone() else {
        return Ok(None);
    };
    let args = args.clone();
    let (opened, opening) = oneshot::channel();
    let serve = async move {
        let store = Nats::open(&args, &url).await;
        let store = store.map(|nats| Arc::new(Store::new(nats)));
        let open = store.as_ref().ok().cloned();
        // Nobody waits for it any more when the program ends.
        let _ = opened.send(store);
        if let Some(store) = open {
            store.values.watch_clock().await;
        }
        Ok(())
    };
    let thread = thread::Builder::new().name("store".to_owned());
    let started = thread.spawn(move || block_on(serve));
    started.map_err(|error| refused(&error))?;
    opening.await.map_err(Failure::internal)?.map(Some)
}

fn refused(error: &io::Error) -> Failure {
    Failure::new(format_args!("the system refuses a thread: {error}"))
}

/// Listens at the address of the command line, if there is one, for its callers.
fn network(args: &Serve) -> Result<Option<(Secured, Arc<Callers>)>, Failure> {
    // The command line requires all of them together.
    let (Some(listen), Some(certificate), Some(private_key), Some(callers)) = (
        args.listen,
        &args.certificate,
        &args.private_key,
        &args.callers,
    ) else {
        return Ok(None);
    };
    let callers = Callers::read(callers)?;
    let network = Network {
        listen,
        certificate,
        private_key,
        client_ca: args.client_ca.as_deref(),
    };
    let secured = Secured::bind(&network, callers.have_certificates())?;
    Ok(Some((secured, Arc::new(callers))))
}

/// Reads the documents that the command line names. Returns nothing if they can't be obeyed, which was said.
fn of_files(
    engine: &Engine,
    files: &Files,
    health: Option<&PathBuf>,
) -> Result<Option<Basis>, Failure> {
    let mut instance = engine.instantiate()?;
    let (documents, findings) = files::read(files, health, &mut instance)?;
    let opened = call!(instance, decision_point.point.open(&documents))?;
    if let Err(problems) = opened {
        output::note_drawn(&findings.draw(&problems, instance.catalogue()?));
        return Ok(None);
    }
    Ok(Some(Basis {
        documents,
        bundle: None,
    }))
}

/// Returns where the bundles come from that the command line names.
fn source(
    engine: &Engine,
    args: &Serve,
    bundle: &Path,
    store: Option<Arc<Store<Nats>>>,
) -> Result<Source, Failure> {
    // The command line requires both.
    let missing =
        || Failure::new("a bundle has no name or no keys").help("give `--name` and `--keys`");
    let name = args.name.clone().ok_or_else(missing)?;
    let health = args.health.clone().map(Input::File);
    Ok(Source {
        judge: Judge {
            engine: engine.clone(),
            name: name.clone(),
            health: health.map(|it| it.read(TEXT_MAX)).transpose()?,
        },
        bundle: bundle.to_owned(),
        keys: args.keys.clone().ok_or_else(missing)?,
        sequences: Sequences::new(name, args.sequences.as_deref(), args.min_sequence, store)?,
        publishing: Semaphore::new(1),
    })
}

/// Says where decisions are made, and by which documents.
fn announce(engine: &Engine, bases: &Receiver<Arc<Basis>>, path: &Path) -> Result<(), Failure> {
    let (path, basis) = (path.display(), bases.borrow().clone());
    if let Some(bundle) = &basis.bundle {
        output::note(format_args!("decides at {path} by {bundle}"));
        return Ok(());
    }
    let mut instance = engine.instantiate()?;
    let point = call!(instance, decision_point.point.open(&basis.documents))?;
    let point = point.map_err(|_| Failure::internal("the documents were obeyed once only"))?;
    let digests = call!(instance, decision_point.point.documents(point))?;
    let lock = digests.lock.unwrap_or_default();
    let policy = digests.policy.map(|it| format!(", policy {it}"));
    output::note(format_args!(
        "decides at {path} by lock {lock}{}",
        policy.unwrap_or_default()
    ));
    Ok(())
}

/// Returns the usual socket, in a folder that only this user can change.
pub(crate) fn usual_socket() -> Result<PathBuf, Failure> {
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
