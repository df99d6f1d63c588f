//! `wasi:http` for handlers of third parties: each request goes to the run, like one of
//! `agent:handler/request`.
//!
//! Beside it there is only what its types need, and nothing of the machine: the wall clock stays at 1970,
//! random bytes are the same in every call, standard streams lead nowhere. There are no files, no
//! sockets and no environment.

use super::call::{Asked, HandlerState, ask};
use agent_host::contract::run::{HandlerEvent, HandlerRequest, HttpResponse, Reply};
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST};
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use std::time::Duration;
use tokio::sync::mpsc;
use wasmtime::component::{Linker, ResourceTable};
use wasmtime_wasi::{Deterministic, HostWallClock, WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{
    Error, RequestOptions, Result, WasiBody, WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks,
    WasiHttpView,
};

/// The interfaces that a handler of the kind `http` may import, without their versions.
pub(super) const INTERFACES: [&str; 11] = [
    "wasi:cli/stderr",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:http/outgoing-handler",
    "wasi:http/types",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:random/random",
];

/// Maximum number of bytes of the body of a request.
const BODY_BYTES: usize = 16 << 20;

/// Maximum number of bytes of one request for random bytes.
const RANDOM_BYTES: u64 = 64 << 10;

/// Maximum number of streams, requests and other resources of a call.
const RESOURCES: usize = 1_000;

/// The state of `wasi:http` in a call.
pub(super) struct Wasi {
    ctx: WasiCtx,
    http: WasiHttpCtx,
    table: ResourceTable,
    hooks: Hooks,
}

impl Wasi {
    pub(super) fn new(asks: mpsc::Sender<Asked>) -> Self {
        let random = || Deterministic::new((0..=u8::MAX).collect());
        let mut table = ResourceTable::new();
        table.set_max_capacity(RESOURCES);
        Self {
            ctx: WasiCtx::builder()
                .wall_clock(Still)
                .secure_random(random())
                .insecure_random(random())
                .insecure_random_seed(0)
                .max_random_size(RANDOM_BYTES)
                .allow_tcp(false)
                .allow_udp(false)
                .build(),
            http: WasiHttpCtx::new(),
            table,
            hooks: Hooks { asks },
        }
    }
}

/// Links `wasi:http` and what its types need.
pub(super) fn add_to_linker(linker: &mut Linker<HandlerState>) -> wasmtime::Result<()> {
    wasmtime_wasi_http::p2::add_to_linker_async(linker)
}

impl WasiView for HandlerState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let wasi = self.wasi();
        WasiCtxView {
            ctx: &mut wasi.ctx,
            table: &mut wasi.table,
        }
    }
}

impl WasiHttpView for HandlerState {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        let wasi = self.wasi();
        WasiHttpCtxView {
            hooks: &mut wasi.hooks,
            table: &mut wasi.table,
            ctx: &mut wasi.http,
        }
    }
}

/// A clock that stays at 1970-01-01T00:00:00Z.
struct Still;

impl HostWallClock for Still {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

/// Hands requests over to the run.
struct Hooks {
    asks: mpsc::Sender<Asked>,
}

/// The end of a body that has arrived already: nothing can fail.
type Processed = Box<dyn Future<Output = Result<()>> + Send>;

impl WasiHttpHooks for Hooks {
    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        _options: Option<RequestOptions>,
        _response_processed: Processed,
    ) -> Box<dyn Future<Output = Result<(Response<WasiBody>, Processed)>> + Send> {
        let asks = self.asks.clone();
        Box::new(async move {
            let event = HandlerEvent::Request(wanted(request).await?);
            // A run that refuses the request ends the handler, which sees no error.
            match ask(&asks, event).await {
                Ok(Reply::Response(response)) => {
                    let processed: Processed = Box::new(async { Ok(()) });
                    Ok((received(response)?, processed))
                }
                _ => Err(Error::HttpRequestDenied),
            }
        })
    }
}

/// Returns a request as the run decides on it.
async fn wanted(request: Request<WasiBody>) -> Result<HandlerRequest> {
    let (parts, body) = request.into_parts();
    let body = Limited::new(body, BODY_BYTES).collect().await;
    let body = body.map_err(|_| Error::HttpRequestBodySize(Some(BODY_BYTES as u64)))?;
    let body = body.to_bytes();
    Ok(HandlerRequest {
        method: parts.method.to_string(),
        url: parts.uri.to_string(),
        headers: headers(&parts.headers)?,
        body: (!body.is_empty()).then(|| body.to_vec()),
    })
}

/// Returns the headers without those that the host writes itself.
fn headers(headers: &HeaderMap) -> Result<Vec<(String, String)>> {
    let own = headers
        .iter()
        .filter(|(name, _)| ![HOST, CONTENT_LENGTH].contains(name));
    let texts = own.map(|(name, value)| {
        let value = value.to_str().map_err(|_| Error::HttpProtocolError)?;
        Ok((name.to_string(), value.to_owned()))
    });
    texts.collect()
}

fn received(response: HttpResponse) -> Result<Response<WasiBody>> {
    let mut builder = Response::builder().status(response.status);
    if !response.content_type.is_empty() {
        builder = builder.header(CONTENT_TYPE, response.content_type);
    }
    let body = Full::new(Bytes::from(response.body));
    let body = body.map_err(|never| match never {}).boxed_unsync();
    builder.body(body).map_err(|_| Error::HttpProtocolError)
}
