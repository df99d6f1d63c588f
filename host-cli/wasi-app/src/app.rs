//! An app that is compiled and linked.

use crate::bindings::wasi::keyvalue::store;
use crate::budget::Budget;
use crate::limits::{
    COMPONENT_BYTES, FUEL, HEAD_BYTES, HEAD_TIME, HEADERS, REQUEST_MEMORY, REQUEST_TIME, REQUESTS,
    TICK,
};
use crate::log::Log;
use crate::outgoing::{Outgoing, Sender};
use crate::share::Share;
use crate::state::RequestState;
use crate::store::Values;
use agent_host::input::Input;
use agent_host::{Shelf, Ticker};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use wasmtime::Engine;
use wasmtime::component::{HasSelf, Linker};
use wasmtime_wasi_http::p2::bindings::ProxyPre;

/// What an app gets.
#[derive(Clone)]
pub struct Settings {
    /// Memory of all requests and of the store together, in bytes.
    pub memory_bytes: usize,
    /// Share of processor time, in percent of one processor.
    pub cpu_percent: u32,
    /// Units of fuel of a request.
    pub fuel: u64,
    /// Time of a request.
    pub request_time: Duration,
    /// The environment.
    pub env: Vec<(String, String)>,
    /// Who sends the requests of the app to others; `None` refuses them.
    pub outgoing: Option<Arc<dyn Outgoing>>,
}

impl Settings {
    /// Returns the settings of an app that may use a processor and some memory, in bytes.
    #[must_use]
    pub fn new(memory_bytes: usize) -> Self {
        Self {
            memory_bytes,
            cpu_percent: 100,
            fuel: FUEL,
            request_time: REQUEST_TIME,
            env: Vec::new(),
            outgoing: None,
        }
    }
}

/// An app that is ready for requests.
pub struct App {
    pub(crate) engine: Engine,
    pub(crate) component: ProxyPre<RequestState>,
    pub(crate) settings: Settings,
    pub(crate) log: Arc<dyn Log>,
    pub(crate) budget: Arc<Budget>,
    pub(crate) values: Arc<Values>,
    pub(crate) share: Share,
    pub(crate) ticker: Ticker,
    pub(crate) sender: Option<Arc<Sender>>,
    pub(crate) requests: Semaphore,
    requests_at_a_time: u32,
}

impl App {
    /// Compiles a component, or takes its code from the user's cache, and links it. It blocks, for seconds if the
    /// component is large.
    ///
    /// # Errors
    ///
    /// When the file can't be read, or is not a component that answers requests and imports nothing but WASI.
    pub fn load(path: &Path, settings: Settings, log: Arc<dyn Log>) -> Result<Self, String> {
        let wasm = Input::File(path.to_owned()).read(COMPONENT_BYTES);
        let wasm = wasm.map_err(|failure| failure.message)?;
        if wasm.len() as u64 > COMPONENT_BYTES {
            let limit = COMPONENT_BYTES >> 20;
            return Err(format!("the component is larger than {limit} MiB"));
        }
        let not_an_app = |error: wasmtime::Error| format!("the component is not an app: {error:#}");
        let engine = Engine::new(&agent_aot::metered_config()).map_err(not_an_app)?;
        let component = linked(&engine, &wasm).map_err(not_an_app)?;
        let ticker = Ticker::new(&engine, TICK).map_err(|error| error.to_string())?;
        let budget = Arc::new(Budget::new(settings.memory_bytes));
        let at_a_time = (settings.memory_bytes / REQUEST_MEMORY).clamp(1, REQUESTS as usize);
        Ok(Self {
            component,
            ticker,
            log,
            values: Arc::new(Values::new(Arc::clone(&budget))),
            budget,
            sender: settings
                .outgoing
                .clone()
                .map(|it| Arc::new(Sender::new(it))),
            share: Share::new(settings.cpu_percent),
            requests: Semaphore::new(at_a_time),
            requests_at_a_time: u32::try_from(at_a_time).unwrap_or(REQUESTS),
            settings,
            engine,
        })
    }

    /// Waits until no request is answered. Further ones are not answered.
    pub async fn quiet(&self) {
        if let Ok(permits) = self.requests.acquire_many(self.requests_at_a_time).await {
            permits.forget();
        }
    }

    /// Serves the requests of one connection until it ends.
    pub async fn serve(self: Arc<Self>, stream: impl AsyncRead + AsyncWrite + Unpin) {
        let service = service_fn(move |request| {
            let app = Arc::clone(&self);
            async move { Ok::<_, Infallible>(app.answer(request).await) }
        });
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            .max_headers(HEADERS)
            .max_header_size(HEAD_BYTES)
            .max_buf_size(2 * HEAD_BYTES);
        // A connection that breaks concerns its client alone.
        let _ = http.serve_connection(TokioIo::new(stream), service).await;
    }
}

fn linked(engine: &Engine, wasm: &[u8]) -> wasmtime::Result<ProxyPre<RequestState>> {
    let component = agent_host::compile(engine, Shelf::Apps, wasm)?;
    let mut linker = Linker::<RequestState>::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(&mut linker)?;
    store::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state)?;
    ProxyPre::new(linker.instantiate_pre(&component)?)
}
