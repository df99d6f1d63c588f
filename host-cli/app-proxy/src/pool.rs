//! Connections to the apps, which are kept for further requests.

use crate::app::App;
use crate::limits::{FRESH_APP_TIME, IDLE_APP_CONNECTIONS, Limits};
use crate::refusal::Refusal;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout};

/// Pause until the next try when the queue of an app's socket is full.
const PAUSE: Duration = Duration::from_millis(5);

/// The extension of the socket at which the supervisor of a task reports whether a connection waits for the app's first
/// byte: one byte at the beginning, and one for every change. It is beside the socket of the task.
const WAIT_SOCKET: &str = "wait";

/// The byte that reports that no connection waits.
const NONE_WAITS: u8 = b'0';

/// The connections to one task's app.
#[derive(Debug)]
pub(crate) struct Pool {
    socket: Arc<Path>,
    /// The idle connections with the time of their last use, the latest one last.
    idle: Mutex<Vec<(Instant, App)>>,
    /// Number of requests that the app works on.
    active: AtomicUsize,
    /// Number of requests that wait for the app to respond, for longer than [`HAND_OVER_TIME`](crate::limits::HAND_OVER_TIME).
    waiting: AtomicUsize,
    /// Whether the supervisor of the app reports a connection that waits, of any client.
    is_reported: AtomicBool,
    /// The task that follows these reports.
    following: Mutex<Option<AbortHandle>>,
}

impl Drop for Pool {
    fn drop(&mut self) {
        if let Some(following) = locked(&self.following).take() {
            following.abort();
        }
    }
}

/// A place among the requests that an app works on.
#[derive(Debug)]
pub(crate) struct Place(Arc<Pool>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.active.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A request that waits for the app to respond.
pub(crate) struct Waiting<'p>(&'p Pool);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Pool {
    /// Takes a place. Nothing, if the app has as many requests as it may have.
    pub(crate) fn enter(self: &Arc<Self>, limit: usize) -> Option<Place> {
        if self.active.fetch_add(1, Ordering::Relaxed) >= limit {
            self.active.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Place(Arc::clone(self)))
    }

    /// Takes an idle connection that the app has not closed. A request that must not be repeated gets one that was
    /// used a moment ago: an app closes connections that are idle for longer.
    pub(crate) fn take(&self, is_repeatable: bool) -> Option<App> {
        let mut idle = locked(&self.idle);
        loop {
            let (since, _) = idle.last()?;
            if !is_repeatable && since.elapsed() > FRESH_APP_TIME {
                return None;
            }
            let (_, app) = idle.pop()?;
            // Bytes that no request asked for, and the end, make a connection useless.
            if app.sender.is_ready() {
                return Some(app);
            }
        }
    }

    /// Marks a request as waiting until the result is dropped, and closes idle connections: an app that serves one
    /// connection at a time may wait for the next request of such a one.
    pub(crate) fn wait(&self) -> Waiting<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        locked(&self.idle).clear();
        Waiting(self)
    }

    /// Keeps a connection whose response is complete, unless the app has it closed or may have to close it.
    pub(crate) fn keep(self: &Arc<Self>, mut app: App) {
        app.is_reused = true;
        let is_waited_for =
            self.waiting.load(Ordering::Relaxed) > 0 || self.is_reported.load(Ordering::Relaxed);
        if is_waited_for || !app.sender.is_ready() {
            return;
        }
        self.follow_reports();
        let mut idle = locked(&self.idle);
        if idle.len() < IDLE_APP_CONNECTIONS {
            idle.push((Instant::now(), app));
        }
    }

    /// Follows the reports of the app's supervisor, unless this is done already.
    fn follow_reports(self: &Arc<Self>) {
        let mut following = locked(&self.following);
        // A connection that becomes idle while the gateway ends finds no runtime.
        if following.is_none()
            && let Ok(runtime) = Handle::try_current()
        {
            let socket = self.socket.with_extension(WAIT_SOCKET);
            let reports = follow(Arc::downgrade(self), socket);
            *following = Some(runtime.spawn(reports).abort_handle());
        }
    }

    /// Opens a connection, and looks whether it stays open. The app has not answered over it, so it is not kept.
    ///
    /// # Errors
    ///
    /// As for [`connect`](Self::connect); 502 also if the connection is closed at once.
    pub(crate) async fn reach(&self, limits: &Limits) -> Result<(), Refusal> {
        let stream = self.open(limits).await?;
        match timeout(limits.health_time, stream.readable()).await {
            Err(_) => Ok(()),
            // The end, or bytes that no request asked for.
            Ok(_) => Err(unreachable()),
        }
    }

    /// Opens a connection for requests.
    ///
    /// # Errors
    ///
    /// 502 if nothing listens, 504 if the app does not accept it in time, 503 if there are too many open files.
    pub(crate) async fn connect(&self, limits: &Limits) -> Result<App, Refusal> {
        let stream = self.open(limits).await?;
        App::new(stream).await.map_err(|_| unreachable())
    }

    async fn open(&self, limits: &Limits) -> Result<UnixStream, Refusal> {
        let connected = timeout(limits.connect_time, async {
            loop {
                match connect_to(&self.socket).await {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(PAUSE).await,
                    other => return other,
                }
            }
        });
        match connected.await {
            Ok(Ok(stream)) => Ok(stream),
            Ok(Err(error)) if is_exhausted(&error) => {
                Err(Refusal::new(503, "the gateway has too many open files")
                    .help("try again later"))
            }
            Ok(Err(_)) => Err(unreachable()),
            Err(_) => Err(Refusal::new(
                504,
                "the app did not accept the connection in time",
            )),
        }
    }
}

