//! One call of a handler.

use super::bindings::HandlersPre;
use super::bindings::agent::handler::{log, program, request, tool};
use super::limits::{Bounds, FUEL, MemoryReached};
use super::wasi::Wasi;
use agent_host::Ticker;
use agent_host::contract::run::{
    Failure, FailureKind, Handled, HandlerCall, HandlerEvent, HandlerProgram, HandlerRequest, Reply,
};
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};
use wasmtime::{Engine, Result, Store, Trap};

/// A call of a handler, which runs while [`Call::next`] waits.
pub struct Call {
    ticker: Ticker,
    guest: Pin<Box<dyn Future<Output = Ended>>>,
    asks: mpsc::Receiver<Asked>,
    /// The handler that waits for its reply.
    waits: Option<oneshot::Sender<Reply>>,
    log: SharedLog,
    ends: Instant,
    max_output_bytes: u64,
}

/// The end of a handler: its output, its own error, or a trap.
type Ended = Result<std::result::Result<String, String>>;

/// What a handler asks for, and where the reply goes.
pub(super) struct Asked {
    event: HandlerEvent,
    reply: oneshot::Sender<Reply>,
}

type SharedLog = Arc<Mutex<Log>>;

/// What a handler logged since it was last asked.
#[derive(Debug, Default)]
struct Log {
    bytes: Vec<u8>,
    /// Bytes that may still be logged.
    rest: usize,
    truncated: bool,
}

impl Log {
    fn write(&mut self, line: &str) {
        self.add(line.as_bytes());
        self.add(b"\n");
    }

    fn add(&mut self, bytes: &[u8]) {
        let kept = bytes.len().min(self.rest);
        self.bytes.extend_from_slice(&bytes[..kept]);
        self.rest -= kept;
        self.truncated |= kept < bytes.len();
    }
}

/// What a store of a handler holds.
pub(super) struct HandlerState {
    asks: mpsc::Sender<Asked>,
    log: SharedLog,
    bounds: Bounds,
    /// For handlers that are linked with `wasi:http`.
    wasi: Option<Box<Wasi>>,
}

impl Call {
    pub(super) fn new(
        engine: &Engine,
        ticker: &Ticker,
        handler: HandlersPre<HandlerState>,
        bounds: Bounds,
        has_wasi: bool,
        call: HandlerCall,
    ) -> Self {
        let log = SharedLog::new(Mutex::new(Log {
            rest: usize::try_from(call.max_log_bytes).unwrap_or(usize::MAX),
            ..Log::default()
        }));
        let (asks, asked) = mpsc::channel(1);
        let wasi = has_wasi.then(|| Box::new(Wasi::new(asks.clone())));
        let state = HandlerState {
            asks,
            log: Arc::clone(&log),
            bounds,
            wasi,
        };
        let engine = engine.clone();
        Self {
            ticker: ticker.clone(),
            guest: Box::pin(run(engine, handler, state, call.input)),
            asks: asked,
            waits: None,
            log,
            ends: Instant::now() + Duration::from_millis(call.timeout_ms),
            max_output_bytes: call.max_output_bytes,
        }
    }

    /// Runs the handler until it asks for an effect or ends.
    pub async fn next(&mut self) -> Handled {
        let _running = self.ticker.run();
        let event = tokio::select! {
            biased;
            Some(asked) = self.asks.recv() => {
                self.waits = Some(asked.reply);
                asked.event
            }
            ended = timeout_at(self.ends, &mut self.guest) => match ended {
                Ok(ended) => self.ended(ended),
                Err(_) => failed(FailureKind::Timeout, "the handler did not return in time"),
            },
        };
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        Handled {
            event,
            log: mem::take(&mut log.bytes),
            log_truncated: mem::take(&mut log.truncated),
        }
    }

    /// Lets a handler that waits for a reply go on with it.
    pub fn resume(&mut self, reply: Reply) {
        if let Some(waits) = self.waits.take() {
            // A handler that is gone ends with the next call of `next`.
            let _ = waits.send(reply);
        }
    }

