//! One call of a built-in runner, in its own instance.

use super::bindings::agent::runner::process;
use super::{Command, Condition, Failure, Process, Started};
use crate::limits::{RUNNER_FUEL, RUNNER_MEMORY_BYTES, RUNNER_YIELD_FUEL};
use std::path::Path;
use std::pin::pin;
use tokio::select;
use tokio::sync::{mpsc, oneshot};
use wasmtime::component::ResourceTable;
use wasmtime::{Engine, Result, Store, StoreLimits, StoreLimitsBuilder};
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxView, WasiView};

/// Maximum number of open files and other resources of a call.
const RESOURCES: usize = 100;

/// What the store of a runner holds.
pub(super) struct State {
    asks: mpsc::Sender<Ask>,
    ctx: WasiCtx,
    table: ResourceTable,
    limits: StoreLimits,
}

/// What a runner asks for, and where the answer goes.
pub(super) enum Ask {
    Toolchain(String, oneshot::Sender<Option<String>>),
    Start(
        Command,
        oneshot::Sender<std::result::Result<Started, Failure>>,
    ),
    Stop(oneshot::Sender<std::result::Result<(), Failure>>),
    Check(oneshot::Sender<Condition>),
}

/// Returns the store of a call, and what is asked for in it.
pub(super) fn store(
    engine: &Engine,
    folder: &Path,
    perms: FsPerms,
) -> Result<(Store<State>, mpsc::Receiver<Ask>)> {
    let (asks, asked) = mpsc::channel(1);
    let mut ctx = WasiCtx::builder();
    ctx.allow_tcp(false).allow_udp(false);
    ctx.preopened_dir(folder, "/", perms)?;
    let mut table = ResourceTable::new();
    table.set_max_capacity(RESOURCES);
    let limits = StoreLimitsBuilder::new()
        .memory_size(RUNNER_MEMORY_BYTES)
        .instances(RESOURCES)
        .build();
    let state = State {
        asks,
        ctx: ctx.build(),
        table,
        limits,
    };
    let mut store = Store::new(engine, state);
    store.limiter(|state| &mut state.limits);
    store.set_hostcall_fuel(RUNNER_MEMORY_BYTES);
    store.set_fuel(RUNNER_FUEL)?;
    store.fuel_async_yield_interval(Some(RUNNER_YIELD_FUEL))?;
    // Fuel bounds a call: no epoch ends.
    store.set_epoch_deadline(u64::MAX / 2);
    Ok((store, asked))
}

/// Runs a guest, and performs what it asks for.
pub(super) async fn perform<T>(
    guest: impl Future<Output = Result<T>>,
    mut asked: mpsc::Receiver<Ask>,
    host: &impl Process,
) -> Result<T> {
    let mut guest = pin!(guest);
    loop {
        select! {
            biased;
            Some(ask) = asked.recv() => answer(ask, host).await,
            ended = &mut guest => return ended,
        }
    }
}

/// Answers a guest, which waits for nothing else.
async fn answer(ask: Ask, host: &impl Process) {
    match ask {
        Ask::Toolchain(program, reply) => drop(reply.send(host.toolchain(&program).await)),
        Ask::Start(command, reply) => drop(reply.send(host.start(command).await)),
        Ask::Stop(reply) => drop(reply.send(host.stop().await)),
        Ask::Check(reply) => drop(reply.send(host.check().await)),
    }
}

impl State {
    async fn ask<T>(&mut self, ask: impl FnOnce(oneshot::Sender<T>) -> Ask) -> Result<T> {
        let given_up = || wasmtime::Error::msg("the call was given up");
        let (reply, replied) = oneshot::channel();
        self.asks.send(ask(reply)).await.map_err(|_| given_up())?;
        replied.await.map_err(|_| given_up())
    }
}

impl process::Host for State {
    async fn toolchain(&mut self, program: String) -> Result<Option<String>> {
        self.ask(|reply| Ask::Toolchain(program, reply)).await
    }

    async fn start(&mut self, command: Command) -> Result<std::result::Result<Started, Failure>> {
        self.ask(|reply| Ask::Start(command, reply)).await
    }

    async fn stop(&mut self) -> Result<std::result::Result<(), Failure>> {
        self.ask(Ask::Stop).await
    }

    async fn check(&mut self) -> Result<Condition> {
        self.ask(Ask::Check).await
    }
}

impl super::bindings::agent::runner::types::Host for State {}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.ctx,
            table: &mut self.table,
        }
    }
}
