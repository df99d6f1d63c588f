//! The gateway: its thread, its listeners and its leases.

use crate::lease::{Leases, Life};
use crate::limits::{LEASED_PORTS, Limits, PORT, SWEEP_TIME};
use crate::listener::{Serving, bind, bind_or_free};
use crate::pool::{Pools, locked};
use crate::site::{Shared, Site};
use crate::tasks::{TaskState, Tasks};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Instant;
use tokio::runtime::{Builder, Handle};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::sleep;

/// Where a gateway listens, and its limits. `Default` is what the specification says.
#[derive(Debug, Clone)]
pub struct Config {
    /// The port of loopback; a free one is used instead where it is taken. Default [`PORT`].
    pub port: u16,
    /// The ports that are leased. Default [`LEASED_PORTS`].
    pub leased_ports: RangeInclusive<u16>,
    /// The limits of requests.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            port: PORT,
            leased_ports: LEASED_PORTS,
            limits: Limits::default(),
        }
    }
}

/// A running gateway. Dropping it closes its listeners and connections, and waits for that.
#[derive(Debug)]
pub struct Gateway {
    shared: Arc<Shared>,
    runtime: Handle,
    address: Result<SocketAddr, io::Error>,
    leases: Arc<Mutex<Leases<Serving>>>,
    _serving: Option<Serving>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Gateway {
    /// Starts a gateway in a thread of its own.
    ///
    /// A gateway that finds no port starts all the same, as it also serves the leased ports: see
    /// [`address`](Self::address).
    ///
    /// # Errors
    ///
    /// When the system gives no thread or no queue of events.
    pub fn start(tasks: Arc<dyn Tasks>, config: Config) -> io::Result<Self> {
        let (stop, stopped) = oneshot::channel();
        let (runtime, thread) = run(stopped)?;
        let shared = Arc::new(Shared {
            tasks,
            pools: Pools::default(),
            connections: Arc::new(Semaphore::new(config.limits.connections)),
            limits: config.limits,
        });
        let leases = Arc::new(Mutex::new(Leases::new(config.leased_ports)));
        let mut serving = None;
        let address = bind_or_free(config.port, bind).map(|(listener, address)| {
            let site = Site::new(Arc::clone(&shared), address.port(), None);
            serving = Some(Serving::start(&runtime, listener, site));
            address
        });
        runtime.spawn(sweep(Arc::clone(&shared), Arc::clone(&leases)));
        Ok(Self {
            shared,
            runtime,
            address,
            leases,
            _serving: serving,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Returns the address of the gateway. It has another port than the configured one where that was taken.
    ///
    /// # Errors
    ///
    /// When no port could be had. Apps are then reached at leased ports only \[2, 0\].
    pub fn address(&self) -> Result<SocketAddr, &io::Error> {
        self.address.as_ref().copied()
    }

    /// Returns the URL of a task's app. Nothing, if the gateway has no address.
    #[must_use]
    pub fn url(&self, task_id: &str) -> Option<String> {
        let address = self.address.as_ref().ok()?;
        Some(format!("http://{address}/apps/{task_id}/"))
    }

    /// Leases a port to a task, which is served there without a prefix (`direct_url`). A task has one lease: a further
    /// call returns the same address.
    ///
    /// The lease ends after [`LEASE_TIME`](crate::limits::LEASE_TIME), when the task has ended, or by
    /// [`release`](Self::release). It is renewed while the task runs.
    ///
    /// # Errors
    ///
    /// When no port of the range is free.
    pub fn lease(&self, task_id: &str) -> io::Result<SocketAddr> {
        self.lease_again(task_id, None)
    }

    /// Does the same, with the port that the task had before if it is free.
    ///
    /// # Errors
    ///
    /// As of [`lease`](Self::lease).
    pub fn lease_again(&self, task_id: &str, before: Option<u16>) -> io::Result<SocketAddr> {
        let bind = |port| {
            let (listener, address) = bind(port)?;
            let site = Site::new(Arc::clone(&self.shared), address.port(), Some(task_id));
            Ok(Serving::start(&self.runtime, listener, site))
        };
        let port = locked(&self.leases).lease(task_id, before, Instant::now(), bind)?;
        Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
    }

    /// Ends the lease of a task that has ended, and closes the idle connections to its app.
    pub fn release(&self, task_id: &str) {
        locked(&self.leases).release(task_id);
        self.shared.pools.remove(task_id);
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic there was reported when it happened.
            let _ = thread.join();
        }
    }
}

/// Starts a thread with a runtime, which ends with the sender of `stopped`.
fn run(stopped: oneshot::Receiver<()>) -> io::Result<(Handle, JoinHandle<()>)> {
    let (tell, told) = sync_channel(1);
    let thread = thread::Builder::new().name("app-gateway".to_owned());
    let thread = thread.spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build();
        // The caller waits for this message.
        match runtime {
            Ok(runtime) => {
                let _ = tell.send(Ok(runtime.handle().clone()));
                let _ = runtime.block_on(stopped);
            }
            Err(error) => drop(tell.send(Err(error))),
        }
    })?;
    let runtime = told.recv().map_err(io::Error::other)??;
    Ok((runtime, thread))
}

/// Looks after leases and idle connections, for ever.
async fn sweep(shared: Arc<Shared>, leases: Arc<Mutex<Leases<Serving>>>) {
    loop {
        sleep(SWEEP_TIME).await;
        shared.pools.sweep(shared.limits.idle_app_time);
        locked(&leases).sweep(Instant::now(), |task_id| {
            match shared.tasks.state(task_id) {
                TaskState::Running(_) | TaskState::Leased(_) => Life::Runs,
                TaskState::Waiting | TaskState::Unknown => Life::Waits,
                TaskState::Ended => Life::Ended,
            }
        });
    }
}