    /// Adds to the log what a server wrote for the handler to standard error.
    pub fn add_log(&self, bytes: &[u8], is_truncated: bool) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.add(bytes);
        log.truncated |= is_truncated;
    }

    fn ended(&self, ended: Ended) -> HandlerEvent {
        match ended {
            Ok(Ok(output)) if output.len() as u64 > self.max_output_bytes => failed(
                FailureKind::LimitExceeded,
                &format!(
                    "the output has {} bytes, and at most {} are accepted",
                    output.len(),
                    self.max_output_bytes
                ),
            ),
            Ok(Ok(output)) => HandlerEvent::Returned(output.into_bytes()),
            Ok(Err(message)) => failed(FailureKind::Failed, &message),
            Err(error) => trapped(&error),
        }
    }
}

/// Runs a handler in a store of its own.
async fn run(
    engine: Engine,
    handler: HandlersPre<HandlerState>,
    state: HandlerState,
    input: String,
) -> Ended {
    let memory = state.bounds.memory;
    let mut store = Store::new(&engine, state);
    store.limiter(|state| &mut state.bounds);
    store.set_hostcall_fuel(memory);
    store.set_fuel(FUEL)?;
    store.set_epoch_deadline(1);
    store.epoch_deadline_async_yield_and_update(1);
    let handler = handler.instantiate_async(&mut store).await?;
    handler
        .agent_handler_handler()
        .call_handle(&mut store, &input)
        .await
}

fn failed(kind: FailureKind, message: &str) -> HandlerEvent {
    HandlerEvent::Failed(Failure {
        kind,
        message: message.to_owned(),
    })
}

fn trapped(error: &wasmtime::Error) -> HandlerEvent {
    if let Some(Trap::OutOfFuel) = error.downcast_ref::<Trap>() {
        let message = format!("the handler exceeded its limit of {FUEL} units of fuel");
        return failed(FailureKind::LimitExceeded, &message);
    }
    if let Some(reached) = error.downcast_ref::<MemoryReached>() {
        return failed(FailureKind::LimitExceeded, &reached.to_string());
    }
    failed(
        FailureKind::Failed,
        &format!("the handler stopped: {error:#}"),
    )
}

impl HandlerState {
    async fn ask(&mut self, event: HandlerEvent) -> Result<Reply> {
        ask(&self.asks, event).await
    }

    /// Returns the state of `wasi:http`.
    ///
    /// # Panics
    ///
    /// If the handler is not linked with it.
    pub(super) fn wasi(&mut self) -> &mut Wasi {
        let wasi = self.wasi.as_mut();
        wasi.expect("only what is linked with `wasi:http` calls it")
    }
}

/// Hands a request over to the run, and waits for the reply. A run that refuses it drops the call.
pub(super) async fn ask(asks: &mpsc::Sender<Asked>, event: HandlerEvent) -> Result<Reply> {
    let given_up = || wasmtime::Error::msg("the call was given up");
    let (reply, replied) = oneshot::channel();
    let asked = Asked { event, reply };
    asks.send(asked).await.map_err(|_| given_up())?;
    replied.await.map_err(|_| given_up())
}

fn unexpected() -> wasmtime::Error {
    wasmtime::Error::msg("the reply belongs to another request")
}

impl log::Host for HandlerState {
    async fn write(&mut self, line: String) -> Result<()> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.write(&line);
        Ok(())
    }
}

impl request::Host for HandlerState {
    async fn send(&mut self, request: request::Request) -> Result<request::Response> {
        let event = HandlerEvent::Request(HandlerRequest {
            method: request.method,
            url: request.url,
            headers: request.headers,
            body: request.body,
        });
        match self.ask(event).await? {
            Reply::Response(response) => Ok(request::Response {
                status: response.status,
                content_type: response.content_type,
                body: response.body,
            }),
            _ => Err(unexpected()),
        }
    }
}

impl program::Host for HandlerState {
    async fn run(
        &mut self,
        path: String,
        arguments: Vec<String>,
        stdin: Vec<u8>,
    ) -> Result<program::Exited> {
        let event = HandlerEvent::Program(HandlerProgram {
            path,
            arguments,
            stdin,
        });
        match self.ask(event).await? {
            Reply::Exited(exited) => Ok(program::Exited {
                code: exited.code,
                stdout: exited.stdout,
            }),
            _ => Err(unexpected()),
        }
    }
}

impl tool::Host for HandlerState {
    async fn call(&mut self, arguments: String) -> Result<Vec<u8>> {
        let event = HandlerEvent::Tool(arguments.into_bytes());
        match self.ask(event).await? {
            Reply::Payload(payload) => Ok(payload),
            _ => Err(unexpected()),
        }
    }
}