/// Closes the idle connections of a pool whenever the supervisor reports that a connection waits. An app without a
/// supervisor that reports it serves many connections at a time.
async fn follow(pool: Weak<Pool>, socket: PathBuf) {
    let Ok(mut reports) = connect_to(&socket).await else {
        return;
    };
    while let Ok(byte) = reports.read_u8().await {
        let Some(pool) = pool.upgrade() else {
            return;
        };
        let is_waiting = byte != NONE_WAITS;
        pool.is_reported.store(is_waiting, Ordering::Relaxed);
        if is_waiting {
            locked(&pool.idle).clear();
        }
    }
    // The run has ended. The next one has another supervisor at the same path.
    if let Some(pool) = pool.upgrade() {
        pool.is_reported.store(false, Ordering::Relaxed);
        *locked(&pool.following) = None;
    }
}

/// Connects to a socket. Any user may listen at an abstract name, which is free when its run has ended.
async fn connect_to(socket: &Path) -> io::Result<UnixStream> {
    let stream = UnixStream::connect(socket).await?;
    let is_abstract = socket.as_os_str().as_encoded_bytes().starts_with(b"\0");
    if is_abstract && stream.peer_cred()?.uid() != rustix::process::getuid().as_raw() {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    Ok(stream)
}

fn unreachable() -> Refusal {
    Refusal::new(502, "the app of this task is not reachable")
        .help("read the log of the task: the app may have stopped")
}

/// Returns whether the process or the system has too many open files: `EMFILE` or `ENFILE`.
fn is_exhausted(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(23 | 24))
}

/// The pools of all running tasks.
#[derive(Debug, Default)]
pub(crate) struct Pools(Mutex<HashMap<Box<str>, Arc<Pool>>>);

impl Pools {
    /// Returns the pool of a task whose app listens on a socket.
    pub(crate) fn of(&self, task_id: &str, socket: &Arc<Path>) -> Arc<Pool> {
        let mut pools = locked(&self.0);
        if let Some(pool) = pools.get(task_id)
            && (Arc::ptr_eq(&pool.socket, socket) || pool.socket == *socket)
        {
            return Arc::clone(pool);
        }
        let pool = Arc::new(Pool {
            socket: Arc::clone(socket),
            idle: Mutex::default(),
            active: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            is_reported: AtomicBool::new(false),
            following: Mutex::default(),
        });
        pools.insert(task_id.into(), Arc::clone(&pool));
        pool
    }

    /// Closes the idle connections to a task's app.
    pub(crate) fn remove(&self, task_id: &str) {
        locked(&self.0).remove(task_id);
    }

    /// Closes connections that were idle for longer than a time.
    pub(crate) fn sweep(&self, time: Duration) {
        let now = Instant::now();
        locked(&self.0).retain(|_, pool| {
            let mut idle = locked(&pool.idle);
            idle.retain(|(since, _)| now.duration_since(*since) < time);
            !idle.is_empty() || Arc::strong_count(pool) > 1
        });
    }
}

/// Nothing that is done under a lock here leaves its value in pieces.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
