//! A request in its own instance.

use crate::app::App;
use crate::budget::MemoryReached;
use crate::limits::{BODY_TIME, CALL_BYTES};
use crate::log::Log;
use crate::state::State;
use bytes::Bytes;
use http::header::HOST;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::oneshot;
use tokio::task::{self, JoinHandle};
use tokio::time::{Instant, Sleep, sleep, timeout};
use wasmtime::{Store, Trap};
use wasmtime_wasi_http::p2::bindings::http::types::{ErrorCode, Scheme};
use wasmtime_wasi_http::p2::body::HyperOutgoingBody;
use wasmtime_wasi_http::{Error, WasiHttpView as _};

/// Characters of a path in the log.
const PATH_CHARS: usize = 200;

/// What an app answers.
type Answer = Response<HyperOutgoingBody>;

/// The head of an answer, or the app's own error.
type Head = Result<Answer, ErrorCode>;

impl App {
    /// Answers a request. The app may write on after the head of its answer.
    pub(crate) async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Answer {
        if request.uri().authority().is_none() && !request.headers().contains_key(HOST) {
            return empty(StatusCode::BAD_REQUEST);
        }
        let path = request.uri().path().chars().take(PATH_CHARS);
        let name = format!("{} {}", request.method(), path.collect::<String>());
        let report = Report {
            log: Arc::clone(&self.log),
            name,
        };
        let (sender, receiver) = oneshot::channel();
        let reported = report.clone();
        let mut running = Running(task::spawn(async move {
            let ended = self.run(request, sender).await;
            ended.inspect_err(|why| reported.failed(why)).is_ok()
        }));
        match receiver.await {
            Ok(Ok(answer)) => {
                running.leave();
                answer
            }
            Ok(Err(code)) => {
                running.leave();
                report.failed(&format!("the app gave the error {code:?} for an answer"));
                empty(StatusCode::BAD_GATEWAY)
            }
            Err(_) => {
                if matches!((&mut running.0).await, Ok(true)) {
                    report.failed("the app gave no answer");
                }
                empty(StatusCode::INTERNAL_SERVER_ERROR)
            }
        }
    }

    /// Runs a request to its end. The error says why it failed.
    async fn run(
        &self,
        request: Request<Incoming>,
        head: oneshot::Sender<Head>,
    ) -> Result<(), String> {
        // The semaphore is never closed.
        let _permit = self.requests.acquire().await;
        let _running = self.ticker.run();
        let time = self.settings.request_time;
        match timeout(time, self.share.run(self.call(request, head))).await {
            Ok(ended) => ended.map_err(|error| self.words(&error)),
            Err(_) => {
                let seconds = time.as_secs();
                Err(format!(
                    "the app exceeded its time of {seconds} s for a request"
                ))
            }
        }
    }

    async fn call(
        &self,
        request: Request<Incoming>,
        head: oneshot::Sender<Head>,
    ) -> wasmtime::Result<()> {
        let state = State::new(self);
        let mut store = Store::new(&self.engine, state);
        store.limiter(|state| &mut state.bounds);
        store.set_hostcall_fuel(CALL_BYTES);
        store.set_fuel(self.settings.fuel)?;
        store.set_epoch_deadline(1);
        store.epoch_deadline_async_yield_and_update(1);
        let mut http = store.data_mut().http();
        let request = http.new_incoming_request(Scheme::Http, request.map(Patient::new))?;
        let out = http.new_response_outparam(head)?;
        let app = self.component.instantiate_async(&mut store).await?;
        let handler = app.wasi_http_incoming_handler();
        handler.call_handle(&mut store, request, out).await
    }

    /// Returns the reason of a failed call.
    fn words(&self, error: &wasmtime::Error) -> String {
        if let Some(Trap::OutOfFuel) = error.downcast_ref::<Trap>() {
            let fuel = self.settings.fuel;
            return format!("the app exceeded its limit of {fuel} units of fuel for a request");
        }
        match error.downcast_ref::<MemoryReached>() {
            Some(reached) => reached.to_string(),
            None => format!("the app stopped: {error:#}"),
        }
    }
}

fn empty(status: StatusCode) -> Answer {
    let body = Full::new(Bytes::new()).map_err(|never| match never {});
    let mut answer = Response::new(body.boxed_unsync());
    *answer.status_mut() = status;
    answer
}

/// Writes into the log how a request failed.
#[derive(Clone)]
struct Report {
    log: Arc<dyn Log>,
    /// The method and the path of the request.
    name: String,
}

impl Report {
    fn failed(&self, why: &str) {
        let name = &self.name;
        self.log.note(&format!("mcpd: E_RUNTIME: {name}: {why}"));
    }
}

/// A request that ends when its client leaves before the head of the answer.
struct Running(JoinHandle<bool>);

impl Running {
    /// Lets the app write the rest of its answer.
    fn leave(&mut self) {
        self.0 = task::spawn(async { true });
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A body whose parts have to arrive within a time.
struct Patient {
    body: Incoming,
    end: Pin<Box<Sleep>>,
    is_waiting: bool,
}

impl Patient {
    fn new(body: Incoming) -> Self {
        Self {
            body,
            end: Box::pin(sleep(BODY_TIME)),
            is_waiting: false,
        }
    }
}

impl Body for Patient {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            self.is_waiting = false;
            return Poll::Ready(frame.map(|frame| frame.map_err(Error::from)));
        }
        if !self.is_waiting {
            self.is_waiting = true;
            self.end.as_mut().reset(Instant::now() + BODY_TIME);
        }
        let end = self.end.as_mut().poll(context);
        end.map(|()| Some(Err(Error::ConnectionReadTimeout)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
